"""The main text of a page: what is left without menus, lists of links and other furniture.

Judged line by line (a line is a block of the page) by length and by how much of the line is link text, as boilerplate
removers do that need no training; short lines go with the long ones beside them.
"""

from collections.abc import Sequence

__all__ = ["main_text"]

LONG_LINE = 80
"""Characters from which a line that is mostly not links is content by itself."""

MOST_LINKED = 0.33
"""Share of link text up to which a line is content."""


def main_text(text: str, links: Sequence[tuple[int, int]]) -> str:
    """The lines of `text` that are content; all of it where none stands out. `links` are spans, in order of start."""
    lines = text.split("\n")
    linked = _linked_characters(lines, links)
    prose = [share <= MOST_LINKED * len(line) for line, share in zip(lines, linked, strict=True)]
    sure = [is_prose and len(line) >= LONG_LINE for line, is_prose in zip(lines, prose, strict=True)]
    if not any(sure):
        return text
    last = len(lines) - 1
    return "\n".join(
        line
        for number, line in enumerate(lines)
        if sure[number] or (prose[number] and (sure[max(0, number - 1)] or sure[min(last, number + 1)]))
    )


def _linked_characters(lines: Sequence[str], links: Sequence[tuple[int, int]]) -> list[int]:
    """How many characters of each line are link text."""
    counts = [0] * len(lines)
    number = begin = 0
    for start, end in sorted(links):
        while number < len(lines) and start > begin + len(lines[number]):
            begin += len(lines[number]) + 1
            number += 1
        if number == len(lines):
            break
        counts[number] += max(0, min(end, begin + len(lines[number])) - start)
    return counts
