"""Priority of links: how promising a URL is before it is fetched (papers B and C together).

For each link of a judged page:

    spatial   spatial correlation of the places that the URL names: 1 − mean pairwise distance / half the earth's
              circumference; 1 for a single place, 0 for none (paper B)
    focus     places in the anchor and its window / words in them (paper B)
    rank      (spatial + focus) / 2: paper B's Rank(u)
    places    share of the places named by anchor and URL (the window counts a quarter) that lie in the topic's places;
              where none is named, 0.5 of the page's place relevance
    keywords  evidence of the topic's keywords in anchor and URL; at least 0.5 of the page's keyword relevance
    anchor    share of the anchor's letters that are names of the topic's places (of any places, if it has none)
    parent    the page's own two relevances (paper C)
    time      0.5 + half of the relevance of the page's time

    priority = time · (0.75 + 0.25 · anchor) · product over the topic's parts of
               (0.5 · parent + 0.5 · link), for keywords 0.2 + 0.8 · that

Keywords and places multiply because neither can make up for the other, as in judging. A link whose anchor is nothing
but a place is likelier to lead to a page about it than one that names it in passing.

What a URL is worth by all pages that link to it is in `link_book.py`. Names are looked for among the places of the
page, which were located already: no link costs a look-up in the gazetteer. Pure.
"""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from periplus.model import Link, Located, Page, Score
from periplus.topics.link_book import features_of
from periplus.topics.link_names import LinkNames
from periplus.topics.link_parts import PARTS, SILENT, PageSide, packed, score_links
from periplus.topics.link_words import NOTHING_SAID, spatial_correlation
from periplus.topics.topic import Topic

__all__ = [
    "LinkParts",
    "LinkScorer",
    "best_parts",
    "link_priority",
    "packed_parts",
    "spatial_correlation",
    "unpacked_parts",
]


class LinkParts(NamedTuple):
    """The parts of a link's priority, each 0..1."""

    spatial: float
    focus: float
    places: float
    keywords: float
    parent_keywords: float
    parent_places: float
    anchor: float
    time: float
    priority: float

    @property
    def rank(self) -> float:
        """Rank(u) of paper B."""
        return (self.spatial + self.focus) / 2


def packed_parts(parts: "LinkParts | array[float]") -> bytes:
    """The parts in 255ths, one byte each, as the store keeps them with every link."""
    return packed(parts if isinstance(parts, array) else array("d", parts))


def unpacked_parts(packed: bytes) -> LinkParts:
    """What `packed_parts` packed, to the nearest 255th."""
    return LinkParts(*(value / 255 for value in packed))


def link_priority(score: Score) -> float:
    """Priority of a page's links as paper C has it, 0..1: both relevances of the page count."""
    return (score.keyword_relevance + score.place_relevance) / 2


class LinkScorer:
    """Scores the links of one judged page."""

    def __init__(self, page: Page, located: Located, score: Score, topic: Topic) -> None:
        self._topic = topic
        self._language = page.language or topic.learnt.language
        self._names = LinkNames(located, topic)
        self._words = topic.link_words(self._language)
        self._side = PageSide(
            page.text,
            self._names.mentions,
            self._names.firsts,
            (score.keyword_relevance, score.place_relevance, SILENT + (1.0 - SILENT) * score.time_relevance),
            (bool(topic.keywords), bool(topic.places)),
        )

    def score(self, links: list[Link]) -> "array[float]":
        """The parts of all links' priorities, one link behind the other."""
        topic, words = self._topic, self._words
        urls = words.urls(links) if topic.keywords or self._names.firsts else [NOTHING_SAID] * len(links)
        worded = array("d", words.worded(links, urls) if topic.keywords else [0.0] * len(links))
        parts = array("d", bytes(8 * PARTS * len(links)))
        score_links(self._side, links, urls, worded, self._named_by, self._names.loose, parts)
        return parts

    def parts(self, link: Link) -> LinkParts:
        """The parts of one link's priority."""
        return LinkParts(*self.score([link]))

    def features(self, links: list[Link]) -> list[bytes]:
        """The links' words as the crawl learns by them; none in a crawl without a topic."""
        return [] if self._topic.is_empty else features_of(links, self._language)

    def _named_by(self, words: tuple[str, ...]) -> tuple[int, int, float] | None:
        """What places of the page the words of a URL name."""
        named = self._names.in_words(words)
        return self._words.places(named) if named else None


def best_parts(scorers: Sequence[LinkScorer], links: list[Link]) -> "array[float]":
    """The parts of each link's priority for the topic that it promises most to, one link behind the other."""
    first, *others = (scorer.score(links) for scorer in scorers)
    for other in others:
        for at in range(0, len(first), PARTS):
            if other[at + PARTS - 1] > first[at + PARTS - 1]:
                first[at : at + PARTS] = other[at : at + PARTS]
    return first
