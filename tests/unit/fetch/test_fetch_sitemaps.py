"""Sitemaps: what they list, in every form, and what hostile ones cost."""

import gzip
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_process import SLACK, in_own_process

from periplus.errors import BadContent, PeriplusError
from periplus.fetch.sitemaps import MAX_SITEMAPS, read_sitemap

URL = "https://www.example.com/sitemap.xml"
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*rows: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {SPACE}>{"".join(rows)}</urlset>'.encode()


def row(loc: str, lastmod: str = "") -> str:
    return f"<url><loc>{loc}</loc>{f'<lastmod>{lastmod}</lastmod>' if lastmod else ''}<priority>0.5</priority></url>"


def read(body: bytes, max_bytes: int = 2**20) -> dict[str, float]:
    return {entry.url: entry.lastmod for entry in read_sitemap(body, URL, max_bytes=max_bytes).entries}


def test_urls_are_canonical_and_come_once_with_their_newest_time() -> None:
    body = urlset(
        row(" https://www.example.com/a?x=1&amp;utm_source=s#f ", "2026-02-03"),
        row("/b", "2026-02-03T04:05:06+01:00"),
        row("https://www.example.com/a?x=1", "2026-03"),
        row("<![CDATA[https://blog.example.com/c]]>", "yesterday"),
    )
    assert read(body) == {
        "https://www.example.com/a?x=1": datetime(2026, 3, 1, tzinfo=UTC).timestamp(),
        "https://www.example.com/b": datetime(2026, 2, 3, 3, 5, 6, tzinfo=UTC).timestamp(),
        "https://blog.example.com/c": 0.0,
    }


def test_nobody_lists_the_pages_of_others() -> None:
    found = read_sitemap(urlset(row("https://other.org/"), row("javascript:x"), row("/mine")), URL, max_bytes=2**20)
    assert [entry.url for entry in found.entries] == ["https://www.example.com/mine"]
    assert found.dropped == {"sitemap_host": 1, "not_http": 1}


@pytest.mark.parametrize("prefix", ["", "s:"])
def test_an_index_names_further_sitemaps(prefix: str) -> None:
    rows = "".join(f"<{prefix}sitemap><{prefix}loc>/s{n}.xml</{prefix}loc></{prefix}sitemap>" for n in (1, 2, 2))
    outside = f"<{prefix}sitemap><{prefix}loc>http://other.org/s.xml</{prefix}loc></{prefix}sitemap>"
    space = f"xmlns:s={SPACE[6:]}" if prefix else SPACE
    found = read_sitemap(
        f"<{prefix}sitemapindex {space}>{rows}{outside}</{prefix}sitemapindex>".encode(), URL, max_bytes=9**9
    )
    assert found.sitemaps == ("https://www.example.com/s1.xml", "https://www.example.com/s2.xml")
    assert (found.entries, found.dropped) == ((), {"sitemap_host": 1})


def test_pictures_films_and_translations_of_a_page_are_not_its_address() -> None:
    """The extensions of sitemaps have elements of the same names, before and behind those of the page."""
    body = urlset(
        '<url><xhtml:link rel="alternate" hreflang="de" href="/de/a"/><loc>/a</loc><image:image><image:loc>/a.jpg'
        "</image:loc></image:image><video:video><video:player_loc>/p</video:player_loc></video:video></url>",
        "<url><image:image><image:loc>/b.jpg</image:loc></image:image><loc>/b</loc><lastmod>2026-02-03</lastmod></url>",
        "<url><image:image><image:loc>/c.jpg</image:loc></image:image></url>",
    )
    assert read(body) == {
        "https://www.example.com/a": 0.0,
        "https://www.example.com/b": datetime(2026, 2, 3, tzinfo=UTC).timestamp(),
    }


@pytest.mark.parametrize(
    ("above", "loc", "asked"),
    [
        (b"\n \r\n", b"/b", "/b"),
        (b"\xef\xbb\xbf\n", b"/b", "/b"),
        (b"", b"/b?x=1&y=2&amp;z=3&#38;q=4", "/b?x=1&y=2&z=3&q=4"),
        (b"", b"/b\x0b", "/b"),
        (b"", b"/caf\xe9", "/caf%EF%BF%BD"),
        (b"", b"/b&nbsp;", "/b&nbsp;"),
    ],
)
def test_what_many_programs_get_wrong_costs_neither_the_file_nor_what_stands_below(
    above: bytes, loc: bytes, asked: str
) -> None:
    body = above + urlset(row("/a"), row("HERE"), row("/c")).replace(b"HERE", loc)
    assert list(read(body)) == [f"https://www.example.com{path}" for path in ("/a", asked, "/c")]


def test_a_file_in_its_own_encoding_is_mended_in_it() -> None:
    body = urlset(row("/a"), row("/caf\xe9?x=1&y=2")).decode().replace("UTF-8", "ISO-8859-1").encode("latin-1")
    assert list(read(body)) == ["https://www.example.com/a", "https://www.example.com/caf%C3%A9?x=1&y=2"]


RSS = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://www.example.com/</link>
<image><url>https://www.example.com/logo.png</url><link>https://www.example.com/</link></image>
<item><title>A</title><link>https://www.example.com/a</link><pubDate>Tue, 03 Feb 2026 04:05:06 +0100</pubDate>
<source url="https://other.org/"><link>https://other.org/b</link></source></item>
<item><link>/b</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/feed"/><entry><title>A</title>
<link rel="edit" href="/edit/a"/><link href="/a"/><link rel="enclosure" href="/a.mp3"/>
<updated>2026-02-03T04:05:06+01:00</updated></entry><entry><link rel="alternate" href="/b"/></entry></feed>"""


@pytest.mark.parametrize("feed", [RSS, ATOM], ids=["rss", "atom"])
def test_a_feed_is_a_sitemap_too(feed: str) -> None:
    found = read_sitemap(feed.encode(), URL, max_bytes=2**20)
    assert {entry.url: entry.lastmod for entry in found.entries} == {
        "https://www.example.com/a": datetime(2026, 2, 3, 3, 5, 6, tzinfo=UTC).timestamp(),
        "https://www.example.com/b": 0.0,
    }
    assert found.dropped == {}


def test_an_index_without_end_ends() -> None:
    rows = "".join(f"<sitemap><loc>/s{n}.xml</loc></sitemap>" for n in range(1_000))
    found = read_sitemap(f"<sitemapindex {SPACE}>{rows}</sitemapindex>".encode(), URL, max_bytes=2**20)
    assert len(found.sitemaps) == MAX_SITEMAPS


def test_gzip_text_and_utf16() -> None:
    body = urlset(row("/a"))
    assert read(gzip.compress(body)) == {"https://www.example.com/a": 0.0}
    assert read(b"\xef\xbb\xbfhttps://www.example.com/1\r\n\r\nhttps://www.example.com/2\n") == {
        "https://www.example.com/1": 0.0,
        "https://www.example.com/2": 0.0,
    }
    text = body.decode().replace("UTF-8", "UTF-16")
    assert read(text.encode("utf-16")) == {"https://www.example.com/a": 0.0}


def test_a_file_that_breaks_off_gives_what_came() -> None:
    body = urlset(*(row(f"/{number}") for number in range(100)))
    assert 40 <= len(read(body[: len(body) // 2])) <= 50


def test_no_more_urls_than_wanted() -> None:
    body = urlset(*(row(f"/{number}") for number in range(100)))
    assert len(read_sitemap(body, URL, max_bytes=2**20, max_urls=7).entries) == 7
    lines = b"\n".join(b"https://www.example.com/%d" % number for number in range(100))
    assert len(read_sitemap(lines, URL, max_bytes=2**20, max_urls=7).entries) == 7


LAUGHS = b"""<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>
<urlset><url><loc>http://www.example.com/&c;</loc></url></urlset>"""
OUTSIDE = b"""<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset><url><loc>/&a;</loc></url></urlset>"""

ABROAD = b"""<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/x.dtd"><urlset><url><loc>/a</loc></url></urlset>"""


@pytest.mark.parametrize(
    "body",
    [
        LAUGHS,
        OUTSIDE,
        ABROAD,
        b"<html><body>Not found</body>",
        b"User-agent: *\nDisallow: /",
        b"<",
        b"\0<\0u",
        b"%PDF-1.4",
    ],
)
def test_what_is_no_sitemap_is_refused_or_empty(body: bytes) -> None:
    try:
        found = read_sitemap(body, URL, max_bytes=2**20)
    except BadContent:
        return
    assert (found.entries, found.sitemaps) == ((), ())


@pytest.mark.parametrize("body", [LAUGHS, OUTSIDE, ABROAD], ids=["laughs", "outside", "abroad"])
def test_entities_are_never_expanded(body: bytes) -> None:
    """C3: nor is anything opened or asked for."""

    def work() -> list[str]:
        opened: list[str] = []
        sys.addaudithook(
            lambda event, _: opened.append(event) if event in ("open", "socket.connect", "socket.getaddrinfo") else None
        )
        with pytest.raises(BadContent, match="document type"):
            read_sitemap(body, URL, max_bytes=2**20)
        return list(opened)

    opened, cost = in_own_process(work)
    assert opened == []
    assert cost.processor <= SLACK * 0.1
    assert cost.memory <= 20 * 2**20


def test_bombs_stop_at_the_limit() -> None:
    long = urlset(row("/first"), "<url>" + " " * 8_000_000 + "</url>", row("/last"))
    assert list(read(long[: 2**20])) == list(read(gzip.compress(long))) == ["https://www.example.com/first"]
    with pytest.raises(BadContent):
        read_sitemap(gzip.compress(gzip.compress(urlset(row("/a")))), URL, max_bytes=2**20)


def test_a_long_loc_or_many_elements_cost_little() -> None:
    long = urlset(row("/" + "a" * 1_000_000), "<x/>" * 50_000, row("/end"))
    assert read(long, 2**24) == {"https://www.example.com/end": 0.0}


@given(st.binary(max_size=400))
def test_any_bytes_give_a_sitemap_or_our_error(body: bytes) -> None:
    try:
        read_sitemap(b"<urlset>" + body, URL, max_bytes=2**16)
        read_sitemap(body, URL, max_bytes=2**16)
    except PeriplusError:
        return
