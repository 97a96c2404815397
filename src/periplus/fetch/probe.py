"""Round trips: how long the way to a host and back is, by a TCP connection, an HTTP HEAD, or an ICMP echo.

Where a probe may lead is settled by `Transport`, as for every request; what is connected to is the address that was
checked. A probe sends as little as there is: no data at all (TCP), one request without a body (HEAD), 16 bytes (ICMP).
"""

import asyncio
import contextlib
import os
import socket
import struct
from typing import Final

from periplus.clock import Clock
from periplus.errors import ConnectionFailed, TooSlow
from periplus.fetch.transport import Transport

__all__ = ["WAYS", "icmp_allowed", "kernel_round_trip_ms", "round_trip_ms"]

WAYS: Final = ("tcp", "head", "icmp")
_ECHO: Final = {socket.AF_INET: (8, 0), socket.AF_INET6: (128, 129)}
"""Types of request and reply; the kernel does the checksums of both kinds of ping sockets."""
_TCP_INFO_RTT: Final = slice(68, 72)
"""Of the kernel's `struct tcp_info`: the smoothed round trip in microseconds."""


async def round_trip_ms(transport: Transport, url: str, way: str, seconds: float, clock: Clock) -> float:
    """Milliseconds to the URL's host and back, measured once within the deadline. Raises a FetchError."""
    try:
        async with asyncio.timeout(seconds):
            if way == "head":
                return 1000.0 * await transport.head(url)
            address, port = await transport.checked_address(url)
            started = clock.monotonic()
            if way == "icmp":
                await _echo(address)
            else:
                await _connect(address, port)
            return 1000.0 * (clock.monotonic() - started)
    except TimeoutError:
        raise TooSlow(f"{url}: no answer to a {way} probe in {seconds:g} s") from None
    except OSError as error:
        raise ConnectionFailed(f"{url}: {way} probe: {error.strerror or error}") from None


def icmp_allowed() -> bool:
    """Whether this process may send echoes without being root (net.ipv4.ping_group_range on Linux)."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP):
            return True
    except OSError:
        return False


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
    microseconds: int = struct.unpack("=I", info[_TCP_INFO_RTT])[0] if len(info) >= _TCP_INFO_RTT.stop else 0
    return microseconds / 1000.0 if microseconds else None


async def _connect(address: str, port: int) -> None:
    with socket.socket(_family(address), socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))


async def _echo(address: str) -> None:
    """One echo and its reply. The kernel gives a ping socket its own number and only its own replies."""
    family = _family(address)
    request, reply = _ECHO[family]
    protocol = socket.IPPROTO_ICMP if family == socket.AF_INET else socket.IPPROTO_ICMPV6
    loop, mark = asyncio.get_running_loop(), os.urandom(8)
    with contextlib.closing(socket.socket(family, socket.SOCK_DGRAM, protocol)) as sock:
        sock.setblocking(False)
        await loop.sock_connect(sock, (address, 0))
        await loop.sock_sendall(sock, struct.pack("!BBHHH", request, 0, 0, 0, 1) + mark)
        while True:
            answer = await loop.sock_recv(sock, 256)
            if answer[:1] == bytes([reply]) and answer.endswith(mark):
                return


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
