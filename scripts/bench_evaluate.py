"""How long `periplus evaluate` takes over a large crawl, and how much memory (`make bench`).

    python scripts/bench_evaluate.py [--pages 1000000] [--links 50] [--folder DIR] [--check]

Writes the databases of a made-up crawl by the paper's six nodes to a folder that is deleted again: pages of hosts of a
hundred, three links of five to the same host, one page in twelve with a street address. Then the command is run as a
user runs it. `--check` fails above 60 s or 2 GB.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from periplus.places import open_gazetteer
from periplus.store.database import open_writer
from periplus.strategies import Ownership, load_targets

PERIPLUS = Path(sys.executable).parent / "periplus"
GOAL_SECONDS, GOAL_GIGABYTES = 60.0, 2.0
HOST_PAGES = 100
INSIDE = 0.6
WITH_ADDRESS = 1 / 12
CHUNK = 20_000
PAGE = (
    "INSERT INTO page (id, url_id, fingerprint, url, domain, outcome, kept, revision, depth, title, description, "
    "language, fetched_at, fetch_seconds, body_bytes, content_digest, keyword_relevance, place_relevance, topic, "
    "main_place) VALUES (?1,?1,?2,?3,?4,'kept',1,?1,3,'A page','About it','en','2026-01-01T00:00:00Z',0.2,20000,?2,0,"
    "0,'',?5)"
)
URL = "INSERT INTO url (id, fingerprint, url, host_id, priority, depth) VALUES (?1,?2,?3,?4,0,3)"
KEPT = "INSERT INTO progress (id, state, outcome) VALUES (?1, 1, 'kept')"


class Crawl:
    """A made-up crawl: which page is whose, what it links to, and what it is about."""

    def __init__(self, pages: int, links: int) -> None:
        self.chance = np.random.default_rng(1)
        self.pages, self.links = pages, links
        self.marks = self.chance.integers(-(2**63), 2**63 - 1, pages)
        self.ownership = Ownership.of(load_targets("us100", Path(), open_gazetteer()), open_gazetteer())
        self.targets = np.array(sorted(self.ownership.owner_by_place))

    def write(self, folder: Path) -> None:
        """All databases, and the job."""
        (folder / "crawl.toml").write_text('targets = "us100"\nseeds = ["http://a.test/"]\n', "utf-8")
        names = self.ownership.names
        bounds = np.linspace(0, self.pages, len(names) + 1).astype(int)
        for name, first, end in zip(names, bounds, bounds[1:], strict=False):
            path = folder / "nodes" / name / "node.db"
            path.parent.mkdir(parents=True)
            with closing(open_writer(path)) as db:
                db.execute("PRAGMA synchronous = OFF")
                for begin in range(first, end, CHUNK):
                    db.execute("BEGIN IMMEDIATE")
                    for query, rows in self.rows(begin, min(begin + CHUNK, end), first).items():
                        db.executemany(query, rows)
                    db.execute("COMMIT")
                db.execute("INSERT INTO traffic VALUES ('other', ?, ?, 0)", (end - first, end - first))

    def rows(self, begin: int, end: int, first: int) -> dict[str, list[tuple[Any, ...]]]:
        """The rows of the pages begin..end of a node whose pages begin with `first`."""
        hosts = np.arange(begin, end) // HOST_PAGES
        places = self.targets[hosts % len(self.targets)].tolist()
        marks = self.marks[begin:end].tolist()
        ids = range(begin - first + 1, end - first + 1)
        urls = [
            f"http://host{host}.test/folder/page-{page}.html"
            for host, page in zip(hosts, range(begin, end), strict=True)
        ]
        domains = [f"host{host}.test" for host in hosts]
        addressed = np.flatnonzero(self.chance.random(end - begin) < WITH_ADDRESS).tolist()
        owners = self.ownership.owner_by_place
        known = sorted(set(places))
        return {
            "INSERT OR IGNORE INTO host VALUES (?, ?, ?, 0)": [
                (int(host) + 1, f"host{host}.test", f"host{host}.test") for host in np.unique(hosts)
            ],
            "INSERT OR IGNORE INTO place VALUES (?,'','city','','',0,0,0,'[]','[]')": [(place,) for place in known],
            URL: list(zip(ids, marks, urls, (hosts + 1).tolist(), strict=True)),
            KEPT: [(number,) for number in ids],
            PAGE: list(zip(ids, marks, urls, domains, places, strict=True)),
            "INSERT INTO page_place VALUES (?, ?, 1.0)": list(zip(ids, places, strict=True)),
            "INSERT INTO entity VALUES (?, ?, ?, 'street', ?)": [
                (ids[i], places[i], f"{i % 999} Main Street {places[i]}", owners[places[i]]) for i in addressed
            ],
            "INSERT INTO link (page_id, fingerprints, nodes) VALUES (?, ?, ?)": list(self.linked(ids, begin, end)),
        }

    def linked(self, ids: range, begin: int, end: int) -> Iterator[tuple[int, bytes, bytes]]:
        """The links of pages: most to the same host."""
        shape = (end - begin, self.links)
        first = (np.arange(begin, end) // HOST_PAGES * HOST_PAGES)[:, None]
        inside = np.minimum(first + self.chance.integers(0, HOST_PAGES, shape), self.pages - 1)
        outside = self.chance.integers(0, self.pages, shape)
        found = self.marks[np.where(self.chance.random(shape) < INSIDE, inside, outside)].astype("<i8")
        nodes = bytes(2 * self.links)
        for number, row in zip(ids, found, strict=True):
            yield number, row.tobytes(), nodes


def main() -> None:
    """Write, measure, print, delete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        started = time.perf_counter()
        Crawl(options.pages, options.links).write(Path(name))
        size = sum(file.stat().st_size for file in Path(name).rglob("*") if file.is_file())
        print(
            f"crawl of {options.pages:,} pages, {size / 2**30:.1f} GB: written in {time.perf_counter() - started:.0f} s"
        )
        started = time.perf_counter()
        done = subprocess.run([PERIPLUS, "evaluate", name, "--json"], check=False, capture_output=True, text=True)
        seconds = time.perf_counter() - started
    if done.returncode:
        sys.exit(done.stderr)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    gigabytes = usage.ru_maxrss / 2**20
    print(
        f"periplus evaluate: {options.pages:,} pages, {options.pages * options.links:,} links in {seconds:.1f} s "
        f"({usage.ru_utime + usage.ru_stime:.1f} s of processor), {gigabytes:.2f} GB at most "
        f"(goal {GOAL_SECONDS:.0f} s, {GOAL_GIGABYTES:.0f} GB; load {os.getloadavg()[0]:.1f})"
    )
    if options.check and (seconds > GOAL_SECONDS or gigabytes > GOAL_GIGABYTES):
        sys.exit("over the goal")


if __name__ == "__main__":
    main()
