"""The values that cross rooms: frozen, slotted, and nothing but data; in the order of the flow.

`Lease` → `Fetched` → `Page` (with its `Link`s) → `Located` → `Score` → `Assignment` → what `store` commits. Geographic
values come first because everyone uses them: longitude before latitude, WGS84, checked when made.
"""

import math
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import IntEnum, StrEnum
from typing import Self

import msgspec

__all__ = [
    "EARTH_RADIUS_KM",
    "Address",
    "Analysis",
    "Assignment",
    "BBox",
    "Entity",
    "Fetched",
    "Footprint",
    "FootprintNode",
    "Lease",
    "Link",
    "LinkPosition",
    "Links",
    "Located",
    "LonLat",
    "Mention",
    "NewUrl",
    "Outcome",
    "Page",
    "PageHints",
    "Parcel",
    "Place",
    "RoutedLink",
    "Score",
    "WeightedPlace",
]

EARTH_RADIUS_KM = 6371.0088  # mean (IUGG)


# -- Geography -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LonLat:
    """A point on the WGS84 sphere. Longitude -180..180, latitude -90..90; anything else is a ValueError."""

    lon: float
    lat: float

    def __post_init__(self) -> None:
        if not -180.0 <= self.lon <= 180.0:  # also refuses NaN
            raise ValueError(f"longitude {self.lon!r} is not between -180 and 180")
        if not -90.0 <= self.lat <= 90.0:
            raise ValueError(f"latitude {self.lat!r} is not between -90 and 90")

    def distance_km(self, other: "LonLat") -> float:
        """Great-circle distance (haversine), right across the antimeridian."""
        phi1, phi2 = math.radians(self.lat), math.radians(other.lat)
        half_dphi = (phi2 - phi1) / 2
        half_dlambda = math.radians(other.lon - self.lon) / 2
        h = math.sin(half_dphi) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_dlambda) ** 2
        return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(h)))


@dataclass(frozen=True, slots=True)
class BBox:
    """A box of longitudes and latitudes. `west > east` means that it crosses the antimeridian."""

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        LonLat(self.west, self.south)
        LonLat(self.east, self.north)
        if self.south > self.north:
            raise ValueError(f"south {self.south} is north of north {self.north}")

    @property
    def crosses_antimeridian(self) -> bool:
        """Whether the box runs over longitude ±180."""
        return self.west > self.east

    def contains(self, point: LonLat) -> bool:
        """Whether the point lies in the box, edges included."""
        if not self.south <= point.lat <= self.north:
            return False
        if self.crosses_antimeridian:
            return point.lon >= self.west or point.lon <= self.east
        return self.west <= point.lon <= self.east

    def split(self) -> tuple["BBox", ...]:
        """The box as one or two boxes that do not cross the antimeridian."""
        if not self.crosses_antimeridian:
            return (self,)
        return (
            BBox(self.west, self.south, 180.0, self.north),
            BBox(-180.0, self.south, self.east, self.north),
        )

    @classmethod
    def around(cls, center: LonLat, km: float) -> "BBox":
        """The smallest box that holds the circle of `km` around `center`."""
        dlat = math.degrees(km / EARTH_RADIUS_KM)
        south, north = max(-90.0, center.lat - dlat), min(90.0, center.lat + dlat)
        if south == -90.0 or north == 90.0:
            return cls(-180.0, south, 180.0, north)
        ratio = math.sin(km / EARTH_RADIUS_KM) / math.cos(math.radians(center.lat))
        if km >= EARTH_RADIUS_KM * math.pi / 2 or ratio >= 1.0:
            return cls(-180.0, south, 180.0, north)
        dlon = math.degrees(math.asin(ratio))
        if dlon >= 180.0:
            return cls(-180.0, south, 180.0, north)
        return cls(_wrap(center.lon - dlon), south, _wrap(center.lon + dlon), north)


def _wrap(lon: float) -> float:
    """Longitude brought back into -180..180."""
    if lon < -180.0:
        return lon + 360.0
    if lon > 180.0:
        return lon - 360.0
    return lon


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the gazetteer.

    `id` is the GeoNames id where there is one; places without one have negative ids. `kind` is one of
    world, continent, country, admin1, admin2, city, feature, region. `country` is the ISO code, `admin1` the
    code of the first division ("TX"), both empty where they do not apply. `path` holds the names from the
    world down to the place itself, `ancestors` the ids of the same hierarchy without the place itself.
    """

    id: int
    name: str
    kind: str
    country: str
    admin1: str
    point: LonLat
    population: int
    path: tuple[str, ...]
    ancestors: tuple[int, ...]

    def __hash__(self) -> int:
        return self.id  # the id names the place; hashing the whole hierarchy is what costs


# -- The way of a page -----------------------------------------------------------------------------


class Outcome(StrEnum):
    """How a lease ended. Every lease ends in exactly one of these; their counts add up to the leases."""

    KEPT = "kept"  # fetched, relevant (or keep = "all"), stored and indexed
    NOT_RELEVANT = "not_relevant"  # fetched and read, below a threshold; stored without text
    NOT_INDEXED = "not_indexed"  # the page or its headers ask not to be indexed
    EMPTY = "empty"  # fetched and read: neither a title nor a text, so that there is nothing to be found or shown
    DUPLICATE = "duplicate"  # same content as a page that is stored already
    SITEMAP = "sitemap"  # not a page but a list of URLs, which joined the frontier
    REDIRECTED = "redirected"  # leads to another URL, which joined the frontier
    NOT_MODIFIED = "not_modified"  # revisited and unchanged
    GONE = "gone"  # revisited, and there is no such page any more
    NOT_HTML = "not_html"  # a kind of content that is not read
    HTTP_ERROR = "http_error"  # 4xx for good
    SERVER_ERROR = "server_error"  # 5xx, 408 or 429 after all retries
    ROBOTS = "robots"  # robots.txt forbids it
    CRAWL_DELAY = "crawl_delay"  # robots.txt asks for a longer delay than a crawl can wait
    ROBOTS_UNREACHABLE = "robots_unreachable"  # robots.txt could not be read after all retries
    BLOCKED = "blocked"  # the address guard refused
    TOO_LARGE = "too_large"
    TOO_SLOW = "too_slow"
    TOO_MANY_REDIRECTS = "too_many_redirects"  # one more than fetch.redirects in a row, or to itself
    BAD_CONTENT = "bad_content"
    QUARANTINED = "quarantined"  # broke two of the processes that read pages; set aside
    TLS_ERROR = "tls_error"
    DNS_ERROR = "dns_error"
    CONNECTION_FAILED = "connection_failed"
    RETRY = "retry"  # failed this time, queued again for later


class Lease(msgspec.Struct, frozen=True, gc=False):
    """One URL that one node may fetch now: taken from the frontier together with its host's turn.

    `redirects` counts the hops in a row that led here; for a sitemap also those from an index. `visits` is how often
    the URL was read before. `owner`, `epoch` and `deadline` (Unix time) are set when it is taken (`frontier/state.py`).
    """

    url_id: int
    url: str
    host: str
    depth: int
    redirects: int
    priority: float
    attempts: int
    sitemap: bool = False
    visits: int = 0
    owner: str = ""
    epoch: int = 0
    deadline: float = 0.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back for a URL; `body` is the decoded content."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    content_type: str
    fetched_at: datetime
    seconds: float
    address: str
    truncated: bool = False
    sitemap: bool = False
    request_headers: tuple[tuple[str, str], ...] = ()  # as they were sent

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case."""
        lower = name.lower()
        for key, value in self.headers:
            if key.lower() == lower:
                return value
        return None

    @property
    def location(self) -> str:
        """Where a redirect leads, as it is written; empty if it does not say.

        Headers are read byte by byte; what is UTF-8 is taken for that, as browsers do.
        """
        text = self.header("Location") or ""
        try:
            return text if text.isascii() else text.encode("latin-1").decode("utf-8")
        except UnicodeError:
            return text


class LinkPosition(IntEnum):
    """Where in its page a link stands; of several parts around it the last in this list counts."""

    TEXT = 0
    TABLE = 1
    HEADING = 2
    NAVIGATION = 3
    BREADCRUMB = 4
    FOOTER = 5


class Link(msgspec.Struct, frozen=True, gc=False):
    """A link of a page: absolute canonical URL, its text, and where that and the tokens around it stand.

    The link's text is `text[start:end]` of its page, the tokens around it reach from `low` to `high`. A link without
    its page has -1 there, and the tokens themselves in `before` and `after`.
    """

    url: str
    anchor: str
    before: str = ""
    after: str = ""
    start: int = -1
    end: int = -1
    low: int = -1
    high: int = -1
    position: LinkPosition = LinkPosition.TEXT


@dataclass(frozen=True, slots=True)
class PostalParts:
    """An address as a page's markup declares it; any part may be empty, all are as written."""

    street: str = ""
    locality: str = ""
    region: str = ""
    code: str = ""
    country: str = ""

    @property
    def text(self) -> str:
        """The parts on one line."""
        region = " ".join(part for part in (self.region, self.code) if part)
        return ", ".join(part for part in (self.street, self.locality, region, self.country) if part)


@dataclass(frozen=True, slots=True)
class PageHints:
    """What a page says about where it is, outside its text: geo meta tags, schema.org, microformats.

    `postal_addresses` are lines; `addresses` the same by their parts, where the markup names those. `countries` are
    ISO codes of those it says it is for (`hreflang`).
    """

    points: tuple[LonLat, ...] = ()
    place_names: tuple[str, ...] = ()
    postal_addresses: tuple[str, ...] = ()
    addresses: tuple[PostalParts, ...] = ()
    countries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """An HTML document, read. Text keeps line breaks between blocks, so that addresses stay together.

    `furniture` is where menus and the like are in the text, in order, and whether they are links (`pages/maintext.py`).
    `dropped` counts links that were not taken, by reason (`urls/filters.py`). `names_a_day`: it does not state when it
    was published, but may say so somewhere. `version_of`: another URL of the site that it says its content is at.
    """

    url: str
    title: str
    text: str
    links: tuple[Link, ...]
    language: str = ""
    published: date | None = None
    names_a_day: bool = False
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    description: str = ""
    hints: PageHints = PageHints()
    dropped: dict[str, int] = field(default_factory=dict)
    furniture: tuple[tuple[int, int, bool], ...] = ()
    headings: tuple[int, ...] = ()  # behind which characters of the text they begin
    version_of: str = ""

    def around(self, link: Link) -> tuple[str, str]:
        """The tokens before and after a link of this page."""
        if link.start < 0:
            return link.before, link.after
        before, after = self.text[link.low : link.start], self.text[link.end : link.high]
        return before.strip().replace("\n", " "), after.strip().replace("\n", " ")


class Mention(msgspec.Struct, frozen=True, gc=False):
    """A place name in a text, with offsets in characters; `place` is None where it could not be settled.

    `adjectival` marks demonyms ("Portuguese"); `within` a name missing from the gazetteer: `place` is around it.
    """

    start: int
    end: int
    text: str
    place: Place | None
    confidence: float
    candidates: tuple[Place, ...] = ()
    adjectival: bool = False
    within: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """A postal address in a page's text: the geographic entity of paper A.

    `level` is "street" (number + street + city + state, the paper's) or "postal" (city + state + agreeing
    ZIP without a street). Addresses that only the page's markup declares have `start` and `end` -1.
    """

    start: int
    end: int
    text: str
    street_number: str
    street: str
    city: str
    state: str
    zip: str
    place_id: int
    level: str = "street"
    unit: str = ""

    @property
    def key(self) -> str:
        """What makes two addresses the same entity."""
        return f"{self.street_number} {self.street}, {self.city}, {self.state}".casefold()


class WeightedPlace(msgspec.Struct, frozen=True, gc=False):
    """A place and its share (0..1) in a page."""

    place: Place
    weight: float


@dataclass(frozen=True, slots=True)
class FootprintNode:
    """A place in a page's small hierarchy: `weight` is its share with all that lies below it."""

    place: Place
    weight: float
    depth: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """A page's geography: its places by weight, heaviest first. The first one is the page's main place.

    `tree` is the same as a hierarchy, depth first: the root is the smallest area around nearly everything, the
    leaves are the places themselves. `extent` is the box around the places.
    """

    places: tuple[WeightedPlace, ...] = ()
    tree: tuple[FootprintNode, ...] = ()
    extent: BBox | None = None

    @property
    def main(self) -> Place | None:
        """The place the page is most about."""
        return self.places[0].place if self.places else None


@dataclass(frozen=True, slots=True)
class Located:
    """Everything geographic found in a text."""

    mentions: tuple[Mention, ...] = ()
    addresses: tuple[Address, ...] = ()
    footprint: Footprint = Footprint()

    def evidence(self, place_id: int) -> tuple[Mention, ...]:
        """The mentions that speak for a place of the footprint: of it, or of something inside it."""
        return tuple(m for m in self.mentions if m.place and (m.place.id == place_id or place_id in m.place.ancestors))


@dataclass(frozen=True, slots=True)
class Score:
    """Relevance of a page to a topic: two steps that must both hold, with their evidence, and its time."""

    keyword_relevance: float
    place_relevance: float
    relevant: bool
    keyword_evidence: dict[str, float] = field(default_factory=dict)
    place_evidence: dict[str, float] = field(default_factory=dict)
    time_relevance: float = 1.0
    leads: bool = False  # a list of what is relevant, which is not itself


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which node gets a link, the target place that decided it (None: none found), and why in one word."""

    node: str
    target_id: int | None
    reason: str


class RoutedLink(msgspec.Struct, frozen=True, gc=False):
    """A link that passed the URL rules, with the node it is for, its priority (None: the page's) and its parts.

    `parts` has the parts of the priority in the order of `topics.LinkParts`, in 255ths, one byte each. `evidence`
    (place id, kind, strength) is what a strategy that remembers settles again before the link goes on. `steps` is
    how much deeper the link leads (`urls.link_steps`). `features` are its words, hashed (`topics.link_features`).
    """

    url: str
    host: str
    fingerprint: int
    node: str
    priority: float | None = None
    parts: bytes = b""
    evidence: tuple[tuple[int, int, float], ...] = ()
    steps: int = 1
    features: bytes = b""


class Links(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """All `RoutedLink`s of a page, a column for each fact: most are known to the crawl, and nobody looks at those.

    `marks` are the fingerprints, eight bytes each as the machine has them; `priorities` are doubles, not a number where
    the page's counts. `features` and `evidence` may be empty altogether.
    """

    urls: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    marks: bytes = b""
    nodes: tuple[str, ...] = ()
    priorities: bytes = b""
    parts: bytes = b""
    steps: bytes = b""
    features: tuple[bytes, ...] = ()
    evidence: tuple[tuple[tuple[int, int, float], ...], ...] = ()

    @classmethod
    def of(cls, links: Iterable[RoutedLink]) -> Self:
        """Links as columns; either all of them have parts or none."""
        rows = tuple(links)
        return cls(
            urls=tuple([row.url for row in rows]),
            hosts=tuple([row.host for row in rows]),
            marks=array("q", [row.fingerprint for row in rows]).tobytes(),
            nodes=tuple([row.node for row in rows]),
            priorities=array("d", [math.nan if row.priority is None else row.priority for row in rows]).tobytes(),
            parts=b"".join([row.parts for row in rows]),
            steps=bytes([row.steps for row in rows]),
            features=tuple([row.features for row in rows]),
            evidence=tuple([row.evidence for row in rows]) if any(row.evidence for row in rows) else (),
        )

    def __len__(self) -> int:
        return len(self.urls)

    def __iter__(self) -> Iterator[RoutedLink]:
        return map(self.link, range(len(self)))

    def link(self, at: int) -> RoutedLink:
        """One of the links."""
        width, worth = len(self.parts) // len(self), memoryview(self.priorities).cast("d")[at]
        return RoutedLink(
            self.urls[at],
            self.hosts[at],
            memoryview(self.marks).cast("q")[at],
            self.nodes[at],
            None if math.isnan(worth) else worth,
            self.parts[at * width : (at + 1) * width],
            self.evidence[at] if self.evidence else (),
            self.steps[at],
            self.features[at] if self.features else b"",
        )

    @property
    def fingerprints(self) -> list[int]:
        """The fingerprints as numbers."""
        return memoryview(self.marks).cast("q").tolist()

    @property
    def keys(self) -> memoryview:
        """The fingerprints without sign, as tables of marks look for many at once."""
        return memoryview(self.marks).cast("Q")

    def worths(self, unknown: float) -> list[float]:
        """The priorities as numbers, `unknown` where there is none."""
        isnan = math.isnan
        return [unknown if isnan(worth) else worth for worth in memoryview(self.priorities).cast("d").tolist()]


class NewUrl(msgspec.Struct, frozen=True, gc=False):
    """A URL on its way into a frontier: this node's or, through the exchange, another's."""

    url: str
    host: str
    fingerprint: int
    priority: float
    depth: int
    redirects: int = 0
    sitemap: bool = False


class Parcel(msgspec.Struct, frozen=True, gc=False):
    """A URL for another node; with a `target` the receiver is only its home, which lets it through to that node."""

    receiver: str
    url: NewUrl
    target: str = ""


@dataclass(frozen=True, slots=True)
class Entity:
    """A postal address as the measures see it; `owner` is the node that owns its place, if any."""

    place_id: int
    key: str
    level: str
    owner: str | None


class Analysis(msgspec.Struct, frozen=True, array_like=True):
    """All that the pure stages (read, locate, judge, assign) make of one response, ready to be committed."""

    title: str
    description: str
    language: str
    published: date | None
    outcome: Outcome  # kept, not_relevant, not_indexed, empty or sitemap
    nofollow: bool
    score: Score  # of the topic it fits best
    link_priority: float
    main_place: int | None
    places: tuple[WeightedPlace, ...]
    entities: tuple[Entity, ...]
    links: Links
    dropped: dict[str, int]
    content_digest: int
    text: bytes = b""  # zstd; kept pages only
    mentions: bytes = b""  # zstd; kept pages only
    anchors: bytes = b""  # zstd; what the links say, a line each
    likeness: int = 0  # similarity hash of the text; 0: too short to compare
    sitemaps: tuple[str, ...] = ()  # further sitemaps that a sitemap names
    lastmods: tuple[tuple[int, float], ...] = ()  # fingerprint and Unix time of what a sitemap says has changed
    warc: tuple[bytes, ...] = ()  # finished gzip members, the response first; kept pages only
    payload: str = ""  # digest of the body as WARC writes it; kept pages only
    topics: tuple[str, ...] = ()  # names of the topics it is relevant to
