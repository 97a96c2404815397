"""The running text of a document, one line a block, and where its links stand in it.

Reads what the parser writes out again, not what the page was: there every tag is closed, every attribute quoted, and a
`<` is a tag. So one split and one walk over the pieces do, instead of a walk through the tree for each link.
"""

import re
from dataclasses import dataclass

from periplus.model import LinkPosition

__all__ = ["Flow", "RawLink", "read_flow"]

TAG = re.compile("<([^>]*)>")
COMMENT = re.compile("<!--.*?-->", re.DOTALL)
HREF, REL, ALT, TITLE = (re.compile(f' {name}="([^"]*)"') for name in ("href", "rel", "alt", "title"))
BLOCKS = (
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
)  # fmt: skip
BLOCK, LINK, LINK_END, IMAGE, PART, PART_END = range(1, 7)
PARTS = {
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

KINDS = {
    **{sign + name: BLOCK for name in BLOCKS for sign in ("", "/")},
    **dict.fromkeys(PARTS, PART),
    **{f"/{name}": PART_END for name in PARTS},
    "a": LINK,
    "area": LINK,
    "/a": LINK_END,
    "img": IMAGE,
}
NOTHING, BLANK, LINE = range(3)
"""What stands between two pieces of text."""


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
    """The text, in which every blank is a single space or line break, and its links in document order."""

    text: str
    links: list[RawLink]


def read_flow(html: str, most_chars: int) -> Flow:
    """Read written-out HTML from which scripts, styles and the like are stripped. Linear."""
    if "<!--" in html:
        html = COMMENT.sub("", html)
    pieces = TAG.split(html)  # text, tag, text, tag, ... text
    walk = _Walk()
    for at in range(len(pieces)):
        piece = pieces[at]
        if at & 1:
            walk.take_tag(piece)
        elif piece and walk.take_text(piece) > most_chars:
            break
    return Flow("".join(walk.parts)[:most_chars], walk.links)


class _Walk:
    """What was read up to here."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.links: list[RawLink] = []
        self._length = 0
        self._gap = NOTHING
        self._opened: RawLink | None = None
        self._closed_at = -1
        self._position = LinkPosition.TEXT
        self._around: list[tuple[str, LinkPosition]] = []  # elements that are open, with the position before them

    def take_tag(self, tag: str) -> None:
        """A tag: most are neither a line break nor a link."""
        cut = tag.find(" ")
        name = tag if cut < 0 else tag[:cut]
        kind = KINDS.get(name)
        if kind is None:
            return
        if kind == BLOCK:
            self._gap = LINE
        elif kind >= PART:
            self._gap = LINE
            if kind == PART:
                self._enter(name, tag)
            else:
                self._leave(name[1:])
        elif kind == LINK_END:
            self._opened, self._closed_at = None, self._length
        elif kind == LINK:
            self._open(tag)
        elif self._opened is not None and not self._opened.spare:
            self._opened.spare = _attribute(ALT, tag)

    def take_text(self, text: str) -> int:
        """A piece of text between two tags; gives the length of what was read so far."""
        if "&" in text:
            text = plain(text)
        words = text.split()
        if not words:
            self._gap = self._gap or BLANK
            return self._length
        if self.parts:
            if self._gap == LINE:
                self.parts.append("\n")
                self._length += 1
            elif self._gap == BLANK or text[0].isspace():
                self.parts.append(" ")
                self._length += 1
        line = " ".join(words)
        self.parts.append(line)
        opened = self._opened
        if opened is not None and opened.end < 0:
            opened.start = self._length
        self._length += len(line)
        if opened is not None:
            opened.end = self._length
        self._gap = BLANK if text[-1].isspace() else NOTHING
        return self._length

    def _enter(self, name: str, tag: str) -> None:
        """Into a part of the page. Navigation in a table is navigation, a table in navigation is too."""
        position = PARTS[name]
        if position <= LinkPosition.NAVIGATION and tag != name and "breadcrumb" in tag.lower():
            position = LinkPosition.BREADCRUMB
        self._around.append((name, self._position))
        self._position = max(self._position, position)

    def _leave(self, name: str) -> None:
        if self._around and self._around[-1][0] == name:
            self._position = self._around.pop()[1]

    def _open(self, tag: str) -> None:
        found = HREF.search(tag)
        if found is None:
            return
        if self._closed_at == self._length:
            self._gap = self._gap or BLANK  # two links side by side are two words, whatever a style sheet says
        link = RawLink(plain(found[1]), _attribute(REL, tag), self._length, position=self._position)
        link.spare = _attribute(ALT, tag) or _attribute(TITLE, tag)
        self.links.append(link)
        self._opened = None if tag.startswith("area") else link


def plain(written: str) -> str:
    """What escapes in written-out text stand for: there are only these five."""
    if "&" not in written:
        return written
    for escape, character in (("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        written = written.replace(escape, character)
    return written


def _attribute(pattern: re.Pattern[str], tag: str) -> str:
    found = pattern.search(tag)
    return plain(found[1]) if found else ""
