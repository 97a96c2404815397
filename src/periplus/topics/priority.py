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

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from periplus.model import EARTH_RADIUS_KM, Link, Located, Page, Place, Score
from periplus.topics.link_book import link_features
from periplus.topics.link_names import LinkNames, Named
from periplus.topics.topic import Topic
from periplus.topics.url_names import slug_words

__all__ = [
    "LinkParts",
    "LinkScorer",
    "link_priority",
    "packed_parts",
    "spatial_correlation",
    "unpacked_parts",
]

HALF_CIRCUMFERENCE_KM = EARTH_RADIUS_KM * 3.141592653589793
PARENT, OWN, ANCHOR = 0.5, 0.5, 0.25
UNWORDED = 0.2
"""What is left of a link to which no keyword points: links are short, and places still tell them apart."""

SILENT = 0.5
"""A link that names no place, or none of the keywords, is taken to be so much like its page: names are often missing,
and only a link that names places elsewhere speaks against itself."""

WINDOW = 0.25
MAX_ENTITIES = 12


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


def packed_parts(parts: LinkParts) -> bytes:
    """The parts in 255ths, one byte each, as the store keeps them with every link."""
    return bytes([int(255.0 * value + 0.5) for value in parts])


def unpacked_parts(packed: bytes) -> LinkParts:
    """What `packed_parts` packed, to the nearest 255th."""
    return LinkParts(*(value / 255 for value in packed))


def link_priority(score: Score) -> float:
    """Priority of a page's links as paper C has it, 0..1: both relevances of the page count."""
    return (score.keyword_relevance + score.place_relevance) / 2


def spatial_correlation(places: Sequence[Place]) -> float:
    """1 − mean pairwise distance of distinct places, normalised to 0..1; 1 for one place, 0 for none."""
    distinct = list({place.id: place for place in places}.values())[:MAX_ENTITIES]
    if len(distinct) < 2:
        return float(len(distinct))
    far = [a.point.distance_km(b.point) / HALF_CIRCUMFERENCE_KM for a, b in combinations(distinct, 2)]
    return max(0.0, 1.0 - sum(far) / len(far))


class LinkScorer:
    """Scores the links of one judged page."""

    def __init__(self, page: Page, located: Located, score: Score, topic: Topic) -> None:
        self._score = score
        self._topic = topic
        self._language = page.language or topic.learnt.language
        self._names = LinkNames(page, located, topic)
        self._lexicon = topic.lexicon(self._language)
        self._reads_urls = bool(topic.keywords or self._names)
        self._time = SILENT + (1.0 - SILENT) * score.time_relevance
        self._silent_places = SILENT * score.place_relevance
        self._silent_keywords = SILENT * score.keyword_relevance

    def parts(self, link: Link) -> LinkParts:
        """The parts of one link's priority."""
        score, topic = self._score, self._topic
        slug = slug_words(link.url) if self._reads_urls else ()
        in_url = self._names.in_url(slug) if slug else []
        anchored, around, terms, covered = self._names.near(link)
        spatial = spatial_correlation(in_url) if in_url else 0.0
        focus = min(1.0, (anchored.all + around.all) / terms) if terms else 0.0
        places = self._local(in_url, anchored, around) if topic.places else self._silent_places
        keywords = self._silent_keywords
        worth = 1.0 - ANCHOR + ANCHOR * covered
        if topic.keywords:
            keywords = max(keywords, self._worded(link.anchor, slug))
            worth *= UNWORDED + (1.0 - UNWORDED) * (PARENT * score.keyword_relevance + OWN * keywords)
        if topic.places:
            worth *= PARENT * score.place_relevance + OWN * places
        return LinkParts(
            spatial=spatial,
            focus=focus,
            places=places,
            keywords=keywords,
            parent_keywords=score.keyword_relevance,
            parent_places=score.place_relevance,
            anchor=covered,
            time=self._time,
            priority=worth * self._time,
        )

    def features(self, link: Link) -> bytes:
        """The link's words as the crawl learns by them; none in a crawl without a topic."""
        return b"" if self._topic.is_empty else link_features(link, self._language)

    def _local(self, in_url: list[Place], anchored: Named, around: Named) -> float:
        """The share of places that lie in the topic's; one place too many is assumed, so that more say more."""
        good = anchored.wanted + WINDOW * around.wanted
        if in_url:
            worth = self._topic.table.worth
            good += sum(worth(place).is_target for place in in_url)
        total = len(in_url) + anchored.all + WINDOW * around.all
        return good / (total + 0.25) if total else self._silent_places

    def _worded(self, anchor: str, slug: Sequence[str]) -> float:
        """Evidence of the topic's keywords, adding up as independent evidence."""
        miss = 1.0
        for number in self._lexicon.present_in(f"{anchor} {' '.join(slug)}"):
            miss *= 1.0 - 0.7 * self._topic.keywords[number][1]
        return 1.0 - miss
