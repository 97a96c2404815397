"""Room network: probes, as a node makes them: cached, at most so many in a subnet, never beyond a deadline.

`Prober` is the seam: who wants to know a node's round trip asks one. In one process the answers come from a table
(`TableProber`); in a cluster every node has a `ProbeDesk` and is asked by messages. A desk measures from the
machine that it runs on and nothing else.
"""

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from periplus.clock import Clock
from periplus.errors import AddressBusy, FetchError

__all__ = ["Measure", "ProbeDesk", "Prober", "TableProber", "Target"]

MOST_CACHED: Final = 100_000
MOST_WAITING_SUBNETS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Target:
    """What a probe is about: a host with the address that it has and the subnet around that."""

    host: str
    address: str
    subnet: str = ""
    url: str = ""


class Prober(Protocol):
    """Asks nodes for their round trips."""

    async def probe(self, node: str, target: Target) -> float | None:
        """The node's round trip to the target in ms; None if it has no answer in time."""


Measure = Callable[[str], Awaitable[float]]
"""The round trip to a URL's host in ms, measured now; raises a FetchError. `fetch.probe` has one."""


class TableProber:
    """Round trips that were measured elsewhere: by host or address and node.

    With a clock a probe takes as long as the round trip that it measures, for experiments.
    """

    def __init__(self, ms: Mapping[tuple[str, str], float], clock: Clock | None = None) -> None:
        self._ms = ms
        self._clock = clock

    async def probe(self, node: str, target: Target) -> float | None:
        """What the table says about the host, else about its address."""
        found = self.ms(node, target)
        if self._clock is not None and found is not None:
            await self._clock.sleep(found / 1000.0)
        return found

    def ms(self, node: str, target: Target) -> float | None:
        """The same without a probe."""
        found = self._ms.get((target.host, node))
        return self._ms.get((target.address, node)) if found is None else found


class ProbeDesk:
    """Measures for one node. Answers None rather than late, and rather than to bother a subnet too often.

    An answer is good for `cache_seconds`; who asks about the same address meanwhile gets the same probe. Between two
    probes into one subnet `subnet_seconds` pass: a probe waits for its turn if that comes before its deadline.
    """

    def __init__(
        self, measure: Measure, clock: Clock, *, seconds: float, cache_seconds: float, subnet_seconds: float
    ) -> None:
        self._measure = measure
        self._clock = clock
        self._seconds = seconds
        self._cache_seconds = cache_seconds
        self._subnet_seconds = subnet_seconds
        self._cache: OrderedDict[str, tuple[float, float | None]] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[float | None]] = {}
        self._next_turn: OrderedDict[str, float] = OrderedDict()
        self.counts: Counter[str] = Counter()

    async def probe(self, target: Target) -> float | None:
        """The round trip to the target in ms, measured or remembered; None if there is none in time."""
        cached = self._cache.get(target.address)
        if cached is not None and cached[0] > self._clock.monotonic():
            self.counts["cached"] += 1
            return cached[1]
        task = self._under_way.get(target.address)
        if task is None:
            task = asyncio.create_task(self._probed(target))
            self._under_way[target.address] = task
            task.add_done_callback(lambda _: self._under_way.pop(target.address, None))
        else:
            self.counts["shared"] += 1
        return await asyncio.shield(task)

    def forget(self, address: str) -> None:
        """The next question about the address is answered by a new probe."""
        self._cache.pop(address, None)

    async def _probed(self, target: Target) -> float | None:
        wait = self._turn(target.subnet or target.address)
        if wait > self._seconds:
            self.counts["subnet busy"] += 1
            return None
        if wait > 0:
            await self._clock.sleep(wait)
        try:
            async with asyncio.timeout(self._seconds):
                ms: float | None = await self._measure(target.url or f"http://{target.host}/")
        except TimeoutError:
            self.counts["too slow"] += 1
            ms = None
        except AddressBusy:  # pages of that address are being asked for: not the probe's turn, and no answer either
            self.counts["address busy"] += 1
            return None
        except FetchError as error:
            self.counts[type(error).__name__] += 1
            ms = None
        else:
            self.counts["measured"] += 1
        if ms is not None and not (math.isfinite(ms) and ms >= 0):
            ms = None
        self._cache[target.address] = (self._clock.monotonic() + self._cache_seconds, ms)
        while len(self._cache) > MOST_CACHED:
            self._cache.popitem(last=False)
        return ms

    def _turn(self, subnet: str) -> float:
        """Seconds until the next probe into a subnet; the turn is taken unless that is too late."""
        now = self._clock.monotonic()
        at = max(now, self._next_turn.get(subnet, now))
        if at - now <= self._seconds:
            self._next_turn[subnet] = at + self._subnet_seconds
            self._next_turn.move_to_end(subnet)
        while len(self._next_turn) > MOST_WAITING_SUBNETS:
            self._next_turn.popitem(last=False)
        return at - now
