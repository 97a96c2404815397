"""HTML to `Page`: title, text with its blocks, links with what stands around them.

Links are found again in the extracted text by marks put into the tree before the text is taken out of it, so
that a link's neighbourhood costs one pass over the text and not a walk through the tree for each link.
"""

import re
from bisect import bisect_left
from collections import Counter

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

from periplus.model import Fetched, Link, Page
from periplus.pages.bounds import bounded
from periplus.pages.dates import published_date
from periplus.pages.encoding import decode_html
from periplus.pages.language import detect_language
from periplus.pages.maintext import main_text
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
MARKS = re.compile(LINK_START + r"(\d{1,9})" + LINK_NUMBER_END + f"|({LINK_END})")
CONTROL = bytes([*range(0x09), 0x0B, *range(0x0E, 0x20)])
CONTROL_REFERENCE = re.compile(
    rb"&#(?:0*(?:[0-8]|11|1[4-9]|2\d|3[01])(?!\d)|[xX]0*(?:[0-8bBeEfF]|1[0-9a-fA-F])(?![0-9a-fA-F]));?"
)
"""Control characters are dropped from the source, also because four of them are our marks."""

MAX_TITLE_CHARS = 500
MAX_DESCRIPTION_CHARS = 1_000
SPARE_DESCRIPTION_CHARS = 300
"""Where a page does not describe itself, the beginning of its main text does."""

MAX_ANCHOR_CHARS = 500
MAX_TEXT_CHARS = 500_000
SPACE, LINE_BREAK = ord(" "), ord("\n")
CHARS_PER_TOKEN = 12
"""How far to look for a window of tokens: generous for Latin scripts, and a bound for text without spaces."""

LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?:[-_][a-z0-9-]{0,20})?\s*$")
VALUED_DIRECTIVES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
MAX_DIRECTIVES = 100
REFRESH_URL = re.compile(r"""^\s*(\d+)\s*[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]+)""", re.IGNORECASE)


def read_page(fetched: Fetched, *, max_links: int = 500, window_tokens: int = 50) -> Page:
    """Read an HTML response. Pure: the same bytes give the same Page."""
    source, links_cut_off = bounded(_source(fetched))
    tree = LexborHTMLParser(source)
    metadata = read_metadata(tree)
    base = _base_url(tree, fetched.url)
    title_node = tree.css_first("head > title") or tree.css_first("title")  # drawings have titles too
    title = " ".join(title_node.text().split())[:MAX_TITLE_CHARS] if title_node else ""
    canonical_node = tree.css_first('link[rel~="canonical" i][href]')
    canonical = canonicalize(canonical_node.attributes.get("href") or "", base) if canonical_node else None
    language = _stated_language(tree, fetched)
    directives = _directives(metadata, fetched)
    dropped: Counter[str] = Counter({"page_links": links_cut_off} if links_cut_off else {})
    text, links = _text_and_links(tree, base, max_links, window_tokens, dropped)
    content = main_text(text, [(link.start, link.end) for link in links if link.start >= 0])
    if not title:
        title = text[:MAX_TITLE_CHARS].partition("\n")[0][:80]
    return Page(
        url=fetched.url,
        title=title,
        text=text,
        main_text=content,
        links=(*_refresh_link(metadata, base), *links),
        language=language or detect_language(text),
        published=published_date(metadata.dates, fetched.url, fetched.fetched_at.date()),
        canonical=canonical.href if canonical else None,
        noindex="noindex" in directives or "none" in directives,
        nofollow="nofollow" in directives or "none" in directives,
        description=" ".join((metadata.description or content[:SPARE_DESCRIPTION_CHARS]).split())[
            :MAX_DESCRIPTION_CHARS
        ],
        hints=metadata.hints(),
        dropped=dict(dropped),
    )


def _source(fetched: Fetched) -> bytes:
    """The document in UTF-8, without control characters, written out or referred to."""
    source = decode_html(fetched.body, fetched.content_type).encode("utf-8", "replace").translate(None, CONTROL)
    return CONTROL_REFERENCE.sub(b" ", source)  # a blank: nothing grows together to a new one


def _base_url(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    base = canonicalize(node.attributes.get("href") or "", url) if node else None
    return base.href if base else url


def _stated_language(tree: LexborHTMLParser, fetched: Fetched) -> str:
    """The page's own word on its language: the tag, a meta tag, the header; empty if none is a language."""
    html_node = tree.css_first("html")
    meta = tree.css_first('meta[http-equiv="content-language" i][content]')
    for text in (
        *((html_node.attrs.get("lang"), html_node.attrs.get("xml:lang")) if html_node else ()),
        meta.attrs.get("content") if meta else None,
        fetched.header("Content-Language"),
    ):
        match = LANGUAGE.match((text or "").lower())
        if match:
            return match[1]
    return ""


def _directives(metadata: Metadata, fetched: Fetched) -> set[str]:
    """What the robots meta tags and X-Robots-Tag headers ask for, addressed to everybody or to us."""
    words = {word.strip().lower() for word in metadata.robots.split(",")}
    for name, value in fetched.headers:
        if name.lower() == "x-robots-tag":
            words |= _header_directives(value)
    return words


def _header_directives(value: str) -> set[str]:
    """The directives of one X-Robots-Tag that are for us: an agent's name counts until the next one."""
    words = set()
    ours = True
    for part in value.lower().split(",")[:MAX_DIRECTIVES]:
        agent, colon, word = part.partition(":")
        if not colon or agent.strip() in VALUED_DIRECTIVES:
            word = agent
        else:
            ours = agent.strip() == "periplus"
        if ours:
            words.add(word.strip())
    return words


def _text_and_links(
    tree: LexborHTMLParser, base: str, max_links: int, window_tokens: int, dropped: Counter[str]
) -> tuple[str, list[Link]]:
    """The page's text, one line a block, and its links in document order; what is not taken is counted."""
    frames = [(node.attributes.get("src") or "", "") for node in tree.css("frameset frame[src]")]
    tree.strip_tags(NOT_TEXT)
    body = tree.body
    if body is None:
        return "", [Link(url.href, "") for url in (canonicalize(src, base) for src, _ in frames[:max_links]) if url]
    taken = _mark_links(body, base, max_links, dropped)
    for node in body.css(BLOCKS):
        node.insert_before(BLOCK_MARK)
        node.insert_after(BLOCK_MARK)
    marked = body.text()
    if len(marked) > MAX_TEXT_CHARS:
        marked = marked[:MAX_TEXT_CHARS]
        if marked.rfind(LINK_START) > marked.rfind(LINK_NUMBER_END):
            marked = marked[: marked.rfind(LINK_START)]  # not in the middle of a mark
    lines = (" ".join(block.split()) for block in marked.split(BLOCK_MARK))
    text, spans = _resolve_marks("\n".join(line for line in lines if line))
    return text, _cut_links(text, spans, taken, window_tokens)


def _mark_links(body: LexborNode, base: str, max_links: int, dropped: Counter[str]) -> list[tuple[str, LexborNode]]:
    """Put marks around the links to be taken; gives their canonical URLs and nodes."""
    taken: list[tuple[str, LexborNode]] = []
    nodes = body.css("a[href], area[href]")
    for number, node in enumerate(nodes):
        if len(taken) >= max_links:
            dropped["page_links"] += len(nodes) - number
            break
        attributes = node.attrs
        url = canonicalize(attributes.get("href") or "", base)
        if url is None:
            dropped["not_http"] += 1
            continue
        if "nofollow" in (attributes.get("rel") or "").lower():
            dropped["nofollow"] += 1
            continue
        node.insert_before(f"{LINK_START}{len(taken)}{LINK_NUMBER_END}")
        node.insert_after(LINK_END)
        taken.append((url.href, node))
    return taken


def _resolve_marks(marked: str) -> tuple[str, dict[int, tuple[int, int]]]:
    """Take the marks out of the text; gives it with each link's span. No blanks double where a mark was."""
    pieces: list[str] = []
    spans: dict[int, tuple[int, int]] = {}
    position = length = 0
    last = "\n"
    opened: int | None = None
    for match in (*MARKS.finditer(marked), None):
        piece = marked[position : match.start() if match else len(marked)]
        if last == " " and piece.startswith("\n"):
            pieces[-1] = pieces[-1][:-1]
            length -= 1
        elif last in " \n":
            piece = piece.lstrip()
        if piece:
            pieces.append(piece)
            length += len(piece)
            last = piece[-1]
        if match is None:
            break
        position = match.end()
        if match[1] is not None:
            opened = int(match[1])
            spans[opened] = (length, length)
        elif opened is not None:
            spans[opened] = (spans[opened][0], length)
            opened = None
    return "".join(pieces).rstrip(), spans


def _cut_links(
    text: str, spans: dict[int, tuple[int, int]], taken: list[tuple[str, LexborNode]], window_tokens: int
) -> list[Link]:
    """Links with their anchor texts and the tokens around them, cut from the page's text."""
    starts = _token_starts(text) if taken and window_tokens else []
    reach = window_tokens * CHARS_PER_TOKEN
    links = []
    for number, (url, node) in enumerate(taken):
        start, end = spans.get(number, (0, 0))
        anchor = " ".join(text[start : min(end, start + MAX_ANCHOR_CHARS)].split())
        before = after = ""
        if starts:
            first = bisect_left(starts, start) - window_tokens
            stop = bisect_left(starts, end) + window_tokens
            until = starts[stop] if stop < len(starts) else len(text)
            before = text[max(0, start - reach, starts[first] if first > 0 else 0) : start].strip().replace("\n", " ")
            after = text[end : min(until, end + reach)].strip().replace("\n", " ")
        links.append(Link(url, anchor or _spare_anchor(node), before, after, start, end))
    return links


def _token_starts(text: str) -> list[int]:
    """Where the words of a text begin in which every blank is a single space or line break."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    blanks = np.flatnonzero((characters == SPACE) | (characters == LINE_BREAK))
    starts: list[int] = [0, *(blanks + 1).tolist()]
    return starts


def _spare_anchor(node: LexborNode) -> str:
    """What stands for a link without a text of its own."""
    text = node.attrs.get("alt") or node.attrs.get("title")
    if not text and (image := node.css_first("img[alt]")) is not None:
        text = image.attrs.get("alt")
    return (text or "")[:MAX_ANCHOR_CHARS]


def _refresh_link(metadata: Metadata, base: str) -> list[Link]:
    """A meta refresh to another page is a link like any other."""
    match = REFRESH_URL.match(metadata.refresh[:2_048])
    url = canonicalize(match[2], base) if match else None
    return [Link(url.href, "")] if url else []
