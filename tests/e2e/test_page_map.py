"""What the map and the time line of the web page draw."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from page_visits import IN_A_BROWSER, Visit
from playwright.sync_api import Browser, FloatRect, Page, expect
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


NUMBERS_IN_VIEW = """numbers => {
    const pins = [...document.querySelectorAll('.marker-stop[data-key^=pin]')];
    return pins.flatMap((one) => one.ariaLabel.match(/[0-9]+(?=[,:])/g)).length === numbers;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(build_collection(tmp_path_factory.mktemp("page") / "crawl").path) as address:
        yield address


def parameter(page: Page, name: str) -> str:
    """A part of the page's address."""
    return parse_qs(urlsplit(page.url).query)[name][0]


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


# -- What is chosen on the map -----------------------------------------------------------------------


def map_box(page: Page) -> FloatRect:
    """Where the map is."""
    box = page.locator(".map-canvas").bounding_box()
    assert box is not None
    return box


def draw_shape(page: Page, corners: list[tuple[float, float]]) -> None:
    """Draw a shape by its corners in the window."""
    page.get_by_role("button", name="Draw a shape").click()
    for corner in corners[:-1]:
        page.mouse.click(*corner)
        page.wait_for_timeout(300)  # two clicks at once would be a double-click, which ends the shape
    page.mouse.dblclick(*corners[-1])
    page.wait_for_url(re.compile("polygon="))


def test_a_shape_is_drawn_across_the_date_line(visit: Visit) -> None:
    page = visit.open("/?q=reef+OR+taveuni&map=179.2,-17.5,6")
    page.locator(".map[data-drawn]").wait_for()
    box = map_box(page)
    corners = [(0.1, 0.1), (0.8, 0.15), (0.75, 0.9), (0.15, 0.85), (0.12, 0.5)]
    draw_shape(page, [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners])
    longitudes = [float(corner.split(",")[0]) for corner in parameter(page, "polygon").split(";")]
    assert max(longitudes) > 180 > min(longitudes) > 170
    expect(page.locator(".chip.is-chosen")).to_have_text("in the drawn shape")
    expect(page.locator(".hit")).to_have_count(2)


def test_a_shape_that_is_half_the_world_wide_takes_in_its_own_side(visit: Visit) -> None:
    """From Mexico over Europe to China: its edges are longer than the way around the other side."""
    page = visit.open("/?q=reef+OR+lobster+OR+rodeo&map=0,20,1.3")
    page.locator(".map[data-drawn]").wait_for()
    box = map_box(page)
    degree = 256 * 2**1.3 / 360  # pixels
    across = min(105.0, box["width"] / 2 / degree - 5)
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    corners = [(-across, -110), (across, -110), (across, 60), (-across, 60)]
    draw_shape(page, [(middle[0] + x * degree, middle[1] + y) for x, y in corners])
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".main")).to_contain_text("Dallas")
    expect(page.locator(".main")).not_to_contain_text("Reef walks near Suva")


def test_zooming_by_the_buttons_offers_to_search_the_area(visit: Visit) -> None:
    page = visit.open("/?q=river")
    page.locator(".map[data-drawn]").wait_for()
    expect(page.get_by_role("button", name="Search this area")).to_be_hidden()
    page.get_by_role("button", name="Zoom in").click()
    expect(page.get_by_role("button", name="Search this area")).to_be_visible()
    expect(page).to_have_url(re.compile("map="))


def test_markers_stay_in_view_when_the_map_gets_smaller(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1000, "height": 800})
    page = visit.open("/?q=rodeo+OR+reef+OR+lobster")
    page.locator(".map[data-drawn]").wait_for()
    pins = page.locator('.marker-stop[data-key^="pin"]')
    expect(pins.first).to_be_attached()
    numbers = page.locator(".hit button.number").count()
    page.get_by_role("button", name="Narrow").click()
    expect(page.locator(".side")).to_be_visible()
    page.wait_for_function(NUMBERS_IN_VIEW, arg=numbers)


def test_places_of_a_question_are_chips_that_can_be_taken_back(visit: Visit) -> None:
    page = visit.open("/?q=river+between+Houston+and+Dallas+not+in+Mobile+since+2020")
    chips = page.locator(".chips")
    for text in ("Houston, Texas", "Dallas, Texas", "Mobile, Alabama", "Jan 1, 2020"):
        expect(chips.locator(".chip.is-chosen", has_text=text)).to_be_visible()
    for name, rest in (
        ("Not in Mobile, Alabama", "river between Houston and Dallas since 2020"),
        ("When", "river between Houston and Dallas"),
        ("or Dallas, Texas", "river in Houston"),
        ("Where", "river"),
    ):
        button = page.get_by_role("button", name=f"{name}: remove")
        button.click()
        visit.settle()
        expect(page.locator("#q")).to_have_value(rest)
        expect(button).to_have_count(0)
    expect(chips).to_have_count(0)


def test_a_country_is_not_looked_at_from_as_near_as_a_town(browser: Browser, tmp_path: Path) -> None:
    portugal, lisbon = ((2264397, 0.9),), ((2267057, 0.9),)
    pages = [make_page(1, title="Country", places=portugal), make_page(2, title="Town", places=lisbon)]
    with running_server(build_collection(tmp_path / "crawl", pages).path) as address:
        visit = Visit(browser.new_page(viewport={"width": 1440, "height": 900}), address)
        zooms = {}
        for word in ("country", "town"):
            page = visit.open(f"/?q=title:{word}")
            page.locator(".map[data-drawn]").wait_for()
            page.get_by_role("button", name="Zoom in").click()
            page.wait_for_url("**map=**")
            zooms[word] = float(parameter(page, "map").split(",")[2])
        visit.page.close()
    assert zooms["country"] + 2 < zooms["town"]
