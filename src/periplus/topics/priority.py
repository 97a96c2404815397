"""Priority of links: how promising a URL is before it is fetched (papers B and C together).

For each link of a judged page:

    spatial   spatial correlation of the places that the URL names: 1 − mean pairwise distance / half the earth's
              circumference; 1 for a single place, 0 for none (paper B)
    focus     places in the anchor and its window / words in them (paper B)
    rank      (spatial + focus) / 2: paper B's Rank(u)
    places    share of the places named by anchor and URL (the window counts a quarter) that lie in the topic's places;
              where none is named, 0.5 of the page's place relevance
    keywords  evidence of the topic's keywords in anchor and URL; at least 0.5 of the page's keyword relevance
    parent    the page's own two relevances (paper C)

    priority = (0.9 + 0.1 · rank) · mean over the topic's parts of (0.6 · parent + 0.4 · link)

A URL that several pages link to is worth the mean over them. Names are looked for among the places of the page, which
were located already: no link costs a look-up in the gazetteer. Pure.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from urllib.parse import unquote, urlsplit

from periplus.model import EARTH_RADIUS_KM, Link, Located, Page, Place, Score
from periplus.topics.topic import Topic
from periplus.topics.words import WORD, stem_phrase, stems

__all__ = [
    "LinkParts",
    "LinkScorer",
    "ParentMean",
    "link_priority",
    "packed_parts",
    "spatial_correlation",
    "unpacked_parts",
]

HALF_CIRCUMFERENCE_KM = EARTH_RADIUS_KM * 3.141592653589793
PARENT, OWN, RANK = 0.6, 0.4, 0.1
SILENT = 0.5
"""A link that names no place, or none of the keywords, is taken to be so much like its page: names are often missing,
and only a link that names places elsewhere speaks against itself."""

WINDOW = 0.25
MAX_NAMES = 400
MAX_ENTITIES = 12


@dataclass(frozen=True, slots=True)
class LinkParts:
    """The parts of a link's priority, each 0..1."""

    spatial: float
    focus: float
    places: float
    keywords: float
    parent_keywords: float
    parent_places: float
    priority: float

    @property
    def rank(self) -> float:
        """Rank(u) of paper B."""
        return (self.spatial + self.focus) / 2


def packed_parts(parts: LinkParts) -> bytes:
    """The parts in 255ths, one byte each, as the store keeps them with every link."""
    return bytes(round(255 * min(1.0, max(0.0, getattr(parts, name)))) for name in LinkParts.__slots__)


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
        self._names = _names(located, topic)
        self._pattern = _pattern(self._names)
        self._lexicon = _lexicon(topic.keywords, self._language) if topic.keywords else {}
        largest = max((weight for _, weight in topic.places), default=1.0)
        self._targets = {place.id for place, weight in topic.places if weight >= 0.5 * largest}

    def parts(self, link: Link) -> LinkParts:
        """The parts of one link's priority."""
        slug = _slug(link.url)
        anchor = link.anchor.casefold()
        window = f"{link.before} {link.after}".casefold()
        in_url, in_anchor, in_window = (self._entities(text) for text in (slug, anchor, window))
        terms = len(WORD.findall(anchor)) + len(WORD.findall(window))
        spatial = spatial_correlation(in_url)
        focus = min(1.0, (len(in_anchor) + len(in_window)) / terms) if terms else 0.0
        places = self._local([*in_url, *in_anchor], in_window)
        keywords = max(self._worded(f"{anchor} {slug}"), SILENT * self._score.keyword_relevance)
        values = []
        if self._topic.keywords:
            values.append(PARENT * self._score.keyword_relevance + OWN * keywords)
        if self._topic.places:
            values.append(PARENT * self._score.place_relevance + OWN * places)
        mean = sum(values) / len(values) if values else 1.0
        return LinkParts(
            spatial=spatial,
            focus=focus,
            places=places,
            keywords=keywords,
            parent_keywords=self._score.keyword_relevance,
            parent_places=self._score.place_relevance,
            priority=mean * (1.0 - RANK + RANK * (spatial + focus) / 2),
        )

    def _entities(self, folded: str) -> list[Place]:
        return [self._names[found] for found in self._pattern.findall(folded)] if self._pattern and folded else []

    def _local(self, named: list[Place], around: list[Place]) -> float:
        """The share of places that lie in the topic's; one place too many is assumed, so that more say more."""
        good = sum(1.0 for place in named if self._is_target(place))
        good += WINDOW * sum(1.0 for place in around if self._is_target(place))
        total = len(named) + WINDOW * len(around)
        return good / (total + 0.25) if total else SILENT * self._score.place_relevance

    def _is_target(self, place: Place) -> bool:
        return place.id in self._targets or any(above in self._targets for above in place.ancestors)

    def _worded(self, text: str) -> float:
        """Evidence of the topic's keywords, adding up as independent evidence."""
        sequence = stems(text, self._language)
        found = Counter(sequence)
        found.update(f"{a} {b}" for a, b in pairwise(sequence))
        miss = 1.0
        for term in found:
            miss *= 1.0 - 0.7 * self._lexicon.get(term, 0.0)
        return 1.0 - miss


class ParentMean:
    """What a URL is worth by all pages that were seen to link to it: the mean of their priorities."""

    def __init__(self) -> None:
        self._sums: dict[int, tuple[float, int]] = {}

    def add(self, fingerprint: int, priority: float) -> float:
        """One more parent; gives the URL's priority now."""
        total, count = self._sums.get(fingerprint, (0.0, 0))
        self._sums[fingerprint] = (total + priority, count + 1)
        return (total + priority) / (count + 1)

    def forget(self, fingerprint: int) -> None:
        """The URL was fetched: its parents no longer matter."""
        self._sums.pop(fingerprint, None)


def _names(located: Located, topic: Topic) -> dict[str, Place]:
    """Names by which anchors, windows and URLs may call places: the page's own, and the topic's."""
    names = {place.name.casefold(): place for place, _ in topic.places}
    for mention in located.mentions:
        if mention.place is not None and len(names) < MAX_NAMES:
            names.setdefault(" ".join(mention.text.casefold().split()), mention.place)
    names.pop("", None)
    return names


def _pattern(names: dict[str, Place]) -> re.Pattern[str] | None:
    if not names:
        return None
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")


@lru_cache(maxsize=64)
def _lexicon(keywords: tuple[tuple[str, float], ...], language: str) -> dict[str, float]:
    return {stem_phrase(word, language): weight for word, weight in keywords}


def _slug(url: str) -> str:
    """The words of a URL: host without its top-level domain, and path."""
    try:
        split = urlsplit(url)
        host = (split.hostname or "").rpartition(".")[0]
    except ValueError:
        return ""
    text = unquote(f"{host} {split.path}"[:2048])
    return " ".join(WORD.findall(text.replace("_", " ").casefold()))
