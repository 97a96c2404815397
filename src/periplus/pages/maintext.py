"""The furniture of a page: menus, lists of links and what else stands around and below what it says.

Judged line by line (a line is a block of the page) by length and by how much of the line is link text, as boilerplate
removers do that need no training; short lines go with the prose near them. What the markup marks as beside the rest
(`pages/flow.py`) is furniture whatever it is. Where there is little prose the links are what the page says, but for
those. What is left of real pages is measured by `scripts/eval_content.py`. Plain Python; compiled where there is a C
compiler (`maintext.pxd` gives the types).
"""

from collections.abc import Iterable

__all__ = ["furniture_of", "without"]

LONG_LINE = 60
"""Characters from which a line that is mostly not links is prose."""

WIDE, WIDER = "\u2e80", 3
"""From here on a character says as much as several others: Chinese, Japanese, Korean."""

LEAST_PROSE, LEAST_SHARE = 200, 0.15
"""Characters in such lines, and their share of the text, from which a page says something by itself."""

MOST_LINKED = 0.5
"""Share of link text up to which a line is more than links."""

REACH = 3
"""Lines around prose in which short lines belong to it."""

LINKS, ASIDE, SHORT, LONG, OWN_LINKS, ASIDE_LONG = range(6)
"""What a line is: mostly links, set apart by the markup, short, prose. The last two are links that are not set apart
and prose that is: whether they count depends on how much other prose the page has."""

PROSE = bytes((LINKS, ASIDE, SHORT, LONG, LINKS, ASIDE)).ljust(256)
"""Of a page that says something by itself: links are furniture, and so is all that stands beside the rest."""

SPARSE = bytes((LINKS, ASIDE, LONG, LONG, LONG, ASIDE)).ljust(256)
"""Of a page with little prose: its links are what it says, but for menus and the like."""

SET_APART = bytes((LINKS, ASIDE, LONG, LONG, LONG, LONG)).ljust(256)
"""Of such a page that has prose beside the rest: it calls its text a sidebar. The one line of a footer is none."""


def furniture_of(text: str, links: list[tuple[int, int]], apart: list[int]) -> list[tuple[int, int, bool]]:
    """Where furniture is, whole lines, in order, and whether it is links.

    `links` are spans, in order of start; `apart` is where parts beside the rest begin and end, in turn (`pages/flow`).
    """
    sorts = _sorts_of_lines(text, links, apart)
    spans: list[tuple[int, int, bool]] = []
    begin, kept, before = 0, -1, LONG  # kept: where lines began that are furniture of the same sort, up to here
    for number in range(len(sorts)):
        sort = LONG if _is_content(sorts, number) else sorts[number]
        if sort != before:
            if kept >= 0:
                spans.append((kept, begin, before == LINKS))
            kept, before = -1 if sort == LONG else begin, sort
        begin = text.find("\n", begin) + 1
    if kept >= 0:
        spans.append((kept, len(text), before == LINKS))
    return spans


def _is_content(sorts: bytearray, number: int) -> bool:
    sort = sorts[number]
    return sort == LONG or (sort == SHORT and sorts.find(LONG, max(0, number - REACH), number + REACH + 1) >= 0)


def _sorts_of_lines(text: str, links: list[tuple[int, int]], apart: list[int]) -> bytearray:
    """What each line is, one byte a line; empty where nothing would be left."""
    sorts = bytearray()
    begin, at, count, size, prose, own, spare = 0, 0, len(links), len(text), 0, 0, 0
    border, borders = 0, len(apart)
    while begin <= size:
        end = text.find("\n", begin)
        end = end if end >= 0 else size
        linked = 0
        while at < count:
            start, stop = links[at]
            if start > end:
                break
            linked += max(0, min(stop, end) - start)
            at += 1
        while border < borders and apart[border] < max(begin, 1):
            border += 1
        beside = border % 2 == 1  # an end comes next
        length = end - begin
        own += 0 if beside else length
        if linked > MOST_LINKED * length:
            sorts.append(LINKS if beside else OWN_LINKS)
        else:
            length *= WIDER if length and text[begin + length // 2] >= WIDE else 1
            if length >= LONG_LINE:
                sorts.append(ASIDE_LONG if beside else LONG)
                prose += 0 if beside else length
                spare += length if beside else 0
            else:
                sorts.append(ASIDE if beside else SHORT)
        begin = end + 1
    few = SET_APART if spare >= LEAST_PROSE else SPARSE
    sorts = sorts.translate(PROSE if prose >= max(LEAST_PROSE, LEAST_SHARE * own) else few)
    return sorts if LONG in sorts else bytearray()


def without(text: str, spans: Iterable[tuple[int, int, bool]]) -> str:
    """A text without these parts of it."""
    pieces, last = [], 0
    for start, end, _ in spans:
        pieces.append(text[last:start])
        last = end
    return "".join([*pieces, text[last:]])
