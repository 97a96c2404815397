"""A recorded web: the responses of WARC and WACZ files, one after the other or by URL.

Made by `periplus record` or by any other archiving crawler. The files are read in the order of their names; of several
records of a URL the first counts. A file that ends in the middle of a record is read up to the last whole one.
"""

import io
import ipaddress
import re
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from fastwarc.stream_io import StreamError
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from periplus.errors import BadContent, EnvironmentFailure, TooLarge, UsageError
from periplus.fetch.decode import decode_content
from periplus.model import Fetched
from periplus.store.database import storage_errors
from periplus.strategies.hash import host_of
from periplus.urls import canonicalize

__all__ = ["RecordedWeb", "archived_response"]

MAX_BODY_BYTES = 10 * 2**20
NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
MAX_METADATA_BYTES = 64 * 2**10
FETCH_TIME = re.compile(rb"(?im)^fetchTimeMs:\s*(\d{1,9})\s*$")
WARC_NAMES = (".warc", ".warc.gz")


@dataclass(frozen=True, slots=True)
class _File:
    """A WARC file, by itself or stored in a WACZ file: where its bytes are."""

    path: Path
    start: int
    length: int


class _Part(io.RawIOBase):
    """A part of a file as a file."""

    def __init__(self, file: _File, offset: int = 0) -> None:
        self._file = file
        self._stream: BinaryIO = file.path.open("rb")
        self._stream.seek(file.start + offset)
        self._left = file.length - offset

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # the stub has its own Buffer
        data = self._stream.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def tell(self) -> int:
        return self._file.length - self._left

    def close(self) -> None:
        self._stream.close()
        super().close()


class RecordedWeb:
    """The responses in a WARC or WACZ file, or in all such files below a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        """What was not as it should be, a line each: files that end in the middle, records that cannot be read."""

        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
        with storage_errors(path):
            self._files = [file for name in _archive_files(path) for file in _warc_files(name)]
        if not self._files:
            raise UsageError(f"{path}: no WARC or WACZ file; make one with `periplus record`")
        self._places: dict[str, tuple[int, int]] | None = None
        self._addresses: dict[str, str] = {}

    def responses(self) -> Iterator[Fetched]:
        """All responses, each URL once, in the order of the files."""
        seen = set()
        for number, _ in enumerate(self._files):
            for _, fetched in self._read(number):
                if fetched.url not in seen:
                    seen.add(fetched.url)
                    yield fetched

    def get(self, url: str) -> Fetched | None:
        """The response of a canonical URL, or None. The first call reads all files once, to know where things are."""
        places = self._index()
        if url not in places:
            return None
        number, offset = places[url]
        return next(fetched for _, fetched in self._read(number, offset))

    def address(self, host: str) -> str:
        """The public address that the first recorded answer of a host came from; empty if none says so."""
        self._index()
        return self._addresses.get(host, "")

    def _index(self) -> dict[str, tuple[int, int]]:
        """Where the response of every URL is; made when it is first needed, and the addresses of hosts with it."""
        if self._places is None:
            self._places = {}
            for number, _ in enumerate(self._files):
                for offset, fetched in self._read(number):
                    self._places.setdefault(fetched.url, (number, offset))
                    if _is_public(fetched.address):
                        self._addresses.setdefault(host_of(fetched.url), fetched.address)
        return self._places

    def _read(self, number: int, offset: int = 0) -> Iterator[tuple[int, Fetched]]:
        file = self._files[number]
        with closing(io.BufferedReader(_Part(file, offset))) as stream:
            kinds = WarcRecordType.response | WarcRecordType.metadata
            records = ArchiveIterator(stream, record_types=kinds, parse_http=True)
            last: tuple[int, Fetched] | None = None  # its metadata may follow
            while True:
                try:
                    record = next(records, None)
                    fetched = _fetched(record) if record and record.record_type == WarcRecordType.response else None
                    seconds = _fetch_seconds(record) if record and fetched is None else None
                except (StreamError, EOFError, OSError, ValueError) as error:
                    self._note(f"{file.path}: ends in the middle of a record ({error}); read up to the last whole one")
                    record, fetched, seconds = None, None, None
                if last is not None and record is not None and seconds is not None:
                    last = (last[0], replace(last[1], seconds=seconds))
                if last is not None and (record is None or fetched is not None):
                    yield last
                    last = None
                if record is None:
                    return
                if fetched is not None:
                    last = (offset + record.stream_pos, fetched)

    def _note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)


def _is_public(address: str) -> bool:
    """Whether a recorded address is one of the internet; others say nothing about where a host was."""
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


def archived_response(path: Path, offset: int, length: int) -> Fetched | None:
    """The response whose record is these bytes of a WARC file; None if there is none that can be read."""
    try:
        with storage_errors(path), closing(io.BufferedReader(_Part(_File(path, offset, length), 0))) as stream:
            record = next(ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True), None)
            return _fetched(record) if record else None
    except (StreamError, EOFError, ValueError, EnvironmentFailure):
        return None


def _archive_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.name.endswith((*WARC_NAMES, ".wacz")))
    return sorted(file for file in found if file.is_file())


def _warc_files(path: Path) -> Iterator[_File]:
    """The file itself or, of a WACZ file, the WARC files in it, which are stored as they are."""
    if not path.name.endswith(".wacz"):
        yield _File(path, 0, path.stat().st_size)
        return
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as stream:
            for member in sorted(archive.infolist(), key=lambda info: info.filename):
                if not member.filename.endswith(WARC_NAMES):
                    continue
                if member.compress_type != zipfile.ZIP_STORED:
                    raise UsageError(f"{path}: {member.filename} is compressed once more, which WACZ does not allow")
                stream.seek(member.header_offset + 26)  # lengths of name and extra field, then these, then the data
                name, extra = (int.from_bytes(stream.read(2), "little") for _ in range(2))
                yield _File(path, member.header_offset + 30 + name + extra, member.file_size)
    except zipfile.BadZipFile as error:
        raise UsageError(f"{path}: not a WACZ file ({error})") from error


def _fetch_seconds(record: WarcRecord) -> float | None:
    """How long the response before this metadata record took to come; None if it does not say."""
    if record.record_type != WarcRecordType.metadata:
        return None
    found = FETCH_TIME.search(record.reader.read(MAX_METADATA_BYTES))
    return int(found[1]) / 1_000 if found else None


def _fetched(record: WarcRecord) -> Fetched | None:
    """A response record as what the network would have brought; None if it is none that can be read."""
    target = canonicalize(record.headers.get("WARC-Target-URI") or "")
    http = record.http_headers
    if target is None or http is None or http.status_code is None:
        return None
    headers = tuple((str(name), str(value)) for name, value in http)
    length = record.content_length
    body = record.reader.read(MAX_BODY_BYTES + 1)
    if len(body) < min(length, MAX_BODY_BYTES):
        raise EOFError(f"{len(body)} of {length} bytes")
    try:
        body = decode_content(body, http.get("Content-Encoding") or "", MAX_BODY_BYTES)
    except (BadContent, TooLarge):
        return None
    return Fetched(
        url=target.href,
        status=http.status_code,
        headers=headers,
        body=body[:MAX_BODY_BYTES],
        content_type=http.get("Content-Type") or "",
        fetched_at=record.record_date or NO_DATE,
        seconds=0.0,
        address=record.headers.get("WARC-IP-Address") or "",
        truncated=len(body) > MAX_BODY_BYTES,
    )
