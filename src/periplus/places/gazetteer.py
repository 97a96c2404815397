"""The gazetteer: every place known, by id and by name, read from the compiled file without copying it.

Places are rows of arrays; `Place` values are made when somebody asks and remembered. The other modules of this
room work on rows and arrays, everybody else on `Place`.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from periplus.errors import GazetteerMissing, PlaceError
from periplus.model import BBox, LonLat, Place
from periplus.places.build import BLOOM_BITS, BUCKET_BITS, KINDS, WORD_SLOT_BITS, language_code
from periplus.places.cache import open_container, streets_path
from periplus.places.container import FORMAT, Container
from periplus.places.folding import adopt_tables, name_key
from periplus.places.geometry import unit_vectors
from periplus.places.glued import GluedNames
from periplus.places.streets import StreetNames

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

__all__ = ["Gazetteer", "open_gazetteer"]

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
_NEEDED: Final = (
    "id", "kind", "lat", "lon", "population", "parent", "zone", "country", "bbox", "id_order", "row_country",
    "row_admin1", "row_admin2", "xyz", "name_key", "name_at", "cand_row", "cand_flag", "cand_prior", "cand_fame",
    "name_bucket", "name_bloom", "alt_at", "word_key", "word_bits", "zip", "zip_at", "zip_key", "zip_row",
    "zip_state", "zip_point", "overlap", "shape_row", "place_facts", "name_facts", "char_fold", "char_class",
    "char_gap", "name_kind", "name_size", "name_many", "name_outer", "name_word", "name_short", "log_people",
    "glued_key", "glued_row", "glued_part_key", "glued_part_row", "state_letters", "spoken",
)  # fmt: skip
_CACHE_LIMIT: Final = 200_000
_SLACK: Final = 1e-4
"""Boxes are kept in single precision."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What ranking asks of some places: point on the unit sphere, decades of people, rows above, kind."""

    point: npt.NDArray[np.float32]
    people: npt.NDArray[np.float32]
    admin1: npt.NDArray[np.int32]
    admin2: npt.NDArray[np.int32]
    country: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int32]


class Gazetteer:
    """All known places. Immutable; safe to share by fork, cheap to open in every process.

    Rows (positions in the arrays of `.arrays`) are private to this room; ids are public.
    """

    def __init__(self, path: Path, container: Container) -> None:
        missing = [name for name in _NEEDED if name not in container.arrays]
        if missing:
            raise GazetteerMissing(f"{path} lacks {missing[0]}; build it again with: periplus gazetteer build")
        self.path = path
        self.arrays: dict[str, npt.NDArray[Any]] = container.arrays
        self.digest = container.digest
        self.version = FORMAT
        self.meta = container.meta
        self._names = container.strings("name")
        self._admin1 = container.strings("admin1")
        self._zones = container.strings("zones")
        countries = container.strings("countries")
        self._countries = tuple(countries[i] for i in range(len(countries)))
        self._alternates = container.strings("alternates")
        self._languages = container.strings("languages")
        self._places: dict[int, Place] = {}
        self._shapes = container.strings("shapes")
        self._rows: dict[int, int] = {}
        self._towns: I64 | None = None
        self._streets: StreetNames | None = None
        self._streets_looked_for = False
        self._made_shapes: dict[int, BaseGeometry] = {}
        adopt_tables(self.arrays["char_fold"], self.arrays["char_class"], self.arrays["char_gap"])
        self.empty_slot = int(np.flatnonzero(self.arrays["word_key"] == 0)[0])

    def __len__(self) -> int:
        return len(self.arrays["id"])

    @property
    def streets(self) -> StreetNames | None:
        """Street names that the user loaded beside this gazetteer (`periplus gazetteer streets`), None without."""
        if not self._streets_looked_for:
            self._streets_looked_for = True
            path = streets_path(self.path)
            self._streets = StreetNames.load(path) if path.is_file() else None
        return self._streets

    # -- by id ---------------------------------------------------------------------------------

    def row(self, place_id: int) -> int:
        """The row of an id; `PlaceError` if no place has it."""
        known = self._rows.get(place_id)
        if known is not None:
            return known
        ids, order = self.arrays["id"].data, self.arrays["id_order"].data
        at = bisect_left(order, place_id, key=ids.__getitem__)  # numpy's search would copy the whole order each time
        if at < len(order) and ids[order[at]] == place_id:
            self._rows[place_id] = order[at]
            return order[at]
        raise PlaceError(f"no place has the id {place_id}; look names up with: periplus gazetteer lookup NAME")

    def place(self, place_id: int) -> Place:
        """The place with that id; `PlaceError` if there is none."""
        return self.place_at(self.row(place_id))

    def place_at(self, row: int) -> Place:
        """The place in a row, made once and remembered."""
        known = self._places.get(row)
        if known is not None:
            return known
        if len(self._places) >= _CACHE_LIMIT:
            self._places.clear()
            self._rows.clear()
        a = self.arrays
        chain = self.chain(row)
        above = chain[:-1]
        made = Place(
            id=int(a["id"][row]),
            name=self._names[row],
            kind=KINDS[a["kind"][row]],
            country=self._countries[a["country"][row]],
            admin1=self._admin1[row],
            point=LonLat(float(a["lon"][row]), float(a["lat"][row])),
            population=int(a["population"][row]),
            path=tuple(self._names[r] for r in chain),
            ancestors=tuple(int(a["id"][r]) for r in above),
        )
        self._places[row] = made
        return made

    def facts(self, rows: I64) -> Facts:
        """The facts of many rows at once."""
        packed = self.arrays["place_facts"][rows]
        floats = packed[:, :4].view(np.float32)
        point = np.ascontiguousarray(floats[:, :3])
        return Facts(point, floats[:, 3], packed[:, 4], packed[:, 5], packed[:, 6], packed[:, 7])

    def name_at(self, row: int) -> str:
        """The main name of the place in a row."""
        return self._names[row]

    def chain(self, row: int) -> tuple[int, ...]:
        """Rows from the world down to `row`."""
        parent = self.arrays["parent"]
        chain = [row]
        while (row := int(parent[row])) >= 0 and len(chain) < 16:
            chain.append(row)
        return tuple(reversed(chain))

    def ancestors(self, place_id: int) -> tuple[int, ...]:
        """Ids of the places around it, the world first."""
        return self.place(place_id).ancestors

    def children(self, place_id: int) -> tuple[int, ...]:
        """Ids of the places directly below it, most populous first."""
        rows = np.flatnonzero(self.arrays["parent"] == self.row(place_id))
        rows = rows[np.argsort(-self.arrays["population"][rows], kind="stable")]
        return tuple(int(i) for i in self.arrays["id"][rows])

    def is_within(self, inner: int, outer: int) -> bool:
        """Whether `inner` is `outer` or lies below it in the hierarchy."""
        return inner == outer or outer in self.ancestors(inner)

    def timezone(self, place_id: int) -> str:
        """The IANA time zone most of the place lives in; "" where unknown."""
        for row in reversed(self.chain(self.row(place_id))):
            zone = self._zones[int(self.arrays["zone"][row])]
            if zone:
                return zone
        return ""

    def extent(self, place_id: int) -> BBox | None:
        """The box around the place, where one is known."""
        west, south, east, north = (float(v) for v in self.arrays["bbox"][self.row(place_id)])
        return None if np.isnan(west) else BBox(west, south, east, north)

    def overlaps(self, row: int) -> tuple[int, ...]:
        """Rows declared to overlap with `row`."""
        pairs = self.arrays["overlap"]
        both = np.concatenate([pairs[pairs[:, 0] == row, 1], pairs[pairs[:, 1] == row, 0]])
        return tuple(int(r) for r in np.unique(both))

    def shape(self, row: int) -> "BaseGeometry | None":
        """The polygon of a place, where one was loaded."""
        rows = self.arrays["shape_row"]
        at = int(np.searchsorted(rows, row))
        if at >= len(rows) or rows[at] != row:
            return None
        if row not in self._made_shapes:
            from shapely.geometry import shape  # noqa: PLC0415  heavy, and only needed where polygons are loaded

            self._made_shapes[row] = shape(json.loads(self._shapes[at]))
        return self._made_shapes[row]

    def point_shape(self, row: int) -> "BaseGeometry":
        """The point of a place as a shape."""
        from shapely.geometry import Point  # noqa: PLC0415  heavy, and only needed where polygons are loaded

        return Point(float(self.arrays["lon"][row]), float(self.arrays["lat"][row]))

    def rows_in_shape(self, row: int) -> I64:
        """Rows whose point the shape of `row` covers; empty where it has none."""
        own = self.shape(row)
        if own is None:
            return np.empty(0, dtype=np.int64)
        import shapely  # noqa: PLC0415  heavy, and only needed where polygons are loaded

        a = self.arrays
        west, south, east, north = own.bounds
        near = (a["lon"] >= west) & (a["lon"] <= east) & (a["lat"] >= south) & (a["lat"] <= north)
        rows = np.flatnonzero(near)
        shapely.prepare(own)
        inside: npt.NDArray[np.bool_] = shapely.intersects_xy(own, a["lon"][rows], a["lat"][rows])
        return rows[inside]

    def shapes_near(self, row: int) -> list[int]:
        """Other rows with a shape whose box meets the box or point of `row`."""
        a = self.arrays
        rows = a["shape_row"].astype(np.int64)
        box = self.extent(int(a["id"][row])) if self.shape(row) is not None else None
        point = (float(a["lon"][row]), float(a["lat"][row]))
        here = box or BBox(point[0], point[1], point[0], point[1])
        return [r for r in rows.tolist() if r != row and _meet(here, BBox(*(float(v) for v in a["bbox"][r])))]

    def nearest_row(self, point: LonLat) -> int:
        """The row of the town whose point is nearest, -1 in a gazetteer without towns."""
        towns = self._towns
        if towns is None:
            towns = self._towns = np.flatnonzero(self.arrays["kind"] == KINDS.index("city"))
        if not len(towns):
            return -1
        here = unit_vectors(np.array([point.lon]), np.array([point.lat]))[0]
        return int(towns[np.argmax(self.arrays["xyz"][towns] @ here)])

    def other_names(self, place_id: int) -> tuple[str, ...]:
        """Its other names, in any language."""
        row = self.row(place_id)
        start, end = (int(v) for v in self.arrays["alt_at"][row : row + 2])
        return tuple(dict.fromkeys(self._alternates[i] for i in range(start, end)))

    def names_by_language(self, place_id: int) -> dict[str, str]:
        """Its names where the language is known, by language code."""
        packed = self._languages[self.row(place_id)]
        pairs = (item.split("\x1e", 1) for item in packed.split("\x1f") if item)
        found: dict[str, str] = {}
        for lang, name in pairs:
            found.setdefault(lang, name)
        return found

    # -- by name -------------------------------------------------------------------------------

    def find(self, name: str, *, country: str | None = None, limit: int = 20) -> list[Place]:
        """Candidates for a name, best first; understands "Portland, OR", "Lisbon, Portugal" and ids."""
        from periplus.places.lookup import find_rows  # noqa: PLC0415  lookup needs this class

        return [self.place_at(row) for row in find_rows(self, name, country=country)[:limit]]

    def resolve(self, name: str, *, kinds: Collection[str] = ()) -> Place:
        """The one place meant, of these kinds if any are given.

        `PlaceError` with the candidates (or the nearest names) where that is open.
        """
        from periplus.places.lookup import resolve_row  # noqa: PLC0415  lookup needs this class

        return self.place_at(resolve_row(self, name, kinds))

    def candidates(self, name: str) -> tuple[I64, npt.NDArray[np.uint8]]:
        """Rows that bear exactly this name, best first, with the kind of name (`sources.NAME_FLAGS`)."""
        index = int(self.name_index(np.array([name_key(name)], dtype=np.uint64))[0])
        if index < 0:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint8)
        start, end = (int(v) for v in self.arrays["name_at"][index : index + 2])
        return self.arrays["cand_row"][start:end].astype(np.int64), self.arrays["cand_flag"][start:end]

    def name_index(self, keys: U64) -> I64:
        """Position in the table of names for each key, -1 where no place is called that."""
        a = self.arrays
        found = np.full(len(keys), -1, dtype=np.int64)
        bit = keys & np.uint64((1 << BLOOM_BITS) - 1)
        maybe = (a["name_bloom"][bit >> np.uint64(3)] >> (bit & np.uint64(7)).astype(np.uint8)) & 1
        at = np.flatnonzero(maybe)
        if not len(at):
            return found
        wanted = keys[at]
        bucket = wanted >> np.uint64(64 - BUCKET_BITS)
        low = a["name_bucket"][bucket].astype(np.int64)
        high = a["name_bucket"][bucket + np.uint64(1)].astype(np.int64)
        name_keys = a["name_key"]
        while len(at):
            open_ = low < high
            at, wanted, low, high = at[open_], wanted[open_], low[open_], high[open_]
            hit = name_keys[low] == wanted
            found[at[hit]] = low[hit]
            low = low + 1
            miss = ~hit
            at, wanted, low, high = at[miss], wanted[miss], low[miss], high[miss]
        return found

    def word_classes(self, keys: U64) -> npt.NDArray[np.uint32]:
        """Class bits (`lexicon.CLASSES`) of each token key, 0 for unknown words."""
        return self.arrays["word_bits"][self.word_slots(keys)]

    def word_slots(self, keys: U64) -> I64:
        """The slot of each token key in the table of words; an empty slot's position for unknown words."""
        table = self.arrays["word_key"]
        mask = np.uint64((1 << WORD_SLOT_BITS) - 1)
        one = (keys & mask).astype(np.int64)
        two = ((keys >> np.uint64(32)) & mask).astype(np.int64)
        found = np.where(table.take(two) == keys, two, self.empty_slot)
        return np.where(table.take(one) == keys, one, found)

    def cities_of(self, country: str, admin1: str | None = None, *, least: int = 0) -> list[Place]:
        """Every city of a country (ISO code), or of one of its first divisions (its code), biggest first.

        `least`: only those with so many people.
        """
        code = country.upper()
        if code not in self._countries or not code:
            raise PlaceError(f"no country has the code {country!r}; use an ISO code such as US or PT")
        a = self.arrays
        rows = np.flatnonzero((a["kind"] == KINDS.index("city")) & (a["country"] == self._countries.index(code)))
        rows = rows[a["population"][rows] >= least]
        rows = rows[np.argsort(-a["population"][rows], kind="stable")]
        wanted = None if admin1 is None else admin1.upper()
        return [self.place_at(r) for r in rows.tolist() if wanted is None or self._admin1[r].upper() == wanted]

    # -- as a whole ----------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """How many places of each kind, how many names, how many ZIP codes."""
        kinds = np.bincount(self.arrays["kind"], minlength=len(KINDS))
        counted = {kind: int(n) for kind, n in zip(KINDS, kinds, strict=True)}
        return {**counted, "names": len(self.arrays["name_key"]), "zip_codes": len(self.arrays["zip"])}

    def country_row(self, code: str) -> int:
        """The row of a country by ISO code, -1 if there is none."""
        return self._country_rows.get(code, -1)

    @cached_property
    def _country_rows(self) -> dict[str, int]:
        rows = np.flatnonzero(self.arrays["kind"] == KINDS.index("country")).tolist()
        countries = self.arrays["country"]
        return {self._countries[countries[row]]: row for row in reversed(rows) if self._countries[countries[row]]}

    def spoken_in(self, language: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The rows of the countries that a language is spoken in: where it is at home, and the others."""
        found = self._spoken.get(language_code("no" if language in ("nb", "nn") else language))
        return found or ((), ())

    @cached_property
    def _spoken(self) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
        found: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        for code, row, at_home in self.arrays["spoken"].tolist():
            home, others = found.get(code, ((), ()))
            found[code] = ((*home, row), others) if at_home else (home, (*others, row))
        return found

    def main_names(self) -> Iterator[str]:
        """The main names of all places, row by row."""
        return iter(self._names)

    @cached_property
    def glued(self) -> GluedNames:
        """The rows of places by their main name as URLs write it."""
        return GluedNames(self.arrays)


def _meet(a: BBox, b: BBox) -> bool:
    """Whether two boxes have a point in common; both may run across the antimeridian."""
    width = [360.0 if box.east - box.west >= 360.0 else (box.east - box.west) % 360.0 for box in (a, b)]
    apart = (b.west - a.west + _SLACK) % 360.0 - _SLACK
    beside = apart <= width[0] + _SLACK or (360.0 - apart) % 360.0 <= width[1] + _SLACK
    return beside and a.south <= b.north + _SLACK and b.south <= a.north + _SLACK


def open_gazetteer(path: Path | None = None, *, progress: Callable[[str, float], None] | None = None) -> Gazetteer:
    """Open a compiled gazetteer: `path`, or the one in the user's cache, which is compiled first if need be.

    Raises `GazetteerMissing` if `path` is absent or broken, `DiskFull` if the cache cannot be written.
    """
    return Gazetteer(*open_container(path, progress))
