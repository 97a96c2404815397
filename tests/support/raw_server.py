"""A server of raw bytes on a free loopback port: it sends whatever a test wants, also what no framework would send."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

__all__ = ["Reply", "ServerLog", "http", "serve"]

Reply = Callable[[str, asyncio.StreamWriter], Awaitable[None]]
"""Answers a request for a path by writing to the connection; the connection is closed afterwards."""


@dataclass
class ServerLog:
    """What the server saw: the judge of politeness and of what leaves the process."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    open_now: int = 0
    open_at_most: int = 0
    opened: int = 0

    @property
    def paths(self) -> list[str]:
        """The targets that were asked for, in order."""
        return [request.split(b" ", 2)[1].decode("latin-1") for request in self.requests]


def http(body: bytes = b"", *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """A whole response; `length` lies about the body's size."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@contextlib.asynccontextmanager
async def serve(reply: Reply, address: str = "127.0.0.1", *, keep: bool = False) -> AsyncIterator[ServerLog]:
    """Run the server; closing it ends every connection. `keep`: connections stay open for further requests."""
    log = ServerLog()
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.add(task)
        log.open_now += 1
        log.opened += 1
        log.open_at_most = max(log.open_at_most, log.open_now)
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                log.requests.append(request)
                await reply(request.split(b" ", 2)[1].decode("latin-1"), writer)
                await writer.drain()
                if not keep:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            log.open_now -= 1
            writer.close()
            if task is not None:
                tasks.discard(task)

    server = await asyncio.start_server(handle, address, 0)
    log.port = server.sockets[0].getsockname()[1]
    try:
        yield log
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
