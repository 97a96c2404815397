"""The web page for people with a keyboard, a screen reader, a slow server, a small window or a printer."""

import re
from collections.abc import Iterator

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


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (502, "<html>Bad Gateway", "The server could not answer (502)."),
        (503, '{"ok": false, "error": "the machine cannot answer now", "status": 503}', "he machine cannot answer now"),
    ],
)
def test_a_server_that_fails_can_be_asked_again(visit: Visit, status: int, body: str, said: str) -> None:
    visit.page.route("**/api/search?*", lambda route: route.fulfill(status=status, body=body))
    page = visit.open("/?q=lobster")
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.unroute("**/api/search?*")
    page.get_by_role("button", name="Ask again").press("Enter")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.get_by_role("main")).to_be_focused()
    visit.troubles.clear()  # the browser logs the failures


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
