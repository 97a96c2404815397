"""Who owns which place. A place inside an owned place belongs to its owner; what no one owns is general."""

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import xxhash

from periplus.errors import ConfigError, PlaceError
from periplus.model import Place
from periplus.places import Gazetteer
from periplus.settings import NodeSettings, job_from_dict

__all__ = ["Ownership", "load_targets"]

BUNDLED = ("us100",)


@dataclass(frozen=True, slots=True)
class Ownership:
    """The nodes of a crawl and their places; independent of the order in which the job lists them."""

    names: tuple[str, ...]
    general: tuple[str, ...]
    owner_by_place: dict[int, str]
    targets: tuple[Place, ...]

    @classmethod
    def of(cls, nodes: dict[str, NodeSettings], gazetteer: Gazetteer) -> "Ownership":
        """Look up every node's places. ConfigError for unknown, ambiguous or doubly owned ones."""
        owner_by_place: dict[int, str] = {}
        targets = []
        for name, node in sorted(nodes.items()):
            for text in node.places:
                try:
                    place = gazetteer.resolve(text)
                except PlaceError as error:
                    raise ConfigError(f"nodes.{name}: {error}") from None
                other = owner_by_place.setdefault(place.id, name)
                if other != name:
                    raise ConfigError(f"nodes.{name}: {text!r} belongs to node {other!r} already")
                targets.append(place)
        general = tuple(sorted(name for name, node in nodes.items() if not node.places))
        if not general:
            raise ConfigError(
                "nodes: links without a place have nowhere to go; add a node without places, [nodes.general]"
            )
        unique = {place.id: place for place in targets}
        return cls(tuple(sorted(nodes)), general, owner_by_place, tuple(unique[key] for key in sorted(unique)))

    def owner(self, place: Place) -> tuple[str, int] | None:
        """The node that owns the place or the nearest place around it, and the id of what it owns; else None."""
        for place_id in (place.id, *reversed(place.ancestors)):
            node = self.owner_by_place.get(place_id)
            if node is not None:
                return node, place_id
        return None

    def general_for(self, host: str) -> str:
        """The general node for a host: a hash, so that a host stays together."""
        return self.general[xxhash.xxh3_64_intdigest(host.encode()) % len(self.general)]


def load_targets(name: str, base: Path, gazetteer: Gazetteer) -> dict[str, NodeSettings]:
    """Nodes and their places from `us100`, `all:CC` or a job file of which only [nodes] is read."""
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
    return nodes


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
