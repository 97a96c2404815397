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
        (f"<title>Bridge opened | River News</title><meta property=og:title content='{HEADLINE}'>", None),
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
