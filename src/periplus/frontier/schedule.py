"""Turns over hosts, for all nodes of a process: one request at a time to a host, and never too early.

`take` gives the next host that may be asked now together with the right to ask it, in one step, so that two
nodes can never both believe that it is their turn. Hosts come up in the order in which they became ready, and
nodes are served in rotation, so neither a large site nor a busy node starves the others.
All times are monotonic seconds.
"""

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

__all__ = ["Schedule", "Turn"]

BUSY_SECONDS = 0.25
"""When to ask again for a host that is busy with somebody else's request."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The right of one node to send one request to one host."""

    host: str
    node: str


@dataclass(slots=True)
class _Host:
    name: str
    ready_at: float = 0.0
    busy: bool = False
    suspended: bool = False  # in a cluster: another machine's turn
    turn: Turn | None = None  # whose it is, if it is busy
    address: str | None = None
    queued_at: float | None = None  # time of its entry in the heap, if it has one
    wanted: dict[str, float] = field(default_factory=dict)  # node -> time from which it has a URL
    listed: set[str] = field(default_factory=set)  # nodes whose ready list it is in


class Schedule:
    """Who may ask which host when. Not thread-safe: it belongs to the event loop."""

    def __init__(self, nodes: list[str], *, delay_seconds: float, ip_delay_seconds: float = 0.0) -> None:
        self.delay_seconds = delay_seconds
        self.ip_delay_seconds = ip_delay_seconds
        self._hosts: dict[str, _Host] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._order = itertools.count()
        self._ready: dict[str, deque[str]] = {node: deque() for node in nodes}
        self._rotation = deque(nodes)
        self._address_ready_at: dict[str, float] = {}
        self._address_line: dict[str, float] = {}  # when the next who waits for the address is to come back
        self.busy = 0
        self.on_want: Callable[[str, str], None] | None = None
        """Hears of every host and node that wants it; in a cluster other machines may have to be asked."""

    def want(self, host: str, node: str, at: float) -> None:
        """`node` has a URL of `host` from time `at` on."""
        if self.on_want is not None:
            self.on_want(host, node)
        entry = self._hosts.setdefault(host, _Host(host))
        entry.wanted[node] = min(at, entry.wanted.get(node, at))
        self._enqueue(entry)

    def hold(self, host: str, until: float) -> None:
        """Do not ask the host before `until` (a delay that was promised before a restart, Retry-After)."""
        entry = self._hosts.setdefault(host, _Host(host))
        entry.ready_at = max(entry.ready_at, until)

    def take(self, now: float) -> Turn | None:
        """The next turn that is due, or None; the host is busy until `give_back`."""
        while self._heap and self._heap[0][0] <= now:
            at, _, name = heapq.heappop(self._heap)
            host = self._hosts[name]
            if host.queued_at == at:  # else a stale entry
                host.queued_at = None
                self._list(host, now)
        for _ in range(len(self._rotation)):
            node = self._rotation[0]
            self._rotation.rotate(-1)
            turn = self._take_for(node, now)
            if turn is not None:
                return turn
        return None

    def give_back(self, turn: Turn, now: float, *, asked: bool, extra_seconds: float = 0.0) -> None:
        """End a turn. `asked`: a request was sent, so the host rests for its delay (or longer if it asked for it)."""
        host = self._hosts[turn.host]
        host.busy, host.turn = False, None
        self.busy -= 1
        if asked:
            host.ready_at = max(host.ready_at, now + max(self.delay_seconds, extra_seconds))
        self._enqueue(host)

    def take_aside(self, host: str, now: float) -> float:
        """Take a host outside the turns of nodes: 0 if it is taken now, else the seconds after which to try again."""
        entry = self._hosts.setdefault(host, _Host(host))
        if entry.busy:
            return BUSY_SECONDS
        if entry.ready_at > now:
            return entry.ready_at - now
        entry.busy = True
        self.busy += 1
        return 0.0

    def give_back_aside(self, host: str, now: float) -> None:
        """End what `take_aside` began; the host rests for its delay."""
        self.give_back(Turn(host, ""), now, asked=True)

    def no_longer_wanted(self, host: str, node: str) -> None:
        """`node` has no URL of `host` at present."""
        self._hosts[host].wanted.pop(node, None)

    def suspend(self, host: str) -> None:
        """Give no further turns of the host until `resume`; who wants it is remembered."""
        self._hosts.setdefault(host, _Host(host)).suspended = True

    def resume(self, host: str) -> None:
        """Give turns of the host again."""
        entry = self._hosts.setdefault(host, _Host(host))
        entry.suspended, entry.queued_at = False, None
        self._enqueue(entry)

    def is_wanted(self, host: str) -> bool:
        """Whether a node has a URL of the host that is due."""
        entry = self._hosts.get(host)
        return entry is not None and bool(entry.wanted)

    def wanted_hosts(self) -> Iterator[str]:
        """The hosts of which any node has a URL, now or later."""
        return (name for name, host in self._hosts.items() if host.wanted)

    def who_wants(self, host: str) -> str:
        """A node that has a URL of the host; empty if none has."""
        entry = self._hosts.get(host)
        return next(iter(entry.wanted), "") if entry else ""

    def is_asked(self, host: str) -> bool:
        """Whether a request to the host is under way."""
        entry = self._hosts.get(host)
        return entry is not None and entry.busy

    def ready_at(self, host: str) -> float:
        """When the host may be asked next."""
        entry = self._hosts.get(host)
        return entry.ready_at if entry else 0.0

    def is_busy(self, turn: Turn) -> bool:
        """Whether the turn is not given back yet."""
        return self._hosts[turn.host].busy and self._hosts[turn.host].turn == turn

    def next_at(self) -> float | None:
        """When the next host becomes ready, or None if no host waits for its time."""
        if any(self._ready.values()):
            return 0.0
        return self._heap[0][0] if self._heap else None

    def next_host(self) -> tuple[str, float] | None:
        """The host that becomes ready next, and when; None if no host waits for its time."""
        while self._heap and self._hosts[self._heap[0][2]].queued_at != self._heap[0][0]:
            heapq.heappop(self._heap)  # a stale entry
        return (self._heap[0][2], self._heap[0][0]) if self._heap else None

    def connect_wait(self, host: str, address: str, now: float) -> float:
        """0 if the first connection of `host` to `address` may be made now, and the address's slot is taken thereby.

        Else the seconds until the slot is free, and nothing is taken: the turn is to be given back. From now on the
        host's address is known, and its turns wait in the schedule, never in a connection.
        """
        entry = self._hosts.setdefault(host, _Host(host))
        known, entry.address = entry.address, address
        if known == address or not self.ip_delay_seconds:
            return 0.0
        return self._take_slot(address, now)

    def _take_for(self, node: str, now: float) -> Turn | None:
        ready = self._ready[node]
        while ready:
            host = self._hosts[ready.popleft()]
            host.listed.discard(node)
            if host.busy or host.suspended:
                continue  # another node took it; give_back, or resume, lists it again
            if host.ready_at > now or host.wanted.get(node, math.inf) > now or not self._address_slot(host, now):
                self._enqueue(host)  # not now, or no longer for this node: others may still want it
                continue
            host.busy, host.turn = True, Turn(host.name, node)
            self.busy += 1
            return host.turn
        return None

    def _address_slot(self, host: _Host, now: float) -> bool:
        """Take the address's slot if it is free; else put the host off until it is."""
        if not self.ip_delay_seconds or host.address is None:
            return True
        wait = self._take_slot(host.address, now)
        host.ready_at = max(host.ready_at, now + wait) if wait else host.ready_at
        return not wait

    def _take_slot(self, address: str, now: float) -> float:
        """Take the address's slot, 0; or the seconds after which to come back, another time for each who waits."""
        free_at = self._address_ready_at.get(address, 0.0)
        if free_at <= now:
            self._address_ready_at[address] = now + self.ip_delay_seconds
            return 0.0
        at = max(free_at, self._address_line.get(address, 0.0))
        self._address_line[address] = at + self.ip_delay_seconds
        return at - now

    def _enqueue(self, host: _Host) -> None:
        if host.busy or host.suspended or not host.wanted:
            return
        at = max(host.ready_at, min(host.wanted.values()))
        if host.queued_at is None or host.queued_at > at:
            host.queued_at = at
            heapq.heappush(self._heap, (at, next(self._order), host.name))

    def _list(self, host: _Host, now: float) -> None:
        """Put a host whose time has come on the ready list of every node that wants it now."""
        if host.busy or host.suspended:
            return
        for node, at in host.wanted.items():
            if at <= now and node not in host.listed:
                host.listed.add(node)
                self._ready[node].append(host.name)
        if all(at > now for at in host.wanted.values()):
            self._enqueue(host)
