"""Saved crawls, comparisons and the tools of the search view in a real browser."""

import json
import re
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec
import pytest
import sample_collection
from command_line import miniweb, periplus
from http_client import send
from page_visits import IN_A_BROWSER, NEEDS_AXE, Visit, serious_violations
from playwright.sync_api import Browser, Page, expect
from running_server import running_server
from sample_collection import SamplePlace, build_collection, make_page

from periplus.errors import UsageError
from periplus.settings import load_job
from periplus.web.server import tile_origin

pytestmark = IN_A_BROWSER
WINDOW = {"timezone_id": "Europe/Lisbon"}

LONG = 90_000  # milliseconds: a crawl of the miniature web begins with reading the gazetteer


def comparison(folder: Path) -> Path:
    folder.mkdir(parents=True)
    course = [{"pages": 100 * n, "geo_coverage": 0.1 * n, "geo_focus": 0.5} for n in range(1, 6)]
    rows = {
        name: {"pages": 500, "geo_coverage": share, "geo_coverage_interval": 0.02, "geo_focus": share / 2,
               "progress": [point | {"geo_coverage": point["geo_coverage"] * share} for point in course]}
        for name, share in (("url", 0.61), ("anchor", 0.43), ("hash", 0.12))
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps({"about": {"pages": 500, "web": "mini"}, "strategies": rows}))
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("page")
    crawl = build_collection(root / "crawl").path
    with running_server(crawl, tasks=root / "tasks", comparisons=[comparison(root / "six-cities")]) as address:
        yield address


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    box = page.locator(".map-canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=6)
    page.mouse.up()


# -- Search tools ----------------------------------------------------------------------------------


def test_a_box_and_a_shape_are_drawn_and_shared(visit: Visit) -> None:
    page = visit.open("/?q=river&map=-96,31,5")
    page.locator(".map[data-drawn]").wait_for()
    page.get_by_role("button", name="Draw a box").click()
    expect(page.locator(".draw-hint")).to_contain_text("Drag")
    drag(page, (0.2, 0.2), (0.8, 0.8))
    expect(page).to_have_url(re.compile("bbox="))
    expect(page.locator(".chip.is-chosen")).to_have_text("in the chosen area")
    expect(page.locator(".hit .place").first).to_have_text(re.compile("Houston|Dallas|Pasadena"))
    page.locator(".map[data-drawn]").wait_for()
    page.get_by_role("button", name="Draw a shape").click()
    box = page.locator(".map-canvas").bounding_box()
    assert box is not None
    corners = [(0.1, 0.1), (0.9, 0.15), (0.85, 0.9), (0.15, 0.85)]
    for x, y in corners:
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
        page.wait_for_timeout(300)  # two clicks at once would be a double-click, which ends the shape
    page.mouse.dblclick(box["x"] + 0.12 * box["width"], box["y"] + 0.5 * box["height"])
    expect(page).to_have_url(re.compile("polygon="))
    expect(page.locator(".chip.is-chosen")).to_have_text("in the drawn shape")
    address = page.url
    page.goto(address)
    expect(page.locator(".chip.is-chosen")).to_have_text("in the drawn shape")


def test_heat_spelling_paging_and_export(visit: Visit) -> None:
    page = visit.open("/?q=river")
    page.get_by_role("button", name="Heat map").click()
    expect(page).to_have_url(re.compile("layer=heat"))
    expect(page.get_by_role("button", name="Heat map")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".as-of")).to_contain_text("as they were")
    expect(page).to_have_url(re.compile("as_of="))
    page.get_by_role("button", name="Show the newest").click()
    expect(page.locator(".hit .number").first).to_have_text("1")
    page.locator(".menu summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="GeoJSON").click()
    features = json.loads(Path(download.value.path()).read_text())["features"]
    expect(page.locator(".total")).to_contain_text(f"{len(features)} pages")
    visit.open("/?q=lobstter")
    page.locator(".did-you-mean").click()
    expect(page.locator("#q")).to_have_value("lobster")


def test_what_is_behind_a_page_and_thumbs(visit: Visit) -> None:
    page = visit.open("/?q=lobster")
    page.get_by_role("button", name="This page belongs to the topic").first.click()
    expect(page.locator(".thumb-note").first).to_contain_text("Noted")
    expect(page.locator(".thumb[aria-pressed=true]")).to_have_count(1)
    page.get_by_role("button", name="Full text").click()
    dialog = page.get_by_role("dialog", name="Full text")
    expect(dialog.locator(".evidence")).to_contain_text(re.compile("every page was kept|at least"))
    expect(dialog.locator(".page-links summary")).to_contain_text("Links of this page")


def test_two_hundred_markers_are_clustered(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = []
    for number in range(200):
        lon, lat = -120.0 + number % 20, 25.0 + number // 20
        place = SamplePlace(-500 - number, f"Town {number}", "city", "XX", "", lon, lat, 0, ("World", "T"), (6295630,))
        monkeypatch.setitem(sample_collection.PLACES, place.id, place)
        pages.append(make_page(number, places=((place.id, 0.9),)))
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    with running_server(build_collection(tmp_path / "crawl", pages, nodes=("all",)).path) as server:
        page = Visit(context.new_page(), server).open("/?q=bayou")
        expect(page.locator(".map[data-drawn]")).to_have_attribute("data-places", "200")
        expect(page.locator(".hit")).to_have_count(10)
        page.locator(".hit .number").first.click()
        expect(page.locator(".popup")).to_be_visible()
    context.close()


# -- The form --------------------------------------------------------------------------------------


def test_a_form_is_checked_as_it_is_typed_and_learns_from_samples(visit: Visit, tmp_path: Path) -> None:
    page = visit.open("/?view=tasks")
    expect(page.get_by_role("heading", name="No crawls yet")).to_be_visible()
    page.get_by_role("button", name="New crawl").first.click()
    page.get_by_label("Name", exact=True).fill("!!")
    expect(page.locator("[data-error=name]")).to_contain_text("letters and digits")
    page.get_by_label("Name", exact=True).fill("Portlands")
    expect(page.locator("[data-error=name]")).to_be_empty()
    page.get_by_label("Addresses, one a line").fill("not an address")
    expect(page.locator("[data-error=seeds]")).to_contain_text("Line 1")
    page.get_by_label("Addresses, one a line").fill("")
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("# news\nhttps://news.example/\n\nhttps://more.example/\n")
    page.get_by_label("or from a file").set_input_files(seeds)
    expect(page.get_by_label("Addresses, one a line")).to_have_value("https://news.example/\nhttps://more.example/")
    expect(page.locator("[data-error=contact]")).to_contain_text("needs a contact")
    page.get_by_label("Contact").fill("https://me.example/")
    page.get_by_label("Place", exact=True).fill("Portland")
    expect(page.locator(".offer")).to_have_count(8)
    page.locator(".offer", has_text="Oregon").click()
    expect(page.locator(".picked li")).to_have_text(re.compile("Portland,.*Oregon"))
    box = page.locator(".picker .world-canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".offer").last).to_contain_text("United States")
    text = "The flood in Houston broke the dam, and the flood covered the streets of Houston, Texas. " * 4
    files = [tmp_path / f"sample-{n}.txt" for n in range(4)]
    for file in files:
        file.write_text(text + file.stem)
    page.get_by_text("Learn from samples").click()
    page.get_by_label("Sample files").set_input_files(files)
    expect(page.locator(".learn-box")).to_contain_text("Learnt from 4 samples", timeout=LONG)
    expect(page.get_by_label("Keyword", exact=True).first).not_to_have_value("")
    page.get_by_label("Cron line", exact=True).last.fill("99 * * * *")
    expect(page.locator("[data-error=schedule]")).to_contain_text("cron")
    page.get_by_label("Cron line", exact=True).last.fill("0 3 * * 1-5")
    expect(page.locator(".field-note", has_text="Next runs")).to_be_visible()
    page.get_by_text("Limits, nodes and strategy").click()
    page.get_by_label("Strategy").select_option("classifier")
    expect(page.locator(".field-note", has_text="No model is offered here")).to_be_visible()
    expect(page.locator("[data-error=strategy]")).to_contain_text("classifier")
    page.get_by_label("Strategy").select_option("blend")
    expect(page.locator("[data-error=strategy]")).to_be_empty()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Portlands")).to_be_visible()
    expect(page.locator(".badge")).to_have_text("scheduled")
    page.get_by_label("Question").fill("dam failure")
    page.locator(".question-form button").click()
    expect(page.locator(".questions")).to_contain_text("dam failure")
    page.get_by_role("button", name="All crawls").click()
    expect(page.locator(".task-card")).to_contain_text("cron 0 3 * * 1-5")


def test_a_crawl_that_is_not_there_and_a_server_that_is_gone_are_said(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    with running_server(build_collection(tmp_path / "crawl").path, tasks=tmp_path / "tasks") as server:
        page.goto(f"{server}/?view=tasks&task=77")
        expect(page.get_by_role("alert")).to_contain_text("77")
        page.get_by_role("button", name="All crawls").click()
        expect(page.get_by_role("heading", name="No crawls yet")).to_be_visible()
        page.goto(f"{server}/?q=before:2026-02-31")
        expect(page.get_by_role("alert")).to_contain_text("not in the calendar")
        page.get_by_role("link", name="Crawls").click()
        expect(page.get_by_role("heading", name="No crawls yet")).to_be_visible()
    expect(page.locator(".tasks .notice")).to_contain_text("interrupted")
    page.locator("#q").fill("pizza")
    page.locator("#q").press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("does not answer")
    context.close()


def test_a_comparison_is_shown(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", name="Strategies compared")).to_be_visible()
    expect(page.locator(".compare table tbody tr")).to_have_count(3)
    expect(page.locator(".compare .plot")).to_have_count(2)
    expect(page.get_by_text("geo-coverage over pages")).to_be_visible()
    page.get_by_label("Measure").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Measure")).to_have_value("geo_focus")
    expect(page.locator(".compare .plot").first).to_have_attribute("aria-label", re.compile("geo-focus: url 0.305"))
    expect(page.get_by_label("Measure")).to_be_focused()
    page.reload()
    expect(page.get_by_label("Measure")).to_have_value("geo_focus")
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_role("heading", name="What this collection holds")).to_be_visible()


@NEEDS_AXE
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it_at_every_width(browser: Browser, server: str, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    views = {
        "/?view=tasks": ".tasks",
        "/?view=new": ".task-form",
        "/?view=compare": ".compare table",
        "/?q=river": ".hit",
    }
    for path, part in views.items():
        for width in (375, 1440, 2560):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(server + path)
            expect(page.locator(part).first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
        assert serious_violations(page) == []
    context.close()


# -- An online base map ----------------------------------------------------------------------------


def png() -> bytes:
    """A picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0\x80\0")) + chunk(b"IEND", b"")
    )


@contextmanager
def tile_server() -> Iterator[tuple[str, list[str]]]:
    """A server of pictures on loopback: its origin, and what it was asked for."""
    asked: list[str] = []

    class Tiles(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            picture = png()
            self.send_response(200)
            self.send_header("content-type", "image/png")
            self.send_header("content-length", str(len(picture)))
            self.end_headers()
            self.wfile.write(picture)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Tiles) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}", asked
        finally:
            listening.shutdown()
            thread.join()


def test_an_online_base_map_comes_from_its_origin_and_from_nowhere_else(browser: Browser, tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl").path
    blocked = """address => new Promise(done => {
        document.addEventListener('securitypolicyviolation', event => done(event.violatedDirective));
        new Image().src = address;
    })"""
    with tile_server() as (tiles, asked), tile_server() as (other, strange):
        with running_server(crawl, tiles=f"{tiles}/{{z}}/{{x}}/{{y}}.png") as server:
            context = browser.new_context(viewport={"width": 1000, "height": 700})
            visit = Visit(context.new_page(), server)
            with visit.page.expect_response(re.compile(re.escape(tiles))) as picture:
                page = visit.open("/")
            assert picture.value.ok
            page.locator(".map[data-drawn]").wait_for()
            assert visit.troubles == []
            assert visit.hosts == {urlsplit(server).netloc, urlsplit(tiles).netloc}
            assert page.evaluate(blocked, f"{other}/0/0/0.png") == "img-src"
            context.close()
        assert asked
        assert all(re.fullmatch(r"/\d+/\d+/\d+\.png", path) for path in asked)
        assert strange == []


@pytest.mark.parametrize(
    "wrong", ["http://tiles.example/{z}/{x}/{y}.png", "https://a.example/{z}.png", "ftp://a/{z}{x}{y}"]
)
def test_what_is_no_tile_address_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="--tiles"):
        tile_origin(wrong)


# -- A crawl from beginning to end -----------------------------------------------------------------


def check_live_view(browser: Browser, address: str) -> None:
    """Everybody can use the live view, and the question before a crawl is removed."""
    for scheme, width in (("light", 1440), ("dark", 375)):
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]  # one of two words
            bypass_csp=True,
            viewport={"width": width, "height": 900},
        )
        page = context.new_page()
        page.goto(address)
        expect(page.locator(".badge")).to_have_text("paused")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_violations(page) == []
        page.get_by_role("button", name="Remove").first.click()
        dialog = page.get_by_role("dialog", name="Remove")
        expect(dialog).to_be_visible()
        assert serious_violations(page) == []
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_be_hidden()
        context.close()


@pytest.mark.parametrize("torn_by", ["AbortError", "NetworkError"])
def test_an_answer_that_breaks_off_is_no_answer(visit: Visit, torn_by: str) -> None:
    """Given up by the page itself, since something else was typed: not a word. Torn otherwise: that is said."""
    visit.page.add_init_script(f"""
        const whole = window.fetch;
        let checks = 0;
        window.fetch = (address, options) => {{
          if (!String(address).endsWith("tasks/check")) return whole(address, options);
          console.log("check");
          if (checks++) return whole(address, options);
          const torn = new ReadableStream({{ start: (body) => body.error(new DOMException("", "{torn_by}")) }});
          return Promise.resolve(new Response(torn));
        }};
    """)
    page, status = visit.open("/?view=new"), visit.page.locator(".form-status")
    with page.expect_console_message(lambda message: message.text == "check"):
        page.get_by_label("Name", exact=True).fill("Mini")
    expect(status).to_contain_text("does not answer" if torn_by == "NetworkError" else "")
    with page.expect_console_message(lambda message: message.text == "check"):
        page.get_by_label("Addresses, one a line").fill("https://example.org/")
    expect(status).not_to_contain_text("does not answer")


def test_a_scheduled_crawl_says_that_its_last_run_failed(browser: Browser, tmp_path: Path) -> None:
    with running_server(None, tasks=tmp_path / "tasks", serve_tasks=True) as server:
        form = {"name": "Nobody there", "seeds": ["http://127.0.0.1:9/"], "keep": "all", "schedule": "every 12 hours"}
        task = send(server, "/api/tasks", form).json
        send(server, f"/api/tasks/{task['id']}/wish", {"wish": "start"})
        page = Visit(browser.new_page(), server).open("/?view=tasks")
        expect(page.locator(".task-trouble")).to_contain_text("The last run failed: seeds", timeout=LONG)
        expect(page.locator(".badge")).to_have_text("scheduled")
        listed = periplus("tasks", "list", "--tasks", tmp_path / "tasks").out
        assert "scheduled, last run failed" in listed
        page.close()


class AskedLess(BaseHTTPRequestHandler):
    """One page, and "too many requests" for all others."""

    def do_GET(self) -> None:
        page = b"<title>Home</title><p>A page.</p><a href='/next'>next</a>"
        status = {"/": 200, "/robots.txt": 404}.get(self.path, 429)
        self.send_response(status)
        self.send_header("Retry-After", "600")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_args: object) -> None:
        """Nothing: the test reads no log."""


def test_a_crawl_that_waits_says_for_whom(browser: Browser, tmp_path: Path) -> None:
    defaults = {"crawl": {"allow_private": ["127.0.0.0/8"], "delay_seconds": 0.0}}
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), AskedLess) as web,
        running_server(None, tasks=tmp_path / "tasks", defaults=defaults, serve_tasks=True) as server,
    ):
        threading.Thread(target=web.serve_forever, daemon=True).start()
        form = {"name": "Patient", "seeds": [f"http://127.0.0.1:{web.server_address[1]}/"], "keep": "all"}
        task = send(server, "/api/tasks", form).json
        send(server, f"/api/tasks/{task['id']}/wish", {"wish": "start"})
        page = Visit(browser.new_page(), server).open(f"/?view=tasks&task={task['id']}")
        expect(page.locator(".live")).to_contain_text(re.compile(r"Waits 0:0\d:\d\d for 127\.0\.0\.1"), timeout=LONG)
        page.close()
        send(server, f"/api/tasks/{task['id']}/wish", {"wish": "stop"})
        web.shutdown()


def test_a_new_task_runs_on_the_miniature_web(browser: Browser, tmp_path: Path) -> None:
    with miniweb(tmp_path, "--hosts", 60, "--pages", 400) as web:
        job = load_job(web.job)
        defaults = msgspec.to_builtins(job)
        context = browser.new_context(viewport={"width": 1440, "height": 1000})
        with running_server(None, tasks=tmp_path / "tasks", defaults=defaults, serve_tasks=True) as server:
            visit = Visit(context.new_page(), server)
            page = visit.page
            page.goto(f"{server}/?view=new")
            page.get_by_label("Name", exact=True).fill("Mini")
            page.get_by_label("Addresses, one a line").fill("\n".join(job.seeds))
            page.get_by_text("Limits, nodes and strategy").click()
            page.get_by_label("Keep").select_option("all")
            page.get_by_label("Pages a run").fill("300")
            page.get_by_label("Seconds between requests").fill("0.4")
            for name, places in (("texas", "Houston, TX; Dallas, TX"), ("rest", "")):
                page.get_by_role("button", name="Add a node").click()
                page.locator(".node-row").last.locator("[data-node=name]").fill(name)
                page.locator(".node-row").last.locator("[data-node=places]").fill(places)
            expect(page.locator(".form-status")).to_have_text("Everything is fine.")
            page.get_by_role("button", name="Save and start").click()
            badge = page.locator(".badge")
            expect(badge).to_have_text("running", timeout=LONG)
            bar = page.locator(".task-bar")
            expect(bar).not_to_have_js_property("value", 0, timeout=LONG)
            page.get_by_role("button", name="Pause: Mini").click()
            expect(badge).to_have_text("paused", timeout=LONG)
            expect(page.locator(".log")).to_contain_text("started")
            check_live_view(browser, page.url)
            page.get_by_role("button", name="Resume: Mini").click()
            expect(badge).to_have_text(re.compile("limit reached|done"), timeout=LONG)
            expect(page.locator(".live .plain tbody tr", has_text=re.compile("limit|empty")).first).to_be_visible()
            expect(page.locator(".panel", has_text="Nodes").locator("tbody th", has_text="texas").first).to_be_visible()
            page.get_by_role("button", name="Show the pages").click()
            expect(page.locator(".figures")).to_contain_text(re.compile("[1-9]"), timeout=LONG)
            page.locator("#q").fill("restaurant")
            page.locator("#q").press("Enter")
            expect(page.locator(".hit").first).to_be_visible(timeout=LONG)
            assert visit.troubles == []
        context.close()
