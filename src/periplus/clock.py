"""Time, injected: nothing else in the package asks the machine what time it is.

`now` (wall time, UTC) is for records that people read. `monotonic` is for delays, leases and deadlines,
because wall clocks jump.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol

__all__ = ["Clock", "SystemClock", "TimeLimit", "steady"]


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


class TimeLimit:
    """One limit for many tasks: whoever is still within `with limit.begun():` after `seconds` gets a TimeoutError.

    `asyncio.timeout` sets and cancels a timer of its own for each use, and nearly none runs out. All who are under the
    same limit run out in the order in which they came, so one timer for the first of them does.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running: dict[_Stay, float] = {}  # when each runs out, the first first
        self._timer: asyncio.TimerHandle | None = None

    def begun(self) -> "_Stay":
        """A stay under the limit; it begins with its `with`, in the task that is to be limited."""
        return _Stay(self)

    def enter(self, stay: "_Stay") -> None:
        """The stay begins."""
        loop = asyncio.get_running_loop()
        ends = self._running[stay] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_at(ends, self._run_out)

    def leave(self, stay: "_Stay") -> None:
        """The stay has ended."""
        self._running.pop(stay, None)

    def _run_out(self) -> None:
        """Cancel those whose time is over, and look again when that of the next one is."""
        loop = asyncio.get_running_loop()
        self._timer = None
        for stay, ends in list(self._running.items()):
            if ends > loop.time():
                self._timer = loop.call_at(ends, self._run_out)
                break
            del self._running[stay]
            stay.run_out()


class _Stay:
    """One task under a limit; what it does with being cancelled is what `asyncio.timeout` does."""

    __slots__ = ("_cancelling", "_limit", "_over", "_task")

    def __init__(self, limit: TimeLimit) -> None:
        self._limit = limit
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._over = False

    def run_out(self) -> None:
        """The time is over."""
        if self._task is not None:
            self._over = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        if self._task is None:
            raise RuntimeError("a time limit is used outside a task")
        self._cancelling = self._task.cancelling()
        self._limit.enter(self)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limit.leave(self)
        if self._over and self._task is not None:
            ours = self._task.uncancel() <= self._cancelling
            if ours and kind is not None and issubclass(kind, asyncio.CancelledError):
                raise TimeoutError from value
