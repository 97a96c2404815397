"""What a page says about itself outside its text: meta tags, JSON-LD, microdata."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from periplus.model import LonLat, PageHints
from periplus.pages.dates import META_DATE_NAMES

__all__ = ["Metadata", "read_metadata"]

MAX_JSON_LD_CHARS = 200_000
MAX_JSON_LD_NODES = 2_000
MAX_HINTS = 20
MAX_HINT_CHARS = 300


@dataclass(slots=True)
class Metadata:
    """Collected while reading; turned into the fields of a Page."""

    description: str = ""
    dates: list[str] = field(default_factory=list)
    robots: str = ""
    refresh: str = ""
    points: list[LonLat] = field(default_factory=list)
    place_names: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    def hints(self) -> PageHints:
        """The geographic part, bounded."""
        return PageHints(
            points=tuple(self.points[:MAX_HINTS]),
            place_names=tuple(name[:MAX_HINT_CHARS] for name in self.place_names[:MAX_HINTS]),
            postal_addresses=tuple(text[:MAX_HINT_CHARS] for text in self.addresses[:MAX_HINTS]),
        )


def read_metadata(tree: LexborHTMLParser) -> Metadata:
    """Read meta tags, JSON-LD and microdata. Call before scripts are stripped from the tree."""
    found = Metadata()
    _read_meta_tags(tree, found)
    for script in tree.css('script[type="application/ld+json"]'):
        for thing in _json_ld_things(script.text()):
            _read_thing(thing, found)
    for node in tree.css('[itemtype$="PostalAddress"], .adr')[:MAX_HINTS]:
        address = _microdata_address(node)
        if address:
            found.addresses.append(address)
    for node in tree.css('[itemprop="geo"], .geo')[:MAX_HINTS]:
        _add_point(found, _property(node, "latitude", "latitude"), _property(node, "longitude", "longitude"))
    for node in tree.css("time[datetime]")[:5]:
        found.dates.append(node.attributes.get("datetime") or "")
    return found


def _read_meta_tags(tree: LexborHTMLParser, found: Metadata) -> None:
    tags: dict[str, str] = {}
    for node in tree.css("meta"):
        attributes = node.attributes
        content = attributes.get("content")
        if not content:
            continue
        if (attributes.get("http-equiv") or "").lower() == "refresh":
            found.refresh = content
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        if name:
            lower = name.strip().lower()
            tags.setdefault(lower, content)
            if lower in ("robots", "periplus"):  # all of them count, not only the first
                found.robots += f",{content}"
    found.description = tags.get("description") or tags.get("og:description") or ""
    found.dates.extend(tags[name] for name in META_DATE_NAMES if name in tags)
    position = tags.get("geo.position") or tags.get("icbm")
    if position:
        _add_point(found, *position.replace(";", ",").partition(",")[::2])
    latitude, longitude = tags.get("place:location:latitude"), tags.get("place:location:longitude")
    if latitude and longitude:
        _add_point(found, latitude, longitude)
    if "geo.placename" in tags:
        found.place_names.append(tags["geo.placename"])


def _json_ld_things(text: str) -> Iterator[dict[str, Any]]:
    """Every object of a JSON-LD block, breadth-first, bounded."""
    if len(text) > MAX_JSON_LD_CHARS:
        return
    try:
        waiting: deque[Any] = deque([json.loads(text)])
    except (ValueError, RecursionError):
        return
    for _ in range(MAX_JSON_LD_NODES):
        if not waiting:
            return
        thing = waiting.popleft()
        if isinstance(thing, list):
            waiting.extend(thing)
        elif isinstance(thing, dict):
            yield thing
            waiting.extend(value for value in thing.values() if isinstance(value, dict | list))


def _read_thing(thing: dict[str, Any], found: Metadata) -> None:
    published = thing.get("datePublished")
    if isinstance(published, str):
        found.dates.append(published)
    if "latitude" in thing and "longitude" in thing:
        _add_point(found, str(thing["latitude"]), str(thing["longitude"]))
    found.place_names.extend(_place_names(thing))
    kind = thing.get("@type")
    if kind == "PostalAddress" or (isinstance(kind, list) and "PostalAddress" in kind):
        parts = [
            thing.get(key)
            for key in ("streetAddress", "addressLocality", "addressRegion", "postalCode", "addressCountry")
        ]
        address = _join_address([part if isinstance(part, str) else "" for part in parts])
        if address:
            found.addresses.append(address)


def _place_names(thing: dict[str, Any]) -> Iterator[str]:
    """What a schema.org thing says it is about or from: the names of its places."""
    for key in ("contentLocation", "spatialCoverage", "locationCreated", "areaServed"):
        value = thing.get(key)
        for place in value if isinstance(value, list) else [value]:
            name = place.get("name") if isinstance(place, dict) else place
            if isinstance(name, str) and name.strip():
                yield " ".join(name.split())


def _microdata_address(node: LexborNode) -> str:
    """The parts of a schema.org or hCard address under a node, in postal order."""
    parts = []
    for prop, css_class in (
        ("streetAddress", "street-address"),
        ("addressLocality", "locality"),
        ("addressRegion", "region"),
        ("postalCode", "postal-code"),
        ("addressCountry", "country-name"),
    ):
        parts.append(_property(node, prop, css_class))
    return _join_address(parts)


def _property(node: LexborNode, prop: str, css_class: str) -> str:
    """A property in microdata or by a microformat's class."""
    part = node.css_first(f'[itemprop="{prop}"], .{css_class}')
    return " ".join((part.attributes.get("content") or part.text()).split()) if part else ""


def _join_address(parts: list[str]) -> str:
    street, locality, region, code, country = (" ".join(part.split()) for part in parts)
    region_code = " ".join(part for part in (region, code) if part)
    return ", ".join(part for part in (street, locality, region_code, country) if part) if locality or region else ""


def _add_point(found: Metadata, latitude: str, longitude: str) -> None:
    try:
        point = LonLat(float(longitude), float(latitude))
    except ValueError:
        return
    if (point.lon, point.lat) != (0.0, 0.0):  # what forms write when nobody filled them in
        found.points.append(point)
