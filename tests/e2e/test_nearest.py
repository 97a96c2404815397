"""Twelve nodes round the world, sites near and far: who fetches what, and how long it takes.

The crawl is the real one over the miniature web; only the way to the server and the time are not: requests wait as long
as the emulated network says, in virtual time, so that the seconds are exact and no machine's load decides the test.
`scripts/prove_nearest.py` does the same over sockets and in real time.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec
import pytest
from emulated_network import NODES, EmulatedNetwork
from virtual_time import InlineExecutor, VirtualClock, VirtualLoop

from periplus import crawl as crawl_module
from periplus import equipment, indexing
from periplus.crawl import Crawl
from periplus.errors import ConfigError
from periplus.index.process import Indexes
from periplus.job import prepare
from periplus.miniweb import Miniweb, generate
from periplus.model import Fetched
from periplus.places import open_gazetteer
from periplus.settings import job_from_dict
from periplus.store.summary import Summary

CONNECTIONS = 4
READ: dict[tuple[str, str], bytes] = {}
"""What the workers make of a page, by their strategy and its URL: the crawls read the same pages."""


class InProcess:
    """The transport: the miniature web, asked as a function."""

    def __init__(self, web: Miniweb, network: EmulatedNetwork, clock: VirtualClock) -> None:
        self._web, self._network, self._clock = web, network, clock
        self._visits: Counter[str] = Counter()
        self.round_trips: dict[str, float] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def checked_address(self, url: str) -> tuple[str, int]:
        return self._network.address(urlsplit(url).netloc), 80

    async def get(self, url: str, **_: object) -> Fetched:
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        response = self._web.respond(parts.netloc, target, visit=self._visits[url])
        self._visits[url] += 1
        headers = {"Content-Type": response.content_type, "Location": response.location}
        given = tuple((name, value) for name, value in headers.items() if value)
        address = self._network.address(parts.netloc)
        return Fetched(
            url, response.status, given, response.body, response.content_type, self._clock.now(), 0.0, address
        )


class InlineWorkers:
    """The workers' function, called at once and once for each page."""

    kind = ""

    def __init__(self, work: Any, *_: object, **__: object) -> None:
        self._work = work

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def run(self, job: bytes) -> bytes:
        key = (self.kind, msgspec.msgpack.decode(job, type=Fetched).url)
        if key not in READ:
            READ[key] = self._work(job)
        return READ[key]


@pytest.fixture(scope="module")
def web() -> Miniweb:
    return generate(3, hosts=60, pages=320, slow_seconds=0.0)


@pytest.fixture(scope="module")
def network(web: Miniweb) -> EmulatedNetwork:
    return EmulatedNetwork(tuple(urlsplit(host.url).netloc for host in web.blueprint.hosts))


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_in_process(monkeypatch)


def keep_in_process(patch: pytest.MonkeyPatch) -> None:
    """Time is virtual here, so nothing may happen elsewhere."""
    patch.setattr(crawl_module, "Workers", InlineWorkers)
    patch.setattr(crawl_module, "ThreadPoolExecutor", InlineExecutor)
    patch.setattr(indexing, "ThreadPoolExecutor", InlineExecutor)
    patch.setattr(indexing, "IndexProcess", Indexes)


def run(
    folder: Path,
    web: Miniweb,
    network: EmulatedNetwork,
    patch: pytest.MonkeyPatch,
    strategy: str,
    *,
    nodes: Mapping[str, Any] | None = None,
    by_place: bool = False,
    start: float = 0.0,
    crawl: Mapping[str, Any] | None = None,
    **settings: Any,
) -> tuple[Summary, float]:
    """A whole crawl; its summary and the virtual seconds it took."""
    folder.mkdir(parents=True, exist_ok=True)
    network.write(folder / "trips.csv")
    patch.setattr(InlineWorkers, "kind", f"{by_place}")
    loop = VirtualLoop(start)
    clock = VirtualClock(loop)
    patch.setattr(equipment, "Transport", lambda *_, **__: InProcess(web, network, clock))
    job = job_from_dict(
        {
            "out": "crawl",
            "seeds": web.seeds(),
            "nodes": dict(nodes or network.nodes()),
            "crawl": {
                "strategy": strategy, "keep": "all", "delay_seconds": 0.0, "retry_seconds": 0.1,
                "connections": CONNECTIONS, "allow_private": ["127.0.0.0/8"], "resolve": network.resolve(8480),
                **(crawl or {}),
            },
            "network": {"round_trips": "trips.csv", "emulate": True, **settings},
        },
        "test",
    )  # fmt: skip
    running = Crawl(prepare(job, folder, open_gazetteer()), clock)
    try:
        summary = loop.run_until_complete(running.run())
        return summary, loop.time() - start
    finally:
        loop.close()


def pages_of(folder: Path) -> dict[str, str]:
    """URL and node of every page."""
    pages: dict[str, str] = {}
    for path in (folder / "crawl").glob("nodes/*/node.db"):
        with sqlite3.connect(path) as db:
            for (url,) in db.execute("SELECT url FROM page"):
                assert url not in pages, "fetched twice"
                pages[url] = path.parent.name
        db.close()
    return pages


def delegations(folder: Path) -> dict[str, tuple[str, float]]:
    with sqlite3.connect(folder / "crawl" / "delegations.db") as db:
        rows = db.execute("SELECT subnet, node, decided_at FROM delegation").fetchall()
    db.close()
    return {subnet: (node, at) for subnet, node, at in rows}


@pytest.fixture(scope="module")
def by_hash(
    web: Miniweb, network: EmulatedNetwork, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, str], float]:
    """Random assignment of hosts to nodes: what the network costs if nobody looks at it."""
    folder = tmp_path_factory.mktemp("hash")
    with pytest.MonkeyPatch.context() as patch:
        keep_in_process(patch)
        _, seconds = run(folder, web, network, patch, "hash-host")
    return pages_of(folder), seconds


@pytest.mark.parametrize(("method", "share"), [("learn", 1 / 5), ("hierarchy", 1 / 2)])
def test_nearest_takes_a_fraction_of_the_time_of_random_assignment(  # noqa: PLR0917
    tmp_path: Path,
    web: Miniweb,
    network: EmulatedNetwork,
    by_hash: tuple[dict[str, str], float],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    share: float,
) -> None:
    """Same pages, same connections, probes included. The paper's rule is content with anything under 50 ms."""
    _, seconds = run(tmp_path, web, network, monkeypatch, "nearest", method=method)
    pages = pages_of(tmp_path)
    assert pages.keys() == by_hash[0].keys()
    assert len(pages) > 200
    assert seconds <= by_hash[1] * share, (seconds, by_hash[1])
    if method == "learn":
        asked = {urlsplit(url).netloc: node for url, node in pages.items()}
        took = sum(network.ms(host, node) for host, node in asked.items()) / len(asked)
        assert took <= 1.2 * network.best_ms(asked) + 5
    before = delegations(tmp_path)
    assert {node for node, _ in before.values()} <= set(NODES)
    run(tmp_path, web, network, monkeypatch, "nearest", method=method, start=seconds)
    assert delegations(tmp_path) == before, "a crawl that is taken up again knows what it knew"


def test_the_same_measurements_give_the_same_nodes(
    tmp_path: Path, web: Miniweb, network: EmulatedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = {"pages": 60}
    for name in ("one", "other"):
        run(tmp_path / name, web, network, monkeypatch, "nearest", crawl=limit)
    assert pages_of(tmp_path / "one") == pages_of(tmp_path / "other")
    assert delegations(tmp_path / "one") == delegations(tmp_path / "other")


def test_place_and_network_decide_together(
    tmp_path: Path, web: Miniweb, network: EmulatedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """America belongs to two nodes and what has no place to two others: in each pair the nearer one fetches."""
    pairs = {"tokyo": "frankfurt", "frankfurt": "tokyo", "losangeles": "lagos", "lagos": "losangeles"}
    nodes: dict[str, Any] = network.nodes()
    nodes = {name: nodes[name] for name in pairs}
    for name in ("tokyo", "frankfurt"):
        nodes[name]["places"] = ["United States"]
    run(
        tmp_path,
        web,
        network,
        monkeypatch,
        "place+nearest",
        nodes=nodes,
        by_place=True,
        crawl={"pages": 60},
        places="url",
    )
    seeds = {urlsplit(url).netloc for url in web.seeds()}
    asked = {urlsplit(url).netloc: node for url, node in pages_of(tmp_path).items()}
    assert len(set(asked.values())) == 4
    for host, node in asked.items():
        assert network.ms(host, node) <= 1.1 * network.ms(host, pairs[node]) + 5, (host, node, host in seeds)


def test_nobody_measures(
    tmp_path: Path, web: Miniweb, network: EmulatedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"network\.round_trips"):
        run(tmp_path, web, network, monkeypatch, "nearest", round_trips="", emulate=False)
    with pytest.raises(ConfigError, match="node 'atlantis'"):
        run(tmp_path / "x", web, network, monkeypatch, "nearest", nodes={"atlantis": {}, "tokyo": {}})
