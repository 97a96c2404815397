"""What the map and the time line of the web page draw."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_visits import IN_A_BROWSER, Visit
from playwright.sync_api import Browser, Page, expect
from running_server import running_server
from sample_collection import build_collection, make_page

pytestmark = IN_A_BROWSER

BOXES = "bars => bars.map((bar) => ({ x: bar.getBoundingClientRect().x }))"

LINE = """kilometres => {
    // Of the points at that distance from the middle of the map, in 360 directions, those that have the area's colour.
    const box = document.querySelector('.map-canvas').getBoundingClientRect();
    const canvas = [...document.querySelectorAll('.map-canvas .ol-layer canvas')].find((one) => one.getContext('2d'));
    const sharp = canvas.width / box.width;
    const [, lat, zoom] = new URLSearchParams(location.search).get('map').split(',').map(Number);
    const metres = (156543.034 * Math.cos(lat * Math.PI / 180)) / 2 ** zoom;
    const isDrawn = (x, y) => {
        const [at, down] = [Math.round(x * sharp), Math.round(y * sharp)];
        const [red, green, , shade] = canvas.getContext('2d').getImageData(at, down, 1, 1).data;
        return shade > 120 && red > 150 && green < 110;
    };
    return [...Array(360).keys()].filter((degree) => [-2, -1, 0, 1, 2].some((wide) => {
        const reach = (kilometres * 1000) / metres + wide;
        const turn = degree * Math.PI / 180;
        return isDrawn(box.width / 2 + reach * Math.sin(turn), box.height / 2 - reach * Math.cos(turn));
    }));
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(build_collection(tmp_path_factory.mktemp("page") / "crawl").path) as address:
        yield address


def directions(page: Page, kilometres: float) -> list[int]:
    """Degrees from the middle of the map at which the edge of the area is drawn so far away; it is a dashed line."""
    page.locator(".map[data-drawn]").wait_for()
    found: list[int] = page.evaluate(LINE, kilometres)
    return found


def test_a_circle_that_was_asked_for_is_drawn(visit: Visit) -> None:
    around = directions(visit.open("/?q=river+within+200+km+of+Houston&map=-95.3633,29.7633,7"), 200)
    assert len(around) > 120
    assert {degree // 45 for degree in around} == set(range(8))
    assert directions(visit.page, 150) == []
    north = directions(visit.open("/?q=rodeo+north+of+Houston&map=-95.3633,29.7633,8"), 100)
    assert len(north) > 30
    assert all(degree <= 47 or degree >= 313 for degree in north)
    assert directions(visit.open("/?q=river+in+Houston&map=-95.3633,29.7633,7"), 200) == []


def test_the_map_shows_all_of_a_circle(visit: Visit) -> None:
    page = visit.open("/?q=river+within+1+km+of+Houston")
    page.locator(".map[data-drawn]").wait_for()
    page.locator(".map-canvas").focus()
    page.keyboard.press("ArrowRight")  # the place of the map stands in the address once somebody has moved it
    expect(page).to_have_url(re.compile(r"map=.*%2C1[123]\.\d+$"))


def test_circles_at_the_edges_of_the_map_do_no_harm(visit: Visit) -> None:
    for near in ("89,0,900", "-16.8,179.9,300", "-80,10,3000", "0,0,20000"):
        page = visit.open(f"/?q=river&near={near}")
        page.locator(".map[data-drawn]").wait_for()


def test_the_time_line_is_as_long_as_the_time(browser: Browser, tmp_path: Path) -> None:
    """Six centuries with pages in four years: a server sends no empty months then, and yet they take their room."""
    years = ("1500-06-01", "1800-06-01", "1801-06-01", "2100-06-01")
    pages = [make_page(n, url=f"http://c.example/{n}", published=day) for n, day in enumerate(years)]
    with running_server(build_collection(tmp_path / "crawl", pages).path) as address:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for every, count in (("", 4), ("&every=month", 4), ("&every=day", 4)):
            page.goto(f"{address}/?q=bayou{every}")
            bars = page.locator(".trend .bar")
            expect(bars).to_have_count(count)
            first, second, _, last = (bar["x"] for bar in bars.evaluate_all(BOXES))
            assert (second - first) / (last - first) == pytest.approx(0.5, abs=0.01), every
        chart = page.locator(".trend-chart svg")
        chart.hover(position={"x": second - chart.evaluate("one => one.getBoundingClientRect().left") + 2, "y": 40})
        expect(page.locator(".trend-note")).to_have_text("Jun 1, 1800: 1 page")
        page.mouse.down()
        page.mouse.up()
        expect(page).to_have_url(re.compile("since=1800-06-01&until=1800-06-01"))
        page.close()
