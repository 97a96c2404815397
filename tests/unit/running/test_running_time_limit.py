"""One time limit for many tasks does what a timeout of its own would do for each."""

import asyncio

import pytest
import uvloop

from periplus.clock import TimeLimit


def run(story: object) -> None:
    for loop_run in (asyncio.run, uvloop.run):
        loop_run(asyncio.wait_for(story(), 20))  # type: ignore[operator]


def test_who_stays_too_long_is_told_and_the_others_are_not() -> None:
    async def story() -> None:
        limit, never = TimeLimit(0.02), asyncio.Event()

        async def stays() -> str:
            try:
                with limit.begun():
                    await never.wait()
            except TimeoutError:
                task = asyncio.current_task()
                return f"too long, {task.cancelling() if task else '?'} cancels left"
            return "free"

        async def leaves() -> str:
            with limit.begun():
                await asyncio.sleep(0)
            await asyncio.gather(*staying)
            return "free"

        staying = [asyncio.create_task(stays()) for _ in range(5)]
        leaving = [asyncio.create_task(leaves()) for _ in range(5)]
        assert await asyncio.gather(*staying, *leaving) == ["too long, 0 cancels left"] * 5 + ["free"] * 5
        late = await asyncio.create_task(stays())  # the timer begins again for who comes later
        assert late.startswith("too long")

    run(story)


def test_who_is_cancelled_by_others_is_cancelled() -> None:
    async def story() -> None:
        limit, never = TimeLimit(60.0), asyncio.Event()

        async def stays() -> None:
            with limit.begun():
                await never.wait()

        task = asyncio.create_task(stays())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(story)


def test_limits_lie_within_each_other_and_errors_pass() -> None:
    async def story() -> None:
        outer, inner, never = TimeLimit(60.0), TimeLimit(0.01), asyncio.Event()

        async def stays() -> str:
            with outer.begun():
                try:
                    with inner.begun():
                        await never.wait()
                except TimeoutError:
                    pass
                with inner.begun():
                    raise ValueError("as it is")

        with pytest.raises(ValueError, match="as it is"):
            await asyncio.create_task(stays())

    run(story)
