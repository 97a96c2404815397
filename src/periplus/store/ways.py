"""Shorter ways: which of the URLs that seemed too far away are within reach after all.

Pages come in the order of the network, so the first way to a URL need not be the shortest, and a limit on the length
of ways would cut off other pages in every run. Links beyond the limit are therefore set aside (table `beyond`); when
nothing is left to do, the shortest ways are worked out over all links that the nodes have stored, and what is within
reach joins the frontier. What a finished crawl holds then depends on the web and the limits alone, not on the order.
What sitemaps list is not stored as links (it may be 50,000 URLs each), so ways by them are as long as first found.
Links whose pattern had no budget left (`urls/traps.py`) wait in the same table, since it may earn more.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from periplus.model import NewUrl, Parcel
from periplus.urls import canonicalize

__all__ = ["WaysOfOneNode", "within_reach"]

Integers = npt.NDArray[np.int64]
CHUNK_PAGES = 2_000


def within_reach(databases: Mapping[str, sqlite3.Connection], *, depth: int, redirects: int) -> dict[str, list[Parcel]]:
    """By node, the URLs it has set aside that are within both limits by the shortest way. Databases are by node."""
    if not any(db.execute("SELECT 1 FROM beyond LIMIT 1").fetchone() for db in databases.values()):
        return {}
    ways = _Ways(databases.values(), depth_limit=depth)
    if any(_has_far(db, depth, redirects) for db in databases.values()):
        ways.shorten(databases.values())
    found: dict[str, list[Parcel]] = {}
    for name, db in databases.items():
        found[name] = _reached(db, ways, depth, redirects)
    return found


def _has_far(db: sqlite3.Connection, depth: int, redirects: int) -> bool:
    """Whether anything was set aside for being too far away."""
    far = db.execute("SELECT 1 FROM beyond WHERE depth > ? OR redirects > ? LIMIT 1", (depth, redirects))
    return far.fetchone() is not None


def _reached(db: sqlite3.Connection, ways: "_Ways", depth: int, redirects: int) -> list[Parcel]:
    return [
        Parcel(node, NewUrl(url, parts.host, mark, priority, *ways.to(mark)))
        for mark, url, node, priority in db.execute(
            "SELECT fingerprint, url, node, priority FROM beyond ORDER BY priority DESC"
        )
        if ways.is_within(mark, depth, redirects) and (parts := canonicalize(url)) is not None
    ]


class WaysOfOneNode:
    """The ways of one node of a cluster: each follows its own links, and they tell each other what changed."""

    def __init__(self, db: sqlite3.Connection, *, depth: int, redirects: int) -> None:
        self._db, self._depth, self._redirects = db, depth, redirects
        self._ways = _Ways([db], depth_limit=depth)
        self._ways.elsewhere = {}

    @staticmethod
    def has_any(db: sqlite3.Connection) -> bool:
        """Whether the node has set URLs aside."""
        return db.execute("SELECT 1 FROM beyond LIMIT 1").fetchone() is not None

    def shorten(self, told: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
        """Take what others tell, follow all links of the node, and give what is new for others."""
        self._ways.take(told)
        self._ways.shorten([self._db])
        return self._ways.news()

    def within_reach(self) -> list[Parcel]:
        """The URLs that the node has set aside and that are within both limits."""
        return _reached(self._db, self._ways, self._depth, self._redirects)


class _Ways:
    """The length of the shortest known way to each URL: links from a seed, and redirects in a row."""

    def __init__(self, databases: Iterable[sqlite3.Connection], *, depth_limit: int) -> None:
        rows = [
            row
            for db in databases
            for table in ("url", "beyond")
            for row in db.execute(f"SELECT fingerprint, depth, redirects FROM {table}")
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self._marks, first = np.unique(table[:, 0], return_inverse=True)
        self._depth = np.full(len(self._marks), np.iinfo(np.int64).max)
        self._redirects = self._depth.copy()
        np.minimum.at(self._depth, first, table[:, 1])
        np.minimum.at(self._redirects, first, table[:, 2])
        self._depth_limit = depth_limit
        self.elsewhere: dict[int, tuple[int, int]] | None = None
        """In a cluster: the shortest known ways to URLs that other nodes may have."""
        self._told: dict[int, tuple[int, int]] = {}

    def take(self, ways: Mapping[int, tuple[int, int]]) -> None:
        """Ways that other nodes know."""
        for mark, (depth, redirects) in ways.items():
            found, at = self._find(np.array([mark], dtype=np.int64))
            if found[0]:
                self._depth[at[0]] = min(self._depth[at[0]], depth)
                self._redirects[at[0]] = min(self._redirects[at[0]], redirects)

    def news(self) -> dict[int, tuple[int, int]]:
        """Ways to URLs elsewhere that are shorter than what was told before; told once."""
        fresh: dict[int, tuple[int, int]] = {}
        for mark, way in (self.elsewhere or {}).items():
            known = self._told.get(mark)
            if known is None or way[0] < known[0] or way[1] < known[1]:
                fresh[mark] = self._told[mark] = (
                    way if known is None else (min(way[0], known[0]), min(way[1], known[1]))
                )
        return fresh

    def _note_elsewhere(
        self,
        targets: Integers,
        source: npt.NDArray[np.intp],
        steps: Integers,
        here: npt.NDArray[np.bool_],
        *,
        redirected: bool,
    ) -> None:
        depths = self._depth[source[here]] + steps[here]
        hops = self._redirects[source[here]] + 1 if redirected else np.zeros(len(depths), dtype=np.int64)
        table = {} if self.elsewhere is None else self.elsewhere
        for mark, depth, hop in zip(targets[here].tolist(), depths.tolist(), hops.tolist(), strict=True):
            if depth <= self._depth_limit:
                known = table.get(mark, (depth, hop))
                table[mark] = min(depth, known[0]), min(hop, known[1])

    def to(self, mark: int) -> tuple[int, int]:
        """Depth and redirects of a known URL."""
        at = np.searchsorted(self._marks, mark)
        return int(self._depth[at]), int(self._redirects[at])

    def is_within(self, mark: int, depth: int, redirects: int) -> bool:
        """Whether the URL is within the limits."""
        links, hops = self.to(mark)
        return links <= depth and hops <= redirects

    def shorten(self, databases: Iterable[sqlite3.Connection]) -> None:
        """Follow all links and redirects until no way gets shorter. Every round settles at least one more step."""
        sources = list(databases)
        changed = True
        while changed:
            rounds = [self._take(*links) for db in sources for links in _links(db)]
            rounds += [self._take(*hops, redirected=True) for db in sources for hops in _redirects(db)]
            changed = any(rounds)

    def _take(self, pages: Integers, targets: Integers, steps: Integers, *, redirected: bool = False) -> bool:
        """Shorten the ways to the targets by way of the pages; whether any became shorter."""
        known, at = self._find(targets)
        source_known, source = self._find(pages)
        if self.elsewhere is not None:
            self._note_elsewhere(targets, source, steps, source_known & ~known, redirected=redirected)
        known &= source_known
        at, source = at[known], source[known]
        depth = self._depth[source] + steps[known]
        hops = self._redirects[source] + 1 if redirected else np.zeros(len(at), dtype=np.int64)
        near = depth <= self._depth_limit
        at, depth, hops = at[near], depth[near], hops[near]
        better = bool(np.any((depth < self._depth[at]) | (hops < self._redirects[at])))
        if better:
            np.minimum.at(self._depth, at, depth)
            np.minimum.at(self._redirects, at, hops)
        return better

    def _find(self, marks: Integers) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
        """Which of the URLs are known, and where."""
        at = np.minimum(np.searchsorted(self._marks, marks), len(self._marks) - 1)
        return self._marks[at] == marks, at


Triples = tuple[Integers, Integers, Integers]


def _links(db: sqlite3.Connection) -> Iterator[Triples]:
    """All links of a node in pieces: page, target, steps."""
    rows = db.execute("SELECT p.fingerprint, l.fingerprints, l.steps FROM link l JOIN page p ON p.id = l.page_id")
    for chunk in _chunks(rows.fetchmany):
        targets = [np.frombuffer(marks, "<i8") for _, marks, _ in chunk]
        counts = [len(marks) for marks in targets]
        pages = np.repeat(np.array([page for page, _, _ in chunk], dtype=np.int64), counts)
        steps = [
            np.frombuffer(deep, "u1") if deep else np.ones(count, "u1")
            for (_, _, deep), count in zip(chunk, counts, strict=True)
        ]
        yield pages, np.concatenate(targets), np.concatenate(steps).astype(np.int64)


def _redirects(db: sqlite3.Connection) -> Iterator[Triples]:
    """All redirects of a node in pieces, in the form of links."""
    rows = db.execute(
        "SELECT url.fingerprint, redirect FROM progress JOIN url ON url.id = progress.id WHERE redirect IS NOT NULL"
    )
    for chunk in _chunks(rows.fetchmany):
        pairs = np.array(chunk, dtype=np.int64)
        yield pairs[:, 0], pairs[:, 1], np.zeros(len(pairs), dtype=np.int64)


def _chunks(fetchmany: Callable[[int], list[tuple[int, bytes, bytes]]]) -> Iterator[list[tuple[int, bytes, bytes]]]:
    while chunk := fetchmany(CHUNK_PAGES):
        yield chunk
