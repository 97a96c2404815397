"""HTML to `Page`: title, text with its blocks, links with what stands around them.

The parser makes a tree of whatever comes; `flow.py` reads text and links off it in one pass.
"""

import re
from collections.abc import Callable
from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from periplus.model import Fetched, Link, Page
from periplus.pages.bounds import bounded
from periplus.pages.dates import names_a_day, published_date
from periplus.pages.directives import read_directives
from periplus.pages.encoding import html_in_utf8, with_query_in
from periplus.pages.flow import MAX_ANCHOR_CHARS, read_flow
from periplus.pages.language import page_language
from periplus.pages.maintext import furniture_of, without
from periplus.pages.metadata import read_metadata
from periplus.pages.signs import CONTROL_SIGN, CROWD_SIGN, REFERENCE_SIGN, TURNING_SIGN, signs_of
from periplus.pages.titles import MAX_TITLE_CHARS, page_title
from periplus.urls import CanonicalUrl, canonical_links, canonicalize, registrable_domain

__all__ = ["HTML_SUFFIXES", "is_html", "read_page"]

NOT_TEXT = [
    "script",
    "style",
    "template",
    "svg",
    "iframe",
    "object",
    "embed",
    "canvas",
    "select",
    "textarea",
]
CONTROL = bytes([*range(0x09), 0x0B, *range(0x0E, 0x20)])
CONTROL_REFERENCE = re.compile(
    rb"&#(?:0*(?:[0-8]|11|1[4-9]|2\d|3[01]|823[4-8]|829[4-7])(?!\d)"
    rb"|[xX]0*(?:[0-8bBeEfF]|1[0-9a-fA-F]|202[a-eA-E]|206[6-9])(?![0-9a-fA-F]));?"
)
"""Control characters are dropped from the source."""

TURNING = re.compile(rb"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])")
"""Characters that turn the direction of what follows, in UTF-8: a title could make what stands
behind it read otherwise.
Marks (U+200E, U+200F) and joiners turn nothing, and languages need them."""

MAX_DESCRIPTION_CHARS = 1_000
SPARE_DESCRIPTION_CHARS = 300
"""Where a page does not describe itself, the beginning of its main text does."""

MAX_TEXT_CHARS = 500_000

LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?:[-_][a-z0-9-]{0,20})?\s*$")
REGION = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})", re.IGNORECASE)
MAX_VERSIONS = 200
MAX_LANGUAGES = 20
"""Versions in other languages that are followed."""

OLD_CODES = {"iw": "he", "in": "id", "ji": "yi"}
"""Languages whose codes have changed, under which some programs still write them."""
REFRESH_URL = re.compile(
    r"""\s*+(?:\d+[\d.]*+|\.[\d.]*+)(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?"""
    r"""(?:(?P<quote>["'])(?P<quoted>.*?)(?:(?P=quote)|$)|(?P<plain>.+))""",
    re.IGNORECASE | re.DOTALL,
)
"""As browsers read it: seconds, a separator, perhaps `url=`, and then all there is, or what stands in quotes."""


LONG_SPARE, MANY_SPARE, MAX_SPARES = 300, 5, 50
"""Characters, or links, from which what a page has for readers without scripts (`noscript`) is more than a notice."""

NEXT = 'link[rel~="next" i][href]'
NEXT_SIGN = re.compile(rb"rel=[\"']?next")
"""Where a list loads its next part as one scrolls, only its head names it."""

MAX_DRAWN = 200
"""Links of drawings that are followed: the regions of a map that one can click on."""

LEAST_TEXT_CHARS = 200
SCRIPTED = re.compile(
    rb"(?<![\w.$])(?:(?:window|document|self|top|parent)\s*+\.\s*+)?location(?:\s*+\.\s*+href)?\s*+"
    rb"(?:=|\.\s*+(?:replace|assign)\s*+\()\s*+[\"'](?P<url>[^\"'\s<>]{1,2048})[\"']"
)
"""A page that has nothing but a script that leads elsewhere, as front pages of sites in several languages do."""

HTML_SUFFIXES = (".html", ".htm", ".xhtml")


def is_html(data: bytes, name: str) -> bool:
    """Whether a file is an HTML page, by how it begins or what it is called."""
    beginning = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1_000].lower()  # XML says what it is first, some comment
    marked = beginning.startswith(b"<") and (b"<!doctype html" in beginning or b"<html" in beginning)
    return marked or name.lower().endswith(HTML_SUFFIXES)


def read_page(fetched: Fetched, *, max_links: int = 500, window_tokens: int = 50) -> Page:
    """Read an HTML response. Pure: the same bytes give the same Page."""
    whole, signs, codec = _source(fetched)
    source, cut_off = bounded(whole, crowd=CROWD_SIGN in signs)
    tree = LexborHTMLParser(source)
    metadata = read_metadata(tree, signs)
    base = _base_url(tree, fetched.url, codec) if b"base" in signs else fetched.url
    title = page_title(tree, metadata.title, metadata.site_name, fetched.url)
    canonical_node = tree.css_first('link[rel~="canonical" i][href]') if b"canonical" in signs else None
    canonical = _resolved(canonical_node.attributes.get("href") or "", base, codec) if canonical_node else None
    version_of = _version_of(canonical, fetched.url)
    stated = _stated_language(tree, signs, fetched)
    versions = _language_versions(tree, base, codec) if b"hreflang" in signs else []
    own_countries = _own_countries(versions, fetched.url)
    directives = read_directives(metadata.robots, fetched)
    published = published_date(metadata.dates, fetched.url, fetched.fetched_at.date())
    dropped = dict(cut_off)
    frames = _frames(tree) if b"frameset" in signs else []
    ahead = _next_part(tree) if b"next" in signs and NEXT_SIGN.search(source) else []
    drawn = _drawn_links(tree, base, codec, dropped) if b"svg" in signs and _has_drawn(source) else []
    written = _written(tree, source, signs)
    flow = read_flow(written, MAX_TEXT_CHARS)
    text = flow.text if flow else ""
    taken = _taken(flow.written() if flow else frames, base, codec, max_links, dropped)
    links = flow.placed(taken, window_tokens) if flow else [Link(url, "", "", "", 0, 0, 0, 0) for _, url in taken]
    if not links and not drawn and len(text) < LEAST_TEXT_CHARS:
        ahead += [found["url"].decode("utf-8", "replace") for found in islice(SCRIPTED.finditer(source), 1)]
    furniture = tuple(furniture_of(text, [(link.start, link.end) for link in links], flow.apart if flow else []))

    def content() -> str:  # most pages say themselves what it would be asked for
        return without(text, furniture)

    return Page(
        url=fetched.url,
        title=title or text[:MAX_TITLE_CHARS].partition("\n")[0][:80],
        text=text,
        furniture=furniture,
        headings=tuple(flow.headings) if flow else (),
        links=(
            *_refresh_link(metadata.refresh or fetched.header("Refresh") or "", base, codec),
            *links,
            *drawn,
            *_unseen_links(ahead, base, codec),
            *_other_languages(versions, fetched.url),
            *([Link(version_of, "")] if version_of else ()),
        ),
        language=page_language(stated, text),
        published=published,
        names_a_day=published is None and names_a_day(text, written),
        canonical=canonical.href if canonical else None,
        noindex="noindex" in directives or "none" in directives,
        nofollow="nofollow" in directives or "none" in directives,
        description=_description(metadata.description, content),
        hints=metadata.hints(lambda: f"{title}\n{content()}", own_countries),
        dropped=dropped,
        version_of=version_of,
    )


def _source(fetched: Fetched) -> tuple[bytes, frozenset[bytes], str]:
    """The document in UTF-8, its signs, and the encoding that it came in.

    What controls a terminal or the direction of text is taken out, as it is written and as it is referred to.
    """
    source, codec = html_in_utf8(fetched.body, fetched.content_type, fetched.url)
    signs = signs_of(source)
    if signs.isdisjoint((CONTROL_SIGN, REFERENCE_SIGN, TURNING_SIGN)):
        return source, signs, codec
    clean = TURNING.sub(b"", source.translate(None, CONTROL))
    clean = CONTROL_REFERENCE.sub(b" ", clean) if b"&#" in clean else clean  # a blank: nothing grows together
    return clean, signs if len(clean) == len(source) else signs_of(clean), codec


def _description(stated: str, content: Callable[[], str]) -> str:
    """What the page says of itself, else how it begins."""
    said = stated or content()[:SPARE_DESCRIPTION_CHARS]
    return " ".join(said.split())[:MAX_DESCRIPTION_CHARS]


def _resolved(href: str, base: str, codec: str) -> CanonicalUrl | None:
    """Where something that is written in a page of that encoding leads."""
    return canonicalize(with_query_in(codec, href), base)


def _version_of(canonical: CanonicalUrl | None, url: str) -> str:
    """The URL that the page says its content is at, if that is another one of its site; empty if not.

    A page that names its site's front page is mistaken: templates do that on every page.
    """
    own = canonicalize(url)
    if canonical is None or own is None or canonical.href == own.href:
        return ""
    if canonical.path == "/" and not canonical.query and own.path != "/":
        return ""
    return canonical.href if registrable_domain(canonical.host) == registrable_domain(own.host) else ""


def _base_url(tree: LexborHTMLParser, url: str, codec: str) -> str:
    node = tree.css_first("base[href]")
    base = _resolved(node.attributes.get("href") or "", url, codec) if node else None
    return base.href if base else url


def _frames(tree: LexborHTMLParser) -> list[tuple[str, str]]:
    return [(node.attributes.get("src") or "", "") for node in tree.css("frameset frame[src]")]


def _stated_language(tree: LexborHTMLParser, signs: frozenset[bytes], fetched: Fetched) -> str:
    """The page's own word on its language: the tag, a meta tag, the header; empty if none is a language."""
    html_node = tree.root
    stated = b"content-language" in signs
    meta = tree.css_first('meta[http-equiv="content-language" i][content]') if stated else None
    for text in (
        *((html_node.attrs.get("lang"), html_node.attrs.get("xml:lang")) if html_node else ()),
        meta.attrs.get("content") if meta else None,
        fetched.header("Content-Language"),
    ):
        match = LANGUAGE.match((text or "").lower())
        if match:
            return OLD_CODES.get(match[1], match[1])
    return ""


def _language_versions(tree: LexborHTMLParser, base: str, codec: str) -> list[tuple[str, str]]:
    """The versions of the page in other languages and for other countries that it lists: language and URL."""
    found = []
    for node in tree.css('link[rel~="alternate" i][hreflang][href]')[:MAX_VERSIONS]:
        url = _resolved(node.attributes.get("href") or "", base, codec)
        if url is not None:
            found.append((node.attributes.get("hreflang") or "", url.href))
    return found


def _own_countries(versions: list[tuple[str, str]], url: str) -> tuple[str, ...]:
    """The countries that the page says it is for, among the versions of it that it lists."""
    regions = [REGION.fullmatch(language) for language, href in versions if href == url]
    return tuple(dict.fromkeys(region[1].upper() for region in regions if region))


def _other_languages(versions: list[tuple[str, str]], url: str) -> list[Link]:
    """Where the page is in other languages: a place's own language often says more, and only the page's head may."""
    others = dict.fromkeys(href for _, href in versions if href != url)
    return [Link(href, "") for href in islice(others, MAX_LANGUAGES)]


def _written(tree: LexborHTMLParser, source: bytes, signs: frozenset[bytes]) -> str:
    """The document written out again without what is no text.

    What stands there for readers without scripts is text where it is more than a notice: some have their articles, or
    the links to them, nowhere else.
    """
    if b"noscript" in signs and _has_spare(source):
        tree.strip_tags(NOT_TEXT)
        plain = tree.css_first("body a[href]:not(noscript a)") is None
        for node in tree.css("noscript")[:MAX_SPARES]:
            links = len(node.css("a[href]"))
            if links >= MANY_SPARE or (plain and links) or len(" ".join(node.text().split())) >= LONG_SPARE:
                node.unwrap()
    tree.strip_tags([*NOT_TEXT, "noscript"])
    return tree.html or ""


def _has_spare(source: bytes) -> bool:
    """Whether any `noscript` is longer than the picture or counter that most of them are."""
    lowered = source.lower()
    start = lowered.find(b"<noscript")
    while start >= 0:
        end = lowered.find(b"</noscript", start)
        if end < 0 or lowered.count(b"<a ", start, end) or end - start >= LONG_SPARE:
            return True
        start = lowered.find(b"<noscript", end)
    return False


def _taken(
    written: list[tuple[str, str]], base: str, codec: str, max_links: int, dropped: dict[str, int]
) -> list[tuple[int, str]]:
    """The numbers of the links (href and rel) that are followed, with their canonical URLs."""
    taken: list[tuple[int, str]] = []
    urls = canonical_links((with_query_in(codec, href) for href, _ in written), base)
    for number, ((_, rel), url) in enumerate(zip(written, urls, strict=True)):
        if len(taken) >= max_links:
            dropped["page_links"] = dropped.get("page_links", 0) + len(written) - number
            break
        if url is not None and not (rel and "nofollow" in rel.lower()):
            taken.append((number, url.href))
        else:
            reason = "nofollow" if url else "not_http"
            dropped[reason] = dropped.get(reason, 0) + 1
    return taken


def _has_drawn(source: bytes) -> bool:
    """Whether a link stands in a drawing; most drawings are signs that stand in links."""
    start = source.find(b"<svg")
    while start >= 0:
        end = source.find(b"</svg", start)
        if source.find(b"<a ", start, end if end >= 0 else len(source)) >= 0:
            return True
        start = source.find(b"<svg", end) if end >= 0 else -1
    return False


def _drawn_links(tree: LexborHTMLParser, base: str, codec: str, dropped: dict[str, int]) -> list[Link]:
    """The links of drawings, each with what it is called."""
    nodes = [node for node in tree.css("svg a") if "href" in node.attributes or "xlink:href" in node.attributes]
    written = [
        (node.attributes.get("href") or node.attributes.get("xlink:href") or "", node.attributes.get("rel") or "")
        for node in nodes
    ]
    taken = _taken(written, base, codec, MAX_DRAWN, dropped)
    return [Link(url, " ".join(nodes[number].text().split())[:MAX_ANCHOR_CHARS]) for number, url in taken]


def _next_part(tree: LexborHTMLParser) -> list[str]:
    return [node.attributes.get("href") or "" for node in tree.css(NEXT)[:1]]


def _unseen_links(hrefs: list[str], base: str, codec: str) -> list[Link]:
    """Where a page leads without saying so to its readers: to its next part, or by a script."""
    found = (_resolved(href, base, codec) for href in hrefs)
    return [Link(url.href, "") for url in found if url]


def _refresh_link(refresh: str, base: str, codec: str) -> list[Link]:
    """What a meta tag or header says to go on to is a link like any other."""
    match = REFRESH_URL.match(refresh[:2_048])
    url = _resolved(match["quoted"] or match["plain"], base, codec) if match else None
    return [Link(url.href, "")] if url else []
