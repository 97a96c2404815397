"""The WARC archive of a node: WARC 1.1, one gzip member a record, so that a crash costs at most the last one.

Records are made by a pure function (in a worker, `warc_record`); `Archive` only appends finished bytes. It is told
where the last committed record ends and cuts off what lies behind it, so file and database always agree.
"""

import hashlib
import os
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path

from isal import igzip_lib

from periplus.clock import Clock
from periplus.errors import Corrupt
from periplus.model import Fetched
from periplus.store.database import storage_errors
from periplus.urls import canonicalize

__all__ = ["Archive", "Seen", "page_records", "payload_digest", "revisit_record", "warc_date", "warc_record"]

LEVEL = 2  # isal: 231 MB/s at nearly the size of zlib's level 1
SKIPPED_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})
"""The body is archived decoded, so these would lie."""
GZIP = 31  # zlib's window bits for gzip members
GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
URL_NAMESPACE = uuid.NAMESPACE_URL.bytes
BASE32_PAIRS = [
    one + other for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
]


@dataclass(frozen=True, slots=True)
class Seen:
    """The archived response that a revisit record refers to."""

    url: str
    date: str  # as WARC writes it
    payload_digest: str = ""


def warc_record(fetched: Fetched, payload: str = "") -> bytes:
    """A response record for a fetched page, as one gzip member. The record's id follows from its content.

    `payload` is the digest of its body, for whoever has it already.
    """
    return _response(fetched, _Named(fetched), payload)


def page_records(fetched: Fetched, facts: Mapping[str, str], payload: str = "") -> tuple[bytes, ...]:
    """Everything that is archived about a kept page: response first, then request and metadata, a gzip member each.

    `facts` become the fields of the metadata record, beside how long the fetch took.
    """
    named = _Named(fetched)
    return (_response(fetched, named, payload), _request(fetched, named), _metadata(fetched, named, facts))


def revisit_record(fetched: Fetched, seen: Seen) -> bytes:
    """A page that was fetched again and has not changed: what came, without the body that is archived already.

    Profiles of WARC 1.1: `server-not-modified` for a 304, else `identical-payload-digest`.
    """
    kind = "server-not-modified" if fetched.status == HTTPStatus.NOT_MODIFIED else "identical-payload-digest"
    digest = f"WARC-Payload-Digest: {seen.payload_digest}\r\n" if seen.payload_digest else ""
    fields = (
        f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{kind}\r\n"
        f"WARC-Refers-To-Target-URI: {seen.url}\r\n"
        f"WARC-Refers-To-Date: {seen.date}\r\n"
        f"{digest}WARC-Truncated: length\r\nContent-Type: application/http; msgtype=response"
    )
    return _member("revisit", fetched, _Named(fetched), fields, _http_head(fetched, None))


def timing_record(fetched: Fetched) -> bytes:
    """How long a response took to come, for archives that are to be replayed."""
    return _metadata(fetched, _Named(fetched), {})


class _Named:
    """What all records about one response name: its time, and the response's own record."""

    __slots__ = ("date", "response", "url")

    def __init__(self, fetched: Fetched) -> None:
        self.date = warc_date(fetched.fetched_at)
        self.url = fetched.url
        self.response = _urn(f"{self.date} {self.url}")

    def id_of(self, kind: str) -> str:
        """The id of a record of that kind."""
        return self.response if kind == "response" else _urn(f"{kind} {self.date} {self.url}")


def _response(fetched: Fetched, named: _Named, payload: str) -> bytes:
    cut = "WARC-Truncated: length\r\n" if fetched.truncated else ""
    fields = (
        f"WARC-Payload-Digest: {payload or payload_digest(fetched.body)}\r\n"
        f"{cut}Content-Type: application/http; msgtype=response"
    )
    return _member("response", fetched, named, fields, _http_head(fetched, len(fetched.body)), fetched.body)


def _request(fetched: Fetched, named: _Named) -> bytes:
    """What was asked, as far as the page knows: the request line and the headers that were sent."""
    target = canonicalize(fetched.url)
    path = fetched.url if target is None else fetched.url.removeprefix(target.origin) or "/"
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {_one_line(value)}" for name, value in fetched.request_headers)]
    block = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
    fields = f"WARC-Concurrent-To: {named.response}\r\nContent-Type: application/http; msgtype=request"
    return _member("request", fetched, named, fields, block)


def _metadata(fetched: Fetched, named: _Named, facts: Mapping[str, str]) -> bytes:
    fields = {"fetchTimeMs": str(round(fetched.seconds * 1_000)), **facts}
    block = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in fields.items() if value).encode()
    links = f"WARC-Concurrent-To: {named.response}\r\nContent-Type: application/warc-fields"
    return _member("metadata", fetched, named, links, block)


def _member(kind: str, fetched: Fetched, named: _Named, fields: str, *block: bytes) -> bytes:
    """One record about a response as one gzip member; the block may come in pieces, so that a body is copied once."""
    address = f"WARC-IP-Address: {fetched.address}\r\n" if fetched.address and kind != "metadata" else ""
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {named.id_of(kind)}\r\nWARC-Date: {named.date}\r\n"
        f"WARC-Target-URI: {fetched.url}\r\n{address}WARC-Block-Digest: {_digest(*block)}\r\n"
        f"{fields}\r\nContent-Length: {sum(map(len, block))}\r\n\r\n"
    )
    return _gzipped(head.encode("utf-8", "replace"), *block, b"\r\n\r\n")


def _gzipped(*pieces: bytes) -> bytes:
    """One gzip member, without a time: the same response is the same record."""
    return GZIP_HEAD + igzip_lib.compress(b"".join(pieces), LEVEL, flag=igzip_lib.COMP_GZIP_NO_HDR)


def _http_head(fetched: Fetched, length: int | None) -> bytes:
    """Status line and headers as they came, but for those that the decoded body makes untrue."""
    http = [f"HTTP/1.1 {fetched.status} {_reason(fetched.status)}"]
    http += [f"{name}: {_one_line(value)}" for name, value in fetched.headers if name.lower() not in SKIPPED_HEADERS]
    if length is not None:
        http.append(f"Content-Length: {length}")
    return "\r\n".join(http).encode("latin-1", "replace") + b"\r\n\r\n"


def _urn(name: str) -> str:
    """The UUID (version 5, of a URL) that a name has, as `uuid.uuid5` makes it, without its object."""
    digest = hashlib.sha1(URL_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"<urn:uuid:{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}>"


def warc_date(moment: datetime) -> str:
    """A time, in UTC, as WARC writes it."""
    return f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def payload_digest(body: bytes) -> str:
    """What stands in WARC-Payload-Digest."""
    return _digest(body)


def warc_info(file: str, agent: str, stamp: str) -> bytes:
    """The record at the beginning of each file: what wrote it."""
    block = f"software: {agent}\r\nformat: WARC File Format 1.1\r\n".encode()
    head = [
        "WARC/1.1",
        "WARC-Type: warcinfo",
        f"WARC-Record-ID: {_urn(f'{stamp} {file}')}",
        f"WARC-Date: {stamp}",
        f"WARC-Filename: {file}",
        f"WARC-Block-Digest: {_digest(block)}",
        "Content-Type: application/warc-fields",
        f"Content-Length: {len(block)}",
    ]
    return _gzipped("\r\n".join(head).encode(), b"\r\n\r\n", block, b"\r\n\r\n")


def gap_record(file: str, offset: int, length: int, stamp: str) -> bytes:
    """A record of exactly that length for what was damaged there; empty if it is too short for any record.

    The comment in the head of a gzip member (RFC 1952) may be of any length, and a zero ends it.
    """
    block = f"description: {length} bytes were damaged here\r\n".encode()
    head = (
        f"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: {_urn(f'{stamp} {file} {offset}')}\r\n"
        f"WARC-Date: {stamp}\r\nContent-Type: application/warc-fields\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    content = zlib.compress(head.encode() + block + b"\r\n\r\n", 9, wbits=GZIP)[len(GZIP_HEAD) :]
    spare = length - len(GZIP_HEAD) - 1 - len(content)
    commented = GZIP_HEAD[:3] + b"\x10" + GZIP_HEAD[4:]
    return commented + b" " * spare + b"\0" + content if spare >= 0 else b""


def _digest(*pieces: bytes) -> str:
    """The SHA-1 of the pieces in a row, in base 32: ten bits at a time, which is a third of what `base64` takes."""
    sha1 = hashlib.sha1(usedforsecurity=False)
    for piece in pieces:
        sha1.update(piece)
    bits = int.from_bytes(sha1.digest())
    return "sha1:" + "".join([BASE32_PAIRS[bits >> shift & 1023] for shift in range(150, -1, -10)])


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _one_line(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")


WAITING_BYTES = 2**17
"""Records that wait to be written: so much at most, and those of one page. More would not stay in the cache."""


class Archive:
    """Appends records to the node's current WARC file; begins a new one when it is full.

    Records of many pages are written at once, by `flush` at the latest: each write lets the other threads in before and
    after it.
    """

    def __init__(self, folder: Path, node: str, max_bytes: int, *, agent: str, clock: Clock) -> None:
        self._folder = folder
        self._node = node
        self._max_bytes = max_bytes
        self._agent = agent
        self._clock = clock
        self._number = 1
        self._descriptor: int | None = None
        self._offset = 0  # behind what waits
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._name_now()

    def resume(self, file: str | None, end: int) -> None:
        """Go on behind the last committed record (`file`, `end`); None if there is none yet."""
        self.close()
        self._number, self._offset = 1, 0
        self._name_now()
        if file is not None:
            try:
                self._number = int(file.removesuffix(".warc.gz").rpartition("-")[2])
            except ValueError:
                raise Corrupt(f"{self._folder / file}: not a name that this archive gives") from None
            self._offset = end
            self._name_now()
            self._cut_off_tail()
        self._remove_files_behind(0 if file is None else self._number)

    def _cut_off_tail(self) -> None:
        """What lies behind the last committed record, a torn one perhaps, was never committed."""
        with storage_errors(self._path):
            size = self._path.stat().st_size if self._path.exists() else 0
            if size > self._offset:
                os.truncate(self._path, self._offset)
        if size < self._offset:
            raise Corrupt(
                f"{self._path}: {size} bytes, {self._offset} were committed; `periplus verify --repair` helps"
            )

    def _remove_files_behind(self, number: int) -> None:
        """Files that were begun after the last committed record hold nothing that counts."""
        with storage_errors(self._folder):
            for path in sorted(self._folder.glob(f"{self._node}-*.warc.gz")):
                digits = path.name.removesuffix(".warc.gz").rpartition("-")[2]
                if digits.isdecimal() and int(digits) > number:
                    path.unlink()

    def append(self, *records: bytes) -> tuple[str, int, int]:
        """Take finished records of one page for one file; gives file name, offset and length of the first."""
        if self._offset >= self._max_bytes:
            self.flush()
            self.close()
            self._number += 1
            self._offset = 0
            self._name_now()
        if self._offset == 0:
            self._take(warc_info(self._name, self._agent, warc_date(self._clock.now())))
        offset = self._offset
        for record in records:
            self._take(record)
        if self._waiting_bytes >= WAITING_BYTES:
            self.flush()
        return self._name, offset, len(records[0])

    def _take(self, record: bytes) -> None:
        self._waiting.append(record)
        self._waiting_bytes += len(record)
        self._offset += len(record)

    def flush(self) -> None:
        """Write what waits; comes before the end of the transaction that names it."""
        if not self._waiting:
            return
        with storage_errors(self._path):
            if self._descriptor is None:
                self._descriptor = self._open()
            view = memoryview(b"".join(self._waiting))
            while view:
                view = view[os.write(self._descriptor, view) :]
        self._waiting, self._waiting_bytes = [], 0

    def sync(self) -> None:
        """Have everything on the disk itself."""
        self.flush()
        if self._descriptor is not None:
            with storage_errors(self._path):
                os.fsync(self._descriptor)

    @property
    def is_open(self) -> bool:
        """Whether something was written since the archive was taken up."""
        return self._descriptor is not None

    @property
    def end(self) -> tuple[str, int]:
        """Where the next record goes: what a transaction notes, so that a later run knows what counts."""
        return self._name, self._offset

    def close(self) -> None:
        """Let the file go; what still waits was never committed."""
        self._waiting, self._waiting_bytes = [], 0
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _name_now(self) -> None:
        self._name = f"{self._node}-{self._number:05d}.warc.gz"
        self._path = self._folder / self._name

    def _open(self) -> int:
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        os.lseek(descriptor, self._offset - self._waiting_bytes, os.SEEK_SET)
        return descriptor
