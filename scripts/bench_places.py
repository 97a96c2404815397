"""How fast the geoparser is: MB of text a second on one core, with all stages, and where the time goes.

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/bench_places.py [--json]

Pages of 15,000 characters are cut from the news of geoparsing/lgl-even.jsonl. Every page is timed several times and
its best processor time counts, so that a busy machine spoils the figure less. Without
PERIPLUS_DATA a generated text is used.
"""

import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from periplus.places import Gazetteer, locate, open_gazetteer, scan
from periplus.places.addresses import find_addresses
from periplus.places.model_weights import default_weights
from periplus.places.recognise import Evidence, borrowed_sheet, describe, outside_of, recognise

PAGE_CHARS = 15_000
REPEATS = 7


def main() -> None:
    """Measure and print."""
    started = time.process_time()
    gazetteer = open_gazetteer()
    opened = time.process_time() - started
    pages = _pages(gazetteer)
    size = sum(len(p.encode()) for p in pages) / 1e6
    weights, outside = default_weights(), outside_of(Evidence(), gazetteer)

    def names(page: str) -> None:
        with borrowed_sheet(gazetteer) as (sheet, tables):
            describe(sheet, tables, page)

    def resolved(page: str) -> None:
        with borrowed_sheet(gazetteer) as (sheet, tables):
            recognise(sheet, tables, page, outside, weights, has_host=False)

    stages: dict[str, Callable[[str], object]] = {
        "names and their context": names,
        "recognised and resolved": resolved,
        "addresses": lambda p: find_addresses(p, gazetteer),
        "locate": lambda p: locate(p, gazetteer, candidates=False),
        "locate with candidates": lambda p: locate(p, gazetteer),
    }
    report: dict[str, float | str] = {"compiled": "yes" if scan.__file__.endswith((".so", ".pyd")) else "no"}
    report |= {"open_seconds": round(opened, 3), "pages": len(pages)}
    for name, run in stages.items():
        seconds = sum(_best(run, page) for page in pages)
        report[f"{name}: MB/s"] = round(size / seconds, 2)
        report[f"{name}: ms a page"] = round(seconds / len(pages) * 1000, 2)
    many = "Paris, London. " * 50_000
    started = time.process_time()
    locate(many, gazetteer, candidates=False)
    report["100,000 toponyms in one text: seconds"] = round(time.process_time() - started, 2)
    report["resident MB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    report["of these shared by mapping: MB"] = round(_mapped() / 1024, 1)
    if "--json" in sys.argv:
        print(json.dumps(report))
        return
    for name, value in report.items():
        print(f"{name:42} {value}")


def _mapped() -> int:
    """Kilobytes of mapped files that are in memory: other processes that map them share them."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").split("\n") if sys.platform == "linux" else []
    return next((int(line.split()[1]) for line in lines if line.startswith("RssFile:")), 0)


def _best(run: Callable[[str], object], page: str) -> float:
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        run(page)
        times.append(time.process_time() - started)
    return min(times)


def _pages(gazetteer: Gazetteer) -> list[str]:
    folder = os.environ.get("PERIPLUS_DATA")
    if folder:
        lines = (Path(folder) / "geoparsing" / "lgl-even.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
        text = "\n".join(json.loads(line)["text"] for line in lines)
    else:
        text = _generated(gazetteer)
    return [text[i : i + PAGE_CHARS] for i in range(0, len(text) - PAGE_CHARS, PAGE_CHARS)]


def _generated(gazetteer: Gazetteer) -> str:
    """News-like text: 40 names a page among plain words."""
    chance = random.Random(1)
    names = [p.name for p in gazetteer.cities_of("US")[:3000]]
    words = [
        "the",
        "council",
        "said",
        "that",
        "water",
        "levels",
        "rose",
        "after",
        "heavy",
        "rain",
        "and",
        "roads",
        "closed",
    ]
    return " ".join(chance.choice(names) if chance.random() < 0.017 else chance.choice(words) for _ in range(150_000))


if __name__ == "__main__":
    main()
