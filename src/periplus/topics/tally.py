"""The loops of keyword counting: a text's chunks (what stands between blanks) by number, and what is known of each.

Plain Python over flat arrays; where there is a C compiler it is compiled (`tally.pxd` gives the types) with the very
same results. A chunk is known by a 64-bit key of its characters, so that no string is made of one that is known.
"""

import math
from collections.abc import Callable, MutableSequence, Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

__all__ = [
    "LONGEST",
    "MOST",
    "ChunkTable",
    "Chunks",
    "Ints",
    "RowTable",
    "StemCounts",
    "count_stems",
    "cut",
    "ints",
    "taken",
]

Ints = MutableSequence[int]

LONGEST: Final = 40
"""Characters of a chunk up to which it is numbered; longer ones are mostly sentences of scripts without spaces."""

MOST: Final = 100_000
"""Chunks that are numbered before numbering begins anew. Those beyond, and long ones, have numbers from here on."""

# The names below have C types in tally.pxd.
_BASE, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_ZERO = ((0xCBF29CE484222325 ^ ord("0")) * 0x100000001B3) % (1 << 64)
_BLANKS = 0x3001
_BLANK = bytes(chr(code).isspace() for code in range(0x3001))
_FEWEST, _LONGEST, _MOST = 1 << 12, LONGEST, MOST
_NUMBER_BITS, _AT_ONCE = 17, 64
_NUMBER = (1 << 17) - 1
_LOGS = 1024
_SQUARED = cast("MutableSequence[float]", np.array([0.0, *((1 + math.log(n)) ** 2 for n in range(1, 1024))]).data)


def ints(array: npt.NDArray[Any]) -> Ints:
    """The array as Python and C both index it fast."""
    return cast("Ints", array.data)


def _zeros(size: int) -> Ints:
    return ints(np.zeros(size, np.int32))


class ChunkTable:
    """Chunks by number, in the order in which they were met.

    A slot has the upper bits of a chunk's key and, in the others, its number and 1; empty ones have 0. There are two to
    four slots a chunk: a table that does not fit the cache costs more than all else here.
    """

    def __init__(self) -> None:
        self.renewals = 0
        self.starts, self.ends, self.waiting = _zeros(_AT_ONCE), _zeros(_AT_ONCE), 0
        self.keys = ints(np.zeros(_AT_ONCE, np.uint64))
        self._clear()

    def _clear(self) -> None:
        self.chunks: list[str] = []  # a new one: texts that were cut keep theirs
        self.slots = ints(np.zeros(_FEWEST, np.uint64))
        self.last = _FEWEST - 1

    def make_room(self) -> None:
        """Begin anew if no more can be numbered; then all numbers given out before are void."""
        if len(self.chunks) >= _MOST:
            self._clear()
            self.renewals += 1

    def put(self, key: int, chunk: str) -> int:
        """Give a new chunk its number."""
        if 2 * len(self.chunks) >= len(self.slots):
            self._grow()
        number = len(self.chunks)
        self.slots[_slot(self, key)] = (key & ~_NUMBER) | (number + 1)
        self.chunks.append(chunk)
        return number

    def _grow(self) -> None:
        old = self.slots
        self.last = 2 * len(old) - 1
        self.slots = ints(np.zeros(2 * len(old), np.uint64))
        for at in range(len(old)):
            if old[at]:
                self.slots[_slot(self, old[at] & ~_NUMBER)] = old[at]


class Chunks:
    """The chunks of a text in order, by number; `long` are those from `MOST` on, for this text only."""

    def __init__(self, table: ChunkTable, room: int) -> None:
        self.renewals = table.renewals
        self.known = table.chunks
        self.numbers = ints(np.empty(room, np.int32))
        self.count = 0
        self.long: list[str] = []

    def chunk(self, number: int) -> str:
        """What stands there."""
        return self.known[number] if number < _MOST else self.long[number - _MOST]

    def add(self, number: int) -> None:
        """One more chunk."""
        self.numbers[self.count] = number
        self.count += 1


def cut(table: ChunkTable, text: str, skip: Sequence[tuple[int, int]] = ()) -> Chunks:
    """Cut a text at its blanks. Each span in `skip` (in order) is a chunk "0" of its own instead of its text."""
    table.make_room()
    found = Chunks(table, len(text) // 2 + 2 * len(skip) + 2)
    at = 0
    for start, end in skip:
        if start >= at:
            _number(table, text, at, start, found)
            found.add(_number_of(table, _ZERO, "0", found))
            at = end
    _number(table, text, at, len(text), found)
    return found


def _number(table: ChunkTable, text: str, low: int, high: int, found: Chunks) -> None:
    """Number the chunks of a stretch, several at once: looking them up then waits for the memory together."""
    at = low
    while at < high:
        at = _find_keys(table, text, at, high)
        for i in range(table.waiting):
            start, end, key = table.starts[i], table.ends[i], table.keys[i]
            taken_slot = table.slots[_slot(table, key)]
            if taken_slot and end - start <= _LONGEST:
                found.add(_number_in(taken_slot))
            else:
                found.add(_number_of(table, key, text[start:end], found))


def _find_keys(table: ChunkTable, text: str, low: int, high: int) -> int:
    """Find the next chunks, as many as may wait, with their keys; where the last of them ends."""
    at, count = low, 0
    while at < high and count < _AT_ONCE:
        code = ord(text[at])
        if code < _BLANKS and _BLANK[code]:
            at += 1
            continue
        start, key = at, _BASE
        while True:
            key = ((key ^ code) * _PRIME) & _MASK
            at += 1
            if at == high:
                break
            code = ord(text[at])
            if not 32 < code < 127 and code < _BLANKS and _BLANK[code]:  # letters are seen to be none at once
                break
        table.starts[count], table.ends[count], table.keys[count] = start, at, key
        count += 1
    table.waiting = count
    return at


def _slot(table: ChunkTable, key: int) -> int:
    """Where a key stands or would stand."""
    slot = ((key >> _NUMBER_BITS) ^ (key >> 40)) & table.last
    while table.slots[slot] and (table.slots[slot] ^ key) > _NUMBER:
        slot = (slot + 1) & table.last
    return slot


def _number_in(taken_slot: int) -> int:
    """The number of the chunk that a slot is taken by."""
    return (taken_slot & _NUMBER) - 1


def _number_of(table: ChunkTable, key: int, chunk: str, found: Chunks) -> int:
    """The number of a chunk, which is given one if it has none: in the table, or for one text if it is long."""
    taken_slot = table.slots[_slot(table, key)]
    if len(chunk) <= _LONGEST and taken_slot:
        return _number_in(taken_slot)
    if len(chunk) > _LONGEST or len(table.chunks) >= _MOST:
        found.long.append(chunk)
        return _MOST + len(found.long) - 1
    return table.put(key, chunk)


class RowTable:
    """A row of numbers for every chunk: the stems of its words, or the keywords that it holds.

    A row is its length and then the numbers. Row 0 is of chunks of which nothing is known yet; row 1 is empty.
    """

    def __init__(self) -> None:
        self.first = _zeros(_MOST + 1024)
        self.rows = _zeros(1 << 12)
        self.used = self.kept = 2

    def learn(self, chunks: Chunks, row_of: Callable[[str], Sequence[int]]) -> None:
        """Make rows for a text's chunks that have none yet. Those of long chunks last until the next text."""
        self.used = self.kept
        self._make_room(len(chunks.long))
        for at in range(chunks.count):
            number = chunks.numbers[at]
            if number < _MOST and self.first[number] == 0:
                self.first[number] = self._put(row_of(chunks.known[number]))
        self.kept = self.used
        for at in range(len(chunks.long)):
            self.first[_MOST + at] = self._put(row_of(chunks.long[at]))

    def _make_room(self, room: int) -> None:
        if len(self.first) < _MOST + room:
            self.first = ints(np.concatenate((np.asarray(self.first), np.zeros(2 * room, np.int32))))

    def _put(self, row: Sequence[int]) -> int:
        """Write a row down; where it begins."""
        if not row:
            return 1
        while self.used + len(row) + 1 > len(self.rows):
            self.rows = ints(np.concatenate((np.asarray(self.rows), np.zeros(len(self.rows), np.int32))))
        at = self.used
        self.rows[at] = len(row)
        for place in range(len(row)):
            self.rows[at + 1 + place] = row[place]
        self.used += len(row) + 1
        return at

    def add_up(self, chunks: Chunks, counts: Ints) -> None:
        """Count what is in the rows of a text's chunks."""
        for at in range(chunks.count):
            row = self.first[chunks.numbers[at]]
            if row > 1:
                for place in range(row + 1, row + 1 + self.rows[row]):
                    counts[self.rows[place]] += 1

    def in_a_row(self, chunks: Chunks) -> Ints:
        """What is in the rows of a text's chunks, one behind the other."""
        length = 0
        for at in range(chunks.count):
            length += self.rows[self.first[chunks.numbers[at]]]
        found = ints(np.empty(length, np.int32))
        length = 0
        for at in range(chunks.count):
            row = self.first[chunks.numbers[at]]
            for place in range(row + 1, row + 1 + self.rows[row]):
                found[length] = self.rows[place]
                length += 1
        return found


class StemCounts:
    """How often each stem of a text occurs, by the stem's number in `names`; number 0 stands for what says nothing."""

    def __init__(self, names: list[str], sequence: Ints, room: int) -> None:
        self.names = names
        self.sequence = sequence  # the stems of the text in order
        self.met = ints(np.empty(2 * room, np.int32))  # those that occur, then their counts
        self.room = room
        self.different = 0
        self.norm = 0.0

    @property
    def words(self) -> int:
        """How many words the text has, those that say nothing among them."""
        return len(self.sequence)

    def among(self, wanted: Ints) -> dict[str, int]:
        """The stems that are wanted (a byte for each is not 0) with their counts, in the order in which they occur."""
        found: dict[str, int] = {}
        for at in range(self.different):
            if wanted[self.met[at]]:
                found[self.names[self.met[at]]] = self.met[self.room + at]
        return found

    def pairs_from(self, firsts: Ints) -> list[tuple[str, str]]:
        """Neighbours that both say something and of which the first is wanted."""
        found: list[tuple[str, str]] = []
        for at in range(len(self.sequence) - 1):
            one, next_one = self.sequence[at], self.sequence[at + 1]
            if one and next_one and firsts[one]:
                found.append((self.names[one], self.names[next_one]))
        return found


def count_stems(names: list[str], rows: RowTable, text: Chunks, title: Ints, boost: int, counts: Ints) -> StemCounts:
    """Count the stems of a text and its title, `boost` for each of the title's. `counts` has a 0 for every stem."""
    sequence = rows.in_a_row(text)
    found = StemCounts(names, sequence, len(sequence) + len(title))
    _count(found, sequence, 1, counts)
    _count(found, title, boost, counts)
    total = 0.0
    for at in range(found.different):
        stem = found.met[at]
        count = counts[stem]
        counts[stem] = 0
        found.met[found.room + at] = count
        if count < _LOGS:
            total += _SQUARED[count]
        else:
            total += (1.0 + math.log(count)) ** 2
    found.norm = math.sqrt(total)
    return found


def _count(found: StemCounts, sequence: Ints, step: int, counts: Ints) -> None:
    for at in range(len(sequence)):
        stem = sequence[at]
        if stem:
            if counts[stem] == 0:
                found.met[found.different] = stem
                found.different += 1
            counts[stem] += step


def taken(counts: Ints) -> dict[int, int]:
    """What was counted, in the order of the numbers; afterwards all counts are 0."""
    found: dict[int, int] = {}
    for number in range(len(counts)):
        if counts[number]:
            found[number] = counts[number]
            counts[number] = 0
    return found
