"""A request to another host in the middle of a turn: robots.txt may lead elsewhere, and RFC 9309 says to follow.

It waits for that host's time like any other request. On the way back to the host whose turn it is, it waits for the
delay, since that host was asked just before.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from periplus.clock import Clock
from periplus.errors import TooSlow
from periplus.frontier.schedule import Schedule

__all__ = ["Detours"]

PATIENCE_SECONDS = 60.0


class Detours:
    """Turns of hosts that are asked on the way."""

    def __init__(self, schedule: Schedule, clock: Clock) -> None:
        self._schedule = schedule
        self._clock = clock

    @asynccontextmanager
    async def visit(self, host: str, other: str) -> AsyncIterator[None]:
        """Hold `other` while it is asked, in a turn of `host`. Raises TooSlow if it does not get its turn."""
        if other == host:
            await self._clock.sleep(self._schedule.delay_seconds)
            yield
            return
        begun = self._clock.monotonic()
        while wait := self._schedule.take_aside(other, self._clock.monotonic()):
            if self._clock.monotonic() + wait - begun > PATIENCE_SECONDS:
                raise TooSlow(f"{other}: its turn did not come in {PATIENCE_SECONDS:g} s")
            await self._clock.sleep(wait)
        try:
            yield
        finally:
            self._schedule.give_back_aside(other, self._clock.monotonic())
