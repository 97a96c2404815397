"""A crawl as a chain of events over a web's arrays: no HTTP, no parsing, no texts; to plan crawls of many nodes.

What takes time: a host answers one request at a time, after its latency, and rests for the delay of politeness; its
first turn brings robots.txt. A machine has so many connections and workers; a worker needs so long for a page. What a
page links to joins the frontier with the next commit; for another node it needs that node's commit too, and, on another
machine, the way there. A crawl needs a while to start and to end, whatever it crawls. What is
left out: what pages say (a URL's node is known beforehand), priorities (hosts come up in order of readiness, URLs of a
host in order of discovery), retries and revisits. URLs are fetched once (`overlap = "forbid"`).
"""

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from periplus.evaluate.measures import gini
from periplus.evaluate.webgraph import WebGraph

__all__ = ["Machine", "simulate"]

READY, ANSWERED, READ = 0, 1, 2
NOTHING = -1
STEPS = 20
MESSAGE_BYTES = 100
"""Of a link in a batch: its URL, and what `evaluate.policy` counts beside it."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What each machine has and needs; the defaults are a crawl's own."""

    delay: float = 1.0  # seconds that a host rests
    connections: int = 64
    workers: int = 2
    page_seconds: float = 0.008  # of a worker, for a page
    commit_seconds: float = 0.05
    way_seconds: float = 0.0  # of links between machines
    start_seconds: float = 0.0  # until the first request can be sent, and from the last page to the end


@dataclass(slots=True)
class _Site:
    """One machine in the simulation: free connections, who waits for one, and when its workers are free."""

    free: int
    waiting: deque[int] = field(default_factory=deque)
    workers: list[float] = field(default_factory=list)


def simulate(
    web: WebGraph,
    owners: npt.NDArray[np.int16],
    machine: Machine,
    *,
    nodes: int,
    machines: int = 1,
    pages: int = 0,
    on_page: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Crawl the web by so many nodes on so many machines until `pages` are read (0: all), and say how it went."""
    return _Simulation(web, owners, machine, nodes, machines).run(pages or web.size, on_page)


class _Simulation:
    def __init__(
        self, web: WebGraph, owners: npt.NDArray[np.int16], machine: Machine, nodes: int, machines: int
    ) -> None:
        self._web, self._owners, self._machine = web, owners, machine
        self._sites = [_Site(machine.connections, workers=[0.0] * machine.workers) for _ in range(machines)]
        self._site_of = [node % machines for node in range(nodes)]
        hosts = len(web.latency)
        self._latency: list[float] = web.latency.tolist()
        self._host = web.host
        self._seen = np.zeros(web.size, dtype=bool)
        self._after = np.full(web.size, NOTHING, np.int32)  # the next URL of the same host
        self._head = [NOTHING] * hosts
        self._tail = [NOTHING] * hosts
        self._ready_at = [0.0] * hosts
        self._busy = bytearray(hosts)  # asked, or in line
        self._known = bytearray(hosts)  # has robots.txt
        self._events: list[tuple[float, int, int, int]] = []
        self._count = itertools.count()
        self._now = 0.0
        self._queued = self._pages = self._sent = self._batches = 0
        self._read = [0] * nodes
        self._last_batch: dict[tuple[int, int], float] = {}

    def run(self, limit: int, on_page: Callable[[int], None]) -> dict[str, Any]:
        self._discover(self._web.seeds, self._owners[self._web.seeds])
        steps, course = iter(max(1, limit * step // STEPS) for step in range(1, STEPS + 1)), []
        wanted = next(steps)
        does = (self._ready, self._answered, self._end)
        while self._events and self._pages < limit:
            self._now, _, kind, subject = heapq.heappop(self._events)
            before = self._pages
            does[kind](subject)
            if self._pages > before:
                on_page(self._pages)
                if self._pages >= wanted:
                    course.append({"seconds": round(self._now, 3), "pages": self._pages, "queued": self._queued})
                    wanted = next(steps, limit + 1)
        return self._result(course)

    def _at(self, when: float, kind: int, subject: int) -> None:
        heapq.heappush(self._events, (when, next(self._count), kind, subject))

    # -- Events ------------------------------------------------------------------------------------

    def _ready(self, host: int) -> None:
        """A host may be asked: now, or when the machine whose turn it is has a connection."""
        url = self._head[host]
        site = self._sites[self._site_of[self._owners[url]]]
        if not site.free:
            site.waiting.append(host)
            return
        site.free -= 1
        if not self._known[host]:
            self._known[host] = 1
            self._at(self._now + self._latency[host], ANSWERED, -1 - host)
            return
        self._head[host] = int(self._after[url])
        self._queued -= 1
        self._at(self._now + self._latency[host], ANSWERED, url)

    def _answered(self, url: int) -> None:
        """An answer is there: the host rests, the connection is free, and a page goes to a worker."""
        robots = url < 0
        host = -1 - url if robots else int(self._host[url])
        site = self._sites[self._site_of[self._owners[self._head[host] if robots else url]]]
        self._ready_at[host] = self._now + self._machine.delay
        self._busy[host] = 0
        self._want(host)
        site.free += 1
        if site.waiting:
            self._ready(site.waiting.popleft())
        if robots or not self._web.is_page[url]:
            return
        start = max(self._now, heapq.heappop(site.workers))
        done = start + self._machine.page_seconds
        heapq.heappush(site.workers, done)
        self._at(done, READ, url)

    def _end(self, url: int) -> None:
        """A page has been read: what is new among its links joins the frontier."""
        self._pages += 1
        owner = int(self._owners[url])
        self._read[owner] += 1
        web = self._web
        links = web.targets[web.offsets[url] : web.offsets[url + 1]]
        fresh = links[~self._seen[links]]
        if len(fresh):
            fresh = fresh[np.sort(np.unique(fresh, return_index=True)[1])] if len(fresh) > 1 else fresh
            owners = self._owners[fresh]
            self._exchange(owner, owners)
            self._discover(fresh, owners, owner)

    def _exchange(self, owner: int, owners: npt.NDArray[np.int16]) -> None:
        """Count what is sent; links to one node in one commit are one batch."""
        others = owners[owners != owner]
        self._sent += len(others)
        for receiver in set(others.tolist()):
            last = self._last_batch.get((owner, receiver), -1.0)
            if self._now - last >= self._machine.commit_seconds:
                self._last_batch[owner, receiver] = self._now
                self._batches += 1

    def _discover(
        self, urls: npt.NDArray[np.integer[Any]], owners: npt.NDArray[np.int16], finder: int | None = None
    ) -> None:
        """New URLs, with their nodes, and the node that found them (None: they are seeds)."""
        self._seen[urls] = True
        self._queued += len(urls)
        machine = self._machine
        away = machine.commit_seconds + (machine.way_seconds if len(self._sites) > 1 else 0.0)
        for url, host, owner in zip(urls.tolist(), self._host[urls].tolist(), owners.tolist(), strict=True):
            if self._head[host] == NOTHING:
                self._head[host] = url
            else:
                self._after[self._tail[host]] = url
            self._tail[host] = url
            self._want(host, machine.commit_seconds + (away if finder not in (None, owner) else 0.0))

    def _want(self, host: int, pause: float = 0.0) -> None:
        """Give the host its next turn, if it has URLs and none is under way; not before the pause is over."""
        if self._busy[host] or self._head[host] == NOTHING:
            return
        self._busy[host] = 1
        self._at(max(self._ready_at[host], self._now + pause), READY, host)

    def _result(self, course: list[dict[str, float]]) -> dict[str, Any]:
        whole = self._now + self._machine.start_seconds
        seconds = max(whole, 1e-9)
        return {
            "pages": self._pages,
            "seconds": round(whole, 3),
            "pages_per_second": round(self._pages / seconds, 3),
            "queued": self._queued,
            "sent": self._sent,
            "communication_overhead": round(self._sent / max(1, self._pages), 6),
            "batches": self._batches,
            "bytes_per_second": round(self._sent * MESSAGE_BYTES / seconds, 1),
            "balance_gini": None if gini(self._read) is None else round(gini(self._read) or 0.0, 6),
            "nodes": [{"pages": pages} for pages in self._read],
            "course": course,
        }
