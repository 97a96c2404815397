"""One node's part of a collection: its database for reading and its index, asked together."""

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from periplus.errors import EnvironmentFailure, FolderInUse
from periplus.index import NodeIndex, unpack_mentions, unpack_text
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import NodeFolder

__all__ = ["PageRecord", "Shard"]

_COLUMNS = (
    "id, url, title, description, language, published, fetched_at, topic, main_place, content_digest, "
    "keyword_relevance, place_relevance, depth, domain, ifnull(likeness, 0)"
)


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What a result shows of a page."""

    id: int
    url: str
    title: str
    description: str
    language: str
    published: str | None
    fetched_at: str
    topic: str
    main_place: int | None
    content_digest: int
    keyword_relevance: float
    place_relevance: float
    depth: int
    domain: str
    likeness: int  # similarity hash of the text; 0: too short to compare


@dataclass(frozen=True, slots=True)
class PackedLinks:
    """The links of a page as they are stored, and the names of the nodes."""

    fingerprints: bytes
    nodes: bytes
    anchors: tuple[str, ...]
    names: dict[int, str]


class Shard:
    """A node of a collection. Any thread may ask; the database takes one at a time."""

    def __init__(self, key: str, folder: NodeFolder, db: sqlite3.Connection, index: NodeIndex) -> None:
        self.key = key
        self.folder = folder
        self.index = index
        self._db = db
        self._path = folder.database
        self._turn = threading.Lock()

    @classmethod
    def open(cls, key: str, folder: NodeFolder) -> "Shard":
        """Open the node's database and its index, an empty one if there is none yet."""
        db = open_reader(folder.database)
        return cls(key, folder, db, NodeIndex.open(folder.index))

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def last_revision(self) -> int:
        """The node's highest revision; -1 if it has no pages."""
        found = self._rows("SELECT max(revision) FROM page")[0][0]
        return -1 if found is None else int(found)

    def update(self, progress: Callable[[int], None] | None = None, latest: Mapping[str, int] | None = None) -> bool:
        """Bring the index up to date; whether it changed. If another process is at it, take what that one has.

        `latest`: the last revisions of all nodes of the crawl, by name.
        """
        before, changed = self.index.revision, False
        db = open_reader(self.folder.database)  # its own connection: an update may take minutes
        try:
            with storage_errors(self.folder.database):
                changed = self.index.update(db, progress, latest=latest) > 0
        except FolderInUse:
            self.index.refresh()
        except EnvironmentFailure:
            if self.index.revision < 0:  # nothing to fall back on
                raise
        finally:
            db.close()
        return changed or self.index.revision != before

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._turn, storage_errors(self._path):
            return self._db.execute(sql, values).fetchall()

    def places(self) -> list[tuple[Any, ...]]:
        """All rows of `place`."""
        return self._rows("SELECT id, name, kind, country, admin1, lon, lat, population, path, ancestors FROM place")

    def kept(self) -> int:
        """How many pages are kept."""
        return int(self._rows("SELECT count(*) FROM page WHERE kept = 1")[0][0])

    def records(self, pages: Sequence[int]) -> dict[int, PageRecord]:
        """The kept ones among these pages."""
        rows = self._in(
            "SELECT {} FROM page LEFT JOIN page_likeness ON page_id = id WHERE kept = 1 AND id IN ({})", pages
        )
        return {row[0]: PageRecord(*row) for row in rows}

    def footprints(self, pages: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
        """The places of these pages with their weights, heaviest first."""
        found: dict[int, list[tuple[int, float]]] = {}
        order = "ORDER BY page_id, weight DESC, place_id"
        for start in range(0, len(pages), 900):
            part = pages[start : start + 900]
            marks = ",".join("?" * len(part))
            sql = f"SELECT page_id, place_id, weight FROM page_place WHERE page_id IN ({marks}) {order}"
            for page, place, weight in self._rows(sql, part):
                found.setdefault(page, []).append((place, weight))
        return found

    def _in(self, sql: str, pages: Sequence[int]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(pages), 900):
            part = pages[start : start + 900]
            rows.extend(self._rows(sql.format(_COLUMNS, ",".join("?" * len(part))), part))
        return rows

    def links(self, page: int) -> PackedLinks | None:
        """The links of a page; None if it has none."""
        rows = self._rows("SELECT fingerprints, nodes, anchors FROM link WHERE page_id = ?", (page,))
        if not rows:
            return None
        names = dict(self._rows("SELECT id, name FROM node_name"))
        anchors = unpack_text(rows[0][2]).split("\n") if rows[0][2] else []
        return PackedLinks(rows[0][0], rows[0][1], tuple(anchors), names)

    def urls(self, fingerprints: Sequence[int]) -> dict[int, tuple[str, str]]:
        """URLs that the node knows by their fingerprints, with what became of them."""
        marks = ",".join("?" * len(fingerprints))
        rows = self._rows(
            f"SELECT fingerprint, url, ifnull(outcome, 'queued') FROM url WHERE fingerprint IN ({marks})", fingerprints
        )
        return {mark: (url, outcome) for mark, url, outcome in rows}

    def record_place(self, page: int) -> tuple[str, int, int] | None:
        """File, offset and length of a page's archive record; None if it has none."""
        rows = self._rows(
            "SELECT warc_file, warc_offset, warc_length FROM page WHERE id = ? AND kept = 1 AND warc_file IS NOT NULL",
            (page,),
        )
        return tuple(rows[0]) if rows else None

    def text(self, page: int) -> tuple[str, list[tuple[int, int, int, float]]]:
        """The text of a page and its mentions: start, end, place, confidence."""
        rows = self._rows("SELECT text, mentions FROM page_text WHERE page_id = ?", (page,))
        if not rows:
            return "", []
        return unpack_text(rows[0][0]), unpack_mentions(rows[0][1])
