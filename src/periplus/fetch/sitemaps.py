"""Sitemaps: lists of a site's URLs, read with bounds on everything.

A sitemap is XML (a list of URLs, an index of further sitemaps, or a feed in RSS or Atom) or plain text with a URL a
line, perhaps in gzip. A document type may declare entities that grow without end, so a file with one is not read at
all. A file that breaks off gives what came before; one that is no XML for what many programs get wrong (blank lines
above it, a bare `&`, a byte that is no UTF-8) is mended and read once more. Pure: it runs in the guarded worker
processes like everything that reads what servers send.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from xml.parsers import expat

from periplus.errors import BadContent
from periplus.fetch.decode import decode_part
from periplus.urls import canonicalize, registrable_domain

__all__ = ["MAX_SITEMAPS", "Sitemap", "SitemapEntry", "read_sitemap"]

MAX_SITEMAPS = 50
"""Further sitemaps that are taken from one index."""

MAX_ENTRIES = 50_000
MAX_LOC_CHARS = 8_192
MAX_LASTMOD_CHARS = 40
GZIP = b"\x1f\x8b"
CHUNK = 65_536

FEEDS: dict[str, tuple[str, ...]] = {"rss": ("item",), "rdf": ("item",), "feed": ("entry",)}
"""What lists pages in feeds, by their outermost element; in anything else `url` does, and `sitemap` further ones."""

PARTS = {"loc": "loc", "lastmod": "lastmod"}
FEED_PARTS = {"link": "loc", "pubdate": "lastmod", "date": "lastmod", "updated": "lastmod"}
"""What says where an entry leads and when it changed, in sitemaps and in feeds."""

BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)")
ENCODING = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})""")
CONTROL = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)])

DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$")


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A URL of the site, and when it changed last (Unix time; 0: not said)."""

    url: str
    lastmod: float = 0.0


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap lists: pages, further sitemaps, and how many entries were not taken, by reason."""

    entries: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)


class _Stop(BaseException):
    """Enough was read. Not an Exception: expat hands it on as it is."""


@dataclass(slots=True)
class _Reader:
    """Collects where each `url` or `sitemap` (in feeds: `item`, `entry`) leads, and when it changed.

    Only what stands directly in such an element counts: the `loc` of a picture in it leads elsewhere.
    """

    most: int
    pages: list[tuple[str, str]] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    entries: tuple[str, ...] = ()
    level: int = 0
    parent: str = ""
    parent_level: int = 0
    part: str = ""
    loc: str = ""
    lastmod: str = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2].lower()
        self.level += 1
        self.part = ""
        self.entries = self.entries or FEEDS.get(name, ("url", "sitemap"))
        if name in self.entries:
            self.parent, self.parent_level, self.loc, self.lastmod = name, self.level, "", ""
        elif self.parent and self.level == self.parent_level + 1:
            feed = self.parent in ("item", "entry")
            self.part = (FEED_PARTS if feed else PARTS).get(name, "")
            if feed and name == "link" and attributes.get("rel", "alternate") == "alternate":  # RSS has it as text
                self.loc = self.loc or attributes.get("href", "")[:MAX_LOC_CHARS]

    def text(self, data: str) -> None:
        if self.part == "loc" and len(self.loc) < MAX_LOC_CHARS:
            self.loc += data
        elif self.part == "lastmod" and len(self.lastmod) < MAX_LASTMOD_CHARS:
            self.lastmod += data

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2].lower()
        self.level -= 1
        self.part = ""
        if name != self.parent or self.level != self.parent_level - 1:
            return
        if name == "sitemap":
            self.sitemaps.append(self.loc.strip())
            if len(self.sitemaps) >= MAX_SITEMAPS:
                raise _Stop
        else:
            self.pages.append((self.loc.strip(), self.lastmod.strip()))
            if len(self.pages) >= self.most:
                raise _Stop
        self.parent = ""


def read_sitemap(body: bytes, url: str, *, max_bytes: int, max_urls: int = MAX_ENTRIES) -> Sitemap:
    """Read a sitemap that came from `url`, unpacked up to `max_bytes`. Raises BadContent if it is none."""
    if body.startswith(GZIP):
        body, _ = decode_part(body, "gzip", max_bytes, cut=True)
    if body.startswith(GZIP):
        raise BadContent(f"{url}: gzip in gzip")
    most = min(max_urls, MAX_ENTRIES)
    if body.lstrip(b"\xef\xbb\xbf\xfe\xff\0 \t\r\n").startswith((b"<", b"\0<")):
        reader = _read_xml(body, url, most)
    else:
        reader = _read_text(body, url, most)
    return _settled(reader, url)


def _read_xml(body: bytes, url: str, most: int) -> _Reader:
    reader, error = _parsed(body, url, most)
    if error is not None:
        mended, _ = _parsed(_mended(body), url, most)
        if len(mended.pages) + len(mended.sitemaps) > len(reader.pages) + len(reader.sitemaps):
            reader = mended
    if error is not None and not reader.pages and not reader.sitemaps:
        raise BadContent(f"{url}: not a sitemap: {error}")
    return reader


def _mended(body: bytes) -> bytes:
    """The file without what most often keeps it from being XML."""
    clean = BARE.sub(b"&amp;", body.translate(None, CONTROL).lstrip(b"\xef\xbb\xbf \t\r\n"))
    said = ENCODING.match(clean)
    return clean if said and said[1].lower() != b"utf-8" else clean.decode("utf-8", "replace").encode()


def _parsed(body: bytes, url: str, most: int) -> tuple[_Reader, expat.ExpatError | None]:
    """What a file lists, and what ended it early if anything did."""
    reader = _Reader(most)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse(url)
    try:
        for start in range(0, len(body), CHUNK):
            parser.Parse(body[start : start + CHUNK], start + CHUNK >= len(body))
    except expat.ExpatError as error:
        return reader, error
    except _Stop:
        pass
    return reader, None


def _refuse(url: str) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise BadContent(f"{url}: a sitemap with a document type is not read")

    return refuse


def _read_text(body: bytes, url: str, most: int) -> _Reader:
    reader = _Reader(most)
    for line in body.decode("utf-8-sig", "replace").splitlines():
        text = line.strip()
        if not text:
            continue
        if not text.startswith(("http://", "https://")):
            raise BadContent(f"{url}: not a sitemap: a line is not a URL")
        if len(reader.pages) >= most:
            break
        reader.pages.append((text, ""))
    return reader


def _settled(reader: _Reader, url: str) -> Sitemap:
    """Canonical URLs of the sitemap's own site, each once. Nobody may list the pages of others."""
    base = canonicalize(url)
    site = registrable_domain(base.host) if base else ""
    dropped: Counter[str] = Counter()
    entries: dict[str, float] = {}
    for loc, lastmod in reader.pages:
        if href := _own(loc, url, site, dropped):
            entries[href] = max(entries.get(href, 0.0), _unix_time(lastmod))
    sitemaps = dict.fromkeys(href for loc in reader.sitemaps if (href := _own(loc, url, site, dropped)))
    return Sitemap(tuple(SitemapEntry(*entry) for entry in entries.items()), tuple(sitemaps), dict(dropped))


def _own(loc: str, url: str, site: str, dropped: Counter[str]) -> str:
    """The URL that a sitemap names; empty, and counted, if it is none or one of another site."""
    target = canonicalize(loc, url) if loc else None
    if target is not None and registrable_domain(target.host) == site:
        return target.href
    dropped["sitemap_host" if target is not None else "not_http"] += 1
    return ""


def _unix_time(text: str) -> float:
    """A W3C date or time, or one as RSS writes it, as Unix time; 0 where it is none."""
    day = DAY.match(text)
    try:
        if day:
            return datetime(int(day[1]), int(day[2] or 1), int(day[3] or 1), tzinfo=UTC).timestamp()
        at = parsedate_to_datetime(text) if text[:1].isalpha() else datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
