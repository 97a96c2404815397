"""Guarded workers: processes in which pages are read, with limits on time and memory.

A page that crashes, hangs or bloats its worker costs one page, never the crawl. A small process, the nursery,
is forked before anything else starts; it holds what all workers share (the gazetteer) and forks a new worker
whenever one is wanted, so the crawl itself, with its threads and sockets, is never forked.
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
from pathlib import Path
from typing import NoReturn

from periplus.errors import BadContent, PeriplusError

__all__ = ["Workers"]

Work = Callable[[bytes], bytes]

FRAME = struct.Struct("<BI")  # status, length
OK, REFUSED, BROKEN = 0, 1, 2
IN_FLIGHT = 4
"""Jobs that a worker has in hand at once: one under way, the others waiting in its socket."""


class Workers:
    """Runs `work` in other processes. Make it before threads and event loop exist; `start` it inside the loop."""

    def __init__(self, work: Work, count: int, *, seconds: float = 10.0, memory_bytes: int = 2**30) -> None:
        self._count = count
        self._seconds = seconds
        self._nursery, child_end = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            self._nursery.close()
            _nursery(child_end, work, memory_bytes)
        child_end.close()
        self._nursery_pid = pid
        self._workers: list[_Worker] = []
        self._free = asyncio.Semaphore(count * IN_FLIGHT)

    async def start(self) -> None:
        """Have the workers made."""
        self._workers = [await self._make() for _ in range(self._count)]

    async def run(self, job: bytes) -> bytes:
        """The result of `work(job)`. BadContent if the job was refused, or broke its worker."""
        async with self._free:
            worker = min(self._workers, key=lambda candidate: len(candidate.waiting))
            return await worker.submit(job)

    async def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            await worker.close()
        self._nursery.close()
        with contextlib.suppress(ChildProcessError):
            await asyncio.to_thread(os.waitpid, self._nursery_pid, 0)

    async def _make(self) -> "_Worker":
        ours, theirs = socket.socketpair()
        socket.send_fds(self._nursery, [b"w"], [theirs.fileno()])
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=2**26)
        (pid,) = struct.unpack("<I", await reader.readexactly(4))
        return _Worker(self, pid, reader, writer, self._seconds)

    async def replace(self, worker: "_Worker") -> None:
        """Put a new worker in the place of one that died and give it what the old one had not begun."""
        fresh = await self._make()
        self._workers[self._workers.index(worker)] = fresh
        for job, future in worker.waiting:
            fresh.send(job, future)


class _Worker:
    """Our end of one worker process."""

    def __init__(
        self, pool: Workers, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float
    ) -> None:
        self.waiting: deque[tuple[bytes, asyncio.Future[bytes]]] = deque()
        self._pool = pool
        self._pid = pid
        self._reader = reader
        self._writer = writer
        self._seconds = seconds
        self._wake = asyncio.Event()
        self._listener = asyncio.create_task(self._listen())

    async def submit(self, job: bytes) -> bytes:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.send(job, future)
        return await future

    def send(self, job: bytes, future: "asyncio.Future[bytes]") -> None:
        self.waiting.append((job, future))
        self._writer.write(FRAME.pack(OK, len(job)) + job)
        self._wake.set()

    async def close(self) -> None:
        self._listener.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listener
        self._writer.close()

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
            _, future = self.waiting.popleft()
            if future.cancelled():
                continue
            if status == OK:
                future.set_result(result)
            else:
                future.set_exception(BadContent(result.decode("utf-8", "replace")))

    async def _bury(self, error: Exception) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._writer.close()
        _, future = self.waiting.popleft()
        if not future.cancelled():
            reason = "took too long to read" if isinstance(error, TimeoutError) else "broke the process that read it"
            future.set_exception(BadContent(f"the page {reason}"))
        await self._pool.replace(self)


def _nursery(control: socket.socket, work: Work, memory_bytes: int) -> NoReturn:
    """The process that workers are forked from. Ends when the crawl does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries dead workers
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            control.close()
            _serve(socket.socket(fileno=descriptors[0]), work, memory_bytes)
        os.close(descriptors[0])


def _serve(link: socket.socket, work: Work, memory_bytes: int) -> NoReturn:
    """A worker's life: read a job, do it, send the result; end when the other side is gone."""
    _limit_memory(memory_bytes)
    stream = link.makefile("rwb", buffering=2**16)
    stream.write(struct.pack("<I", os.getpid()))
    stream.flush()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while header := stream.read(FRAME.size):
            job = stream.read(FRAME.unpack(header)[1])
            status, result = _attempt(work, job)
            stream.write(FRAME.pack(status, len(result)) + result)
            stream.flush()
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
        resource.setrlimit(resource.RLIMIT_AS, (mapped + extra_bytes, mapped + extra_bytes))
