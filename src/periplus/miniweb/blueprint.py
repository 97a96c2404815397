"""The plan's values: hosts, pages and businesses, before any HTML is written.

A plan is small (a few hundred bytes a page) and complete: `rendering` makes the same bytes from it every time.
"""

import random as stdlib_random
from dataclasses import dataclass, field

from periplus.miniweb.places import Town, towns
from periplus.miniweb.prose import Random, pick, vocabulary

__all__ = ["BUSINESSES_PER_TOWN", "Blueprint", "Business", "Host", "PagePlan", "make_business", "page_stream", "stream"]

BUSINESSES_PER_TOWN = 30

_KINDS = {
    "restaurants": ("Diner", "Grill", "Cafe", "Bakery", "Kitchen", "Tavern", "Pizzeria"),
    "hotels": ("Inn", "Hotel", "Lodge", "Guest House", "Suites"),
    "museums": ("Gallery", "Museum", "Collection"),
    "music": ("Music Hall", "Records", "Theater"),
    "schools": ("Academy", "Learning Center", "Bookshop"),
    "housing": ("Realty", "Builders", "Roofing", "Plumbing"),
    "traffic": ("Auto Repair", "Bike Shop", "Taxi"),
}


def stream(seed: int, purpose: str, number: int = 0) -> Random:
    """An independent stream of numbers in [0, 1) for one purpose, the same on every machine and run."""
    return stdlib_random.Random(f"{seed}/{purpose}/{number}").random


def page_stream(seed: int, page: int) -> Random:
    """The stream that writes one page; an integer seed is quicker to set up than a text."""
    return stdlib_random.Random((seed << 40) ^ (page + 1)).random


@dataclass(frozen=True, slots=True)
class Business:
    """A business with its postal address: the geographic entity that several pages share."""

    name: str
    topic: str
    town: Town
    street_number: str
    street: str
    zip: str
    phone: str

    @property
    def line(self) -> str:
        """Number and street."""
        return f"{self.street_number} {self.street}"


def make_business(seed: int, town: Town, number: int) -> Business:
    """The town's business of that number (0..29); the same number is always the same business."""
    random = stream(seed, f"business/{town.id}", number)
    words = vocabulary().words
    topic = pick(random, tuple(_KINDS))
    family = pick(random, words["family"])
    suffix = pick(random, words["suffix"])
    direction = pick(random, ("", "", "", "", "N ", "S ", "W ", "East "))
    return Business(
        name=f"{family}'s {pick(random, _KINDS[topic])}",
        topic=topic,
        town=town,
        street_number=str(100 + int(random() * 8900)),
        street=f"{direction}{pick(random, words['street'])} {suffix}",
        zip=pick(random, town.zips),
        phone=f"555-01{int(random() * 100):02d}",
    )


@dataclass(frozen=True, slots=True)
class Host:
    """A site. `first` and `count` say which pages of the plan are its own.

    `town` is a town's index or -1; `links` is how it writes links to itself (root, absolute, folder); `look` is
    its page design; `session` says where it puts session ids (none, path, query); a `mirror_of` ≥ 0 serves
    another host's bytes and has no pages of its own.
    """

    index: int
    name: str
    kind: str
    title: str
    town: int = -1
    topic: str = ""
    language: str = "en"
    charset: str = "utf-8"
    charset_by: str = "both"
    robots: str = "open"
    crawl_delay: float = 0.0
    sitemap: str = ""
    links: str = "root"
    look: int = 0
    session: str = ""
    address_in_footer: bool = False
    business: int = 0
    mirror_of: int = -1
    first: int = 0
    count: int = 0

    @property
    def has_facets(self) -> bool:
        """Whether the shop can be browsed by facets in any order: one in six, since each is a trap."""
        return self.kind == "shop" and self.session == "path" and self.topic == "electronics"

    @property
    def url(self) -> str:
        """The home page."""
        return f"http://{self.name}/"


@dataclass(frozen=True, slots=True)
class PagePlan:
    """A page before it is written. `towns` has the main town first; `published` is a day number or 0.

    `quirk` is empty for an ordinary page, else one of slow, error, flaky, busy, noindex, nofollow, orphan, private.
    """

    index: int
    host: int
    path: str
    kind: str
    topic: str
    title: str
    towns: tuple[int, ...] = ()
    published: int = 0
    quirk: str = ""


@dataclass(slots=True)
class Blueprint:
    """Everything about a miniature web but its bytes."""

    seed: int
    locality: float
    slow_seconds: float
    hosts: list[Host]
    pages: list[PagePlan]
    host_by_name: dict[str, int] = field(default_factory=dict)
    page_by_path: list[dict[str, int]] = field(default_factory=list)
    pages_by_town: list[list[int]] = field(default_factory=list)
    pages_by_topic: dict[str, list[int]] = field(default_factory=dict)
    homes_by_town: dict[int, list[int]] = field(default_factory=dict)
    listings: dict[int, list[int]] = field(default_factory=dict)
    """Directory page → the host homes it lists."""
    _businesses: dict[tuple[int, int], Business] = field(default_factory=dict)

    def index(self) -> None:
        """Build the look-up tables once hosts and pages are complete."""
        self.host_by_name = {host.name: host.index for host in self.hosts}
        self.page_by_path = [{} for _ in self.hosts]
        self.pages_by_town = [[] for _ in towns()]
        for page in self.pages:
            self.page_by_path[page.host][page.path] = page.index
            if page.quirk in ("orphan", "private"):
                continue
            if page.towns:
                self.pages_by_town[page.towns[0]].append(page.index)
            self.pages_by_topic.setdefault(page.topic, []).append(page.index)
        for host in self.hosts:
            if host.town >= 0 and host.count:
                self.homes_by_town.setdefault(host.town, []).append(host.first)

    def url(self, page: PagePlan) -> str:
        """The page's address, absolute."""
        return f"http://{self.hosts[page.host].name}{page.path}"

    def business(self, town: int, number: int) -> Business:
        """One of the town's businesses, made when first asked for."""
        key = (town, number % BUSINESSES_PER_TOWN)
        found = self._businesses.get(key)
        if found is None:
            found = self._businesses[key] = make_business(self.seed, towns()[town], key[1])
        return found
