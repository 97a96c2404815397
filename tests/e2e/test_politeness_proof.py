"""Tens of thousands of requests to two hundred hosts, with kills and restarts: the server's log is the judge.

The crawl is the real one, with three nodes that share all hosts. Only the network, the reading of pages and the time
are not: the server answers from a script, and the clock moves on whenever everybody waits. PERIPLUS_PROOF_URLS=520
makes it more than a hundred thousand; `scripts/prove_politeness.py` does the same over real sockets.
"""

import asyncio
import itertools
import os
import random
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple, Self

import msgspec
import pytest
from virtual_time import InlineExecutor, VirtualClock, VirtualLoop

from periplus import crawl as crawl_module
from periplus import equipment
from periplus.crawl import Crawl
from periplus.errors import AddressBusy
from periplus.fetch.resolver import NotYet, Resolver
from periplus.job import prepare
from periplus.model import Analysis, Fetched, Outcome, RoutedLink, Score
from periplus.places import open_gazetteer
from periplus.settings import job_from_dict
from periplus.urls import fingerprint

HOSTS = 200
URLS = int(os.environ.get("PERIPLUS_PROOF_URLS", "110"))  # of each host
ADDRESSES = 60  # so three hosts or four share one
DELAY, IP_DELAY = 1.0, 0.25
COMMIT_WINDOW = 0.5
"""A refusal (429) that the crawl had no time to write down before it was killed is not known to its successor."""

NODES = ("a", "b", "c")
TINY = 1e-6


class Asked(NamedTuple):
    """One request as the server saw it."""

    host: str
    address: str
    begun: float
    ended: float
    rest: float
    url: str


class Killed(BaseException):
    """The process dies here."""


def crawl_delay(host: str) -> float:
    """What a host's robots.txt asks for."""
    return 3.0 if int(host[1:4]) % 20 == 7 else 0.0


def usual_rest(host: str) -> float:
    """How long a host rests that refuses nothing."""
    return max(DELAY, crawl_delay(host))


class Server:
    """What the hosts answer, and their log. Lives longer than any crawl."""

    def __init__(self) -> None:
        self.log: list[Asked] = []
        self.open: set[str] = set()
        self.kill_after = 0
        self.numbers = random.Random(200)

    def address(self, host: str) -> str:
        return f"203.0.114.{int(host[1:4]) % ADDRESSES}"

    def answer(self, url: str, host: str) -> tuple[int, bytes, float]:
        """Status, body and how long the host wants to be left alone."""
        rest = usual_rest(host)
        if url.endswith("/robots.txt"):
            text = f"User-agent: *\nCrawl-delay: {crawl_delay(host):g}\nSitemap: http://{host}/sitemap.xml\n"
            return 200, text.encode(), rest
        if self.numbers.random() < 0.002:
            return 429, b"", 20.0
        return 200, b"x", rest


class ScriptedTransport:
    """Answers from the server's script, as slowly as the script says."""

    def __init__(self, server: Server, resolver: Resolver, clock: VirtualClock) -> None:
        self._server = server
        self._resolver = resolver
        self._clock = clock

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def get(self, url: str, **_: object) -> Fetched:
        server, host = self._server, url.split("/")[2]
        try:
            self._resolver.take_turn(host, server.address(host))
        except NotYet as busy:
            raise AddressBusy(str(busy), busy.seconds) from None
        if server.kill_after and len(server.log) >= server.kill_after:
            raise Killed
        assert host not in server.open, f"two requests to {host} at once"
        begun = self._clock.monotonic()
        server.open.add(host)
        try:
            status, body, rest = server.answer(url, host)
            await asyncio.sleep(server.numbers.choice([0.01, 0.1, 0.4]))
        finally:
            server.open.discard(host)
            server.log.append(Asked(host, server.address(host), begun, self._clock.monotonic(), rest, url))
        given = (("Retry-After", "20"),) if status == 429 else ()
        took = self._clock.monotonic() - begun
        return Fetched(url, status, given, body, "text/plain", self._clock.now(), took, server.address(host))


class SitemapReader:
    """In place of the workers: every sitemap lists all URLs of its host, for the nodes in turn."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def run(self, job: bytes) -> bytes:
        host = msgspec.msgpack.decode(job, type=Fetched).url.split("/")[2]
        urls = [f"http://{host}/page/{number}" for number in range(URLS)]
        links = tuple(RoutedLink(url, host, fingerprint(url), NODES[n % 3], 0.5) for n, url in enumerate(urls))
        empty = Analysis(
            "", "", "", None, Outcome.SITEMAP, False, Score(0, 0, False), 0.0, None, (), (), links, {}, 0
        )  # fmt: skip
        return msgspec.msgpack.encode(empty)


def run_once(folder: Path, server: Server, start: float, patch: pytest.MonkeyPatch) -> tuple[bool, float]:
    """One life of the crawl; whether it came to its end, and the virtual time then."""
    loop = VirtualLoop(start)
    clock = VirtualClock(loop)
    patch.setattr(equipment, "Transport", lambda _f, resolver, *_, **__: ScriptedTransport(server, resolver, clock))
    job = job_from_dict(
        {
            "out": "crawl",
            "contact": "mailto:somebody@example.org",
            "seeds": [f"http://h{number:03}.example/" for number in range(HOSTS)],
            "nodes": {name: {} for name in NODES},
            "crawl": {
                "strategy": "hash", "sitemaps": "robots", "delay_seconds": DELAY, "ip_delay_seconds": IP_DELAY,
                "delay_factor": 0.0, "connections": 500, "pattern_pages": 100_000, "retry_seconds": 1.0,
            },
        },
        "proof",
    )  # fmt: skip
    crawl = Crawl(prepare(job, folder, open_gazetteer()), clock)
    try:
        loop.run_until_complete(crawl.run())
    except* Killed:
        pass
    else:
        return True, loop.time()
    finally:
        server.open.clear()
        loop.close()
    return False, loop.time()


def violations(log: list[Asked], kills: list[float]) -> list[str]:
    found = []
    by_host: dict[str, list[Asked]] = defaultdict(list)
    by_address: dict[str, list[float]] = defaultdict(list)
    for row in sorted(log, key=lambda row: row.begun):
        by_host[row.host].append(row)
        by_address[row.address].append(row.begun)
    for rows in by_host.values():
        for one, other in itertools.pairwise(rows):
            unknown = any(one.begun <= kill <= one.ended + COMMIT_WINDOW for kill in kills)
            rest = min(one.rest, usual_rest(one.host)) if unknown else one.rest
            if other.begun < one.ended + rest - TINY:
                found.append(f"{one} then {other.begun}")
    for address, times in by_address.items():
        found += [f"{address}: {a} then {b}" for a, b in itertools.pairwise(times) if b - a < IP_DELAY - TINY]
    return found


def test_no_request_is_too_early_also_after_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_module, "Workers", SitemapReader)
    monkeypatch.setattr(crawl_module, "ThreadPoolExecutor", InlineExecutor)
    server, now, kills = Server(), 0.0, list[float]()
    total = HOSTS * (URLS + 3)
    moments = iter((300, total // 20, total // 20 + 150, total // 3, 2 * total // 3, 0))
    done = False
    while not done:
        server.kill_after = next(moments)
        done, now = run_once(tmp_path, server, now, monkeypatch)
        if not done:
            kills.append(now)
            now += server.numbers.choice([0.0, 0.2, 2.0])  # until somebody starts it again
    assert len(server.log) >= total > 20_000
    assert len(kills) == 5
    assert violations(server.log, kills) == []
    answered = {row.url for row in server.log if row.rest < 20}
    assert len(answered) == total, "every page, robots.txt, sitemap and home page was answered"
    spent = max(row.ended for row in server.log)
    print(f"{len(server.log)} requests to {HOSTS} hosts, {len(kills)} kills, 0 violations, {spent:.0f} virtual seconds")
    assert spent < 10 * URLS, "and it did not take for ever: 200 hosts were asked side by side"
