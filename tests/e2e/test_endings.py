"""A crawl ends if and only if nothing is queued, under way or on its way between nodes: random webs, in virtual time.

PERIPLUS_ENDINGS=1000 is the whole proof.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from virtual_crawl import NODES, Reply, VirtualWeb, crawl_job, listed, live

from periplus.errors import AddressBusy, BadContent, ConnectionFailed, DnsError, FetchError, TooLarge, TooSlow
from periplus.model import Analysis, Fetched, Outcome
from periplus.urls import fingerprint

RUNS = int(os.environ.get("PERIPLUS_ENDINGS", "25"))
HOSTS, PAGES = 6, 8
ERRORS: tuple[type[FetchError], ...] = (BadContent, ConnectionFailed, DnsError, TooLarge, TooSlow)


class RandomWeb(VirtualWeb):
    """Pages that link at random to others, of whatever node; answers that fail in every way, or lead elsewhere."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.trouble = self.numbers.choice([0.0, 0.2, 0.5])

    def somewhere(self) -> str:
        """A URL of the web, or of a host that has none."""
        host = self.numbers.randrange(HOSTS + 1)
        return f"http://h{host}.example/{self.numbers.randrange(PAGES)}"

    def answer(self, url: str, host: str) -> Reply:
        dice = self.numbers
        seconds = dice.choice([0.0, 0.01, 0.3, 4.0])
        if dice.random() < self.trouble:
            return dice.choice(
                [
                    Reply(seconds=30.0, error=TooSlow("silent")),
                    Reply(seconds=seconds, error=dice.choice(ERRORS)("no")),
                    Reply(dice.choice([404, 410, 500, 503, 999]), seconds=seconds),
                    Reply(429, seconds=seconds, headers=(("Retry-After", dice.choice(["0", "7", "soon"])),)),
                    Reply(302, seconds=seconds, headers=(("Location", self.somewhere()),)),
                ]
            )
        if url.endswith("/robots.txt"):
            text = dice.choice(["", "User-agent: *\nDisallow: /3\n", f"Sitemap: http://{host}/sitemap.xml\n"])
            return Reply(200, text.encode(), seconds=seconds)
        return Reply(200, b"<p>x", seconds=seconds, kind="text/html")

    def read(self, fetched: Fetched) -> Analysis:
        dice = self.numbers
        urls = [(url, NODES[fingerprint(url) % 3]) for url in (self.somewhere() for _ in range(dice.randrange(5)))]
        if "sitemap" in fetched.url:
            return listed(urls)
        outcome = dice.choice([Outcome.KEPT, Outcome.KEPT, Outcome.NOT_RELEVANT])
        return listed(urls, outcome, dice.randrange(40))


def left_in(folder: Path) -> dict[str, int]:
    """Rows of all nodes that a crawl which has ended must not have."""
    left = {"url": 0, "outbox": 0}
    for path in folder.glob("nodes/*/node.db"):
        with closing(sqlite3.connect(path)) as db:
            left["url"] += db.execute("SELECT count(*) FROM known_url WHERE state = 0").fetchone()[0]
            left["outbox"] += db.execute("SELECT count(*) FROM outbox").fetchone()[0]
    return left


def test_K12_random_crawls_end_neither_early_nor_never(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are killed on the way. An end comes within virtual hours, and then nothing is left anywhere."""
    job = crawl_job([f"http://h{number}.example/0" for number in range(3)], retries=2, retry_seconds=1.0)
    ended = 0
    for seed in range(RUNS):
        web, folder, now = RandomWeb(seed), tmp_path / str(seed), 0.0
        summary = None
        for kill_after in (web.numbers.choice([0, 5, 20]), 0):
            web.kill_after = kill_after
            life = live(folder, web, job, monkeypatch, start=now)
            now, summary = life.ended, life.summary
            if summary is not None:
                break
        assert summary is not None, f"run {seed} did not end"
        if "no seed could be reached" in summary.stop_reason or "answer any more" in summary.stop_reason:
            continue  # the other reasons to end: URLs stay queued
        assert summary.stop_reason.startswith("frontier empty"), f"run {seed}: {summary.stop_reason}"
        assert left_in(folder) == {"url": 0, "outbox": 0}, f"run {seed} ended early"
        assert now < 86_400.0, f"run {seed} waited for nothing"
        shutil.rmtree(folder)
        ended += 1
    assert ended > RUNS / 2
    print(f"PROOF {RUNS:,} random crawls by three nodes: {ended:,} ended with nothing left, the others found no seed")


class SharedAddress(VirtualWeb):
    """Two hosts of one address: the first refuses at once, the second has to wait for its turn at the address."""

    asked = 0

    def answer(self, url: str, host: str) -> Reply:
        if host == "h0.example":
            return Reply(error=ConnectionFailed("refused"))
        self.asked += 1
        if self.asked == 1:
            return Reply(error=AddressBusy("h1.example: 192.0.2.1 was asked just now", 0.2))
        return Reply(404) if url.endswith("/robots.txt") else Reply(200, b"<p>x", kind="text/html")

    def read(self, _fetched: Fetched) -> Analysis:
        return listed([], Outcome.KEPT, 1)


def test_a_seed_that_waits_for_its_address_is_asked_before_it_is_said_that_none_can_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = crawl_job(["http://h0.example/0", "http://h1.example/0"], retries=1, retry_seconds=1.0)
    summary = live(tmp_path / "crawl", SharedAddress(1), job, monkeypatch).summary
    assert summary is not None
    assert summary.pages == 1, summary.stop_reason


class DyingWeb(VirtualWeb):
    """One host with a hundred pages that answers until it dies, and another one that lives."""

    def __init__(self, seed: int, pages: int) -> None:
        super().__init__(seed)
        self.left = pages
        self.asked: list[str] = []

    def answer(self, url: str, host: str) -> Reply:
        if url.endswith("/robots.txt"):
            return Reply(200, b"", seconds=0.1)
        if host == "dead.example":
            self.asked.append(url)
            self.left -= 1
            if self.left < 0:
                return Reply(seconds=10.0, error=ConnectionFailed("refused"))
        return Reply(200, b"<p>x", seconds=0.1, kind="text/html")

    def read(self, fetched: Fetched) -> Analysis:
        urls = [f"http://dead.example/{number}" for number in range(100)] + ["http://alive.example/1"]
        return listed([(url, NODES[0]) for url in urls], Outcome.KEPT, fingerprint(fetched.url) % 10_000)


def test_a_host_that_has_died_costs_a_few_requests_and_none_of_its_urls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its URLs was asked for four times, one after the other, and then gone; the next run goes on instead."""
    job = crawl_job(["http://dead.example/0", "http://alive.example/0"], retries=3, retry_seconds=30.0)
    web = DyingWeb(1, pages=5)
    first = live(tmp_path, web, job, monkeypatch, start=0.0)
    assert first.summary is not None
    reason = first.summary.stop_reason
    assert reason.startswith("dead.example does not answer any more: ")
    assert reason.endswith("URLs stay queued for the next run")
    assert len(web.asked) == 5 + 8
    assert first.ended < 3_600.0
    queued = left_in(tmp_path)["url"]
    assert 90 <= queued <= 95
    web.left = 1_000  # it is back
    second = live(tmp_path, web, job, monkeypatch, start=first.ended)
    assert second.summary is not None
    assert second.summary.stop_reason.startswith("frontier empty")
    assert len(set(web.asked)) == 100
    assert left_in(tmp_path) == {"url": 0, "outbox": 0}


class ClosingWeb(VirtualWeb):
    """A host with sixty pages behind a firewall that shuts us out after some, and one that lives."""

    def __init__(self, given: int, pages: list[str]) -> None:
        super().__init__(1)
        self.left = given
        self.pages = pages
        self.asked: list[str] = []

    def is_refused(self, _url: str) -> bool:
        """Whether the firewall stands before this URL."""
        self.left -= 1
        return self.left < 0

    def answer(self, url: str, host: str) -> Reply:
        if url.endswith("/robots.txt"):
            return Reply(404)
        if host == "closed.example":
            self.asked.append(url)
            if self.is_refused(url):
                return Reply(403)
        return Reply(200, b"<p>x", seconds=0.1, kind="text/html")

    def read(self, fetched: Fetched) -> Analysis:
        urls = [f"http://closed.example{page}" for page in self.pages] + ["http://alive.example/1"]
        return listed([(url, NODES[0]) for url in urls], Outcome.KEPT, fingerprint(fetched.url) % 10_000)


NAMED = [f"/{one}{two}" for one in "abcdef" for two in "ghijklmnop"]
NUMBERED = [f"/index.php?id={number}" for number in range(60)]


@pytest.mark.parametrize("pages", [NAMED, NUMBERED], ids=["names", "one script for all"])
def test_a_host_that_refuses_everything_is_asked_ever_less_and_loses_few_urls(
    pages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of its URLs were asked for at full pace, and then gone; when it lets us in again, the next run goes on."""
    job = crawl_job([f"http://closed.example{pages[0]}", "http://alive.example/0"], retries=3, retry_seconds=30.0)
    web = ClosingWeb(5, pages)
    first = live(tmp_path, web, job, monkeypatch, start=0.0)
    assert first.summary is not None
    queued = left_in(tmp_path)["url"]
    reason = f"closed.example refuses everything: {queued} URLs stay queued for the next run"
    assert first.summary.stop_reason == reason
    assert queued == 60 - 5 - 7, "the first refusals are taken for what they say"
    assert len(web.asked) <= 5 + 7 + 5
    assert 30 + 60 + 120 + 240 < first.ended < 3_600
    web.left = 1_000
    second = live(tmp_path, web, job, monkeypatch, start=first.ended)
    assert second.summary is not None
    assert second.summary.stop_reason.startswith("frontier empty")
    assert len(set(web.asked)) == 60
    assert left_in(tmp_path) == {"url": 0, "outbox": 0}


class MembersWeb(ClosingWeb):
    """A forum whose pages of members, and here and there another one, are for members only."""

    def is_refused(self, url: str) -> bool:
        return "member" in url or url.endswith("p")


def test_pages_that_are_for_members_only_do_not_hold_a_crawl_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = crawl_job(["http://closed.example/ag", "http://alive.example/0"], retries=3, retry_seconds=30.0)
    web = MembersWeb(0, [*NAMED, *(f"/member.php?u={number}" for number in range(60))])
    life = live(tmp_path, web, job, monkeypatch, start=0.0)
    assert life.summary is not None
    assert life.summary.stop_reason.startswith("frontier empty")
    assert len(web.asked) == 120, "each once"
    assert life.ended < 150.0
    assert left_in(tmp_path) == {"url": 0, "outbox": 0}
