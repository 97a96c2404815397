"""What a page says about itself outside its text: meta tags, JSON-LD, microdata, RDFa, microformats."""

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from periplus.model import LonLat, PageHints, PostalParts
from periplus.pages.dates import META_DATE_NAMES

__all__ = ["Metadata", "read_metadata"]

MAX_JSON_LD_CHARS = 200_000
MAX_JSON_LD_NODES = 2_000
MAX_HINTS = 20
MAX_HINT_CHARS = 300
NO_HINTS = PageHints()


@dataclass(slots=True)
class Metadata:
    """Collected while reading; turned into the fields of a Page."""

    title: str = ""
    description: str = ""
    dates: list[str] = field(default_factory=list)
    robots: str = ""
    refresh: str = ""
    points: list[LonLat] = field(default_factory=list)
    place_names: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    parts: list[PostalParts] = field(default_factory=list)
    meta: PostalParts | None = None

    def hints(self, countries: tuple[str, ...]) -> PageHints:
        """The geographic part, bounded, with the countries that the page says it is for."""
        if not (self.points or self.place_names or self.addresses or self.parts or self.meta or countries):
            return NO_HINTS
        return PageHints(
            points=tuple(self.points[:MAX_HINTS]),
            place_names=tuple(name[:MAX_HINT_CHARS] for name in self.place_names[:MAX_HINTS]),
            postal_addresses=tuple(text[:MAX_HINT_CHARS] for text in self.addresses[:MAX_HINTS]),
            addresses=tuple(self.parts[:MAX_HINTS]) or ((self.meta,) if self.meta else ()),
            countries=countries,
        )

    def add_address(self, parts: PostalParts) -> None:
        """Take an address that says at least where; the same one twice counts once."""
        if (parts.locality or parts.region) and parts not in self.parts:
            self.parts.append(parts)
            self.addresses.append(parts.text)


def read_metadata(tree: LexborHTMLParser, signs: frozenset[bytes]) -> Metadata:
    """Read meta tags, JSON-LD and microdata. Call before scripts are stripped from the tree.

    `signs` (`signs_of` the source) say what need not be looked for: each search walks through the whole tree.
    """
    found = Metadata()
    _read_meta_tags(tree, found)
    if b"ld+json" in signs:
        for script in tree.css('script[type^="application/ld+json" i]'):
            for thing in _json_ld_things(script.text()):
                _read_thing(thing, found)
    if not signs.isdisjoint(_ADDRESS_WORDS):
        for node in tree.css(_ADDRESS_NODES)[:MAX_HINTS]:
            found.add_address(_marked_up(node))
    if b"geo" in signs:
        for node in tree.css('[itemtype$="GeoCoordinates"], [itemprop="geo"], .geo, .h-geo, .p-geo')[:MAX_HINTS]:
            _read_geo(node, found)
    if b"published" in signs:
        found.dates += [day for node in tree.css(_PUBLISHED_NODES)[:5] for day in _shown_days(node)]
    if b"time" in signs:
        times = tree.css("time")[:MAX_HINTS]
        times.sort(key=lambda node: not _is_of_publication(node.attributes))
        found.dates += [day for node in times[:5] for day in _shown_days(node)]
    return found


_PUBLISHED_NODES: Final = (
    '[itemprop~="datePublished" i]:not(meta), [property$="datePublished" i]:not(meta), abbr.published, .dt-published'
)
"""What microdata, RDFa and microformats mark as the day of publication."""


def _shown_days(node: LexborNode) -> Iterator[str]:
    """What may be the day of a marked-up element: as its attributes give it to machines, and as it is shown."""
    for name in ("datetime", "content", "title"):
        if said := node.attributes.get(name):
            yield said
    yield node.text()[:64]


def _is_of_publication(attributes: dict[str, str | None]) -> bool:
    """Whether a time is marked as the page's: by microdata, as HTML once had it, or by its class."""
    said = f"{attributes.get('itemprop')} {attributes.get('class')}".lower()
    return "pubdate" in attributes or "publish" in said


def _read_meta_tags(tree: LexborHTMLParser, found: Metadata) -> None:
    tags: dict[str, str] = {}
    for node in tree.tags("meta"):
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
    found.title = tags.get("og:title") or tags.get("twitter:title") or ""
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
    country, _, region = tags.get("geo.region", "").strip().partition("-")
    name = tags.get("geo.placename", "").strip()
    locality, _, rest = name.partition(",")
    if name or region:
        found.meta = _parts(["", locality.strip(), region or rest.strip(), "", country])


def _json_ld_things(text: str) -> Iterator[dict[str, Any]]:
    """Every object of a JSON-LD block, breadth-first, bounded."""
    if len(text) > MAX_JSON_LD_CHARS:
        return
    waiting: deque[Any] = deque([_json_of(text)])
    for _ in range(MAX_JSON_LD_NODES):
        if not waiting:
            return
        thing = waiting.popleft()
        if isinstance(thing, list):
            waiting.extend(thing)
        elif isinstance(thing, dict):
            yield thing
            waiting.extend(value for value in thing.values() if isinstance(value, dict | list))


def _json_of(text: str) -> Any:
    """What a JSON-LD block says, also if it has comments, commas too many or quotes as HTML; of a worse one its day."""
    text = _unwrapped(text)
    for repair in (str, _repaired, lambda broken: _repaired(unescape(broken))):
        try:
            return json.loads(repair(text), strict=False)  # line breaks in strings are common
        except (ValueError, RecursionError):
            continue
    day = _STATED_DAY.search(text)
    return {"datePublished": day[1]} if day else None


_STATED_DAY: Final = re.compile(r'"datePublished"\s*:\s*"([^"]{8,64})"')
_TOO_MUCH: Final = re.compile(r'("(?:[^"\\]|\\.?)*+"?)|/\*.*?(?:\*/|\Z)|//[^\n]*|,(?=\s*[}\]])', re.DOTALL)
"""Strings, which stay; and comments and commas before an end, which JSON does not have."""


def _repaired(text: str) -> str:
    return _TOO_MUCH.sub(lambda match: match[1] or "", text)


def _unwrapped(text: str) -> str:
    """JSON-LD without what some write around it, as they did around scripts."""
    text = text.strip().strip("\ufeff")
    for opening in ("//", "<!--", "<![CDATA["):
        text = text.removeprefix(opening).lstrip()
    for ending in ("]]>", "-->", "//", ";"):
        text = text.removesuffix(ending).rstrip()
    return text


def _read_thing(thing: dict[str, Any], found: Metadata) -> None:
    published = thing.get("datePublished")
    if isinstance(published, str | int):
        found.dates.append(str(published)[:64])
    if "latitude" in thing and "longitude" in thing:
        _add_point(found, str(thing["latitude"]), str(thing["longitude"]))
    found.place_names.extend(_place_names(thing))
    kind = thing.get("@type")
    if kind == "PostalAddress" or (isinstance(kind, list) and "PostalAddress" in kind):
        found.add_address(_parts([_said(thing.get(key)) for key in _PROPERTIES]))
    elif isinstance(thing.get("address"), str) and "," in thing["address"]:
        found.addresses.append(" ".join(thing["address"].split()))


def _place_names(thing: dict[str, Any]) -> Iterator[str]:
    """What a schema.org thing says it is about or from: the names of its places."""
    for key in ("contentLocation", "spatialCoverage", "locationCreated", "areaServed"):
        value = thing.get(key)
        for place in value if isinstance(value, list) else [value]:
            name = place.get("name") if isinstance(place, dict) else place
            if isinstance(name, str) and name.strip():
                yield " ".join(name.split())


def _said(value: Any) -> str:
    """A property's text: itself, the first of several, or the name of what it is."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name") or value.get("identifier")
    return value if isinstance(value, str) else ""


_PROPERTIES: Final = ("streetAddress", "addressLocality", "addressRegion", "postalCode", "addressCountry")
_CLASSES: Final = ("street-address", "locality", "region", "postal-code", "country-name")
_ADDRESS_NODES: Final = '[itemtype$="PostalAddress"], [typeof$="PostalAddress"], .adr, .h-adr, .p-adr, .h-card, .vcard'
_ADDRESS_WORDS: Final = (b"postaladdress", b"adr", b"card")
"""One of these stands in the source of every page that has such a node."""


def _marked_up(node: LexborNode) -> PostalParts:
    """The parts of a schema.org (microdata, RDFa), h-card or hCard address under a node."""
    texts = []
    for prop, css_class in zip(_PROPERTIES, _CLASSES, strict=True):
        part = node.css_first(f'[itemprop="{prop}"], [property$="{prop}"], .{css_class}, .p-{css_class}')
        texts.append(_shown(part) if part else "")
    return _parts(texts)


def _shown(node: LexborNode) -> str:
    """What a marked-up part says: its content or title attribute, else its text."""
    for name in ("content", "title"):
        said = node.attributes.get(name)
        if said and (name == "content" or node.tag in ("abbr", "data")):
            return said
    return node.text()


def _read_geo(node: LexborNode, found: Metadata) -> None:
    """Coordinates of microdata, h-geo or the geo microformat."""
    said = []
    for prop in ("latitude", "longitude"):
        part = node.css_first(f'[itemprop="{prop}"], .{prop}, .p-{prop}')
        said.append(_shown(part) if part else "")
    if not all(said):  # the short form: <abbr class="geo" title="30.27;-97.74">
        said = list((node.attributes.get("title") or "").partition(";")[::2])
    if all(said):
        _add_point(found, *said)


def _parts(texts: list[str]) -> PostalParts:
    street, locality, region, code, country = (" ".join(text.split())[:MAX_HINT_CHARS] for text in texts)
    return PostalParts(street, locality, region, code, country)


def _add_point(found: Metadata, latitude: str, longitude: str) -> None:
    try:
        point = LonLat(float(longitude), float(latitude))
    except ValueError:
        return
    if point not in found.points and (point.lon, point.lat) != (0.0, 0.0):  # 0,0: nobody filled the form in
        found.points.append(point)
