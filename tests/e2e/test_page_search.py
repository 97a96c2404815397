"""The web page in a real browser, on the sample collection."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from page_visits import IN_A_BROWSER, NEEDS_AXE, Visit, serious_violations
from playwright.sync_api import Browser, Page, Route, expect
from running_server import running_server
from sample_collection import build_collection, make_page

from periplus.web.server import STATIC

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(build_collection(tmp_path_factory.mktemp("page") / "crawl").path) as address:
        yield address


def test_the_first_view_shows_what_there_is(visit: Visit) -> None:
    page = visit.open("/")
    expect(page.get_by_role("heading", name="What this collection holds")).to_be_visible()
    expect(page.locator(".figures")).to_contain_text("84")
    expect(page.locator(".top-places li").first).to_contain_text("Lisbon")
    expect(page.locator(".trend .bar").first).to_be_visible()
    page.locator(".top-places button").first.click()
    expect(page.locator(".hits .hit").first).to_contain_text("Lisbon")


def test_search_list_and_numbers(visit: Visit) -> None:
    page = visit.open("/")
    page.locator("#q").fill("pizza in Lisbon")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".hit")).to_have_count(10)
    expect(page.locator(".total")).to_contain_text("24 pages")
    first = page.locator(".hit").first
    expect(first.locator(".number")).to_have_text("1")
    expect(first.locator("mark.what").first).to_have_text("Pizza")
    expect(first.locator("a.title")).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(first.locator(".place-line")).to_contain_text("Lisbon District, Portugal")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".hit .number").first).to_have_text("11")


def test_paging_ends_where_pages_say_the_same(browser: Browser, tmp_path: Path) -> None:
    """Ten hits stand for 69 pages: there is a second list, it is empty, and it leads back."""
    story = "The ferry leaves at noon and returns with the tide; tickets are sold at the pier, and dogs travel free. "
    pages = [make_page(n, url=f"http://s{n}.example/", text=f"{story * 4}{n}", compared=True) for n in range(60)]
    pages += [make_page(100 + n, url=f"http://t{n}.example/", text=f"Ferry {n}") for n in range(9)]
    with running_server(build_collection(tmp_path / "crawl", pages).path) as address:
        page = Visit(browser.new_page(), address).open("/?q=ferry")
        expect(page.locator(".hit")).to_have_count(10)
        expect(page.locator(".total")).to_contain_text("69 pages")
        page.get_by_role("button", name="Next").click()
        expect(page.locator(".hit")).to_have_count(0)
        expect(page.get_by_role("button", name="Next")).to_be_disabled()
        page.get_by_role("button", name="Previous").click()
        expect(page.locator(".hit")).to_have_count(10)
        page.close()


def test_disambiguation_by_chips(visit: Visit) -> None:
    page = visit.open("/?q=pizza+in+Lisbon")
    expect(page.locator(".chip.is-chosen")).to_have_text("Lisbon, Portugal · 34")
    page.get_by_role("button", name="Lisbon, New Hampshire · 2").click()
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".hit")).to_contain_text("Lisbon House of Pizza")
    expect(page.locator(".chip.is-chosen")).to_have_text("Lisbon, New Hampshire · 2")
    expect(page).to_have_url(re.compile("place=5088597"))
    page.go_back()
    expect(page.locator(".hit")).to_have_count(10)


def test_another_place_of_the_name_is_asked_for_in_the_same_way(visit: Visit) -> None:
    page = visit.open("/?q=pizza+within+30+km+of+Lisbon")
    page.get_by_role("button", name="Lisbon, New Hampshire · 2").click()
    chosen = page.locator(".chip.is-chosen")
    expect(chosen).to_have_text("within 30 km of Lisbon, New Hampshire · 2")
    page.locator(".chip-clear").click()  # the place goes, not only which one was meant
    expect(chosen).to_have_count(0)
    expect(page.locator("#q")).to_have_value("pizza")


def test_the_place_tree_narrows_what_is_near_to_what_is_in_it(visit: Visit) -> None:
    page = visit.open("/?q=pizza+near+Lisbon")
    page.locator("#facets").get_by_role("button", name=re.compile(r"^Lisbon \d+$")).click()
    expect(page.locator(".chip.is-chosen")).to_have_text("Lisbon, Portugal · 34")


def test_a_line_says_how_the_question_was_read(visit: Visit) -> None:
    page = visit.open("/?q=rodeo+350+km+north+of+Houston+since+2026+inclass:travel")
    where = "within 175 km of the point 350 km north of Houston, Texas, United States"
    expect(page.locator(".reading")).to_have_text(
        f"what: rodeo · where: {where} · when: since 2026-01-01 · topic: travel"
    )
    expect(page.locator(".chip.is-chosen").first).to_contain_text("350 km north of Houston, Texas")
    expect(page.locator(".total")).to_have_text(re.compile("^1 page "))


def test_entry_and_marker_belong_together(visit: Visit) -> None:
    page = visit.open("/?q=reef+OR+rodeo+OR+floods")
    page.locator(".hit .number").nth(1).click()
    popup = page.locator(".popup")
    expect(popup).to_be_visible()
    title = page.locator(".hit").nth(1).locator(".title").inner_text()
    expect(popup).to_contain_text(title)
    expect(popup.locator(".coordinates")).to_contain_text("°")
    expect(page.locator(".hit.is-hot")).to_have_count(1)


def test_a_hit_says_which_place_made_it_one(visit: Visit) -> None:
    page = visit.open("/?q=pizza+near:38.52,-8.89,60")
    expect(page.locator(".hit .reason").first).to_have_text(re.compile(r"^Lisbon is \d+ km from the point$"))
    page = visit.open("/?q=pizza+in+Portugal")
    expect(page.locator(".hit").first).to_contain_text("Lisbon")
    expect(page.locator(".hit .reason")).to_have_count(0)  # the line of its place says so


def _inside(page: Page, part: str, whole: str) -> bool:
    """Both measured at one moment: the page may be scrolling to the entry."""
    found = page.evaluate(
        """([part, whole]) => {
            const [a, b] = [part, whole].map((one) => document.querySelector(one).getBoundingClientRect());
            return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
        }""",
        [part, whole],
    )
    return bool(found)


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_the_menu_of_exports_is_not_cut_off(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 812})
    page = visit.open("/?q=pizza")
    page.locator(".menu summary").click()
    expect(page.locator(".menu-list")).to_be_visible()
    assert _inside(page, ".menu-list", "html")


def test_a_click_on_the_map_highlights_the_entry(visit: Visit) -> None:
    page = visit.open("/?q=sylhet+floods&map=91.872,24.899,6")
    page.locator(".map[data-drawn]").wait_for()
    box = page.locator(".map-canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 - 20)
    expect(page.locator(".popup h3")).to_have_text("Sylhet")
    expect(page.locator(".hit.is-hot")).to_contain_text("Floods around Sylhet")
    page.mouse.move(box["x"] + 30, box["y"] + box["height"] - 30)
    expect(page.locator(".hit.is-hot")).to_have_count(1)
    page.locator(".popup-close").click()
    expect(page.locator(".hit.is-hot")).to_have_count(0)


def test_near_says_how_far(visit: Visit) -> None:
    page = visit.open("/?q=floods+near+Sylhet")
    expect(page.locator(".chip.is-chosen")).to_have_text("within 50 km of Sylhet, Bangladesh · 1")


def test_searching_the_area_of_the_map(visit: Visit) -> None:
    page = visit.open("/?q=river&map=-96.0000,31.0000,6.00")
    box = page.locator(".map-canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 215, box["y"] + 300, steps=3)
    page.mouse.up()
    page.get_by_role("button", name="Search this area").click()
    expect(page.locator(".chip.is-chosen")).to_have_text("in the chosen area")
    expect(page.locator(".hit .place").first).to_have_text("Houston")
    expect(page).to_have_url(re.compile("bbox="))


def test_a_shared_address_shows_the_same_view(visit: Visit) -> None:
    address = "/?q=river&place=4736286&sort=time&offset=10&since=2026-01-01&until=2026-10-31&map=-95.0000,31.0000,5.00"
    page = visit.open(address)
    expect(page.locator(".hit .number").first).to_have_text("11")
    expect(page.locator(".segment.is-chosen")).to_have_text("newest")
    expect(page.get_by_label("From")).to_have_value("2026-01-01")
    expect(page.locator("#q")).to_have_value("river")
    titles = page.locator(".hit .title").all_inner_texts()
    page.reload()
    visit.settle()
    expect(page.locator(".hit .title").first).to_have_text(titles[0])
    expect(page.locator(".hit .title")).to_have_text(titles)
    expect(page).to_have_url(re.compile(r"map=-95\.0000"))


def test_brushing_the_trend_chooses_a_time(visit: Visit) -> None:
    page = visit.open("/?q=bayou")
    chart = page.locator(".trend-chart svg")
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + 50)
    page.mouse.up()
    visit.page.wait_for_url("**since=2026-01-01*")
    expect(page.locator(".chips")).to_contain_text("Jan 1, 2026")
    page.get_by_role("button", name="any time").click()
    expect(page.locator(".chips")).to_have_count(0)


def test_the_place_tree_narrows(visit: Visit) -> None:
    page = visit.open("/?q=river")
    page.get_by_role("button", name="New Hampshire 2").click()
    expect(page.locator(".hit")).to_have_count(2)


def test_languages_have_names(visit: Visit) -> None:
    page = visit.open("/?q=-qqqq")
    page.get_by_role("button", name=re.compile("^French ")).click()
    expect(page.locator("#q")).to_have_value("-qqqq lang:fr")
    page.get_by_role("button", name="Statistics").click()
    expect(page.locator(".statistics")).to_contain_text("French")


def test_a_time_without_an_end_is_said_in_words(visit: Visit) -> None:
    expect(visit.open("/?q=pizza+since+2020").locator(".chip.is-chosen")).to_have_text("since Jan 1, 2020")
    expect(visit.open("/?q=pizza+on+2020-05-17").locator(".chip.is-chosen")).to_have_text("May 17, 2020")


def test_titles_of_other_pages_can_be_read_on_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open("/?q=lobster")
    page.get_by_role("button", name="Full text").click()
    title = page.locator(".related button").first
    expect(title).to_be_visible()
    assert title.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_what_is_above_the_results_has_one_line_on_a_tablet(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 820, "height": 1180})
    page = visit.open("/?q=pizza")
    tops = [page.locator(part).bounding_box() for part in (".sorting", ".narrow-button", ".menu")]
    assert len({round(box["y"] + box["height"] / 2) for box in tops if box}) == 1


def test_statistics_of_a_topic(visit: Visit) -> None:
    page = visit.open("/")
    page.locator("#q").fill("inclass:food")
    page.get_by_role("button", name="Statistics").click()
    expect(page.get_by_role("heading", name="Statistics")).to_be_visible()
    expect(page.locator(".statistics table").first).to_contain_text("Lisbon")
    expect(page.locator(".trend .bar").first).to_be_visible()


def test_the_page_view_marks_places_and_words(visit: Visit) -> None:
    page = visit.open("/?q=lobster")
    page.get_by_role("button", name="Full text").click()
    dialog = page.get_by_role("dialog", name="Full text")
    expect(dialog.locator(".page-text mark.where").first).to_have_text("Portland")
    expect(dialog.locator(".page-text mark.what").first).to_have_text("lobster")
    expect(dialog.locator(".page-text + .why")).to_be_visible()  # the text first, since that was asked for
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page).not_to_have_url(re.compile("page="))


def test_suggestions_by_keyboard(visit: Visit) -> None:
    page = visit.open("/")
    page.locator("#q").press_sequentially("coffee in Port")
    expect(page.locator("#suggestions .is-place")).to_have_count(5)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_contain_text("Coffee roasters of Portland")
    expect(page.locator("#q")).to_have_value("coffee")


def test_words_are_suggested_too(visit: Visit) -> None:
    page = visit.open("/")
    page.locator("#q").press_sequentially("lobst")
    page.locator("#suggestions .is-term", has_text="lobster").click()
    expect(page.locator("#q")).to_have_value("lobster")
    expect(page.locator(".hit").first).to_contain_text("lobster")


def test_a_day_that_is_being_typed_survives_an_answer(visit: Visit) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = visit.open("/")
    page.route("**/api/search?*", hold)
    page.locator("#q").fill("reef")
    with page.expect_request("**/api/search?*"):
        page.keyboard.press("Enter")
    page.get_by_label("From").focus()
    page.keyboard.type("0101")
    expect(page.locator(".hit")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator(".hit")).not_to_have_count(0)
    page.keyboard.type("2026")
    expect(page).to_have_url(re.compile("since=2026-01-01"))


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit.open("/")
    press = page.keyboard.press
    press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.locator("#q").focus()
    page.keyboard.type("reef OR rodeo OR floods")
    press("Enter")
    expect(page.locator(".hit")).not_to_have_count(0)
    page.locator(".hit .number").first.focus()
    press("Enter")
    expect(page.locator(".popup")).to_be_visible()
    press("Escape")
    expect(page.locator(".popup")).to_be_hidden()
    press("Tab")
    expect(page.locator(".hit a.title").first).to_be_focused()
    expect(page.locator(".hit.is-hot")).to_have_count(1)
    page.locator(".map-canvas").focus()
    press("ArrowRight")
    page.get_by_role("button", name="Search this area").focus()
    press("Enter")
    expect(page).to_have_url(re.compile("bbox="))
    page.get_by_label("From").focus()
    page.keyboard.type("01012026")
    expect(page).to_have_url(re.compile("since=2026-01-01"))
    visit.settle()  # else the list with the button is still replaced by that of the new question
    page.get_by_role("button", name="Full text").first.focus()
    press("Enter")
    expect(page.get_by_role("dialog", name="Full text")).to_be_visible()
    press("Escape")
    expect(page.get_by_role("dialog", name="Full text")).to_be_hidden()


def test_a_part_of_an_answer_says_so(visit: Visit) -> None:
    def lame(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"missing": ["west", "south"]})

    visit.page.route("**/api/search?*", lame)
    page = visit.open("/")
    expect(page.locator(".partial")).to_contain_text("No answer came from west, south")
    visit.open("/?q=pizza")
    expect(page.locator(".partial")).to_contain_text("No answer came from west, south")
    page.unroute("**/api/search?*")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".partial")).to_have_count(0)
    expect(page.locator(".hit")).to_have_count(10)


def test_nothing_found(visit: Visit) -> None:
    page = visit.open("/?q=zzzzzz")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    page.get_by_role("button", name="Show everything").click()
    expect(page.get_by_role("heading", name="What this collection holds")).to_be_visible()


def test_a_wrong_question_is_explained(visit: Visit) -> None:
    visit.expects(400)
    page = visit.open("/?q=before:2026-02-31")
    expect(page.get_by_role("alert")).to_contain_text("not in the calendar")


def test_attacks_do_not_run(visit: Visit) -> None:
    page = visit.open("/?q=harmless&place=2267057")
    expect(page.locator(".hit")).to_have_count(10)
    page.locator(".hit .number").first.click()
    expect(page.locator(".popup")).to_be_visible()
    for number in range(3):
        page.locator(".hit").nth(number).get_by_role("button", name="Full text").click()
        expect(page.get_by_role("dialog", name="Full text").locator(".page-text")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page).not_to_have_url(re.compile("page="))  # back in its history before it goes elsewhere
    visit.open("/?q=" + "%3Cimg%20src%3Dx%20onerror%3D%22window.__attacked%3D20%22%3E")
    visit.open("/?view=statistics&q=inclass:attack")
    assert page.evaluate("window.__attacked") is None
    assert page.locator("main script, main img, main iframe, main svg").count() == 0
    assert page.locator('a[href^="javascript:"]').count() == 0


@pytest.mark.parametrize(("width", "height"), [(375, 812), (768, 1024), (2560, 1300)])
def test_every_width_shows_list_map_and_trend(browser: Browser, server: str, width: int, height: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": height})
    page = Visit(context.new_page(), server).open("/?q=coffee+in+Portland")
    for part in (".hit", ".map-canvas canvas", ".trend-chart svg", ".chip.is-chosen"):
        expect(page.locator(part).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    facet = page.locator(".side .facet", has_text="Oregon").first
    if width < 1180:
        expect(facet).to_be_hidden()
        page.get_by_role("button", name="Narrow").click()
    expect(facet).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_dark_follows_the_system(browser: Browser, server: str) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = Visit(context.new_page(), server).open("/?q=pizza")
        colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        context.close()
    assert colours["light"] != colours["dark"]


@NEEDS_AXE
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(browser: Browser, server: str, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme, bypass_csp=True)
    visit = Visit(context.new_page(), server)
    for path in ("/", "/?q=river+in+Texas", "/?q=inclass:food&view=statistics", "/?q=zzzzzz", "/?q=pizza&page=east/1"):
        page = visit.open(path)
        assert serious_violations(page) == []
    context.close()


def test_the_lock_names_no_registry() -> None:
    lock = Path(STATIC).parent / "page" / "package-lock.json"
    assert '"resolved"' not in lock.read_text("utf-8")
