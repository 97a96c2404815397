"""Guarded workers: what a page breaks costs that page, and nothing is left behind."""

import asyncio
import errno
import os
import platform
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NoReturn, cast
from unittest.mock import Mock

import pytest
import uvloop

from periplus.errors import BadContent, EnvironmentFailure, Quarantined
from periplus.pages import Workers
from periplus.pages.workers import FRAME, PID, _Job, _Worker


def work(job: bytes) -> bytes:
    """What the tests' workers do: as the job says."""
    word, _, rest = job.partition(b" ")
    return DEEDS[word](rest)


def die() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def die_once(mark: bytes) -> bytes:
    """The first time somebody kills the worker: memory was short, say."""
    path = Path(mark.decode())
    if path.exists():
        return b"done"
    path.touch()
    return die()


def hang() -> bytes:
    time.sleep(3600)
    return b""


def spin() -> NoReturn:
    while True:
        pass


def refuse(error: Exception) -> NoReturn:
    raise error


def reach(rest: bytes) -> bytes:
    """Try to get out: a socket, a program; what the kernel says to each."""
    told = []
    for name, attempt in (
        ("socket", lambda: socket.socket().close()),
        ("connect", lambda: socket.create_connection(("127.0.0.1", int(rest)), timeout=5).close()),
        ("udp", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(rest)))),
        ("program", lambda: os.execv("/bin/true", ["true"])),  # noqa: S606 - it must not work
    ):
        try:
            attempt()
        except OSError as error:
            told.append(f"{name} {errno.errorcode[error.errno or 0]}")
        else:
            told.append(f"{name} worked")
    return ", ".join(told).encode()


DEEDS: dict[bytes, Callable[[bytes], bytes]] = {
    b"echo": lambda rest: rest,
    b"reach": reach,
    b"pid": lambda _: str(os.getpid()).encode(),
    b"die": lambda _: die(),
    b"once": die_once,
    b"exit": lambda _: os._exit(3),
    b"hang": lambda _: hang(),
    b"spin": lambda _: spin(),
    b"eat": lambda _: b"x" * (4 * 2**30),
    b"recurse": lambda _: work(b"recurse"),
    b"refuse": lambda _: refuse(BadContent("not today")),
    b"raise": lambda _: refuse(ValueError("surprise")),
}


def run(
    story: Callable[[Workers], Awaitable[Any]], *, count: int = 2, seconds: float = 5.0, cpu_seconds: float = 2.0
) -> Any:
    workers = Workers(work, count, seconds=seconds, cpu_seconds=cpu_seconds, memory_bytes=2**29)

    async def whole() -> Any:
        await workers.start()
        try:
            return await story(workers)
        finally:
            await workers.close()

    return asyncio.run(whole())


async def attempt(workers: Workers, job: bytes) -> bytes | str:
    try:
        return await workers.run(job)
    except (BadContent, Quarantined) as error:
        return f"{type(error).__name__}: {error}"


def test_jobs_are_done_and_matched_with_their_results() -> None:
    async def story(workers: Workers) -> list[bytes]:
        return await asyncio.gather(*(workers.run(b"echo %d" % number) for number in range(500)))

    assert run(story) == [b"%d" % number for number in range(500)]


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "aarch64"), reason="no seccomp filter"
)
def test_a_worker_reaches_no_network() -> None:
    """Whoever takes over a reader of pages has no socket and no program to run (Z4); the next page is still read."""

    async def story(workers: Workers) -> list[bytes]:
        return [await workers.run(b"reach %d" % listener.getsockname()[1]), await workers.run(b"echo still here")]

    with socket.create_server(("127.0.0.1", 0)) as listener:
        told, after = run(story, count=1)
        listener.settimeout(0.0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert told == b"socket EACCES, connect EACCES, udp EACCES, program EACCES"
    assert after == b"still here"


def test_large_jobs_and_results() -> None:
    big = os.urandom(3 * 2**20)

    async def story(workers: Workers) -> list[bytes]:
        return await asyncio.gather(*(workers.run(b"echo " + big) for _ in range(4)))

    assert run(story) == [big] * 4


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (b"die", "Quarantined: the page broke the process that read it, 2 times"),
        (b"exit", "Quarantined: the page broke the process that read it, 2 times"),
        (b"hang", "Quarantined: the page took too long to read, 2 times"),
        (b"spin", "Quarantined: the page broke the process that read it, 2 times"),
        (b"eat", "MemoryError"),
        (b"recurse", "RecursionError"),
        (b"refuse", "not today"),
        (b"raise", "surprise"),
    ],
)
def test_a_hostile_job_costs_one_job(job: bytes, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    async def story(workers: Workers) -> list[bytes | str]:
        jobs = [b"echo 1", b"echo 2", job, *(b"echo %d" % number for number in range(3, 20))]
        return await asyncio.gather(*(attempt(workers, one) for one in jobs))

    results = run(story, seconds=0.5 if job == b"hang" else 20.0, cpu_seconds=0.3)
    assert reason in str(results.pop(2))
    assert results == [b"%d" % number for number in (1, 2, *range(3, 20))]
    capfd.readouterr()


def test_a_job_that_lost_its_worker_to_something_else_is_done_by_the_next(tmp_path: Path) -> None:
    async def story(workers: Workers) -> tuple[bytes, int]:
        return await workers.run(b"once " + str(tmp_path / "mark").encode()), workers.lost

    assert run(story) == (b"done", 1)


def test_many_hostile_jobs_in_a_row() -> None:
    async def story(workers: Workers) -> list[bytes | str]:
        jobs = [b"die" if number % 3 == 0 else b"echo %d" % number for number in range(60)]
        return await asyncio.gather(*(attempt(workers, job) for job in jobs))

    results = run(story)
    assert [result for result in results if isinstance(result, bytes)] == [b"%d" % n for n in range(60) if n % 3]


def test_hostile_jobs_under_the_other_event_loop() -> None:
    workers = Workers(work, 2, seconds=5.0)

    async def whole() -> list[bytes | str]:
        await workers.start()
        try:
            return await asyncio.gather(*(attempt(workers, b"die" if n % 2 else b"echo x") for n in range(40)))
        finally:
            await workers.close()

    assert uvloop.run(whole()).count(b"x") == 20


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_closing_leaves_no_process_behind_even_in_the_middle_of_a_job() -> None:
    workers = Workers(work, 2, seconds=60.0, cpu_seconds=60.0)

    async def whole() -> tuple[set[int], list[bytes | str]]:
        await workers.start()
        pids = {int(await workers.run(b"pid x")) for _ in range(20)}
        hanging = [asyncio.create_task(attempt(workers, b"hang")) for _ in range(2)]
        await asyncio.sleep(0.05)
        await workers.close()
        return pids, await asyncio.gather(*hanging)

    pids, results = asyncio.run(whole())
    assert all("ended before" in str(result) for result in results)
    deadline = time.monotonic() + 5.0
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        os.sched_yield()
    assert not any(alive(pid) for pid in pids)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_two_pools_close_independently() -> None:
    first, second = Workers(work, 1), Workers(work, 1)

    async def whole() -> tuple[bytes, bytes]:
        await first.start()
        await second.start()
        one = await first.run(b"echo 1")
        await first.close()
        two = await second.run(b"echo 2")
        await second.close()
        return one, two

    assert asyncio.run(asyncio.wait_for(whole(), 10)) == (b"1", b"2")


def test_nothing_waits_for_ever_when_no_worker_can_be_made() -> None:
    workers = Workers(work, 1)

    async def whole() -> list[BaseException | bytes]:
        await workers.start()
        os.kill(workers._nursery_pid, signal.SIGKILL)
        await asyncio.to_thread(os.waitpid, workers._nursery_pid, 0)
        results = await asyncio.gather(
            *(workers.run(job) for job in (b"die", b"echo 1", b"echo 2", b"echo 3", b"echo 4", b"echo 5")),
            return_exceptions=True,
        )
        await workers.close()
        return results

    results = asyncio.run(asyncio.wait_for(whole(), 10))
    assert all(isinstance(result, EnvironmentFailure) for result in results)


NOBODY = 2**22 + 1
"""A number that no process has."""


class Pool:
    """Stands in for the workers around one of them."""

    def __init__(self) -> None:
        self.replaced: list[_Worker] = []

    def next_for(self, worker: _Worker) -> None:
        """Nothing waits."""

    def replace(self, worker: _Worker) -> None:
        """Remember who was lost."""
        self.replaced.append(worker)


def born(pool: Pool) -> tuple[_Worker, Mock]:
    worker, results = _Worker(cast("Workers", pool), Mock(), 60.0), Mock()
    worker.connection_made(results)
    worker.data_received(PID.pack(NOBODY))
    return worker, results


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_results_are_put_together_from_whatever_pieces_come(step: int) -> None:
    async def story() -> None:
        worker, _ = born(Pool())
        jobs = [_Job(b"", asyncio.get_running_loop().create_future()) for _ in range(3)]
        for job in jobs:
            worker.send(job)
        sent = b"".join(FRAME.pack(0, len(text)) + text for text in (b"one", b"", b"three" * 50))
        for at in range(0, len(sent), step):
            worker.data_received(sent[at : at + step])
        assert [job.result.result() for job in jobs] == [b"one", b"", b"three" * 50]
        worker.close()

    asyncio.run(story())


def test_a_worker_that_speaks_unasked_or_without_end_is_given_up() -> None:
    async def story() -> None:
        pool = Pool()
        unasked, results = born(pool)
        unasked.data_received(FRAME.pack(0, 3) + b"one")
        results.close.assert_called_once()
        boasting, _ = born(pool)
        job = _Job(b"", asyncio.get_running_loop().create_future())
        boasting.send(job)
        boasting.data_received(FRAME.pack(0, 2**32 - 1))
        assert pool.replaced == [boasting]
        assert list(boasting.waiting) == [job], "it is tried once more"

    asyncio.run(story())
