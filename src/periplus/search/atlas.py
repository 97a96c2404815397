"""The places of a collection: those its pages name and everything around them, with how many pages each has.

Search knows places from the collection's own tables, so that it works without a gazetteer and never offers a
place that leads nowhere. A gazetteer, where there is one, adds other names ("Lisboa", "LA").
"""

import difflib
import json
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from periplus.index import fold
from periplus.model import BBox, LonLat
from periplus.search.request import Circle, Polygon

__all__ = ["Atlas", "KnownPlace", "PlaceNames", "ZipCode", "name_key"]


class PlaceNames(Protocol):
    """What search asks of a gazetteer: ids of the places that bear a name, in any language."""

    def find(self, name: str, *, limit: int) -> Sequence[Any]:
        """Places with `id`, best first."""
        ...

    def zip_code(self, code: str) -> "ZipCode | None":
        """What a US ZIP code means; None if it is not known."""
        ...


@dataclass(frozen=True, slots=True)
class ZipCode:
    """A US ZIP code: the ids of its towns and its own point."""

    places: tuple[int, ...]
    point: LonLat


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A place of the collection. `point` is None for one that pages only imply (a state around a city)."""

    id: int
    name: str
    kind: str
    country: str
    admin1: str
    point: LonLat | None
    population: int
    path: tuple[str, ...]
    ancestors: tuple[int, ...]
    pages: int = 0  # that name it or something inside it
    main_pages: int = 0  # that are mainly about it or something inside it

    @property
    def id_path(self) -> str:
        """The path of ids under which the index holds the place."""
        return "/" + "/".join(map(str, (*self.ancestors, self.id)))

    @property
    def label(self) -> str:
        """`Lisbon, New Hampshire, United States`: the name and what tells it from others."""
        around = [name for name in reversed(self.path[2:4][: max(0, len(self.path) - 3)]) if name != self.name]
        return ", ".join([self.name, *around])

    def is_inside(self, other: "KnownPlace") -> bool:
        """Whether `other` is this place or around it."""
        return other.id == self.id or other.id in self.ancestors

    def to_json(self) -> dict[str, Any]:
        """As `places` prints a place, with the number of pages of this collection."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "country": self.country,
            "admin1": self.admin1,
            "lat": self.point.lat if self.point else None,
            "lon": self.point.lon if self.point else None,
            "population": self.population,
            "path": list(self.path),
            "pages": self.pages,
            "main_pages": self.main_pages,
        }


SHORTEST_OTHER_NAME = 4
"""Letters of another name of a place, unless in capitals (LA, NYC) or in a script that has none (東京)."""

MOST_NAMESAKES = 20
"""Places of one name that are asked of the gazetteer."""

_NO_LETTER = re.compile(r"[\W_]+")


def name_key(name: str) -> str:
    """A name as names are compared: without case, accents and punctuation."""
    return _NO_LETTER.sub(" ", fold(name)).strip()


class Atlas:
    """All places of a collection, by id and by name. A value: a new one is made when pages were added."""

    def __init__(self, places: Iterable[KnownPlace], names: PlaceNames | None = None) -> None:
        self._places = {place.id: place for place in places}
        self._gazetteer = names
        self._by_name: dict[str, list[KnownPlace]] = {}
        for place in self._places.values():
            if place.pages:
                self._by_name.setdefault(name_key(place.name), []).append(place)
        self._keys = sorted(self._by_name)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Sequence[Any]],
        pages: Mapping[int, int],
        mainly: Mapping[int, int],
        names: PlaceNames | None = None,
    ) -> "Atlas":
        """From rows of the table `place` (of several nodes).

        `pages`: how many pages have the place or something inside it; `mainly`: how many have it as main place.
        """
        found: dict[int, KnownPlace] = {}
        implied: dict[int, KnownPlace] = {}
        for identifier, name, kind, country, admin1, lon, lat, population, path_json, ancestors_json in rows:
            if identifier in found:
                continue
            path, ancestors = tuple(json.loads(path_json)), tuple(json.loads(ancestors_json))
            found[identifier] = KnownPlace(
                id=identifier,
                name=name,
                kind=kind,
                country=country,
                admin1=admin1,
                point=LonLat(lon, lat),
                population=population,
                path=path,
                ancestors=ancestors,
                pages=pages.get(identifier, 0),
            )
            for depth, ancestor in enumerate(ancestors):
                if ancestor not in implied and depth < len(path):
                    implied[ancestor] = _implied(ancestor, depth, found[identifier], pages)
        everything = found | {key: place for key, place in implied.items() if key not in found}
        about: Counter[int] = Counter()
        for key, count in mainly.items():
            if place := everything.get(key):
                for identifier in (*place.ancestors, key):
                    about[identifier] += count
        return cls((replace(place, main_pages=about[key]) for key, place in everything.items()), names)

    def __len__(self) -> int:
        return len(self._places)

    def get(self, place_id: int) -> KnownPlace | None:
        """The place with this id, if the collection has it."""
        return self._places.get(place_id)

    def named(self, name: str) -> list[KnownPlace]:
        """Places with pages that bear the name, the likeliest first; by another name only if none does."""
        key = name_key(name)
        found = {place.id: place for place in self._by_name.get(key, ())}
        # "near me" is not about Maine: short names other than the place's own must be written as codes.
        is_code = name.isupper() or (name.isalpha() and name.upper() == name.lower())  # 東京 has no capitals to write
        is_name = len(key) >= SHORTEST_OTHER_NAME or (len(key) >= 2 and is_code)
        if not found and self._gazetteer is not None and is_name:
            others = (self._places.get(other.id) for other in self._gazetteer.find(name, limit=MOST_NAMESAKES))
            found = {place.id: place for place in others if place and place.pages}
        return rank(found.values())

    def is_elsewhere(self, name: str) -> bool:
        """Whether the gazetteer knows a place of that name, as people write names, that no page is about."""
        if self._gazetteer is None or not name[:1].isupper() or len(name_key(name)) < SHORTEST_OTHER_NAME:
            return False
        return not self.named(name) and bool(self._gazetteer.find(name, limit=1))

    def not_here(self, name: str) -> list[Any]:
        """Places of that name that the gazetteer knows and no page of the collection is about."""
        known = self._gazetteer.find(name, limit=MOST_NAMESAKES) if self._gazetteer is not None else ()
        return [place for place in known if not ((own := self._places.get(place.id)) and own.pages)]

    def zip_code(self, code: str) -> tuple[list[KnownPlace], LonLat] | None:
        """The towns of a US ZIP code that have pages here, and the point of the code; None if it is not known."""
        found = self._gazetteer.zip_code(code) if self._gazetteer is not None else None
        if found is None:
            return None
        towns = (self._places.get(identifier) for identifier in found.places)
        return rank(town for town in towns if town and town.pages), found.point

    def similar_names(self, name: str, most: int = 3) -> list[str]:
        """Names of the collection that look like a mistyped one."""
        close = difflib.get_close_matches(name_key(name), self._keys[:50_000], n=most, cutoff=0.75)
        return [self._by_name[key][0].name for key in close]

    def beginning_with(self, prefix: str, most: int) -> list[KnownPlace]:
        """Places whose name begins so, those with most pages first."""
        key = name_key(prefix)
        if not key:
            return []
        start = bisect_left(self._keys, key)
        found: list[KnownPlace] = []
        for name in self._keys[start : start + 2_000]:
            if not name.startswith(key):
                break
            found.extend(self._by_name[name])
        return sorted(found, key=_weight)[:most]

    def within(self, area: Circle | BBox | Polygon) -> list[KnownPlace]:
        """Places whose point lies in the area."""
        if not isinstance(area, Circle):
            return [p for p in self._places.values() if p.point and p.pages and area.contains(p.point)]
        box = BBox.around(area.center, area.km)
        return [
            place
            for place in self._places.values()
            if place.point and place.pages and box.contains(place.point) and area.distance(place.point) is not None
        ]

    def middle(self, place: KnownPlace) -> LonLat | None:
        """The place's point; of one that pages only imply, the middle of the places inside it that have pages."""
        if place.point is not None:
            return place.point
        points = [p.point for p in self._places.values() if p.point and p.pages and place.id in p.ancestors]
        vectors = [_unit_vector(point) for point in points]
        x, y, z = (sum(axis) for axis in zip(*vectors, strict=True)) if vectors else (0.0, 0.0, 0.0)
        if not (x or y or z):
            return None
        return LonLat(math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y))))

    def all(self) -> Iterable[KnownPlace]:
        """Every place, in no order."""
        return self._places.values()


def _unit_vector(point: LonLat) -> tuple[float, float, float]:
    lon, lat = math.radians(point.lon), math.radians(point.lat)
    return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)


def _implied(identifier: int, depth: int, inner: KnownPlace, pages: Mapping[int, int]) -> KnownPlace:
    """A place that is known only from the path of one inside it."""
    kinds = ("world", "continent", "country", "admin1", "admin2")
    return KnownPlace(
        id=identifier,
        name=inner.path[depth],
        kind=kinds[depth] if depth < len(kinds) else "region",
        country=inner.country if depth >= 2 else "",
        admin1=inner.admin1 if depth >= 3 else "",
        point=None,
        population=0,
        path=inner.path[: depth + 1],
        ancestors=inner.ancestors[:depth],
        pages=pages.get(identifier, 0),
    )


def rank(places: Iterable[KnownPlace]) -> list[KnownPlace]:
    """Candidates for a name: most pages first, then most people.

    A place that holds at least half of the pages of another one around it comes before that one: "New York" is
    the city, unless the collection is about the rest of the state.
    """
    named = list(places)
    ordered = sorted((place for place in named if not _adds_nothing(place, named)), key=_weight)
    for outer in list(ordered):
        for inner in list(ordered):
            if inner.id != outer.id and outer.id in inner.ancestors and 2 * inner.pages >= outer.pages:
                low, high = ordered.index(inner), ordered.index(outer)
                if high < low:
                    ordered.insert(high, ordered.pop(low))
    return ordered


def _adds_nothing(region: KnownPlace, others: Iterable[KnownPlace]) -> bool:
    """Whether the region has no pages beside those of the town of the same name in it: Moscow around Moscow."""
    return any(
        region.id in town.ancestors and town.pages >= region.pages and town.name == region.name for town in others
    )


def _weight(place: KnownPlace) -> tuple[int, int, int, int]:
    """Pages mainly about a place say more than pages that name it in passing."""
    return -place.main_pages, -place.pages, -place.population, place.id
