"""Every state of the web page: small windows, Back and Forward, wrong addresses, servers that go and come."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from page_visits import IN_A_BROWSER, NEEDS_AXE, Visit, serious_violations
from playwright.sync_api import Browser, Page, Route, expect
from running_server import running_server
from sample_collection import PAGES, build_collection, make_page

pytestmark = IN_A_BROWSER
WINDOW = {"reduced_motion": "reduce"}

ARABIC = make_page(
    900, url="http://rtl.example/", title="فيضانات في سيلهيت", text="غمرت المياه wadi", places=((1185099, 0.9),)
)
PHONES = [(360, 740), (390, 844)]
TABLETS = [(768, 1024), (1024, 768)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("page")
    with running_server(build_collection(root / "crawl", [*PAGES, ARABIC]).path, tasks=root / "tasks") as address:
        yield address


def sized(visit: Visit, size: tuple[int, int]) -> Page:
    visit.page.set_viewport_size({"width": size[0], "height": size[1]})
    return visit.page


# -- Small windows ---------------------------------------------------------------------------------

WHOLE_POPUP = """() => {
    const popup = document.querySelector('.popup')?.getBoundingClientRect();
    const map = document.querySelector('.map-canvas').getBoundingClientRect();
    if (!popup?.width) return false;
    if (popup.left < map.left || popup.right > map.right) return false;
    if (popup.top < map.top || popup.bottom > map.bottom) return false;
    const sides = [[popup.left, popup.right], [popup.top, popup.bottom]].map(([from, to]) => [from + 8, to - 8]);
    return sides[0].every((x) => sides[1].every((y) => document.elementFromPoint(x, y)?.closest('.popup')));
}"""
"""All of it lies on the map, and nothing lies on it."""


@pytest.mark.parametrize("size", [*PHONES, *TABLETS, (1280, 800)])
@pytest.mark.parametrize("view", ["17,20,3", "-35,20,3", "-9,60,3", "-9,5,3", "0,0,1"])
def test_a_popup_is_whole_wherever_its_marker_stands(visit: Visit, size: tuple[int, int], view: str) -> None:
    sized(visit, size)
    page = visit.open(f"/?q=pizza+in+Lisbon&map={view}")
    page.locator(".map[data-drawn]").wait_for()
    page.locator(".hit .number").first.click()
    expect(page.locator(".popup h3").first).to_have_text("Lisbon")
    page.wait_for_function(WHOLE_POPUP)


@pytest.mark.parametrize("size", TABLETS)
def test_a_tablet_has_room_for_a_question(visit: Visit, size: tuple[int, int]) -> None:
    sized(visit, size)
    page = visit.open("/?q=pizza")
    box = page.locator("#q").bounding_box()
    assert box is not None
    assert box["width"] >= 450


def test_on_a_phone_entries_and_markers_are_brought_into_view(visit: Visit) -> None:
    page = sized(visit, PHONES[0])
    visit.open("/?q=river")
    page.locator(".hit .number").nth(6).click()
    expect(page.locator(".popup")).to_be_in_viewport(ratio=1)
    page.locator(".popup-hit").first.click()
    expect(page.locator(".hit.is-hot .title").first).to_be_in_viewport()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".hit .number").first).to_have_text("11")
    expect(page.locator(".hit").first).to_be_in_viewport()


def test_titles_run_in_their_own_direction(visit: Visit) -> None:
    page = visit.open("/?q=wadi")
    title = page.locator(".hit h3").first
    assert title.evaluate("one => getComputedStyle(one).direction") == "rtl"
    page.get_by_role("button", name="Full text").click()
    heading = page.get_by_role("dialog").locator("h2")
    expect(heading).to_have_text(ARABIC.title)
    assert heading.evaluate("one => getComputedStyle(one).direction") == "rtl"


@NEEDS_AXE
def test_everybody_can_use_it_on_a_phone_at_night(browser: Browser, server: str) -> None:
    size = {"width": PHONES[0][0], "height": PHONES[0][1]}
    context = browser.new_context(viewport=size, color_scheme="dark", bypass_csp=True, has_touch=True)  # type: ignore[arg-type]  # two numbers
    visit = Visit(context.new_page(), server)
    for path in ("/", "/?q=pizza+in+Lisbon", "/?q=zzzzzz&since=2026-01-01", "/?q=pizza&view=statistics", "/?view=new"):
        page = visit.open(path)
        assert serious_violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], path
    page = visit.open("/?q=pizza+in+Lisbon")
    page.locator(".hit .number").first.tap()
    expect(page.locator(".popup")).to_be_in_viewport(ratio=1)
    assert serious_violations(page) == []
    context.close()


# -- The history -----------------------------------------------------------------------------------


def test_a_page_that_was_closed_stays_closed(visit: Visit) -> None:
    page, dialog = visit.open("/"), visit.page.get_by_role("dialog", name="Full text")
    page.locator("#q").fill("lobster")
    page.locator("#q").press("Enter")
    page.get_by_role("button", name="Full text").click()
    dialog.locator(".related button").first.click()
    page.wait_for_url(re.compile(r"page="))
    expect(dialog.locator(".page-text")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page).not_to_have_url(re.compile("page="))
    expect(page.locator(".hit")).to_have_count(1)
    page.go_back()
    expect(page.get_by_role("heading", name="What this collection holds")).to_be_visible()
    expect(dialog).to_be_hidden()


def test_back_closes_a_page_and_forward_opens_it(visit: Visit) -> None:
    page, dialog = visit.open("/?q=lobster"), visit.page.get_by_role("dialog", name="Full text")
    page.get_by_role("button", name="Full text").click()
    expect(dialog.locator(".page-text")).to_be_visible()
    page.go_back()
    expect(dialog).to_be_hidden()
    expect(page.locator(".hit")).to_have_count(1)
    page.go_forward()
    expect(dialog.locator(".page-text")).to_be_visible()
    page.reload()
    expect(dialog.locator(".page-text")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page).not_to_have_url(re.compile("page="))


def test_a_page_that_is_opened_while_another_closes_is_shown(visit: Visit) -> None:
    """A browser does not go back at once: what is wanted meanwhile waits for it."""
    page, dialog = visit.open("/"), visit.page.get_by_role("dialog", name="Full text")
    page.locator("#q").fill("pizza")
    page.locator("#q").press("Enter")
    expect(page.locator(".hit")).to_have_count(10)
    page.get_by_role("button", name="Full text").first.click()
    expect(dialog.locator(".page-text")).to_be_visible()
    second = page.locator(".hit").nth(1).locator(".title").inner_text()
    page.evaluate(
        """() => new Promise((done) => {
            const dialog = document.querySelector('.page-dialog');
            dialog.addEventListener('close', () => {
                document.querySelectorAll('.hit')[1].querySelector('.hit-foot .quiet').click();
                done();
            }, { once: true });
            dialog.close();
        })"""
    )
    expect(dialog.locator("h2")).to_have_text(second)
    expect(page).to_have_url(re.compile("page="))
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("page="))
    expect(page).to_have_url(re.compile("q=pizza"))
    page.go_back()
    expect(page.get_by_role("heading", name="What this collection holds")).to_be_visible()


def test_another_question_is_read_from_its_beginning(visit: Visit) -> None:
    page = visit.open("/?q=river")
    page.locator(".hit").last.scroll_into_view_if_needed()
    page.locator("#q").fill("pizza")
    page.locator("#q").press("Enter")
    expect(page.locator(".total")).to_contain_text("25 pages")
    expect(page.locator(".hit").first).to_be_in_viewport()


# -- Wrong addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["77", "0"])
def test_a_crawl_that_is_not_there_is_said_to_be_so(visit: Visit, number: str) -> None:
    visit.expects(404)
    page = visit.open(f"/?view=tasks&task={number}")
    expect(page.get_by_role("alert")).to_contain_text(f"There is no crawl {number}", ignore_case=True)


@pytest.mark.parametrize("reference", ["east/999999", "nonsense", "nowhere/1", "/", "east/x"])
def test_a_page_that_is_not_there_is_said_to_be_so(visit: Visit, reference: str) -> None:
    visit.expects(400 if reference == "east/x" else 404)  # a number that is none
    page = visit.open(f"/?q=lobster&page={reference}")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("page")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".hit")).to_have_count(1)
    expect(page).not_to_have_url(re.compile("page="))


def test_a_server_without_crawls_says_so(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    with running_server(build_collection(tmp_path / "crawl").path) as address:
        for view in ("tasks", "tasks&task=3", "new"):
            page.goto(f"{address}/?view={view}")
            expect(page.get_by_role("heading", name="No crawls on this server")).to_be_visible()
        page.get_by_role("link", name="Search").click()
        expect(page.get_by_role("heading", name="What this collection holds")).to_be_visible()
    page.close()


@pytest.mark.parametrize("size", [PHONES[1], (820, 1180), (1440, 900)])
@pytest.mark.parametrize("kind", ["plain", "tasks"])
def test_the_head_does_not_move_when_the_answer_comes(
    browser: Browser, tmp_path: Path, size: tuple[int, int], kind: str
) -> None:
    """A server says with the page itself which views it has."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    crawl = build_collection(tmp_path / "crawl").path
    with running_server(crawl, tasks=tmp_path / "tasks" if kind == "tasks" else None) as address:
        page.route("**/api/info", hold)
        with page.expect_request("**/api/info"):
            page.goto(f"{address}/?q=lobster")
        page.evaluate("document.fonts.ready.then(() => true)")
        box = page.locator("#q").bounding_box()
        expect(page.locator(".view", has_text="Crawls")).to_have_count(1 if kind == "tasks" else 0)
        for route in held:
            route.continue_()
        expect(page.locator(".holdings")).to_have_text(re.compile("pages"))
        assert page.locator("#q").bounding_box() == box
        page.close()


# -- Typing ----------------------------------------------------------------------------------------


def test_escape_closes_suggestions_and_keeps_what_was_typed(visit: Visit) -> None:
    page = visit.open("/")
    page.locator("#q").press_sequentially("coffee in Port")
    expect(page.locator("#suggestions .is-place")).to_have_count(5)
    page.keyboard.press("Escape")
    expect(page.locator("#suggestions")).to_be_hidden()
    expect(page.locator("#q")).to_have_value("coffee in Port")


def test_a_form_says_which_numbers_are_wrong_and_is_not_lost(visit: Visit) -> None:
    page = visit.open("/?view=tasks")
    page.get_by_role("button", name="New crawl").first.click()
    page.get_by_label("Name", exact=True).fill("Numbers")
    page.get_by_text("Limits, nodes and strategy").click()
    page.get_by_label("Pages a run").fill("-5")
    expect(page.locator("[data-error=f-pages]")).to_have_text("Give a number from 0 to 100,000,000.")
    page.get_by_text("Limits, nodes and strategy").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".form-status")).to_contain_text("Where to begin")
    page.get_by_label("Addresses, one a line").fill("http://127.0.0.1/")
    page.get_by_label("Keyword", exact=True).fill("flood")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Pages a run")).to_be_focused()
    page.get_by_role("button", name="All crawls").click()
    expect(page.get_by_role("heading", name="Saved crawls")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Numbers")
    page.get_by_role("button", name="Clear the form").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("")


# -- The edges of the world ------------------------------------------------------------------------


def test_places_at_both_sides_of_the_date_line_are_near_each_other(visit: Visit) -> None:
    page = visit.open("/?q=reef+OR+taveuni")
    page.locator(".map[data-drawn]").wait_for()
    page.locator(".hit", has_text="Taveuni on the date line").locator(".number").click()
    expect(page.locator(".popup h3")).to_have_text("Taveuni")
    page.wait_for_function(WHOLE_POPUP)
    page = visit.open("/?q=reef+OR+taveuni&map=179.2,-17.5,6")
    page.locator(".map[data-drawn]").wait_for()
    box = page.locator(".map-canvas").bounding_box()
    assert box is not None
    degree = 256 * 2**6 / 360  # pixels
    across = 180.03 - 179.2  # Taveuni is beyond the line
    page.mouse.click(box["x"] + box["width"] / 2 + across * degree, box["y"] + box["height"] / 2 - 0.68 * degree - 20)
    expect(page.locator(".popup h3")).to_have_text("Taveuni")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Draw a box").click()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 80, box["y"] + box["height"] - 20, steps=5)
    page.mouse.up()
    page.wait_for_url(re.compile("bbox="))
    west, _, east, _ = map(float, parse_qs(urlsplit(page.url).query)["bbox"][0].split(","))
    assert 90 < west < 178.44
    assert -179.97 < east < -90
    expect(page.locator(".hit")).to_have_count(2)


# -- Servers that go and come ----------------------------------------------------------------------


def test_a_page_goes_on_when_its_server_is_back(browser: Browser, tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl").path
    page = browser.new_page()
    with running_server(crawl) as address:
        page.goto(f"{address}/?q=lobster")
        expect(page.locator(".hit")).to_have_count(1)
    page.locator("#q").fill("reef")
    page.locator("#q").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    with running_server(crawl, port=urlsplit(address).port or 0):
        expect(page.locator(".hit .title")).to_have_text("Reef walks near Suva")
    page.close()


def test_a_tab_that_nobody_sees_does_not_listen(visit: Visit) -> None:
    """Browsers have six connections to a server: with as many tabs no further one would get an answer."""
    seen = """hidden => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page = visit.open("/?view=tasks")
    expect(page.locator(".tasks")).to_be_visible()
    with page.expect_event("requestfailed", lambda request: "/api/tasks/events" in request.url):
        page.evaluate(seen, True)
    with page.expect_request("**/api/tasks/events"):
        page.evaluate(seen, False)


def test_what_is_empty_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    with running_server(None, tasks=tmp_path / "tasks") as address:
        page.goto(address)
        page.get_by_role("main").get_by_role("button", name="New crawl").click()
        expect(page.get_by_label("Addresses, one a line")).to_be_visible()
    with running_server(build_collection(tmp_path / "crawl", [make_page(1, places=())]).path) as address:
        page.goto(address)
        expect(page.locator(".overview .hint")).to_contain_text("the map stays empty")
    page.close()


def test_one_is_one_and_dates_are_in_the_order_of_the_reader(browser: Browser, tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(1, published="2026-03-09")]).path
    with running_server(crawl) as address:
        for locale, shown in (("en-US", "Mar 9, 2026"), ("de-DE", "9 Mar 2026")):
            context = browser.new_context(locale=locale, viewport={"width": 1440, "height": 900})
            page = Visit(context.new_page(), address).open("/")
            expect(page.locator(".holdings")).to_have_text("1 page · 1 place")
            expect(page.locator(".figures dt").last).to_have_text("country")
            expect(page.locator(".overview .span")).to_have_text(f"Date: {shown}")
            context.close()


def test_a_century_is_shown_by_years(browser: Browser, tmp_path: Path) -> None:
    pages = [make_page(n, url=f"http://c.example/{n}", published=f"{1926 + n}-05-05") for n in range(0, 101, 4)]
    with running_server(build_collection(tmp_path / "crawl", pages).path) as address:
        page = Visit(browser.new_page(), address).open("/?q=bayou")
        expect(page.locator(".trend .bar")).to_have_count(101)
        expect(page.get_by_label("By", exact=True)).to_have_value("year")
        page.get_by_label("By", exact=True).select_option("month")
        expect(page).to_have_url(re.compile("every=month"))
        expect(page.locator(".trend .bar")).to_have_count(1201)
        page.close()
