"""Places that a page's links name: in the URL, in the anchor, and in the window of words around it.

Names are looked for among the places of the page, which were located already, and the topic's own: no link costs a
look-up in the gazetteer. Where a link stands in the text is known, so what is near it is found by position. Pure.
"""

import re
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import cast

from periplus.model import Link, Located, Place
from periplus.topics.link_parts import Loose, Mentions
from periplus.topics.topic import Topic
from periplus.topics.url_names import longest_names, name_key

__all__ = ["LinkNames"]

MAX_NAMES = 400
_WORD = re.compile(r"[^\W_]+")
_NOTHING: Loose = (0, 0, 0, 0, 0, 0.0)


class LinkNames:
    """The names that matter for the links of one page; without targets all places count as wanted."""

    def __init__(self, located: Located, topic: Topic) -> None:
        self._targets = topic.table.targets
        self._has_places = bool(topic.places)
        placed = [mention for mention in located.mentions if mention.place is not None]
        places = [cast("Place", mention.place) for mention in placed]
        said: dict[str, Place] = {}
        for mention, place in zip(placed[:MAX_NAMES], places, strict=False):
            said.setdefault(mention.text, place)
        self._names: dict[tuple[str, ...], Place] = {name_key(place.name): place for place, _ in topic.places}
        for text, place in said.items():
            self._names.setdefault(name_key(text), place)
        self._names.pop((), None)
        self.firsts = frozenset([key[0] for key in self._names])
        wanted = self._are_wanted(places)
        lengths = [mention.end - mention.start if one else 0 for mention, one in zip(placed, wanted, strict=True)]
        self.mentions = Mentions(
            array("i", [mention.start for mention in placed]),
            array("i", accumulate(wanted, initial=0)),
            array("i", accumulate(lengths, initial=0)),
        )

    def in_words(self, words: Sequence[str]) -> list[Place]:
        """The places of the page that a row of words names, the longest names first."""
        return [] if self.firsts.isdisjoint(words) else longest_names(words, self._names)

    def loose(self, link: Link) -> Loose:
        """What a link names that has no position in the text."""
        if not self._names:
            return _NOTHING
        anchored, wanted = self._in_text(link.anchor)
        around, around_wanted = self._in_text(f"{link.before} {link.after}")
        terms = sum([_words(text) for text in (link.anchor, link.before, link.after)])
        length = sum([len(place.name) for place in wanted])
        return (
            len(anchored),
            len(wanted),
            len(anchored) + len(around),
            len(wanted) + len(around_wanted),
            terms,
            min(1.0, length / len(link.anchor)) if length else 0.0,
        )

    def _are_wanted(self, places: list[Place]) -> list[bool]:
        return self._targets(places) if self._has_places else [True] * len(places)

    def _in_text(self, text: str) -> tuple[list[Place], list[Place]]:
        found = self.in_words(_WORD.findall(text.casefold())) if text.strip() else []
        return found, [place for place, one in zip(found, self._are_wanted(found), strict=True) if one]


def _words(text: str) -> int:
    """Words of a text whose blanks are single."""
    return text.count(" ") + text.count("\n") + 1 if text else 0
