"""What links say about the pages of one node: gathered from the links of all nodes of a crawl.

`node.db` keeps what a page's links say beside the page; the index needs it beside the page they lead to. This is the
small database between the two, in the folder of the index (`anchors.db`), and like it made anew when it is gone.
Each text counts once for a page, however often it is said, so that menus weigh nothing. A page is indexed again when
it has four times as many texts as when it was indexed: a page that everybody links to costs a few turns, not thousands.
"""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import zstandard

from periplus.errors import Corrupt
from periplus.index.reading import MOST_BYTES, last_revision
from periplus.index.recent import RecentLinks, numbers
from periplus.store.database import open_reader

__all__ = ["Anchors", "discard_anchors", "may_be_damaged"]

MOST_TEXTS = 32
"""Different texts that are kept for a page."""

OUTGROWN = 4
LINK_ROWS = 500
"""Pages whose links are taken up in one transaction."""

NOBODY = 2**16 - 1
"""The number of no node."""

_DECOMPRESSOR = zstandard.ZstdDecompressor()
_SCHEMA = """
CREATE TABLE IF NOT EXISTS source (node TEXT PRIMARY KEY, revision INTEGER NOT NULL, page INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS anchor (target INTEGER PRIMARY KEY, count INTEGER NOT NULL, texts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS page (target INTEGER PRIMARY KEY, id INTEGER NOT NULL, texts INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS stale (target INTEGER PRIMARY KEY);
"""

_ADD = f"""
INSERT INTO anchor VALUES (?1, 1, ?2)
ON CONFLICT (target) DO UPDATE SET count = count + 1, texts = texts || char(10) || ?2
WHERE count < {MOST_TEXTS} AND instr(char(10) || texts || char(10), char(10) || ?2 || char(10)) = 0
"""
"""A page's texts are lines of one row: a row for each would cost three times as much."""

_LINKS = """
SELECT p.id, p.revision, l.fingerprints, l.nodes, l.anchors
FROM page p LEFT JOIN link l ON l.page_id = p.id AND instr(l.nodes, :own)
WHERE p.revision BETWEEN :revision AND :last AND (p.revision > :revision OR p.id > :page)
ORDER BY p.revision, p.id LIMIT :most
"""

_DAMAGE = (0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Codes of SQLite of what cannot be read, is no database, or has other tables; 0: of a text that is none."""


def may_be_damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether the error tells of a damaged file rather than of the disk or of somebody who writes as well."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def discard_anchors(folder: Path) -> None:
    """Delete what was gathered; for who holds the writer's lock of the index.

    It is not synced, so the loss of power may leave any part of it.
    """
    for name in ("anchors.db", "anchors.db-wal", "anchors.db-shm"):
        (folder / name).unlink(missing_ok=True)


class Anchors:
    """The texts of links to the pages of the node whose index lies in `folder`. One writer, as the index has."""

    def __init__(self, folder: Path, recent: RecentLinks) -> None:
        """`recent`: what was added lately by the same process; spares most of the writing."""
        self._recent = recent
        self._node = folder.parent.name
        self._siblings = sorted(path.parent.name for path in folder.parent.parent.glob("*/node.db"))
        self._root = folder.parent.parent
        self._db = sqlite3.connect(folder / "anchors.db", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")  # what is lost is read again: it holds nothing of its own
        self._db.executescript(_SCHEMA)

    def is_new(self) -> bool:
        """Whether nothing was ever taken up."""
        return self._db.execute("SELECT 1 FROM source").fetchone() is None

    def close(self) -> None:
        """Let the database go."""
        self._db.close()

    def is_behind(self, latest: Mapping[str, int] | None) -> bool:
        """Whether a node has pages that were not read yet. `latest`: last revisions by node, where they are known."""
        known = dict(self._db.execute("SELECT node, revision FROM source"))
        return any(known.get(name, -1) != revision for name, revision in (latest or self._latest()).items())

    def _latest(self) -> dict[str, int]:
        return {name: last_revision(reader) for name, reader in self._readers()}

    def _readers(self) -> Iterator[tuple[str, sqlite3.Connection]]:
        """The databases of all nodes. One that cannot be read says nothing, and is no reason not to index others."""
        for name in self._siblings:
            with contextlib.suppress(Corrupt), closing(open_reader(self._root / name / "node.db")) as reader:
                yield name, reader

    def clear(self) -> None:
        """Forget everything."""
        self._recent.clear()
        for table in ("source", "anchor", "page", "stale"):
            self._db.execute(f"DELETE FROM {table}")

    def take_up(self) -> dict[str, int]:
        """Read the links that all nodes of the crawl have written since the last time; gives how far each was read.

        What is written meanwhile is left for the next time: a crawl may be faster than we are.
        """
        return {name: self._take_from(name, reader) for name, reader in self._readers()}

    def _take_from(self, name: str, reader: sqlite3.Connection) -> int:
        row = self._db.execute("SELECT revision, page FROM source WHERE node = ?", (name,)).fetchone()
        revision, page = row or (-1, -1)
        newest = last_revision(reader)
        if newest == revision:
            return newest
        if newest < revision:  # another database is in its place
            revision, page = -1, -1
        own = reader.execute("SELECT id FROM node_name WHERE name = ?", (self._node,)).fetchone()
        number = own[0] if own else NOBODY
        wanted = {"own": number.to_bytes(2, "little"), "most": LINK_ROWS, "last": newest}
        while rows := reader.execute(_LINKS, wanted | {"revision": revision, "page": page}).fetchall():
            page, revision = rows[-1][:2]
            self._db.execute("BEGIN IMMEDIATE")
            self._add([pair for row in rows for pair in self._said(row[2:], number)])
            self._db.execute("INSERT OR REPLACE INTO source VALUES (?, ?, ?)", (name, revision, page))
            self._db.execute("COMMIT")
        return int(revision)

    def _add(self, said: list[tuple[int, str]]) -> None:
        said.sort()  # so the database is walked through once
        self._db.executemany(_ADD, said)
        # Pages that are not indexed yet get all their texts when they are.
        for part in _parts(list(dict.fromkeys([target for target, _ in said]))):
            marks = ",".join("?" * len(part))
            self._db.execute(f"INSERT OR IGNORE INTO stale SELECT target FROM page WHERE target IN ({marks})", part)

    def _said(self, row: Sequence[bytes | None], number: int) -> list[tuple[int, str]]:
        """Fingerprint and text of the links of one page that lead to the node with this number, if that is new."""
        packed, nodes, anchors = row
        if not packed or not nodes or not anchors:
            return []
        texts = _DECOMPRESSOR.decompress(anchors, max_output_size=MOST_BYTES)
        targets, leads = np.frombuffer(packed, dtype="<i8"), np.frombuffer(nodes, dtype="<u2")
        return self._recent.take(numbers(targets), numbers(leads), number, texts)

    def texts(self, targets: Iterable[int]) -> dict[int, list[str]]:
        """What links say about these pages (fingerprints of their URLs)."""
        found: dict[int, list[str]] = {}
        for part in _parts(sorted(set(targets))):
            marks = ",".join("?" * len(part))
            for target, texts in self._db.execute(f"SELECT target, texts FROM anchor WHERE target IN ({marks})", part):
                found[target] = sorted(texts.split("\n"))
        return found

    def note_indexed(self, pages: Iterable[tuple[int, int, int]]) -> None:
        """These pages (fingerprint, number, how many texts) stand in the index now, or will after its next commit."""
        rows = list(pages)
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", rows)
        self._db.executemany("DELETE FROM stale WHERE target = ?", [(target,) for target, _, _ in rows])
        self._db.execute("COMMIT")

    def begin_with(self, pages: Iterable[tuple[int, int, int]]) -> None:
        """These pages, as many as there may be, stood in the index before anything was gathered."""
        self._recent.clear()  # it tells of what is gone
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", pages)
        self._db.execute("COMMIT")

    def forget(self, pages: Iterable[int]) -> None:
        """These pages are not kept any more."""
        self._db.executemany("DELETE FROM stale WHERE target IN (SELECT target FROM page WHERE id = ?)", _rows(pages))
        self._db.executemany("DELETE FROM page WHERE id = ?", _rows(pages))

    def outgrown(self, most: int) -> list[int]:
        """Numbers of indexed pages that by now have far more texts than when they were indexed."""
        rows = self._db.execute(
            "SELECT page.id FROM stale JOIN page ON page.target = stale.target "
            "JOIN anchor ON anchor.target = stale.target WHERE anchor.count >= max(1, ? * page.texts) LIMIT ?",
            (OUTGROWN, most),
        )
        return [row[0] for row in rows]


def _rows(values: Iterable[int]) -> list[tuple[int]]:
    return [(value,) for value in values]


def _parts(values: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), 500):
        yield values[start : start + 500]
