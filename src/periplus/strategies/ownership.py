"""Who owns which place. A place inside an owned place belongs to its owner; what no one owns is general.

A node owns places by name or id ("Boston, MA"), regions ("all of TX"), time zones ("time zone America/Denver") and
polygons ("polygon area.geojson"). No place may have two owners.
"""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import msgspec
import numpy as np
import xxhash

from periplus.errors import ConfigError, PlaceError
from periplus.model import Place
from periplus.places import Gazetteer
from periplus.settings import Job, NodeSettings, job_from_dict
from periplus.strategies.polygons import TURNS, Area, read_area

__all__ = ["Ownership", "load_targets", "with_whole_paths"]

BUNDLED = ("us100",)
ALL_OF = "all of "
REGIONS = ("country", "admin1")
"""Kinds of places of which a node may own all."""
TIME_ZONE = "time zone "
POLYGON = "polygon "
MEMO_PLACES = 200_000


@dataclass(frozen=True, slots=True)
class Ownership:
    """The nodes of a crawl and their places; independent of the order in which the job lists them.

    `nearest_km`: a place that nobody owns belongs to the owner of the nearest target within this distance; 0: to
    nobody, so its links go to a general node. `sites`: where several nodes own the same places, those that stand behind
    the first of them, which is the one that the strategies name.
    """

    names: tuple[str, ...]
    general: tuple[str, ...]
    owner_by_place: dict[int, str]
    targets: tuple[Place, ...]
    owner_by_zone: dict[str, str] = field(default_factory=dict)
    areas: tuple[tuple[str, Area], ...] = ()
    nearest_km: float = 0.0
    gazetteer: Gazetteer | None = None
    sites: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _memo: dict[int, tuple[str, int] | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        nodes: dict[str, NodeSettings],
        gazetteer: Gazetteer,
        *,
        base: Path | None = None,
        nearest_km: float = 0.0,
        several_sites: bool = False,
    ) -> "Ownership":
        """Look up every node's places. ConfigError for unknown, ambiguous or doubly owned ones.

        With `several_sites` nodes with the same list of places own them together, as do all general nodes.
        """
        register = _Register(gazetteer, base or Path())
        sites = _same_places(nodes) if several_sites else {}
        twins = {twin for group in sites.values() for twin in group[1:]}
        for name, node in sorted(nodes.items()):
            if name not in twins:
                for text in node.places:
                    register.add(name, text)
        register.refuse_overlaps()
        general = tuple(sorted(name for name, node in nodes.items() if not node.places and name not in twins))
        if not general:
            raise ConfigError(
                "nodes: links without a place have nowhere to go; add a node without places, [nodes.general]"
            )
        return cls(
            names=tuple(sorted(nodes)),
            general=general,
            owner_by_place=register.owner_by_place,
            targets=tuple(register.targets[key] for key in sorted(register.targets)),
            owner_by_zone=register.owner_by_zone,
            areas=tuple(register.areas),
            nearest_km=nearest_km,
            gazetteer=gazetteer,
            sites=sites,
        )

    @classmethod
    def of_job(cls, job: Job, gazetteer: Gazetteer) -> "Ownership":
        """Who owns what in a job whose nodes are settled; as `of`."""
        crawl = job.crawl
        several = crawl.strategy == "place+nearest"
        return cls.of(job.nodes, gazetteer, nearest_km=crawl.nearest_owner_km, several_sites=several)

    @property
    def owning(self) -> frozenset[str]:
        """The nodes that own something: places, time zones or polygons."""
        areas = (node for node, _ in self.areas)
        return frozenset((*self.owner_by_place.values(), *self.owner_by_zone.values(), *areas))

    @property
    def owns_anything(self) -> bool:
        """Whether there is a node with places; if not, no place is a target."""
        return bool(self.owner_by_place or self.owner_by_zone or self.areas)

    @property
    def by_position(self) -> bool:
        """Whether a place may have an owner for where it lies, in none that is a target."""
        return bool(self.owner_by_zone or self.areas or self.nearest_km)

    def described(self) -> list[str]:
        """All that is owned and by whom, in one order: the same for the same owners."""
        places = (f"{place}={node}" for place, node in self.owner_by_place.items())
        zones = (f"{zone}={node}" for zone, node in self.owner_by_zone.items())
        areas = (f"{xxhash.xxh3_64_hexdigest(area.edges.tobytes())}={node}" for node, area in self.areas)
        return [*sorted(places), *sorted(zones), *sorted(areas)]

    def owner_by_id(self, place_id: int) -> tuple[str, int] | None:
        """As `owner`; None also for an id that the gazetteer does not have."""
        try:
            return self.owner(self.gazetteer.place(place_id)) if self.gazetteer is not None else None
        except PlaceError:
            return None

    def owner(self, place: Place) -> tuple[str, int] | None:
        """The node that owns the place or the nearest place around it, and the id of what it owns; else None."""
        if place.id not in self._memo:
            if len(self._memo) >= MEMO_PLACES:
                self._memo.clear()
            self._memo[place.id] = self._look_up(place)
        return self._memo[place.id]

    def _look_up(self, place: Place) -> tuple[str, int] | None:
        for place_id in (place.id, *reversed(place.ancestors)):
            node = self.owner_by_place.get(place_id)
            if node is not None:
                return node, place_id
        return self._owner_by_position(place) if self.by_position else None

    def _owner_by_position(self, place: Place) -> tuple[str, int] | None:
        """The owner of the point: by its time zone, the polygon around it, or the nearest target."""
        if place.kind in ("world", "continent", "country", "admin1"):
            return None  # a point says nothing of a large region
        if self.owner_by_zone and self.gazetteer is not None:
            node = self.owner_by_zone.get(self.gazetteer.timezone(place.id))
            if node is not None:
                return node, place.id
        for node, area in self.areas:
            if area.contains(place.point):
                return node, place.id
        if self.nearest_km:
            near = min(self.targets, key=lambda t: (t.point.distance_km(place.point), t.id), default=None)
            if near is not None and near.point.distance_km(place.point) <= self.nearest_km:
                return self.owner_by_place[near.id], near.id
        return None

    def named_places(self) -> Iterator[Place]:
        """Every place whose name speaks for an owner: the targets, and the cities inside owned regions."""
        yield from self.targets
        if self.gazetteer is None:
            return
        regions = [place for place in self.targets if place.kind in REGIONS]
        for region in regions:
            code = region.admin1 if region.kind == "admin1" else None
            yield from self.gazetteer.cities_of(region.country, code, least=1)
        if self.owner_by_zone or self.areas:
            areas = [area for _, area in self.areas]
            cities = _cities_within(self.gazetteer, self.owner_by_zone, areas)
            yield from (city for city in cities if self.owner(city) is not None)

    def spokesman(self, node: str) -> str:
        """The node that stands for all that own the same places as this one: itself, where it owns them alone."""
        return next((first for first, group in self.sites.items() if node in group), node)

    def general_for(self, host: str) -> str:
        """The general node for a host: a hash, so that a host stays together."""
        if len(self.general) == 1:
            return self.general[0]
        return self.general[xxhash.xxh3_64_intdigest(host.encode("utf-8", "surrogatepass")) % len(self.general)]


def _same_places(nodes: dict[str, NodeSettings]) -> dict[str, tuple[str, ...]]:
    """Groups of nodes that own the same, by the first of each in the order of names."""
    groups: dict[frozenset[str], list[str]] = {}
    for name, node in sorted(nodes.items()):
        groups.setdefault(frozenset(text.strip().casefold() for text in node.places), []).append(name)
    return {group[0]: tuple(group) for group in groups.values()}


def _cities_within(gazetteer: Gazetteer, zones: Iterable[str], areas: Iterable[Area]) -> Iterator[Place]:
    """The inhabited cities that may lie in one of the zones or areas (by their boxes)."""
    columns = gazetteer.arrays
    inside = np.zeros(len(gazetteer), dtype=np.bool_)
    for zone in _zone_numbers(gazetteer, set(zones)):
        inside |= columns["zone"] == zone
    for area in areas:
        west, south, east, north = area.box
        lon, lat = columns["lon"], columns["lat"]
        for turn in TURNS:
            inside |= (lon + turn >= west) & (lon + turn <= east) & (lat >= south) & (lat <= north)
    for row in np.flatnonzero(inside & (columns["population"] > 0)).tolist():
        place = gazetteer.place_at(row)
        if place.kind == "city":
            yield place


def _zone_numbers(gazetteer: Gazetteer, names: set[str]) -> list[int]:
    """The numbers by which the gazetteer's cities refer to these time zones; those of no city are left out."""
    if not names:
        return []
    columns = gazetteer.arrays
    inhabited = np.flatnonzero(columns["population"] > 0)
    numbers, first = np.unique(columns["zone"][inhabited], return_index=True)
    samples = zip(numbers.tolist(), inhabited[first].tolist(), strict=True)
    return [number for number, row in samples if gazetteer.timezone(gazetteer.place_at(row).id) in names]


class _Register:
    """Takes down what each node says it owns, and finds what two of them claim."""

    def __init__(self, gazetteer: Gazetteer, base: Path) -> None:
        self._gazetteer = gazetteer
        self._base = base
        self._said: dict[int, str] = {}
        self.owner_by_place: dict[int, str] = {}
        self.targets: dict[int, Place] = {}
        self.owner_by_zone: dict[str, str] = {}
        self.areas: list[tuple[str, Area]] = []

    def add(self, node: str, text: str) -> None:
        """One entry of a node's `places`."""
        lower = text.strip().casefold()
        if lower.startswith(TIME_ZONE):
            self._add_zone(node, text.strip()[len(TIME_ZONE) :].strip())
        elif lower.startswith(POLYGON):
            self.areas.append((node, read_area(self._base / text.strip()[len(POLYGON) :].strip(), f"nodes.{node}")))
        else:
            self._add_place(node, text)

    def _add_zone(self, node: str, zone: str) -> None:
        if not _zone_numbers(self._gazetteer, {zone}):
            raise ConfigError(f"nodes.{node}: no place is in the time zone {zone!r}; use an IANA name: America/Denver")
        other = self.owner_by_zone.setdefault(zone, node)
        if other != node:
            raise ConfigError(f"nodes.{node}: the time zone {zone} belongs to node {other!r} already")

    def _add_place(self, node: str, text: str) -> None:
        try:
            place = self._resolve(text)
        except PlaceError as error:
            raise ConfigError(f"nodes.{node}: {error}") from None
        other = self.owner_by_place.setdefault(place.id, node)
        if other != node:
            known = self._said[place.id]
            same = "" if known == text else f", as {known!r}"
            raise ConfigError(f"nodes.{node}: {text!r} belongs to node {other!r} already{same}")
        self.targets[place.id] = place
        self._said[place.id] = text

    def _resolve(self, text: str) -> Place:
        """A place by name or id; after "all of" a division or country is meant, also by its code."""
        stripped = text.strip()
        if stripped.isascii() and stripped.isdigit():
            return self._gazetteer.place(int(stripped))
        if stripped.casefold().endswith((".geojson", ".json")):
            raise PlaceError(f'{text!r} is a file; what lies inside its polygons is "polygon {stripped}"')
        if not stripped.casefold().startswith(ALL_OF):
            return self._gazetteer.resolve(stripped)
        name = stripped[len(ALL_OF) :].strip()
        if not any(place.kind in REGIONS for place in self._gazetteer.find(name, limit=50)):
            raise PlaceError(f"no country or first division is called {name!r}, of which {text!r} would be all")
        return self._gazetteer.resolve(name, kinds=REGIONS)

    def refuse_overlaps(self) -> None:
        """ConfigError if a place would have two owners, naming both."""
        for place in self.targets.values():
            node = self.owner_by_place[place.id]
            for outer in place.ancestors:
                other = self.owner_by_place.get(outer, node)
                if other != node:
                    self._refuse(node, self._said[place.id], other, self._said[outer])
            if (self.owner_by_zone or self.areas) and place.kind not in REGIONS:
                self._refuse_position(place, node)
        if self.owner_by_zone or self.areas:
            self._refuse_shared_cities()

    def _refuse_position(self, place: Place, node: str) -> None:
        zone = self._gazetteer.timezone(place.id)
        other = self.owner_by_zone.get(zone, node)
        if other != node:
            self._refuse(node, self._said[place.id], other, f"time zone {zone}")
        for other, area in self.areas:
            if other != node and area.contains(place.point):
                self._refuse(node, self._said[place.id], other, f"polygon {area.name}")

    def _refuse_shared_cities(self) -> None:
        """Zones, polygons and regions overlap if some city lies in two of them."""
        areas = [area for _, area in self.areas]
        for city in _cities_within(self._gazetteer, self.owner_by_zone, areas):
            owners = {self.owner_by_place[i]: self._said[i] for i in city.ancestors if i in self.owner_by_place}
            zone = self._gazetteer.timezone(city.id) if self.owner_by_zone else ""
            if zone in self.owner_by_zone:
                owners.setdefault(self.owner_by_zone[zone], f"time zone {zone}")
            owners.update({node: f"polygon {area.name}" for node, area in self.areas if area.contains(city.point)})
            if len(owners) > 1:
                (node, mine), (other, theirs), *_ = sorted(owners.items())
                self._refuse(node, mine, other, theirs, f"both hold {city.name}, {city.admin1 or city.country}")

    @staticmethod
    def _refuse(node: str, mine: str, other: str, theirs: str, why: str = "one lies in the other") -> None:
        raise ConfigError(
            f"nodes.{node}: {mine!r} overlaps with {theirs!r} of node {other!r} ({why}); a place has one owner"
        )


def with_whole_paths(nodes: dict[str, NodeSettings], base: Path) -> dict[str, NodeSettings]:
    """The nodes with the files of their polygons findable from anywhere."""
    return {
        name: msgspec.structs.replace(
            node,
            places=[
                f"{POLYGON}{(base / text.strip()[len(POLYGON) :].strip()).absolute()}"
                if text.strip().casefold().startswith(POLYGON)
                else text
                for text in node.places
            ],
        )
        for name, node in nodes.items()
    }


def load_targets(name: str, base: Path, gazetteer: Gazetteer) -> dict[str, NodeSettings]:
    """Nodes and their places from `us100`, `all:CC` or a job file of which only [nodes] is read.

    Polygons lie beside the file that names them.
    """
    if name in BUNDLED:
        text = resources.files("periplus.strategies").joinpath(f"targets/{name}.toml").read_text("utf-8")
        return job_from_dict(tomllib.loads(text), name).nodes
    if name.startswith("all:"):
        return _country_nodes(name.removeprefix("all:"), gazetteer)
    path = base / name
    if not path.is_file():
        raise ConfigError(f"targets: no {name!r}: give us100, all:US (any country code) or a file with [nodes]")
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    nodes = job_from_dict({"nodes": data.get("nodes", {})}, str(path)).nodes
    if not nodes:
        raise ConfigError(f"{path}: has no [nodes]")
    return with_whole_paths(nodes, path.parent)


def _country_nodes(country: str, gazetteer: Gazetteer) -> dict[str, NodeSettings]:
    """Every city of a country, one node for each first division, named by its code, and a general node."""
    try:
        cities = gazetteer.cities_of(country.upper())
    except PlaceError as error:
        raise ConfigError(f"targets: all:{country}: {error}") from None
    if not cities:
        raise ConfigError(f"targets: all:{country}: the gazetteer knows no city there; is it an ISO country code?")
    divisions: dict[str, list[str]] = {}
    for city in cities:
        divisions.setdefault(city.admin1 or "other", []).append(str(city.id))
    nodes = {code: NodeSettings(places=ids) for code, ids in sorted(divisions.items())}
    nodes["general"] = NodeSettings()
    return nodes
