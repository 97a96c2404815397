"""Kept pages read from `node.db` in the order of their revisions."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

from periplus.errors import Corrupt
from periplus.index.schema import IndexedPlace, PageRow

__all__ = [
    "Change",
    "Cursor",
    "last_revision",
    "read_again",
    "read_changes",
    "read_kept",
    "read_places",
    "unpack_mentions",
    "unpack_text",
]

MOST_REVISION = 2**63 - 1
"""More than any row has."""

MOST_BYTES = 64 * 2**20
"""More decompressed text than this cannot come from a page."""


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """The last row of `page` that the index has seen, in the order of revisions."""

    revision: int = -1
    page_id: int = -1


@dataclass(frozen=True, slots=True)
class Change:
    """A row that is new since the cursor; `page` is None if the page is not kept (any more)."""

    cursor: Cursor
    page: PageRow | None


def last_revision(db: sqlite3.Connection) -> int:
    """The highest revision of the node; -1 of an empty one."""
    row = db.execute("SELECT max(revision) FROM page").fetchone()
    return -1 if row[0] is None else int(row[0])


_ROWS = """
SELECT p.id, p.revision, p.kept, p.url, p.domain, p.title, p.description, p.language, p.published, p.fetched_at,
       p.topic, p.main_place, p.fingerprint, t.text
FROM page p LEFT JOIN page_text t ON t.page_id = p.id
"""
_CHANGES = f"""{_ROWS}
WHERE p.revision BETWEEN :revision AND :last AND (p.revision > :revision OR p.id > :page)
ORDER BY p.revision, p.id LIMIT :most
"""


def read_changes(db: sqlite3.Connection, after: Cursor, most: int, last: int = MOST_REVISION) -> list[Change]:
    """Up to `most` rows after the cursor, oldest first, none newer than revision `last`."""
    values = {"revision": after.revision, "page": after.page_id, "most": most, "last": last}
    return _changes(db, db.execute(_CHANGES, values).fetchall())


def read_again(db: sqlite3.Connection, pages: Sequence[int]) -> list[Change]:
    """The rows with these numbers as they stand now."""
    marks = ",".join("?" * len(pages))
    return _changes(db, db.execute(f"{_ROWS} WHERE p.id IN ({marks})", pages).fetchall())


def read_kept(db: sqlite3.Connection, until: Cursor) -> Iterator[tuple[int, int, int]]:
    """Fingerprint and number of the kept pages up to the cursor, and 0: what links say about them is not known."""
    yield from db.execute(
        "SELECT fingerprint, id, 0 FROM page WHERE kept AND (revision < ? OR revision = ? AND id <= ?)",
        (until.revision, until.revision, until.page_id),
    )


def _changes(db: sqlite3.Connection, rows: list[Any]) -> list[Change]:
    kept = [row[0] for row in rows if row[2]]
    footprints = _footprints(db, kept)
    changes = []
    for row in rows:
        identifier, revision, is_kept, url, domain, title, description, language, published = row[:9]
        fetched_at, topic, main_place, fingerprint, text = row[9:]
        page = None
        if is_kept:
            places = footprints.get(identifier, ())
            page = PageRow(
                id=identifier,
                fingerprint=fingerprint,
                url=url,
                domain=domain,
                title=title,
                description=description,
                language=language,
                published=published,
                fetched_at=fetched_at,
                topic=topic,
                text=unpack_text(text) if text is not None else "",
                places=places,
                main_place=main_place if main_place is not None else next(iter(places), None),
            )
        changes.append(Change(Cursor(revision, identifier), page))
    return changes


def _footprints(db: sqlite3.Connection, pages: list[int]) -> dict[int, tuple[int, ...]]:
    marks = ",".join("?" * len(pages))
    found: dict[int, list[int]] = {}
    order = (
        f"SELECT page_id, place_id FROM page_place WHERE page_id IN ({marks}) ORDER BY page_id, weight DESC, place_id"
    )
    for page_id, place_id in db.execute(order, pages):
        found.setdefault(page_id, []).append(place_id)
    return {page_id: tuple(places) for page_id, places in found.items()}


def read_places(db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, IndexedPlace]:
    """The places with these ids that the node knows."""
    wanted = sorted(set(ids))
    found: dict[int, IndexedPlace] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ",".join("?" * len(part))
        for row in db.execute(f"SELECT id, ancestors, lon, lat FROM place WHERE id IN ({marks})", part):
            found[row[0]] = IndexedPlace.from_row(row)
    return found


class _Unpacking(threading.local):
    """One for each thread: making it takes as long as unpacking a page."""

    def __init__(self) -> None:
        self.decompress = zstandard.ZstdDecompressor().decompress


_unpacking = _Unpacking()


def unpack_text(blob: bytes) -> str:
    """A text as `page_text` keeps it."""
    try:
        return _unpacking.decompress(blob, max_output_size=MOST_BYTES).decode("utf-8", "replace")
    except zstandard.ZstdError as error:
        raise Corrupt(f"node.db: a page's text cannot be unpacked ({error}); run `periplus verify --repair`") from error


def unpack_mentions(blob: bytes | None) -> list[tuple[int, int, int, float]]:
    """Start, end, place and confidence of the settled mentions of a page, as `page_text` keeps them."""
    rows = json.loads(unpack_text(blob) or "[]") if blob is not None else []
    return [(row[0], row[1], row[2], row[3]) for row in rows if row[2] is not None]
