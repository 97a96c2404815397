"""Who runs which node: heartbeats, epochs, and who takes over when they stop.

A node belongs to the process whose name is in its record. The process writes the record anew with every heartbeat,
each time in place of the revision that it wrote last. Who has not done so for two heartbeats takes no further turns;
after three, another process puts its own name there, with the next epoch. Should the old one come back, its next
heartbeat does not find the revision it wrote: it is fenced, and ends.

All time is measured by each process's own monotonic clock, from when it saw a record change. Whoever could not reach
NATS itself blames nobody until it has watched for three heartbeats again.
"""

import asyncio
import os
import socket
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec
import xxhash

from periplus.clock import Clock
from periplus.cluster.records import Board, NodeRecord
from periplus.errors import EnvironmentFailure
from periplus.exchange.connection import Temporary

__all__ = ["GONE", "RETURNING", "Fenced", "Membership", "this_machine"]

RETURNING = ("stopped", "ended")
"""States of a node that was stopped in order, alone or with the whole crawl: its folder is whole and waits for it."""

GONE = ("left", *RETURNING)
"""States of a node that its process runs no longer, by its own word; who left has failed."""

MISSED = 3
"""Heartbeats after which a node's process is taken for dead."""

CAREFUL = 2
"""Heartbeats after which a process that cannot write its own takes no further turns."""


class Fenced(EnvironmentFailure):
    """Another process runs the node now; what this one has is no longer the node's."""


def this_machine() -> str:
    """A name of the machine that no other has: folders of the same machine can be taken over."""
    for file in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        if Path(file).exists() and (text := Path(file).read_text("ascii", "replace").strip()):
            return f"{socket.gethostname()}/{text[:12]}"
    return socket.gethostname()


@dataclass(slots=True)
class _Seen:
    record: NodeRecord
    revision: int
    at: float


def _fenced(node: str, other: NodeRecord | None) -> Fenced:
    who = f"process {other.pid} on {other.machine.partition('/')[0]}, epoch {other.epoch}" if other else "nobody"
    return Fenced(
        f"node {node} was taken over ({who}) while this process could not reach NATS; what it had in flight is done "
        "there"
    )


class Membership:
    """The records of all nodes of a crawl, and those of this process. Belongs to the event loop."""

    def __init__(
        self, board: Board, nodes: Iterable[str], clock: Clock, heartbeat_seconds: float, *, version: str, folder: Path
    ) -> None:
        self._board = board
        self._nodes = tuple(nodes)
        self._clock = clock
        self.heartbeat_seconds = heartbeat_seconds
        self._version = version
        self._folder = folder
        self.member = uuid.uuid4().hex[:12]
        self._machine = this_machine()
        self._seen: dict[str, _Seen] = {}
        self._mine: dict[str, tuple[NodeRecord, int]] = {}
        self._written_at = clock.monotonic()
        self._watched_since = clock.monotonic()
        self._beating = asyncio.Lock()

    @property
    def mine(self) -> list[str]:
        """The nodes that this process runs."""
        return list(self._mine)

    @property
    def records(self) -> dict[str, NodeRecord]:
        """The records as last seen."""
        return {name: seen.record for name, seen in self._seen.items()}

    @property
    def unclaimed(self) -> list[str]:
        """Nodes that nobody has run yet, or that were stopped in order: not taken over, since theirs may come yet."""
        return [name for name in self._nodes if name not in self._mine and self._may_come_yet(name)]

    def _may_come_yet(self, node: str) -> bool:
        """Whether a node was never run, or was stopped in order, in another folder than this."""
        seen = self._seen.get(node)
        return seen is None or (seen.record.state in RETURNING and not self.can_take_folder(seen.record))

    @property
    def may_work(self) -> bool:
        """Whether the last heartbeat is recent enough that nobody can have taken over."""
        return self._clock.monotonic() - self._written_at < CAREFUL * self.heartbeat_seconds

    def epoch(self, node: str) -> int:
        """The epoch under which this process runs a node."""
        return self._mine[node][0].epoch

    # -- Joining -----------------------------------------------------------------------------------

    async def claim(self, node: str, *, holds_folder: bool = False) -> NodeRecord | None:
        """Become the one who runs a node; gives the record of who did before, if anybody.

        Waits up to three heartbeats for signs of life of the other, unless we hold the lock of the very folder that it
        worked in, so that it must be dead. EnvironmentFailure if it lives.
        """
        while True:
            found = await self._board.get(f"node.{node}", NodeRecord, tries=30)
            if found is None:
                record = self._record(node, 1)
                revision = await self._board.create(f"node.{node}", record, tries=30)
            else:
                other, last = found
                if other.member == self.member:  # our own, of which we heard nothing
                    self._mine[node] = other, last
                    return None
                if not (self._is_surely_gone(other, holds_folder=holds_folder) or await self._is_silent(node, last)):
                    raise EnvironmentFailure(
                        f"node {node} runs already: process {other.pid} on {other.machine.partition('/')[0]}, "
                        f"epoch {other.epoch}; take another name, or stop that one"
                    )
                record = self._record(node, other.epoch + 1, other.generation)
                revision = await self._board.replace(f"node.{node}", record, last, tries=30)
            if revision is not None:
                self._mine[node] = record, revision
                self._written_at = self._clock.monotonic()
                return found[0] if found else None

    def _record(self, node: str, epoch: int, generation: str = "") -> NodeRecord:
        """Our first word about a node; until it is open, its database is still the last one's."""
        return NodeRecord(
            node,
            self.member,
            epoch,
            0,
            version=self._version,
            machine=self._machine,
            folder=str(self._folder),
            pid=os.getpid(),
            generation=generation,
        )

    def _is_surely_gone(self, other: NodeRecord, *, holds_folder: bool) -> bool:
        return other.state in GONE or (holds_folder and self.can_take_folder(other))

    def can_take_folder(self, other: NodeRecord) -> bool:
        """Whether a node's folder lies where this process can reach it."""
        return other.machine == self._machine and other.folder == str(self._folder)

    async def _is_silent(self, node: str, revision: int) -> bool:
        """Whether three heartbeats pass without a change."""
        deadline = self._clock.monotonic() + MISSED * self.heartbeat_seconds
        while self._clock.monotonic() < deadline:
            await self._clock.sleep(self.heartbeat_seconds / 4)
            found = await self._board.get(f"node.{node}", NodeRecord, tries=30)
            if found is not None and found[1] != revision:
                return False
        return True

    # -- Heartbeats --------------------------------------------------------------------------------

    async def beat(self, node: str, **status: object) -> None:
        """Show that we run the node. Fenced if somebody else does."""
        async with self._beating:  # else two heartbeats of one node would take each other for somebody else's
            await self._beat(node, status)

    async def _beat(self, node: str, status: Mapping[str, object]) -> None:
        began = self._clock.monotonic()
        record, revision = self._mine[node]
        record = msgspec.structs.replace(record, beat=record.beat + 1, **status)
        written = await self._board.replace(f"node.{node}", record, revision, tries=1)
        if written is None:
            # A heartbeat that was given up may have arrived after all: then the record is still ours.
            found = await self._board.get(f"node.{node}", NodeRecord, tries=1)
            if found is None or (found[0].member, found[0].epoch) != (self.member, record.epoch):
                raise _fenced(node, found[0] if found else None)
            self._mine[node] = record, found[1]
            raise Temporary(f"node {node}: an earlier heartbeat came late")
        self._mine[node] = record, written
        self._written_at = began

    async def leave(
        self, last: Mapping[str, Mapping[str, object]] = MappingProxyType({}), *, state: str = "left"
    ) -> None:
        """Say of all our nodes that we run them no longer, and how they were at the `last`: that stays to be seen.

        `state` is one of `GONE`; others wait for those that are `RETURNING`.
        """
        for node in list(self._mine):
            await self.beat(node, state=state, **last.get(node, {}))
            del self._mine[node]

    async def look(self) -> None:
        """Read all records; what is unchanged keeps the time at which it was first seen so."""
        now = self._clock.monotonic()
        for node in self._nodes:
            found = await self._board.get(f"node.{node}", NodeRecord, tries=1)
            if found is None:
                continue
            known = self._seen.get(node)
            if known is None or known.revision != found[1]:
                self._seen[node] = _Seen(*found, now)

    def lost_sight(self) -> None:
        """NATS was out of reach: what was not seen meanwhile says nothing about others."""
        self._watched_since = self._clock.monotonic()

    def orphans(self) -> list[str]:
        """Nodes whose process is silent for three heartbeats and that are ours to take over now."""
        now, patience = self._clock.monotonic(), MISSED * self.heartbeat_seconds
        if not self.may_work or now - self._watched_since < patience:
            return []
        silent = {
            name: seen
            for name, seen in self._seen.items()
            if now - max(seen.at, self._watched_since) >= patience and not self._may_come_yet(name)
        }
        members = sorted(
            {seen.record.member for name, seen in self._seen.items() if name not in silent} | {self.member}
        )
        mine = []
        for name, seen in silent.items():
            if name in self._mine:
                continue
            line = sorted(members, key=lambda member: self._rank(name, member))
            late = line.index(self.member) * self.heartbeat_seconds
            if now - max(seen.at, self._watched_since) >= patience + late:
                mine.append(name)
        return mine

    def _rank(self, node: str, member: str) -> tuple[int, int]:
        """Who takes over first: whoever runs the fewest nodes, then as a hash of both names says."""
        runs = sum(seen.record.member == member for seen in self._seen.values())
        return runs, xxhash.xxh3_64_intdigest(f"{node} {member}".encode())

    async def take_over(self, node: str) -> NodeRecord | None:
        """Put our name on the record of a silent node; gives who ran it, or None if somebody was faster."""
        seen = self._seen[node]
        record = self._record(node, seen.record.epoch + 1, seen.record.generation)
        revision = await self._board.replace(f"node.{node}", record, seen.revision)
        if revision is None:
            return None
        self._mine[node] = record, revision
        self._seen[node] = _Seen(record, revision, self._clock.monotonic())
        return seen.record
