"""A node's queue of URLs: best first within a host, the best few in memory, the rest on disk.

Every queued URL is a row of `url` and one of `queue`; `progress` has those that were tried or revalued. In memory is
only the head of each host's queue, and the more hosts there are the shorter the heads, so memory does not grow with
URLs. New rows reach `push` after they were committed. URLs that have ended leave `queue` many at once
(`store/queueing.py`); until then they are known here, to be passed over.
Times are Unix seconds, since retries must survive a restart.
"""

import heapq
import itertools
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from periplus.model import Lease

__all__ = ["LEASE_SECONDS", "UrlQueue"]

HEADS = 64
"""URLs of one host that a refill brings into memory; twice as many are tolerated before the tail is let go."""

FEW_HEADS = 8
"""So many after priorities have changed, since they soon change again, then twice as many with every further refill."""

LEASE_SECONDS = 900.0
"""Long enough for whatever a URL may cost with a queue of others before it; who holds a lease longer is stuck."""

MOST_WAIT_SECONDS = 86_400.0
"""Nothing is put off for longer than the longest Retry-After that is believed; else a clock was wrong."""

UNBELIEVED_WAIT_SECONDS = 300.0
"""How long that waits instead."""

IN_MEMORY = 32_768
"""URLs of all hosts that are meant to be in memory, some 12 MB, over all nodes of a process; with more hosts than that
each is read as it is due."""

CACHE_KIB = 8_192
"""For `progress` and the inner pages of `url` and `queue`, of which ten million URLs have 4 MB."""

_Entry = tuple[float, int, Lease]  # sorts by priority, best first, then by age


ENDED = 0
"""The epoch of a lease that is over and not committed yet."""

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

    next_refill: int = HEADS

    def add(self, entry: _Entry) -> None:
        """Take an entry whose row is on disk into memory, unless the next refill is early enough for it."""
        if not self.more_on_disk or entry[:2] <= self.edge:
            heapq.heappush(self.heads, entry)


class UrlQueue:
    """What one node still has to fetch. Not thread-safe: it belongs to the event loop."""

    def __init__(self, reader: sqlite3.Connection, owner: str = "", *, sharers: int = 1) -> None:
        """`sharers`: how many nodes share the memory of the process."""
        reader.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._in_memory = IN_MEMORY // sharers
        self._reader = reader
        self._owner = owner
        self._epochs = itertools.count(1)
        self._hosts: dict[str, _HostQueue] = {}
        self._out: dict[str, dict[int, int]] = {}  # by host, id and epoch: leased, or ended and not committed yet
        self._read: set[int] = set()  # rows read from disk since everything committed was last in memory
        self._spent: set[int] = set()  # ended, and perhaps in `queue` still
        self.size = 0

    def close(self) -> None:
        """Let the database go."""
        self._reader.close()

    def load(self, now: float) -> list[str]:
        """Take up the queue that is on disk; gives the hosts that have URLs, retries due later included."""
        self._spent.update(row[0] for row in self._reader.execute("SELECT id FROM spent"))
        ended = dict(self._reader.execute("SELECT host_id, count(*) FROM spent GROUP BY host_id").fetchall())
        rows = self._reader.execute(
            "SELECT host.name, host.id, queued.count FROM host "
            "JOIN (SELECT host_id, count(*) AS count FROM queue GROUP BY host_id) queued ON queued.host_id = host.id"
        )
        for name, host_id, count in rows.fetchall():
            if count > ended.get(host_id, 0):
                self._hosts[name] = _HostQueue(host_id, more_on_disk=True, edge=NOTHING)
                self.size += count - ended.get(host_id, 0)
        delayed = self._reader.execute(
            "SELECT u.id, u.url, host.name, u.depth, u.redirects, ifnull(p.priority, u.priority), p.attempts, "
            "u.sitemap, p.visits, p.not_before "
            "FROM progress p JOIN url u ON u.id = p.id JOIN host ON host.id = u.host_id "
            "WHERE p.state = 0 AND p.not_before > ?",
            (now,),
        )
        for *fields, not_before in delayed.fetchall():
            lease = _lease(fields)
            at = not_before if not_before <= now + MOST_WAIT_SECONDS else now + UNBELIEVED_WAIT_SECONDS
            heapq.heappush(self._hosts[lease.host].later, (at, lease.url_id, lease))
        return list(self._hosts)

    def push(self, lease: Lease, host_id: int) -> None:
        """Add a URL whose row is committed."""
        queue = self._hosts.get(lease.host)
        if queue is None:
            queue = self._hosts[lease.host] = _HostQueue(host_id)
        self.size += 1
        self._spent.discard(lease.url_id)  # it may have been visited before
        if lease.url_id in self._read:
            return  # a refill has met the row between its commit and now
        queue.add((-lease.priority, lease.url_id, lease))
        most = min(HEADS, self._in_memory // len(self._hosts))
        if len(queue.heads) > 2 * most:
            queue.heads = heapq.nsmallest(most, queue.heads)  # a sorted list is a heap
            queue.more_on_disk, queue.edge = True, queue.heads[-1][:2] if most else NOTHING

    def all_pushed(self) -> None:
        """Every row that is committed was pushed, so no refill can have met one too early."""
        self._read.clear()

    def lease(self, host: str, now: float) -> Lease | None:
        """Take the host's best URL; None if it has none that is due. The caller holds the host's turn."""
        queue = self._hosts.get(host)
        if queue is None or not self._ready(queue, host, now):
            return None
        head = heapq.heappop(queue.heads)[2]
        lease = msgspec.structs.replace(head, owner=self._owner, epoch=next(self._epochs), deadline=now + LEASE_SECONDS)
        self._out.setdefault(host, {})[lease.url_id] = lease.epoch
        self.size -= 1
        return lease

    def holds(self, lease: Lease) -> bool:
        """Whether the lease is still the one under which its URL is out."""
        return self._out.get(lease.host, {}).get(lease.url_id) == lease.epoch

    def end(self, lease: Lease) -> None:
        """The lease is over; its row is out until that is committed (`finished`, `retry`)."""
        self._out[lease.host][lease.url_id] = ENDED

    def revalue(self, host: str, priority: float) -> None:
        """The new priority of a queued URL is committed. If it comes first now, the heads are read anew from disk."""
        queue = self._hosts.get(host)
        if queue is not None and queue.heads and -priority < queue.heads[0][0]:
            queue.heads, queue.more_on_disk, queue.edge = [], True, NOTHING
            queue.next_refill = FEW_HEADS

    def put_back(self, lease: Lease) -> None:
        """Undo a lease that was not used."""
        self._give_back(lease)
        self.size += 1
        self._hosts[lease.host].add((-lease.priority, lease.url_id, lease))

    def finished(self, lease: Lease) -> None:
        """The URL's end is committed."""
        self._give_back(lease)
        self._spent.add(lease.url_id)

    def swept(self) -> None:
        """What had ended is no longer in `queue`."""
        self._spent.clear()

    def _give_back(self, lease: Lease) -> None:
        out = self._out.get(lease.host)
        if out is not None:
            out.pop(lease.url_id, None)
            if not out:
                del self._out[lease.host]

    def retry(self, lease: Lease, at: float) -> None:
        """The URL's failed attempt is committed: it comes up again at `at`."""
        self._give_back(lease)
        self.size += 1
        again = msgspec.structs.replace(lease, attempts=lease.attempts + 1)
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
        if not queue.heads and queue.more_on_disk:
            self._refill(queue, host)
        return bool(queue.heads)

    def _refill(self, queue: _HostQueue, host: str) -> None:
        wanted = max(1, min(queue.next_refill, self._in_memory // len(self._hosts)))
        queue.next_refill = min(HEADS, 2 * queue.next_refill)
        best = self._best(queue, host, wanted)
        rows = self._reader.execute(
            "SELECT id, url, ?, depth, redirects, priority, attempts, sitemap, visits FROM known_url "
            f"WHERE id IN ({','.join('?' * len(best))}) ORDER BY priority DESC, id",
            (host, *best),
        ).fetchall()
        self._read.update(best)
        queue.heads = [(-row[5], row[0], _lease(row)) for row in rows]
        queue.more_on_disk = len(best) == wanted
        queue.edge = queue.heads[-1][:2] if queue.heads else NOTHING

    def _best(self, queue: _HostQueue, host: str, wanted: int) -> list[int]:
        """The host's best URLs on disk, but for those that are out, have ended or wait: they have their rows still."""
        out = self._out.get(host, ())
        waiting = {url_id for _, url_id, _ in queue.later}
        best: list[int] = []
        rows = self._reader.execute(
            "SELECT id FROM queue WHERE host_id = ? ORDER BY priority DESC, id", (queue.host_id,)
        )
        for (url_id,) in rows:
            if url_id not in out and url_id not in self._spent and url_id not in waiting:
                best.append(url_id)
                if len(best) == wanted:
                    break
        rows.close()  # what is read no further must not hold on to the database as it was
        return best


def _lease(row: Sequence[Any]) -> Lease:
    """A row of the database as a lease that nobody has taken yet."""
    url_id, url, host, depth, redirects, priority, attempts, sitemap, visits = row
    return Lease(url_id, url, host, depth, redirects, priority, attempts, sitemap=bool(sitemap), visits=visits)
