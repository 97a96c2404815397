"""Places that a page's links name: in the URL, in the anchor, and in the window of words around it.

Names are looked for among the places of the page, which were located already, and the topic's own: no link costs a
look-up in the gazetteer. Where a link stands in the text is known, so what is near it is found by position. Pure.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from periplus.model import Link, Located, Page, Place
from periplus.topics.topic import Topic
from periplus.topics.url_names import longest_names, name_key

__all__ = ["LinkNames", "Named", "Near"]

MAX_NAMES = 400
_WORD = re.compile(r"[^\W_]+")


class Named(NamedTuple):
    """How many places are named, how many of them lie in the topic's targets, and how long these names are.

    Without targets all places count as wanted.
    """

    all: int
    wanted: int
    length: int


class Near(NamedTuple):
    """What a link's anchor and its window name, the words of both, and the share of the anchor that is wanted names."""

    anchored: Named
    around: Named
    terms: int
    covered: float


NOTHING = Named(0, 0, 0)


class LinkNames:
    """The names that matter for the links of one page."""

    def __init__(self, page: Page, located: Located, topic: Topic) -> None:
        self._worth = topic.table.worth
        self._has_places = bool(topic.places)
        self._url_names = topic.url_names
        self._text = page.text
        self._length = len(page.text)
        mentions = [mention for mention in located.mentions if mention.place is not None]
        self._names: dict[tuple[str, ...], Place] = {name_key(place.name): place for place, _ in topic.places}
        for mention in mentions[:MAX_NAMES]:
            if mention.place is not None:
                self._names.setdefault(name_key(mention.text), mention.place)
        self._names.pop((), None)
        self._first = {key[0] for key in self._names}
        self._starts = [mention.start for mention in mentions]
        wanted = [m.place is not None and self._is_wanted(m.place) for m in mentions]
        self._wanted = [0, *accumulate(wanted)]
        lengths = (m.end - m.start if one else 0 for m, one in zip(mentions, wanted, strict=True))
        self._lengths = [0, *accumulate(lengths)]

    def __bool__(self) -> bool:
        return bool(self._names)

    def near(self, link: Link) -> Near:
        """What the anchor names, what the words around it name, and how many words these are."""
        if not self._names:
            return Near(NOTHING, NOTHING, 0, 0.0)
        if 0 <= link.start < link.end <= self._length:
            anchored = self._between(link.start, link.end)
            around = Named(*(a - b for a, b in zip(self._between(link.low, link.high), anchored, strict=True)))
            terms = _blanks(self._text, link.low, link.high)
            letters = link.end - link.start
        else:
            anchored, around = self._in_text(link.anchor), self._in_text(f"{link.before} {link.after}")
            terms = sum(_blanks(text, 0, len(text)) for text in (link.anchor, link.before, link.after))
            letters = len(link.anchor)
        return Near(anchored, around, terms, min(1.0, anchored.length / letters) if anchored.length else 0.0)

    def in_words(self, words: Sequence[str]) -> list[Place]:
        """The places of the page that a row of words names, the longest names first."""
        return [] if self._first.isdisjoint(words) else longest_names(words, self._names)

    def in_url(self, words: Sequence[str]) -> list[Place]:
        """The places that a URL names: those of the page, or else those that the topic knows."""
        return self.in_words(words) or self._url_names.in_words(words)

    def _is_wanted(self, place: Place) -> bool:
        return not self._has_places or self._worth(place).is_target

    def _between(self, start: int, end: int) -> Named:
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        if last <= first:
            return NOTHING
        wanted, lengths = self._wanted, self._lengths
        return Named(last - first, wanted[last] - wanted[first], lengths[last] - lengths[first])

    def _in_text(self, text: str) -> Named:
        found = self.in_words(_WORD.findall(text.casefold())) if text.strip() else []
        wanted = [place for place in found if self._is_wanted(place)]
        return Named(len(found), len(wanted), sum(len(place.name) for place in wanted))


def _blanks(text: str, start: int, end: int) -> int:
    """Words of a piece of text whose blanks are single."""
    return text.count(" ", start, end) + text.count("\n", start, end) + 1 if end > start else 0
