"""Answers as values, and as the JSON that commands and the web page share (docs/search.md)."""

from dataclasses import dataclass
from typing import Any

from periplus.index import DayRange
from periplus.search.atlas import KnownPlace
from periplus.search.notebook import to_geojson, to_geopandas, to_html
from periplus.search.reading import summary
from periplus.search.request import Polygon
from periplus.search.snippets import Mark
from periplus.search.taking_back import WHOLE, Without
from periplus.search.where import Where

__all__ = ["Bucket", "Facets", "Hit", "MapPoint", "PlaceFacet", "SearchResult", "Suggestions", "Trend", "Understood"]


@dataclass(frozen=True, slots=True)
class Understood:
    """What the question was taken to mean."""

    text: str
    what: str
    where: Where
    days: DayRange
    topics: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    excluded_sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    absent: str = ""
    silent_sites: tuple[str, ...] = ()  # those of `sites` that no page is from
    without: Without = WHOLE

    @property
    def reading(self) -> str:
        """All of it in one line."""
        filters = (
            ("topic", self.topics),
            ("site", self.sites),
            ("not on site", self.excluded_sites),
            ("language", self.languages),
            ("no page is from", self.silent_sites),
            ("no page is about", (self.absent,) if self.absent else ()),
        )
        return summary(self.text, self.what, self.where, self.days, filters)

    def to_json(self) -> dict[str, Any]:
        """`where`: the candidates, the chosen one first; `area`: the circle or box where one was asked for."""
        circle, box = self.where.circle, self.where.box
        area: dict[str, Any] | None = None
        if circle is not None:
            area = {"lat": circle.center.lat, "lon": circle.center.lon, "km": circle.km, "bearing": circle.bearing}
            area["relation"] = self.where.relation
        elif isinstance(box, Polygon):
            area = {"polygon": [list(corner) for corner in box.corners]}
        elif box is not None:
            area = {"bbox": [box.west, box.south, box.east, box.north]}
        when: dict[str, Any] | None = None
        if self.days:
            when = {
                "since": self.days.since.isoformat() if self.days.since else None,
                "until": self.days.until.isoformat() if self.days.until else None,
            }
            if self.days.apart:
                when["apart"] = [day.isoformat() for day in self.days.apart]
        left_out = self.where.excluded
        candidates = [place.to_json() | {"label": place.label} for place in self.where.candidates]
        return {
            "text": self.text,
            "what": self.what,
            "where": candidates,
            "also": [place.to_json() | {"label": place.label} for place in self.where.others],
            "excluded": left_out.to_json() | {"label": left_out.label} if left_out else None,
            "area": area,
            "when": when,
            "topics": list(self.topics),
            "sites": list(self.sites),
            "excluded_sites": list(self.excluded_sites),
            "languages": list(self.languages),
            "absent": self.absent or None,
            "reading": self.reading,
            "without": self.without.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `relation` says why it is here: `in` the place asked for, `near` it (added because few were in it),
    or empty where no place was asked for. `reason`: how the page's place relates to the one asked for
    ("Houston is in Texas"). `alike`: near-duplicates that are not shown for it.
    """

    rank: int
    node: str
    page: int
    url: str
    title: str
    title_marks: tuple[Mark, ...]
    snippet: str
    marks: tuple[Mark, ...]
    score: float
    published: str | None
    fetched: str
    language: str
    topics: tuple[str, ...]
    place: KnownPlace | None
    other_places: tuple[tuple[KnownPlace, float], ...]
    relation: str = ""
    reason: str = ""
    alike: int = 0
    explanation: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """The hit as commands.md has it, with what the web page needs beside it."""
        found: dict[str, Any] = {
            "rank": self.rank,
            "url": self.url,
            "title": self.title,
            "snippet": self.snippet,
            "score": round(self.score, 6),
            "published": self.published,
            "fetched": self.fetched,
            "topics": list(self.topics),
            "place": self.place.to_json() if self.place else None,
            "path": list(self.place.path) if self.place else [],
            "other_places": [place.to_json() | {"weight": round(weight, 4)} for place, weight in self.other_places],
            "marks": [[mark.start, mark.end, mark.kind] for mark in self.marks],
            "title_marks": [[mark.start, mark.end, mark.kind] for mark in self.title_marks],
            "language": self.language,
            "node": self.node,
            "page": self.page,
            "relation": self.relation,
            "reason": self.reason,
            "alike": self.alike,
        }
        if self.explanation is not None:
            found["explain"] = self.explanation
        return found


@dataclass(frozen=True, slots=True)
class PlaceFacet:
    """A place of the hits, how many of them are in it, and the places inside it."""

    place: KnownPlace
    count: int
    children: tuple["PlaceFacet", ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As a tree."""
        return {
            "id": self.place.id,
            "name": self.place.name,
            "kind": self.place.kind,
            "count": self.count,
            "children": [child.to_json() for child in self.children],
        }


@dataclass(frozen=True, slots=True)
class Facets:
    """How the hits are spread."""

    places: tuple[PlaceFacet, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()
    dates: tuple[tuple[str, int], ...] = ()  # years, the newest first
    sites: tuple[tuple[str, int], ...] = ()
    languages: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Places as a tree, the others as lists, the most frequent first."""

        def pairs(values: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
            return [{"name": name, "count": count} for name, count in values]

        return {
            "places": [facet.to_json() for facet in self.places],
            "topics": pairs(self.topics),
            "dates": pairs(self.dates),
            "sites": pairs(self.sites),
            "languages": pairs(self.languages),
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a request. `relaxed`: no page has all the words, so pages with any of them are shown.

    `total`: pages that answer, also those that say the same as another; `hits` has one of these for all.
    `did_you_mean`: the question with a word that no page has replaced by one that looks like it; empty if all is well.
    """

    understood: Understood
    total: int
    hits: tuple[Hit, ...]
    facets: Facets
    seconds: float
    relaxed: bool = False
    did_you_mean: str = ""
    nodes: tuple[str, ...] = ()  # that were asked, in this order
    missing: tuple[str, ...] = ()  # that were not asked for want of time, or said nothing: the answer is a part
    as_of: str = ""  # give it back with the next offset, and pages that came meanwhile do not shift the results

    def to_json(self) -> dict[str, Any]:
        """The answer as commands.md has it."""
        return {
            "query": self.understood.to_json(),
            "total": self.total,
            "hits": [hit.to_json() for hit in self.hits],
            "facets": self.facets.to_json(),
            "relaxed": self.relaxed,
            "did_you_mean": self.did_you_mean or None,
            "nodes": list(self.nodes),
            "missing": list(self.missing),
            "as_of": self.as_of,
            "seconds": round(self.seconds, 6),
        }

    def to_geojson(self) -> dict[str, Any]:
        """The hits as a FeatureCollection."""
        return to_geojson(self.hits)

    def to_geopandas(self) -> Any:
        """The hits as a GeoDataFrame; needs the extra `geo`."""
        return to_geopandas(self.hits)

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        return to_html(self)


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What a question may go on with. A place's name goes after `before`; `texts` are whole questions."""

    before: str
    places: tuple[KnownPlace, ...]
    texts: tuple[tuple[str, int], ...]

    def to_json(self) -> dict[str, Any]:
        """`places` with what to type for each, `terms` with how many pages have the word."""
        return {
            "places": [
                place.to_json() | {"label": place.label, "text": self.before + place.label} for place in self.places
            ],
            "terms": [{"text": text, "pages": count} for text, count in self.texts],
        }


@dataclass(frozen=True, slots=True)
class Bucket:
    """A stretch of time, by its first day, and its pages."""

    start: str
    count: int


@dataclass(frozen=True, slots=True)
class Trend:
    """Pages over time. `undated` pages have no date of publication and are in no bucket."""

    understood: Understood
    every: str
    total: int
    undated: int
    buckets: tuple[Bucket, ...]
    missing: tuple[str, ...] = ()  # nodes that said nothing: the counts lack theirs
    relaxed: bool = False  # no page has all the words: pages with any of them are counted, as `search` shows them

    def to_json(self) -> dict[str, Any]:
        """The buckets in order, empty ones between others included."""
        return {
            "query": self.understood.to_json(),
            "every": self.every,
            "total": self.total,
            "undated": self.undated,
            "buckets": [{"start": bucket.start, "count": bucket.count} for bucket in self.buckets],
            "relaxed": self.relaxed,
            "missing": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A place on the map and the number of pages that are mainly about it."""

    place: KnownPlace
    count: int

    def to_json(self) -> dict[str, Any]:
        """Small: there may be thousands."""
        point = self.place.point
        return {
            "id": self.place.id,
            "label": self.place.label,
            "kind": self.place.kind,
            "lat": point.lat if point else None,
            "lon": point.lon if point else None,
            "count": self.count,
        }
