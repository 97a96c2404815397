"""Tens of thousands of requests to two hundred hosts, with kills and restarts: the server's log is the judge.

The crawl is the real one, with three nodes that share all hosts, in virtual time. `make prove` makes it more
than half a million requests (PERIPLUS_PROOF_URLS); `scripts/prove_politeness.py` does the same over real sockets.
"""

import itertools
import os
from pathlib import Path

import pytest
from virtual_crawl import PoliteWeb, crawl_job, live, too_early

HOSTS = 200
URLS = int(os.environ.get("PERIPLUS_PROOF_URLS", "110"))  # of each host
COMMIT_WINDOW = 0.5
"""A refusal (429) that the crawl had no time to write down before it was killed is not known to its successor."""


def test_no_request_is_too_early_also_after_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web, now, kills = PoliteWeb(URLS), 0.0, list[float]()
    job = crawl_job([f"http://h{number:03}.example/" for number in range(HOSTS)], connections=500, retry_seconds=1.0)
    total = HOSTS * (URLS + 3)
    for kill_after in (300, total // 20, total // 20 + 150, total // 3, 2 * total // 3, 0):
        web.kill_after = kill_after
        life = live(tmp_path / "crawl", web, job, monkeypatch, start=now)
        now = life.ended
        if life.summary is None:
            kills.append(now)
            now += web.numbers.choice([0.0, 0.2, 2.0])  # until somebody starts it again
    assert len(web.log) >= total > 20_000
    assert len(kills) == 5
    found, excused = too_early(web, kills, window=COMMIT_WINDOW)
    assert found == []
    answered = {row.url for row in web.log if row.rest < 20}
    assert len(answered) == total, "every page, robots.txt, sitemap and home page was answered"
    spent = max(row.ended for row in web.log)
    print(f"PROOF {len(web.log):,} requests to {HOSTS} hosts in {spent:.0f} virtual seconds, {len(found)} too early")
    print(f"PROOF killed at {', '.join(f'{kill:.3f}' for kill in kills)} s; refusals forgotten by that: {len(excused)}")
    for one in excused:
        print(f"PROOF forgotten: {one}")
    assert spent < 10 * URLS, "and it did not take for ever: 200 hosts were asked side by side"


class CalmWeb(PoliteWeb):
    """One host asks for nothing, or many share an address."""

    refusals = 0.0

    def __init__(self, urls: int, addresses: list[str]) -> None:
        super().__init__(urls)
        self._addresses = itertools.cycle(addresses)

    def crawl_delay(self, host: str) -> float:  # noqa: ARG002 - nobody asks for more
        return 0.0

    def address(self, host: str) -> str:  # noqa: ARG002 - the same for all, or another each time
        return next(self._addresses)


@pytest.mark.parametrize(
    ("hosts", "urls", "addresses"),
    [
        pytest.param(1, 1_000, ["203.0.114.1"], id="P1: one host, a thousand URLs"),
        pytest.param(100, 5, ["203.0.114.1"], id="P2: a hundred hosts on one address"),
        pytest.param(1, 200, [f"203.0.114.{n}" for n in range(4)], id="P2: a host on four addresses"),
    ],
)
def test_P1_P2_two_hundred_connections_keep_the_delays_of_host_and_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosts: int, urls: int, addresses: list[str]
) -> None:
    web = CalmWeb(urls, addresses)
    job = crawl_job([f"http://h{number:03}.example/" for number in range(hosts)], connections=200, host_pages=100_000)
    life = live(tmp_path / "crawl", web, job, monkeypatch)
    assert life.summary is not None
    assert too_early(web, [], window=0.0) == ([], [])
    assert len({row.url for row in web.log}) == hosts * (urls + 3)
