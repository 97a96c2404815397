"""What a page says, apart from its furniture: the text and the places that it is judged and shown by.

A menu names fifty towns and the list below an article twenty other articles; none of that is what the page is about.
Links are judged with everything around them, so `Page.text` and the mentions in it stay whole; here they are cut.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import msgspec

from periplus.model import Link, LinkPosition, Located, Mention, Page
from periplus.pages.maintext import without

__all__ = ["Content", "content_of", "own_words", "said_in"]

BORDER = "\n\n"
"""Between what a page says and what stands aside; nothing in the text of a page looks like it."""

MOST_LINKED = 0.5
"""Share of link text up to which a line is more than links."""

FEWEST_TEASERS, LONGEST_TEASER = 2, 500
"""Headings that lead to other pages from which a page may be a list of them, and characters that stand below one."""


class Content(NamedTuple):
    """A page without furniture and the places in it; offsets are those in its own text.

    `aside` is the furniture that is not links.
    """

    page: Page
    located: Located
    aside: str = ""

    @property
    def stored_text(self) -> str:
        """What is searched and shown: what the page says first. What links say is found with the pages they lead to."""
        return f"{self.page.text.rstrip()}{BORDER}{self.aside.strip()}" if self.aside else self.page.text


def said_in(stored_text: str) -> str:
    """What the page itself says of a text that was stored; all of it where nothing stands aside."""
    return stored_text.partition(BORDER)[0] or stored_text


def content_of(page: Page, located: Located) -> Content:
    """Cut the furniture off; the footprint is expected to be without it already (`places.locate`)."""
    if not page.furniture:
        return Content(page, located)
    text, aside = (
        without(page.text, page.furniture),
        "".join([page.text[start:end] for start, end, links in page.furniture if not links]),
    )
    mentions = tuple(_moved(located.mentions, page.furniture))
    shorter = replace(page, text=text, links=(), furniture=())
    return Content(shorter, Located(mentions, located.addresses, located.footprint), aside)


def own_words(page: Page, located: Located) -> Content | None:
    """A list of other pages without what it says of them; None where there is nothing of that.

    That is lines that are mostly links and, if they are most of what it says, texts below headings that are links.
    """
    spans = [*_lines_of_links(page), *_teasers(page)]
    if not spans:
        return None
    return content_of(
        replace(page, furniture=_together((*page.furniture, *((*span, True) for span in spans)))), located
    )


def _teasers(page: Page) -> list[tuple[int, int]]:
    """What stands below headings that lead to other pages, if it is most of what the page says."""
    linked = {link.start for link in page.links if link.position is LinkPosition.HEADING and _is_another(link, page)}
    if len(linked) < FEWEST_TEASERS:
        return []
    ends = (*page.headings[1:], len(page.text))
    spans, inside = [], 0
    for start, end in zip(page.headings, ends, strict=False):
        said = end - start - _overlap(start, end, page.furniture)
        if said <= LONGEST_TEASER and not linked.isdisjoint((start, start + 1)):
            spans.append((start, end))
            inside += said
    whole = len(page.text) - _overlap(0, len(page.text), page.furniture)
    return spans if inside > MOST_LINKED * whole else []


def _is_another(link: Link, page: Page) -> bool:
    return link.end > link.start and link.url not in (page.url, page.canonical)


def _overlap(start: int, end: int, spans: Iterable[tuple[int, int, bool]]) -> int:
    """How many characters of a text are in spans too."""
    return sum(max(0, min(end, stop) - max(start, begin)) for begin, stop, _ in spans)


def _together(spans: Iterable[tuple[int, int, bool]]) -> tuple[tuple[int, int, bool], ...]:
    """Spans in order, those that overlap made one."""
    found: list[tuple[int, int, bool]] = []
    for start, end, links in sorted(spans):
        if found and start < found[-1][1]:
            before, stop, kind = found.pop()
            found.append((before, max(stop, end), kind))
        else:
            found.append((start, end, links))
    return tuple(found)


def _lines_of_links(page: Page) -> Iterable[tuple[int, int]]:
    """The lines of what a page says that are mostly links, in order. Where there is prose they are furniture."""
    text, furniture = page.text, page.furniture
    number, begin, end, linked = 0, 0, -1, 0
    for link in page.links:
        if link.start > end:  # another line
            if linked and linked > MOST_LINKED * (end - begin):
                yield begin, min(end + 1, len(text))
            linked = 0
            while number < len(furniture) and furniture[number][1] <= link.start:
                number += 1
            if number < len(furniture) and furniture[number][0] <= link.start:
                continue
            begin, end = text.rfind("\n", 0, link.start) + 1, text.find("\n", link.start)
            end = len(text) if end < 0 else end
        linked += max(0, min(link.end, end) - link.start)
    if linked and linked > MOST_LINKED * (end - begin):
        yield begin, min(end + 1, len(text))


def _moved(mentions: Iterable[Mention], spans: tuple[tuple[int, int, bool], ...]) -> Iterable[Mention]:
    """The mentions outside of the spans, with their places in what is left."""
    gone, number = 0, 0
    for mention in mentions:
        while number < len(spans) and spans[number][1] <= mention.start:
            gone += spans[number][1] - spans[number][0]
            number += 1
        if number == len(spans) or mention.end <= spans[number][0]:
            yield msgspec.structs.replace(mention, start=mention.start - gone, end=mention.end - gone)
