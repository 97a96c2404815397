"""The one way out: every request of the process, for pages, robots.txt and anything else, is `Transport.get`.

Redirects, cookies, proxies and decompression of the library are off; limits and checks are ours. A deadline
stands around everything, because library timeouts are only hints.
"""

import asyncio
import os
import re
import socket
import ssl
import struct
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self

import aiohttp
from aiohttp.abc import ResolveResult
from aiohttp.http import HttpProcessingError
from yarl import URL

from periplus.clock import Clock, TimeLimit
from periplus.errors import (
    AddressBusy,
    BadContent,
    Blocked,
    ConnectionFailed,
    DnsError,
    FetchError,
    TlsError,
    TooLarge,
    TooSlow,
)
from periplus.fetch.addresses import AddressGuard, literal_address
from periplus.fetch.connections import LONGEST_HEADER, MOST_HEADERS, Connector, Unreadable
from periplus.fetch.decode import ACCEPT_ENCODING, decode_part
from periplus.fetch.resolver import BlockedName, NotYet, Resolver
from periplus.fetch.wire import Reply, Wire
from periplus.model import Fetched
from periplus.settings import FetchSettings
from periplus.urls import CanonicalUrl, canonicalize

__all__ = ["Transport", "kernel_round_trip_ms", "user_agent"]

USERINFO = re.compile(r"//[^/?#]*@")
"""User and password of what is no URL that we know, which no message repeats."""

POST_ANSWER_BYTES = 64 * 1024
"""As much of the answer to a POST is read; nobody looks at it but for its status."""

MOST_ROUND_TRIPS = 10_000
TCP_INFO_RTT = slice(68, 72)
"""Of the kernel's `struct tcp_info`: the smoothed round trip in microseconds."""
ACCEPT = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"


def user_agent(version: str, contact: str) -> str:
    """How the crawler names itself: product, version, and whom to ask."""
    return f"Periplus/{version} (+{contact})" if contact else f"Periplus/{version}"


class Transport:
    """Sends one request and reads a bounded answer. Use as an async context manager."""

    def __init__(
        self,
        settings: FetchSettings,
        resolver: Resolver,
        guard: AddressGuard,
        clock: Clock,
        *,
        agent: str,
        connections: int = 64,
        watch: bool = False,
    ) -> None:
        self._settings = settings
        self._resolver = resolver
        self._guard = guard
        self._clock = clock
        self._limit = TimeLimit(settings.total_seconds)
        self._connections = connections
        self._headers = {"User-Agent": agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPT_ENCODING}
        self._session: aiohttp.ClientSession | None = None
        self._wire: Wire | None = None
        self._watch = watch
        self.round_trips: OrderedDict[str, float] = OrderedDict()
        """Round trips in ms by host, of the latest fetch of each, where they are watched."""

    async def __aenter__(self) -> Self:
        verify: ssl.SSLContext | bool = ssl.create_default_context() if self._settings.tls_verify else False
        connector = Connector(
            resolver=self._resolver,
            use_dns_cache=False,  # the resolver decides, for each new connection
            limit=2 * self._connections,
            keepalive_timeout=15,
            ssl=verify,
        )
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._settings.connect_seconds)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=timeout,
            headers=self._headers,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
            max_headers=MOST_HEADERS,
        )
        self._wire = Wire(connector, timeout, self._headers)
        # aiohttp asks again by itself, at once, when a kept connection ends without an answer: that is not its turn.
        self._session._retry_connection = False
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
        await self._resolver.close()

    async def head(self, url: str) -> float:
        """Seconds until a HEAD of a canonical URL is answered, whatever the answer is. Raises a FetchError."""
        target = self._checked(url)
        if self._session is None:
            raise RuntimeError("Transport is used outside `async with`")
        started = self._clock.monotonic()
        try:
            async with (
                asyncio.timeout(self._settings.total_seconds),
                self._session.head(URL(target.href, encoded=True), allow_redirects=False),
            ):
                return self._clock.monotonic() - started
        except TimeoutError as error:
            raise TooSlow(f"{target.href}: no answer in {self._settings.total_seconds} s") from error
        except aiohttp.ClientError as error:
            raise _translated(target.href, error) from error

    async def checked_address(self, url: str) -> tuple[str, int]:
        """Address and port of a connection for the URL, checked like every one. Raises a FetchError."""
        target = self._checked(url)
        if literal_address(target.host) is None:
            found = (await self._resolved(target))[0]
            return found["host"], found["port"]
        return target.host.strip("[]"), target.port

    async def get(
        self, url: str, *, wire_bytes: int | None = None, cut: bool = False, headers: Mapping[str, str] | None = None
    ) -> Fetched:
        """GET a canonical URL, not following redirects; `headers` are sent beside our own.

        Raises a FetchError. With `cut`, a body longer than `wire_bytes`, as it comes or after decoding, is cut off
        there and marked truncated instead of refused.
        """
        limit = wire_bytes or self._settings.wire_bytes
        return await self._ask("GET", url, headers or {}, limit=limit, cut=cut)

    async def post(self, url: str, body: bytes, *, content_type: str) -> Fetched:
        """POST a body to a canonical URL, under the same guard and limits; redirects are not followed."""
        headers = {"Content-Type": content_type}
        return await self._ask("POST", url, headers, limit=POST_ANSWER_BYTES, cut=True, body=body)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], *, limit: int, cut: bool, body: bytes | None = None
    ) -> Fetched:
        target = self._checked(url)
        if self._session is None or self._wire is None:
            raise RuntimeError("Transport is used outside `async with`")
        started = self._clock.monotonic()
        proxy = self._settings.proxy or None
        request: AbstractAsyncContextManager[Reply | aiohttp.ClientResponse]
        try:
            with self._limit.begun():
                if proxy:
                    await self._check_behind_proxy(target)
                if proxy or body is not None:
                    # encoded=True: the server sees exactly the URL that the frontier holds.
                    address = URL(target.href, encoded=True)
                    request = self._session.request(
                        method, address, allow_redirects=False, headers=headers, proxy=proxy, data=body
                    )
                else:
                    request = await self._wire.ask(method, target, headers)
                return await self._answer(request, target, started, limit, cut)
        except TimeoutError as error:  # also aiohttp's own timeouts
            raise TooSlow(f"{target.href}: no complete answer in {self._settings.total_seconds} s") from error
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            raise _translated(target.href, error) from error

    async def converse(self, server: str, port: int, said: bytes, most_bytes: int) -> bytes:
        """Say something to a server and listen until it hangs up, under the same guard. Raises a FetchError.

        For protocols of one question and one answer, such as WHOIS; more than `most_bytes` is cut off.
        """
        try:
            async with asyncio.timeout(self._settings.total_seconds):
                found = (await self._resolver.resolve(server, port))[0]
                reader, writer = await asyncio.open_connection(found["host"], found["port"])
                try:
                    writer.write(said)
                    answer = bytearray()
                    while len(answer) < most_bytes and (piece := await reader.read(most_bytes - len(answer))):
                        answer += piece
                    return bytes(answer)
                finally:
                    writer.close()
        except TimeoutError as error:
            raise TooSlow(f"{server}: no complete answer in {self._settings.total_seconds} s") from error
        except BlockedName as error:
            raise Blocked(str(error)) from error
        except OSError as error:
            raise ConnectionFailed(f"{server}: {error.strerror or error}") from error

    async def _answer(
        self,
        request: AbstractAsyncContextManager[Reply | aiohttp.ClientResponse],
        target: CanonicalUrl,
        started: float,
        wire_bytes: int,
        cut: bool,
    ) -> Fetched:
        url = target.href
        async with request as response:
            address = _peer(response) or self._known_address(target.host)
            if self._watch:
                self._note_round_trip(target.host, response)
            body, truncated = await _read(response, url, wire_bytes, cut)
            if response.headers.get("Content-Encoding"):
                most = wire_bytes if cut else self._settings.body_bytes
                body, whole = decode_part(body, _encodings(response), most, cut=cut)
                truncated = truncated or not whole
            return Fetched(
                url=url,
                status=response.status,
                headers=tuple(
                    (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers
                ),
                body=body,
                content_type=response.headers.get("Content-Type", ""),
                fetched_at=self._clock.now(),
                seconds=self._clock.monotonic() - started,
                address=address,
                truncated=truncated,
                request_headers=_asked(response),
            )

    def _checked(self, url: str) -> CanonicalUrl:
        """The URL if it may be asked for. Literal addresses never reach the resolver, so they are checked here."""
        target = canonicalize(url)
        if target is None:
            raise Blocked(f"{USERINFO.sub('//', url)}: not an http(s) URL")
        if target.port not in self._settings.ports:
            raise Blocked(f"{target.href}: port {target.port} is not in fetch.ports")
        address = literal_address(target.host)
        if address is None:
            return target
        self._guard.check(address)
        try:
            self._resolver.take_turn(target.host, address)
        except NotYet as busy:
            raise AddressBusy(str(busy), busy.seconds) from None
        return target

    async def _check_behind_proxy(self, target: CanonicalUrl) -> None:
        """The proxy makes the connection, so all that can be checked is where the name leads when we ask."""
        await self._resolved(target)

    async def _resolved(self, target: CanonicalUrl) -> list[ResolveResult]:
        try:
            return await self._resolver.resolve(target.host, target.port)
        except BlockedName as error:
            raise Blocked(str(error)) from error
        except NotYet as busy:
            raise AddressBusy(str(busy), busy.seconds) from None
        except OSError as error:
            raise DnsError(error.strerror or str(error)) from error

    def _note_round_trip(self, host: str, response: Reply | aiohttp.ClientResponse) -> None:
        """Only of answers that are still coming: those that are there at once have freed their connection."""
        sock = _extra(response, "socket")
        ms = kernel_round_trip_ms(sock) if sock is not None else None
        if ms is not None:
            self.round_trips[host] = ms
            while len(self.round_trips) > MOST_ROUND_TRIPS:
                self.round_trips.popitem(last=False)

    def _known_address(self, host: str) -> str:
        fixed = self._resolver.table_address(host)
        return fixed[0] if fixed else ""


def _peer(response: Reply | aiohttp.ClientResponse) -> str:
    """The address at the other end; empty once a short answer has freed its connection."""
    peer = _extra(response, "peername")
    return peer[0] if peer else ""


def _encodings(response: Reply | aiohttp.ClientResponse) -> str:
    """The Content-Encoding, which may be spread over several headers."""
    said = (value.decode("latin-1") for name, value in response.raw_headers if name.lower() == b"content-encoding")
    return ",".join(said)


def _asked(response: Reply | aiohttp.ClientResponse) -> tuple[tuple[str, str], ...]:
    """The headers that were sent."""
    if isinstance(response, Reply):
        return response.asked
    return tuple((str(name), value) for name, value in response.request_info.headers.items())


def _extra(response: Reply | aiohttp.ClientResponse, name: str) -> Any:
    transport = response.connection.transport if response.connection else None
    return transport.get_extra_info(name) if transport else None


def kernel_round_trip_ms(sock: socket.socket) -> float | None:
    """The round trip that the kernel has seen on a TCP connection; None where it does not say.

    What a fetch teaches about the way to its host: it costs nothing, and the server's own time is not in it.
    """
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return None
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, option, 104)
    except OSError:
        return None
    microseconds: int = struct.unpack("=I", info[TCP_INFO_RTT])[0] if len(info) >= TCP_INFO_RTT.stop else 0
    return microseconds / 1000.0 if microseconds else None


async def _read(response: Reply | aiohttp.ClientResponse, url: str, limit: int, cut: bool) -> tuple[bytes, bool]:
    """The body as it is on the wire, up to the limit."""
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := await response.content.readany():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                response.close()  # the rest is not wanted, so the connection is of no further use
                if cut:
                    return b"".join(pieces)[:limit], True
                raise TooLarge(f"{url}: more than {limit} bytes")
    except aiohttp.ClientPayloadError:
        if not pieces:
            raise
        return b"".join(pieces), True  # cut short by the server: what came is kept and marked
    return b"".join(pieces), False


def _tls_reason(error: BaseException) -> str:
    """What OpenSSL says is wrong with a certificate or a handshake, without the names of its functions and files."""
    causes = (getattr(error, "certificate_error", None), getattr(error, "os_error", None), error.__cause__)
    cause = next((one for one in causes if isinstance(one, ssl.SSLError | ssl.CertificateError)), error)
    reason = (getattr(cause, "reason", "") or "").lower().replace("_", " ")
    return getattr(cause, "verify_message", "") or reason or str(cause)


def _translated(url: str, error: aiohttp.ClientError | HttpProcessingError | OSError) -> FetchError:
    """aiohttp's errors in the words of our tree."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        cause = error.os_error
        if isinstance(cause, NotYet):
            return AddressBusy(str(cause), cause.seconds)
        return Blocked(str(cause)) if isinstance(cause, BlockedName) else DnsError(cause.strerror or str(cause))
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError) or isinstance(
        error.__cause__,
        ssl.SSLError,  # with TLS 1.3 a server may refuse us after the handshake
    ):
        return TlsError(f"{url}: TLS failed: {_tls_reason(error)}")
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError | Unreadable):
        return BadContent(f"{url}: not HTTP that can be read: {_complaint(error.message)}")
    if isinstance(error, aiohttp.InvalidURL):
        return Blocked(f"{url}: not a URL that can be sent")
    errno = getattr(getattr(error, "os_error", error), "errno", None)
    return ConnectionFailed(f"{url}: {os.strerror(errno) if errno else str(error) or type(error).__name__}")


_QUOTED = re.compile(r"(?:^|[\s:=(])b?['\"]")


def _complaint(message: str) -> str:
    """What the parser says, without what it quotes of the answer: a header may hold somebody's secret."""
    return _QUOTED.split(" ".join(message.split()), maxsplit=1)[0].rstrip(" :")[:200]
