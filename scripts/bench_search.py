"""Search speed on a generated collection: 200,000 pages, and the growth from 20,000; SQLite FTS5 + R*Tree beside it.

Everything is measured as processor time of this process, so that other work on the machine counts little. Questions are
mixed: terms, terms + place, box, facets + trend. Ours are whole answers as `periplus search` gives them, with snippets,
facets and places; SQLite's are the ten best by its bm25 with its snippets, and counts by topic and month where asked.
"""

import argparse
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from pathlib import Path

import numpy as np
import zstandard
from rich.console import Console
from rich.table import Table

from periplus.index import NodeIndex
from periplus.model import Place
from periplus.places import open_gazetteer
from periplus.search import Collection, SearchRequest
from periplus.store.database import open_reader, open_writer
from periplus.store.folder import CrawlFolder

GOALS = {"p95 ms": 30.0, "suggest p95 ms": 20.0, "open s": 1.0, "pages/s": 700.0, "index / text": 0.6}
WORDS = 60_000
TOPICS = [f"topic{n}" for n in range(12)]
SYLLABLES = ("ka", "lo", "mi", "ru", "ten", "sar", "vo", "del", "pri", "gan", "hus", "tor", "bel", "ani", "kro", "wes")


@dataclass(frozen=True, slots=True)
class Generated:
    """One page of the collection."""

    number: int
    title: str
    text: str
    topic: str
    day: date
    places: tuple[tuple[Place, float], ...]


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Made-up words, the short ones first, since those will be the frequent ones."""
    words = {"".join(rng.choice(SYLLABLES, rng.integers(1, 6))) for _ in range(3 * WORDS)}
    return sorted(words, key=lambda word: (len(word), word))[:WORDS]


def generated(count: int, size: int, words: Sequence[str], towns: Sequence[Place]) -> Iterator[Generated]:
    """Pages of about `size` bytes; words are as unevenly frequent as in real text (Zipf). The same pages every time."""
    for number in range(count):
        rng = np.random.default_rng(number)
        body = _drawn(words, size // 7, rng)
        chosen = [towns[int(len(towns) * rng.random() ** 2)] for _ in range(int(rng.integers(1, 4)))]
        for at, town in enumerate(chosen):
            body.insert(10 + 40 * at, f"in {town.name}, {town.admin1}.")
        weights = (0.8, 0.15, 0.05)
        places = {town.id: (town, weights[at]) for at, town in reversed(list(enumerate(chosen)))}
        yield Generated(
            number,
            " ".join(_drawn(words, 6, rng)),
            " ".join(body),
            TOPICS[int(rng.integers(len(TOPICS)))],
            date(2020, 1, 1) + timedelta(days=int(rng.integers(2_300))),
            tuple(sorted(places.values(), key=lambda pair: -pair[1])),
        )


def _drawn(words: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    """Words of which the n-th is drawn 1/n as often as the first."""
    return [words[rank] for rank in (len(words) ** rng.random(count)).astype(np.int64).tolist()]


# -- Both sides ------------------------------------------------------------------------------------


def write_crawl(pages: Iterator[Generated], folder: Path) -> tuple[CrawlFolder, int]:
    """A crawl's folder with these pages, as a crawl would leave it; and how many bytes of text they have."""
    crawl = CrawlFolder(folder)
    crawl.write_job('name = "bench"\nout = "."\n')
    db = open_writer(crawl.node("main").database)
    db.execute("INSERT INTO host (id, name, domain) VALUES (1, 'bench.test', 'bench.test')")
    pack = zstandard.ZstdCompressor(1).compress
    known: set[int] = set()
    text_bytes = 0
    while batch := list(islice(pages, 1_000)):
        db.execute("BEGIN")
        for page in batch:
            key, url = page.number + 1, f"http://bench.test/{page.topic}/{page.number}"
            text_bytes += len(page.text)
            db.execute(
                "INSERT INTO url (id, fingerprint, url, host_id, priority, depth) VALUES (?, ?, ?, 1, 0, 1)",
                (key, key, url),
            )
            db.execute("INSERT INTO progress (id, state) VALUES (?, 1)", (key,))
            db.execute(
                "INSERT INTO page VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    *(key, key, key, url, "bench.test", "kept", 1, key, 1, page.title, "", "en"),
                    *(page.day.isoformat(), "2026-11-01T12:00:00+00:00", 0.1, len(page.text), key, 0.5, 0.5),
                    *(page.topic, page.places[0][0].id, None, None, None, None, None),
                ),
            )
            db.execute("INSERT INTO page_text VALUES (?, ?, ?)", (key, pack(page.text.encode()), pack(b"[]")))
            for place, weight in page.places:
                if place.id not in known:
                    known.add(place.id)
                    db.execute(
                        "INSERT INTO place VALUES (?,?,?,?,?,?,?,?,?,?)",
                        (
                            *(place.id, place.name, place.kind, place.country, place.admin1, place.point.lon),
                            *(place.point.lat, place.population, json.dumps(place.path), json.dumps(place.ancestors)),
                        ),
                    )
                db.execute("INSERT INTO page_place VALUES (?, ?, ?)", (key, place.id, weight))
        db.execute("COMMIT")
    db.close()
    return crawl, text_bytes


def write_sqlite(pages: Iterator[Generated], path: Path) -> tuple[sqlite3.Connection, int, float]:
    """The same pages in FTS5 and R*Tree; the bytes of the indexes alone, and the seconds of processor they took."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("CREATE TABLE doc (id INTEGER PRIMARY KEY, title, text, topic, month)")
    db.execute("CREATE TABLE point (id INTEGER PRIMARY KEY, lon, lat)")
    while batch := list(islice(pages, 1_000)):
        db.execute("BEGIN")
        for page in batch:
            point = page.places[0][0].point
            month = page.day.strftime("%Y-%m")
            db.execute(
                "INSERT INTO doc VALUES (?, ?, ?, ?, ?)", (page.number, page.title, page.text, page.topic, month)
            )
            db.execute("INSERT INTO point VALUES (?, ?, ?)", (page.number, point.lon, point.lat))
        db.execute("COMMIT")
    before, began = path.stat().st_size, time.process_time()
    db.execute(
        "CREATE VIRTUAL TABLE words USING fts5(title, text, content='doc', content_rowid='id', "
        "tokenize='porter unicode61 remove_diacritics 2')"
    )
    db.execute("INSERT INTO words(words) VALUES ('rebuild')")
    db.execute("CREATE VIRTUAL TABLE area USING rtree(id, west, east, south, north)")
    db.execute("INSERT INTO area SELECT id, lon, lon, lat, lat FROM point")
    db.execute("CREATE INDEX doc_topic ON doc (topic, month)")
    return db, path.stat().st_size - before, time.process_time() - began


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for both sides. `box`: west, south, east, north of the place or area."""

    kind: str
    terms: tuple[str, ...]
    place: Place | None = None
    box: tuple[float, float, float, float] | None = None


def questions(count: int, words: Sequence[str], towns: Sequence[Place]) -> list[Asked]:
    """Equally many of each kind; words are neither the commonest nor the rarest: in 1 to 18 of 100 pages."""
    rng = np.random.default_rng(99)
    found = []
    for n in range(count):
        terms = tuple(words[rank] for rank in rng.integers(1_000, 20_000, int(rng.integers(1, 4))).tolist())
        town = towns[int(len(towns) * rng.random() ** 2)]
        lon, lat = town.point.lon, town.point.lat
        box = (max(-180.0, lon - 1), max(-90.0, lat - 1), min(180.0, lon + 1), min(90.0, lat + 1))
        kind = ("terms", "terms + place", "box", "facets + trend")[n % 4]
        found.append(Asked(kind, terms, town, box))
    return found


def ask_ours(collection: Collection, asked: Asked) -> int:
    """A whole answer."""
    text = " ".join(asked.terms)
    if asked.kind == "terms":
        return collection.search(SearchRequest.of(text)).total
    if asked.kind == "terms + place" and asked.place:
        return collection.search(SearchRequest.of(f"{text} in {asked.place.name}, {asked.place.admin1}")).total
    if asked.kind == "box" and asked.box:
        return collection.search(SearchRequest.of(text, bbox=",".join(map(str, asked.box)))).total
    return collection.search(SearchRequest.of(text)).total + collection.trend(SearchRequest.of(text), "month").total


def ask_sqlite(db: sqlite3.Connection, asked: Asked) -> int:
    """The ten best with snippets, how many there are, and counts where they are asked for."""
    match = " ".join(f'"{term}"' for term in asked.terms)
    tables, where = "words", "words MATCH ?"
    values: list[str | float] = [match]
    if asked.kind in ("terms + place", "box") and asked.box:
        # Words first, then the box of each: the other way round takes fifty times as long.
        tables = "words CROSS JOIN area ON area.id = words.rowid"
        where += " AND west >= ? AND east <= ? AND south >= ? AND north <= ?"
        west, south, east, north = asked.box
        values += [west, east, south, north]
    db.execute(
        f"SELECT words.rowid, title, snippet(words, 1, '[', ']', '…', 30) FROM {tables} WHERE {where} "
        "ORDER BY bm25(words, 2.5, 1.0) LIMIT 10",
        values,
    ).fetchall()
    counted = int(db.execute(f"SELECT count(*) FROM {tables} WHERE {where}", values).fetchone()[0])
    if asked.kind == "facets + trend":
        inner = f"SELECT words.rowid FROM {tables} WHERE {where}"
        db.execute(f"SELECT topic, count(*) FROM doc WHERE id IN ({inner}) GROUP BY topic", values).fetchall()
        db.execute(f"SELECT month, count(*) FROM doc WHERE id IN ({inner}) GROUP BY month", values).fetchall()
    return counted


# -- Measuring -------------------------------------------------------------------------------------


def milliseconds(work: Callable[[Asked], int], asked: Sequence[Asked]) -> dict[str, list[float]]:
    """Processor time of each question by kind, after a few that warm caches up."""
    for question in asked[:8]:
        work(question)
    taken: dict[str, list[float]] = {}
    for question in asked:
        began = time.process_time()
        work(question)
        taken.setdefault(question.kind, []).append((time.process_time() - began) * 1000)
    return taken


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return statistics.quantiles(values, n=20)[-1]


def index_rate(crawl: CrawlFolder) -> tuple[float, float]:
    """Pages a second of processor time, and bytes of the index."""
    node = crawl.node("main")
    with closing(open_reader(node.database)) as db:
        began = time.process_time()
        pages = NodeIndex.open(node.index).update(db)
        seconds = time.process_time() - began
    return pages / seconds, float(sum(file.stat().st_size for file in node.index.iterdir() if file.is_file()))


def suggestions(collection: Collection, words: Sequence[str], towns: Sequence[Place]) -> list[float]:
    """Milliseconds of completions of words and places, one letter after the other."""
    taken = []
    for n in range(100):
        whole = f"{words[50 + 37 * n]} in {towns[n % len(towns)].name}"
        for end in range(2, len(whole), 3):
            began = time.process_time()
            collection.suggest(whole[:end])
            taken.append((time.process_time() - began) * 1000)
    return taken


def bench(count: int, size: int, folder: Path, table: Table, *, peer: bool) -> dict[str, float]:
    """One size of collection, both sides; rows for the table and the figures with goals."""
    words = vocabulary(np.random.default_rng(1))
    towns = sorted(open_gazetteer().cities_of("US"), key=lambda town: (-town.population, town.id))[:500]
    crawl, text_bytes = write_crawl(generated(count, size, words, towns), folder / f"crawl-{count}")
    rate, index_bytes = index_rate(crawl)
    began = time.process_time()
    collection = Collection.open([crawl.path])
    opened = time.process_time() - began
    asked = questions(400, words, towns)
    with collection:
        ours = milliseconds(lambda one: ask_ours(collection, one), asked)
        suggested = suggestions(collection, words, towns)
    everything = [value for values in ours.values() for value in values]
    found = {
        "p95 ms": p95(everything),
        "suggest p95 ms": p95(suggested),
        "open s": opened,
        "pages/s": rate,
        "index / text": index_bytes / text_bytes,
    }
    print(f"{count:,} pages, ours: {found}", file=sys.stderr, flush=True)
    theirs: dict[str, list[float]] = {}
    if peer:
        db, peer_bytes, peer_seconds = write_sqlite(generated(count, size, words, towns), folder / f"peer-{count}.db")
        with closing(db):
            theirs = milliseconds(lambda one: ask_sqlite(db, one), asked)
        other = [value for values in theirs.values() for value in values]
        found |= {"sqlite p95 ms": p95(other), "sqlite index / text": peer_bytes / text_bytes}
        found |= {"sqlite pages/s": count / peer_seconds}
    for kind, values in ours.items():
        beside = f"{p95(theirs[kind]):.1f}" if kind in theirs else ""
        table.add_row(f"{count:,}", kind, f"{statistics.median(values):.1f}", f"{p95(values):.1f}", beside)
    return found


def main() -> None:
    """Measure every size and print; with --check fail where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=os.environ.get("SEARCH_SIZES", "20000,200000"))
    parser.add_argument("--bytes", type=int, default=15_000, help="of text a page")
    parser.add_argument("--no-peer", action="store_true", help="without SQLite")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    options = parser.parse_args()
    table = Table("pages", "questions", "p50 ms", "p95 ms", "SQLite p95", title="Search, processor time", box=None)
    figures = Table("pages", "what", "measured", "goal", box=None)
    missed = []
    for count in (int(size) for size in options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as name:
            found = bench(count, options.bytes, Path(name), table, peer=not options.no_peer)
        for what, value in found.items():
            goal = GOALS.get(what)
            if what == "p95 ms" and "sqlite p95 ms" in found:
                goal = min(goal or value, found["sqlite p95 ms"])
            if what == "index / text" and "sqlite index / text" in found:
                goal = min(goal or value, found["sqlite index / text"])
            shown = f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
            figures.add_row(f"{count:,}", what, shown, f"{goal:.3g}" if goal else "")
            if goal is not None and (value < goal if what == "pages/s" else value > goal):
                missed.append(f"{count:,} pages: {what} {value:.3g}, goal {goal:.3g}")
    console = Console(highlight=False, width=120)
    console.print(table)
    console.print(figures)
    if options.check and missed:
        sys.exit("bench_search: " + "; ".join(missed))


if __name__ == "__main__":
    main()
