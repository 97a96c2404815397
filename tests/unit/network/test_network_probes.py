"""The desk of a node: probes are cached, shared, spaced in a subnet, and never late."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from virtual_time import VirtualClock, VirtualLoop

from periplus.errors import AddressBusy, Blocked, FetchError
from periplus.network.probes import ProbeDesk, TableProber, Target

T = TypeVar("T")
ONE, TWO = Target("a.test", "192.0.2.1", "192.0.2.0/24"), Target("b.test", "192.0.2.2", "192.0.2.0/24")
FAR = Target("c.test", "198.51.100.1", "198.51.100.0/24")


class Network:
    """What is measured: 20 ms to everybody, after as long."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.asked: list[tuple[float, str]] = []
        self.error: FetchError | None = None
        self.seconds = 0.02

    async def measure(self, url: str) -> float:
        self.asked.append((self.clock.monotonic(), url))
        await self.clock.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return 1000 * self.seconds


def run(story: Callable[[ProbeDesk, Network], Awaitable[T]]) -> T:
    loop = VirtualLoop()
    clock = VirtualClock(loop)
    network = Network(clock)
    desk = ProbeDesk(network.measure, clock, seconds=2.0, cache_seconds=60.0, subnet_seconds=0.5)

    async def whole() -> T:
        return await story(desk, network)

    try:
        return loop.run_until_complete(whole())
    finally:
        loop.close()


def test_an_answer_is_good_for_its_time() -> None:
    async def story(desk: ProbeDesk, network: Network) -> None:
        assert await desk.probe(ONE) == 20
        assert await desk.probe(ONE) == 20
        assert len(network.asked) == 1
        await network.clock.sleep(61)
        await desk.probe(ONE)
        assert len(network.asked) == 2
        desk.forget(ONE.address)
        await desk.probe(ONE)
        assert len(network.asked) == 3
        assert desk.counts == {"measured": 3, "cached": 1}

    run(story)


def test_who_asks_at_once_shares_a_probe() -> None:
    async def story(desk: ProbeDesk, network: Network) -> None:
        assert await asyncio.gather(*(desk.probe(ONE) for _ in range(10))) == [20.0] * 10
        assert len(network.asked) == 1

    run(story)


def test_a_subnet_is_not_asked_too_often_and_others_do_not_wait_for_it() -> None:
    async def story(desk: ProbeDesk, network: Network) -> None:
        await asyncio.gather(desk.probe(ONE), desk.probe(TWO), desk.probe(FAR))
        times = {url: at for at, url in network.asked}
        assert times["http://c.test/"] == 0
        assert abs(times["http://b.test/"] - times["http://a.test/"]) == pytest.approx(0.5)

    run(story)


def test_a_turn_that_comes_too_late_is_not_waited_for() -> None:
    async def story(desk: ProbeDesk, network: Network) -> None:
        hosts = [Target(f"h{n}.test", f"192.0.2.{n}", "192.0.2.0/24") for n in range(10)]
        answers = await asyncio.gather(*(desk.probe(host) for host in hosts))
        assert answers == [20.0] * 5 + [None] * 5  # at 0, 0.5, 1, 1.5 and 2 seconds
        assert desk.counts["subnet busy"] == 5
        assert await desk.probe(hosts[9]) is None or network.clock.monotonic() > 2

    run(story)


def test_what_fails_is_remembered_but_not_a_busy_address() -> None:
    async def story(desk: ProbeDesk, network: Network) -> None:
        network.error = Blocked("private")
        assert await desk.probe(ONE) is None
        assert await desk.probe(ONE) is None
        assert len(network.asked) == 1
        network.error = AddressBusy("busy", 1.0)
        assert await desk.probe(FAR) is None
        network.error = None
        await network.clock.sleep(1)
        assert await desk.probe(FAR) == 20

    run(story)


def test_the_deadline_holds() -> None:
    async def story(desk: ProbeDesk, network: Network) -> None:
        network.seconds = 60.0
        assert await desk.probe(ONE) is None
        assert network.clock.monotonic() == pytest.approx(2.0)
        assert desk.counts["too slow"] == 1

    run(story)


def test_a_table_knows_hosts_and_addresses() -> None:
    table = TableProber({("a.test", "n"): 7.0, ("192.0.2.2", "n"): 9.0})
    assert asyncio.run(table.probe("n", ONE)) == 7
    assert asyncio.run(table.probe("n", TWO)) == 9
    assert asyncio.run(table.probe("m", TWO)) is None
