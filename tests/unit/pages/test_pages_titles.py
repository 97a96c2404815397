"""What a page is called where its title element says nothing of it."""

from datetime import UTC, datetime

import pytest

from periplus.model import Fetched
from periplus.pages import read_page

HEADLINE = "A bridge for Sylhet"


def title_of(html: str, url: str = "http://river-news.example/2026/bridge") -> str:
    return read_page(Fetched(url, 200, (), html.encode(), "text/html", datetime.now(UTC), 0.0, "")).title


@pytest.mark.parametrize(
    "html",
    [
        f"<title>River News</title><meta property=og:title content='{HEADLINE}'><p>x",
        f"<title>River News</title><h1>{HEADLINE}</h1>",
        f"<title>The News</title><meta property=og:site_name content='The News'><h1>{HEADLINE}</h1>",
        f"<title>Our paper: news, sport</title><meta property=og:title content='{HEADLINE}'><h1> {HEADLINE}\n</h1>",
        f"<title>RIVER-NEWS</title><meta property=og:title content='River News'><h1>{HEADLINE}</h1>",
    ],
)
def test_a_title_that_is_the_sites_on_all_pages_gives_way_to_the_headline(html: str) -> None:
    assert title_of(html) == HEADLINE


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Bridge opened | News | Sport</title><meta property=og:title content='River News'>", None),
        ("<title>River - News</title><p>x", None),
        ("<title>Up-river-news</title><p>x", None),
        ("<title>Dams</title><meta property=og:title content='River News'><h1>Water</h1>", "Dams"),
        ("<title>Dams of the north</title><meta property=og:title content='Buy now'><h1>Water</h1>", None),
        ("<title>River News</title><h1>One</h1><h1>Two</h1>", "River News"),
        ("<title>River News</title><h1>River News</h1>", "River News"),
        ("<title>River News</title><p>x", "River News"),
        ("<title>a</title><h1>Water</h1>", "a"),
    ],
)
def test_other_titles_stay(html: str, title: str | None) -> None:
    assert title_of(html) == (title or html.partition("</title>")[0].removeprefix("<title>"))


@pytest.mark.parametrize("path", ["", "/", "/index.html"])
def test_the_first_page_of_a_site_is_called_as_the_site(path: str) -> None:
    assert title_of("<title>River News</title><h1>Welcome!</h1>", f"http://river-news.example{path}") == "River News"


@pytest.mark.parametrize(
    "html",
    [
        "<title>Bridge opened | River News</title>",
        "<title>River-News.example – Bridge opened</title>",
        "<title>Bridge opened - The Daily River</title><meta property=og:site_name content='The Daily River'>",
        "<title>\n Bridge opened\n · River News\n</title><meta property=og:title content='Bridge opened'>",
    ],
)
def test_the_sites_name_beside_a_title_is_none_of_it(html: str) -> None:
    assert title_of(html) == "Bridge opened"


def test_a_sites_first_page_is_called_as_the_site() -> None:
    html = "<title>All about bridges | River News</title>"
    assert title_of(html, "http://river-news.example/") == "All about bridges | River News"


def test_an_article_is_not_about_the_town_in_its_papers_name() -> None:
    html = "<title>Bridge opened - Houston Chronicle</title><p>A bridge was opened in Dallas on Monday."
    page = read_page(
        Fetched("http://houstonchronicle.example/a", 200, (), html.encode(), "text/html", datetime.now(UTC), 0.0, "")
    )
    assert "Houston" not in page.title
