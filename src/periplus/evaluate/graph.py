"""The link graph of a crawl as two arrays, in pieces that fit into memory. Pure; used by `measures`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

__all__ = ["Bools", "Floats", "Integers", "LinkGraph", "distinct"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Targets = npt.NDArray[np.int32]

BLOCK_PAIRS = 4_000_000
"""How many (start, page) pairs a walk holds at once: about 100 MB, whatever the size of the crawl."""


def distinct(values: Integers) -> Integers:
    """The values, sorted, each once. NumPy's own `unique` hashes, which takes eighty times as long on millions."""
    ordered: Integers = np.sort(values)
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    kept: Integers = ordered[new]
    return kept


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages 0..n-1 and their links to each other: page p links to `targets[offsets[p]:offsets[p + 1]]`.

    Each link stands once, and no page links to itself; the constructors see to it.
    """

    offsets: Integers
    targets: Targets

    @classmethod
    def from_lists(cls, lists: Iterable[Iterable[int]]) -> "LinkGraph":
        """The graph in which page p links to the pages of the p-th list; repeats and self-links are left out."""
        rows: list[Targets] = []
        for page, row in enumerate(lists):
            unique = distinct(np.fromiter(row, dtype=np.int64))
            rows.append(unique[unique != page].astype(np.int32))
        return cls.from_rows(rows)

    @classmethod
    def from_rows(cls, rows: list[Targets]) -> "LinkGraph":
        """The graph from rows that are sorted and unique and without self-links already."""
        counts = [len(row) for row in rows]
        return cls.from_parts(len(rows), [(np.repeat(np.arange(len(rows), dtype=np.int32), counts), _joined(rows))])

    @classmethod
    def from_parts(cls, size: int, parts: list[tuple[Targets, Targets]]) -> "LinkGraph":
        """The graph from links (from, to) that are sorted in each part; all links of a page are in one part."""
        offsets = np.zeros(size + 1, dtype=np.int64)
        for sources, _ in parts:
            offsets[1:] += np.bincount(sources, minlength=size)
        np.cumsum(offsets, out=offsets)
        targets = np.empty(int(offsets[-1]), dtype=np.int32)
        for sources, ends in parts:
            order = np.arange(len(sources))
            begins = np.concatenate(([True], sources[1:] != sources[:-1])) if len(sources) else np.empty(0, bool)
            targets[offsets[sources] + order - np.maximum.accumulate(np.where(begins, order, 0))] = ends
        return cls(offsets, targets)

    @property
    def size(self) -> int:
        """The number of pages."""
        return len(self.offsets) - 1

    def towards(self, wanted: Bools) -> "LinkGraph":
        """The same pages with only the links that lead to wanted ones."""
        chosen = np.flatnonzero(wanted[self.targets])
        return LinkGraph(np.searchsorted(chosen, self.offsets), self.targets[chosen])

    def matrix(self) -> csr_array:
        """The links as a sparse matrix: a row a page, a column for each that it links to."""
        links = np.ones(len(self.targets), dtype=bool)
        small = len(links) < 2**31  # SciPy would widen the targets to what the offsets are
        offsets = self.offsets.astype(np.int32) if small else self.offsets
        return csr_array((links, self.targets, offsets), shape=(self.size, self.size))

    def links_of(self, first: int, end: int) -> tuple[Integers, Integers]:
        """The links of the pages first..end: from, to."""
        counts = np.diff(self.offsets[first : end + 1])
        sources = np.repeat(np.arange(first, end, dtype=np.int64), counts)
        return sources, self.targets[self.offsets[first] : self.offsets[end]].astype(np.int64)

    def blocks(self, pairs: float) -> Iterator[tuple[int, int]]:
        """Ranges of pages that fit into a block if each of them brings so many pairs."""
        length = max(1, int(BLOCK_PAIRS / max(1.0, pairs)))
        for first in range(0, self.size, length):
            yield first, min(first + length, self.size)


def _joined(rows: list[Targets]) -> Targets:
    return np.concatenate(rows).astype(np.int32, copy=False) if rows else np.empty(0, dtype=np.int32)
