"""Pages of one host take effect in the order in which they were fetched."""

import asyncio
import random

import pytest

from periplus.frontier import HostOrder


def run(order: HostOrder, jobs: list[tuple[str, int, asyncio.Event, bool]], log: list[tuple[str, int]]) -> None:
    """Start all jobs in order; each waits for its event, then for its turn, unless it leaves the line early."""

    async def job(host: str, number: int, ready: asyncio.Event, leaves: bool) -> None:
        async with order.in_line(host) as my_turn:
            await ready.wait()
            if leaves:
                return
            await my_turn()
            log.append((host, number))

    async def all_jobs() -> None:
        tasks = []
        for host, number, ready, leaves in jobs:
            tasks.append(asyncio.create_task(job(host, number, ready, leaves)))
            await asyncio.sleep(0)
        ready_events = [ready for _, _, ready, _ in jobs]
        random.Random(len(jobs)).shuffle(ready_events)
        for ready in ready_events:
            ready.set()
            for _ in range(5):
                await asyncio.sleep(0)
        await asyncio.gather(*tasks)

    asyncio.run(all_jobs())


def test_effects_come_in_order_of_arrival_however_long_each_takes() -> None:
    log: list[tuple[str, int]] = []
    run(HostOrder(), [("a.com", number, asyncio.Event(), False) for number in range(20)], log)
    assert log == [("a.com", number) for number in range(20)]


def test_one_that_leaves_early_does_not_let_others_overtake() -> None:
    order, log = HostOrder(), list[tuple[str, int]]()

    async def story() -> None:
        first_ready = asyncio.Event()

        async def first() -> None:
            async with order.in_line("a.com") as my_turn:
                await first_ready.wait()
                await my_turn()
                log.append(("a.com", 1))

        async def unreadable() -> None:
            async with order.in_line("a.com"):
                log.append(("a.com", 2))

        async def third() -> None:
            async with order.in_line("a.com") as my_turn:
                await my_turn()
                log.append(("a.com", 3))

        tasks = []
        for job in (first, unreadable, third):
            tasks.append(asyncio.create_task(job()))
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)
        assert log == [("a.com", 2)]
        first_ready.set()
        await asyncio.gather(*tasks)

    asyncio.run(story())
    assert log == [("a.com", 2), ("a.com", 1), ("a.com", 3)]


def test_hosts_do_not_wait_for_each_other() -> None:
    order, log = HostOrder(), list[str]()

    async def story() -> None:
        never = asyncio.Event()

        async def stuck() -> None:
            async with order.in_line("a.com") as my_turn:
                await never.wait()
                await my_turn()

        async def quick() -> None:
            async with order.in_line("b.com") as my_turn:
                await my_turn()
                log.append("b.com")

        waiting = asyncio.create_task(stuck())
        await asyncio.sleep(0)
        await asyncio.create_task(quick())
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(story())
    assert log == ["b.com"]


def test_a_line_that_is_empty_is_forgotten() -> None:
    order, log = HostOrder(), list[tuple[str, int]]()
    run(order, [(f"h{number}.com", number, asyncio.Event(), number % 2 == 0) for number in range(50)], log)
    assert len(order) == 0
