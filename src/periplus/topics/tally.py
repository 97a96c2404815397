"""The loops of keyword counting: a text's chunks (what stands between blanks) by number, and stems counted by number.

Plain Python over flat arrays; where there is a C compiler it is compiled (`tally.pxd` gives the types) with the very
same results. A chunk is known by a 64-bit key of its characters, so that no string is made of one that is known.
"""

from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

__all__ = [
    "LONGEST",
    "MOST",
    "ChunkTable",
    "Chunks",
    "Ints",
    "alike",
    "count_stems",
    "cut",
    "ints",
    "stem_room",
    "stems_of",
    "unlike",
    "write",
    "written_room",
]

Ints = MutableSequence[int]

LONGEST: Final = 40
"""Characters of a chunk up to which it is numbered; longer ones are mostly sentences of scripts without spaces."""

MOST: Final = 100_000
"""Chunks that are numbered before numbering begins anew. Long ones have numbers from here on, for one text only."""

# The names below have C types in tally.pxd.
_BASE, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_ZERO = ((0xCBF29CE484222325 ^ ord("0")) * 0x100000001B3) % (1 << 64)
_BLANKS = 0x3001
_BLANK = bytes(chr(code).isspace() for code in range(0x3001))
_SLOTS, _LONGEST, _MOST = 1 << 18, LONGEST, MOST


def ints(array: npt.NDArray[Any]) -> Ints:
    """The array as Python and C both index it fast."""
    return cast("Ints", array.data)


class ChunkTable:
    """Chunks by number, in the order in which they were met."""

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self.renewals = 0
        self._clear()

    def _clear(self) -> None:
        self.chunks.clear()
        self.keys = ints(np.zeros(_SLOTS, np.uint64))
        self.numbers = ints(np.zeros(_SLOTS, np.int32))

    def make_room(self, chunks: int) -> None:
        """Begin anew if so many more would be too many; then all numbers given out before are void."""
        if len(self.chunks) + chunks > _MOST and self.chunks:
            self._clear()
            self.renewals += 1


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of a text in order, by number; `long` are those from `MOST` on."""

    table: ChunkTable
    numbers: Ints
    count: int
    long: list[str]
    renewals: int

    def chunk(self, number: int) -> str:
        """What stands there."""
        return self.table.chunks[number] if number < MOST else self.long[number - MOST]


def cut(table: ChunkTable, text: str, skip: Sequence[tuple[int, int]] = ()) -> Chunks:
    """Cut a text at its blanks. Each span in `skip` (in order) is a chunk "0" of its own instead of its text."""
    table.make_room(len(text) // 2 + len(skip) + 1)
    codes = ints(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))
    found = ints(np.empty(len(text) // 2 + 2 * len(skip) + 2, np.int32))
    long: list[str] = []
    count = at = 0
    for start, end in skip:
        if start >= at:
            count = _number(table, text, codes, at, start, found, count, long)
            found[count] = _number_of(table, _ZERO, "0")
            count += 1
            at = end
    count = _number(table, text, codes, at, len(text), found, count, long)
    return Chunks(table, found, count, long, table.renewals)


def _number(
    table: ChunkTable, text: str, codes: Ints, low: int, high: int, found: Ints, count: int, long: list[str]
) -> int:
    """Number the chunks of a stretch; gives how many there are now."""
    at = low
    while at < high:
        if codes[at] < _BLANKS and _BLANK[codes[at]]:
            at += 1
            continue
        start, key = at, _BASE
        while at < high and not (codes[at] < _BLANKS and _BLANK[codes[at]]):
            key = ((key ^ codes[at]) * _PRIME) & _MASK
            at += 1
        if at - start > _LONGEST:
            found[count] = _MOST + len(long)
            long.append(text[start:at])
        else:
            slot = _slot(table, key)
            if table.keys[slot] == key:
                found[count] = table.numbers[slot]
            else:
                found[count] = _number_of(table, key, text[start:at])
        count += 1
    return count


def _slot(table: ChunkTable, key: int) -> int:
    """Where a key stands or would stand."""
    slot = (key ^ (key >> 32)) & (_SLOTS - 1)
    while table.keys[slot] != 0 and table.keys[slot] != key:
        slot = (slot + 1) & (_SLOTS - 1)
    return slot


def _number_of(table: ChunkTable, key: int, chunk: str) -> int:
    """The number of a chunk, which is given one if it has none."""
    slot = _slot(table, key)
    if table.keys[slot] != key:
        table.keys[slot] = key
        table.numbers[slot] = len(table.chunks)
        table.chunks.append(chunk)
    return table.numbers[slot]


def alike(numbers: Ints, count: int, marks: Ints, mark: int) -> list[int]:
    """The chunks with that mark, as often as they occur; long ones have none."""
    return [numbers[at] for at in range(count) if numbers[at] < _MOST and marks[numbers[at]] == mark]


def unlike(numbers: Ints, count: int, marks: Ints, mark: int) -> list[int]:
    """The chunks without that mark, as often as they occur, the long ones among them."""
    return [numbers[at] for at in range(count) if numbers[at] >= _MOST or marks[numbers[at]] != mark]


def stem_room(numbers: Ints, count: int, first: Ints, rows: Ints) -> int:
    """How many stems chunks have together."""
    total = 0
    for at in range(count):
        total += rows[first[numbers[at]]]
    return total


def stems_of(numbers: Ints, count: int, first: Ints, rows: Ints, found: Ints) -> None:
    """The stems of chunks in order, by number, into `found`.

    A chunk's row begins at `first[chunk]`: how many stems it has, then the stems.
    """
    length = 0
    for at in range(count):
        row = first[numbers[at]]
        for place in range(row + 1, row + 1 + rows[row]):
            found[length] = rows[place]
            length += 1


def written_room(numbers: Ints, count: int, sizes: Ints) -> int:
    """How many bytes the pieces of chunks have together."""
    total = 0
    for at in range(count):
        total += sizes[numbers[at]]
    return total


def write(numbers: Ints, count: int, first: Ints, sizes: Ints, pieces: Ints, found: Ints) -> None:
    """The pieces of chunks one behind the other, into `found`: `sizes[chunk]` bytes from `first[chunk]` on."""
    length = 0
    for at in range(count):
        start = first[numbers[at]]
        for place in range(start, start + sizes[numbers[at]]):
            found[length] = pieces[place]
            length += 1


def count_stems(sequence: Ints, counts: Ints, met: Ints) -> int:
    """Count stems by number; `met` are those that occur, in the order in which they do. How many these are."""
    different = 0
    for at in range(len(sequence)):
        stem = sequence[at]
        if counts[stem] == 0:
            met[different] = stem
            different += 1
        counts[stem] += 1
    return different
