"""The running text of a document, one line a block, and where its links stand in it.

Reads what the parser writes out again, not what the page was: there every tag is closed, every attribute quoted, and a
`<` is a tag. So one walk over its bytes, in UTF-8, does; places in the text are counted in characters. Plain Python
over flat arrays; compiled where there is a C compiler (`flow.pxd` gives the types).
"""

import itertools
from array import array
from collections.abc import MutableSequence
from typing import Final, cast

import numpy as np

from periplus.model import Link, LinkPosition

__all__ = ["Walk", "read_flow"]

Ints = MutableSequence[int]

BLOCKS: Final = (
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
)  # fmt: skip
PARTS: Final = {
    **{f"h{level}": LinkPosition.HEADING for level in range(1, 7)},
    "nav": LinkPosition.NAVIGATION,
    "footer": LinkPosition.FOOTER,
    "aside": LinkPosition.FOOTER,
    "table": LinkPosition.TABLE,
    "ol": LinkPosition.TEXT,
    "ul": LinkPosition.TEXT,
    "div": LinkPosition.TEXT,
}
"""Elements that say where in the page a link stands; the last three only if they call themselves breadcrumbs."""

BESIDE: Final = (
    "footer", "sidebar", "navigation", "nav", "menu", "related", "comments", "cookie", "newsletter", "contentinfo",
)  # fmt: skip
"""Classes, ids and roles of what stands beside what a page says; whole words only: "with-sidebar" is a whole page."""

BLOCK, PART, LINK, AREA, IMAGE = range(1, 6)
KINDS: Final = {
    **dict.fromkeys(BLOCKS, BLOCK),
    **dict.fromkeys(PARTS, PART),
    "a": LINK,
    "area": AREA,
    "img": IMAGE,
}
NOTHING, GAP, LINE = range(3)
"""What stands between two pieces of text."""

CHARS_PER_TOKEN: Final = 12
"""How far to look for a window of tokens: generous for Latin scripts, and a bound for text without spaces."""

MAX_ANCHOR_CHARS: Final = 500
ESCAPES: Final = {"&nbsp;": " ", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&"}
"""What escapes in written-out text stand for: there are only these five."""

WRITTEN_ESCAPES: Final = {escape.encode(): ord(character) for escape, character in ESCAPES.items()}
POSITIONS: Final = tuple(LinkPosition)

PLAIN, WITHIN, BLANK, TAG, ESCAPE, WIDE = range(6)
"""Sorts of bytes in text: of a character, of its rest, a blank, a tag's first, an escape's, perhaps a wide blank's."""


def _sort(byte: int) -> int:
    if byte < 0x80:
        return BLANK if chr(byte).isspace() else TAG if byte == ord("<") else ESCAPE if byte == ord("&") else PLAIN
    return WITHIN if byte < 0xC0 else WIDE if byte in (0xC2, 0xE1, 0xE2, 0xE3) else PLAIN


def _number(name: str) -> int:
    """A name as a number; no other name has the number of one of letters and digits."""
    number = 1
    for letter in name:
        number = number * _RADIX + _DIGITS[ord(letter)]
    return number


# The names below have C types in flow.pxd.
_LESS, _MORE, _EQUALS, _QUOTE, _AND, _SPACE, _BREAK, _SLASH, _BANG = (ord(mark) for mark in '<>="& \n/!')
_SORTS = bytes(_sort(byte) for byte in range(256))
_TWO_BYTES, _LAST_WIDE = 0xC2, 0x3000
_WIDE_BLANKS = bytes(chr(code).isspace() for code in range(_LAST_WIDE + 1))
_DIGITS = bytes("abcdefghijklmnopqrstuvwxyz0123456789".find(chr(byte).lower()) + 1 for byte in range(256))
_RADIX = 37
_LONGEST_NAME = max(map(len, (*KINDS, *BESIDE)))
_HREF, _REL, _ALT, _TITLE, _LABEL = (_number(name) for name in ("href", "rel", "alt", "title", "aria-label"))
_CLASS, _ID, _ROLE = (_number(name) for name in ("class", "id", "role"))
_BESIDE = array("q", [_number(name) for name in BESIDE])
_SLOTS = next(size for size in itertools.count(1) if len({0, *(_number(name) % size for name in KINDS)}) > len(KINDS))
"""So many places of a table that each name has one of its own, and none the first."""

_PLACED = {_number(name) % _SLOTS: name for name in KINDS}
_NAMES = array("q", [_number(_PLACED.get(slot, "")) for slot in range(_SLOTS)])
_KINDS = bytes(KINDS.get(_PLACED.get(slot, ""), 0) for slot in range(_SLOTS))
_POSITIONS = bytes(PARTS.get(_PLACED.get(slot, ""), 0) for slot in range(_SLOTS))
_HEADING, _NAVIGATION, _BREADCRUMB = LinkPosition.HEADING, LinkPosition.NAVIGATION, LinkPosition.BREADCRUMB
_MOST_ANCHOR = MAX_ANCHOR_CHARS
_FAR = CHARS_PER_TOKEN
_AT_HREF, _AT_REL, _AT_SPARE, _AT_START, _AT_END, _AT_POSITION, _FIELDS = 0, 2, 4, 6, 7, 8, 9
"""What is written down of a link: where its href, rel and spare text begin and end, its span, its position."""

_AT_TITLE, _AT_LABEL, _ATTRIBUTES = 6, 8, 10
_SHORTEST_LINK = len('<a href="">')


def read_flow(html: str, most_chars: int) -> "Walk | None":
    """Read a written-out document from which scripts, styles and the like are stripped; None without body. Linear."""
    walk = Walk(html)
    if walk.at < 0:
        return None
    walk.run(most_chars)
    walk.finish(most_chars)
    return walk


class Walk:
    """What was read up to here; at the end also the `text`, in which every blank is a single space or line break."""

    def __init__(self, html: str) -> None:
        self.text = ""
        self.source = html.encode("utf-8", "surrogatepass")
        self.size = len(self.source)
        self.at = self.source.find(b"<body")
        self.out = cast("Ints", np.empty(self.size + 2, np.uint8).data)
        self.length = self.rest = 0  # bytes that were put out, and those of them that are not the first of a character
        self.begins = cast("Ints", np.empty(self.size // 2 + 2, np.int32).data)
        self.words = 0
        self.rows = cast("Ints", np.empty((self.size // _SHORTEST_LINK + 1) * _FIELDS, np.int32).data)
        self.links = 0
        self.opened = -1  # the row of the link that is open
        self.gap = NOTHING
        self.closed_at = -1
        self.position = 0
        self.around: list[tuple[int, int, bool]] = []  # parts that are open, with position and `beside` before them
        self.beside = False
        self.apart: list[int] = []
        """Where what stands beside the rest begins and ends in the text, in turn: navigation, footers, asides."""
        self.headings: list[int] = []
        """Behind which characters of the text headings begin."""
        self.code = 0
        self.spans = cast("Ints", np.zeros(_ATTRIBUTES, np.int32).data)  # where attributes of a tag begin and end

    def run(self, most_chars: int) -> None:
        """Walk over tags and texts, to the end or until there is text enough."""
        codes, out, begins = self.source, self.out, self.begins
        at = self.at
        while at < self.size and self.length - self.rest <= most_chars:
            at = self.take_tag(codes, at + 1) if codes[at] == _LESS else self.take_text(codes, out, begins, at)

    def finish(self, most_chars: int) -> None:
        """The text, cut off if it is longer than it may be, with its words and the spans of its links."""
        self.text = bytes(self.out[: self.length]).decode("utf-8", "surrogatepass")[:most_chars]
        length = len(self.text)
        self.words = _first_from(self.begins, self.words, length)
        for row in range(0, self.links * _FIELDS, _FIELDS):
            start = self.rows[row + _AT_START]
            end = self.rows[row + _AT_END]
            self.rows[row + _AT_START] = min(start, length)
            self.rows[row + _AT_END] = min(max(start, end), length)

    def take_tag(self, codes: bytes, start: int) -> int:
        """A tag, of which most are neither a line break nor a link; where it ends."""
        at = start
        while at < self.size and codes[at] != _MORE and codes[at] != _SPACE:
            at += 1
        closing = at > start and codes[start] == _SLASH
        slot = _slot(codes, start + closing, at)
        kind = _KINDS[slot]
        if not slot and at > start and codes[start] == _BANG:
            return self.pass_comment(codes, start, at)
        written = at + 1
        at = self.take_attributes(codes, at, kind >= LINK)
        if kind >= LINK:
            self.take_other(kind, closing)
        elif kind:
            self.gap = LINE
            if kind == PART:
                self.pass_border(codes, slot, closing, written, at)
        return at + 1

    def pass_comment(self, codes: bytes, start: int, at: int) -> int:
        """Behind a comment; one that is not ended is a tag, as is any other declaration."""
        end = self.source.find(b"-->", start + 3) if self.source.startswith(b"!--", start) else -1
        return end + 3 if end >= 0 else self.take_attributes(codes, at, False) + 1

    def take_attributes(self, codes: bytes, start: int, wanted: bool) -> int:
        """Pass by the attributes of a tag and write down where those stand that are wanted; where the tag ends."""
        at, name = start, start + 1
        if wanted:
            for span in range(_ATTRIBUTES):
                self.spans[span] = 0
        while at < self.size and codes[at] != _MORE:
            if codes[at] == _SPACE:
                name = at + 1
            elif codes[at] == _QUOTE and codes[at - 1] == _EQUALS:  # what is quoted may hold a > or a blank
                value = at + 1
                at += 1
                while at < self.size and codes[at] != _QUOTE:
                    at += 1
                if wanted:
                    self.keep(_numbered(codes, name, value - 2), value, at)
            at += 1
        return at

    def keep(self, name: int, start: int, end: int) -> None:
        """Write down where the value of an attribute stands."""
        span = _AT_HREF if name == _HREF else _AT_REL if name == _REL else _AT_SPARE if name == _ALT else _AT_TITLE
        span = _AT_LABEL if name == _LABEL else span
        if span != _AT_TITLE or name == _TITLE:
            self.spans[span], self.spans[span + 1] = start, end

    def pass_border(self, codes: bytes, slot: int, closing: bool, start: int, end: int) -> None:
        """Into or out of a part of the page. Navigation in a table is navigation, a table in navigation is too."""
        before = self.beside
        if closing:
            open_parts = len(self.around)
            if open_parts and self.around[open_parts - 1][0] == slot:
                _, self.position, self.beside = self.around.pop()
        else:
            position = _POSITIONS[slot]
            if end > start and position <= _NAVIGATION and b"breadcrumb" in self.source[start:end].lower():
                position = _BREADCRUMB
            if position == _HEADING:
                self.headings.append(self.length - self.rest)
            self.around.append((slot, self.position, before))
            self.position = max(self.position, position)
            self.beside = before or position >= _NAVIGATION or _is_beside(codes, start, end)
        if self.beside != before:
            self.apart.append(self.length - self.rest)

    def take_other(self, kind: int, closing: bool) -> None:
        """The beginning or end of a link, or a picture in it."""
        length, rows, spans = self.length - self.rest, self.rows, self.spans
        if closing:
            if kind == LINK:
                self.opened, self.closed_at = -1, length
            return
        if spans[_AT_LABEL] < spans[_AT_LABEL + 1]:
            spans[_AT_SPARE], spans[_AT_SPARE + 1] = spans[_AT_LABEL], spans[_AT_LABEL + 1]
        elif spans[_AT_SPARE] == spans[_AT_SPARE + 1]:
            spans[_AT_SPARE], spans[_AT_SPARE + 1] = spans[_AT_TITLE], spans[_AT_TITLE + 1]
        if kind == IMAGE:
            row = self.opened + _AT_SPARE
            if self.opened >= 0 and rows[row] == rows[row + 1]:
                rows[row], rows[row + 1] = spans[_AT_SPARE], spans[_AT_SPARE + 1]
        elif spans[_AT_HREF]:
            if self.closed_at == length:
                self.gap = self.gap or GAP  # two links side by side are two words, whatever a style sheet says
            row = self.links * _FIELDS
            for span in range(_AT_TITLE):
                rows[row + span] = spans[span]
            rows[row + _AT_START], rows[row + _AT_END], rows[row + _AT_POSITION] = length, -1, self.position
            self.opened = -1 if kind == AREA else row
            self.links += 1

    def take_text(self, codes: bytes, out: Ints, begins: Ints, start: int) -> int:
        """A piece of text between two tags; where it ends."""
        at, size, length, rest = start, self.size, self.length, self.rest
        begun = blank = False
        while at < size:
            code = codes[at]
            sort = _SORTS[code]
            if sort == TAG:
                break
            at += 1
            if sort > TAG:
                at = self.take_special(codes, at - 1, sort)
                code, sort = self.code, BLANK if self.code == _SPACE else PLAIN
            if sort == BLANK:
                blank = True
                continue
            if not begun:
                self.begin_text(blank)
                begun, length = True, self.length
            elif blank:
                out[length] = _SPACE
                length += 1
                begins[self.words] = length - rest
                self.words += 1
            blank = False
            out[length] = code
            length += 1
            rest += sort
            while at < size and _SORTS[codes[at]] <= WITHIN:  # as far as the word goes
                out[length] = codes[at]
                length += 1
                rest += _SORTS[codes[at]]
                at += 1
        self.end_text(begun, blank, length, rest)
        return at

    def take_special(self, codes: bytes, at: int, sort: int) -> int:
        """Read what an escape stands for, or a character that may be a blank, into `code`; where it ends."""
        self.code = codes[at]
        if sort == WIDE:
            wide = _wide_blank(codes, at)
            self.code = _SPACE if wide else self.code
            return at + 1 + wide
        stop = self.source.find(b";", at, at + 7)
        code = WRITTEN_ESCAPES.get(self.source[at : stop + 1]) if stop >= 0 else None
        if code is None:
            return at + 1
        self.code = code
        return stop + 1

    def end_text(self, begun: bool, blank: bool, length: int, rest: int) -> None:
        """Remember how much there is now, and what a piece of text ended with."""
        self.length, self.rest = length, rest
        if not begun:
            self.gap = self.gap or GAP
            return
        self.gap = GAP if blank else NOTHING
        if self.opened >= 0:
            self.rows[self.opened + _AT_END] = length - rest

    def begin_text(self, blank: bool) -> None:
        """Put what belongs before the first character of a text."""
        between = _BREAK if self.gap == LINE else _SPACE if self.gap == GAP or blank else 0
        if self.length and between:
            self.out[self.length] = between
            self.length += 1
        if between or not self.length:
            self.begins[self.words] = self.length - self.rest
            self.words += 1
        if self.opened >= 0 and self.rows[self.opened + _AT_END] < 0:
            self.rows[self.opened + _AT_START] = self.length - self.rest

    def written(self) -> list[tuple[str, str]]:
        """Where each link leads and what it says of that, as written."""
        return [
            (self.said(row + _AT_HREF), self.said(row + _AT_REL)) for row in range(0, self.links * _FIELDS, _FIELDS)
        ]

    def said(self, field: int) -> str:
        """What is said where a field of a link points to."""
        start, end = self.rows[field], self.rows[field + 1]
        return plain(self.source[start:end].decode("utf-8", "surrogatepass")) if end > start else ""

    def placed(self, taken: list[tuple[int, str]], tokens: int) -> list[Link]:
        """The links of these numbers and URLs, with their texts and how far so many tokens around them reach."""
        text, length, links = self.text, len(self.text), []
        for number, url in taken:
            row = number * _FIELDS
            start, end = self.rows[row + _AT_START], self.rows[row + _AT_END]
            anchor = text[start : min(end, start + _MOST_ANCHOR)].strip().replace("\n", " ")
            if not anchor:
                anchor = self.said(row + _AT_SPARE)[:MAX_ANCHOR_CHARS]
            low, high = start, end
            if tokens:
                low = self.before(start, tokens)
                high = self.behind(end, length, tokens)
            links.append(Link(url, anchor, "", "", start, end, low, high, POSITIONS[self.rows[row + _AT_POSITION]]))
        return links

    def before(self, start: int, tokens: int) -> int:
        """How far so many tokens before a place reach."""
        first = _first_from(self.begins, self.words, start) - tokens
        return max(self.begins[first] if first > 0 else 0, start - tokens * _FAR)

    def behind(self, end: int, length: int, tokens: int) -> int:
        """How far so many tokens behind a place reach."""
        stop = _first_from(self.begins, self.words, end) + tokens
        return min(self.begins[stop] if stop < self.words else length, end + tokens * _FAR)


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


def _numbered(codes: bytes, start: int, end: int) -> int:
    """The number of a name, 0 of a long one."""
    if end - start > _LONGEST_NAME:
        return 0
    number = 1
    for at in range(start, end):
        number = number * _RADIX + _DIGITS[codes[at]]
    return number


def _is_beside(codes: bytes, start: int, end: int) -> bool:
    """Whether an element's attributes, in quotes, say that it stands beside what the page says."""
    at, name = start, start
    while at < end:
        if codes[at] == _SPACE:
            name = at + 1
        elif codes[at] == _QUOTE:
            kind = _numbered(codes, name, at - 1)
            told = kind in (_CLASS, _ID, _ROLE)
            word = at + 1
            at += 1
            while at < end and codes[at] != _QUOTE:
                if codes[at] == _SPACE:
                    if told and _names_beside(_numbered(codes, word, at)):
                        return True
                    word = at + 1
                at += 1
            if told and _names_beside(_numbered(codes, word, at)):
                return True
        at += 1
    return False


def _names_beside(number: int) -> bool:
    for place in range(len(_BESIDE)):  # noqa: SIM110  a generator is slow where this is compiled
        if _BESIDE[place] == number:
            return True
    return False


def _slot(codes: bytes, start: int, end: int) -> int:
    """The place of an element in the tables; the first if nothing is known of it."""
    number = _numbered(codes, start, end)
    slot = number % _SLOTS
    return slot if _NAMES[slot] == number else 0


def _wide_blank(codes: bytes, at: int) -> int:
    """How many bytes follow the first one of a blank beyond ASCII; 0 if the character is none."""
    code = codes[at]
    if code == _TWO_BYTES:
        return 1 if _WIDE_BLANKS[codes[at + 1]] else 0
    character = (code & 15) << 12 | (codes[at + 1] & 63) << 6 | (codes[at + 2] & 63)
    return 2 if character <= _LAST_WIDE and _WIDE_BLANKS[character] else 0


def plain(written: str) -> str:
    """Written-out text as it is read."""
    if "&" in written:
        for escape, character in ESCAPES.items():
            written = written.replace(escape, character)
    return written
