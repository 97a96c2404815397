"""What is exported of a page and of a place, read from the databases of a crawl's nodes in a steady order."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from periplus.index import unpack_text
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder, NodeFolder

__all__ = [
    "COLUMNS",
    "ExportedPage",
    "ExportedPlace",
    "PlaceCounts",
    "Selection",
    "assembled",
    "place_table",
    "printable",
    "read_pages",
]

BATCH = 500

Selection = Callable[[str, int], bool]
"""Whether the page with this node and number is wanted."""


@dataclass(frozen=True, slots=True)
class ExportedPlace:
    """A place of the gazetteer that pages are about. `pages`: how many of the exported ones name it."""

    id: int
    name: str
    kind: str
    country: str
    admin1: str
    population: int
    path: tuple[str, ...]
    lon: float
    lat: float
    pages: int = 0


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """A kept page with its main place (None: it has none) and its footprint as (place, weight), heaviest first."""

    node: str
    page: int
    fingerprint: int
    revision: int
    url: str
    title: str
    description: str
    language: str
    published: str | None
    fetched: str
    topics: tuple[str, ...]
    keyword_relevance: float
    place_relevance: float
    depth: int
    place: ExportedPlace | None
    footprint: tuple[tuple[ExportedPlace, float], ...]
    text: str = ""

    def to_row(self) -> dict[str, Any]:
        """Flat, in the order of COLUMNS: text, whole numbers and floats only, None where something is unknown."""
        place = self.place
        return {
            "node": self.node,
            "page": self.page,
            "url": self.url,
            "title": printable(self.title),
            "description": printable(self.description),
            "language": self.language,
            "published": self.published,
            "fetched": self.fetched,
            "topics": "; ".join(self.topics),
            "keyword_relevance": self.keyword_relevance,
            "place_relevance": self.place_relevance,
            "depth": self.depth,
            "place_id": place.id if place else None,
            "place": place.name if place else None,
            "place_path": " > ".join(place.path) if place else None,
            "country": place.country if place else None,
            "admin1": place.admin1 if place else None,
            "lon": place.lon if place else None,
            "lat": place.lat if place else None,
            "places": json.dumps(
                [{"id": other.id, "name": other.name, "weight": round(weight, 4)} for other, weight in self.footprint],
                ensure_ascii=False,
            ),
            "text": printable(self.text),
        }


COLUMNS: dict[str, type] = {
    "node": str,
    "page": int,
    "url": str,
    "title": str,
    "description": str,
    "language": str,
    "published": str,
    "fetched": str,
    "topics": str,
    "keyword_relevance": float,
    "place_relevance": float,
    "depth": int,
    "place_id": int,
    "place": str,
    "place_path": str,
    "country": str,
    "admin1": str,
    "lon": float,
    "lat": float,
    "places": str,
    "text": str,
}
"""Names and types of a page's row."""


def printable(text: str) -> str:
    """Text that every file format takes: without NUL and lone surrogates."""
    cleaned = text.replace("\x00", "")
    return cleaned if cleaned.isascii() else cleaned.encode("utf-8", "replace").decode()


_PAGES = """
SELECT p.id, p.fingerprint, p.revision, p.url, p.title, p.description, p.language, p.published, p.fetched_at, p.topic,
       p.keyword_relevance, p.place_relevance, p.depth, p.main_place, t.text
FROM page p LEFT JOIN page_text t ON t.page_id = p.id
WHERE p.kept = 1 AND p.id > ? ORDER BY p.id LIMIT ?
"""


def read_pages(crawl: CrawlFolder, *, wanted: Selection | None = None, text: bool = False) -> Iterator[ExportedPage]:
    """All kept pages of all nodes, or those that are wanted; with their texts where asked for."""
    for node in crawl.nodes():
        with closing(open_reader(node.database)) as db, storage_errors(node.database):
            places = place_table(db)
            last = 0
            while rows := db.execute(_PAGES, (last, BATCH)).fetchall():
                last = rows[-1][0]
                chosen = [row for row in rows if wanted is None or wanted(node.name, row[0])]
                yield from assembled(db, node, chosen, places, text=text)


def assembled(
    db: sqlite3.Connection,
    node: NodeFolder,
    rows: Iterable[tuple[Any, ...]],
    places: dict[int, ExportedPlace],
    *,
    text: bool,
) -> Iterator[ExportedPage]:
    """Pages from rows as `_PAGES` selects them."""
    found = list(rows)
    footprints = _footprints(db, [row[0] for row in found], places)
    for row in found:
        main = row[13] if row[13] is not None else next((p.id for p, _ in footprints.get(row[0], ())), None)
        identifier, fingerprint, revision, url, title, description, language, published, fetched = row[:9]
        yield ExportedPage(
            node=node.name,
            page=identifier,
            fingerprint=fingerprint,
            revision=revision,
            url=url,
            title=title,
            description=description,
            language=language,
            published=published,
            fetched=fetched,
            topics=tuple(row[9].splitlines()),
            keyword_relevance=row[10],
            place_relevance=row[11],
            depth=row[12],
            place=places.get(main) if main is not None else None,
            footprint=tuple(footprints.get(row[0], ())),
            text=unpack_text(row[14]) if text and row[14] is not None else "",
        )


def place_table(db: sqlite3.Connection) -> dict[int, ExportedPlace]:
    """All places of a node by id."""
    rows = db.execute("SELECT id, name, kind, country, admin1, population, path, lon, lat FROM place")
    return {
        key: ExportedPlace(key, name, kind, country, admin1, population, tuple(json.loads(path)), lon, lat)
        for key, name, kind, country, admin1, population, path, lon, lat in rows
    }


def _footprints(
    db: sqlite3.Connection, pages: list[int], places: dict[int, ExportedPlace]
) -> dict[int, list[tuple[ExportedPlace, float]]]:
    marks = ",".join("?" * len(pages))
    order = f"SELECT page_id, place_id, weight FROM page_place WHERE page_id IN ({marks}) ORDER BY 1, 3 DESC, 2"
    found: dict[int, list[tuple[ExportedPlace, float]]] = {}
    for page, place, weight in db.execute(order, pages):
        if place in places:
            found.setdefault(page, []).append((places[place], weight))
    return found


class PlaceCounts:
    """The places that passing pages name, with how many of the pages name each."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._known: dict[int, ExportedPlace] = {}

    def watched(self, pages: Iterable[ExportedPage]) -> Iterator[ExportedPage]:
        """The pages, unchanged."""
        for page in pages:
            for place, _ in page.footprint:
                self._counts[place.id] += 1
                self._known[place.id] = place
            yield page

    def places(self) -> list[ExportedPlace]:
        """The places of the pages that have passed, those with most pages first."""
        ordered = sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return [replace(self._known[key], pages=count) for key, count in ordered]
