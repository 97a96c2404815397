"""The WARC archive of a node: WARC 1.1, one gzip member a record, so that a crash costs at most the last one.

Records are made by a pure function (in a worker, `warc_record`); `Archive` only appends finished bytes. It is told
where the last committed record ends and cuts off what lies behind it, so file and database always agree.
"""

import base64
import hashlib
import os
import uuid
from http import HTTPStatus
from pathlib import Path

from isal import igzip

from periplus.clock import Clock
from periplus.errors import Corrupt
from periplus.model import Fetched
from periplus.store.database import storage_errors

__all__ = ["Archive", "warc_record"]

LEVEL = 2  # isal: 231 MB/s at nearly the size of zlib's level 1
SKIPPED_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})
"""The body is archived decoded, so these would lie."""


def warc_record(fetched: Fetched) -> bytes:
    """A response record for a fetched page, as one gzip member. The record's id follows from its content."""
    http = [f"HTTP/1.1 {fetched.status} {_reason(fetched.status)}"]
    http += [f"{name}: {_one_line(value)}" for name, value in fetched.headers if name.lower() not in SKIPPED_HEADERS]
    http.append(f"Content-Length: {len(fetched.body)}")
    block = "\r\n".join(http).encode("latin-1", "replace") + b"\r\n\r\n" + fetched.body  # the bytes that came
    stamp = fetched.fetched_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    record_id = uuid.uuid5(uuid.NAMESPACE_URL, f"{stamp} {fetched.url}")
    head = [
        "WARC/1.1",
        "WARC-Type: response",
        f"WARC-Record-ID: <urn:uuid:{record_id}>",
        f"WARC-Date: {stamp}",
        f"WARC-Target-URI: {fetched.url}",
        *([f"WARC-IP-Address: {fetched.address}"] if fetched.address else []),
        f"WARC-Block-Digest: {_digest(block)}",
        f"WARC-Payload-Digest: {_digest(fetched.body)}",
        *(["WARC-Truncated: length"] if fetched.truncated else []),
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(block)}",
    ]
    record = "\r\n".join(head).encode("utf-8", "replace") + b"\r\n\r\n" + block + b"\r\n\r\n"
    return igzip.compress(record, LEVEL, mtime=0)  # no clock: the same response is the same record


def warc_info(file: str, agent: str, stamp: str) -> bytes:
    """The record at the beginning of each file: what wrote it."""
    block = f"software: {agent}\r\nformat: WARC File Format 1.1\r\n".encode()
    head = [
        "WARC/1.1",
        "WARC-Type: warcinfo",
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{stamp} {file}')}>",
        f"WARC-Date: {stamp}",
        f"WARC-Filename: {file}",
        "Content-Type: application/warc-fields",
        f"Content-Length: {len(block)}",
    ]
    return igzip.compress("\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n", LEVEL, mtime=0)


def _digest(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _one_line(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")


class Archive:
    """Appends records to the node's current WARC file; begins a new one when it is full."""

    def __init__(self, folder: Path, node: str, max_bytes: int, *, agent: str, clock: Clock) -> None:
        self._folder = folder
        self._node = node
        self._max_bytes = max_bytes
        self._agent = agent
        self._clock = clock
        self._number = 1
        self._descriptor: int | None = None
        self._offset = 0

    def resume(self, file: str | None, end: int) -> None:
        """Go on behind the last committed record (`file`, `end`); None if there is none yet."""
        if file is not None:
            try:
                self._number = int(file.removesuffix(".warc.gz").rpartition("-")[2])
            except ValueError:
                raise Corrupt(f"{self._folder / file}: not a name that this archive gives") from None
            self._offset = end
        self._remove_files_behind(0 if file is None else self._number)

    def _remove_files_behind(self, number: int) -> None:
        """Files that were begun after the last committed record hold nothing that counts."""
        with storage_errors(self._folder):
            for path in sorted(self._folder.glob(f"{self._node}-*.warc.gz")):
                digits = path.name.removesuffix(".warc.gz").rpartition("-")[2]
                if digits.isdecimal() and int(digits) > number:
                    path.unlink()

    def append(self, record: bytes) -> tuple[str, int, int]:
        """Write a finished record; gives file name, offset and length. Comes before the transaction that names it."""
        if self._offset >= self._max_bytes:
            self.close()
            self._number += 1
            self._offset = 0
        with storage_errors(self._path):
            if self._descriptor is None:
                self._descriptor = self._open()
            if self._offset == 0:
                stamp = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
                self._write(self._descriptor, warc_info(self._path.name, self._agent, stamp))
            offset = self._offset
            self._write(self._descriptor, record)
        return self._path.name, offset, len(record)

    def close(self) -> None:
        """Let the file go."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._node}-{self._number:05d}.warc.gz"

    def _open(self) -> int:
        self._folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        os.ftruncate(descriptor, self._offset)  # what lies behind was never committed
        os.lseek(descriptor, self._offset, os.SEEK_SET)
        return descriptor

    def _write(self, descriptor: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        self._offset += len(data)
