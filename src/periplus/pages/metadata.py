"""What a page says about itself outside its text: meta tags, JSON-LD, microdata, RDFa, microformats."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from periplus.model import LonLat, PageHints, PostalParts
from periplus.pages.dates import META_DATE_NAMES
from periplus.pages.linked_data import PUBLISHERS, Whose, json_ld_things, types_of

__all__ = ["Metadata", "read_metadata"]

MAX_HINTS = 20
MAX_HINT_CHARS = 300
MAX_PARENTS = 50
NO_HINTS = PageHints()


@dataclass(slots=True)
class Whereabouts:
    """Where something is, as markup declares it: points, names, addresses as lines and by their parts."""

    points: list[LonLat] = field(default_factory=list)
    place_names: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    parts: list[PostalParts] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.points or self.place_names or self.addresses or self.parts)

    def __iadd__(self, other: "Whereabouts") -> "Whereabouts":
        for parts in other.parts:
            self.add_address(parts)
        self.points += [point for point in other.points if point not in self.points]
        self.place_names += other.place_names
        self.addresses += [line for line in other.addresses if line not in self.addresses]
        return self

    def add_address(self, parts: PostalParts) -> None:
        """Take an address that says at least where; the same one twice counts once."""
        if (parts.locality or parts.region) and parts not in self.parts:
            self.parts.append(parts)
            self.addresses.append(parts.text)

    def add_point(self, latitude: str, longitude: str) -> None:
        """Take a point on the earth, once."""
        try:
            point = LonLat(float(longitude), float(latitude))
        except ValueError:
            return
        if point not in self.points and (point.lon, point.lat) != (0.0, 0.0):  # 0,0: nobody filled the form in
            self.points.append(point)

    def is_named_in(self, text: str) -> bool:
        """Whether a text names the town of an address, or there is no town to name."""
        towns = [parts.locality for parts in self.parts if parts.locality]
        return not towns or any(town in text for town in towns)

    def is_near(self, meta: PostalParts | None) -> bool:
        """Whether an address is in the same town."""
        town = meta.locality if meta else ""
        return bool(town) and any(parts.locality == town for parts in self.parts)


@dataclass(slots=True)
class Metadata:
    """Collected while reading; turned into the fields of a Page.

    Where the page itself is, what the page's geo tags say, where things are that stand beside it (a shop, a town hall)
    and where its publisher is: an article is about none of the last two, and nothing is about a publisher far away.
    """

    title: str = ""
    site_name: str = ""
    description: str = ""
    dates: list[str] = field(default_factory=list)
    robots: str = ""
    refresh: str = ""
    is_article: bool = False
    own: Whereabouts = field(default_factory=Whereabouts)
    tags: Whereabouts = field(default_factory=Whereabouts)
    beside: Whereabouts = field(default_factory=Whereabouts)
    publisher: Whereabouts = field(default_factory=Whereabouts)
    meta: PostalParts | None = None

    def hints(self, text: Callable[[], str], countries: tuple[str, ...]) -> PageHints:
        """The geographic part, bounded, with the countries that the page says it is for; `text` is what it says."""
        found, meta = self._whereabouts(text)
        if not (found or meta or countries):
            return NO_HINTS
        return PageHints(
            points=tuple(found.points[:MAX_HINTS]),
            place_names=tuple(name[:MAX_HINT_CHARS] for name in found.place_names[:MAX_HINTS]),
            postal_addresses=tuple(line[:MAX_HINT_CHARS] for line in found.addresses[:MAX_HINTS]),
            addresses=tuple(found.parts[:MAX_HINTS]) or ((meta,) if meta else ()),
            countries=countries,
        )

    def _whereabouts(self, text: Callable[[], str]) -> tuple[Whereabouts, PostalParts | None]:
        """All that is about the page, and the address of its geo tags unless they say where its publisher is."""
        found = Whereabouts()
        of_site = self.is_article and (
            self.beside.is_near(self.meta)
            or self.publisher.is_near(self.meta)
            or not all(name in text() for name in self.tags.place_names)  # most sites have one tag for all articles
        )
        if not of_site:
            found += self.tags
        found += self.own
        if not self.is_article:
            found += self.beside
            if self.publisher and self.publisher.is_named_in(text()):
                found += self.publisher
        return found, None if of_site else self.meta


def read_metadata(tree: LexborHTMLParser, signs: frozenset[bytes]) -> Metadata:
    """Read meta tags, JSON-LD and microdata. Call before scripts are stripped from the tree.

    `signs` (`signs_of` the source) say what need not be looked for: each search walks through the whole tree.
    """
    found = Metadata()
    _read_meta_tags(tree, found)
    if b"ld+json" in signs:
        for script in tree.css('script[type^="application/ld+json" i]'):
            for thing, whose in json_ld_things(script.text()):
                _read_thing(thing, whose, found)
    if not signs.isdisjoint(_ADDRESS_WORDS):
        for node in tree.css(_ADDRESS_NODES)[:MAX_HINTS]:
            _whose_markup(node, found).add_address(_marked_up(node))
    if b"geo" in signs:
        for node in tree.css('[itemtype$="GeoCoordinates"], [itemprop="geo"], .geo, .h-geo, .p-geo')[:MAX_HINTS]:
            _read_geo(node, _whose_markup(node, found))
    around = _around_headline(tree) if not signs.isdisjoint((b"published", b"time")) else frozenset()
    if b"published" in signs:
        marked = [node for node in tree.css(_PUBLISHED_NODES)[:MAX_HINTS] if not _is_of_another(node, around)]
        found.dates += [day for node in marked[:5] for day in _shown_days(node)]
    if b"time" in signs:
        times = [node for node in tree.css("time")[:MAX_HINTS] if not _is_of_another(node, around)]
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


_OTHERS: Final = re.compile(r"\b(?:related|recommended|sidebar|widget)", re.IGNORECASE)


def _is_of_another(node: LexborNode, around: frozenset[int]) -> bool:
    """Whether something stands among references to other pages: beside the text, at its foot, in a box for them.

    What is `around` the page's headline is none of these: some wrap everything in what they call a widget.
    """
    above = node.parent
    for _ in range(MAX_PARENTS):
        if above is None or above.tag == "body" or above.mem_id in around:
            break
        said = above.attributes
        if above.tag in ("aside", "nav", "footer") or _OTHERS.search(f"{said.get('class')} {said.get('id')}"):
            return True
        above = above.parent
    return False


def _around_headline(tree: LexborHTMLParser) -> frozenset[int]:
    """The elements that the page's first headline is in."""
    above = tree.css_first("h1")
    found: list[int] = []
    while above is not None and len(found) < MAX_PARENTS:
        found.append(above.mem_id)
        above = above.parent
    return frozenset(found)


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
    found.site_name = tags.get("og:site_name") or tags.get("application-name") or ""
    found.description = tags.get("description") or tags.get("og:description") or ""
    found.dates.extend(tags[name] for name in META_DATE_NAMES if name in tags)
    found.is_article = "article:published_time" in tags  # og:type calls every page but the first an article
    position = tags.get("geo.position") or tags.get("icbm")
    if position:
        found.tags.add_point(*position.replace(";", ",").partition(",")[::2])
    latitude, longitude = tags.get("place:location:latitude"), tags.get("place:location:longitude")
    if latitude and longitude:
        found.beside.add_point(latitude, longitude)  # Open Graph has it for pages that are places
    if "geo.placename" in tags:
        found.tags.place_names.append(tags["geo.placename"])
    country, _, region = tags.get("geo.region", "").strip().partition("-")
    name = tags.get("geo.placename", "").strip()
    locality, _, rest = name.partition(",")
    if name or region:
        found.meta = _parts(["", locality.strip(), region or rest.strip(), "", country])


def _read_thing(thing: dict[str, Any], whose: Whose, found: Metadata) -> None:
    published = thing.get("datePublished")
    if isinstance(published, str | int):
        found.dates.append(str(published)[:64])
    found.is_article |= whose is Whose.ARTICLE
    where = {Whose.BESIDE: found.beside, Whose.PUBLISHER: found.publisher}.get(whose, found.own)
    if "latitude" in thing and "longitude" in thing:
        where.add_point(str(thing["latitude"]), str(thing["longitude"]))
    where.place_names.extend(_place_names(thing))
    if "PostalAddress" in types_of(thing):
        where.add_address(_parts([_said(thing.get(key)) for key in _PROPERTIES]))
    elif isinstance(thing.get("address"), str) and "," in thing["address"]:
        where.addresses.append(" ".join(thing["address"].split()))


def _place_names(thing: dict[str, Any]) -> Iterator[str]:
    """What a schema.org thing says it is about or from: the names of its places."""
    for key in ("contentLocation", "spatialCoverage", "locationCreated", "areaServed"):
        value = thing.get(key)
        for place in value if isinstance(value, list) else [value]:
            name = place.get("name") if isinstance(place, dict) else place
            if isinstance(name, str) and name.strip() and not (key == "areaServed" and len(name) == 2):  # a code
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


def _whose_markup(node: LexborNode, found: Metadata) -> Whereabouts:
    """Whom an address in the flow of the page belongs to: in its head or foot and as an author's, not the page."""
    above = node.parent
    for _ in range(MAX_PARENTS):
        if above is None or above.tag in ("article", "main"):
            break
        properties = (above.attributes.get("itemprop") or "").split()
        if above.tag in _FRAME or not PUBLISHERS.isdisjoint(properties):
            return found.beside
        above = above.parent
    return found.own


_FRAME: Final = frozenset({"header", "footer", "aside", "nav"})


def _read_geo(node: LexborNode, where: Whereabouts) -> None:
    """Coordinates of microdata, h-geo or the geo microformat."""
    said = []
    for prop in ("latitude", "longitude"):
        part = node.css_first(f'[itemprop="{prop}"], .{prop}, .p-{prop}')
        said.append(_shown(part) if part else "")
    if not all(said):  # the short form: <abbr class="geo" title="30.27;-97.74">
        said = list((node.attributes.get("title") or "").partition(";")[::2])
    if all(said):
        where.add_point(*said)


def _parts(texts: list[str]) -> PostalParts:
    street, locality, region, code, country = (" ".join(text.split())[:MAX_HINT_CHARS] for text in texts)
    return PostalParts(street, locality, region, code, country)
