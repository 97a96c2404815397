"""The running text of a document, one line a block, and where its links stand in it.

Reads what the parser writes out again, not what the page was: there every tag is closed, every attribute quoted, and a
`<` is a tag. So one walk over the characters does, instead of a walk through the tree for each link. Plain Python over
flat arrays; compiled where there is a C compiler (`flow.pxd` gives the types).
"""

import re
from collections.abc import MutableSequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from periplus.model import LinkPosition

__all__ = ["Flow", "RawLink", "read_flow", "windows"]

Ints = MutableSequence[int]

COMMENT: Final = re.compile("<!--.*?-->", re.DOTALL)
BLOCKS: Final = (
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
)  # fmt: skip
BLOCK, LINK, AREA, LINK_END, IMAGE, PART_END, PART = range(1, 8)
PARTS: Final = {
    **{f"h{level}": LinkPosition.HEADING for level in range(1, 7)},
    "nav": LinkPosition.NAVIGATION,
    "footer": LinkPosition.FOOTER,
    "aside": LinkPosition.FOOTER,
    "table": LinkPosition.TABLE,
    "ol": LinkPosition.TEXT,
    "ul": LinkPosition.TEXT,
}
"""Elements that say where in the page a link stands; lists only if they call themselves breadcrumbs."""

KINDS: Final = {
    **{sign + name: BLOCK for name in BLOCKS for sign in ("", "/")},
    **{name: PART + position for name, position in PARTS.items()},
    **{f"/{name}": PART_END for name in PARTS},
    "a": LINK,
    "area": AREA,
    "/a": LINK_END,
    "img": IMAGE,
}
NOTHING, GAP, LINE = range(3)
"""What stands between two pieces of text."""

CHARS_PER_TOKEN: Final = 12
"""How far to look for a window of tokens: generous for Latin scripts, and a bound for text without spaces."""

ESCAPES: Final = {"&nbsp;": " ", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&"}
"""What escapes in written-out text stand for: there are only these five."""

# The names below have C types in flow.pxd.
_LESS, _MORE, _EQUALS, _QUOTE, _AND, _SPACE, _BREAK = (ord(mark) for mark in '<>="& \n')
_BLANK = bytes(chr(code).isspace() for code in range(0x3001))
_LONGEST_NAME = max(map(len, KINDS))
_LONGEST_ATTRIBUTE = 7  # title, = and a quote
_NOTHING, _GAP, _LINE = NOTHING, GAP, LINE
_FAR = CHARS_PER_TOKEN


@dataclass(slots=True)
class RawLink:
    """A link as it is written, and the span of its text; it ends at -1 if it has none."""

    href: str
    rel: str = ""
    start: int = 0
    end: int = -1
    spare: str = ""
    """What stands for its text where it has none: its title, or what its picture shows."""

    position: LinkPosition = LinkPosition.TEXT


@dataclass(frozen=True, slots=True)
class Flow:
    """The text, in which every blank is a single space or line break, where its words begin, and its links in order."""

    text: str
    words: Ints
    links: list[RawLink]


def read_flow(html: str, most_chars: int) -> Flow:
    """Read written-out HTML from which scripts, styles and the like are stripped. Linear."""
    if "<!--" in html:
        html = COMMENT.sub("", html)
    walk = Walk(html)
    walk.run(most_chars)
    text, words = walk.taken(most_chars)
    return Flow(text, words, walk.links)


class Walk:
    """What was read up to here."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.size = len(html)
        self.codes = cast("Ints", np.frombuffer(html.encode("utf-32-le", "surrogatepass"), np.uint32).data)
        self.out = cast("Ints", np.empty(self.size + 2, np.uint32).data)
        self.length = 0
        self.begins = cast("Ints", np.empty(self.size // 2 + 2, np.int32).data)
        self.words = 0
        self.links: list[RawLink] = []
        self.gap = _NOTHING
        self.opened: RawLink | None = None
        self.closed_at = -1
        self.position = LinkPosition.TEXT
        self.around: list[LinkPosition] = []  # the positions before each part that is open

    def taken(self, most_chars: int) -> tuple[str, Ints]:
        """The text, cut off if it is longer than it may be, and where its words begin."""
        length = min(self.length, most_chars)
        words = _first_from(self.begins, self.words, length)
        return bytes(self.out[:length]).decode("utf-32-le", "surrogatepass"), self.begins[:words]

    def run(self, most_chars: int) -> None:
        """Walk over tags and texts, to the end or until there is text enough."""
        at = 0
        while at < self.size and self.length <= most_chars:
            at = self.take_tag(at + 1) if self.codes[at] == _LESS else self.take_text(at)

    def take_tag(self, start: int) -> int:
        """A tag, of which most are neither a line break nor a link; where it ends."""
        at = start
        while at < self.size and self.codes[at] != _MORE and self.codes[at] != _SPACE:
            at += 1
        kind = KINDS.get(self.html[start:at], 0) if at - start <= _LONGEST_NAME else 0
        attributes: dict[str, str] | None = {} if kind > BLOCK else None
        name = at + 1
        while at < self.size and self.codes[at] != _MORE:
            if self.codes[at] == _SPACE:
                name = at + 1
            elif self.codes[at] == _QUOTE and self.codes[at - 1] == _EQUALS:  # what is quoted may hold a > or a blank
                value = at + 1
                at += 1
                while at < self.size and self.codes[at] != _QUOTE:
                    at += 1
                if attributes is not None and value - name <= _LONGEST_ATTRIBUTE:
                    attributes[self.html[name : value - 2]] = self.html[value:at]
            at += 1
        if kind == BLOCK:
            self.gap = _LINE
        elif attributes is not None:
            self.take_other(kind, attributes)
        return at + 1

    def take_other(self, kind: int, attributes: dict[str, str]) -> None:
        """The beginning or end of a link or of a part of the page, or a picture in a link."""
        if kind >= PART_END:
            self.gap = _LINE
            self.take_part(kind, attributes)
        elif kind == LINK_END:
            self.opened, self.closed_at = None, self.length
        elif kind == IMAGE:
            if self.opened is not None and not self.opened.spare:
                self.opened.spare = plain(attributes.get("alt", ""))
        elif "href" in attributes:
            if self.closed_at == self.length:
                self.gap = self.gap or _GAP  # two links side by side are two words, whatever a style sheet says
            spare = attributes.get("alt") or attributes.get("title") or ""
            link = RawLink(plain(attributes["href"]), plain(attributes.get("rel", "")), self.length, -1, plain(spare))
            link.position = self.position
            self.links.append(link)
            self.opened = None if kind == AREA else link

    def take_part(self, kind: int, attributes: dict[str, str]) -> None:
        """Into a part of the page or out of it; written out, all that is opened is closed."""
        if kind == PART_END:
            self.position = self.around.pop() if self.around else LinkPosition.TEXT
            return
        position = LinkPosition(kind - PART)
        said = f"{attributes.get('class', '')} {attributes.get('id', '')}".lower()
        if position in (LinkPosition.TEXT, LinkPosition.NAVIGATION) and "breadcrumb" in said:
            position = LinkPosition.BREADCRUMB
        self.around.append(self.position)
        self.position = max(self.position, position)

    def take_text(self, start: int) -> int:
        """A piece of text between two tags; where it ends."""
        at = start
        begun = blank = False
        while at < self.size and self.codes[at] != _LESS:
            code = self.codes[at]
            at += 1
            if code == _AND:
                stop = self.html.find(";", at, at + 6)
                escape = ESCAPES.get(self.html[at - 1 : stop + 1]) if stop >= 0 else None
                if escape is not None:
                    code, at = ord(escape), stop + 1
            if code <= 0x3000 and _BLANK[code]:
                blank = True
            else:
                if blank or not begun:
                    self.begin_word(blank, begun)
                begun, blank = True, False
                self.out[self.length] = code
                self.length += 1
        if not begun:
            self.gap = self.gap or _GAP
            return at
        self.gap = _GAP if blank else _NOTHING
        if self.opened is not None:
            self.opened.end = self.length
        return at

    def begin_word(self, blank: bool, begun: bool) -> None:
        """Put what belongs before the next character of a text."""
        between = _SPACE
        if not begun:
            between = _BREAK if self.gap == _LINE else _SPACE if self.gap == _GAP or blank else 0
        if self.length and between:
            self.out[self.length] = between
            self.length += 1
        if between or not self.length:
            self.begins[self.words] = self.length
            self.words += 1
        if not begun and self.opened is not None and self.opened.end < 0:
            self.opened.start = self.length


def windows(words: Ints, length: int, spans: list[tuple[int, int]], tokens: int) -> list[tuple[int, int]]:
    """How far so many tokens before the start and after the end of each span of a text reach, given its words."""
    count = len(words)
    found = []
    for start, end in spans:
        first = _first_from(words, count, start) - tokens
        low = words[first] if first > 0 else 0
        low = max(low, start - tokens * _FAR)
        stop = _first_from(words, count, end) + tokens
        high = words[stop] if stop < count else length
        found.append((low, min(high, end + tokens * _FAR)))
    return found


def _first_from(words: Ints, count: int, at: int) -> int:
    """The first word that begins there or later."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if words[middle] < at:
            low = middle + 1
        else:
            high = middle
    return low


def plain(written: str) -> str:
    """Written-out text as it is read."""
    if "&" in written:
        for escape, character in ESCAPES.items():
            written = written.replace(escape, character)
    return written
