"""The compiled gazetteer as a file: a JSON header and plain arrays behind it, mapped and never copied.

    bytes 0..7    magic "PERIGAZ1"
    bytes 8..15   length of the header, little-endian
    header        {"version", "digest", "meta", "arrays": {name: [dtype, shape, offset]}}
    arrays        each aligned to 64 bytes; strings are a byte pool with an offsets array

Writing goes to a temporary file beside the target and is renamed, so a reader sees the old or the new one.
"""

import itertools
import json
import mmap
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from periplus.errors import DiskFull, GazetteerMissing
from periplus.files import target_file

__all__ = ["FORMAT", "Container", "StringPool", "read_container", "write_container"]

FORMAT: Final = 1
_MAGIC: Final = b"PERIGAZ1"
_ALIGN: Final = 64
_DTYPES: Final = frozenset({"<u8", "<i8", "<u4", "<i4", "<u2", "<i2", "|u1", "|i1", "<f8", "<f4"})
_MAX_HEADER: Final = 16 << 20
_REBUILD: Final = "build it again with: periplus gazetteer build"


@dataclass(frozen=True, slots=True)
class Container:
    """The arrays of an open file. They are read-only views of the mapped file."""

    arrays: dict[str, npt.NDArray[Any]]
    meta: dict[str, Any]
    digest: str

    def strings(self, name: str) -> "StringPool":
        """The string pool of that name."""
        return StringPool(self.arrays[name + ".bytes"], self.arrays[name + ".at"])


@dataclass(frozen=True, slots=True)
class StringPool:
    """Many strings in one byte array; decoded one at a time, when asked for."""

    data: npt.NDArray[np.uint8]
    at: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.at) - 1

    def __getitem__(self, index: int) -> str:
        return self.data[self.at[index] : self.at[index + 1]].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        raw, at = self.data.tobytes(), self.at.tolist()
        return (raw[start:end].decode("utf-8") for start, end in itertools.pairwise(at))

    def text(self) -> str:
        """All strings, joined without separators. Offsets are bytes, so this is for ASCII-safe scans only."""
        return self.data.tobytes().decode("utf-8")


def pool(strings: list[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """Bytes and offsets of a list of strings."""
    encoded = [s.encode("utf-8", "replace") for s in strings]
    at = np.zeros(len(encoded) + 1, dtype=np.uint32)
    at[1:] = np.cumsum([len(e) for e in encoded]) if encoded else 0
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), at


def write_container(
    path: Path, arrays: dict[str, npt.NDArray[Any]], strings: dict[str, list[str]], meta: dict[str, Any], digest: str
) -> None:
    """Write the file atomically; the last of several writers wins and readers never see half a file."""
    everything = dict(arrays)
    for name, values in strings.items():
        everything[name + ".bytes"], everything[name + ".at"] = pool(values)
    table: dict[str, list[Any]] = {}
    offset = 0
    for name, array in everything.items():
        table[name] = [array.dtype.str, list(array.shape), offset]
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    header = json.dumps(
        {"version": FORMAT, "digest": digest, "meta": meta, "bytes": offset, "arrays": table}, sort_keys=True
    ).encode()
    base = -(-(16 + len(header)) // _ALIGN) * _ALIGN
    header = header.ljust(base - 16)
    try:
        path = target_file(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(_MAGIC + len(header).to_bytes(8, "little") + header)
                for array in everything.values():
                    data = np.ascontiguousarray(array).tobytes()
                    out.write(data + b"\0" * (-len(data) % _ALIGN))
                out.flush()
                os.fsync(out.fileno())
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise DiskFull(f"cannot write the gazetteer to {path}: {error.strerror}; set PERIPLUS_CACHE") from error


def read_container(path: Path) -> Container:
    """Map the file. `GazetteerMissing` if it is absent, cut short, not ours or of another format."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise GazetteerMissing(f"no gazetteer at {path}; {_REBUILD}") from error
    except (OSError, ValueError) as error:
        raise GazetteerMissing(f"cannot read the gazetteer {path} ({error}); {_REBUILD}") from error
    length = int.from_bytes(mapped[8:16], "little")
    if mapped[:8] != _MAGIC or length > min(_MAX_HEADER, len(mapped) - 16):
        raise GazetteerMissing(f"{path} is not a compiled gazetteer; {_REBUILD}")
    try:
        header = json.loads(mapped[16 : 16 + length])
        if header["version"] != FORMAT:
            raise GazetteerMissing(f"{path} is of format {header['version']}, this is {FORMAT}; {_REBUILD}")
        if len(mapped) != 16 + length + header["bytes"]:
            raise GazetteerMissing(f"{path} is cut short; {_REBUILD}")
        arrays = {
            name: _view(mapped, 16 + length, dtype, tuple(shape), offset)
            for name, (dtype, shape, offset) in header["arrays"].items()
        }
        return Container(arrays, header["meta"], header["digest"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GazetteerMissing(f"{path} is broken ({error}); {_REBUILD}") from error


def _view(mapped: mmap.mmap, base: int, dtype: str, shape: tuple[int, ...], offset: int) -> npt.NDArray[Any]:
    """One array of the file, without a copy."""
    if dtype not in _DTYPES:
        raise ValueError(f"array type {dtype!r}")
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(mapped, dtype=dtype, count=count, offset=base + offset).reshape(shape)
