"""The fields of the index, and a page's row of `node.db` turned into a document.

Nothing is stored: the page's number leads back to `node.db`. Places stand in the index as paths of ids from the
world down ("/6295630/6255149/…"), one term for every prefix, so that a term query is containment, a term
count is a facet tree, and places of the same name stay apart.
"""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from urllib.parse import unquote, urlsplit

from tantivy import Document, Schema, SchemaBuilder

from periplus.index.analysis import ANALYSIS_VERSION, TOKENIZER, WORDS, prepare, primary
from periplus.index.ranges import day_number

__all__ = ["CURSOR_KEY", "IndexedPlace", "PageRow", "build_schema", "cursor_document", "page_document", "page_key"]

CURSOR_KEY = "cursor"
"""Key of the one document that is no page: how far the index has read the node's revisions."""

MOST_PLACES = 50
"""Places of a page that are indexed, heaviest first."""

MOST_TEXT = 2_000_000
"""Characters of a page's text that are indexed."""

MOST_WORDS = 1_000
"""Characters of title and description whose words are offered while somebody types."""

Values = list[str] | list[int] | list[float]
"""What stands in a field. A document is made of all its values at once: a call for each costs four times as much."""


def build_schema() -> Schema:
    """The schema. A change of fields or analysis makes old indexes incompatible, and they are rebuilt."""
    builder = SchemaBuilder()
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    for name in ("title", "description", "url_words", "anchor", "text"):
        builder.add_text_field(name, tokenizer_name=TOKENIZER, index_option="position")
    builder.add_text_field("word", tokenizer_name=WORDS, index_option="basic")
    for name in ("topic", "domain", "language", "place_path"):
        builder.add_text_field(name, tokenizer_name="raw", fast=True, index_option="basic")
    for name in ("site", "main_path"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("page", fast=True)
    builder.add_integer_field("place", indexed=True, fast=True)
    builder.add_integer_field("main_place", fast=True)
    builder.add_float_field("lon", fast=True)
    builder.add_float_field("lat", fast=True)
    builder.add_integer_field("day", indexed=True, fast=True)
    builder.add_integer_field("month", fast=True)
    builder.add_integer_field("fetched", fast=True)
    builder.add_integer_field("cursor_revision", fast=True)
    builder.add_integer_field(f"cursor_page_{ANALYSIS_VERSION}", fast=True)
    return builder.build()


@dataclass(frozen=True, slots=True)
class IndexedPlace:
    """What the index needs of a place."""

    id: int
    lon: float
    lat: float
    prefixes: tuple[str, ...]
    """`/1`, `/1/2`, `/1/2/3`: the place and everything around it."""

    @classmethod
    def from_row(cls, row: Sequence[object]) -> "IndexedPlace":
        """Of `SELECT id, ancestors, lon, lat`."""
        identifier, ancestors, lon, lat = row
        ids = map(str, (*json.loads(str(ancestors)), identifier))
        prefixes = itertools.accumulate(ids, lambda path, one: f"{path}/{one}", initial="")
        return cls(int(str(identifier)), float(str(lon)), float(str(lat)), tuple(prefixes)[1:])


@dataclass(frozen=True, slots=True)
class PageRow:
    """A kept page as it stands in `node.db`."""

    id: int
    fingerprint: int
    url: str
    domain: str
    title: str
    description: str
    language: str
    published: str | None
    fetched_at: str
    topic: str
    text: str
    places: tuple[int, ...]  # heaviest first
    main_place: int | None


def page_key(page_id: int) -> str:
    """The term by which a page's document is replaced."""
    return str(page_id)


def cursor_document(revision: int, page_id: int) -> Document:
    """The document that says: everything up to this row is in this commit."""
    document = Document()
    document.add_text("key", CURSOR_KEY)
    document.add_integer("cursor_revision", revision)
    document.add_integer(f"cursor_page_{ANALYSIS_VERSION}", page_id)
    return document


def page_document(page: PageRow, places: Mapping[int, IndexedPlace], anchors: Sequence[str] = ()) -> Document:
    """The document of a page. `places` has every place the page names that the node knows.

    `anchors` is what links to the page say.
    """
    host, words = host_and_words(page.url)
    values: dict[str, Values] = {
        "key": [page_key(page.id)],
        "page": [page.id],
        "title": [prepare(page.title, page.language)],
        "description": [prepare(page.description, page.language)],
        "text": [prepare(page.text[:MOST_TEXT], page.language)],
        "anchor": [prepare(anchor, page.language) for anchor in anchors],
        "word": [f"{page.title} {page.description}"[:MOST_WORDS]],
        "url_words": [prepare(words, "en")],
        "domain": [page.domain],
        "site": _sites(host, page.domain),
        "language": [primary(page.language)] if page.language else [],
        "topic": [topic.casefold() for topic in page.topic.splitlines()],
    }
    return Document.from_dict(values | _times(page) | _places(page, places), _schema())


@cache
def _schema() -> Schema:
    return build_schema()


def _times(page: PageRow) -> dict[str, Values]:
    fetched = {"fetched": [int(datetime.fromisoformat(page.fetched_at).timestamp())]}
    if not page.published:
        return {**fetched}
    day = date.fromisoformat(page.published[:10])
    return {**fetched, "day": [day_number(day)], "month": [day.year * 12 + day.month - 1]}


def _places(page: PageRow, places: Mapping[int, IndexedPlace]) -> dict[str, Values]:
    named = [place for place_id in page.places[:MOST_PLACES] if (place := places.get(place_id))]
    prefixes = dict.fromkeys([prefix for place in named for prefix in place.prefixes])
    values: dict[str, Values] = {"place": [place.id for place in named], "place_path": list(prefixes)}
    main = places.get(page.main_place) if page.main_place is not None else None
    if main:
        values |= {"main_place": [main.id], "lon": [main.lon], "lat": [main.lat], "main_path": list(main.prefixes)}
    return values


_DIGIT_OR_WORD = re.compile(r"[^\W\d_]+|\d+")


def host_and_words(url: str) -> tuple[str, str]:
    """Host and words of a URL: `a.example new york pizza x 1` of `http://a.example/new-york_pizza?x=1`."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return "", ""
    return host, " ".join(_DIGIT_OR_WORD.findall(unquote(f"{host} {parts.path} {parts.query}")))[:500]


def _sites(host: str, domain: str) -> list[str]:
    """The host and every domain above it, down to the registrable one: what `site:` can name."""
    sites = [host] if host else []
    while host != domain and host.endswith("." + domain):
        host = host.partition(".")[2]
        sites.append(host)
    return sites if domain in sites else [*sites, domain]
