"""A PostgreSQL/PostGIS schema that follows a crawl: pages, places, mentions and links, each with its geometry.

How far each node was read stands in the same transaction as the rows (`sink`), so a sink that is killed goes on where
it was, and nothing is there twice. A page that changed is replaced, one that is gone is removed. Needs psycopg.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np
import zstandard

from periplus.errors import EnvironmentFailure, UsageError
from periplus.export.rows import ExportedPage, ExportedPlace, assembled, place_table, printable
from periplus.index import unpack_mentions
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder, NodeFolder

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

__all__ = ["PostgisSink", "ServerAway", "Synced"]

BATCH = 200
MOST_WORDS_CHARACTERS = 200_000
"""How much of a text can be searched in PostgreSQL: a tsvector has at most a megabyte."""

_ROWS = """
SELECT p.id, p.fingerprint, p.revision, p.url, p.title, p.description, p.language, p.published, p.fetched_at, p.topic,
       p.keyword_relevance, p.place_relevance, p.depth, p.main_place, t.text, p.kept, t.mentions,
       l.fingerprints, l.anchors
FROM page p LEFT JOIN page_text t ON t.page_id = p.id LEFT JOIN link l ON l.page_id = p.id
WHERE p.revision >= :revision AND (p.revision > :revision OR p.id > :page)
ORDER BY p.revision, p.id LIMIT :most
"""


PATIENCE = {"connect_timeout": "10", "keepalives_idle": "30", "tcp_user_timeout": "30000"}
"""How long libpq waits for a server that is silent, unless the address says otherwise: for hours by itself."""


class ServerAway(EnvironmentFailure):
    """The server does not answer, or ended the connection; what was being written is not there."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What one run has written."""

    pages: int = 0
    removed: int = 0


class PostgisSink:
    """The connection to a database. `address` is postgis://user:password@host:port/database, ?schema=name optional."""

    def __init__(self, address: str) -> None:
        self._address, self._schema = _taken_apart(address)
        psycopg = _psycopg()
        with _server_errors():
            self._connection: Connection[Any] = psycopg.connect(self._address, autocommit=True)
        try:
            with _server_errors():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()

    def __enter__(self) -> "PostgisSink":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        from psycopg import sql  # noqa: PLC0415  # an extra

        connection = self._connection
        if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'postgis'").fetchone():
            connection.execute("CREATE EXTENSION postgis")
        name = sql.Identifier(self._schema)
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('periplus'))")  # two sinks may begin at once
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
            connection.execute(sql.SQL("SET LOCAL search_path TO {}, public").format(name))
            connection.execute(resources.files("periplus.export").joinpath("postgis.sql").read_text("utf-8").encode())
        connection.execute(sql.SQL("SET search_path TO {}, public").format(name))

    def sync(self, crawl: CrawlFolder) -> Synced:
        """Write what is new in the crawl since the last time."""
        name = crawl.path.resolve().name
        pages = removed = 0
        for node in crawl.nodes():
            with closing(open_reader(node.database)) as db, storage_errors(node.database), _server_errors():
                for done in self._sync_node(name, node, db):
                    pages += done.pages
                    removed += done.removed
        return Synced(pages, removed)

    def _sync_node(self, crawl: str, node: NodeFolder, db: sqlite3.Connection) -> Iterator[Synced]:
        found = self._connection.execute(
            "SELECT revision, page FROM sink WHERE crawl = %s AND node = %s", (crawl, node.name)
        ).fetchone()
        revision, page = found or (-1, -1)
        places: dict[int, ExportedPlace] = {}
        while rows := db.execute(_ROWS, {"revision": revision, "page": page, "most": BATCH}).fetchall():
            if not places or any(row[13] not in places for row in rows):
                places = place_table(db)
            page, revision = rows[-1][0], rows[-1][2]
            kept = [row for row in rows if row[15]]
            pages = list(assembled(db, node, kept, places, text=True))
            with self._connection.transaction(), self._connection.cursor() as cursor:
                _remove(cursor, crawl, node.name, [row[0] for row in rows])
                _add_places(cursor, pages, places, kept)
                _add_pages(cursor, crawl, pages)
                _copy(cursor, "mentions", MENTION_COLUMNS, _mentions(crawl, pages, kept, places))
                _copy(cursor, "links", LINK_COLUMNS, _links(crawl, node.name, kept))
                _draw_links(cursor, crawl, node.name, pages)
                cursor.execute(
                    "INSERT INTO sink VALUES (%s, %s, %s, %s) ON CONFLICT (crawl, node) DO UPDATE "
                    "SET revision = excluded.revision, page = excluded.page",
                    (crawl, node.name, revision, page),
                )
            yield Synced(len(pages), len(rows) - len(kept))


def _remove(cursor: "Cursor[Any]", crawl: str, node: str, pages: Sequence[int]) -> None:
    cursor.execute(
        "UPDATE links SET geom = NULL FROM pages WHERE pages.crawl = %s AND pages.node = %s AND pages.page = ANY(%s) "
        "AND links.crawl = pages.crawl AND links.target = pages.fingerprint",
        (crawl, node, list(pages)),
    )
    for table in ("pages", "page_places", "mentions", "links"):
        cursor.execute(
            f"DELETE FROM {table} WHERE crawl = %s AND node = %s AND page = ANY(%s)".encode(),
            (crawl, node, list(pages)),
        )


def _add_places(
    cursor: "Cursor[Any]",
    pages: Iterable[ExportedPage],
    places: dict[int, ExportedPlace],
    rows: Iterable[tuple[Any, ...]],
) -> None:
    wanted = {place.id: place for page in pages for place, _ in page.footprint}
    wanted |= {page.place.id: page.place for page in pages if page.place}
    for row in rows:
        for mention in unpack_mentions(row[16]):
            if mention[2] in places:
                wanted[mention[2]] = places[mention[2]]
    cursor.executemany(
        "INSERT INTO places VALUES (%s, %s, %s, %s, %s, %s, %s, %s::geometry) ON CONFLICT (id) DO NOTHING",
        [
            (p.id, p.name, p.kind, p.country, p.admin1, p.population, list(p.path), _point(p))
            for p in sorted(wanted.values(), key=lambda place: place.id)
        ],
    )


def _add_pages(cursor: "Cursor[Any]", crawl: str, pages: Sequence[ExportedPage]) -> None:
    words = (
        "setweight(to_tsvector('simple', %s), 'A') || setweight(to_tsvector('simple', %s), 'B') || "
        "setweight(to_tsvector('simple', %s), 'C')"
    )
    cursor.executemany(
        f"INSERT INTO pages VALUES ({', '.join(['%s'] * 17)}, {words}, %s::geometry)".encode(),
        [
            (
                *(crawl, one.node, one.page, one.fingerprint, one.revision, printable(one.url), printable(one.title)),
                *(printable(one.description), one.language, one.published, one.fetched, list(one.topics)),
                *(one.keyword_relevance, one.place_relevance, one.depth, one.place.id if one.place else None),
                *(printable(one.text), printable(one.title), printable(one.description)),
                *(printable(one.text)[:MOST_WORDS_CHARACTERS], _point(one.place) if one.place else None),
            )
            for one in pages
        ],
    )
    rows = ((crawl, one.node, one.page, place.id, weight) for one in pages for place, weight in one.footprint)
    _copy(cursor, "page_places", ("crawl", "node", "page", "place_id", "weight"), rows)


MENTION_COLUMNS = ("crawl", "node", "page", "start_at", "end_at", "name", "place_id", "confidence", "geom")
LINK_COLUMNS = ("crawl", "node", "page", "target", "anchor")


def _mentions(
    crawl: str, pages: Sequence[ExportedPage], rows: Sequence[tuple[Any, ...]], places: dict[int, ExportedPlace]
) -> Iterator[tuple[Any, ...]]:
    for page, row in zip(pages, rows, strict=True):
        for start, end, place_id, confidence in unpack_mentions(row[16]):
            if place := places.get(place_id):
                name = printable(page.text[start:end])
                yield (crawl, page.node, page.page, start, end, name, place_id, confidence, _point(place))


def _links(crawl: str, node: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        packed, anchors = row[17], row[18]
        if not packed:
            continue
        raw = zstandard.ZstdDecompressor().decompress(anchors, max_output_size=2**26) if anchors else b""
        texts = raw.decode("utf-8", "replace").split("\n")
        for at, target in enumerate(np.frombuffer(packed, dtype="<i8").tolist()):
            yield (crawl, node, row[0], target, printable(texts[at]) if at < len(texts) else "")


def _draw_links(cursor: "Cursor[Any]", crawl: str, node: str, pages: Sequence[ExportedPage]) -> None:
    """Lines for the links of these pages and for those that lead to them, also from pages that came long before."""
    line = (
        "UPDATE links SET geom = ST_MakeLine(source.geom, target.geom) FROM pages AS source, pages AS target "
        "WHERE links.crawl = %s AND source.crawl = links.crawl AND source.node = links.node "
        "AND source.page = links.page AND target.crawl = links.crawl AND target.fingerprint = links.target "
        "AND source.geom IS NOT NULL AND target.geom IS NOT NULL AND links.geom IS NULL AND "
    )
    cursor.execute(
        (line + "links.node = %s AND links.page = ANY(%s)").encode(), (crawl, node, [one.page for one in pages])
    )
    cursor.execute((line + "links.target = ANY(%s)").encode(), (crawl, [one.fingerprint for one in pages]))


def _copy(cursor: "Cursor[Any]", table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _point(place: ExportedPlace) -> str:
    return f"SRID=4326;POINT({place.lon!r} {place.lat!r})"


def _taken_apart(address: str) -> tuple[str, str]:
    """The address as libpq takes it, and the name of the schema."""
    try:
        parts = urlsplit(address)
        query = dict(parse_qsl(parts.query))
    except ValueError:
        raise UsageError(
            "--to: the address of the database cannot be read; write postgis://user@host/database"
        ) from None
    schema = query.pop("schema", "periplus")
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
        raise UsageError(f"schema {schema[:40]!r} is no name; use lower-case letters, digits and _")
    return urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(PATIENCE | query), "")), schema


def _psycopg() -> Any:
    try:
        import psycopg  # noqa: PLC0415  # an extra
    except ImportError:
        raise EnvironmentFailure("PostGIS needs psycopg; install it with: pip install 'periplus[postgis]'") from None
    return psycopg


@contextmanager
def _server_errors() -> Iterator[None]:
    """What the server says, in one line and without the address, which may hold a password."""
    psycopg = _psycopg()
    try:
        yield
    except psycopg.Error as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        kind = ServerAway if isinstance(error, psycopg.OperationalError) else EnvironmentFailure
        raise kind(f"PostgreSQL: {re.sub(r'://[^@ ]*@', '://…@', lines[0])[:300]}") from None
