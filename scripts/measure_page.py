"""How fast the web page is: its first paint, and its frames while a map with 1,000 markers is dragged and zoomed.

Prints JSON; `--docs docs/web.md` writes it there as a table. Frames are read from a trace of Chromium: the longest
task of the page's main thread that draws one, and the time between two, for each view the median and the worst of
several runs. First paints are of a browser that has never seen the page. It measures; it decides nothing.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from bisect import bisect_left
from itertools import pairwise
from pathlib import Path
from typing import Any

from doc_tables import put_between
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import sample_collection  # noqa: E402  # the path is set above
from running_server import running_server  # noqa: E402

BEGIN = "measure-begins"
CATEGORIES = ["toplevel", "blink.user_timing", "devtools.timeline", "disabled-by-default-devtools.timeline"]
MARKERS = 1_000
WINDOW: ViewportSize = {"width": 1440, "height": 900}
VIEWS = {"overview": "/", "heat": "/?layer=heat", "results": "/?q=story"}
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu"]
LONG_FRAME_MS = 50


def collection(root: Path) -> Path:
    """A crawl whose pages are about 1,000 places all over the world."""
    pages = []
    for number in range(MARKERS):
        lon, lat = -170 + (number * 37) % 340, -55 + (number * 17) % 120
        place = sample_collection.SamplePlace(
            -1000 - number, f"Place {number}", "city", "XX", "", lon, lat, 0, ("World", f"Place {number}"), (6295630,)
        )
        sample_collection.PLACES[place.id] = place
        pages.append(sample_collection.make_page(number, places=((place.id, 0.9),)))
    return sample_collection.build_collection(root / "crawl", pages, nodes=("main",)).path


def first_paint(browser: Browser, address: str) -> float:
    """Milliseconds until the page shows something to somebody who has never seen it."""
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    entries = page.evaluate("performance.getEntriesByType('paint').map(one => [one.name, one.startTime])")
    context.close()
    return float(dict(entries)["first-contentful-paint"])


def middle(page: Page) -> tuple[float, float]:
    """The middle of the map; asked for before the trace begins, since the asking is work of the page's thread, too."""
    box = page.locator(".map-canvas").bounding_box()
    if box is None:
        raise SystemExit("measure_page: there is no map")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, x: float, y: float) -> None:
    """Move and zoom the map as a person does."""
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(x + step * 4, y + step)
    page.mouse.up()
    for _ in range(6):
        page.mouse.wheel(0, -120)
        page.wait_for_timeout(60)
    page.wait_for_timeout(400)


def frames(trace: bytes) -> dict[str, float]:
    """From a trace: tasks of the main thread that draw a frame, and gaps between frames, in milliseconds.

    `longest_frame_ms` is the time on the clock, waiting for a busy machine included; `…_processor_ms` what it took.
    """
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    main = {
        (e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name" and e["args"]["name"] == "CrRendererMain"
    }
    began = next(e["ts"] for e in events if e["name"] == BEGIN)
    inside = [e for e in events if (e["pid"], e["tid"]) in main and e["ts"] > began]
    drawn = sorted((e["ts"], e.get("dur", 0)) for e in inside if e["name"] == "FireAnimationFrame")
    starts = [start for start, _ in drawn]
    tasks = [e for e in inside if e["name"].endswith("RunTask") and e.get("ph") == "X" and _holds(e, starts)]
    gaps = sorted((after - before) / 1000 for before, after in pairwise(starts) if after - before < 500_000)
    return {
        "frames": len(starts),
        "frame_work_median_ms": _ms(statistics.median(work for _, work in drawn)) if drawn else 0.0,
        "frame_work_longest_ms": _ms(max((work for _, work in drawn), default=0)),
        "longest_frame_ms": _ms(max((e["dur"] for e in tasks), default=0)),
        "longest_frame_processor_ms": _ms(max((e.get("tdur", 0) for e in tasks), default=0)),
        "long_frames": sum(e["dur"] > 1000 * LONG_FRAME_MS for e in tasks),
        "long_frames_by_processor": sum(e.get("tdur", 0) > 1000 * LONG_FRAME_MS for e in tasks),
        "frame_gap_p95_ms": round(gaps[int(0.95 * (len(gaps) - 1))], 1) if gaps else 0.0,
    }


def _ms(microseconds: float) -> float:
    return round(microseconds / 1000, 1)


def _holds(task: dict[str, Any], starts: list[float]) -> bool:
    """Whether a frame was drawn in this task."""
    at = bisect_left(starts, task["ts"])
    return at < len(starts) and starts[at] <= task["ts"] + task["dur"]


def traced(browser: Browser, page: Page, address: str) -> dict[str, float]:
    """The frames of one view while its map is moved."""
    page.goto(address, wait_until="networkidle")
    page.locator(".map[data-drawn]").wait_for()
    x, y = middle(page)
    browser.start_tracing(page=page, categories=CATEGORIES)
    page.mouse.move(x - 9, y)  # the first event of a trace pays for the tracing
    page.wait_for_timeout(300)
    page.evaluate(f"performance.mark('{BEGIN}')")
    drag(page, x, y)
    return frames(browser.stop_tracing())


def summary(runs: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Median and worst of every figure."""
    return {
        key: {"median": round(statistics.median(run[key] for run in runs), 1), "worst": max(run[key] for run in runs)}
        for key in runs[0]
    }


def table(found: dict[str, Any]) -> str:
    """The figures for the docs."""
    lines = [
        "| view | frames a run | frame, median ms | longest frame, ms of processor: median, worst run "
        "| longest frame, ms on the clock: median, worst run | frames over 50 ms in the worst run: processor, clock |",
        "|---|---|---|---|---|---|",
    ]
    for view in VIEWS:
        row = found[view]
        processor, clock = row["longest_frame_processor_ms"], row["longest_frame_ms"]
        over = f"{row['long_frames_by_processor']['worst']:.0f}, {row['long_frames']['worst']:.0f}"
        lines.append(
            f"| {view} | {row['frames']['median']:.0f} | {row['frame_work_median_ms']['median']} "
            f"| {processor['median']}, {processor['worst']} | {clock['median']}, {clock['worst']} | {over} |"
        )
    paints = sorted(found["first_paint_ms"])
    lines.append(
        f"\nFirst paint in a new browser: {paints[0]} to {paints[-1]} ms, in the middle {paints[len(paints) // 2]}. "
        f"{found['runs']} runs a view, load of the machine {found['load'][0]} before and {found['load'][1]} after, "
        f"{os.cpu_count()} cores, Chromium {found['chromium']} without a graphics card.\n"
    )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="how often each view is measured")
    parser.add_argument("--docs", type=Path, help="page between whose measure_page marks the figures are written")
    options = parser.parse_args()
    load = [round(os.getloadavg()[0], 1)]
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(collection(Path(folder))) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        paints = [first_paint(browser, address) for _ in range(5)]
        page = browser.new_page(viewport=WINDOW)
        chromium = browser.version
        views = {
            name: summary([traced(browser, page, address + query) for _ in range(options.runs)])
            for name, query in VIEWS.items()
        }
        browser.close()
    load.append(round(os.getloadavg()[0], 1))
    about = {"markers": MARKERS, "load": load, "runs": options.runs, "chromium": chromium}
    found = about | {"first_paint_ms": [round(one) for one in paints]} | views
    print(json.dumps(found))
    if options.docs:
        put_between(options.docs, "measure_page", table(found).rstrip("\n"))


if __name__ == "__main__":
    main()
