"""Pages of one host take effect in the order in which they were fetched, however long each took to be read.

Budgets cut off whatever comes last, so a crawl that is repeated or resumed must meet a host's links in the same order
to end with the same pages.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

__all__ = ["HostOrder"]


class _Place:
    """A place in a line: `first` is set when everybody before has left."""

    __slots__ = ("first", "left")

    def __init__(self) -> None:
        self.first = asyncio.Event()
        self.left = False


class HostOrder:
    """A line for each host. Belongs to the event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[_Place]] = {}

    def __len__(self) -> int:
        """Hosts with somebody in line."""
        return len(self._lines)

    @asynccontextmanager
    async def in_line(self, host: str) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
        """Stand in the host's line; the value waits until everybody before has left it."""
        line = self._lines.setdefault(host, deque())
        place = _Place()
        line.append(place)
        if line[0] is place:
            place.first.set()
        try:
            yield place.first.wait
        finally:
            place.left = True
            # Whoever leaves from the middle lets nobody overtake those before.
            while line and line[0].left:
                line.popleft()
            if line:
                line[0].first.set()
            elif self._lines.get(host) is line:
                del self._lines[host]
