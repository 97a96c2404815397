"""What outsiders can feed us, each as a function of bytes: a result or a PeriplusError and nothing else.

Used by `tests/unit/test_fuzz.py` (Hypothesis) and `scripts/fuzz.py` (atheris, or plain mutation).
"""

import asyncio
import contextlib
import functools
import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from crawl_values import fetched
from scripted_transport import ScriptedTransport

from periplus.errors import PeriplusError
from periplus.exchange.envelope import VERSION, open_envelope
from periplus.fetch import RobotsBook
from periplus.fetch.decode import decode_content
from periplus.fetch.sitemaps import read_sitemap
from periplus.pages import read_page
from periplus.places import Gazetteer, locate, open_gazetteer
from periplus.search.request import parse_bbox, parse_day, parse_near
from periplus.search.words import take_apart
from periplus.settings import FetchSettings
from periplus.store.archive import page_records
from periplus.store.recorded import RecordedWeb
from periplus.urls import canonicalize, fingerprint

__all__ = ["SEEDS", "TARGETS"]

ORIGIN = "http://example.com"
PAGE = (
    b'<!doctype html><html lang=en><head><meta charset=utf-8><title>Flood in Houston</title><base href="/a/">'
    b"<meta name=robots content=noindex>"
    b'<script type="application/ld+json">{"@type":"Place","geo":{"latitude":1}}</script>'
    b'</head><body><p>Floods hit Houston, Texas on 3 May 2026.</p><a href="b?c=d#e" rel=nofollow>Austin</a>'
    b"<table><tr><td>1200 Main Street, Springfield, IL 62701</table></body></html>"
)


@functools.cache
def _gazetteer() -> Gazetteer:
    return open_gazetteer()


def _url(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    url = canonicalize(text, "http://base.example/a/b?c")
    if url is not None:
        again = canonicalize(url.href)
        assert again is not None, url.href
        assert again.href == url.href, "canonical twice is canonical once"
        fingerprint(url.href)


def _robots(data: bytes) -> None:
    transport = ScriptedTransport()
    transport.answers[f"{ORIGIN}/robots.txt"] = (200, data, {})
    book = RobotsBook(transport, FetchSettings(), retries=1, retry_seconds=1)
    url = canonicalize(f"{ORIGIN}/a/b?c=d")
    assert url is not None
    asyncio.run(book.learn(ORIGIN, 0.0))
    assert book.decide(url, 0.5) is not None  # what is no text is asked for again a second later
    book.sitemaps(ORIGIN)
    book.delays()


def _page(data: bytes) -> None:
    page = read_page(fetched(f"{ORIGIN}/a/", data, content_type="text/html"), max_links=500, window_tokens=50)
    assert len(page.links) <= 500
    msgspec.msgpack.encode(page.text)  # no lone surrogate is left


def _places(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for mention in locate(text, _gazetteer()).mentions:
        assert text[mention.start : mention.end] == mention.text


def _query(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for parse in (take_apart, parse_bbox, parse_near, lambda value: parse_day(value, "since")):
        with contextlib.suppress(PeriplusError):
            parse(text)


def _warc(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.warc.gz"
        path.write_bytes(data)
        for response in RecordedWeb(path).responses():
            assert isinstance(response.body, bytes)


def _sitemap(data: bytes) -> None:
    read_sitemap(data, f"{ORIGIN}/sitemap.xml", max_bytes=2**20, max_urls=100)


def _encoding(data: bytes) -> None:
    for name in ("gzip", "deflate", "br", "zstd", "gzip, br"):
        with contextlib.suppress(PeriplusError):
            assert len(decode_content(data, name, 2**16)) <= 2**16


TARGETS: dict[str, Callable[[bytes], object]] = {
    "url": _url,
    "robots": _robots,
    "page": _page,
    "places": _places,
    "query": _query,
    "envelope": open_envelope,
    "warc": _warc,
    "sitemap": _sitemap,
    "encoding": _encoding,
}

SEEDS: dict[str, list[bytes]] = {
    "url": [b"http://user:pw@EX\xc3\xa4mple.com:8080/a/../b;jsessionid=1?utm_source=x&c=%41#d", b"//[::1]:80/%zz"],
    "robots": [b"User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 3\nSitemap: http://example.com/s.xml\n"],
    "page": [PAGE],
    "places": ["Floods hit Houston, Texas. 1200 Main Street, Springfield, IL 62701. São Paulo, Łódź".encode()],
    "query": [b'pizza "deep dish" in Chicago, IL -thin near:41.8,-87.6 since:2026-01-01', b"1,2,3,4"],
    "envelope": [msgspec.msgpack.encode([VERSION, "a.1", "b", 0, [[1, "http://x.com/", 0.5, 1, 0, False, ""]]])],
    "warc": [b"".join(page_records(fetched(), {})), gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\n\r\n")],
    "sitemap": [b"<urlset><url><loc>http://example.com/a</loc><lastmod>2026-01-01</lastmod></url></urlset>"],
    "encoding": [gzip.compress(PAGE)],
}
