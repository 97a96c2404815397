"""How fast the web page is: its first paint, and its frames while a map with 1,000 markers is dragged and zoomed.

Prints JSON. Frames are read from a trace of Chromium: the longest task of the page's main thread, and the time between
two frames. It measures; it decides nothing.
"""

import json
import shutil
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import sample_collection  # noqa: E402  # the path is set above
from running_server import running_server  # noqa: E402

MARKERS = 1_000
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu"]


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


def first_paint(page: Page, address: str) -> float:
    """Milliseconds until the page shows something."""
    page.goto(address, wait_until="networkidle")
    entries = page.evaluate("performance.getEntriesByType('paint').map(one => [one.name, one.startTime])")
    return float(dict(entries)["first-contentful-paint"])


def drag(page: Page) -> None:
    """Move and zoom the map as a person does."""
    box = page.locator(".map-canvas").bounding_box()
    if box is None:
        raise SystemExit("measure_page: there is no map")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
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
    """From a trace: tasks of the main thread and gaps between frames, in milliseconds."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    main = {
        (e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name" and e["args"]["name"] == "CrRendererMain"
    }
    inside = [e for e in events if (e["pid"], e["tid"]) in main]
    tasks = sorted(e["dur"] / 1000 for e in inside if e["name"].endswith("RunTask") and e.get("ph") == "X")
    starts = sorted(e["ts"] / 1000 for e in inside if e["name"] == "FireAnimationFrame")
    drawn = sorted(e["dur"] / 1000 for e in inside if e["name"] == "FireAnimationFrame" and "dur" in e)
    gaps = sorted(after - before for before, after in pairwise(starts) if after - before < 500)
    return {
        "frames": len(starts),
        "frame_work_median_ms": round(statistics.median(drawn), 1) if drawn else 0.0,
        "frame_work_longest_ms": round(drawn[-1], 1) if drawn else 0.0,
        "longest_task_ms": round(tasks[-1], 1) if tasks else 0.0,
        "longest_task_processor_ms": round(max((e.get("tdur", 0) for e in inside), default=0) / 1000, 1),
        "frame_gap_p95_ms": round(gaps[int(0.95 * (len(gaps) - 1))], 1) if gaps else 0.0,
    }


def main() -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(collection(Path(folder))) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        paints = [first_paint(page, address) for _ in range(5)]
        page.locator(".map[data-drawn]").wait_for()
        browser.start_tracing(
            page=page, categories=["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
        )
        drag(page)
        found = frames(browser.stop_tracing())
        browser.close()
    print(json.dumps({"markers": MARKERS, "first_paint_ms": [round(one) for one in paints]} | found))


if __name__ == "__main__":
    main()
