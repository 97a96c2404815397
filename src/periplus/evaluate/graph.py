"""The link graph of a crawl as two arrays, and walks of bounded length over it. Pure; used by `measures`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Integers", "LinkGraph", "distinct", "without"]

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


def without(values: Integers, others: Integers) -> Integers:
    """The values that are not among the others; both are sorted."""
    if not len(others):
        return values
    at = np.minimum(np.searchsorted(others, values), len(others) - 1)
    left: Integers = values[others[at] != values]
    return left


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
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        targets = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        return cls(offsets, targets.astype(np.int32, copy=False))

    @property
    def size(self) -> int:
        """The number of pages."""
        return len(self.offsets) - 1

    def towards(self, wanted: Bools) -> "LinkGraph":
        """The same pages with only the links that lead to wanted ones."""
        chosen = wanted[self.targets]
        offsets = np.concatenate(([0], np.cumsum(chosen)))[self.offsets]
        return LinkGraph(offsets, self.targets[chosen])

    def sources(self) -> Integers:
        """The page that each link of `targets` comes from."""
        return np.repeat(np.arange(self.size, dtype=np.int64), np.diff(self.offsets))

    def step(self, starts: Integers, pages: Integers) -> tuple[Integers, Integers]:
        """One link on from each (start, page): the pairs (start, linked page), with repeats."""
        begins, ends = self.offsets[pages], self.offsets[pages + 1]
        counts = ends - begins
        total = int(counts.sum())
        shift = np.repeat(begins - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) if total else counts[:0]
        positions = np.arange(total, dtype=np.int64) + shift
        return np.repeat(starts, counts), self.targets[positions].astype(np.int64)

    def blocks(self, hops: int) -> Iterator[tuple[int, int]]:
        """Ranges of start pages whose walks of that length fit into a block, by the mean number of links."""
        links = max(1.0, len(self.targets) / max(1, self.size))
        length = max(1, int(BLOCK_PAIRS / (links**hops + 1)))
        for first in range(0, self.size, length):
            yield first, min(first + length, self.size)
