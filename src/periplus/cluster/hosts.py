"""Whose turn it is at a host: one polite crawler, however many nodes want it.

The first node that wants a host notes so in the key-value store and asks the host from then on as if it were alone.
Only when a second one wants it too, they take turns in slices of time: whoever has the host ends its request, writes
the next one's name, and how long the host is still to rest. That is a duration, so the machines' clocks need not agree.
The note belongs to a node, not to a process: who takes the node over has the host as well.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from periplus.clock import Clock
from periplus.cluster.records import Board, key_of
from periplus.exchange.connection import Temporary, give_way, temporary_errors
from periplus.frontier import Schedule

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["HostLeases", "HostNote"]

LOOK_SECONDS = 1.0
"""How often who waits looks again, should a message have got lost."""

BUSY_SECONDS = 0.02
AT_ONCE = 64


class HostNote(Struct, frozen=True):
    """Who has a host, who waits for it, and how long it rests after it was passed on."""

    holder: str
    waiting: tuple[str, ...] = ()
    rest_seconds: float = 0.0


class HostLeases:
    """The hosts that nodes of this process have or wait for. Belongs to the event loop."""

    def __init__(
        self,
        client: "Client",
        board: Board,
        crawl: str,
        *,
        schedule: Schedule,
        clock: Clock,
        slice_seconds: float,
        hosted: Callable[[str], bool],
    ) -> None:
        self._client = client
        self._board = board
        self._prefix = f"periplus.{crawl}.host"
        self._schedule = schedule
        self._clock = clock
        self._slice_seconds = slice_seconds
        self._hosted = hosted
        self._since: dict[str, float] = {}  # hosts that we have, and since when
        self._rests: dict[str, float] = {}  # of notes by which we have or had a host: the rest that is kept already
        self._wanted: dict[str, str] = {}  # hosts that we wait for, and for which node
        self._first: set[str] = set()  # hosts that nobody else has asked yet
        self._hints: dict[str, asyncio.Event] = {}
        self._passing: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.created = 0
        self.passed_on = 0

    async def listen(self, node: str) -> None:
        """Hear what others say to a node that this process runs."""
        await self._client.subscribe(f"{self._prefix}.{node}", cb=self._on_hint)

    def asked_by_us_alone(self, host: str) -> bool:
        """Whether no other node has ever had the host, so none knows more of it than we do."""
        return host in self._first

    @property
    def are_elsewhere(self) -> bool:
        """Whether every host that is wanted here is another node's now."""
        return bool(self._wanted) and self._schedule.next_at() is None

    def close(self) -> None:
        """Stop waiting."""
        for task in self._tasks:
            task.cancel()

    def want(self, host: str, node: str) -> None:
        """A node has URLs of a host; until the host is ours, the schedule leaves it alone."""
        if host in self._since or host in self._wanted or host in self._passing:
            return  # while it is passed on the note still has our name: who has passed it on asks for it again
        self._wanted[host] = node
        self._schedule.suspend(host)
        self._start(self._obtain(host, node))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def watch(self) -> None:
        """Ends only if the work on a host has failed, and then with its error: else the host would wait for ever."""
        await self._failed

    async def _obtain(self, host: str, node: str) -> None:
        hint = self._hints.setdefault(host, asyncio.Event())
        noted = False
        while host in self._wanted:
            hint.clear()
            try:
                async with self._gate:
                    note = await self._ask(host, node, noted=noted)
                    noted = True
            except Temporary:
                give_way()
                await self._clock.sleep(LOOK_SECONDS)
                continue
            if self._hosted(note.holder):
                self._have(host, note.rest_seconds)
                return
            await self._hint(note.holder, host)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await hint.wait()

    async def _ask(self, host: str, node: str, *, noted: bool) -> HostNote:
        """The note of a host, with us in it: as its holder if it was free, else in the line.

        Mostly nobody has `noted` anything, so that is tried first: one question, not two.
        """
        key, mine = f"host.{key_of(host)}", HostNote(node)
        if not noted and await self._board.create(key, mine) is not None:
            self.created += 1
            self._first.add(host)
            return mine
        found = await self._board.get(key, HostNote)
        if found is None:
            return await self._ask(host, node, noted=False)
        note, revision = found
        if self._hosted(note.holder) or node in note.waiting:
            return note
        queued = replace(note, waiting=(*note.waiting, node))
        return (
            note
            if await self._board.replace(key, queued, revision) is not None
            else await self._ask(host, node, noted=True)
        )

    def _have(self, host: str, rest_seconds: float) -> None:
        self._wanted.pop(host, None)
        self._since[host] = self._clock.monotonic()
        self._keep_rest(host, rest_seconds)
        self._schedule.resume(host)

    def _keep_rest(self, host: str, rest_seconds: float) -> None:
        """Let the host rest as its note says, once for each note.

        Also of a note that has come back while an older one was being passed on: we never had the host by it.
        """
        if rest_seconds != self._rests.get(host, 0.0):
            self._schedule.hold(host, self._clock.monotonic() + rest_seconds)
            self._rests[host] = rest_seconds

    async def _hint(self, node: str, host: str) -> None:
        with contextlib.suppress(Temporary):
            async with temporary_errors(host):
                await self._client.publish(f"{self._prefix}.{node}", host.encode())

    async def _on_hint(self, message: "Msg") -> None:
        """Somebody waits for a host that we have, or one that we wait for is ours now."""
        host = message.data[:1024].decode("utf-8", "replace")
        if host in self._wanted:
            self._hints[host].set()
            return
        if host not in self._passing:
            # One that we do not know of may be noted under a node that was taken over, and wants it no more.
            self._since.setdefault(host, -math.inf)
            self._passing.add(host)
            self._start(self._pass_on(host))

    async def _pass_on(self, host: str) -> None:
        """End our slice of a host, and let the next one have it."""
        try:
            end = self._since[host] + self._slice_seconds
            while self._schedule.is_wanted(host) and (left := end - self._clock.monotonic()) > 0:
                await self._clock.sleep(min(left, 0.1))
            self._schedule.suspend(host)
            self._first.discard(host)
            while self._schedule.is_asked(host):
                await self._clock.sleep(BUSY_SECONDS)
            del self._since[host]
            await self._write_next(host)
        finally:
            self._passing.discard(host)
        if node := self._schedule.who_wants(host):
            self.want(host, node)

    async def _write_next(self, host: str) -> None:
        key, node = f"host.{key_of(host)}", self._schedule.who_wants(host)
        while True:
            try:
                found = await self._board.get(key, HostNote)
                if found is None or not self._hosted(found[0].holder):
                    self._rests.pop(host, None)
                    return  # it was not ours
                note, revision = found
                line = (*note.waiting, *([node] if node and node not in note.waiting else []))
                self._keep_rest(host, note.rest_seconds)
                if not note.waiting:
                    self._have(host, note.rest_seconds)
                    return
                rest = max(0.0, self._schedule.ready_at(host) - self._clock.monotonic())
                if await self._board.replace(key, HostNote(line[0], line[1:], rest), revision) is not None:
                    self.passed_on += 1
                    self._rests.pop(host, None)
                    await self._hint(line[0], host)
                    return
            except Temporary:
                give_way()
                await self._clock.sleep(LOOK_SECONDS)
