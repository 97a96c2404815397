"""When links for another machine leave: at once to one that has nothing to do, else together with others.

An envelope costs about the same whether it carries one link or hundreds, so links linger for company. But a receiver
that runs out of URLs is idle meanwhile. It says so, and what waits for it leaves at once, as long as that does not
make more messages than links pay for: every link earns a part of a message. And a sender that is idle itself waits
for nothing.
"""

import asyncio
import contextlib
from dataclasses import dataclass, field

__all__ = ["Pace", "Waiting"]

FULL_ENVELOPE = 500
"""Links that do not wait for further ones."""

EARNED = 0.04
"""The part of a message that a link earns."""

FIRST_CREDIT = 8.0
MOST_CREDIT = 100.0


@dataclass(slots=True)
class Waiting:
    """What the links for one receiver wait for."""

    some: asyncio.Event = field(default_factory=asyncio.Event)
    urgent: asyncio.Event = field(default_factory=asyncio.Event)


class Pace:
    """The pace at which a process sends to all others. Belongs to the event loop."""

    def __init__(self, linger_seconds: float) -> None:
        self._linger_seconds = linger_seconds
        self._credit = FIRST_CREDIT
        self._hungry: set[str] = set()
        self._waiting: dict[str, list[Waiting]] = {}

    def line(self, receiver: str) -> Waiting:
        """A new line of links for a receiver."""
        waiting = Waiting()
        self._waiting.setdefault(receiver, []).append(waiting)
        return waiting

    def posted(self, receiver: str, waiting: Waiting, length: int) -> None:
        """A link was added to a line, which is as long as that now."""
        self._credit = min(MOST_CREDIT, self._credit + EARNED)
        waiting.some.set()
        if length >= FULL_ENVELOPE or (receiver in self._hungry and self._credit >= 1.0):
            waiting.urgent.set()

    def hungry(self, receiver: str) -> None:
        """A receiver says that it has nothing, or next to nothing, left to do."""
        self._hungry.add(receiver)
        if self._credit >= 1.0:
            for waiting in self._waiting.get(receiver, ()):
                if waiting.some.is_set():
                    waiting.urgent.set()

    def hurry(self) -> None:
        """Nothing more will come for now, so there is nobody to wait for."""
        for lines in self._waiting.values():
            for waiting in lines:
                if waiting.some.is_set():
                    waiting.urgent.set()

    async def company(self, waiting: Waiting) -> None:
        """Until there is something to send, and then for others to travel with."""
        await waiting.some.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._linger_seconds):
                await waiting.urgent.wait()

    def sent(self, receiver: str, waiting: Waiting, left: int) -> None:
        """An envelope has left; so many links stay in the line."""
        self._credit = max(0.0, self._credit - 1.0)
        self._hungry.discard(receiver)
        if not left:
            waiting.some.clear()
        if left < FULL_ENVELOPE:
            waiting.urgent.clear()
