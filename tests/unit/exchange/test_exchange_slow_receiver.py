"""A node that is sent more than it can take up: memory stays bounded, and every link arrives once."""

from pathlib import Path

import pytest
from virtual_crawl import Reply, VirtualWeb, crawl_job, listed, live

from periplus import crawl as crawl_module
from periplus.exchange import BATCH_LINKS, LocalExchange
from periplus.model import Analysis, Fetched, NewUrl, Outcome
from periplus.urls import fingerprint

HUBS, LINKS = 160, 400
MOST = 2_000
CONNECTIONS = 2


class Hubs(VirtualWeb):
    """Pages that are fetched fast, with links to hosts of node b, which hardly ever answer."""

    def usual_rest(self, host: str) -> float:
        return 10_000.0 if host.endswith("slow.example") else 0.0

    def answer(self, url: str, host: str) -> Reply:
        return Reply(
            404 if url.endswith("/robots.txt") else 200, rest=self.usual_rest(host), seconds=0.01, kind="text/html"
        )

    def read(self, fetched: Fetched) -> Analysis:
        host = fetched.url.split("/")[2]
        urls = [] if host.endswith("slow.example") else [(f"http://{host}.slow.example/{n}", "b") for n in range(LINKS)]
        return listed(urls, Outcome.KEPT, fingerprint(fetched.url))


class Watched(LocalExchange):
    """Knows how many links ever waited at once."""

    most = 0

    def post(self, sender: str, receiver: str, sequence: int, url: NewUrl, target: str = "") -> None:
        super().post(sender, receiver, sequence, url, target)
        Watched.most = max(Watched.most, self.waiting)


def test_links_for_a_node_that_is_slow_to_take_them_up_wait_in_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_module, "MAX_UNDELIVERED", MOST)
    monkeypatch.setattr(crawl_module, "LocalExchange", Watched)
    monkeypatch.setattr(Watched, "most", 0)
    seeds = [f"http://h{number}.example/" for number in range(HUBS)]
    limits = {"delay_seconds": 0.0, "ip_delay_seconds": 0.0, "host_pages": 10**6, "prefix_pages": 10**6}
    job = crawl_job(seeds, nodes=("a", "b"), pages=HUBS, connections=CONNECTIONS, **limits)
    life = live(tmp_path / "crawl", Hubs(), job, monkeypatch)
    assert life.summary is not None
    sent, received = life.summary.nodes["a"].sent, life.summary.nodes["b"].received
    assert sent == received > 10 * MOST // 2
    assert sent % LINKS == 0
    rounds = 2 * 5 * CONNECTIONS * LINKS  # answers take a hundredth of a second, a round takes a twentieth
    assert MOST <= Watched.most < MOST + rounds < received / 2
    assert life.ended < 2 * received / BATCH_LINKS * crawl_module.COMMIT_SECONDS  # some in every round
