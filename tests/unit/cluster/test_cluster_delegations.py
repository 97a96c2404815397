"""Delegations of all machines in the key-value store: decided once, found by all, the later decision holds."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from nats_server import nats_server

from periplus.cluster import Board
from periplus.cluster.delegations import SharedDelegations
from periplus.exchange.connection import connected
from periplus.network.memory import Delegation, Measurement
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")

EAST = Delegation("", "192.0.2.0/24", "east", "x.com", "192.0.2.1", 12.0, 100.0)
PROBED = [
    Measurement("192.0.2.1", "east", "x.com", 12.0, 100.0),
    Measurement("192.0.2.1", "west", "x.com", 80.0, 100.0),
]


def play(scene: Callable[[Callable[[], SharedDelegations]], Awaitable[None]]) -> None:
    async def go(server: str) -> None:
        async with connected(ClusterSettings(servers=[server]), name="test") as client:
            board = Board(client, f"near-{random.getrandbits(40):x}")
            await board.open(1)
            await scene(lambda: SharedDelegations(board))

    with nats_server() as server:
        asyncio.run(go(server.url))


def test_what_one_machine_has_decided_another_finds() -> None:
    async def scene(machine: Callable[[], SharedDelegations]) -> None:
        assert await machine().delegations() == []
        assert await machine().find("", EAST.subnet) is None
        assert await machine().keep(EAST, PROBED) == EAST
        other = machine()
        assert await other.find("", EAST.subnet) == (EAST, PROBED)
        assert await other.find("group", EAST.subnet) is None
        assert (await other.delegations(), await other.measurements()) == ([EAST], PROBED)

    play(scene)


@pytest.mark.parametrize("readers", [1, 100])
def test_all_are_found_by_many_who_ask_at_once(readers: int) -> None:
    """Also by those to whom all are on their way while they ask how many there are: they are no reason to find none."""
    many = [replace(EAST, subnet=f"198.51.100.{number}/32") for number in range(300 if readers == 1 else 12)]

    async def scene(machine: Callable[[], SharedDelegations]) -> None:
        await asyncio.gather(*(machine().keep(one, []) for one in many))
        await machine().forget("", many[-1].subnet)
        found = await asyncio.gather(*(machine().delegations() for _ in range(readers)))
        assert [len(one) for one in found] == [len(many) - 1] * readers

    play(scene)


def test_the_later_decision_holds_whoever_comes_first() -> None:
    async def scene(machine: Callable[[], SharedDelegations]) -> None:
        later = replace(EAST, node="west", decided_at=200.0)
        assert await machine().keep(EAST, PROBED[:1]) == EAST
        assert await machine().keep(later, PROBED[1:]) == later
        assert await machine().keep(EAST, []) == later
        found = await machine().find("", EAST.subnet)
        assert found == (later, PROBED)
        known = replace(later, ms=80.0)  # a fetch has shown how long it takes
        assert await machine().keep(known, []) == known

    play(scene)


def test_two_that_decide_at_the_same_time_come_to_the_same_node() -> None:
    async def scene(machine: Callable[[], SharedDelegations]) -> None:
        west = replace(EAST, node="west")
        for first, second in ((EAST, west), (west, EAST)):
            await machine().forget("", EAST.subnet)
            assert await machine().find("", EAST.subnet) is None
            await machine().keep(first, [])
            assert await machine().keep(second, []) == EAST

    play(scene)
