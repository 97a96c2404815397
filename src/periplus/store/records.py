"""Reading WARC records back: one gzip member at an offset, or a whole file member by member.

The writer is `archive.py`; this is what `verify` and revisits read with. Everything read is bounded.
"""

import base64
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from periplus.errors import Corrupt
from periplus.store.archive import GZIP
from periplus.store.database import storage_errors

__all__ = ["Record", "archived_payload", "read_record", "scan_records", "warc_time"]

MOST_RECORD_BYTES = 64 * 2**20
CHUNK_BYTES = 2**18


@dataclass(frozen=True, slots=True)
class Record:
    """One record: where its member lies, its WARC headers by lower-case name, and its block."""

    offset: int
    length: int
    headers: dict[str, str]
    block: bytes

    @property
    def kind(self) -> str:
        """WARC-Type."""
        return self.headers.get("warc-type", "")

    @property
    def url(self) -> str:
        """WARC-Target-URI."""
        return self.headers.get("warc-target-uri", "")

    def wrong_digest(self) -> str:
        """The name of a digest that the content does not have; empty if all are right."""
        payload = self.block.partition(b"\r\n\r\n")[2] if self.kind == "response" else None
        for name, data in (("warc-block-digest", self.block), ("warc-payload-digest", payload)):
            stated = self.headers.get(name)
            if stated is not None and data is not None and stated != sha1_digest(data):
                return name
        return ""


def sha1_digest(data: bytes) -> str:
    """A digest as WARC writes it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def read_record(path: Path, offset: int, length: int) -> Record:
    """The record whose gzip member lies at an offset. Corrupt if there is no whole one of that length."""
    with storage_errors(path), path.open("rb") as file:
        file.seek(offset)
        member = file.read(length)
    inflate = zlib.decompressobj(GZIP)
    try:
        data = inflate.decompress(member, MOST_RECORD_BYTES)
    except zlib.error as error:
        raise Corrupt(f"{path}: no gzip member at byte {offset} ({error})") from None
    if not inflate.eof or inflate.unused_data or len(member) != length:
        raise Corrupt(f"{path}: the gzip member at byte {offset} is not {length} bytes long")
    return _parse(path, offset, length, data)


def scan_records(path: Path, start: int = 0) -> Iterator[Record]:
    """Every record from `start` on, in order. Corrupt where one is torn or not a record; those before were given."""
    with storage_errors(path), path.open("rb") as file:
        file.seek(start)
        offset, rest = start, b""
        while True:
            inflate = zlib.decompressobj(GZIP)
            pieces: list[bytes] = []
            read = 0
            while not inflate.eof:
                chunk = rest or file.read(CHUNK_BYTES)
                rest = b""
                if not chunk and not read:
                    return
                read += len(chunk)
                pieces.append(_inflated(path, offset, inflate, chunk, sum(len(piece) for piece in pieces)))
            rest = inflate.unused_data
            length = read - len(rest)
            yield _parse(path, offset, length, b"".join(pieces))
            offset += length


def archived_payload(path: Path, offset: int, length: int) -> str:
    """The payload digest of an archived response; empty if it cannot be read, which `verify` is to find out."""
    try:
        return read_record(path, offset, length).headers.get("warc-payload-digest", "")
    except Corrupt:
        return ""


def warc_time(stored: str) -> str:
    """A time as the page table has it, as WARC writes it."""
    return datetime.fromisoformat(stored).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _inflated(path: Path, offset: int, inflate: "zlib._Decompress", chunk: bytes, so_far: int) -> bytes:
    if not chunk:
        raise Corrupt(f"{path}: the record at byte {offset} is torn")
    try:
        data = inflate.decompress(chunk, max(1, MOST_RECORD_BYTES - so_far))
    except zlib.error as error:
        raise Corrupt(f"{path}: no gzip member at byte {offset} ({error})") from None
    if inflate.unconsumed_tail:
        raise Corrupt(f"{path}: the record at byte {offset} is larger than any page")
    return data


def _parse(path: Path, offset: int, length: int, data: bytes) -> Record:
    head, blank, rest = data.partition(b"\r\n\r\n")
    lines = head.decode("utf-8", "replace").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    stated = headers.get("content-length", "")
    if not blank or not lines[0].startswith("WARC/1.") or not stated.isdecimal():
        raise Corrupt(f"{path}: no WARC record at byte {offset}")
    if len(rest) != int(stated) + 4:
        raise Corrupt(f"{path}: the record at byte {offset} has not the length that it states")
    return Record(offset, length, headers, rest[:-4])
