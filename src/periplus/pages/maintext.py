"""The main text of a page: what is left without menus, lists of links and other furniture.

Judged line by line (a line is a block of the page) by length and by how much of the line is link text, as boilerplate
removers do that need no training; short lines go with the long ones beside them. Plain Python; compiled where there is
a C compiler (`maintext.pxd` gives the types).
"""

__all__ = ["main_text"]

LONG_LINE = 80
"""Characters from which a line that is mostly not links is content by itself."""

MOST_LINKED = 0.33
"""Share of link text up to which a line is content."""

LINKS, SHORT, LONG = range(3)
"""What a line is: mostly links, prose that is short, prose that is long enough to be content."""


def main_text(text: str, links: list[tuple[int, int]]) -> str:
    """The lines of `text` that are content; all of it where none stands out. `links` are spans, in order of start."""
    sorts = _sorts_of_lines(text, links)
    if LONG not in sorts:
        return text
    pieces = []
    last, begin, kept = len(sorts) - 1, 0, -1  # kept: where the lines begin that are content, up to here
    for number in range(last + 1):
        sort = sorts[number]
        beside = sorts[max(0, number - 1)] == LONG or sorts[min(last, number + 1)] == LONG
        if sort == LONG or (sort == SHORT and beside):
            kept = begin if kept < 0 else kept
        elif kept >= 0:
            pieces.append(text[kept : begin - 1])
            kept = -1
        begin = text.find("\n", begin) + 1
    if kept >= 0:
        pieces.append(text[kept:])
    return "\n".join(pieces)


def _sorts_of_lines(text: str, links: list[tuple[int, int]]) -> bytearray:
    """What each line is, one byte a line."""
    sorts = bytearray()
    begin, at, count, size = 0, 0, len(links), len(text)
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
        is_prose = linked <= MOST_LINKED * (end - begin)
        sorts.append((LONG if end - begin >= LONG_LINE else SHORT) if is_prose else LINKS)
        begin = end + 1
    return sorts
