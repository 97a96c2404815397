"""Shorter ways in a cluster: when nothing is left to do, nodes find out together what is within reach after all.

`store/ways.py` says why. Here each node follows its own links; whoever looks for the end passes on, round by round,
what they have found about each other's URLs, until a round brings nothing new.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.exchange.connection import Temporary, temporary_errors
from periplus.model import Parcel
from periplus.node import Node
from periplus.store.ways import WaysOfOneNode

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["NodeReach", "reach_together"]

Way = tuple[int, int, int]
"""A URL's mark, its links from a seed, its redirects in a row."""

AT_ONCE = 30_000
"""Ways in one message, some 500 KB."""

ANSWER_SECONDS = 120.0


class _Question(Struct, frozen=True):
    """`begin`: forget earlier rounds. `end`: no more comes; what is within reach joins the frontier."""

    begin: bool = False
    end: bool = False
    ways: tuple[Way, ...] = ()
    last: bool = True
    skip: int = 0


class _Answer(Struct, frozen=True):
    ways: tuple[Way, ...] = ()
    more: bool = False
    joined: int = 0


class NodeReach:
    """A node's side of it. Works in the writer's thread, since it reads what that writes."""

    def __init__(
        self, node: Node, writer: Executor, *, depth: int, redirects: int, join: Callable[[Node, list[Parcel]], int]
    ) -> None:
        self._node = node
        self._writer = writer
        self._limits = {"depth": depth, "redirects": redirects}
        self._join = join
        self._ways: WaysOfOneNode | None = None
        self._told: dict[int, tuple[int, int]] = {}
        self._news: list[Way] = []

    async def answer(self, data: bytes) -> bytes:
        """The answer to one message of a round."""
        question = msgspec.msgpack.decode(data, type=_Question)
        return msgspec.msgpack.encode(await self._answered(question))

    async def _answered(self, question: _Question) -> _Answer:
        loop = asyncio.get_running_loop()
        if question.begin or self._ways is None:
            db = self._node.store.db
            self._ways = await loop.run_in_executor(self._writer, lambda: WaysOfOneNode(db, **self._limits))
        ways = self._ways
        if question.end:
            self._ways, found = None, await loop.run_in_executor(self._writer, ways.within_reach)
            return _Answer(joined=self._join(self._node, found))
        if question.skip:  # the rest of an answer that was too long
            return self._piece(question.skip)
        self._told.update({mark: (depth, hops) for mark, depth, hops in question.ways})
        if not question.last:
            return _Answer()
        told, self._told = self._told, {}
        news = await loop.run_in_executor(self._writer, ways.shorten, told)
        self._news = [(mark, *way) for mark, way in news.items()]
        return self._piece(0)

    def _piece(self, skip: int) -> _Answer:
        return _Answer(tuple(self._news[skip : skip + AT_ONCE]), more=len(self._news) > skip + AT_ONCE)


async def reach_together(client: "Client", crawl: str, nodes: Iterable[str]) -> int:
    """Work out the shortest ways over all nodes; how many URLs joined their frontiers. Temporary if one is gone."""
    names = list(nodes)

    async def ask(node: str, question: _Question) -> _Answer:
        async with temporary_errors(node):
            reply = await client.request(
                f"periplus.{crawl}.ways.{node}", msgspec.msgpack.encode(question), timeout=ANSWER_SECONDS
            )
        if not reply.data:
            raise Temporary(f"{node} does not run")
        return msgspec.msgpack.decode(reply.data, type=_Answer)

    told: dict[int, tuple[int, int]] = {}
    begin = True
    while begin or told:
        news: dict[int, tuple[int, int]] = {}
        for node in names:
            async for mark, depth, hops in _round(ask, node, told, begin=begin):
                known = news.get(mark, (depth, hops))
                news[mark] = min(depth, known[0]), min(hops, known[1])
        told, begin = news, False
    return sum([(await ask(node, _Question(end=True))).joined for node in names])


async def _round(
    ask: Callable[[str, _Question], Awaitable[_Answer]], node: str, told: Mapping[int, tuple[int, int]], *, begin: bool
) -> AsyncIterator[Way]:
    """Tell a node what the others have found; what it finds in turn."""
    pieces = list(_pieces((mark, *way) for mark, way in told.items())) or [()]
    answer = _Answer()
    for number, piece in enumerate(pieces):
        answer = await ask(node, _Question(begin and not number, ways=piece, last=number == len(pieces) - 1))
    skip = 0
    while True:
        for way in answer.ways:
            yield way
        if not answer.more:
            return
        skip += len(answer.ways)
        answer = await ask(node, _Question(skip=skip))


def _pieces(ways: Iterator[Way]) -> Iterator[tuple[Way, ...]]:
    while piece := tuple(islice(ways, AT_ONCE)):
        yield piece
