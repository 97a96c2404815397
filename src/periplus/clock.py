"""Time, injected: nothing else in the package asks the machine what time it is.

`now` (wall time, UTC) is for records that people read. `monotonic` is for delays, leases and deadlines,
because wall clocks jump.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


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
