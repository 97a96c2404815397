"""A small collection written straight into `node.db` files, as a crawl would leave it.

Two Lisbons, two Portlands, Houston in Texas, several languages, dates, topics, and titles that are attacks.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import xxhash
import zstandard

from periplus.frontier.likeness import likeness
from periplus.store.database import open_writer
from periplus.store.folder import CrawlFolder
from periplus.urls import fingerprint

__all__ = [
    "ATTACKS",
    "PAGES",
    "PLACES",
    "SamplePage",
    "SamplePlace",
    "add_pages",
    "build_collection",
    "make_page",
]


@dataclass(frozen=True, slots=True)
class SamplePlace:
    """A row of `place`."""

    id: int
    name: str
    kind: str
    country: str
    admin1: str
    lon: float
    lat: float
    population: int
    path: tuple[str, ...]
    ancestors: tuple[int, ...]


_PLACES = """
2267057 city PT 14 38.71667 -9.13333 517802 World/Europe/Portugal/Lisbon District/Lisbon 6295630/6255148/2264397/2267056
2735943 city PT 17 41.14961 -8.61099 249633 World/Europe/Portugal/Porto District/Porto 6295630/6255148/2264397/2735941
2264397 country PT - 39.6945 -8.13057 10281762 World/Europe/Portugal 6295630/6255148
2988507 city FR 11 48.85341 2.3488 2138551 World/Europe/France/Ile-de-France/Paris 6295630/6255148/3017382/3012874
5088597 city US NH 44.2134 -71.91119 1587 World/North America/United States/New Hampshire/Lisbon _/5090174
5746545 city US OR 45.52345 -122.67621 632309 World/North America/United States/Oregon/Portland _/5744337
4975802 city US ME 43.66147 -70.25533 66881 World/North America/United States/Maine/Portland _/4971068
4699066 city US TX 29.76328 -95.36327 2296224 World/North America/United States/Texas/Houston _/4736286
4684888 city US TX 32.78306 -96.80667 1300092 World/North America/United States/Texas/Dallas _/4736286
4718097 city US TX 29.69106 -95.2091 153784 World/North America/United States/Texas/Pasadena _/4736286
4736286 admin1 US TX 31.25044 -99.25061 25145561 World/North America/United States/Texas _
4076598 city US AL 30.69436 -88.04305 194288 World/North America/United States/Alabama/Mobile _/4829764
4733042 city US TX 30.07994 -95.41716 54298 World/North America/United States/Texas/Spring _/4736286
2643097 city GB ENG 52.55131 0.08828 22298 World/Europe/United Kingdom/England/March 6295630/6255148/2635167/6269131
2950159 city DE 16 52.52437 13.41053 3426354 World/Europe/Germany/Berlin/Berlin 6295630/6255148/2921044/2950157
1850147 city JP 40 35.6895 139.69171 8336599 World/Asia/Japan/Tokyo Prefecture/Tokyo 6295630/6255147/1861060/1850144
1185099 city BD 60 24.89904 91.87198 526412 World/Asia/Bangladesh/Sylhet Division/Sylhet 6295630/6255147/1210997/1477362
2198148 city FJ 01 -18.14161 178.44149 77366 World/Oceania/Fiji/Central/Suva 6295630/6255151/2205218/2205272
-7 feature FJ - -16.85 -179.97 0 World/Oceania/Fiji/Taveuni 6295630/6255151/2205218
"""


def _place(line: str) -> SamplePlace:
    identifier, kind, country, admin1, lat, lon, population, rest = line.split(" ", 7)
    path, _, ancestors = rest.rpartition(" ")
    names = tuple(path.split("/"))
    return SamplePlace(
        id=int(identifier),
        name=names[-1],
        kind=kind,
        country=country,
        admin1=admin1.replace("-", ""),
        lon=float(lon),
        lat=float(lat),
        population=int(population),
        path=names,
        ancestors=tuple(map(int, ancestors.replace("_", "6295630/6255149/6252001").split("/"))),
    )


PLACES = {place.id: place for place in map(_place, _PLACES.strip().splitlines())}
_PT = 2264397


@dataclass(frozen=True, slots=True)
class SamplePage:
    """A page with its truth: what the crawl would have found in it."""

    url: str
    title: str
    text: str
    places: tuple[tuple[int, float], ...] = ()
    language: str = "en"
    published: str | None = None
    topic: str = "travel"
    description: str = ""
    kept: bool = True
    mentions: tuple[tuple[int, int, int, float], ...] = field(default=())
    links: tuple[tuple[str, str, str], ...] = ()  # URL, what the link says, node that it was assigned to
    compared: bool = False  # whether its text is compared with others for near-duplicates


ATTACKS = (
    "<script>window.__attacked=1</script>",
    '<img src=x onerror="window.__attacked=2">',
    '"><svg onload=window.__attacked=3>',
    "javascript:window.__attacked=4",
    "<iframe srcdoc='<script>parent.__attacked=5</script>'></iframe>",
    "{{constructor.constructor('window.__attacked=6')()}}",
    "</textarea><details open ontoggle=window.__attacked=7>",
    "<a href=javascript:window.__attacked=8>click</a>",
    "&lt;script&gt;window.__attacked=9&lt;/script&gt;",
    "<style>@import'//attacker.example/x';</style>",
)

_LONG = (
    "The old town climbs from the river in narrow lanes. Trams rattle past tiled houses, bakers set out their trays, "
    "and in the evening the squares fill with people. "
)


def make_page(number: int, **changes: object) -> SamplePage:
    """A plain page about Houston, dated, of its own host; `changes` replace fields."""
    fields: dict[str, object] = {
        "url": f"http://site{number % 7}.example/story-{number}",
        "title": f"Story {number} of the bayou",
        "text": f"Report {number} from Houston, Texas. {_LONG * 3}",
        "places": ((4699066, 0.9),),
        "published": f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}",
        "topic": "news",
    }
    return SamplePage(**(fields | changes))  # type: ignore[arg-type]  # the fields of a sample, by name


def _lisbon(number: int) -> SamplePage:
    return SamplePage(
        url=f"http://lisbon-food.example/pizza/{number}",
        title=f"Pizza restaurant number {number} in Lisbon",
        text=f"{_LONG}A pizza restaurant in Lisbon, Portugal, where the oven never cools. {_LONG * 2}",
        places=((2267057, 0.8), (_PT, 0.2)),
        published=f"2026-{number % 12 + 1:02d}-15",
        description="Where to eat in Lisbon",
        topic="food",
    )


PAGES: tuple[SamplePage, ...] = (
    *(_lisbon(number) for number in range(24)),
    SamplePage(
        "http://lisbon-nh.example/pizza",
        "Lisbon House of Pizza",
        f"Pizza in Lisbon, New Hampshire, by the Ammonoosuc river. {_LONG}",
        ((5088597, 0.95),),
        published="2026-03-02",
        topic="food",
    ),
    SamplePage(
        "http://lisbon-nh.example/town",
        "Town meeting of Lisbon, NH",
        f"The town of Lisbon votes on the bridge. {_LONG}",
        ((5088597, 1.0),),
        published="2026-03-09",
        topic="news",
    ),
    SamplePage(
        "http://oregon.example/coffee",
        "Coffee roasters of Portland",
        f"Portland, Oregon roasts its coffee dark. {_LONG}",
        ((5746545, 0.9),),
        published="2025-11-20",
        topic="food",
    ),
    SamplePage(
        "http://oregon.example/bikes",
        "Bicycles in Portland",
        f"Bridges and bicycles of Portland, Oregon. {_LONG}",
        ((5746545, 0.7), (4699066, 0.1)),
        published="2025-12-24",
    ),
    SamplePage(
        "http://maine.example/lobster",
        "Lobster rolls of Portland",
        f"Portland, Maine serves lobster and some coffee. {_LONG}",
        ((4975802, 0.9),),
        published="2026-07-04",
        topic="food",
    ),
    SamplePage(
        "http://porto.example/vinho",
        "Adegas e caves do Porto",
        f"As caves do vinho ficam junto ao rio, e os restaurantes servem bacalhau. {_LONG}",
        ((2735943, 0.9),),
        language="pt",
        published="2026-05-01",
        topic="food",
    ),
    SamplePage(
        "http://paris.example/musees",
        "Les musées et cafés de Paris",
        "Les musées de Paris ouvrent tard le jeudi. Les cafés restent pleins.",
        ((2988507, 0.9),),
        language="fr",
        published="2024-02-29",
    ),
    SamplePage(
        "http://tokyo.example/ramen",
        "東京のラーメン店",
        "東京の新宿にあるラーメン店は夜遅くまで開いています。",
        ((1850147, 0.9),),
        language="ja",
        published="2026-01-05",
        topic="food",
    ),
    SamplePage(
        "http://sylhet.example/floods",
        "Floods around Sylhet",
        "Heavy rain brought floods to Sylhet and the haors around it; dams were opened.",
        ((1185099, 0.9),),
        published="2026-06-18",
        topic="floods",
    ),
    SamplePage(
        "http://fiji.example/suva",
        "Reef walks near Suva",
        "Guides in Suva show the reef at low tide.",
        ((2198148, 0.9),),
        published="2026-08-01",
    ),
    SamplePage(
        "http://fiji.example/taveuni",
        "Taveuni on the date line",
        "Taveuni lies where the day begins.",
        ((-7, 0.9),),
        published="2026-08-02",
    ),
    SamplePage(
        "http://mobile.example/alabama",
        "The port of Mobile",
        "Ships leave Mobile, Alabama.",
        ((4076598, 0.9),),
        published="2026-04-01",
    ),
    *(
        SamplePage(
            f"http://phones.example/{n}",
            f"Mobile phone review {n}",
            "A mobile phone with a mobile screen.",
            published="2026-04-02",
            topic="",
        )
        for n in range(6)
    ),
    SamplePage(
        "http://dallas.example/rodeo",
        "Rodeo weekend in Dallas",
        f"Dallas, Texas rides again. {_LONG}",
        ((4684888, 0.9),),
        published="2026-10-10",
    ),
    SamplePage("http://undated.example/", "Old port of Houston", f"Houston without a date. {_LONG}", ((4699066, 0.8),)),
    SamplePage("http://dropped.example/", "Not kept at all", "Nothing about anything", kept=False),
    *(
        SamplePage(
            f"http://attack{n}.example/?q={attack}",
            attack,
            f"Harmless words {attack} harbour",
            ((2267057, 0.3),),
            published="2026-09-09",
            topic="attack",
        )
        for n, attack in enumerate(ATTACKS)
    ),
    *(make_page(number) for number in range(30)),
)


def build_collection(
    root: Path, pages: Sequence[SamplePage] = PAGES, *, nodes: Sequence[str] = ("east", "west")
) -> CrawlFolder:
    """A finished crawl in `root` whose pages are dealt to the nodes by turns."""
    folder = CrawlFolder(root)
    tables = "".join(f"[nodes.{name}]\nplaces = []\n" for name in nodes)
    folder.write_job(f'name = "sample"\nout = "."\n[topic]\nname = "travel"\n{tables}')
    for name in nodes:
        folder.node(name).path.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(nodes):
        add_pages(folder.node(name).database, pages[number :: len(nodes)])
    return folder


def add_pages(database: Path, pages: Iterable[SamplePage]) -> None:
    """Commit pages one by one; a page whose URL is there already is written anew, as on a revisit."""
    database.parent.mkdir(parents=True, exist_ok=True)
    db = open_writer(database)
    names = sorted(path.name for path in database.parent.parent.iterdir())
    db.executemany("INSERT OR IGNORE INTO node_name VALUES (?, ?)", list(enumerate(names)))
    try:
        for page in pages:
            db.execute("BEGIN IMMEDIATE")
            _write(db, page)
            db.execute("COMMIT")
    finally:
        db.close()


def _write(db: sqlite3.Connection, page: SamplePage) -> None:
    revision = db.execute("SELECT coalesce(max(revision), 0) + 1 FROM page").fetchone()[0]
    mark, domain = fingerprint(page.url), _domain(page)
    host = page.url.split("/")[2]
    db.execute("INSERT OR IGNORE INTO host (name, domain) VALUES (?, ?)", (host, domain))
    known = db.execute("SELECT id FROM url WHERE fingerprint = ?", (mark,)).fetchone()
    if known:
        url_id = known[0]
        for table in ("page_text", "page_place", "link", "page_likeness"):
            db.execute(f"DELETE FROM {table} WHERE page_id = ?", (url_id,))
        db.execute("DELETE FROM page WHERE id = ?", (url_id,))
    else:
        url_id = db.execute(
            "INSERT INTO url (fingerprint, url, host_id, priority, depth) "
            "VALUES (?, ?, (SELECT id FROM host WHERE name = ?), 0.5, 1)",
            (mark, page.url, host),
        ).lastrowid
        db.execute("INSERT INTO progress (id, state, outcome) VALUES (?, 2, 'kept')", (url_id,))
    _write_page(db, page, url_id, revision)


def _domain(page: SamplePage) -> str:
    return ".".join(page.url.split("/")[2].split(".")[-2:])


def _write_page(db: sqlite3.Connection, page: SamplePage, url_id: int, revision: int) -> None:
    mark = fingerprint(page.url)
    domain = _domain(page)
    outcome = "kept" if page.kept else "not_relevant"
    main = page.places[0][0] if page.places else None
    db.execute(
        "INSERT INTO page (id, url_id, fingerprint, url, domain, outcome, kept, revision, depth, title, description, "
        "language, published, fetched_at, fetch_seconds, body_bytes, content_digest, keyword_relevance, "
        "place_relevance, topic, main_place) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, 0.1, 1000, ?, 0.7, 0.8, ?, ?)",
        (
            url_id, url_id, mark, page.url, domain, outcome, int(page.kept), revision, page.title,
            page.description, page.language, page.published, "2026-11-01T12:00:00+00:00",
            xxhash.xxh3_64_intdigest((page.title + page.text).encode()) - 2**63, page.topic, main,
        ),
    )  # fmt: skip
    _write_links(db, page, url_id)
    if not page.kept:
        return
    mark = likeness(page.text.encode()) if page.compared else 0
    if mark:
        db.execute("INSERT INTO page_likeness VALUES (?, ?, ?)", (url_id, mark, mark))
    for place_id, weight in page.places:
        place = PLACES[place_id]
        db.execute(
            "INSERT OR IGNORE INTO place VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                place.id, place.name, place.kind, place.country, place.admin1, place.lon, place.lat,
                place.population, json.dumps(place.path), json.dumps(place.ancestors),
            ),
        )  # fmt: skip
        db.execute("INSERT INTO page_place VALUES (?, ?, ?)", (url_id, place_id, weight))
    pack = zstandard.ZstdCompressor().compress
    mentions = page.mentions or tuple(_mentions(page))
    db.execute(
        "INSERT INTO page_text VALUES (?, ?, ?)",
        (url_id, pack(page.text.encode()), pack(json.dumps(mentions).encode())),
    )


def _write_links(db: sqlite3.Connection, page: SamplePage, url_id: int) -> None:
    if not page.links:
        return
    names = dict(db.execute("SELECT name, id FROM node_name"))
    db.execute(
        "INSERT INTO link (page_id, fingerprints, nodes, anchors) VALUES (?, ?, ?, ?)",
        (
            url_id,
            np.array([fingerprint(url) for url, _, _ in page.links], dtype="<i8").tobytes(),
            np.array([names[node] for _, _, node in page.links], dtype="<u2").tobytes(),
            zstandard.compress("\n".join(text for _, text, _ in page.links).encode()),
        ),
    )


def _mentions(page: SamplePage) -> Iterable[tuple[int, int, int, float]]:
    for place_id, _ in page.places:
        name = PLACES[place_id].name
        start = page.text.find(name)
        while start >= 0:
            yield start, start + len(name), place_id, 0.9
            start = page.text.find(name, start + 1)
