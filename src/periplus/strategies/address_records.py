"""What the record of an IP database says: places by GeoNames ids, else by their names and the point beside them.

GeoLite2 and GeoIP2 have ids. DB-IP has MaxMind's form with names alone; others, such as those of IPinfo and
ip-location-db, are flat: a text for the city, one for its division and the code of the country.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from periplus.errors import PlaceError
from periplus.model import LonLat, Place
from periplus.places import Gazetteer

__all__ = ["RecordPlaces"]

NEAR_KM: Final = 50.0
"""A town farther from the record's point is another one of its name."""
MEMO_NAMES: Final = 50_000
DIVISIONS: Final = ("region", "region_name", "state1", "state")
COUNTRIES: Final = ("country_code", "country")


class RecordPlaces:
    """Finds the places of records in the gazetteer."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._cities: dict[tuple[str, str, str, LonLat | None], Place | None] = {}

    def of(self, record: dict[str, Any]) -> Iterator[Place]:
        """The places that a record names and the gazetteer knows, the smallest first."""
        divisions = record.get("subdivisions")
        parts = divisions if isinstance(divisions, list) else [_first(record, DIVISIONS)]
        land = _code(record)
        city = self._known(record.get("city")) or self._city(record, parts, land)
        if city is not None:
            yield city
        for part in reversed(parts):
            division = self._known(part) or self._called(_name(part), land, "admin1")
            if division is not None:
                yield division
        country = self._known(record.get("country")) or self._country(land)
        if country is not None:
            yield country

    def _known(self, part: object) -> Place | None:
        """The place with the id of a part of a record."""
        number = part.get("geoname_id") if isinstance(part, dict) else None
        try:
            return self._gazetteer.place(number) if isinstance(number, int) else None
        except PlaceError:
            return None

    def _city(self, record: dict[str, Any], divisions: Sequence[object], land: str) -> Place | None:
        """The city by its name; a record that names none has the middle of a country for its point."""
        name = _name(record.get("city")).partition(" (")[0]
        if not name:
            return None
        key = (name, _name(divisions[0]) if divisions else "", land, _point(record))
        if key not in self._cities:
            if len(self._cities) >= MEMO_NAMES:
                self._cities.clear()
            self._cities[key] = self._placed(*key)
        return self._cities[key]

    def _placed(self, name: str, division: str, land: str, point: LonLat | None) -> Place | None:
        """The town of a name nearest to a point, else the nearest of any name; without a point, in the division."""
        if point is None:
            inside = self._called(f"{name}, {division}", land, "city") if division else None
            return inside or self._called(name, land, "city")
        found = [one for one in self._gazetteer.find(name, country=land or None, limit=50) if one.kind == "city"]
        row = self._gazetteer.nearest_row(point)
        others = [self._gazetteer.place_at(row)] if row >= 0 else []
        for places in (found, others):
            nearest = min(places, key=lambda one: one.point.distance_km(point), default=None)
            if nearest is not None and nearest.point.distance_km(point) <= NEAR_KM:
                return nearest
        return None

    def _called(self, name: str, land: str, kind: str) -> Place | None:
        found = self._gazetteer.find(name, country=land or None, limit=50) if name else []
        return next((one for one in found if one.kind == kind), None)

    def _country(self, land: str) -> Place | None:
        row = self._gazetteer.country_row(land)
        return self._gazetteer.place_at(row) if row >= 0 else None


def _first(record: dict[str, Any], keys: Sequence[str]) -> object:
    return next((record[key] for key in keys if key in record), None)


def _name(part: object) -> str:
    """The English name of a part of a record, or the text that it is; no number, which would be an id."""
    if isinstance(part, dict):
        names = part.get("names")
        part = names.get("en") if isinstance(names, dict) else None
    return part.strip() if isinstance(part, str) and not part.strip().lstrip("-").isdigit() else ""


def _code(record: dict[str, Any]) -> str:
    """The ISO code of the record's country."""
    country = _first(record, COUNTRIES)
    code = country.get("iso_code") if isinstance(country, dict) else country
    return code.upper() if isinstance(code, str) and len(code) == len("PT") and code.isalpha() else ""


def _point(record: dict[str, Any]) -> LonLat | None:
    """Where the record says that the address is."""
    location = record.get("location")
    holder = location if isinstance(location, dict) else record
    try:
        lat, lon = (float(str(_first(holder, keys))) for keys in (("latitude", "lat"), ("longitude", "lng", "lon")))
    except ValueError:
        return None
    return LonLat(lon, lat) if abs(lat) <= 90 and abs(lon) <= 180 and (lat or lon) else None
