"""Damaged parts of a WARC file: found by looking for the next sound record, closed by a record of the same length.

A disk that lost power may leave holes where nothing was synced yet. What lies behind them is sound and must stay
where it is, since pages name their records by offsets.
"""

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from periplus.errors import Corrupt
from periplus.store.archive import GZIP_HEAD, gap_record
from periplus.store.database import storage_errors
from periplus.store.records import Record, scan_records

__all__ = ["Gap", "close_gap", "scan_past_gaps"]

GZIP_MAGIC = GZIP_HEAD[:3]


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of a file in which no record can be read."""

    offset: int
    length: int
    why: str


def scan_past_gaps(path: Path) -> Iterator[Record | Gap]:
    """Every record of a file, and every part between them that is damaged, in order."""
    with storage_errors(path):
        offset, size = 0, path.stat().st_size
    while offset < size:
        try:
            for record in scan_records(path, offset):
                yield record
                offset = record.offset + record.length
        except Corrupt as error:
            behind = _next_record(path, offset + 1)
            yield Gap(offset, behind - offset, str(error))
            offset = behind


def _next_record(path: Path, start: int) -> int:
    """Where the first record lies that can be read at `start` or behind it; the file's end if there is none."""
    with storage_errors(path), path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = data.find(GZIP_MAGIC, start)
        while found >= 0 and not _is_record(path, found):
            found = data.find(GZIP_MAGIC, found + 1)
        return found if found >= 0 else len(data)


def _is_record(path: Path, offset: int) -> bool:
    try:
        return next(scan_records(path, offset), None) is not None
    except Corrupt:
        return False


def close_gap(path: Path, gap: Gap, stamp: str) -> bool:
    """Put a record that says what was there in the place of a gap; False if the gap is too short for one.

    At the end of a file such a gap is cut off.
    """
    record = gap_record(path.name, gap.offset, gap.length, stamp)
    with storage_errors(path), path.open("r+b") as file:
        file.seek(gap.offset)
        file.write(record)
        at_end = gap.offset + gap.length == os.fstat(file.fileno()).st_size
        if not record and at_end:
            file.truncate(gap.offset)
    return record != b"" or at_end
