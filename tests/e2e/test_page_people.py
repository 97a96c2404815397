"""The web page for people with a keyboard, a screen reader, a slow server, a small window or a printer."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from page_visits import IN_A_BROWSER, Visit
from playwright.sync_api import Browser, Page, Route, expect
from running_server import running_server
from sample_collection import build_collection

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("page")
    with running_server(build_collection(root / "crawl").path, tasks=root / "tasks") as address:
        yield address


def held_back(page: Page, pattern: str | re.Pattern[str]) -> list[Route]:
    """Requests that get no answer until they are let through."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(pattern, hold)
    return held


# -- The keyboard ----------------------------------------------------------------------------------


def test_an_answer_does_not_take_the_keyboard_away(visit: Visit) -> None:
    page = visit.open("/?q=river")
    page.get_by_role("button", name="newest").press("Enter")
    page.wait_for_url("**sort=time*")
    visit.settle()
    expect(page.get_by_role("button", name="newest")).to_be_focused()
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.locator(".hit .number").first).to_have_text("11")
    expect(page.get_by_role("main")).to_be_focused()  # the next list is read from its beginning
    page.get_by_role("button", name="New Hampshire 2").press("Enter")
    expect(page.locator(".hit")).to_have_count(2)
    expect(page.locator('.facet[aria-current="true"]')).to_be_focused()


def test_a_menu_closes_with_escape_and_when_it_is_left(visit: Visit) -> None:
    page = visit.open("/?q=river")
    menu, button = page.locator(".menu-list"), page.locator(".menu summary")
    button.press("Enter")
    expect(menu).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(button).to_be_focused()
    button.press("Enter")
    expect(menu).to_be_visible()
    page.locator("#q").click()
    expect(menu).to_be_hidden()


def test_what_is_a_sign_has_a_name(visit: Visit) -> None:
    page = visit.open("/?q=sylhet+floods")
    for name in ("Zoom in", "Zoom out", "Draw a box", "Draw a shape", "Heat map", "1: show on the map"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()


# -- Servers that take their time, or fail ---------------------------------------------------------


def test_a_slow_answer_is_announced_and_a_late_one_is_not_shown(visit: Visit) -> None:
    page = visit.open("/?q=pizza")
    status = page.locator(".head").get_by_role("status")
    expect(status).to_have_text("25 pages")
    held = held_back(page, "**/api/search?*")
    for question in ("river", "reef"):
        page.locator("#q").fill(question)
        with page.expect_request("**/api/search?*"):
            page.keyboard.press("Enter")
    expect(status).to_have_text("Searching…")
    expect(status).to_be_in_viewport()
    first, second = held
    second.continue_()
    expect(page.locator(".hit .title").first).to_have_text("Reef walks near Suva")
    expect(status).to_have_text("1 page")
    first.abort()  # as far as the browser is concerned, it has given it up long ago
    expect(page.locator(".hit .title").first).to_have_text("Reef walks near Suva")


def test_a_chip_of_the_question_before_does_not_bring_its_words_back(visit: Visit) -> None:
    page = visit.open("/?q=river+in+Houston+since+2020")
    held = held_back(page, "**/api/search?*")
    with page.expect_request("**/api/search?*"):
        page.get_by_role("button", name="When: remove").click()
    page.get_by_role("button", name="Where: remove").click()  # the answer is still on its way
    expect(page.locator("#q")).to_have_value("river in Houston")
    for route in held:
        route.continue_()
    visit.settle()
    expect(page.locator("#q")).to_have_value("river in Houston")
    page.unroute("**/api/search?*")
    page.get_by_role("button", name="Where: remove").click()
    expect(page.locator("#q")).to_have_value("river")
    visit.settle()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (502, "<html>Bad Gateway", "The server could not answer (502)."),
        (503, '{"ok": false, "error": "the machine cannot answer now", "status": 503}', "he machine cannot answer now"),
    ],
)
def test_a_server_that_fails_can_be_asked_again(visit: Visit, status: int, body: str, said: str) -> None:
    visit.expects(status)
    visit.page.route("**/api/search?*", lambda route: route.fulfill(status=status, body=body))
    page = visit.open("/?q=lobster")
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.unroute("**/api/search?*")
    page.get_by_role("button", name="Ask again").press("Enter")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.get_by_role("main")).to_be_focused()


def test_a_crawl_is_saved_once_however_often_one_clicks(visit: Visit) -> None:
    page = visit.open("/?view=new")
    page.get_by_label("Name", exact=True).fill("Once")
    page.get_by_label("Addresses, one a line").fill("http://127.0.0.1/")
    page.get_by_label("Keyword", exact=True).fill("flood")
    held = held_back(page, re.compile(r"/api/tasks$"))
    save = page.get_by_role("button", name="Save", exact=True)
    with page.expect_request(re.compile(r"/api/tasks$")):
        save.click()
    expect(page.locator(".form-status")).to_have_text("Saving…")
    save.click()
    page.get_by_role("button", name="Save and start").click()
    page.get_by_label("Name", exact=True).press("Enter")
    for route in held:
        route.continue_()
    page.wait_for_url("**task=*")
    page.goto(f"{visit.server}/?view=tasks")
    expect(page.locator(".task-card")).to_have_count(1)


# -- Small windows, and paper ----------------------------------------------------------------------


@pytest.mark.parametrize("size", [(720, 450), (600, 800), (390, 844)])
def test_the_question_stays_in_view_whole(visit: Visit, size: tuple[int, int]) -> None:
    """720 by 450 is a laptop's window at 200 %."""
    visit.page.set_viewport_size({"width": size[0], "height": size[1]})
    page = visit.open("/?q=river")
    page.locator(".hit").nth(5).scroll_into_view_if_needed()
    expect(page.locator(".hit").nth(5)).to_be_in_viewport()
    expect(page.locator("#q")).to_be_in_viewport(ratio=1)


def test_all_results_are_printed_dark_on_light(browser: Browser, server: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="dark")
    page = Visit(context.new_page(), server).open("/?q=river")
    page.emulate_media(media="print", color_scheme="dark")
    bottom = page.locator(".hit").last.evaluate("one => one.getBoundingClientRect().bottom + scrollY")
    assert page.evaluate("document.documentElement.scrollHeight") >= bottom > 900
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", ink)[:3])) < 100
    context.close()


# -- Markers by keyboard, and names that tell apart --------------------------------------------------


def test_markers_are_reached_by_keyboard(visit: Visit) -> None:
    page = visit.open("/")
    page.locator(".map[data-drawn]").wait_for()
    stops = page.get_by_role("toolbar", name="Markers of the map")
    page.locator(".map-canvas").focus()
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.closest('.ol-control') !== null"):
        page.keyboard.press("Tab")
    expect(stops.get_by_role("button").first).to_be_focused()
    expect(stops.get_by_role("button").first).to_have_accessible_name(re.compile(r"^Lisbon.*: \d+ pages$"))
    page.keyboard.press("ArrowRight")
    expect(stops.get_by_role("button").nth(1)).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator(".popup h3").first).to_have_text("Lisbon")
    expect(page.locator(".popup-go").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".popup")).to_be_hidden()
    expect(stops.get_by_role("button").first).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # pages about this place
    expect(page.locator(".chip.is-chosen")).to_contain_text("Lisbon, Portugal")
    expect(stops.get_by_role("button", name=re.compile("^Results? 1"))).to_be_visible()


def test_buttons_of_entries_say_which_page_they_are_about(visit: Visit) -> None:
    page = visit.open("/?q=river")
    for button in ("Full text", "This page belongs to the topic", "This page does not belong to the topic"):
        names = (
            page.locator(".hit")
            .get_by_role("button", name=f"{button}: ")
            .evaluate_all("all => all.map((one) => one.ariaLabel)")
        )
        assert len(names) == len(set(names)) == 10


# -- Colours that the reader chose --------------------------------------------------------------------

SYSTEM_COLORS = """() => {
    const probe = document.createElement('p');
    document.body.append(probe);
    const canvas = [...document.querySelectorAll('.map-canvas .ol-layer canvas')].find((one) => one.getContext('2d'));
    const sharp = canvas.width / canvas.getBoundingClientRect().width;
    const stop = document.querySelector('.marker-stop');
    const at = [parseFloat(stop.style.left) - 6, parseFloat(stop.style.top) - 6].map((n) => Math.round(n * sharp));
    const circle = [...canvas.getContext('2d').getImageData(...at, 1, 1).data];
    return {
        text: getComputedStyle(probe).color,
        bar: getComputedStyle(document.querySelector('.trend .bar')).fill,
        circle: `rgb(${circle.slice(0, 3).join(', ')})`,
        link: getComputedStyle(document.querySelector('.view')).color,
    };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_map_and_time_line_have_the_colours_that_the_reader_chose(
    browser: Browser, server: str, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, forced_colors="active", color_scheme=scheme)
    page = Visit(context.new_page(), server).open("/")
    page.locator(".map[data-drawn]").wait_for()
    page.locator(".trend .bar").first.wait_for()
    colors = page.evaluate(SYSTEM_COLORS)
    assert colors["text"] == colors["bar"] == colors["circle"]
    assert colors["link"] != colors["text"]  # links are the reader's, too
    context.close()
