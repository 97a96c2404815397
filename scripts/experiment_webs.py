"""The recorded webs of `make experiments`: the miniature web, WebKB and wikispeedia, each with owners and truth.

Nothing of a corpus is kept in the project: the webs are written to a folder of the user from what PERIPLUS_DATA holds.
"""

import csv
import html
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import tomli_w
from experiment_models import City, addressed, classifier, located_servers
from wikispeedia import Wiki, read_articles

from periplus.analysis import Lens
from periplus.experiments import lenses_for
from periplus.miniweb.places import towns
from periplus.miniweb.web import generate
from periplus.model import Fetched, Link
from periplus.places import Gazetteer
from periplus.store.folders import pages_of_folder
from periplus.store.recorded import RecordedWeb
from periplus.store.wacz import write_wacz
from periplus.strategies import BlendStrategy
from periplus.world import World

__all__ = ["STRATEGIES", "Web", "labels_of", "miniature", "read_world", "webkb", "wikispeedia"]

STRATEGIES = "hash,url,anchor,content,classifier,ip,blend"
PLAIN = "hash,url,anchor,content,blend"
"""Those that need nothing but the nodes."""

TRAINING = 5
"""The seed of the miniature web that the classifier is trained on."""

UNIVERSITIES = {"austin": "Austin, TX", "ithaca": "Ithaca, NY", "madison": "Madison, WI", "seattle": "Seattle, WA"}
CAMPUSES: dict[str, City] = {
    "utexas.edu": ("TX", "Austin"),
    "cornell.edu": ("NY", "Ithaca"),
    "wisc.edu": ("WI", "Madison"),
    "washington.edu": ("WA", "Seattle"),
}
MIDDLE_EAST = ["AE", "BH", "CY", "EG", "IL", "IQ", "IR", "JO", "KW", "LB", "OM", "PS", "QA", "SA", "SY", "TR", "YE"]
NORTH = ["US", "CA", "GL", "BM", "PM"]
REGIONS = {
    "africa": ("African_Geography",),
    "asia": ("Geography_of_Asia",),
    "europe": ("European_Geography", "Geography_of_Great_Britain"),
    "latin-america": ("Central_and_South_American_Geography",),
    "middle-east": ("Geography_of_the_Middle_East",),
    "north-america": ("North_American_Geography",),
    "oceania": ("Geography_of_Oceania_Australasia",),
}
"""Nodes of wikispeedia, and the subjects under Geography whose articles are theirs."""

CONTINENTS = {"Africa": "africa", "Asia": "asia", "Europe": "europe", "Oceania": "oceania"}
RECORDED = datetime(2007, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Web:
    """A recorded web with its owners, the truth where there is one, and which addresses count where there is none."""

    name: str
    file: Path
    targets: str
    entities: str = "street"
    labels: Path | None = None
    homes: dict[str, City] = field(default_factory=dict)  # where the organisations behind hosts are
    training: Path = Path()  # pages for the classifier


def read_world(web: Web, gazetteer: Gazetteer) -> World:
    """The web as all strategies see it; what was read is kept beside it, until the strategies or owners are others.

    After a change of how pages are read or places are found, delete the file (or the folder).
    """
    lenses = lenses_of(web, gazetteer)
    kept = web.file.with_suffix(".pages")
    world = World.load(kept, lenses)
    if world is None:
        world = World.of(addressed(RecordedWeb(web.file).responses()), lenses, processes=os.cpu_count() or 1)
        world.save(kept)
    return world


def lenses_of(web: Web, gazetteer: Gazetteer) -> dict[str, Lens]:
    """All strategies for a web."""
    lenses, _ = lenses_for(PLAIN, web.targets, gazetteer, "allow")
    lens = lenses["hash"]
    pages, ours = RecordedWeb(web.training).responses(), web.name.startswith("miniature")
    trained = classifier(web.file.with_suffix(".npz"), pages, lens, by_address=ours)
    served = located_servers(web.file.with_suffix(".geofeed"), web.homes, lens, at_home=not ours)
    blend = BlendStrategy(lens.ownership, gazetteer, ip=served)
    made = lenses | {
        name: replace(lens, strategy=strategy)
        for name, strategy in (("classifier", trained), ("ip", served), ("blend", blend))
    }
    return {name: made[name] for name in STRATEGIES.split(",")}


def labels_of(web: Web) -> dict[str, int] | None:
    """The truth of a web that has one."""
    if web.labels is None:
        return None
    with web.labels.open(encoding="utf-8", newline="") as file:
        return {row["url"]: int(row["place"]) for row in csv.DictReader(file)}


def miniature(folder: Path, locality: float, *, seed: int = 1, pages: int = 5_500, hosts: int = 320) -> Web:
    """The miniature web with links as local as said; us100 own its cities."""
    size = "" if pages == 5_500 else f"-{pages}"
    file = folder / f"miniweb-{locality:g}-{seed}{size}.wacz"
    made = generate(seed, hosts=hosts, pages=pages, locality=locality)
    if not file.exists():
        write_wacz(made.responses(), file)
    known = {host.name: towns()[host.town] for host in made.blueprint.hosts if host.town >= 0}
    homes = {host: (town.admin1, town.name) for host, town in known.items() if town.country == "US"}
    return Web(
        f"miniature web, locality {locality:g}", file, "us100", homes=homes, training=_training(folder, locality)
    )


def _training(folder: Path, locality: float = 0.7) -> Path:
    """A miniature web that is never crawled."""
    file = folder / f"miniweb-{locality:g}-{TRAINING}-training.wacz"
    if not file.exists():
        write_wacz(generate(TRAINING, hosts=120, pages=1_500, locality=locality).responses(), file)
    return file


def webkb(folder: Path, data: Path) -> Web:
    """Four universities' pages of 1997; a node for each one's city."""
    file, targets = folder / "webkb.wacz", folder / "webkb.toml"
    if not file.exists():
        write_wacz(pages_of_folder(data / "webkb"), file)
    nodes: dict[str, dict[str, list[str]]] = {name: {"places": [place]} for name, place in UNIVERSITIES.items()}
    targets.write_text(tomli_w.dumps({"nodes": nodes | {"general": {}}}), "utf-8")
    hosts = {fetched.url.split("/")[2] for fetched in RecordedWeb(file).responses()}
    homes = {host: CAMPUSES[end] for host in hosts for end in CAMPUSES if host.endswith(end)}
    return Web("WebKB", file, str(targets), "postal", homes=homes, training=_training(folder))


def wikispeedia(folder: Path, data: Path, gazetteer: Gazetteer) -> Web:
    """An encyclopedia of 4,600 articles; a node for each of seven regions of the world; its subjects are the truth."""
    file, targets, labels = (folder / f"wikispeedia.{kind}" for kind in ("wacz", "toml", "csv"))
    wiki = read_articles(data / "wikispeedia")
    countries = _countries(gazetteer)
    nodes = {name: {"places": [str(place) for place in sorted(ids)]} for name, ids in countries.items()}
    targets.write_text(tomli_w.dumps({"nodes": nodes | {"general": {}}}), "utf-8")
    if not file.exists():
        write_wacz(_articles(wiki), file)
    with labels.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(("url", "place"))
        for name, region in _labelled(wiki):
            rows.writerow((wiki.pages[name].url, min(countries[region])))
    home = {"encyclopedia.test": ("FL", "Tampa")}
    return Web("wikispeedia", file, str(targets), labels=labels, homes=home, training=_training(folder))


def _countries(gazetteer: Gazetteer) -> dict[str, list[int]]:
    """Ids of the countries of each region."""
    found: dict[str, list[int]] = {name: [] for name in REGIONS}
    for row in range(len(gazetteer)):
        place = gazetteer.place_at(row)
        if place.kind != "country" or len(place.path) < 2:
            continue
        region = CONTINENTS.get(place.path[1])
        if place.country in MIDDLE_EAST:
            region = "middle-east"
        elif region is None and "America" in place.path[1]:
            region = "north-america" if place.country in NORTH else "latin-america"
        if region:
            found[region].append(place.id)
    return found


def _labelled(wiki: Wiki) -> Iterator[tuple[str, str]]:
    """Articles that belong to exactly one region by their subjects."""
    for name, subjects in sorted(wiki.categories.items()):
        found = {
            region
            for region, parts in REGIONS.items()
            if any(subject.split(".")[2:3] == [part] for subject in subjects for part in parts)
        }
        if len(found) == 1:
            yield name, found.pop()


def _articles(wiki: Wiki) -> Iterator[Fetched]:
    for name, page in wiki.pages.items():
        body = _written(page.title, page.text, wiki.anchors(name)).encode()
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        yield Fetched(page.url, 200, headers, body, "text/html; charset=utf-8", RECORDED, 0.0, "")


def _written(title: str, text: str, links: list[Link]) -> str:
    """An article as HTML: links where their titles first stand in the text, the others in a list below."""
    parts, at, rest = [], 0, []
    for link in sorted(links, key=lambda one: one.start):
        if link.start < at:  # not in the text, or inside another link
            rest.append(f'<li><a href="{html.escape(link.url)}">{html.escape(link.anchor)}</a></li>')
            continue
        shown = html.escape(text[link.start : link.end])
        parts += [html.escape(text[at : link.start]), f'<a href="{html.escape(link.url)}">{shown}</a>']
        at = link.end
    parts.append(html.escape(text[at:]))
    body = "".join(parts).replace("\n", "</p>\n<p>")
    head = f"<title>{html.escape(title)}</title>"
    return f"<!doctype html><html lang=en><head>{head}</head><body><p>{body}</p><ul>{''.join(rest)}</ul></body></html>"
