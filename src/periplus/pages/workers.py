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
PID = struct.Struct("<I")
OK, REFUSED, BROKEN = 0, 1, 2
IN_FLIGHT = 4
"""Jobs that a worker has in hand at once: one under way, the others waiting in its socket."""

SOCKET_BYTES = 2**20
"""What may wait in a worker's sockets, if the system allows it: four pages do not fit into its default of 208 KB."""

TRIES = 2
"""Workers that a job may cost before it is set aside."""


MOST_RESULT_BYTES = 2**26
"""A worker that says that more is coming is out of its mind, or taken over."""


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
        self._backlog: deque[_Job] = deque()  # while every worker has its hands full
        self._failure: PeriplusError | None = None
        self._replacing: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Have the workers made."""
        self._workers = [await self._make() for _ in range(self._count)]

    async def run(self, job: bytes) -> bytes:
        """The result of `work(job)`. BadContent if the job was refused, Quarantined if it broke two workers."""
        if self._failure is not None:
            raise self._failure
        waiting = _Job(job, asyncio.get_running_loop().create_future())
        worker = min(self._workers, key=_in_hand)
        if _in_hand(worker) < IN_FLIGHT:
            worker.send(waiting)
        else:
            self._backlog.append(waiting)
        return await waiting.result

    def next_for(self, worker: "_Worker") -> None:
        """Give a worker that has a hand free what waits longest."""
        while self._backlog and _in_hand(worker) < IN_FLIGHT:
            job = self._backlog.popleft()
            if not job.result.cancelled():
                worker.send(job)

    async def close(self) -> None:
        """End all processes."""
        self._fail(BadContent("the crawl ended before the page was read"))
        for task in self._replacing:
            task.cancel()
        await asyncio.gather(*self._replacing, return_exceptions=True)
        for worker in self._workers:
            worker.close()
        await asyncio.sleep(0)  # let the transports go
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
        loop = asyncio.get_running_loop()
        with its_jobs, its_results, contextlib.ExitStack() as undo:
            undo.callback(jobs.close)
            undo.callback(results.close)
            writer, _ = await loop.create_connection(asyncio.Protocol, sock=jobs)
            undo.callback(writer.close)
            worker = _Worker(self, writer, self._seconds)
            closer, _ = await loop.create_connection(lambda: worker, sock=results)
            undo.callback(closer.close)
            try:
                socket.send_fds(self._nursery, [b"w"], [its_jobs.fileno(), its_results.fileno()])
                its_jobs.close()
                its_results.close()
                await worker.born
            except OSError as error:
                message = "the process that makes workers has died; run the same command again"
                raise EnvironmentFailure(message) from error
            undo.pop_all()
        return worker

    def replace(self, worker: "_Worker") -> None:
        """Put a new worker in the place of one that died and give it what the old one had not finished."""
        self.lost += 1
        task = asyncio.create_task(self._replace(worker))
        self._replacing.add(task)
        task.add_done_callback(self._replacing.discard)

    async def _replace(self, worker: "_Worker") -> None:
        try:
            fresh = await self._make()
        except EnvironmentFailure as error:
            self._fail(error)
            return
        self._workers[self._workers.index(worker)] = fresh
        for job in worker.waiting:
            fresh.send(job)
        self.next_for(fresh)

    def _fail(self, error: PeriplusError) -> None:
        """Nobody will do these jobs any more, nor later ones."""
        self._failure = error
        for line in (*(worker.waiting for worker in self._workers), self._backlog):
            while line:
                future = line.popleft().result
                if not future.done():
                    future.set_exception(error)


class _Worker(asyncio.Protocol):
    """Our end of one worker process: matches results with jobs, in order."""

    def __init__(self, pool: Workers, jobs: asyncio.WriteTransport, seconds: float) -> None:
        self.waiting: deque[_Job] = deque()
        self._loop = asyncio.get_running_loop()
        self.born: asyncio.Future[None] = self._loop.create_future()
        """Done when the process is there."""
        self._pool = pool
        self._pid = 0
        self._jobs = jobs
        self._results: asyncio.BaseTransport | None = None
        self._rest = bytearray()  # of a result, as far as it has come
        self._seconds = seconds
        self._due = 0.0  # when the job under way must be done
        self._timer: asyncio.TimerHandle | None = None
        self._lost = False
        self._buried = False

    def send(self, job: _Job) -> None:
        """Give the worker a job. One that is buried keeps it for its successor."""
        self.waiting.append(job)
        if self._buried:
            return
        if self._lost:
            self._bury("broke the process that read it")
            return
        with contextlib.suppress(RuntimeError, ConnectionError):  # it is dead and we do not know yet
            self._jobs.writelines((FRAME.pack(OK, len(job.data)), job.data))
        if len(self.waiting) == 1:
            self._due = self._loop.time() + self._seconds
            if self._timer is None:
                self._timer = self._loop.call_at(self._due, self._look)

    def close(self) -> None:
        """End the process, which may be in the middle of a job that never ends."""
        self._buried = True
        if self._timer is not None:
            self._timer.cancel()
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._jobs.close()
        if self._results is not None:
            self._results.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Results will come this way."""
        self._results = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has died. If it had nothing to do, its next job finds out, so that none is made in vain."""
        self._lost = True
        if not self.born.done():
            self.born.set_exception(exc or ConnectionResetError("no worker"))
        elif self.waiting and not self._buried:
            self._bury("broke the process that read it")

    def data_received(self, data: bytes | bytearray) -> None:
        """Results have come, or parts of them; at first the number of the process."""
        rest = self._rest
        if rest:
            rest += data
            data = rest
        at = 0 if self._pid else self._take_pid(data)
        while len(data) - at >= FRAME.size and self._pid and not self._buried:
            status, length = FRAME.unpack_from(data, at)
            end = at + FRAME.size + length
            if length > MOST_RESULT_BYTES or not self.waiting:
                self._lose()
                return
            if end > len(data):
                break
            self._finish(status, bytes(data[at + FRAME.size : end]))
            at = end
        if data is rest:
            del rest[:at]
        else:
            rest += data[at:]

    def _take_pid(self, data: bytes | bytearray) -> int:
        if len(data) < PID.size:
            return 0
        (self._pid,) = PID.unpack_from(data)
        if not self.born.done():
            self.born.set_result(None)
        return PID.size

    def _lose(self) -> None:
        """The worker says what no worker says: it is of no further use."""
        if self.waiting:
            self._bury("broke the process that read it")
        elif self._results is not None:
            self._results.close()

    def _finish(self, status: int, result: bytes) -> None:
        future = self.waiting.popleft().result
        if not future.cancelled():
            if status == OK:
                future.set_result(result)
            else:
                future.set_exception(BadContent(result.decode("utf-8", "replace")))
        self._due = self._loop.time() + self._seconds
        self._pool.next_for(self)

    def _look(self) -> None:
        """The time of the job that was under way when the timer was set is over: it may be another one's by now."""
        self._timer = None
        if not self.waiting or self._buried:
            return
        if self._loop.time() >= self._due:
            self._bury("took too long to read")
        else:
            self._timer = self._loop.call_at(self._due, self._look)

    def _bury(self, reason: str) -> None:
        """Whatever was under way is tried once more, or set aside; a new worker takes the place of this one."""
        self.close()
        suspect = self.waiting.popleft()
        suspect.lost += 1
        if suspect.lost < TRIES:
            self.waiting.append(suspect)  # behind the others: they are not to die of it as well
        elif not suspect.result.cancelled():
            suspect.result.set_exception(Quarantined(f"the page {reason}, {TRIES} times"))
        self._pool.replace(self)


def _in_hand(worker: _Worker) -> int:
    return len(worker.waiting)


def _nursery(control: socket.socket, work: Work, memory_bytes: int, cpu_seconds: float) -> NoReturn:
    """The process that workers are forked from. Ends when the crawl does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
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
        results.write(PID.pack(os.getpid()))
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
