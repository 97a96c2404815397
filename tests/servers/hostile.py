"""A hostile web server in a process of its own: one behaviour a path; every byte and time that came is written down.

    python hostile.py LOG     prints its port, serves until it is killed

Raw bytes, because no framework would send what this one sends. What it does is named by the first part of the path
(`/bomb-gzip`, `/drip-head`); robots.txt is named by the first part of the host (`robots-500.x.test`). The log has a
JSON object a line: connections that opened and closed, and every request as it came.
"""

import asyncio
import contextlib
import gzip
import json
import os
import re
import sys
import time
import zlib
from collections.abc import Awaitable, Callable
from functools import cache

import brotli
import zstandard

__all__ = ["BEHAVIOURS", "BOMB_BYTES"]

BOMB_BYTES = 4 * 2**30
"""What a bomb would come to if it were let: on the wire it is four megabytes, which is still let in."""

Behaviour = Callable[["Visit"], Awaitable[None]]
BEHAVIOURS: dict[str, Behaviour] = {}
PAGE = b"<html><title>Fine</title><body><p>A fine page about Houston, Texas.</p></body></html>"
TINY = 0.02
"""Seconds between two bytes of whoever drips."""


class Visit:
    """One request and the connection that it came by."""

    def __init__(self, host: str, path: str, writer: asyncio.StreamWriter) -> None:
        self.host = host
        self.path = path
        self.writer = writer

    async def send(self, *pieces: bytes) -> None:
        """Send bytes as they are."""
        for piece in pieces:
            self.writer.write(piece)
        await self.writer.drain()

    async def page(self, body: bytes = PAGE, *headers: bytes, status: bytes = b"200 OK") -> None:
        """Send an orderly response."""
        await self.send(orderly(body, *headers, status=status))

    async def hold(self) -> None:
        """Say nothing more."""
        await asyncio.Event().wait()

    @property
    def number(self) -> int:
        """The number at the end of the path."""
        found = re.search(r"(\d+)$", self.path)
        return int(found[1]) if found else 0


def orderly(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """An orderly response."""
    kind = (
        () if any(header.lower().startswith(b"content-type") for header in headers) else (b"Content-Type: text/html",)
    )
    # Who closes says so: nothing is repeated by itself on a connection that ends.
    ending = () if any(header.lower().startswith(b"connection") for header in headers) else (b"Connection: close",)
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *kind, *ending, *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def behaviour(function: Behaviour) -> Behaviour:
    """Name a behaviour by its function: `drip_head` answers for /drip-head."""
    BEHAVIOURS[function.__name__.replace("_", "-")] = function
    return function


# -- Bombs ---------------------------------------------------------------------------------------------


@cache
def bomb(kind: str) -> bytes:
    """A body that grows to `BOMB_BYTES`: a block of nothing, packed once and repeated."""
    block, times = bytes(2**20), BOMB_BYTES // 2**20
    if kind == "br":
        packer = brotli.Compressor(quality=1)  # packs so well that a quarter of a gigabyte is a few hundred bytes
        return b"".join([packer.process(block) for _ in range(256)]) + bytes(packer.finish())
    if kind == "zstd":
        return zstandard.ZstdCompressor(level=1).compress(block) * times
    if kind == "members":
        return gzip.compress(block, 9) * times
    deflater = zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "deflate": 15}[kind])
    head = deflater.compress(b"") + deflater.flush(zlib.Z_FULL_FLUSH)
    return head + (deflater.compress(block) + deflater.flush(zlib.Z_FULL_FLUSH)) * times


def _bomb(name: str, encoding: bytes, kind: str) -> None:
    async def explode(visit: Visit) -> None:
        await visit.page(bomb(kind), b"Content-Encoding: " + encoding)

    BEHAVIOURS[f"bomb-{name}"] = explode


for _name, _encoding, _kind in (
    ("gzip", b"gzip", "gzip"),
    ("deflate", b"deflate", "deflate"),
    ("br", b"br", "br"),
    ("zstd", b"zstd", "zstd"),
    ("members", b"gzip", "members"),
):
    _bomb(_name, _encoding, _kind)


@behaviour
async def bomb_nested(visit: Visit) -> None:
    """A bomb in a bomb."""
    await visit.page(gzip.compress(bomb("gzip")), b"Content-Encoding: gzip, gzip")


@behaviour
async def bomb_thrice(visit: Visit) -> None:
    """Three layers are more than anybody needs."""
    await visit.page(gzip.compress(gzip.compress(bomb("gzip"))), b"Content-Encoding: gzip, gzip, gzip")


@behaviour
async def garbage_behind_gzip(visit: Visit) -> None:
    """What follows the end of a gzip member is ignored, as browsers do."""
    await visit.page(gzip.compress(PAGE) + b"garbage" * 1000, b"Content-Encoding: gzip")


# -- Lengths -------------------------------------------------------------------------------------------


@behaviour
async def length_huge(visit: Visit) -> None:
    """Ten terabytes are announced, and begun."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10995116277760\r\n\r\n")
    while not visit.writer.is_closing():
        await visit.send(b"<p>more</p>" * 6000)


@behaviour
async def length_short(visit: Visit) -> None:
    """More comes than was announced."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n" + PAGE)


@behaviour
async def length_long(visit: Visit) -> None:
    """Less comes than was announced."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n" + PAGE)


@behaviour
async def length_missing(visit: Visit) -> None:
    """The end of the connection is the end of the body."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE)


@behaviour
async def length_negative(visit: Visit) -> None:
    """A length below nothing."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + PAGE)


@behaviour
async def length_two(visit: Visit) -> None:
    """Two lengths that differ."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\n" + PAGE)


@behaviour
async def endless(visit: Visit) -> None:
    """A small valid page, and then chunks for ever."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    await visit.send(b"%x\r\n%b\r\n" % (len(PAGE), PAGE))
    while not visit.writer.is_closing():
        await visit.send(b"10000\r\n" + b" " * 65536 + b"\r\n")


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"


@behaviour
async def chunks_tiny(visit: Visit) -> None:
    """A body of one byte a chunk: six times as much on the wire, and a million small pieces."""
    await visit.send(CHUNKED)
    while not visit.writer.is_closing():
        await visit.send(b"1\r\nx\r\n" * 10_000)


@behaviour
async def extension_endless(visit: Visit) -> None:
    """A chunk whose extension never ends: no byte of it is body."""
    await visit.send(CHUNKED + b"1;a=")
    while not visit.writer.is_closing():
        await visit.send(b"a" * 65536)


@behaviour
async def trailers_endless(visit: Visit) -> None:
    """A body that has ended, and header lines behind it for ever."""
    await visit.send(CHUNKED + b"1\r\nx\r\n0\r\n")
    while not visit.writer.is_closing():
        await visit.send(b"X-A: b\r\n" * 1000)


# -- Time ----------------------------------------------------------------------------------------------


async def _drip(visit: Visit, piece: bytes) -> None:
    while not visit.writer.is_closing():
        await visit.send(piece)
        await asyncio.sleep(TINY)


@behaviour
async def drip_head(visit: Visit) -> None:
    """A header line that never ends, a byte at a time."""
    await visit.send(b"HTTP/1.1 200 OK\r\nX-A: ")
    await _drip(visit, b"a")


@behaviour
async def drip_body(visit: Visit) -> None:
    """A body, a byte at a time."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n")
    await _drip(visit, b"x")


@behaviour
async def silence(visit: Visit) -> None:
    """The request is taken, and nothing is said."""
    await visit.hold()


@behaviour
async def stall_in_chunk(visit: Visit) -> None:
    """A chunk is begun and not ended."""
    await visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\nabc")
    await visit.hold()


@behaviour
async def stall_in_body(visit: Visit) -> None:
    """Half a body."""
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n" + PAGE)
    await visit.hold()


@behaviour
async def hints_flood(visit: Visit) -> None:
    """Interim responses as fast as they can be sent."""
    while not visit.writer.is_closing():
        await visit.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)


# -- Headers and framing -------------------------------------------------------------------------------


@behaviour
async def headers_million(visit: Visit) -> None:
    """A million header lines."""
    await visit.send(b"HTTP/1.1 200 OK\r\n")
    for start in range(0, 10**6, 10_000):
        await visit.send(b"".join(b"X-%d: y\r\n" % number for number in range(start, start + 10_000)))
    await visit.send(b"Content-Length: 0\r\n\r\n")


@behaviour
async def header_long(visit: Visit) -> None:
    """A header line of ten megabytes."""
    await visit.send(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 10 * 2**20 + b"\r\nContent-Length: 0\r\n\r\n")


RAW = {
    "nul-in-header": b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n",
    "cr-in-header": b"HTTP/1.1 200 OK\r\nX-A: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n",
    "bare-lf": b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2\n\nok",
    "folded": b"HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 0\r\n\r\n",
    "length-and-chunked": b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    + orderly(b"smuggled"),
    "chunked-twice": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunk-size-bad": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    "chunk-size-negative": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n",
    "chunk-size-huge": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc",
    "chunk-extension": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"
    + b"a" * 2**20 + b"\r\nx\r\n0\r\n\r\n",
    "http-09": b"<html>hello from 1991</html>",
    "status-999": b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    "status-0": b"HTTP/1.1 0 Odd\r\nContent-Length: 0\r\n\r\n",
    "204-with-body": b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc",
    "304-unasked": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "empty-html": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n",
    "pdf-as-html": orderly(b"%PDF-1.7 \xe2\xe3\xcf\xd3"),
    "zip-as-html": orderly(b"PK\x03\x04\x14\0"),
    "film-as-html": orderly(b"\0\0\0\x18ftypmp42"),
    "not-http": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "nothing": b"",
    "cookie-bomb": orderly(PAGE, *(b"Set-Cookie: c%d=%b; Domain=test" % (n, b"v" * 60) for n in range(90))),
    "location-split": b"HTTP/1.1 302 Found\r\nLocation: /next%0d%0aX-Bad:1\x01 here\r\nContent-Length: 0\r\n\r\n",
    "location-raw": b"HTTP/1.1 302 Found\r\nLocation: /a b\tc\r\nContent-Length: 0\r\n\r\n",
    "to-private": b"HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n",
    "to-loopback": b"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.9/\r\nContent-Length: 0\r\n\r\n",
    "to-metadata": b"HTTP/1.1 308 Go\r\nLocation: http://169.254.169.254/latest/\r\nContent-Length: 0\r\n\r\n",
    "to-file": b"HTTP/1.1 301 Go\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
    "to-port": b"HTTP/1.1 303 Go\r\nLocation: http://ports.x.test:6379/\r\nContent-Length: 0\r\n\r\n",
    "to-itself": b"HTTP/1.1 302 Found\r\nLocation: /to-itself\r\nContent-Length: 0\r\n\r\n",
    "to-a": b"HTTP/1.1 302 Found\r\nLocation: /to-b\r\nContent-Length: 0\r\n\r\n",
    "to-b": b"HTTP/1.1 302 Found\r\nLocation: /to-a\r\nContent-Length: 0\r\n\r\n",
    # A meta tag and a header at once.
    "refresh-private": orderly(b'<meta http-equiv="refresh" content="0; url=http://10.0.0.7/">', b"Refresh: 0; url=http://10.0.0.8/"),
}  # fmt: skip


def _raw(name: str, answer: bytes) -> None:
    whole = b"\r\nContent-Length: 0\r\n\r\n"
    if answer.endswith(whole):  # as in `orderly`: who closes says so
        answer = answer.removesuffix(whole) + b"\r\nConnection: close" + whole

    async def reply(visit: Visit) -> None:
        await visit.send(answer)

    BEHAVIOURS[name] = reply


for _name, _answer in RAW.items():
    _raw(_name, _answer)


@behaviour
async def chain(visit: Visit) -> None:
    """`/chain/5` redirects five times and is then a page."""
    location = b"Location: /chain/%d" % (visit.number - 1)
    await (visit.page(b"", location, status=b"302 Found") if visit.number else visit.page())


@behaviour
async def growing(visit: Visit) -> None:
    """Redirects to itself with a query that grows."""
    query = visit.path.partition("?")[2]
    await visit.page(b"", b"Location: /growing?a=b&" + query.encode(), status=b"302 Found")


@behaviour
async def poison(visit: Visit) -> None:
    """The answer, and behind it another that nobody asked for, on a connection that stays open."""
    await visit.send(
        orderly(visit.path.encode(), b"Connection: keep-alive"), orderly(b"poison", b"Connection: keep-alive")
    )
    await asyncio.sleep(0.002)


@behaviour
async def nested(visit: Visit) -> None:
    """A hundred thousand levels."""
    await visit.page(b"<div>" * 100_000 + b"deep inside")


@behaviour
async def many_links(visit: Visit) -> None:
    """Two hundred thousand links, which is what fits into a page."""
    await visit.page(b"".join(b'<a href="/p/%d">x</a>' % number for number in range(200_000)))


@behaviour
async def busy(visit: Visit) -> None:
    """Too many requests, always."""
    await visit.page(b"", status=b"429 Too Many Requests")


@behaviour
async def fine(visit: Visit) -> None:
    """A page like any other, which links to four more."""
    links = b"".join(b'<a href="/fine/%d">more</a>' % (visit.number * 4 + n) for n in range(1, 5) if visit.number < 5)
    await visit.page(PAGE + links)


# -- robots.txt, by host ---------------------------------------------------------------------------------


@cache
def odd_robots() -> dict[str, bytes]:
    """Files of which nobody says what they are: gzip whole, torn, packed twice, or growing without end; a picture."""
    packed = gzip.compress(b"User-agent: *\nDisallow: /closed\n")
    picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01"
    torn, twice, grows = packed[:25], gzip.compress(packed), bomb("gzip")
    return {"packed": packed, "packed-torn": torn, "packed-twice": twice, "packed-bomb": grows, "picture": picture}


async def robots(visit: Visit) -> None:
    """What `robots-KIND.*` answers for /robots.txt; other hosts have none."""
    named, _, kind = visit.host.partition(".")[0].partition("robots-")
    if named:
        await visit.page(b"", status=b"404 Not Found")
    elif kind.isdecimal():
        await visit.page(b"", status=kind.encode() + b" Odd")
    elif kind == "torn":  # it breaks off before the rule that forbids
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\nAllow: /x\n")
    elif kind == "html":
        await visit.page(b"<!doctype html><html><title>Not found</title><body>Disallow: /</body></html>")
    elif kind in odd_robots():
        await visit.page(odd_robots()[kind], b"Content-Type: text/plain")
    elif kind in ("loop", "private"):
        target = b"http://10.0.0.1/robots.txt" if kind == "private" else b"/robots.txt"
        await visit.page(b"", b"Location: " + target, status=b"301 Moved")
    elif kind == "big":
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 104857600\r\n\r\n")
        await visit.send(b"User-agent: *\nDisallow: /closed\n")
        while not visit.writer.is_closing():
            await visit.send(b"Disallow: /a*b\n" * 4000)
    elif kind in BEHAVIOURS:
        await BEHAVIOURS[kind](visit)
    else:
        await visit.page(b"", status=b"404 Not Found")


# -- The server ------------------------------------------------------------------------------------------


class Log:
    """A JSON object a line, written at once."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, connection: int, event: str, **facts: object) -> None:
        line = {"time": time.monotonic(), "connection": connection, "event": event, **facts}
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")


async def main(path: str) -> None:
    """Serve on a free port of every loopback address until the process is killed."""
    log = Log(path)
    count = iter(range(10**9))
    kept: set[object] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = next(count)
        kept.add(asyncio.current_task())  # the loop itself holds tasks weakly: one that waits for ever would vanish
        log.write(connection, "open", to=writer.get_extra_info("sockname")[0])
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                text = head.decode("latin-1")
                target = text.split(" ")[1]
                host = next(iter(re.findall(r"^host: *([^\r]*)", text, re.IGNORECASE | re.MULTILINE)), "")
                log.write(connection, "request", host=host, path=target, bytes=text)
                name = target.strip("/").partition("/")[0].partition("?")[0]
                serve = robots if target == "/robots.txt" else BEHAVIOURS.get(name, fine)
                await serve(Visit(host, target, writer))
                await writer.drain()
                log.write(connection, "answered", host=host, path=target)
                if name != "poison":
                    break
        log.write(connection, "close")
        writer.close()
        kept.discard(asyncio.current_task())

    server = await asyncio.start_server(handle, "0.0.0.0", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
