"""Checksums of an index's files: tantivy writes one behind each and does not look at it when it opens the index.

The last eight bytes of a file are the length of its footer, which is JSON with the CRC-32 of all before it, and a mark.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["damaged_file"]

PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
TAIL = struct.Struct("<II")
MARK = 1337
CHUNK_BYTES = 2**20


def damaged_file(folder: Path) -> str:
    """The name of a file that is not as it was written; empty if all that the index is made of are."""
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
        names = list(_names(meta))
    except (OSError, ValueError, KeyError, TypeError):
        return "meta.json"
    return next((name for name in names if (folder / name).exists() and not _is_sound(folder / name)), "")


def _names(meta: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """The files that the committed segments may have; what else lies there is left over, and may be torn."""
    for segment in meta["segments"]:
        number = str(segment["segment_id"]).replace("-", "")
        yield from (f"{number}.{part}" for part in PARTS)
        deletes = segment.get("deletes")
        if isinstance(deletes, dict):
            yield f"{number}.{deletes['opstamp']}.del"


def _is_sound(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL.size))
        tail = file.read(TAIL.size)
        length, mark = TAIL.unpack(tail) if len(tail) == TAIL.size else (0, 0)
        end = size - TAIL.size - length
        if mark != MARK or end < 0:
            return False
        file.seek(end)
        try:
            stated = json.loads(file.read(length))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        file.seek(0)
        crc, left = 0, end
        while left and (piece := file.read(min(left, CHUNK_BYTES))):
            crc, left = zlib.crc32(piece, crc), left - len(piece)
        return bool(left == 0 and crc == stated)
