"""A node's queue of URLs: best first within a host, the best few in memory, the rest on disk.

Every queued URL is a row of `url` with state QUEUED; what is in memory is only the head of each host's
queue, so memory grows with hosts and not with URLs. New rows reach `push` after they were committed.
Times are Unix seconds, since retries must survive a restart.
"""

import heapq
import math
import sqlite3
from dataclasses import dataclass, field, replace

from periplus.model import Lease

__all__ = ["UrlQueue"]

HEADS = 64
"""URLs of one host that a refill brings into memory; twice as many are tolerated before the tail is let go."""

_Entry = tuple[float, int, Lease]  # sorts by priority, best first, then by age


NOTHING = (-math.inf, 0)
"""The edge of a queue of which nothing is in memory."""


@dataclass(slots=True)
class _HostQueue:
    host_id: int
    heads: list[_Entry] = field(default_factory=list)
    later: list[_Entry] = field(default_factory=list)  # retries by the time they are due
    more_on_disk: bool = False
    edge: tuple[float, int] = NOTHING
    """With more on disk: everything better than this is in memory, so what is worse may stay on disk."""

    def add(self, entry: _Entry) -> None:
        """Take an entry whose row is on disk into memory, unless the next refill is early enough for it."""
        if not self.more_on_disk or entry[:2] <= self.edge:
            heapq.heappush(self.heads, entry)


class UrlQueue:
    """What one node still has to fetch. Not thread-safe: it belongs to the event loop."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader
        self._hosts: dict[str, _HostQueue] = {}
        self._out: set[int] = set()  # leased, or finished and not committed yet
        self._moved: dict[int, float] = {}  # URLs whose priority has changed: entries with another one are stale
        self.size = 0

    def close(self) -> None:
        """Let the database go."""
        self._reader.close()

    def load(self, now: float) -> list[str]:
        """Take up the queue that is on disk; gives the hosts that have URLs, retries due later included."""
        rows = self._reader.execute(
            "SELECT host.name, host.id, count(*) FROM url JOIN host ON host.id = url.host_id "
            "WHERE url.state = 0 GROUP BY url.host_id"
        )
        for name, host_id, count in rows.fetchall():
            self._hosts[name] = _HostQueue(host_id, more_on_disk=True, edge=NOTHING)
            self.size += count
        delayed = self._reader.execute(
            "SELECT url.id, url.url, host.name, url.depth, url.redirects, url.priority, url.attempts, url.not_before "
            "FROM url JOIN host ON host.id = url.host_id WHERE url.state = 0 AND url.not_before > ?",
            (now,),
        )
        for *fields, not_before in delayed.fetchall():
            lease = Lease(*fields)
            heapq.heappush(self._hosts[lease.host].later, (not_before, lease.url_id, lease))
        return list(self._hosts)

    def push(self, lease: Lease, host_id: int) -> None:
        """Add a URL whose row is committed."""
        queue = self._hosts.get(lease.host)
        if queue is None:
            queue = self._hosts[lease.host] = _HostQueue(host_id)
        self.size += 1
        entry = (-lease.priority, lease.url_id, lease)
        queue.add(entry)
        if len(queue.heads) > 2 * HEADS:
            queue.heads = heapq.nsmallest(HEADS, queue.heads)  # a sorted list is a heap
            queue.more_on_disk, queue.edge = True, queue.heads[-1][:2]

    def lease(self, host: str, now: float) -> Lease | None:
        """Take the host's best URL; None if it has none that is due. The caller holds the host's turn."""
        queue = self._hosts.get(host)
        if queue is None or not self._ready(queue, host, now):
            return None
        lease = heapq.heappop(queue.heads)[2]
        if lease.url_id in self._moved:
            self._moved[lease.url_id] = math.inf  # what else is in memory of it is stale from now on
        self._out.add(lease.url_id)
        self.size -= 1
        return lease

    def revalue(self, lease: Lease) -> None:
        """A queued URL whose new priority is committed; one that is under way or waits for a retry stays as it is."""
        queue = self._hosts.get(lease.host)
        if queue is None or lease.url_id in self._out or lease.attempts:
            return
        self._moved[lease.url_id] = lease.priority
        queue.add((-lease.priority, lease.url_id, lease))

    def put_back(self, lease: Lease) -> None:
        """Undo a lease that was not used."""
        self._out.discard(lease.url_id)
        if lease.url_id in self._moved:
            self._moved[lease.url_id] = lease.priority
        self.size += 1
        self._hosts[lease.host].add((-lease.priority, lease.url_id, lease))

    def finished(self, lease: Lease) -> None:
        """The URL's end is committed."""
        self._out.discard(lease.url_id)

    def retry(self, lease: Lease, at: float) -> None:
        """The URL's failed attempt is committed: it comes up again at `at`."""
        self._out.discard(lease.url_id)
        self.size += 1
        again = replace(lease, attempts=lease.attempts + 1)
        heapq.heappush(self._hosts[lease.host].later, (at, lease.url_id, again))

    def next_due(self, host: str, now: float) -> float | None:
        """When the host has a URL to fetch: `now` if it has one, None if it has none."""
        queue = self._hosts.get(host)
        if queue is None:
            return None
        if self._ready(queue, host, now):
            return now
        return queue.later[0][0] if queue.later else None

    def _ready(self, queue: _HostQueue, host: str, now: float) -> bool:
        """Whether the host has a URL that is due; brings it into memory."""
        while queue.later and queue.later[0][0] <= now:
            lease = heapq.heappop(queue.later)[2]
            queue.add((-lease.priority, lease.url_id, lease))
        self._drop_stale(queue)
        if not queue.heads and queue.more_on_disk:
            self._refill(queue, host, now)
        return bool(queue.heads)

    def _drop_stale(self, queue: _HostQueue) -> None:
        """Let go of entries at the head whose URLs have another priority now, or are out already."""
        while self._moved and queue.heads:
            priority, url_id, _ = queue.heads[0]
            if self._moved.get(url_id, -priority) == -priority:
                return
            heapq.heappop(queue.heads)

    def _refill(self, queue: _HostQueue, host: str, now: float) -> None:
        # Rows that are out are still QUEUED on disk; asking for that many more reads past them.
        wanted = HEADS + len(self._out)
        rows = self._reader.execute(
            "SELECT id, url, depth, redirects, priority, attempts FROM url "
            "WHERE host_id = ? AND state = 0 AND not_before <= ? ORDER BY priority DESC, id LIMIT ?",
            (queue.host_id, now, wanted),
        ).fetchall()
        waiting = {url_id for _, url_id, _ in queue.later}
        queue.heads = [
            (-priority, url_id, Lease(url_id, url, host, depth, redirects, priority, attempts))
            for url_id, url, depth, redirects, priority, attempts in rows
            if url_id not in self._out and url_id not in waiting and self._moved.get(url_id, priority) == priority
        ]
        queue.more_on_disk = len(rows) == wanted
        queue.edge = queue.heads[-1][:2] if queue.heads else NOTHING
