"""One request and its answer over aiohttp's connections, without its sessions.

A session makes a dozen objects for redirects, cookies, authentication, uploads and traces, none of which a crawl has;
that was half of what a fetch cost. Connections, their bounds, TLS and the parser of answers are aiohttp's still
(`connections.py`).
"""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple, Self, cast

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from aiohttp.http_writer import _serialize_headers
from yarl import URL

from periplus.errors import KeptConnectionEnded
from periplus.fetch.connections import LONGEST_HEADER, MOST_HEADERS, Connector, Handler
from periplus.urls import CanonicalUrl

__all__ = ["Reply", "Wire"]

ORIGINS = 4_096
"""As many origins are remembered in the form in which aiohttp wants to be asked for a connection."""


class Reply:
    """The head of an answer and the stream of its body; its connection is free again at the end of `async with`.

    One that was not read to its end is closed, as is one on which anything was odd.
    """

    __slots__ = ("asked", "connection", "content", "headers", "raw_headers", "status")

    def __init__(
        self,
        connection: Connection,
        message: RawResponseMessage,
        content: aiohttp.StreamReader,
        asked: tuple[tuple[str, str], ...],
    ) -> None:
        self.connection = connection
        self.asked = asked
        self.status: int = message.code
        self.headers: Mapping[str, str] = message.headers
        self.raw_headers: tuple[tuple[bytes, bytes], ...] = message.raw_headers
        self.content = content

    def close(self) -> None:
        """The rest is not wanted, so the connection is of no further use."""
        self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.connection.release()  # aiohttp closes it if there is anything left to read, or it is to be closed
        else:
            self.connection.close()


class _Origin(NamedTuple):
    """What every request to an origin has in common."""

    connection_for: aiohttp.ClientRequest  # what aiohttp makes a connection for; nothing else of it is used
    asked: tuple[tuple[str, str], ...]
    lines: bytes  # these headers as they are sent, and the empty line behind them


class Wire:
    """Sends requests without a body on connections that are kept, made or waited for by a connector.

    `headers` go with every request.
    """

    def __init__(self, connector: Connector, timeout: aiohttp.ClientTimeout, headers: Mapping[str, str]) -> None:
        self._connector = connector
        self._timeout = timeout
        self._headers = headers
        self._loop = asyncio.get_running_loop()
        self._origins: dict[str, _Origin] = {}

    async def ask(self, method: str, url: CanonicalUrl, headers: Mapping[str, str]) -> Reply:
        """Send a request, with further headers, and read the head of its answer.

        Raises KeptConnectionEnded, and else as aiohttp does.
        """
        origin = self._origin(url)
        path = f"{url.path}?{url.query}" if url.query else url.path
        asked = origin.asked
        if headers or not (path.isascii() and path.isprintable()):
            asked = tuple((dict(asked) | dict(headers)).items())
            request = _serialized(f"{method} {path} HTTP/1.1", asked, url)
        else:
            request = f"{method} {path} HTTP/1.1\r\n".encode() + origin.lines
        connection = await self._connector.connect(origin.connection_for, traces=[], timeout=self._timeout)
        protocol = cast("Handler", connection.protocol)  # our connector makes no others
        try:
            protocol.set_response_params(
                skip_payload=method == "HEAD",
                read_until_eof=True,
                auto_decompress=False,
                read_timeout=None,
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
                max_headers=MOST_HEADERS,
            )
            transport = protocol.transport
            if transport is None or transport.is_closing():
                raise aiohttp.ClientConnectionResetError("the connection was closed before it was used")
            transport.write(request)
            message, content = await protocol.read()
        except BaseException as error:
            connection.close()
            if isinstance(error, aiohttp.ClientConnectionError | ConnectionError) and protocol.was_kept:
                raise KeptConnectionEnded(f"{url.href}: the server had closed the connection") from error
            raise
        return Reply(connection, message, content, asked)

    def _origin(self, url: CanonicalUrl) -> _Origin:
        name = url.origin
        known = self._origins.get(name)
        if known is None:
            if len(self._origins) >= ORIGINS:
                self._origins.clear()
            asked = (("Host", name.partition("//")[2]), *self._headers.items())
            request = aiohttp.ClientRequest("GET", URL(name, encoded=True), loop=self._loop)
            known = self._origins[name] = _Origin(request, asked, _serialized("", asked, url).removeprefix(b"\r\n"))
        return known


def _serialized(first_line: str, headers: tuple[tuple[str, str], ...], url: CanonicalUrl) -> bytes:
    try:
        return _serialize_headers(first_line, dict(headers))  # type: ignore[arg-type]  # any mapping does
    except ValueError as error:  # a line break in it
        raise aiohttp.InvalidURL(url.href) from error
