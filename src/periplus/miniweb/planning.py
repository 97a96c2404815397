"""Which pages each host has: kind, topic, towns, title, path, day, quirk. Gives the finished `Blueprint`.

Second half of planning, after `hosts`; `rendering` writes the pages from it.
"""

from dataclasses import dataclass, replace
from datetime import date

from periplus.miniweb.blueprint import Blueprint, Host, PagePlan, stream
from periplus.miniweb.hosts import guide_order, plan_hosts, region_towns
from periplus.miniweb.places import Town, neighbors, towns
from periplus.miniweb.prose import Random, fill_title, pick, vocabulary

__all__ = ["make_blueprint"]

LISTING_TOPICS = ("restaurants", "hotels", "museums", "music", "schools", "housing")
NEWS_TOPICS = ("floods", "elections", "football", "traffic", "housing", "schools", "music")
FIRST_DAY = date(2024, 1, 1).toordinal()
LAST_DAY = date(2026, 10, 31).toordinal()

_QUIRKS = (
    ("slow", 0.004),
    ("error", 0.004),
    ("flaky", 0.004),
    ("busy", 0.0015),
    ("noindex", 0.008),
    ("nofollow", 0.006),
)
_ORPHANS = 0.006
OPEN_DAY = 3
"""Which page of the calendar's host is the exception in its robots.txt."""


@dataclass(frozen=True, slots=True)
class _Sketch:
    """What a page is about, before it has a title and an address."""

    kind: str
    topic: str
    towns: tuple[int, ...] = ()
    dated: bool = False


@dataclass(frozen=True, slots=True)
class _Slot:
    """A page's place in its host: which one it is, the host's way of naming paths, the random stream."""

    host: Host
    number: int
    style: int
    random: Random


def make_blueprint(seed: int, hosts: int, pages: int, locality: float, slow_seconds: float) -> Blueprint:
    """The whole plan. The same arguments give the same plan, whatever the machine."""
    planned = plan_hosts(seed, hosts, pages)
    blueprint = Blueprint(seed, locality, slow_seconds, planned, [])
    listings = _directory_listings(planned)
    # The directory took a generous guess of pages; what it does not need goes to the largest subject site.
    planned = _give_back(planned, planned[0].count - 1 - len(listings))
    blueprint.hosts = planned
    for host in planned:
        _plan_pages(blueprint, host, listings)
    blueprint.index()
    return blueprint


def _give_back(hosts: list[Host], spare: int) -> list[Host]:
    largest = max((h for h in hosts if h.kind == "topic"), key=lambda h: h.count).index
    first, result = 0, []
    for host in hosts:
        count = host.count - spare if host.kind == "directory" else host.count
        if host.index == largest:
            count += spare
        result.append(replace(host, first=first, count=count))
        first += count
    return result


# -- The directory ---------------------------------------------------------------------------------


def _directory_listings(hosts: list[Host]) -> list[tuple[str, str, list[int]]]:
    """(slug, heading, host indices) of every page of the directory but its home; forty hosts a page."""
    groups: dict[str, list[int]] = {}
    for host in hosts:
        if host.kind != "directory":
            groups.setdefault(_group(host), []).append(host.index)
    result = []
    for name in sorted(groups):
        members = groups[name]
        for start in range(0, len(members), 40):
            number = start // 40 + 1
            slug = f"/{name.lower().replace(' ', '-')}/" + (f"{number}/" if number > 1 else "")
            result.append((slug, name, members[start : start + 40]))
    return result


def _group(host: Host) -> str:
    if host.kind in ("guide", "business") and host.town >= 0:
        town = towns()[host.town]
        return f"Regional {_zone(town)}"
    if host.kind in ("topic", "shop", "brand"):
        return f"Subjects {host.kind.title()}"
    if host.kind in ("news", "blog", "portal", "language"):
        return host.kind.title()
    return "Curiosities"


def _zone(town: Town) -> str:
    if town.country != "US":
        return "World"
    if town.lon < -130:
        return "Far West"
    return "Pacific" if town.lon < -114 else "Mountain" if town.lon < -102 else "Central" if town.lon < -87 else "East"


def _plan_directory(blueprint: Blueprint, host: Host, listings: list[tuple[str, str, list[int]]]) -> None:
    pages = blueprint.pages
    pages.append(
        PagePlan(len(pages), host.index, "/", "directory", "directory", "Web Atlas: sites by region and subject")
    )
    for slug, heading, members in listings:
        index = len(pages)
        pages.append(PagePlan(index, host.index, slug, "directory", "directory", f"Web Atlas: {heading}"))
        blueprint.listings[index] = members


# -- Other hosts -----------------------------------------------------------------------------------


def _plan_pages(blueprint: Blueprint, host: Host, listings: list[tuple[str, str, list[int]]]) -> None:
    if host.kind == "directory":
        _plan_directory(blueprint, host, listings)
        return
    random = stream(blueprint.seed, f"pages/{host.name}")
    taken: set[str] = set()
    style = int(random() * 4)
    for number in range(host.count):
        slot = _Slot(host, number, style, random)
        sketch = _SKETCHES.get(host.kind, _sketch_plain)(slot)
        town = towns()[sketch.towns[0]] if sketch.towns else None
        title = _title(slot, sketch, town)
        quirk = _quirk(host, number, random)
        published = FIRST_DAY + int(random() * (LAST_DAY - FIRST_DAY)) if sketch.dated else 0
        path = _path(slot, sketch, town, published)
        if host.kind == "calendar" and number == OPEN_DAY:
            path, quirk = "/private/open-day.html", ""  # allowed by name in a folder that is closed
        elif quirk == "private":
            path = f"/private{path}"
        if path in taken:
            stem, dot, ending = path.rpartition(".")
            path = f"{stem}-{number}.{ending}" if dot else f"{path.rstrip('/')}-{number}/"
        taken.add(path)
        blueprint.pages.append(
            PagePlan(
                len(blueprint.pages), host.index, path, sketch.kind, sketch.topic, title, sketch.towns, published, quirk
            )
        )


def _quirk(host: Host, number: int, random: Random) -> str:
    if number < 2:
        return ""
    if host.robots == "folders" and random() < 0.03:
        return "private"
    if host.sitemap and random() < _ORPHANS:
        return "orphan"
    chance = random()
    for name, share in _QUIRKS:
        if chance < share:
            return name
        chance -= share
    return ""


def _sketch_guide(slot: _Slot) -> _Sketch:
    host, number, random = slot.host, slot.number, slot.random
    geographic = vocabulary().geographic
    near = neighbors()[host.town]
    others = (near[int(random() * 2)],) if random() < 0.4 else ()
    if number == 0:
        return _Sketch("home", "history", (host.town, *others))
    topic = geographic[(number - 1) % len(geographic)].name
    listing = topic in LISTING_TOPICS and towns()[host.town].zips and random() < 0.8
    return _Sketch("listing" if listing else "article", topic, (host.town, *others), dated=random() < 0.2)


def _sketch_business(slot: _Slot) -> _Sketch:
    return _Sketch("business", slot.host.topic, (slot.host.town,))


def _sketch_portal(slot: _Slot) -> _Sketch:
    host, number, random = slot.host, slot.number, slot.random
    members = region_towns(host.topic)
    start = int(random() * len(members))
    chosen = tuple(members[(start + i * 7) % len(members)].index for i in range(min(6, len(members))))
    topic = pick(random, ("history", "traffic", "parks", "elections"))
    return _Sketch("home" if number == 0 else "region", topic, tuple(dict.fromkeys(chosen)))


def _sketch_news(slot: _Slot) -> _Sketch:
    host, number, random = slot.host, slot.number, slot.random
    if number == 0:
        return _Sketch("home", "elections", (host.town,)) if host.town >= 0 else _Sketch("home", "finance")
    if random() < 0.25:
        return _Sketch("news", pick(random, tuple(t.name for t in vocabulary().plain)), dated=True)
    if host.town >= 0 and random() < 0.6:
        town = host.town
    else:
        order = guide_order()
        town = order[int(random() ** 2 * len(order))].index
    others = (neighbors()[town][int(random() * 3)],) if random() < 0.5 else ()
    return _Sketch("news", pick(random, NEWS_TOPICS), (town, *others), dated=True)


def _sketch_blog(slot: _Slot) -> _Sketch:
    host, number, random = slot.host, slot.number, slot.random
    plain = tuple(t.name for t in vocabulary().plain)
    if host.topic != "travel":
        topic = host.topic if random() < 0.8 else pick(random, plain)
        return _Sketch("home" if number == 0 else "post", topic, dated=number > 0)
    if number == 0:
        return _Sketch("home", "parks", (int(random() * 100),))
    english = guide_order()
    town = english[int(random() * len(english))].index
    topic = pick(random, ("parks", "restaurants", "museums", "hotels", "music", "history"))
    return _Sketch("post", topic, (town,), dated=True)


def _sketch_plain(slot: _Slot) -> _Sketch:
    host, number, random = slot.host, slot.number, slot.random
    if number == 0:
        return _Sketch("home", host.topic)
    plain = vocabulary().plain
    topic = host.topic if random() < 0.85 else plain[int(random() * len(plain))].name
    return _Sketch({"shop": "item"}.get(host.kind, "essay"), topic, dated=random() < 0.15)


def _sketch_brand(slot: _Slot) -> _Sketch:
    if slot.number == 1:
        return _Sketch("contact", slot.host.topic, (slot.host.town,))
    return _sketch_plain(slot)


def _sketch_foreign(slot: _Slot) -> _Sketch:
    host, number, random = slot.host, slot.number, slot.random
    if number % 2:
        return _Sketch("foreign", "language", dated=random() < 0.2)
    there = [town.index for town in towns() if town.language == host.language]
    second = there[int(random() * len(there))]
    chosen = (host.town,) if number == 0 or random() < 0.6 else (second,)
    others = () if second in chosen else (second,)
    return _Sketch("foreign", "language", (*chosen, *others), dated=random() < 0.2)


_SKETCHES = {
    "guide": _sketch_guide,
    "business": _sketch_business,
    "portal": _sketch_portal,
    "news": _sketch_news,
    "blog": _sketch_blog,
    "brand": _sketch_brand,
    "language": _sketch_foreign,
}


# -- Titles and paths ------------------------------------------------------------------------------


def _title(slot: _Slot, sketch: _Sketch, town: Town | None) -> str:
    host, random = slot.host, slot.random
    if sketch.kind == "foreign":
        language = vocabulary().languages[host.language]
        return fill_title(random, language.titles if town else language.plain_titles, town, local=True)
    if sketch.kind in ("home", "business", "contact"):
        return _site_title(slot, sketch, town)
    if sketch.kind == "region" and town is not None:
        return f"Towns around {town.name}, {town.short_region}"
    title = fill_title(random, vocabulary().topics[sketch.topic].titles, town)
    if host.kind == "brand":
        return f"{host.title}: {title}"
    return title if random() < 0.5 else f"{title} ({pick(random, vocabulary().words['person'])})"


def _site_title(slot: _Slot, sketch: _Sketch, town: Town | None) -> str:
    """The title of a page that speaks for its whole site."""
    host = slot.host
    if sketch.kind == "contact":
        return f"{host.title}: contact"
    if sketch.kind == "business":
        page = ("", "Menu and prices", "About us", "Directions", "Opening hours")[slot.number % 5]
        return f"{host.title}: {page}" if page else host.title
    return f"{host.title}: {town.region}" if host.kind == "portal" and town else host.title


def _slug(text: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in text.lower().replace("'", "").replace(".", ""))
    return "-".join(part for part in kept.split("-") if part)[:60]


def _path(slot: _Slot, sketch: _Sketch, town: Town | None, published: int) -> str:
    host, number, random = slot.host, slot.number, slot.random
    if number == 0:
        return "/"
    if host.session == "query":
        return f"/item.php?id={number}"
    if host.kind == "business":
        return f"/{('home', 'menu', 'about', 'directions', 'hours')[number % 5]}.html"
    if sketch.kind == "foreign":
        return f"/{(town.slug if town else 'p')}-{number}.html"
    if published and host.kind in ("news", "blog") and slot.style < 3:
        return f"/{date.fromordinal(published):%Y/%m}/{_slug_of(sketch, town, random)}.html"
    return _page_path(slot, sketch, town)


def _slug_of(sketch: _Sketch, town: Town | None, random: Random) -> str:
    things = vocabulary().topics[sketch.topic].things
    words = f"{sketch.topic} {pick(random, things)}"
    if town is None:
        return _slug(words)
    return _slug(f"{town.name} {words}" if random() < 0.6 else f"{words} {town.admin1 if random() < 0.3 else ''}")


def _page_path(slot: _Slot, sketch: _Sketch, town: Town | None) -> str:
    """One of four habits: folders by town or subject, flat names, numbers, a query."""
    random = slot.random
    if slot.style == 0 and town is not None and random() < 0.7:
        place = town.slug if random() < 0.6 else f"{town.slug.replace('-', '')}-{town.admin1.lower()}"
        return f"/{place}/{sketch.topic}.html"
    if slot.style == 0:
        return f"/{sketch.topic}/{_slug_of(sketch, None, random)}.html"
    if slot.style == 1:
        return f"/{_slug_of(sketch, town, random)}.html"
    if slot.style == 2:
        return f"/{sketch.topic}/page{slot.number}.html"
    place = f"&city={town.slug.replace('-', '+')}" if town is not None and random() < 0.6 else ""
    return f"/index.php?id={slot.number}{place}"
