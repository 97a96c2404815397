"""Whole crawls in virtual time: the real engine with all its nodes, databases and commits; the web is a script.

Only the network, the reading of pages and the time are not real: the web answers from `VirtualWeb`, and the clock moves
on whenever everybody waits. So hours of politeness pass in seconds, and a run is the same each time.
"""

import asyncio
import functools
import itertools
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import pytest
import zstandard
from crawl_values import analysis
from virtual_time import InlineExecutor, VirtualClock, VirtualLoop

from periplus import crawl as crawl_module
from periplus import equipment, indexing
from periplus.analysis import written_analysis
from periplus.crawl import Crawl
from periplus.errors import AddressBusy, FetchError
from periplus.fetch.resolver import NotYet, Resolver
from periplus.index.process import Indexes
from periplus.job import Prepared, prepare
from periplus.model import Analysis, Fetched, Outcome, RoutedLink
from periplus.places import Gazetteer, open_gazetteer
from periplus.settings import job_from_dict
from periplus.store.folder import CrawlFolder
from periplus.store.summary import Summary
from periplus.urls import canonicalize, fingerprint

__all__ = [
    "NODES", "Asked", "JumpingClock", "Killed", "Life", "PoliteWeb", "Reply", "VirtualWeb", "crawl_job", "listed",
    "live", "too_early",
]  # fmt: skip

NODES = ("a", "b", "c")
TINY = 1e-6
FOR_EVER = 200_000.0
"""Virtual seconds after which a crawl has no reason to go on."""

ADDRESSES = 60
"""Of a polite web: of two hundred hosts three or four share one."""

ROBOTS = "User-agent: *\nCrawl-delay: {delay:g}\nSitemap: http://{host}/sitemap.xml\n"


class Asked(NamedTuple):
    """One request as the server saw it."""

    host: str
    address: str
    begun: float
    ended: float
    rest: float
    url: str


class Reply(NamedTuple):
    """An answer: how long it takes, and how long the host wants to be left alone after it."""

    status: int = 200
    body: bytes = b"x"
    rest: float = 0.0
    seconds: float = 0.1
    headers: tuple[tuple[str, str], ...] = ()
    kind: str = "text/plain"
    error: FetchError | None = None


class Killed(BaseException):
    """The process dies here."""


class VirtualWeb(ABC):
    """What hosts answer, and their log. Lives longer than any crawl. Without robots.txt and pages unless told."""

    delay = 1.0
    ip_delay = 0.25

    def __init__(self, seed: int = 200) -> None:
        self.log: list[Asked] = []
        self.open: set[str] = set()
        self.kill_after = 0
        self.numbers = random.Random(seed)

    def address(self, host: str) -> str:
        """Where a host is."""
        return f"203.0.{114 + fingerprint(host) % 100}.{fingerprint(host) // 100 % 250}"

    def usual_rest(self, host: str) -> float:  # noqa: ARG002 - others go by it
        """How long a host rests that refuses nothing."""
        return self.delay

    def answer(self, url: str, host: str) -> Reply:
        """What a host says to a request."""
        return Reply(404 if url.endswith("/robots.txt") else 200, rest=self.usual_rest(host))

    @abstractmethod
    def read(self, fetched: Fetched) -> Analysis:
        """What a page or a sitemap says."""


def listed(urls: list[tuple[str, str]], outcome: Outcome = Outcome.SITEMAP, digest: int = 0) -> Analysis:
    """A sitemap or page that names URLs, each for a node."""
    links = []
    for url, node in urls:
        parts = canonicalize(url)
        assert parts is not None
        links.append(RoutedLink(parts.href, parts.host, fingerprint(parts.href), node, 0.5))
    found = analysis(*links, outcome=outcome, digest=digest)
    return msgspec.structs.replace(found, text=zstandard.compress(b"text"), mentions=b"") if found.text else found


def pages(host: str, count: int) -> list[tuple[str, str]]:
    """All URLs of a host, for the nodes in turn."""
    return [(f"http://{host}/page/{number}", NODES[number % 3]) for number in range(count)]


class PoliteWeb(VirtualWeb):
    """Hosts with sitemaps; some ask for more rest by robots.txt, and now and then each refuses."""

    refusals = 0.002

    def __init__(self, urls: int) -> None:
        super().__init__()
        self.urls = urls

    def address(self, host: str) -> str:
        return f"203.0.114.{int(host[1:4]) % ADDRESSES}"

    def usual_rest(self, host: str) -> float:
        return max(self.delay, self.crawl_delay(host))

    def crawl_delay(self, host: str) -> float:
        """What a host's robots.txt asks for."""
        return 3.0 if int(host[1:4]) % 20 == 7 else 0.0

    def answer(self, url: str, host: str) -> Reply:
        rest, seconds = self.usual_rest(host), self.numbers.choice([0.01, 0.1, 0.4])
        if url.endswith("/robots.txt"):
            text = ROBOTS.format(delay=self.crawl_delay(host), host=host)
            return Reply(200, text.encode(), rest, seconds)
        if self.numbers.random() < self.refusals:
            return Reply(429, b"", 20.0, seconds, (("Retry-After", "20"),))
        return Reply(200, b"x", rest, seconds)

    def read(self, fetched: Fetched) -> Analysis:
        return listed(pages(fetched.url.split("/")[2], self.urls))


class ScriptedTransport:
    """Answers from the web's script, as slowly as the script says."""

    def __init__(self, web: VirtualWeb, resolver: Resolver, clock: VirtualClock) -> None:
        self._web = web
        self._resolver = resolver
        self._clock = clock

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def get(self, url: str, **_: object) -> Fetched:
        web, host = self._web, url.split("/")[2]
        address = web.address(host)
        try:
            self._resolver.take_turn(host, address)
        except NotYet as busy:
            raise AddressBusy(str(busy), busy.seconds) from None
        if web.kill_after and len(web.log) >= web.kill_after:
            raise Killed
        assert host not in web.open, f"two requests to {host} at once"
        begun = self._clock.monotonic()
        web.open.add(host)
        reply = web.answer(url, host)
        try:
            await asyncio.sleep(reply.seconds)
        finally:
            web.open.discard(host)
            web.log.append(Asked(host, address, begun, self._clock.monotonic(), reply.rest, url))
        if reply.error is not None:
            raise reply.error
        took = self._clock.monotonic() - begun
        return Fetched(url, reply.status, reply.headers, reply.body, reply.kind, self._clock.now(), took, address)


class JumpingClock(VirtualClock):
    """A clock whose wall time somebody sets: `jump` gives by how much it is wrong at a virtual time."""

    def __init__(self, loop: VirtualLoop, jump: Callable[[float], timedelta]) -> None:
        super().__init__(loop)
        self._jump = jump

    def now(self) -> datetime:
        """The wall time, right or wrong."""
        return super().now() + self._jump(self.monotonic())


class Life(NamedTuple):
    """One life of a crawl: what it came to (None: it was killed), and the virtual time then."""

    summary: Summary | None
    ended: float


@functools.cache
def _gazetteer() -> Gazetteer:
    return open_gazetteer()


def crawl_job(seeds: list[str], *, nodes: tuple[str, ...] = NODES, **crawl: Any) -> Prepared:
    """A job for a virtual web; the folder comes with `live`."""
    given = {"strategy": "hash", "sitemaps": "robots", "delay_factor": 0.0, "pattern_pages": 100_000}
    given |= {"delay_seconds": VirtualWeb.delay, "ip_delay_seconds": VirtualWeb.ip_delay, **crawl}
    job = {"out": "crawl", "contact": "mailto:somebody@example.org", "seeds": seeds, "crawl": given}
    return prepare(job_from_dict(job | {"nodes": {name: {} for name in nodes}}, "virtual"), Path(), _gazetteer())


def live(
    folder: Path,
    web: VirtualWeb,
    prepared: Prepared,
    patch: pytest.MonkeyPatch,
    *,
    start: float = 0.0,
    jump: Callable[[float], timedelta] | None = None,
) -> Life:
    """Crawl until the end or until `web` kills it."""
    loop = VirtualLoop(start)
    clock = VirtualClock(loop) if jump is None else JumpingClock(loop, jump)

    class Reader:
        """In place of the workers."""

        def __init__(self, *_: object, **__: object) -> None:
            pass

        async def start(self) -> None:
            pass

        async def close(self) -> None:
            pass

        async def run(self, job: bytes) -> bytes:
            return written_analysis(web.read(msgspec.msgpack.decode(job, type=Fetched)))

    patch.setattr(crawl_module, "Workers", Reader)
    patch.setattr(indexing, "INDEX_SECONDS", FOR_EVER)  # at the end only: that takes real time
    for module in (crawl_module, indexing):
        patch.setattr(module, "ThreadPoolExecutor", InlineExecutor)
    patch.setattr(indexing, "IndexProcess", Indexes)
    patch.setattr(equipment, "Transport", lambda _f, resolver, *_, **__: ScriptedTransport(web, resolver, clock))
    crawl = Crawl(replace(prepared, folder=CrawlFolder(folder)), clock)
    loop.call_at(start + FOR_EVER, crawl.stop, "it hung")
    summary = None
    try:
        summary = loop.run_until_complete(crawl.run())
    except* Killed:
        pass
    finally:
        web.open.clear()
        loop.close()
    return Life(summary, loop.time())


def too_early(web: VirtualWeb, kills: list[float], *, window: float) -> tuple[list[str], list[str]]:
    """Requests that came before the host's or the address's rest was over, and those that only a kill excuses.

    A refusal (429) that the crawl had no time to write down in the `window` before it was killed is not known to its
    successor; the usual rest always is.
    """
    found, excused = [], []
    by_host: dict[str, list[Asked]] = defaultdict(list)
    by_address: dict[str, list[float]] = defaultdict(list)
    for row in sorted(web.log, key=lambda row: row.begun):
        by_host[row.host].append(row)
        by_address[row.address].append(row.begun)
    for rows in by_host.values():
        for one, other in itertools.pairwise(rows):
            if other.begun >= one.ended + one.rest - TINY:
                continue
            told = f"{one.url} until {one.ended:.3f}, rest {one.rest:g}; then {other.url} at {other.begun:.3f}"
            near = [kill for kill in kills if one.begun <= kill <= one.ended + window]
            if near and other.begun >= one.ended + min(one.rest, web.usual_rest(one.host)) - TINY:
                excused.append(f"{told}; killed at {near[0]:.3f}")
            else:
                found.append(told)
    for address, times in by_address.items():
        found += [f"{address}: {a} then {b}" for a, b in itertools.pairwise(times) if b - a < web.ip_delay - TINY]
    return found, excused
