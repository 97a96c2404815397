"""Bounds of responses, and three that aiohttp's connections lack: interim responses, framing, connections kept.

And lines of heads that are no headers, which all browsers pass over and aiohttp's parser refuses an answer for.

A server may send interim responses (1xx) without end; aiohttp reads them one by one until the deadline, which is half a
minute of a whole core. What frames a body is not counted with it: the extension of a chunk may go on for ever, and a
body of one byte a chunk costs its bound many times over. And a polite crawl of thousands of hosts keeps a connection
to each that it asked in the last seconds: more than a process may have open by default (1,024 on many systems).
"""

import functools
import re
from collections import OrderedDict
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpProcessingError

__all__ = ["Connector", "Handler", "Unreadable"]

MOST_HEADERS = 128
LONGEST_HEADER = 32 * 1024
"""Bytes of one line of a head; some sites list all that a page may load in one. Heads as a whole are framing."""
MOST_INTERIM = 16
MOST_FRAMING = 256 * 1024
"""Bytes of a response that are not its body: so many, and as many again as its body has."""
MOST_KEPT = 512
"""Connections that are kept for a next request; the one that has waited longest is closed first."""
SWITCHING = 101

NAME = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
NO_HEADER = re.compile(rb"\n(?!" + NAME + rb":|[ \t])")
HEADER = re.compile(rb"(" + NAME + rb")[ \t]*(:.*)", re.DOTALL)
LENGTH = re.compile(rb"\ncontent-length:[ \t]*([^\r\n]*+)", re.IGNORECASE)


class Unreadable(aiohttp.ClientError):
    """A body that breaks off because we refuse to read on."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def mended(data: bytes) -> bytes:
    """The beginning of an answer with a head that can be read: without lines that are no headers (`X-Frame-Options=1`).

    Blanks before a colon go, and a length that is said twice is said once. Lengths that differ stay and are refused.
    """
    end = data.find(b"\r\n\r\n")
    lengths = LENGTH.findall(data, 0, end) if end > 0 else ()
    if end < 0 or (
        NO_HEADER.search(data, 0, end) is None and len(lengths) < 2 and not (lengths and b"," in lengths[0])
    ):
        return data
    first, *lines = data[:end].split(b"\r\n")
    kept, length = [first], b""
    for line in lines:
        header = HEADER.fullmatch(line)
        if header is not None and header[1].lower() == b"content-length":
            said = {value.strip() for value in header[2][1:].split(b",")}
            if said == {length}:
                continue
            length = said.pop() if len(said) == 1 else header[2]
            kept.append(b"Content-Length: " + length)
        elif header is not None:
            kept.append(header[1] + header[2])
        elif line[:1] in (b" ", b"\t"):
            kept.append(line)  # goes on with the header above
    return b"\r\n".join(kept) + data[end:]


class Handler(ResponseHandler):
    """Reads responses from one connection."""

    _interim = 0
    _received = 0
    _requests = 0

    @property
    def was_kept(self) -> bool:
        """Whether the request is not the connection's first, and nothing of its answer has come."""
        return self._requests > 1 and not self._received

    def set_response_params(self, **options: Any) -> None:
        """A request begins."""
        self._received = 0
        self._requests += 1
        super().set_response_params(**options)

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if not self._received:
            data = mended(data)
        self._received += len(data)
        super().data_received(data)
        body = self._payload.total_bytes if self._payload is not None else 0
        if self._received - body > MOST_FRAMING + body:
            self._refuse("more framing than content")

    def _refuse(self, why: str) -> None:
        if self.transport is not None:
            self.transport.close()
        self.set_exception(HttpProcessingError(message=why))
        if self._payload is not None:
            self._payload.set_exception(Unreadable(why))

    def feed_data(self, data: Any, size: int = 0) -> None:
        """A response has come: (head, body)."""
        code = data[0].code
        if code > 199 or code < 100 or code == SWITCHING:
            self._interim = 0
            super().feed_data(data, size)
            return
        self._interim += 1
        if self._interim > MOST_INTERIM:
            self._refuse(f"more than {MOST_INTERIM} interim responses")


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector with these bounds. Takes the same arguments."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        handler: type[ResponseHandler] = Handler
        self._factory = functools.partial(handler, loop=self._loop)
        self._kept: OrderedDict[Any, None] = OrderedDict()  # where a connection was kept, the latest last

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        self._kept[key] = None
        self._kept.move_to_end(key)
        if len(self._kept) > MOST_KEPT:
            oldest, _ = self._kept.popitem(last=False)
            for waiting, _ in self._conns.pop(oldest, ()):
                waiting.close()
