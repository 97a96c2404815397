"""Time that passes as fast as the work does: an event loop and a clock in which waiting costs nothing."""

import asyncio
import selectors
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["InlineExecutor", "VirtualClock", "VirtualLoop"]

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class _Selector(selectors.BaseSelector):
    """Looks for events without waiting; where the loop would wait, its time moves on instead."""

    def __init__(self) -> None:
        self.now = 0.0
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = self._real.select(0)
        if not events and timeout is not None and timeout > 0:
            self.now += timeout
        return events

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time begins where another one's ended."""

    def __init__(self, start: float = 0.0) -> None:
        self._virtual = _Selector()
        self._virtual.now = start
        super().__init__(self._virtual)

    def time(self) -> float:
        """Virtual seconds."""
        return self._virtual.now


class VirtualClock:
    """The clock of a virtual loop."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        """The wall time, UTC."""
        return START + timedelta(seconds=self._loop.time())

    def monotonic(self) -> float:
        """Virtual seconds."""
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(seconds)


class InlineExecutor(Executor):
    """Does the work at once, in the thread that asks for it."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The finished result."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future
