"""`make screenshots`: pictures of the web page with the demo's collection, for the README and the docs.

Those of a crawl that runs come last, since its pages join the collection, and the crawl is made to outlast them: more
pages than are needed, and slowly. With names of pictures behind it (`scripts/screenshots.py compare page`) only these.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
CRAWL = ROOT / "demo-crawl" / "crawl"
PERIPLUS = str(Path(sys.executable).parent / "periplus")
WIDE, PHONE = (1440, 900), (375, 812)
SHOTS = {
    "map": ("/", WIDE, "light"),
    "search": ("/?q=restaurant+in+Portland", WIDE, "light"),
    "search-dark": ("/?q=restaurant+in+Portland", WIDE, "dark"),
    "search-phone": ("/?q=restaurant+in+Portland", PHONE, "light"),
    "statistics": ("/?q=restaurant&view=statistics", WIDE, "light"),
    "heat": ("/?layer=heat&q=restaurant", WIDE, "light"),
    "page": ("/?q=restaurant&page=PAGE", WIDE, "light"),
    "new-crawl": ("/?view=new", WIDE, "light"),
    "compare": ("/?view=compare", WIDE, "light"),
    "live": ("/?view=tasks&task=1", WIDE, "light"),
    "live-phone": ("/?view=tasks&task=1", PHONE, "dark"),
    "crawls": ("/?view=tasks", WIDE, "light"),
}
"""Picture: the address it shows, the window, light or dark."""

OF_THE_CRAWL = ("live", "live-phone", "crawls")
WEB = ["--pages", "12000", "--port", "0"]
DELAY_SECONDS = 2.0
PAGES = 9_000

BUSY = re.compile(r"^(1,[5-9]|[2-9],|\d\d,)\d+")
"""More than 1,500 pages: then nodes have something to send each other."""

MOST_TRIES = 8
STRATEGIES = "blend,url,anchor,content,hash"

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def begun(*arguments: str, until: str) -> tuple[subprocess.Popen[str], str]:
    """A command in the background, and the line in which it says the word."""
    process = subprocess.Popen([PERIPLUS, *arguments], stdout=subprocess.PIPE, text=True)
    for line in process.stdout or ():
        if until in line:
            return process, line
    raise SystemExit(f"screenshots: `periplus {arguments[0]}` did not start")


def call(address: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Ask the API or, with a body, write through it, as a program does."""
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    data = None if body is None else json.dumps(body).encode()
    connection.request("GET" if data is None else "POST", path, data, {"Content-Type": "application/json"})
    try:
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def compared() -> Path:
    """A comparison of strategies on what the demo has crawled; made once."""
    folder = CRAWL.parent / "compared"
    if not (folder / "results.json").is_file():
        command = [PERIPLUS, "compare", str(CRAWL), "--strategies", STRATEGIES, "--pages", "600", "--out", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The demo's collection with two saved crawls, of which the first can run, and a comparison."""
    comparison = compared()
    job = folder / "job.toml"
    web, _ = begun("miniweb", "serve", *WEB, "--job", str(job), until="Ctrl-C")
    server, line = begun(
        "serve", str(CRAWL), "--port", "0", "--tasks", str(folder / "tasks"), "--task-defaults", str(job),
        "--compare", str(comparison), until="http://",
    )  # fmt: skip
    try:
        address = next(word for word in line.split() if word.startswith("http://")).rstrip("/")
        seeds = [line.strip(' ",') for line in job.read_text().splitlines() if line.strip().startswith('"http')]
        nodes = {"texas": ["Houston, TX", "Dallas, TX"], "pacific": ["Portland, OR", "Los Angeles, CA"],
                 "east": ["New York, NY", "Boston, MA"], "rest": []}  # fmt: skip
        plan: dict[str, Any] = {"name": "Restaurants of three coasts", "seeds": seeds, "keep": "all", "pages": PAGES}
        plan |= {"nodes": nodes, "delay_seconds": DELAY_SECONDS, "keywords": {"restaurant": 1, "menu": 0.6}}
        call(address, "/api/tasks", plan | {"schedule": "every 12 hours"})
        floods = {"name": "Floods around Sylhet", "places": {"Sylhet": 1}, "contact": "https://example.org/us"}
        words = {"keywords": {"flood": 1, "dam": 0.6}, "schedule": "daily at 03:30", "zone": "Asia/Dhaka"}
        call(address, "/api/tasks", {"seeds": ["https://news.example/"]} | floods | words)
        yield address
    finally:
        for process in (server, web):
            process.terminate()
            process.wait()


def prepared(page: Page, name: str) -> None:
    """What a person does before the picture is worth taking."""
    if name == "new-crawl":
        page.get_by_label("Name", exact=True).fill("Floods around Sylhet")
        page.get_by_label("Keyword", exact=True).fill("flood")
        page.get_by_label("Place", exact=True).fill("Sylhet")
        page.locator(".offer").first.click()
        page.get_by_label("Place", exact=True).fill("Portland")
        page.locator(".offer").nth(3).wait_for()
    if name == "crawls":
        expect(page.locator(".task-card .badge.is-running")).to_be_visible(timeout=60_000)
    if name.startswith("live"):
        page.locator(".live .figures dd").first.wait_for(timeout=60_000)
        expect(page.locator(".live .figures dd").first).to_have_text(BUSY, timeout=300_000)
        page.locator(".log li strong").first.wait_for(timeout=60_000)
        page.locator(".live .plain tbody tr").first.wait_for(timeout=60_000)
    if name == "page":
        page.locator(".evidence-topic").first.wait_for(timeout=60_000)


def photograph(browser: Browser, address: str) -> None:
    """All pictures."""
    for name, (path, (width, height), scheme) in SHOTS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = context.new_page()
        if name in OF_THE_CRAWL and call(address, "/api/tasks/1")["latest"] is None:
            call(address, "/api/tasks/1/wish", {"wish": "start"})
        if "PAGE" in path:
            hit = call(address, "/api/search?q=restaurant")["hits"][0]
            path = path.replace("PAGE", f"{hit['node']}/{hit['page']}")  # noqa: PLW2901  # the first hit
        page.goto(address + path)
        page.locator("main:visible > *").first.wait_for()
        prepared(page, name)
        if page.locator(".picture").count():
            page.locator("html[data-map=whole]").wait_for(timeout=120_000)
        if name in OF_THE_CRAWL and call(address, "/api/tasks/1")["state"] != "running":
            sys.exit(f"screenshots: the crawl ended before {name!r}; make it longer (PAGES, DELAY_SECONDS)")
        (IMAGES / f"{name}.png").write_bytes(still(page))
        context.close()


def still(page: Page) -> bytes:
    """A picture in which nothing moves any more; of a crawl that runs, one of the last."""
    last = page.screenshot()
    for _ in range(MOST_TRIES):
        now = page.screenshot()
        if now == last:
            break
        last = now
    return last


def main() -> None:
    """Serve the demo's collection on a free port and photograph it."""
    if not CRAWL.is_dir():
        sys.exit("screenshots: run `DEMO_SERVE=0 make demo` first")
    IMAGES.mkdir(parents=True, exist_ok=True)
    scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # the crawl may still be ending
    with scratch as folder, served(Path(folder)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        photograph(browser, address)
        browser.close()


if __name__ == "__main__":
    main()
