"""Which sites there are: kinds and their shares, names, designs, robots and charsets.

First half of planning; `planning` then fills each host with pages.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from periplus.errors import UsageError
from periplus.miniweb.blueprint import BUSINESSES_PER_TOWN, Host, make_business, stream
from periplus.miniweb.naming import BRANDS, NameBook, blog_name, business_name, guide_name, news_name, topic_name
from periplus.miniweb.places import Town, towns
from periplus.miniweb.prose import LANGUAGES, Random, pick, vocabulary

__all__ = ["MIN_HOSTS", "MIN_PAGES_PER_HOST", "guide_order", "plan_hosts", "region_towns"]

MIN_HOSTS = 60
MIN_PAGES_PER_HOST = 5

HOST_SHARES = {
    "guide": 0.40,
    "business": 0.17,
    "portal": 0.025,
    "news": 0.05,
    "blog": 0.07,
    "topic": 0.15,
    "shop": 0.03,
    "brand": 0.04,
    "language": 0.065,
}
PAGE_SHARES = {
    "guide": 0.20,
    "business": 0.05,
    "portal": 0.02,
    "news": 0.10,
    "blog": 0.08,
    "topic": 0.40,
    "shop": 0.07,
    "brand": 0.04,
    "language": 0.04,
}
"""Non-geographic pages: topic, shop, brand, half of blog and language, a quarter of news: about 60 %."""

_SPECIAL = (
    # name, kind, title, robots, pages
    ("webatlas", "directory", "Web Atlas", "open", 0),
    ("closed-archive", "closed", "The Closed Archive", "closed", 6),
    ("broken-robots", "unreachable", "A Site with a Broken Robots File", "unreachable", 6),
    ("events-calendar", "calendar", "The Events Calendar", "folders", 14),
    ("endless-folders", "folders", "Endless Folders", "open", 6),
    ("redirect-office", "redirects", "The Redirect Office", "open", 10),
    ("mirror-one", "mirror", "Mirror One", "open", 0),
    ("mirror-two", "mirror", "Mirror Two", "none", 0),
)

_CHARSETS = {
    "es": ("utf-8", "iso-8859-1"),
    "fr": ("iso-8859-1", "utf-8"),
    "de": ("utf-8", "iso-8859-1"),
    "pt": ("utf-8", "iso-8859-1"),
    "zh": ("gbk", "utf-8"),
    "ja": ("shift_jis", "utf-8"),
    "ru": ("windows-1251", "utf-8"),
    "ar": ("utf-8", "utf-8"),
}
_AMBIGUOUS_FIRST = (
    "Portland ME", "Kansas City KS", "Lisbon PT", "Lisbon NH", "Athens GA", "Athens GR", "Paris TX", "Paris FR",
    "Springfield IL", "Springfield MO", "Arlington MA", "Columbus GA", "Aurora IL", "Rochester MN", "Richmond CA",
    "Moscow ID", "Dublin OH", "Vienna VA", "Rome GA", "Cambridge MA", "London CA", "Birmingham GB",
)  # fmt: skip


def plan_hosts(seed: int, hosts: int, pages: int) -> list[Host]:
    """Every host with its page count, in a fixed order. Raises UsageError for numbers that cannot work."""
    if hosts < MIN_HOSTS:
        raise UsageError(f"miniweb: {hosts} hosts are too few; at least {MIN_HOSTS} are needed")
    if pages < hosts * MIN_PAGES_PER_HOST:
        raise UsageError(
            f"miniweb: {pages} pages are too few for {hosts} hosts; ask for at least {hosts * MIN_PAGES_PER_HOST}"
        )
    book = NameBook()
    special = [_special_host(book, row) for row in _SPECIAL]
    ordinary: list[Host] = []
    for kind, count in _split(hosts - len(special), HOST_SHARES).items():
        ordinary += _hosts_of(seed, kind, count, book)
    listed = sum(1 for host in ordinary if host.kind != "directory")
    special[0] = replace(special[0], count=directory_pages(listed))
    budget = pages - sum(host.count for host in special)
    ordinary = _with_counts(seed, ordinary, budget)
    return _numbered([*special, *ordinary])


def directory_pages(listed: int) -> int:
    """How many pages the directory needs: its home, and one for every forty hosts or part of a group."""
    return 1 + listed // 40 + 24


def _split(total: int, shares: dict[str, float]) -> dict[str, int]:
    """`total` divided by the shares: at least one each, and exactly `total` altogether."""
    counts = {key: max(1, int(total * share)) for key, share in shares.items()}
    largest = max(shares, key=lambda key: shares[key])
    counts[largest] += total - sum(counts.values())
    return counts


def _special_host(book: NameBook, row: tuple[str, str, str, str, int]) -> Host:
    name, kind, title, robots, count = row
    return Host(index=0, name=book.claim(name), kind=kind, title=title, robots=robots, count=count, topic="software")


@dataclass(frozen=True, slots=True)
class _Draw:
    """What a host is made from: its number among its kind, its random stream, the town whose turn it is."""

    seed: int
    number: int
    random: Random
    turn: Town
    book: NameBook


def _hosts_of(seed: int, kind: str, count: int, book: NameBook) -> list[Host]:
    order = guide_order()
    result = []
    for number in range(count):
        random = stream(seed, f"host/{kind}", number)
        draw = _Draw(seed, number, random, order[number % len(order)], book)
        result.append(_dressed(_MAKERS[kind](draw), random))
    return result


@lru_cache(maxsize=1)
def guide_order() -> tuple[Town, ...]:
    """Towns in the order in which they get a guide: large targets, ambiguous names, the other targets, the rest."""
    table = towns()
    paper = [town for town in table if town.node]
    large = sorted(paper, key=lambda town: (-town.population, town.index))[:14]
    keys = {f"{town.name} {town.admin1 if town.country == 'US' else town.country}": town for town in table}
    ambiguous = [keys[key] for key in _AMBIGUOUS_FIRST]
    english = [town for town in table if town.language == "en"]
    return tuple(dict.fromkeys([*large, *ambiguous[:8], *paper, *ambiguous[8:], *english]))


def _guide(draw: _Draw) -> Host:
    random, town = draw.random, draw.turn
    name = draw.book.claim(guide_name(random, town))
    title = pick(random, ("{0} City Guide", "Visit {0}", "{0} Online", "Inside {0}", "The {0} Pages")).format(town.name)
    footer = bool(town.zips) and random() < 0.4
    return Host(0, name, "guide", title, town=town.index, topic="history", address_in_footer=footer)


def _business(draw: _Draw) -> Host:
    number, town = draw.number, draw.turn
    if not town.zips:
        town = towns()[number % 100]
    # The host's name follows the business, so that the site and the guides' listings speak of the same one.
    shop = make_business(draw.seed, town, number % BUSINESSES_PER_TOWN)
    name = draw.book.claim(business_name(draw.random, town, shop.name))
    return Host(
        0, name, "business", shop.name, town=town.index, topic=shop.topic, address_in_footer=True, business=number
    )


def _portal(draw: _Draw) -> Host:
    number = draw.number
    zones = ("northeast", "southeast", "midwest", "texas", "mountain", "pacific", "world")
    zone = zones[number % len(zones)]
    return Host(0, draw.book.claim(f"{zone}-portal"), "portal", f"{zone.title()} Portal", topic=zone)


def _news(draw: _Draw) -> Host:
    number, random = draw.number, draw.random
    local = towns()[int(random() * 100)] if number % 2 else None
    name = draw.book.claim(news_name(random, local))
    title = f"The {name.partition('.')[0].replace('-', ' ').title()}"
    return Host(0, name, "news", title, town=local.index if local else -1, topic="elections")


def _blog(draw: _Draw) -> Host:
    number, random = draw.number, draw.random
    name = draw.book.claim(blog_name(random))
    topic = "travel" if number % 2 else pick(random, tuple(t.name for t in vocabulary().plain))
    return Host(0, name, "blog", name.partition(".")[0].replace("-", " ").title(), topic=topic)


def _topic(draw: _Draw) -> Host:
    plain = vocabulary().plain
    topic = plain[draw.number % len(plain)].name
    name = draw.book.claim(topic_name(draw.random, topic))
    return Host(0, name, "topic", name.partition(".")[0].replace("-", " ").title(), topic=topic)


def _shop(draw: _Draw) -> Host:
    number = draw.number
    topic = ("electronics", "clothing")[number % 2]
    name = draw.book.claim(("shop-{}", "{}-store", "best-{}")[number % 3].format(topic))
    session = ("path", "query", "")[number % 3]
    return Host(0, name, "shop", name.partition(".")[0].replace("-", " ").title(), topic=topic, session=session)


def _brand(draw: _Draw) -> Host:
    number = draw.number
    slug, title, topic = BRANDS[number % len(BRANDS)]
    office = towns()[int(draw.random() * 100)]
    return Host(0, draw.book.claim(slug), "brand", title, town=office.index, topic=topic, business=number)


def _foreign(draw: _Draw) -> Host:
    number = draw.number
    code = LANGUAGES[number % len(LANGUAGES)]
    variant = number // len(LANGUAGES)
    charset = _CHARSETS[code][variant % 2]
    there = [place for place in towns() if place.language == code]
    home = there[variant % len(there)]
    name = draw.book.claim(f"{code}-{home.slug}")
    return Host(
        0,
        name,
        "language",
        home.local_name,
        town=home.index,
        topic="language",
        language=code,
        charset=charset,
        charset_by=("header", "meta", "both")[number % 3],
    )


_MAKERS = {
    "guide": _guide,
    "business": _business,
    "portal": _portal,
    "news": _news,
    "blog": _blog,
    "topic": _topic,
    "shop": _shop,
    "brand": _brand,
    "language": _foreign,
}


def _dressed(host: Host, random: Random) -> Host:
    """The host with its design, robots.txt, sitemap and way of writing links."""
    robots = pick(random, ("none", "open", "open", "open", "folders", "folders"))
    sitemap = pick(random, ("", "", "plain", "gzip")) if robots != "none" else ""
    slow_spoken = host.kind == "business" and robots != "none" and random() < 0.2
    return replace(
        host,
        robots=robots,
        sitemap=sitemap,
        crawl_delay=0.05 if slow_spoken else 0.0,
        links=pick(random, ("root", "root", "absolute", "folder")),
        look=int(random() * 3),
    )


def _with_counts(seed: int, hosts: list[Host], budget: int) -> list[Host]:
    """Pages shared out by kind, and within a kind unevenly, as sites differ in size."""
    kinds = _split(budget, PAGE_SHARES)
    result: list[Host] = []
    for kind, total in kinds.items():
        group = [host for host in hosts if host.kind == kind]
        floor = min(2, total // len(group))
        random = stream(seed, f"sizes/{kind}")
        weights = [0.4 + random() ** 3 * 2.6 for _ in group]
        spare, whole = total - floor * len(group), sum(weights)
        counts = [floor + int(spare * weight / whole) for weight in weights]
        counts[counts.index(max(counts))] += total - sum(counts)
        result += [replace(host, count=count) for host, count in zip(group, counts, strict=True)]
    return result


def _numbered(hosts: list[Host]) -> list[Host]:
    first, result = 0, []
    guides = [i for i, host in enumerate(hosts) if host.kind == "guide" and host.links == "root"]
    for index, host in enumerate(hosts):
        original = -1
        if host.kind == "mirror":
            # Root-relative links make a mirror's bytes equal to its original's.
            original = guides[(0 if host.name.startswith("mirror-one") else 1) % len(guides)]
        result.append(replace(host, index=index, first=first, mirror_of=original))
        first += host.count
    return result


@lru_cache(maxsize=16)
def region_towns(zone: str) -> tuple[Town, ...]:
    """The towns that a regional portal covers."""
    members = {
        "northeast": "ME NH VT MA RI CT NY NJ PA DE MD DC",
        "southeast": "VA WV NC SC GA FL AL MS TN KY AR LA",
        "midwest": "OH MI IN IL WI MN IA MO KS NE ND SD",
        "texas": "TX OK NM",
        "mountain": "CO UT WY MT ID AZ NV",
        "pacific": "CA OR WA AK HI",
    }
    if zone == "world":
        return tuple(town for town in towns() if town.country != "US")
    states = members[zone].split()
    return tuple(town for town in towns() if town.country == "US" and town.admin1 in states)
