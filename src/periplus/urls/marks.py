"""Tables of 64-bit marks (fingerprints) that cost 11 to 16 bytes a mark, where Python's own set costs 70.

Open addressing in 256 segments by the first bits of a mark, each with linear probing and growing on its own, so that no
moment needs twice the memory. A mark's place grows with its value, so a segment is made anew by sorting, in numpy.
Marks come out of a hash function; numbers that do not would crowd some segments, which costs time but no mistake.
"""

from array import array
from collections.abc import Iterable

import numpy as np

__all__ = ["MarkCounter", "MarkSet"]

SEGMENTS = 256
FIRST_SLOTS = 16
FULL = 0.75
GROWTH = 1.5
TAIL = 64
"""Slots behind the last place, so that a run of neighbours need not wrap around; a run that fills them grows all."""

MASK = (1 << 64) - 1
EMPTY = 0
STAND_IN = 0x9E3779B97F4A7C15
"""What is stored for the mark 0, since 0 is an empty slot. Another mark of this value counts as the same one."""


class _Segment:
    """One hash table: marks, and where `counted` a number for each."""

    __slots__ = ("counts", "marks", "places", "room", "used")

    def __init__(self, counted: bool) -> None:
        self.places = FIRST_SLOTS
        self.marks = array("Q", bytes(8 * (FIRST_SLOTS + TAIL)))
        self.counts = array("I", bytes(4 * (FIRST_SLOTS + TAIL))) if counted else None
        self.used = 0
        self.room = int(FIRST_SLOTS * FULL)

    def slot(self, mark: int) -> int:
        """Where the mark is, or the empty slot where it belongs; -1 if there is none before the end."""
        marks = self.marks
        at = (mark >> 24 & 0xFFFFFFFF) * self.places >> 32
        try:
            while (found := marks[at]) != mark:
                if not found:
                    return at
                at += 1
        except IndexError:
            return -1
        return at

    def grow(self) -> None:
        """Make the table anew with half as many slots again, or more where marks crowd at its end."""
        old = np.frombuffer(self.marks, dtype=np.uint64)
        taken = np.flatnonzero(old)
        order = taken[np.argsort(old[taken])]
        marks = old[order]
        steps = np.arange(len(marks))
        places, tail = max(int(self.places * GROWTH), self.places + 1), TAIL
        home = ((marks >> np.uint64(24) & np.uint64(0xFFFFFFFF)) * np.uint64(places) >> np.uint64(32)).astype(np.int64)
        at = np.maximum.accumulate(home - steps) + steps
        while len(at) and at[-1] >= places + tail:
            tail *= 2
        fresh = np.zeros(places + tail, dtype=np.uint64)
        fresh[at] = marks
        counts = None
        if self.counts is not None:
            numbers = np.zeros(places + tail, dtype=np.uint32)
            numbers[at] = np.frombuffer(self.counts, dtype=np.uint32)[order]
            counts = array("I", numbers.tobytes())
        self.marks, self.counts, self.places = array("Q", fresh.tobytes()), counts, places
        self.room = int(places * FULL)


class _Table:
    def __init__(self, *, counted: bool) -> None:
        self._segments = [_Segment(counted) for _ in range(SEGMENTS)]

    def __len__(self) -> int:
        return sum(segment.used for segment in self._segments)

    def __contains__(self, mark: int) -> bool:
        mark = mark & MASK or STAND_IN
        segment = self._segments[mark >> 56]
        at = segment.slot(mark)
        return at >= 0 and segment.marks[at] != EMPTY

    def _place(self, mark: int) -> tuple[_Segment, int, bool]:
        """The mark's segment and slot, and whether it is new there; it is in the table afterwards."""
        segment = self._segments[mark >> 56]
        at = segment.slot(mark)
        if at >= 0 and segment.marks[at]:
            return segment, at, False
        if at < 0 or segment.used >= segment.room:
            segment.grow()
            while (at := segment.slot(mark)) < 0:
                segment.grow()
        segment.marks[at] = mark
        segment.used += 1
        return segment, at, True


class MarkSet(_Table):
    """A set of marks that only grows."""

    def __init__(self) -> None:
        super().__init__(counted=False)

    def add(self, mark: int) -> bool:
        """Remember the mark; False if it was known."""
        return self._place(mark & MASK or STAND_IN)[2]

    def update(self, marks: Iterable[int]) -> None:
        """Remember many at once."""
        for mark in marks:
            self._place(mark & MASK or STAND_IN)


class MarkCounter(_Table):
    """A number of at most 32 bits for each mark, 0 where nothing was counted."""

    def __init__(self) -> None:
        super().__init__(counted=True)

    def __getitem__(self, mark: int) -> int:
        mark = mark & MASK or STAND_IN
        segment = self._segments[mark >> 56]
        at = segment.slot(mark)
        return segment.counts[at] if at >= 0 and segment.counts is not None and segment.marks[at] else 0

    def add(self, mark: int, count: int = 1) -> int:
        """Count further; gives the new number."""
        segment, at, _ = self._place(mark & MASK or STAND_IN)
        if segment.counts is None:
            raise RuntimeError("a table of marks without numbers")
        segment.counts[at] += count
        return segment.counts[at]
