"""Time, injected: nothing else in the package asks the machine what time it is.

`now` (wall time, UTC) is for records that people read. `monotonic` is for delays, leases and deadlines,
because wall clocks jump.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

__all__ = ["Clock", "SystemClock", "steady"]


class Clock(Protocol):
    """What the crawl needs to know about time. Tests pass a clock that they move by hand."""

    def now(self) -> datetime:
        """The wall time, timezone-aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` of monotonic time pass."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The wall time, timezone-aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` of monotonic time pass."""
        await asyncio.sleep(seconds)


LONGEST_JUMP_SECONDS = 86_400.0
"""By so much a wall clock may have been put back; beyond that it was wrong before."""


def steady(clock: Clock, latest: float = 0.0) -> Callable[[], float]:
    """Unix time for decisions: that of the wall clock now, and from here on as much later as monotonic time is.

    What is due later is stored as Unix time, since the next process has another monotonic clock; but no jump of the
    wall clock may bring it forward or put it off. `latest` is the latest time that an earlier process has noted: if the
    wall clock was put back since, time goes on from there, or everything would seem to be due that much later.
    """
    wall = clock.now().timestamp()
    offset = (latest if wall < latest <= wall + LONGEST_JUMP_SECONDS else wall) - clock.monotonic()
    return lambda: offset + clock.monotonic()
