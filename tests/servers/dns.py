"""A scripted name server on loopback: every name has a list of answers that it gives one after the other.

Answers are addresses, or one of the words in `SPECIAL`. Everything that was asked is in `asked`.
"""

import asyncio
import contextlib
import ipaddress
import struct
from collections.abc import AsyncIterator
from typing import cast

__all__ = ["SPECIAL", "NameServer", "name_server"]

A, AAAA, CNAME = 1, 28, 5
NXDOMAIN, SERVFAIL = 3, 2
SPECIAL = ("nxdomain", "servfail", "silence", "cname-loop", "many", "garbage", "aaaa-only", "truncated")


class NameServer(asyncio.DatagramProtocol):
    """`script` maps a name to rounds of answers; the last round is given for ever."""

    def __init__(self, script: dict[str, list[list[str]]]) -> None:
        self.script = script
        self.asked: list[tuple[str, int]] = []
        self.port = 0
        self._rounds: dict[tuple[str, int], int] = {}
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It listens."""
        self._transport = cast("asyncio.DatagramTransport", transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a question by the script."""
        name, kind, question = _question(data)
        self.asked.append((name, kind))
        rounds = self.script.get(name, [["nxdomain"]])
        seen = self._rounds.get((name, kind), 0)
        self._rounds[name, kind] = seen + 1
        answer = self._answer(data[:2], name, kind, question, rounds[min(seen, len(rounds) - 1)])
        if answer and self._transport:
            self._transport.sendto(answer, addr)

    def _answer(self, number: bytes, name: str, kind: int, question: bytes, given: list[str]) -> bytes:
        word = given[0] if given else ""
        if word == "silence":
            return b""
        if word == "garbage":
            return number + b"\x81\x80" + b"\xff" * 40
        if word in ("nxdomain", "servfail"):
            code = NXDOMAIN if word == "nxdomain" else SERVFAIL
            return number + struct.pack(">HHHHH", 0x8180 | code, 1, 0, 0, 0) + question
        if word == "cname-loop":
            other = "b." + name if not name.startswith("b.") else name[2:]
            records = [_record(CNAME, _packed(other)), _record(CNAME, _packed(name), _packed(other))]
        else:
            addresses = [f"93.184.{n // 250}.{n % 250 + 1}" for n in range(1000)] if word == "many" else given
            records = [_address(address) for address in addresses if _kind(address) == kind]
        flags = 0x8380 if word == "truncated" else 0x8180
        body = b"".join(records)[:60_000]
        return number + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + question + body


def _question(data: bytes) -> tuple[str, int, bytes]:
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1"))
        at += 1 + data[at]
    (kind,) = struct.unpack(">H", data[at + 1 : at + 3])
    return ".".join(labels).lower(), kind, data[12 : at + 5]


def _packed(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def _kind(address: str) -> int:
    try:
        return A if ipaddress.ip_address(address).version == 4 else AAAA
    except ValueError:
        return 0


def _address(address: str) -> bytes:
    return _record(_kind(address), ipaddress.ip_address(address).packed)


def _record(kind: int, data: bytes, name: bytes = b"\xc0\x0c", seconds: int = 0) -> bytes:
    """A resource record; its time to live is nothing."""
    return name + struct.pack(">HHIH", kind, 1, seconds, len(data)) + data


@contextlib.asynccontextmanager
async def name_server(script: dict[str, list[list[str]]]) -> AsyncIterator[NameServer]:
    """Run it on a free port."""
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: NameServer(script), local_addr=("127.0.0.1", 0))
    try:
        yield server
    finally:
        transport.close()
