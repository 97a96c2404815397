"""Guarded workers: processes in which pages are read, with limits on time and memory.

A page that crashes, hangs or bloats its worker costs one page, never the crawl: it is tried once more, in case
something else killed the worker, and then set aside (`Quarantined`). A small process, the nursery, is forked before
anything else starts; it holds what all workers share (the gazetteer) and forks a new worker whenever one is wanted,
so the crawl itself, with its threads and sockets, is never forked.
"""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import struct
import sys
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from periplus.errors import BadContent, EnvironmentFailure, PeriplusError, Quarantined
from periplus.pages.confinement import confine

__all__ = ["Workers"]

Work = Callable[[bytes], bytes]

FRAME = struct.Struct("<BI")  # status, length
OK, REFUSED, BROKEN = 0, 1, 2
IN_FLIGHT = 4
"""Jobs that a worker has in hand at once: one under way, the others waiting in its socket."""

SOCKET_BYTES = 2**20
"""What may wait in a worker's sockets, if the system allows it: four pages do not fit into its default of 208 KB."""

TRIES = 2
"""Workers that a job may cost before it is set aside."""


@dataclass(slots=True)
class _Job:
    """A job and who waits for it."""

    data: bytes
    result: "asyncio.Future[bytes]"
    lost: int = 0
    """Workers that were lost with this job in hand."""


class Workers:
    """Runs `work` in other processes. Make it before threads and event loop exist; `start` it inside the loop."""

    def __init__(
        self, work: Work, count: int, *, seconds: float = 30.0, cpu_seconds: float = 2.0, memory_bytes: int = 2**29
    ) -> None:
        self.lost = 0
        """Workers that died, or had to be killed, so far."""
        self._count = count
        self._seconds = seconds
        self._nursery, child_end = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                self._nursery.close()
                _nursery(child_end, work, memory_bytes, cpu_seconds)
            finally:
                os._exit(1)  # whatever happened: a child must never go on as if it were the crawl
        child_end.close()
        self._nursery_pid = pid
        self._workers: list[_Worker] = []
        self._free = asyncio.Semaphore(count * IN_FLIGHT)

    async def start(self) -> None:
        """Have the workers made."""
        self._workers = [await self._make() for _ in range(self._count)]

    async def run(self, job: bytes) -> bytes:
        """The result of `work(job)`. BadContent if the job was refused, Quarantined if it broke two workers."""
        async with self._free:
            worker = min(self._workers, key=lambda candidate: len(candidate.waiting))
            return await worker.submit(job)

    async def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            await worker.close()
        with contextlib.suppress(OSError):
            self._nursery.shutdown(socket.SHUT_RDWR)  # ends it also where a fork of ours still holds the socket
        self._nursery.close()
        with contextlib.suppress(ChildProcessError):
            await asyncio.to_thread(os.waitpid, self._nursery_pid, 0)

    async def _make(self) -> "_Worker":
        # Jobs and results have a socket each: what a worker finished can be read although jobs for it were refused.
        jobs, its_jobs = socket.socketpair()
        results, its_results = socket.socketpair()
        jobs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
        its_results.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
        with its_jobs, its_results, contextlib.ExitStack() as undo:
            undo.callback(jobs.close)
            undo.callback(results.close)
            _, writer = await asyncio.open_connection(sock=jobs)
            undo.callback(writer.close)
            reader, closer = await asyncio.open_connection(sock=results, limit=2**26)
            undo.callback(closer.close)
            try:
                socket.send_fds(self._nursery, [b"w"], [its_jobs.fileno(), its_results.fileno()])
                its_jobs.close()
                its_results.close()
                (pid,) = struct.unpack("<I", await reader.readexactly(4))
            except (OSError, asyncio.IncompleteReadError) as error:
                message = "the process that makes workers has died; run the same command again"
                raise EnvironmentFailure(message) from error
            undo.pop_all()
        return _Worker(self, pid, reader, (writer, closer), self._seconds)

    async def replace(self, worker: "_Worker") -> None:
        """Put a new worker in the place of one that died and give it what the old one had not finished."""
        self.lost += 1
        try:
            fresh = await self._make()
        except EnvironmentFailure as error:
            worker.fail_all(error)
            return
        self._workers[self._workers.index(worker)] = fresh
        for job in worker.waiting:
            fresh.send(job)


class _Worker:
    """Our end of one worker process."""

    def __init__(
        self,
        pool: Workers,
        pid: int,
        reader: asyncio.StreamReader,
        writers: tuple[asyncio.StreamWriter, asyncio.StreamWriter],
        seconds: float,
    ) -> None:
        self.waiting: deque[_Job] = deque()
        self._pool = pool
        self._pid = pid
        self._reader = reader
        self._writer, self._results = writers
        self._seconds = seconds
        self._wake = asyncio.Event()
        self._failure: PeriplusError | None = None
        self._buried = False
        self._listener = asyncio.create_task(self._listen())

    async def submit(self, job: bytes) -> bytes:
        if self._failure is not None:
            raise self._failure
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.send(_Job(job, future))
        return await future

    def send(self, job: _Job) -> None:
        self.waiting.append(job)
        if not self._buried:  # else its successor gets the job; as it does if the worker is dead and we do not know yet
            with contextlib.suppress(RuntimeError, ConnectionError):
                self._writer.writelines((FRAME.pack(OK, len(job.data)), job.data))
        self._wake.set()

    async def close(self) -> None:
        self._listener.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listener
        self.fail_all(BadContent("the crawl ended before the page was read"))
        self._kill()  # it may be in the middle of a job that never ends
        self._hang_up()
        await asyncio.sleep(0)  # let the transports go

    def fail_all(self, error: PeriplusError) -> None:
        """Nobody will do these jobs any more, nor later ones."""
        self._failure = error
        while self.waiting:
            future = self.waiting.popleft().result
            if not future.done():
                future.set_exception(error)

    def _hang_up(self) -> None:
        self._writer.close()
        self._results.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    async def _listen(self) -> None:
        """Match results with jobs, in order; a worker that dies or takes too long is replaced."""
        while True:
            self._wake.clear()
            if not self.waiting:
                await self._wake.wait()
            try:
                async with asyncio.timeout(self._seconds):
                    status, length = FRAME.unpack(await self._reader.readexactly(FRAME.size))
                    result = await self._reader.readexactly(length)
            except (TimeoutError, asyncio.IncompleteReadError, ConnectionError) as error:
                await self._bury(error)
                return
            future = self.waiting.popleft().result
            if future.cancelled():
                continue
            if status == OK:
                future.set_result(result)
            else:
                future.set_exception(BadContent(result.decode("utf-8", "replace")))

    async def _bury(self, error: Exception) -> None:
        self._kill()
        self._buried = True
        self._hang_up()
        suspect = self.waiting.popleft()
        suspect.lost += 1
        if suspect.lost < TRIES:
            self.waiting.append(suspect)  # behind the others: they are not to die of it as well
        elif not suspect.result.cancelled():
            reason = "took too long to read" if isinstance(error, TimeoutError) else "broke the process that read it"
            suspect.result.set_exception(Quarantined(f"the page {reason}, {TRIES} times"))
        await self._pool.replace(self)


def _nursery(control: socket.socket, work: Work, memory_bytes: int, cpu_seconds: float) -> NoReturn:
    """The process that workers are forked from. Ends when the crawl does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries dead workers
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not message or len(descriptors) != 2:
            os._exit(0)
        if os.fork() == 0:
            try:
                control.close()
                _serve(descriptors[0], descriptors[1], work, memory_bytes, cpu_seconds)
            finally:
                os._exit(1)
        for descriptor in descriptors:
            os.close(descriptor)


def _serve(jobs_end: int, results_end: int, work: Work, memory_bytes: int, cpu_seconds: float) -> NoReturn:
    """A worker's life: read a job, do it, send the result; end when the other side is gone."""
    _limit_memory(memory_bytes)
    confine()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process: no job outlives its time, nor the crawl
    jobs, results = os.fdopen(jobs_end, "rb", 2**16), os.fdopen(results_end, "wb", 2**16)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        results.write(struct.pack("<I", os.getpid()))
        results.flush()
        while header := jobs.read(FRAME.size):
            job = jobs.read(FRAME.unpack(header)[1])
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
            status, result = _attempt(work, job)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            results.write(FRAME.pack(status, len(result)) + result)
            results.flush()
    os._exit(0)


def _attempt(work: Work, job: bytes) -> tuple[int, bytes]:
    try:
        return OK, work(job)
    except PeriplusError as error:
        return REFUSED, str(error).encode("utf-8", "replace")
    except (MemoryError, RecursionError) as error:
        return REFUSED, type(error).__name__.encode()
    except Exception:  # noqa: BLE001 - the supervisor of hostile input: whatever a page breaks costs that page only
        traceback.print_exc(file=sys.stderr)
        return BROKEN, traceback.format_exc(limit=1).strip().rpartition("\n")[2].encode("utf-8", "replace")


def _limit_memory(extra_bytes: int) -> None:
    """Allow `extra_bytes` of address space beyond what is mapped now."""
    statm = Path("/proc/self/statm")
    if statm.exists():  # Linux; elsewhere the time limit alone guards
        mapped = int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = mapped + extra_bytes if hard == resource.RLIM_INFINITY else min(mapped + extra_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))
