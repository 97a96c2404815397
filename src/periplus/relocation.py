"""The command `relocate`: site memory for the pages of a crawl, once they are there.

What the other pages of a host are about says which Paris the host means. While a crawl runs, that depends on which
pages came first, so the crawl decides without it; this pass works on the set of kept pages, in whatever order they
came, and changes mentions, footprints and main places only (docs/decisions/0008). With `crawl.site_memory` a crawl ends
with it.
"""

import json
import sqlite3
from collections import defaultdict
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
import zstandard

from periplus.index import NodeIndex, unpack_text
from periplus.model import Address, Footprint, Located, Mention, Place, WeightedPlace
from periplus.places import Gazetteer, HostPrior, locate, main_place, open_gazetteer
from periplus.places.footprint import ADDRESS_WEIGHT
from periplus.places.memory import host_of, leave_one_out
from periplus.store.commit import place_row
from periplus.store.database import open_writer, transaction
from periplus.store.folder import CrawlFolder
from periplus.wording import counted

__all__ = ["Relocated", "relocate", "relocate_crawl"]

MOST_PAGES: Final = 2_000
"""Of a host with more pages than this only so many, the first by URL, are read."""

Row = tuple[str, int]  # node, page id
Stored = list[list[float]]  # start, end, place id, confidence and, where memory chose the place, what it was before


@dataclass(frozen=True, slots=True)
class _Read:
    """A stored page, as far as places are looked for in it."""

    text: str
    url: str
    title: str
    language: str
    mentions: Stored


@dataclass(frozen=True, slots=True)
class Relocated:
    """How many pages of hosts with several were read, and how many of them mean other places now."""

    pages: int
    changed: int


def relocate_crawl(folder: CrawlFolder, gazetteer: Gazetteer) -> Relocated:
    """Let the pages of each host inform each other; twice gives the same as once. The caller holds the crawl's lock."""
    pages = changed = 0
    with ExitStack() as stack:
        nodes = {node.name: node for node in folder.nodes()}
        databases = {n: stack.enter_context(closing(open_writer(node.database))) for n, node in nodes.items()}
        for rows in _hosts(databases):
            pages += len(rows)
            priors = _priors(rows, databases, gazetteer)
            for name, db in databases.items():
                with transaction(db, nodes[name].database):
                    for i, (node, page) in enumerate(rows):
                        changed += node == name and _update(db, page, priors.get(i), gazetteer)
        for name, db in databases.items():
            NodeIndex.open(nodes[name].index).update(db)
    return Relocated(pages, changed)


def _hosts(databases: dict[str, sqlite3.Connection]) -> list[list[Row]]:
    """The kept pages of every host that has at least two, by URL."""
    found: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    for node, db in databases.items():
        for page, url in db.execute("SELECT id, url FROM page WHERE kept = 1"):
            found[host_of(url)].append((url, (node, page)))
    return [[row for _, row in sorted(rows)[:MOST_PAGES]] for _, rows in sorted(found.items()) if len(rows) > 1]


def _priors(rows: list[Row], databases: dict[str, sqlite3.Connection], gazetteer: Gazetteer) -> dict[int, HostPrior]:
    """For every page what the others say when each is read on its own."""
    pages = [_read(databases[node], page) for node, page in rows]
    languages = {page.url: page.language for page in pages}

    def parse(text: str, url: str) -> Located:
        return locate(text, gazetteer, url=url, candidates=False, language=languages[url])

    return leave_one_out([(page.text, page.url) for page in pages], parse)


def _read(db: sqlite3.Connection, page: int) -> _Read:
    row = db.execute(
        "SELECT t.text, p.url, p.title, p.language, t.mentions "
        "FROM page p JOIN page_text t ON t.page_id = p.id WHERE p.id = ?",
        (page,),
    ).fetchone()
    text, url, title, language, mentions = row
    return _Read(unpack_text(text), url, title, language, json.loads(unpack_text(mentions) or "[]"))


def _update(db: sqlite3.Connection, page: int, prior: HostPrior | None, gazetteer: Gazetteer) -> bool:
    """Give the mentions of a page the places that its host means; whether anything changed."""
    if prior is None:
        return False
    read = _read(db, page)
    old = read.mentions
    alone, among = (_places_in(read, each, gazetteer) for each in (None, prior))
    new: Stored = []
    for start, end, place, confidence, *before in old:
        own = int(before[0] if before else place)  # what the page alone says, with its markup
        span = (int(start), int(end))
        by_text, meant = alone.get(span), among.get(span)
        free = by_text is not None and by_text.id == own  # the markup said nothing else
        if free and meant is not None and meant.id != own:
            new.append([start, end, meant.id, confidence, own])
        else:
            new.append([start, end, own, confidence])
    if new == old:
        return False
    _write(db, page, (read.text, read.title), (old, new), gazetteer)
    return True


def _places_in(read: _Read, prior: HostPrior | None, gazetteer: Gazetteer) -> dict[tuple[int, int], Place | None]:
    """The places of a page's names, read in the language that the crawl read it in."""
    located = locate(
        read.text, gazetteer, url=read.url, prior=prior, candidates=False, outlined=False, language=read.language
    )
    return {(mention.start, mention.end): mention.place for mention in located.mentions}


def _write(
    db: sqlite3.Connection, page: int, words: tuple[str, str], mentions: tuple[Stored, Stored], gazetteer: Gazetteer
) -> None:
    """Store the mentions and what follows from them, under a new revision, so that indexes take notice."""
    old, new = mentions
    addresses = [row[0] for row in db.execute("SELECT place_id FROM entity WHERE page_id = ?", (page,))]
    weights = dict(db.execute("SELECT place_id, weight FROM page_place WHERE page_id = ?", (page,)))
    weights = _moved(weights, old, new, addresses)
    order = sorted(weights, key=lambda place: (-weights[place], place))
    places = {i: gazetteer.place(i) for i in {*order, *(int(row[2]) for row in new)}}
    located = Located(
        tuple(Mention(int(row[0]), int(row[1]), "", places[int(row[2])], row[3]) for row in new),
        tuple(Address(-1, -1, "", "", "", "", "", "", place, "postal") for place in addresses),
        Footprint(tuple(WeightedPlace(places[i], weights[i]) for i in order)),
    )
    main: Place | None = main_place(located, *words)
    db.executemany("INSERT OR IGNORE INTO place VALUES (?,?,?,?,?,?,?,?,?,?)", [place_row(p) for p in places.values()])
    packed = zstandard.compress(json.dumps(new, separators=(",", ":")).encode(), 3)
    db.execute("UPDATE page_text SET mentions = ? WHERE page_id = ?", (packed, page))
    db.execute("DELETE FROM page_place WHERE page_id = ?", (page,))
    db.executemany("INSERT INTO page_place VALUES (?, ?, ?)", [(page, i, weights[i]) for i in order])
    db.execute(
        "UPDATE page SET main_place = ?, revision = (SELECT max(revision) + 1 FROM page) WHERE id = ?",
        (main.id if main else None, page),
    )


def _moved(weights: dict[int, float], old: Stored, new: Stored, addresses: list[int]) -> dict[int, float]:
    """The footprint after mentions went from one place to another: each takes its share of the place's weight along."""
    mass: dict[int, float] = defaultdict(float)
    for row in old:
        mass[int(row[2])] += row[3]
    for place in addresses:
        mass[place] += ADDRESS_WEIGHT
    moved = dict(weights)
    for was, now in zip(old, new, strict=True):
        source, goal = int(was[2]), int(now[2])
        if source != goal and source in weights:
            share = weights[source] * was[3] / mass[source]
            moved[source] -= share
            moved[goal] = moved.get(goal, 0.0) + share
    return {place: round(weight, 12) for place, weight in moved.items() if weight > 1e-9}


def relocate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a crawl.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Use site memory: what a host's other pages are about decides which places its names mean.

    Example: periplus relocate my-crawl
    """
    crawl = CrawlFolder.existing(folder)
    with crawl.locked():
        done = relocate_crawl(crawl, open_gazetteer())
    if as_json:
        typer.echo(json.dumps({"pages": done.pages, "changed": done.changed}))
        return
    typer.echo(f"{counted(done.pages, 'page')} of hosts with several read; the places of {done.changed:,} changed")
