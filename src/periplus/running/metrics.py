"""Metrics in Prometheus' text form, and the small HTTP server that gives them to whoever scrapes."""

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from periplus.errors import PortTaken

__all__ = ["Sample", "exposition", "serve_metrics"]

MOST_REQUEST_BYTES = 8_192
REQUEST_SECONDS = 5.0
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric: `values` by label value, or a single one under the empty label."""

    name: str
    kind: str  # counter or gauge
    help: str
    values: Mapping[str, float]
    label: str = ""

    @classmethod
    def single(cls, name: str, kind: str, text: str, value: float) -> "Sample":
        """A metric without labels."""
        return cls(name, kind, text, {"": value})


def exposition(samples: Iterable[Sample]) -> str:
    """The samples in Prometheus' text form."""
    lines = []
    for sample in samples:
        name = f"periplus_{sample.name}"
        lines += [f"# HELP {name} {sample.help}", f"# TYPE {name} {sample.kind}"]
        for label, value in sample.values.items():
            labels = f'{{{sample.label}="{_escaped(label)}"}}' if sample.label else ""
            lines.append(f"{name}{labels} {value:g}" if abs(value) < 1e6 else f"{name}{labels} {value:.0f}")
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


@dataclass(slots=True)
class _Answering:
    """Answers one request a connection."""

    render: Callable[[], str]
    hosts: frozenset[str]
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head.decode("latin-1")))
                await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever does not ask properly gets no answer
        finally:
            writer.close()

    def _answer(self, head: str) -> bytes:
        request, *lines = head.split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        if self.hosts and host.strip("[]").lower() not in self.hosts:  # a page that rebinds its name to loopback
            return _response("421 Misdirected Request", "not a name of this server\n")
        method, _, rest = request.partition(" ")
        if method not in ("GET", "HEAD"):
            return _response("405 Method Not Allowed", "only GET\n")
        if rest.partition(" ")[0].partition("?")[0] != "/metrics":
            return _response("404 Not Found", "look at /metrics\n")
        return _response("200 OK", self.render(), body=method == "GET")


def _response(status: str, text: str, *, body: bool = True) -> bytes:
    data = text.encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {len(data)}\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (data if body else b"")


@contextlib.asynccontextmanager
async def serve_metrics(host: str, port: int | None, render: Callable[[], str]) -> AsyncIterator[int | None]:
    """Serve `/metrics` while the block runs; gives the port (0 asks for any free one). None: does not serve."""
    if port is None:
        yield None
        return
    loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    answering = _Answering(render, frozenset({"localhost", host, "127.0.0.1", "::1"}) if loopback else frozenset())
    try:
        server = await asyncio.start_server(answering.handle, host, port, limit=MOST_REQUEST_BYTES)
    except OSError as error:
        raise PortTaken(f"metrics cannot be served on {host}:{port}: {error.strerror}; take another port") from error
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        await server.wait_closed()
