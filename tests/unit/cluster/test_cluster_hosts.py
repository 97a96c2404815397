"""Turns at a host that two machines want: one of them has it at any moment, also while it is passed on."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from msgspec import Struct
from nats_server import nats_server

from periplus.clock import SystemClock
from periplus.cluster import Board, HostLeases
from periplus.exchange.connection import connected
from periplus.frontier import Schedule
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")

HOST = "x.com"


class SlowBoard(Board):
    """A board whose changes take until they are let through."""

    asked: asyncio.Event | None = None
    let_through: asyncio.Event | None = None

    async def replace(self, key: str, record: Struct, revision: int, *, tries: int = 3) -> int | None:
        if self.asked is not None and self.let_through is not None:
            self.asked.set()
            await self.let_through.wait()
        return await super().replace(key, record, revision, tries=tries)


class Machine:
    """A node, its schedule and its leases."""

    def __init__(self, node: str, leases: HostLeases, schedule: Schedule, board: SlowBoard) -> None:
        self.node, self.leases, self.schedule, self.board = node, leases, schedule, board

    def want(self) -> None:
        self.schedule.want(HOST, self.node, 0.0)

    def may_ask(self) -> bool:
        """Whether it would ask the host now; if so it does, and has its answer at once."""
        turn = self.schedule.take(SystemClock().monotonic())
        if turn is None:
            return False
        self.schedule.give_back(turn, SystemClock().monotonic(), asked=True)
        self.want()
        return True


@asynccontextmanager
async def machine(server: str, crawl: str, node: str) -> AsyncIterator[Machine]:
    async with connected(ClusterSettings(servers=[server]), name=node) as client:
        board, schedule = SlowBoard(client, crawl), Schedule([node], delay_seconds=0.0)
        await board.open(1)
        leases = HostLeases(
            client,
            board,
            crawl,
            schedule=schedule,
            clock=SystemClock(),
            slice_seconds=0.05,
            hosted=lambda name: name == node,
        )
        schedule.on_want = leases.want
        await leases.listen(node)
        try:
            yield Machine(node, leases, schedule, board)
        finally:
            leases.close()


async def becomes_true(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not what():  # noqa: ASYNC110  (it happens at the server)
            await asyncio.sleep(0.005)


def test_a_host_has_one_machine_also_while_it_is_passed_on() -> None:
    async def scene(server: str) -> None:
        crawl = f"hosts-{random.getrandbits(40):x}"
        async with machine(server, crawl, "a") as a, machine(server, crawl, "b") as b:
            a.want()
            await becomes_true(a.may_ask)
            a.board.asked, a.board.let_through = asyncio.Event(), asyncio.Event()
            b.want()
            await asyncio.wait_for(a.board.asked.wait(), 20)
            a.want()  # a page of this host has just brought a further link
            for _ in range(20):
                await asyncio.sleep(0.01)
                assert not a.may_ask(), "the host is being passed on"
            a.board.let_through.set()
            await becomes_true(b.may_ask)
            assert not a.may_ask()
            await becomes_true(a.may_ask)  # it is still in the line
            assert (a.leases.passed_on, b.leases.passed_on) == (1, 1)

    with nats_server() as running:
        asyncio.run(scene(running.url))


def test_a_host_that_nobody_else_wants_is_noted_once() -> None:
    async def scene(server: str) -> None:
        async with machine(server, f"hosts-{random.getrandbits(40):x}", "a") as a:
            a.want()
            await becomes_true(a.may_ask)
            for _ in range(50):
                assert a.may_ask()
            assert (a.leases.created, a.leases.passed_on) == (1, 0)
            assert a.leases.asked_by_us_alone(HOST)

    with nats_server() as running:
        asyncio.run(scene(running.url))
