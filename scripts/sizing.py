"""How much a crawl takes, from what was measured; writes the table into docs/operations.md.

    python scripts/sizing.py [--urls 1e6] [--only frontier | index | tables] [--docs docs/operations.md]

Measured here: what a known URL costs in memory and on the disk, how long taking up a frontier takes
(`bench_frontier.py`), and how large an index is beside the text of its pages (`bench_search.py`). Read from the tables
that other commands have written: the last `make soak` and `make bench`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from bench_search import generated, index_rate, vocabulary, write_crawl
from doc_tables import between, put_between

from periplus.places import open_gazetteer

ROOT = Path(__file__).resolve().parent.parent


def soak_figures(page: Path) -> dict[str, str]:
    """The rows of the last soak."""
    return dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", between(page, "soak"), re.MULTILINE))


def engine_figures(page: str) -> dict[str, str]:
    """The row of Periplus in the last comparison of crawlers."""
    head = re.search(r"^\| (crawler \|.*) \|$", page, re.MULTILINE)
    row = re.search(r"^\| (Periplus \|.*) \|$", page, re.MULTILINE)
    if head is None or row is None:
        raise SystemExit("docs/performance.md has no table of bench_engine.py")
    return dict(zip(head[1].split(" | "), row[1].split(" | "), strict=False))


def frontier_figures(urls: float) -> dict[str, float]:
    """What a further known URL costs, measured now: between a fourth of so many and all of them."""
    sizes = f"{urls / 4},{urls}"
    command = [sys.executable, str(ROOT / "scripts" / "bench_frontier.py"), "--sizes", sizes, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    few, many = json.loads(done.stdout)["sizes"]
    further: dict[str, float] = dict(many)
    for name in ("memory_bytes_per_url", "disk_bytes_per_url"):
        grown = many[name] * many["urls"] - few[name] * few["urls"]
        further[name] = round(grown / (many["urls"] - few["urls"]), 1)
    return further


def index_ratio(pages: int, size: int) -> float:
    """How many times the text of so many pages, of so many bytes each, their index takes."""
    words = vocabulary(np.random.default_rng(1))
    towns = sorted(open_gazetteer().cities_of("US"), key=lambda town: (-town.population, town.id))[:500]
    with tempfile.TemporaryDirectory(prefix="periplus-sizing-") as name:
        crawl, text_bytes = write_crawl(generated(pages, size, words, towns), Path(name))
        _, index_bytes = index_rate(crawl)
    return index_bytes / text_bytes


def measured(urls: float, only: str) -> dict[str, tuple[str, str]]:
    """What was measured, and by which command: all of it, or the rows of one part."""
    soak = soak_figures(ROOT / "docs" / "operations.md")
    engine = engine_figures((ROOT / "docs" / "performance.md").read_text("utf-8"))
    memory = soak.get("memory mb in its third and last quarter", "?, ?").rpartition(", ")[2]
    rows = {
        f"memory of the crawl itself, with {soak.get('urls known', '?')} known URLs": (f"{memory} MB", "make soak"),
        "memory with two workers, gazetteer included": (f"{engine['memory MB']} MB", "make bench"),
    }
    if only in ("", "frontier"):
        url = frontier_figures(urls)
        rows |= {
            "memory of a further known URL": (f"{url['memory_bytes_per_url']:g} bytes", _here()),
            "disk of a further known URL": (f"{url['disk_bytes_per_url']:g} bytes", _here()),
            "taking up a frontier of a million known URLs": (f"{url['resume_seconds_per_million']:g} s", _here()),
        }
    if only in ("", "index"):
        rows |= {
            "index of pages of 15 KB of text": (f"{index_ratio(4_000, 15_000):.2f} × the text", _here()),
            "index of pages of 500 bytes of text": (f"{index_ratio(40_000, 500):.2f} × the text", _here()),
        }
    return rows | {
        "processor time of a page of 49 KB, everything on": (f"{engine['CPU ms/page']} ms", "make bench"),
        "pages a second on two cores": (engine["pages/s"], "make bench"),
        "sockets at most, and their bound": (soak.get("sockets at most and bound", "?"), "make soak"),
        "other open files at most, and their bound": (soak.get("files at most and bound", "?"), "make soak"),
    }


def _here() -> str:
    return f"make sizing, {datetime.now(UTC):%Y-%m-%d}, load {os.getloadavg()[0]:.0f}"


def _key(name: str) -> str:
    return name.partition(",")[0]


def table(urls: float, only: str, page: Path) -> str:
    """The table; rows of parts that are not measured now stay as they are in the page."""
    found = measured(urls, only)
    # One row has a number in its name, so what stands before a comma is what tells rows apart.
    lines = {_key(name): f"| {name} | {value} | `{source}` |" for name, (value, source) in found.items()}
    if only:
        rows = (line for line in between(page, "sizing").splitlines() if line.endswith("` |"))
        lines = {_key(row[2:].partition(" | ")[0]): row for row in rows} | lines
    return "\n".join(["| what | how much | measured by |", "|---|---|---|", *lines.values()])


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--urls", type=float, default=1e6)
    parser.add_argument("--docs", type=Path)
    parser.add_argument(
        "--only", choices=("", "frontier", "index", "tables"), default="", help="measure no other part anew"
    )
    given = parser.parse_args()
    text = table(given.urls, given.only, given.docs or ROOT / "docs" / "operations.md")
    if given.docs:
        put_between(given.docs, "sizing", text)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
