"""Round trips: how long the way to a host and back is, by a TCP connection, an HTTP HEAD, or an ICMP echo.

Where a probe may lead is settled by `Transport`, as for every request; what is connected to is the address that was
checked. A probe sends as little as there is: no data at all (TCP), one request without a body (HEAD), 16 bytes (ICMP).
"""

import asyncio
import os
import socket
import struct
from typing import Final

from periplus.clock import Clock
from periplus.errors import ConnectionFailed, TooSlow
from periplus.fetch.transport import Transport

__all__ = ["WAYS", "icmp_allowed", "round_trip_ms"]

WAYS: Final = ("tcp", "head", "icmp")
_ECHO: Final = {socket.AF_INET: (8, 0), socket.AF_INET6: (128, 129)}
"""Types of request and reply."""


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
    """Whether this process may send echoes: by net.ipv4.ping_group_range on Linux, or as root."""
    try:
        with _echo_socket(socket.AF_INET):
            return True
    except OSError:
        return False


async def _connect(address: str, port: int) -> None:
    with socket.socket(_family(address), socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))


async def _echo(address: str) -> None:
    """One echo and its reply, which has our own eight bytes in it."""
    family = _family(address)
    request, reply = _ECHO[family]
    loop, mark = asyncio.get_running_loop(), os.urandom(8)
    packet = struct.pack("!BBHHH", request, 0, 0, os.getpid() & 0xFFFF, 1) + mark
    with _echo_socket(family) as sock:
        sock.setblocking(False)
        with_header = sock.type == socket.SOCK_RAW and family == socket.AF_INET
        if with_header:  # the kernel sums up for ping sockets and for IPv6, not here
            packet = packet[:2] + _checksum(packet) + packet[4:]
        sock.connect((address, 0))  # says where to, sends nothing
        await loop.sock_sendall(sock, packet)
        while True:
            answer = await loop.sock_recv(sock, 256)
            answer = answer[(answer[0] & 15) * 4 :] if with_header and answer else answer
            if answer[:1] == bytes([reply]) and answer.endswith(mark):
                return


def _echo_socket(family: socket.AddressFamily) -> socket.socket:
    """A ping socket, or a raw one where only root may send echoes; OSError where nobody may."""
    protocol = socket.IPPROTO_ICMP if family == socket.AF_INET else socket.IPPROTO_ICMPV6
    try:
        return socket.socket(family, socket.SOCK_DGRAM, protocol)
    except OSError:
        return socket.socket(family, socket.SOCK_RAW, protocol)


def _checksum(packet: bytes) -> bytes:
    """The internet checksum (RFC 1071) of a packet of even length."""
    total = sum(struct.unpack(f"!{len(packet) // 2}H", packet))
    total = (total >> 16) + (total & 0xFFFF)
    return struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
