"""A question as a value, made from what people type, with every bound checked before anything is asked."""

import math
import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from periplus.errors import QueryError
from periplus.index import EVER, DayRange
from periplus.model import EARTH_RADIUS_KM, BBox, LonLat
from periplus.places.shapes import unrolled_ring
from periplus.wording import counted

__all__ = [
    "FARTHEST_KM",
    "LONGEST_QUESTION",
    "MOST_RESULTS",
    "Circle",
    "Polygon",
    "SearchRequest",
    "Sort",
    "bearing",
    "destination",
    "parse_bbox",
    "parse_day",
    "parse_near",
    "parse_polygon",
]

LONGEST_QUESTION = 1_000
"""Characters of a question. Longer ones are pastes by mistake, or attacks."""

MOST_RESULTS = 10_000
"""Results that paging reaches: offset + limit."""

LARGEST_PAGE = 200
"""Results of one answer."""

LONGEST_DAYS = 36_500
LONGEST_AS_OF = 10_000

MOST_CORNERS = 100
"""Corners of a polygon."""

FARTHEST_KM = 20_100.0
"""Half the way around the earth: every circle that is larger is the whole earth."""

Sort = Literal["relevance", "time"]


SECTOR = 45.0
"""Degrees to either side of a direction that still count as that direction."""


@dataclass(frozen=True, slots=True)
class Circle:
    """Everything within `km` of a point; with a `bearing` (degrees from north, clockwise) only what lies that way."""

    center: LonLat
    km: float
    bearing: float | None = None

    def distance(self, point: LonLat) -> float | None:
        """Kilometres from the centre; None for a point that is not in the circle."""
        km = point.distance_km(self.center)
        if km > self.km:
            return None
        if self.bearing is not None:
            away = abs((bearing(self.center, point) - self.bearing + 180.0) % 360.0 - 180.0)
            if km == 0.0 or away > SECTOR:
                return None
        return km


@dataclass(frozen=True, slots=True)
class Polygon:
    """What lies inside a line around: its corners (longitude, latitude) in order, drawn on a flat map.

    Across the date line longitudes go on: 179, 181.
    """

    corners: tuple[tuple[float, float], ...]

    def contains(self, point: LonLat) -> bool:
        """Whether a point lies inside, seen from any turn around the earth."""
        return any(self._contains(point.lon + turn, point.lat) for turn in (0.0, 360.0, -360.0))

    def _contains(self, lon: float, lat: float) -> bool:
        """By how often a line from the point to the east crosses the edges."""
        inside = False
        for start, end in zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True):
            if (start[1] > lat) != (end[1] > lat):
                share = (lat - start[1]) / (end[1] - start[1])
                inside ^= lon < start[0] + share * (end[0] - start[0])
        return inside


def bearing(start: LonLat, end: LonLat) -> float:
    """The direction in which the shortest way to `end` begins: degrees from north, clockwise."""
    phi1, phi2 = math.radians(start.lat), math.radians(end.lat)
    turn = math.radians(end.lon - start.lon)
    east = math.sin(turn) * math.cos(phi2)
    north = math.cos(phi1) * math.sin(phi2) - math.sin(phi1) * math.cos(phi2) * math.cos(turn)
    return math.degrees(math.atan2(east, north)) % 360.0


def destination(start: LonLat, degrees: float, km: float) -> LonLat:
    """Where one arrives after so many kilometres in a direction."""
    phi, theta, delta = math.radians(start.lat), math.radians(degrees), km / EARTH_RADIUS_KM
    sine = math.sin(phi) * math.cos(delta) + math.cos(phi) * math.sin(delta) * math.cos(theta)
    east = math.sin(theta) * math.sin(delta) * math.cos(phi)
    lon = start.lon + math.degrees(math.atan2(east, math.cos(delta) - math.sin(phi) * sine))
    return LonLat((lon + 180.0) % 360.0 - 180.0, math.degrees(math.asin(max(-1.0, min(1.0, sine)))))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for. `place`, `near`, `bbox` and `polygon` win over places in the text; at most one is given.

    `place` is a name ("Lisbon", "Lisbon, NH") or an id of the gazetteer.
    """

    text: str = ""
    place: str | None = None
    near: Circle | None = None
    bbox: BBox | None = None
    polygon: Polygon | None = None
    days: DayRange = EVER
    sort: Sort = "relevance"
    limit: int = 10
    offset: int = 0
    explain: bool = False
    freshness: int = 0  # days after which a page counts half as much; 0: age does not count
    as_of: tuple[tuple[str, int], ...] = ()  # node and state of its index, for paging

    @classmethod
    def of(
        cls,
        text: str = "",
        *,
        place: str | None = None,
        near: str | None = None,
        bbox: str | None = None,
        polygon: str | None = None,
        since: str | None = None,
        until: str | None = None,
        sort: str = "relevance",
        limit: int = 10,
        offset: int = 0,
        explain: bool = False,
        freshness: int = 0,
        as_of: str | None = None,
    ) -> "SearchRequest":
        """From strings, as a command line or an address gives them. Raises QueryError in one line."""
        if len(text) > LONGEST_QUESTION:
            raise QueryError(
                f"the question is {len(text):,} characters long; at most {LONGEST_QUESTION:,} are possible"
            )
        if sum(value is not None and value != "" for value in (place, near, bbox, polygon)) > 1:
            raise QueryError("place, near, bbox and polygon exclude each other; give one of them")
        if sort not in ("relevance", "time"):
            raise QueryError(f"sort {sort[:40]!r} is not possible; choose relevance or time")
        if not 1 <= limit <= LARGEST_PAGE:
            raise QueryError(f"limit {limit} is not between 1 and {LARGEST_PAGE}")
        if offset < 0:
            raise QueryError(f"offset {offset} is below 0; it is how many results to skip")
        if offset + limit > MOST_RESULTS:
            raise QueryError(f"offset + limit must be at most {MOST_RESULTS:,}; narrow the question instead")
        if not 0 <= freshness <= LONGEST_DAYS:
            raise QueryError(f"freshness {freshness} is not between 0 and {LONGEST_DAYS:,} days")
        if place and len(place) > 200:
            raise QueryError(f"place is {len(place):,} characters long; at most 200 are possible")
        return cls(
            text=text,
            place=place.strip() if place and place.strip() else None,
            near=parse_near(near) if near else None,
            bbox=parse_bbox(bbox) if bbox else None,
            polygon=parse_polygon(polygon) if polygon else None,
            days=_day_range(since, until),
            sort="time" if sort == "time" else "relevance",
            limit=limit,
            offset=offset,
            explain=explain,
            freshness=freshness,
            as_of=_as_of(as_of) if as_of else (),
        )


def _as_of(text: str) -> tuple[tuple[str, int], ...]:
    """`node:state,node:state` as an answer gave it."""
    pairs = [part.rpartition(":") for part in text.split(",")] if len(text) <= LONGEST_AS_OF else []
    if not pairs or not all(name and re.fullmatch(r"-?\d{1,18}", number, re.ASCII) for name, _, number in pairs):
        raise QueryError(f"as_of {text[:40]!r} cannot be read; give back what an answer said")
    return tuple((name, int(number)) for name, _, number in pairs)


def _day_range(since: str | None, until: str | None) -> DayRange:
    days = DayRange(
        parse_day(since, "since") if since else None,
        parse_day(until, "until", last=True) if until else None,
    )
    if days.since and days.until and days.since > days.until:
        raise QueryError(f"since {days.since} is after until {days.until}")
    return days


_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)


def parse_day(text: str, name: str, *, last: bool = False) -> date:
    """A day of `2026`, `2026-05` or `2026-05-17`: the first day of the span, or the `last`."""
    match = _DAY.fullmatch(text.strip())
    if match is None:
        raise QueryError(f"{name} {text[:40]!r} is no date; write 2026, 2026-05 or 2026-05-17")
    year, month, day = int(match[1]), match[2], match[3]
    try:
        if day:
            return date(year, int(str(month)), int(day))
        first = date(year, int(month) if month else 1, 1)
    except ValueError:
        raise QueryError(f"{name} {text[:40]!r} is not in the calendar") from None
    return first if not last else _end_of_span(first, whole_year=month is None)


def _end_of_span(first: date, *, whole_year: bool) -> date:
    if whole_year or first.month == 12:
        return date(first.year, 12, 31)
    return date.fromordinal(date(first.year, first.month + 1, 1).toordinal() - 1)


def _numbers(text: str, count: int, name: str, form: str) -> list[float]:
    parts = [part.strip() for part in text[:200].split(",")]
    try:
        numbers = [float(part.lower().removesuffix("km")) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != count or not all(math.isfinite(number) for number in numbers):
        raise QueryError(f"{name} {text[:60]!r} cannot be read; write {form}")
    return numbers


def parse_near(text: str) -> Circle:
    """`LAT,LON,KM`; the kilometres may be left out (50)."""
    form = "LAT,LON,KM, for example 38.72,-9.14,25"
    count = 2 if text.count(",") == 1 else 3
    lat, lon, *rest = _numbers(text, count, "near", form)
    km = rest[0] if rest else 50.0
    if not 0 < km <= FARTHEST_KM:
        raise QueryError(f"near: {km:g} km is not above 0 and at most {FARTHEST_KM:,.0f}")
    try:
        return Circle(LonLat(lon, lat), km)
    except ValueError as error:
        raise QueryError(f"near {text[:60]!r}: {error}") from None


def parse_bbox(text: str) -> BBox:
    """`W,S,E,N`; west greater than east means across the antimeridian."""
    west, south, east, north = _numbers(text, 4, "bbox", "W,S,E,N, for example -9.5,38.5,-8.9,39.0")
    try:
        return BBox(west, south, east, north)
    except ValueError as error:
        raise QueryError(f"bbox {text[:60]!r}: {error}") from None


def parse_polygon(text: str) -> Polygon:
    """`LON,LAT;LON,LAT;…`: 3 to 100 corners; the last one is joined to the first.

    Across the date line longitudes go on (179, 181) or jump (179, -179).
    """
    parts = [part for part in text.split(";") if part.strip()] if len(text) <= 60 * MOST_CORNERS else []
    if not 3 <= len(parts) <= MOST_CORNERS:
        raise QueryError(
            f"polygon has {counted(len(parts), 'corner')}; write LON,LAT;LON,LAT;… with 3 to {MOST_CORNERS}"
        )
    corners = [_numbers(part, 2, "polygon", "LON,LAT;LON,LAT;…") for part in parts]
    try:
        for _, lat in corners:
            LonLat(0.0, lat)
        longitudes = unrolled_ring([lon for lon, _ in corners])
    except ValueError as error:
        raise QueryError(f"polygon {text[:60]!r}: {error}") from None
    return Polygon(tuple((lon, lat) for lon, (_, lat) in zip(longitudes, corners, strict=True)))
