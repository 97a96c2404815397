"""Pages of one host take effect in the order in which they were fetched, however long each took to be read.

Budgets cut off whatever comes last, so a crawl that is repeated or resumed must meet a host's links in the same order
to end with the same pages.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType

__all__ = ["HostOrder"]


class _Place:
    """A place in a host's line. Mostly nobody is before, so what it takes to wait is made only for who must."""

    __slots__ = ("_first", "_host", "_left", "_lines")

    def __init__(self, lines: "dict[str, deque[_Place]]", host: str) -> None:
        self._lines = lines
        self._host = host
        self._first: asyncio.Event | None = None
        self._left = False

    async def __aenter__(self) -> Callable[[], Awaitable[None]]:
        self._lines.setdefault(self._host, deque()).append(self)
        return self._reach_first

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left = True
        line = self._lines[self._host]
        # Whoever leaves from the middle lets nobody overtake those before.
        while line and line[0]._left:
            line.popleft()
        if not line:
            del self._lines[self._host]
        elif (first := line[0]._first) is not None:
            first.set()

    async def _reach_first(self) -> None:
        """Wait until everybody before has left the line."""
        if self._lines[self._host][0] is not self:
            self._first = asyncio.Event()
            await self._first.wait()


class HostOrder:
    """A line for each host. Belongs to the event loop."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[_Place]] = {}

    def __len__(self) -> int:
        """Hosts with somebody in line."""
        return len(self._lines)

    def in_line(self, host: str) -> _Place:
        """Stand in the host's line, with `async with`; its value waits until everybody before has left it."""
        return _Place(self._lines, host)
