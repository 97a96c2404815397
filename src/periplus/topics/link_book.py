"""What a crawl knows about the links it has not followed yet: all parents' evidence, and what following taught it.

A URL is worth the mean of what the pages that link to it say (paper B's and C's priority, `priority.py`), plus what
the crawl itself has learnt: when a page has been fetched and judged, the difference between its relevance and what
was expected of its link is credited to the words of the link's anchor and URL. Links with these words are worth more
or less from then on. Memory is bounded: a table of fixed size for words, and a limited number of links under way.
Deterministic: the same links in the same order give the same values. Belongs to the event loop.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import xxhash

from periplus.model import Link, RoutedLink
from periplus.topics.link_names import slug_words
from periplus.topics.words import content_stems

__all__ = ["LinkBook", "Revalued", "link_features"]

BUCKETS = 1 << 15
MAX_FEATURES = 12
MAX_LINKS = 500_000
"""Links under way that are remembered; the oldest are let go."""

CAUTION = 8.0
"""A word has to be seen so often before half of what it seems to say is believed."""

LEARNT = 0.15
NOTICEABLE = 0.02
"""A queued URL moves in the frontier when its worth has changed by at least this."""


class Revalued(NamedTuple):
    """A known URL whose worth has changed."""

    node: str
    fingerprint: int
    priority: float


class _Known(NamedTuple):
    total: float  # of the parents' priorities
    parents: int
    features: bytes
    queued_at: float  # the priority that the frontier has


def link_features(link: Link, language: str, seed: int = 0) -> bytes:
    """The words of a link's anchor and URL, hashed; two bytes each."""
    words = dict.fromkeys(content_stems(f"{link.anchor} {' '.join(slug_words(link.url))}", language))
    words.pop("", None)
    hashed = [xxhash.xxh32_intdigest(word.encode(), seed) % BUCKETS for word in list(words)[:MAX_FEATURES]]
    return b"".join(one.to_bytes(2, "little") for one in hashed)


class LinkBook:
    """The links under way, by fingerprint. `adaptive`: learn from what was fetched; else only the parents' mean."""

    def __init__(self, *, adaptive: bool = True, max_links: int = MAX_LINKS) -> None:
        self._adaptive = adaptive
        self._max_links = max_links
        self._links: dict[int, _Known] = {}
        self._sums = np.zeros(BUCKETS)
        self._counts = np.zeros(BUCKETS)
        self._changed: dict[str, dict[int, float]] = {}

    def value(self, links: Iterable[RoutedLink]) -> list[float]:
        """What the links of one page are worth now; what is known already is valued anew."""
        return [self._value(link) for link in links]

    def learn(self, fingerprint: int, relevance: float) -> None:
        """A URL was fetched and its page judged: remember how far that was from what was expected."""
        known = self._links.pop(fingerprint, None)
        if known is None or not self._adaptive or not known.features:
            return
        at = np.unique(np.frombuffer(known.features, "<u2"))
        self._sums[at] += relevance - known.total / known.parents
        self._counts[at] += 1.0

    def take_changed(self, node: str) -> list[tuple[int, float]]:
        """The URLs of a node whose worth has changed since the last call, with what they are worth now."""
        return list(self._changed.pop(node, {}).items())

    def bonus(self, features: bytes) -> float:
        """What the crawl has learnt about links with these words; 0 before it has learnt anything."""
        if not self._adaptive or not features:
            return 0.0
        at = np.frombuffer(features, "<u2")
        return LEARNT * float((self._sums[at] / (self._counts[at] + CAUTION)).sum())

    def __len__(self) -> int:
        return len(self._links)

    def _value(self, link: RoutedLink) -> float:
        own = 1.0 if link.priority is None else link.priority
        known = self._links.get(link.fingerprint)
        if known is None:
            worth = _bounded(own + self.bonus(link.features))
            if len(self._links) >= self._max_links:
                del self._links[next(iter(self._links))]
            self._links[link.fingerprint] = _Known(own, 1, link.features, worth)
            return worth
        total, parents = known.total + own, known.parents + 1
        worth = _bounded(total / parents + self.bonus(known.features))
        moved = abs(worth - known.queued_at) >= NOTICEABLE
        if moved:
            self._changed.setdefault(link.node, {})[link.fingerprint] = worth
        self._links[link.fingerprint] = _Known(total, parents, known.features, worth if moved else known.queued_at)
        return worth


def _bounded(worth: float) -> float:
    return min(1.0, max(0.0, worth))
