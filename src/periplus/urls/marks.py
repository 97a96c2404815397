"""Tables of 64-bit marks (fingerprints) that cost 11 to 16 bytes a mark, where Python's own set costs 70.

Open addressing in 256 segments by the first bits of a mark, each with linear probing and growing on its own, so that no
moment needs twice the memory. A mark's place grows with its value, so a segment is made anew by sorting, in numpy.
Marks come out of a hash function; numbers that do not would crowd some segments, which costs time but no mistake.
Plain Python; compiled where there is a C compiler (`marks.pxd`).
"""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ["MarkCounter", "MarkSet"]

SEGMENTS = 256
FIRST_SLOTS = 16
FULL = 0.75
GROWTH = 1.5
TAIL = 64
"""Slots behind the last place, so that a run of neighbours need not wrap around; a run that fills them grows all."""

MASK = (1 << 64) - 1
STAND_IN = 0x9E3779B97F4A7C15
"""What is stored for the mark 0, since 0 is an empty slot. Another mark of this value counts as the same one."""


class Segment:
    """One hash table: marks, and where `counted` a number for each."""

    def __init__(self, counted: bool) -> None:
        self.places = FIRST_SLOTS
        self.marks = array("Q", bytes(8 * (FIRST_SLOTS + TAIL)))
        self.counted = counted
        self.counts = array("I", bytes(4 * (FIRST_SLOTS + TAIL) if counted else 4))
        self.used = 0
        self.room = int(FIRST_SLOTS * FULL)

    def slot(self, mark: int) -> int:
        """Where the mark is, or the empty slot where it belongs; -1 if there is none before the end."""
        at, end = (mark >> 24 & 0xFFFFFFFF) * self.places >> 32, len(self.marks)
        while at < end:
            found = self.marks[at]
            if found in (mark, 0):
                return at
            at += 1
        return -1

    def find(self, mark: int) -> int:
        """Where the mark is; -1 if it is not there."""
        at = self.slot(mark)
        return at if at >= 0 and self.marks[at] else -1

    def enter(self, mark: int) -> int:
        """Put a mark in that is not there; where it stands."""
        at = self.slot(mark)
        while at < 0 or self.used >= self.room:
            self.grow()
            at = self.slot(mark)
        self.marks[at] = mark
        self.used += 1
        return at

    def grow(self) -> None:
        """Make the table anew with half as many slots again, or more where marks crowd at its end."""
        old = np.asarray(self.marks)
        taken = np.flatnonzero(old)
        order = taken[np.argsort(old[taken])]
        marks = old[order]
        steps = np.arange(len(marks))
        places, tail = max(int(self.places * GROWTH), self.places + 1), TAIL
        home = ((marks >> np.uint64(24) & np.uint64(0xFFFFFFFF)) * np.uint64(places) >> np.uint64(32)).astype(np.int64)
        at = np.maximum.accumulate(home - steps) + steps
        while len(at) and at[len(at) - 1] >= places + tail:
            tail *= 2
        fresh = np.zeros(places + tail, dtype=np.uint64)
        fresh[at] = marks
        if self.counted:
            numbers = np.zeros(places + tail, dtype=np.uint32)
            numbers[at] = np.asarray(self.counts)[order]
            self.counts = array("I", numbers.tobytes())
        self.marks, self.places = array("Q", fresh.tobytes()), places
        self.room = int(places * FULL)


class Table:
    """Segments by the first bits of a mark."""

    def __init__(self, counted: bool) -> None:
        self.segments = [Segment(counted) for _ in range(SEGMENTS)]

    def __len__(self) -> int:
        return sum([segment.used for segment in self.segments])

    def __contains__(self, mark: int) -> bool:
        return self.has(mark)

    def has(self, mark: int) -> bool:
        """Whether the mark is there."""
        key = mark & MASK or STAND_IN
        segment = self.segments[key >> 56]
        return segment.find(key) >= 0

    def missing(self, marks: Sequence[int]) -> list[int]:
        """The positions of marks that are not there; `marks` is a buffer of 64-bit numbers without sign."""
        found: list[int] = []
        for at in range(len(marks)):
            key = marks[at] or STAND_IN
            segment = self.segments[key >> 56]
            if segment.find(key) < 0:
                found.append(at)
        return found


class MarkSet(Table):
    """A set of marks that only grows."""

    def __init__(self) -> None:
        super().__init__(False)

    def add(self, mark: int) -> bool:
        """Remember the mark; False if it was known."""
        key = mark & MASK or STAND_IN
        segment = self.segments[key >> 56]
        if segment.find(key) >= 0:
            return False
        segment.enter(key)
        return True

    def update(self, marks: Iterable[int]) -> None:
        """Remember many at once."""
        for mark in marks:
            self.add(mark)


class MarkCounter(Table):
    """A number of at most 32 bits for each mark, 0 where nothing was counted."""

    def __init__(self) -> None:
        super().__init__(True)

    def __getitem__(self, mark: int) -> int:
        return self.count(mark)

    def count(self, mark: int) -> int:
        """How often the mark was counted."""
        key = mark & MASK or STAND_IN
        segment = self.segments[key >> 56]
        at = segment.find(key)
        return segment.counts[at] if at >= 0 else 0

    def put(self, mark: int, number: int) -> None:
        """Remember a number for the mark, in place of what was there."""
        key = mark & MASK or STAND_IN
        segment = self.segments[key >> 56]
        at = segment.find(key)
        if at < 0:
            at = segment.enter(key)
        segment.counts[at] = number

    def add(self, mark: int, count: int = 1) -> int:
        """Count further; gives the new number."""
        key = mark & MASK or STAND_IN
        segment = self.segments[key >> 56]
        at = segment.find(key)
        if at < 0:
            at = segment.enter(key)
        segment.counts[at] += count
        return segment.counts[at]
