"""HTML to `Page`: title, text with its blocks, links with what stands around them.

Links are found again in the extracted text by marks put into the tree before the text is taken out of it, so
that a link's neighbourhood costs one pass over the text and not a walk through the tree for each link.
"""

import re

from selectolax.lexbor import LexborHTMLParser

from periplus.model import Fetched, Link, Page
from periplus.pages.dates import published_date
from periplus.pages.encoding import decode_html
from periplus.pages.metadata import Metadata, read_metadata
from periplus.urls import canonicalize

__all__ = ["read_page"]

NOT_TEXT = [
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "object",
    "embed",
    "canvas",
    "select",
    "textarea",
]
BLOCKS = (
    "address,article,aside,blockquote,br,caption,dd,details,div,dl,dt,fieldset,figcaption,figure,footer,form,h1,h2,h3,h4,"
    "h5,h6,header,hr,li,main,nav,ol,option,p,pre,section,summary,table,tbody,td,tfoot,th,thead,tr,ul"
)
BLOCK_MARK, LINK_START, LINK_NUMBER_END, LINK_END = "\x01", "\x02", "\x03", "\x04"
MARKS = re.compile(f"{LINK_START}(\\d+){LINK_NUMBER_END}|({LINK_END})")
CONTROL = re.compile("[\\x00-\\x08\\x0b\\x0e-\\x1f]+")
"""Control characters are dropped from the source, also because four of them are our marks."""

MAX_TITLE_CHARS = 500
MAX_DESCRIPTION_CHARS = 1_000
MAX_ANCHOR_CHARS = 500
MAX_TEXT_CHARS = 2_000_000
CHARS_PER_TOKEN = 12
"""How far to look for a window of tokens: generous for Latin scripts, and a bound for text without spaces."""

REFRESH_URL = re.compile(r"""^\s*(\d+)\s*[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]+)""", re.IGNORECASE)


def read_page(fetched: Fetched, *, max_links: int = 500, window_tokens: int = 50) -> Page:
    """Read an HTML response. Pure: the same bytes give the same Page."""
    source = CONTROL.sub("", decode_html(fetched.body, fetched.content_type))
    tree = LexborHTMLParser(source)
    metadata = read_metadata(tree)
    base = _base_url(tree, fetched.url)
    title_node = tree.css_first("title")
    title = " ".join(title_node.text().split())[:MAX_TITLE_CHARS] if title_node else ""
    canonical_node = tree.css_first('link[rel="canonical"][href]')
    canonical = canonicalize(canonical_node.attributes.get("href") or "", base) if canonical_node else None
    html_node = tree.css_first("html")
    language = (html_node.attributes.get("lang") or "") if html_node else ""
    directives = _directives(metadata, fetched)
    text, links = _text_and_links(tree, base, max_links, window_tokens)
    if not title:
        title = text[:MAX_TITLE_CHARS].partition("\n")[0][:80]
    return Page(
        url=fetched.url,
        title=title,
        text=text,
        links=(*_refresh_link(metadata, base), *links),
        language=language.partition("-")[0].partition("_")[0].strip().lower()[:8],
        published=published_date(metadata.dates, fetched.url, fetched.fetched_at.date()),
        canonical=canonical.href if canonical else None,
        noindex="noindex" in directives or "none" in directives,
        nofollow="nofollow" in directives or "none" in directives,
        description=" ".join(metadata.description.split())[:MAX_DESCRIPTION_CHARS],
        hints=metadata.hints(),
    )


def _base_url(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    base = canonicalize(node.attributes.get("href") or "", url) if node else None
    return base.href if base else url


def _directives(metadata: Metadata, fetched: Fetched) -> set[str]:
    """What the robots meta tags and X-Robots-Tag headers ask for, addressed to everybody or to us."""
    texts = [metadata.robots]
    for name, value in fetched.headers:
        if name.lower() == "x-robots-tag":
            agent, colon, rest = value.partition(":")
            if not colon or "," in agent:
                texts.append(value)
            elif agent.strip().lower() == "periplus":
                texts.append(rest)
    return {word.strip().lower() for text in texts for word in text.split(",")}


def _text_and_links(tree: LexborHTMLParser, base: str, max_links: int, window_tokens: int) -> tuple[str, list[Link]]:
    """The page's text, one line a block, and its links in document order."""
    tree.strip_tags(NOT_TEXT)
    body = tree.body
    if body is None:
        return "", []
    hrefs: list[tuple[str, str]] = []  # canonical URL, text to use if the link has none of its own
    for node in body.css("a[href]"):
        attributes = node.attributes
        url = canonicalize(attributes.get("href") or "", base)
        if url is None or "nofollow" in (attributes.get("rel") or "").lower():
            continue
        if len(hrefs) >= max_links:
            break
        node.insert_before(f"{LINK_START}{len(hrefs)}{LINK_NUMBER_END}")
        node.insert_after(LINK_END)
        image = node.css_first("img[alt]")
        spare = (image.attributes.get("alt") if image else None) or attributes.get("title") or ""
        hrefs.append((url.href, spare))
    for node in body.css(BLOCKS):
        node.insert_before(BLOCK_MARK)
        node.insert_after(BLOCK_MARK)
    marked = body.text()[: MAX_TEXT_CHARS + 16 * len(hrefs)]
    lines = (" ".join(block.split()) for block in marked.split(BLOCK_MARK))
    return _resolve_marks("\n".join(line for line in lines if line), hrefs, window_tokens)


def _resolve_marks(marked: str, hrefs: list[tuple[str, str]], window_tokens: int) -> tuple[str, list[Link]]:
    """Take the marks out of the text and cut each link's neighbourhood from what is left."""
    pieces: list[str] = []
    spans: dict[int, tuple[int, int]] = {}
    position = length = 0
    opened: int | None = None
    for match in MARKS.finditer(marked):
        piece = marked[position : match.start()]
        pieces.append(piece)
        length += len(piece)
        position = match.end()
        if match[1] is not None:
            opened = int(match[1])
            spans[opened] = (length, length)
        elif opened is not None:
            spans[opened] = (spans[opened][0], length)
            opened = None
    pieces.append(marked[position:])
    text = "".join(pieces)
    reach = window_tokens * CHARS_PER_TOKEN
    links = []
    for number, (url, spare) in enumerate(hrefs):
        start, end = spans.get(number, (0, 0))
        anchor = " ".join(text[start : min(end, start + MAX_ANCHOR_CHARS)].split())
        before = text[max(0, start - reach) : start].split()[-window_tokens:] if window_tokens else []
        after = text[end : end + reach].split()[:window_tokens]
        anchor = anchor or spare[:MAX_ANCHOR_CHARS]
        links.append(Link(url, anchor, " ".join(before), " ".join(after), start, end))
    return text, links


def _refresh_link(metadata: Metadata, base: str) -> list[Link]:
    """A meta refresh to another page is a link like any other."""
    match = REFRESH_URL.match(metadata.refresh[:2_048])
    url = canonicalize(match[2], base) if match else None
    return [Link(url.href, "")] if url else []
