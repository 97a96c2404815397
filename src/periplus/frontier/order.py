"""Pages of one host take effect in the order in which they were fetched, however long each took to be read.

Budgets cut off whatever comes last, so a crawl that is repeated or resumed must meet a host's links in the same order
to end with the same pages.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

__all__ = ["HostOrder"]


class HostOrder:
    """A line for each host. Belongs to the event loop."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def in_line(self, host: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
        """Stand in the host's line; the value waits until everybody before has left it."""
        before, done = self._last.get(host), asyncio.Event()
        self._last[host] = done

        async def my_turn() -> None:
            if before is not None:
                await before.wait()

        try:
            yield my_turn
        finally:
            done.set()
            if self._last.get(host) is done:
                del self._last[host]
