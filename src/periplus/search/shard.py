"""One node's part of a collection: its database for reading and its index, asked together.

`Shard` is what the rest of search asks; `LocalShard` has it in a folder of this machine, `remote.RemoteShard` asks the
machine that has it.
"""

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from periplus.errors import ConfigError, Corrupt, EnvironmentFailure, FolderInUse
from periplus.index import IndexQuery, NodeIndex, RankedPage, Ranking, unpack_mentions, unpack_text
from periplus.settings import Job, load_job
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder, NodeFolder

__all__ = ["LocalShard", "PackedLinks", "PageIndex", "PageRecord", "PageText", "Shard"]

MOST_RECORD_BYTES = 64 * 2**20
PlaceRow = tuple[int, str, str, str, str, float, float, int, str, str]
"""id, name, kind, country, admin1, lon, lat, population, path and ancestors (both JSON)."""

PageText = tuple[str, list[tuple[int, int, int, float]]]
"""The text of a page and its mentions: start, end, place, confidence."""

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


class PageIndex(Protocol):
    """What search asks of a node's index; see `NodeIndex`."""

    @property
    def languages(self) -> frozenset[str]: ...
    @property
    def stamp(self) -> int: ...
    def count(self, query: IndexQuery) -> int: ...
    def top(self, query: IndexQuery, most: int, *, by_time: bool = False, stamp: int | None = None) -> Ranking: ...
    def counts(self, query: IndexQuery, fields: Mapping[str, int]) -> dict[str, dict[str, int]]: ...
    def numbers(self, query: IndexQuery, field: str, most: int) -> dict[int, int]: ...
    def words(self, prefix: str, most: int | None = None) -> list[tuple[str, int]]: ...
    def similar(self, title: str, text: str, language: str, most: int) -> list[RankedPage]: ...


class Shard(Protocol):
    """A node of a collection. `key` names it there, `name` in its crawl, `crawl` is the same for nodes of one crawl."""

    key: str
    name: str
    crawl: str

    @property
    def index(self) -> PageIndex:
        """Its index."""
        ...

    @property
    def is_silent(self) -> bool:
        """Whether it did not answer lately, so that an answer lacks what it has."""
        ...

    def job(self) -> Job:
        """The job of its crawl."""
        ...

    def close(self) -> None:
        """Let go of what it holds open."""
        ...

    def places(self) -> list[PlaceRow]:
        """All places that its pages name."""
        ...

    def records(self, pages: Sequence[int]) -> dict[int, PageRecord]:
        """The kept ones among these pages."""
        ...

    def footprints(self, pages: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
        """The places of these pages with their weights, heaviest first."""
        ...

    def texts(self, pages: Sequence[int]) -> dict[int, PageText]:
        """The texts of these pages with their mentions."""
        ...

    def links(self, page: int) -> PackedLinks | None:
        """The links of a page; None if it has none."""
        ...

    def urls(self, fingerprints: Sequence[int]) -> dict[int, tuple[str, str]]:
        """URLs that the node knows by their fingerprints, with what became of them."""
        ...

    def is_archived(self, page: int) -> bool:
        """Whether the page has an archive record."""
        ...

    def archive_record(self, page: int) -> bytes | None:
        """The page's WARC record as it is stored, one gzip member; None if it has none."""
        ...


class LocalShard:
    """A node in a folder of this machine. Any thread may ask; the database takes one at a time."""

    is_silent = False

    def __init__(self, key: str, folder: NodeFolder, db: sqlite3.Connection, index: NodeIndex) -> None:
        self.key = key
        self.name = folder.name
        self.crawl = str(folder.path.parent.parent)
        self.folder = folder
        self.index = index
        self._db = db
        self._path = folder.database
        self._turn = threading.Lock()

    @classmethod
    def open(cls, key: str, folder: NodeFolder) -> "LocalShard":
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

    @property
    def crawl_folder(self) -> CrawlFolder:
        """The crawl that the node is of."""
        return CrawlFolder(self.folder.path.parent.parent)

    def job(self) -> Job:
        """The job of its crawl; a bare one if its file is of another version."""
        folder = self.crawl_folder
        try:
            return load_job(folder.job_file)
        except ConfigError:
            return Job(name=folder.path.resolve().name)

    def places(self) -> list[PlaceRow]:
        """All rows of `place`."""
        return self.places_after(None, -1)

    def places_after(self, after: int | None, most: int) -> list[PlaceRow]:
        """Rows of `place` in the order of their ids, behind one of them."""
        columns = "id, name, kind, country, admin1, lon, lat, population, path, ancestors"
        where, values = ("", [most]) if after is None else ("WHERE id > ?", [after, most])
        rows: list[Any] = self._rows(f"SELECT {columns} FROM place {where} ORDER BY id LIMIT ?", values)
        return rows

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
            f"SELECT fingerprint, url, ifnull(outcome, 'queued') FROM known_url WHERE fingerprint IN ({marks})",
            fingerprints,
        )
        return {mark: (url, outcome) for mark, url, outcome in rows}

    def _record_place(self, page: int) -> tuple[str, int, int] | None:
        rows = self._rows(
            "SELECT warc_file, warc_offset, warc_length FROM page WHERE id = ? AND kept = 1 AND warc_file IS NOT NULL",
            (page,),
        )
        return tuple(rows[0]) if rows else None

    def is_archived(self, page: int) -> bool:
        """Whether the page has an archive record."""
        return self._record_place(page) is not None

    def archive_record(self, page: int) -> bytes | None:
        """The page's WARC record as it is stored, one gzip member; None if it has none."""
        where = self._record_place(page)
        if where is None:
            return None
        name, offset, length = where
        path = self.folder.archive / name
        if path.parent != self.folder.archive or not 0 < length <= MOST_RECORD_BYTES:
            raise Corrupt(f"{self._path}: page {page} has no proper archive record; run `periplus verify`")
        with storage_errors(path), path.open("rb") as file:
            file.seek(offset)
            return file.read(length)

    def texts(self, pages: Sequence[int]) -> dict[int, PageText]:
        """The texts of these pages with their mentions; what cannot be found has none."""
        found: dict[int, PageText] = {}
        for start in range(0, len(pages), 900):
            part = pages[start : start + 900]
            marks = ",".join("?" * len(part))
            sql = f"SELECT page_id, text, mentions FROM page_text WHERE page_id IN ({marks})"
            for page, text, mentions in self._rows(sql, part):
                found[page] = unpack_text(text), unpack_mentions(mentions)
        return found
