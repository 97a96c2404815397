"""The miniature web on a port: one process, one event loop, HTTP/1.1 by hand, hosts told apart by `Host`.

After `web`. The server's log is the oracle of politeness tests: it says who asked when, and how many
connections each host had open.
"""

import asyncio
import errno
import json
import os
import socket
import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import IO

from periplus.errors import EnvironmentFailure, PortTaken, UsageError
from periplus.miniweb.response import Response
from periplus.miniweb.web import Miniweb

__all__ = ["LogEntry", "MiniwebServer", "serve"]

MAX_HEAD_BYTES = 16 * 1024
IDLE_SECONDS = 75.0
LOG_ENTRIES = 1_000_000

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_METHODS = (b"GET", b"HEAD")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One request as the server saw it, at the moment its head was complete.

    `time` is monotonic seconds, `wall` seconds since 1970. `connections` counts the open connections whose
    latest request named this host, this one included; `in_flight` the requests of the host not yet answered.
    """

    time: float
    wall: float
    method: str
    host: str
    path: str
    status: int
    connections: int
    in_flight: int
    agent: str


class MiniwebServer:
    """A running server: its address, its log, and the counters behind flaky pages."""

    def __init__(self, web: Miniweb, log_file: IO[str] | None = None, *, prerender: bool = False) -> None:
        self.web = web
        self._ready: dict[tuple[str, str], Response] = {}
        if prerender:
            hosts = web.blueprint.hosts
            steady = (page for page in web.blueprint.pages if page.quirk not in ("flaky", "busy"))
            self._ready = {(hosts[page.host].name, page.path): web.page_response(page) for page in steady}
        self.log: deque[LogEntry] = deque(maxlen=LOG_ENTRIES)
        self.address = ""
        self.port = 0
        self.open_connections: set[_Connection] = set()
        self.connections: Counter[str] = Counter()
        self.in_flight: Counter[str] = Counter()
        self._visits: Counter[tuple[str, str]] = Counter()
        self._log_file = log_file

    def respond(self, host: str, target: str) -> Response:
        """The web's answer, with flaky pages failing on their first visit to this server."""
        ready = self._ready.get((host, target))
        if ready is not None:
            return ready
        visit = 1
        if self.web.is_flaky(host, target):
            visit = self._visits[host, target]
            self._visits[host, target] += 1
        return self.web.respond(host, target, visit)

    def note(self, entry: LogEntry) -> None:
        """Add a line to the log, and to the file if there is one."""
        self.log.append(entry)
        if self._log_file is not None:
            self._log_file.write(json.dumps(asdict(entry)) + "\n")


class _Connection(asyncio.Protocol):
    """One client: heads are answered one after the other, in order, whatever arrives behind them."""

    def __init__(self, server: MiniwebServer) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._host = ""
        self._busy = False
        self._full = False
        self._timer: asyncio.TimerHandle | None = None
        self._delayed: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        self._server.open_connections.add(self)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        self._server.open_connections.discard(self)
        for timer in (self._timer, self._delayed):
            if timer is not None:
                timer.cancel()
        if self._busy:
            self._server.in_flight[self._host] -= 1
        self._belong_to("")
        self._transport = None

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._next()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy and not self._full:
            self._next()
        elif len(self._buffer) > 4 * MAX_HEAD_BYTES:  # a client that asks and asks and does not read
            self.close()

    def close(self) -> None:
        """End the connection at once; used when the server stops."""
        if self._transport is not None:
            self._transport.abort()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)

    def _belong_to(self, host: str) -> None:
        """Count this connection for `host` and no longer for the one before."""
        if host == self._host:
            return
        if self._host:
            self._server.connections[self._host] -= 1
        if host:
            self._server.connections[host] += 1
        self._host = host

    def _next(self) -> None:
        """Answer complete heads in the buffer until one has to wait."""
        while self._transport is not None and not self._busy and not self._full:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > MAX_HEAD_BYTES:
                    self._refuse(431)
                return
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            self._wait()
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        request = _parse(head)
        if isinstance(request, int):
            self._refuse(request)
            return
        server, host = self._server, request.host
        response = server.respond(host, request.target)
        self._belong_to(host)
        server.in_flight[host] += 1
        status = response.status
        if response.etag and request.if_none_match == response.etag:
            status = 304
        server.note(
            LogEntry(
                time.monotonic(),
                time.time(),
                request.method,
                host,
                request.target,
                status,
                server.connections[host],
                server.in_flight[host],
                request.agent,
            )
        )
        payload = _payload(response, status, request)
        self._busy = True
        if response.delay_seconds:
            loop = asyncio.get_running_loop()
            self._delayed = loop.call_later(response.delay_seconds, self._finish_later, payload, request.close)
        else:
            self._finish(payload, request.close)

    def _finish_later(self, payload: bytes, close: bool) -> None:
        self._finish(payload, close)
        self._next()

    def _finish(self, payload: bytes, close: bool) -> None:
        self._busy = False
        self._server.in_flight[self._host] -= 1
        if self._transport is not None:
            self._transport.write(payload)
            if close:
                self._transport.close()
                self._transport = None

    def _refuse(self, status: int) -> None:
        """Answer something that is not a request we take, and hang up: what follows cannot be trusted."""
        if self._transport is None:
            return
        body = f"{status} {_PHRASES[status]}\n".encode()
        head = (
            f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: text/plain\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self._transport.write(head.encode() + body)
        self._transport.close()
        self._transport = None


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    target: str
    host: str
    close: bool
    if_none_match: str
    agent: str


def _parse(head: bytes) -> _Request | int:
    """The request, or the status that refuses it."""
    first, *lines = head.split(b"\r\n")
    words = first.split(b" ")
    if len(words) != 3 or words[2] not in (b"HTTP/1.1", b"HTTP/1.0") or not words[1]:
        return 400
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip():
            return 400
        if headers.setdefault(name.lower(), value.strip()) != value.strip() and name.lower() == b"host":
            return 400
    status = _refusal(words, headers)
    if status:
        return status
    target = words[1].decode("ascii", "replace")
    host = headers[b"host"].decode("ascii", "replace").lower().partition(":")[0].rstrip(".")
    if target.startswith("http://"):  # the form that proxies are asked in; the target's host wins (RFC 9112 3.2.2)
        host, slash, rest = target[7:].partition("/")
        host, target = host.lower().partition(":")[0], slash + rest or "/"
    wants = headers.get(b"connection", b"").lower()
    close = wants == b"close" or (words[2] == b"HTTP/1.0" and wants != b"keep-alive")
    agent = headers.get(b"user-agent", b"").decode("utf-8", "replace")
    match = headers.get(b"if-none-match", b"").decode("ascii", "replace")
    return _Request(words[0].decode(), target, host, close, match, agent)


def _refusal(words: list[bytes], headers: dict[bytes, bytes]) -> int:
    """Why a well-formed head is not answered, as a status; 0 if it is."""
    if words[0] not in _METHODS:
        return 405 if words[0].isalpha() else 400
    if b"host" not in headers:
        return 400
    if headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers:
        return 413
    if not words[1].startswith((b"/", b"http://")):
        return 400
    return 0


def _payload(response: Response, status: int, request: _Request) -> bytes:
    extra = ""
    if response.location:
        extra += f"Location: {response.location}\r\n"
    if response.etag:
        extra += f"ETag: {response.etag}\r\n"
    if response.x_robots_tag:
        extra += f"X-Robots-Tag: {response.x_robots_tag}\r\n"
    if response.retry_after:
        extra += f"Retry-After: {response.retry_after}\r\n"
    if request.close:
        extra += "Connection: close\r\n"
    if status == 304:
        return f"HTTP/1.1 304 Not Modified\r\n{extra}\r\n".encode("latin-1", "replace")
    head = (
        f"HTTP/1.1 {status} {_PHRASES[status]}\r\nServer: miniweb\r\nContent-Type: {response.content_type}\r\n"
        f"Content-Length: {len(response.body)}\r\n{extra}\r\n"
    ).encode("latin-1", "replace")
    return head if request.method == "HEAD" else head + response.body


@asynccontextmanager
async def serve(
    web: Miniweb,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    log_file: IO[str] | None = None,
    prerender: bool = False,
) -> AsyncIterator[MiniwebServer]:
    """Serve the web while the context is open; port 0 takes a free one, and `server.port` tells which.

    `prerender` writes all pages before the first request: for benchmarks that measure the crawler alone.
    Raises PortTaken if somebody listens there already.
    """
    server = MiniwebServer(web, log_file, prerender=prerender)
    loop = asyncio.get_running_loop()
    try:
        listener = await loop.create_server(lambda: _Connection(server), host, port, backlog=1024)
    except socket.gaierror:
        raise UsageError(f"miniweb: --host {host}: no such address") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"miniweb: port {port} of {host} is taken; stop what listens there or choose another with --port"
            ) from None
        raise EnvironmentFailure(f"miniweb: cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}") from None
    server.address, server.port = listener.sockets[0].getsockname()[:2]
    try:
        yield server
    finally:
        listener.close()
        for connection in list(server.open_connections):
            connection.close()
        await listener.wait_closed()
