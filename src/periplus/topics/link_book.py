"""What a crawl knows about the links it has not followed yet: all parents' evidence, and what following taught it.

    mean      of what the pages that link to the URL say (the priority of `priority.py`)
    hub       0.02 · ln(1 + sum of these pages' relevances): where many relevant pages point, more may be linked from
    words     half of the way up to the best of the link's words, if that is higher. A word of anchor or URL is worth
              the mean relevance of the pages that were fetched by links with it, (Σ + 3·b) / (n + 3), where b is half
              of the mean over all pages
    siblings  0.3 · Σ / (n + 5) over the pages that were fetched by other links of the same parents

    worth = mean + words + siblings + hub, at most 1

Words and siblings are what the crawl learns; without `adaptive` they are left out. Memory is bounded: a table of
fixed size for words, a limited number of links under way and of pages whose links are followed up. What is learnt
changes what links are worth that no page has named since, so with every page a few of them are valued anew, in turn.
Deterministic: the same links in the same order give the same values. Belongs to the event loop.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import xxhash

from periplus.model import Link, RoutedLink
from periplus.topics.url_names import slug_words
from periplus.topics.words import content_stems
from periplus.urls import MarkSet

__all__ = ["LinkBook", "link_features"]

BUCKETS = 1 << 15
MAX_FEATURES = 8
MAX_LINKS = 500_000
"""Links under way that are remembered; the oldest are let go."""

MAX_PARENTS = 8
PAGES = 1 << 16
"""Pages of which is remembered what came of their links; the oldest are let go."""

CAUTION = 3.0
SIBLING_CAUTION = 5.0
WORDS, SIBLINGS, HUB = 0.5, 0.3, 0.02
NOTICEABLE = 0.02
"""A queued URL moves in the frontier when its worth has changed by at least this."""

IN_TURN = 256
"""Links that are valued anew with every page."""

Slots = npt.NDArray[np.int64]
Worths = npt.NDArray[np.float64]


def link_features(link: Link, language: str, seed: int = 0) -> bytes:
    """The words of a link's anchor and URL, hashed; two bytes each."""
    return _features(link.anchor, link.url, language, seed)


@lru_cache(maxsize=50_000)
def _features(anchor: str, url: str, language: str, seed: int) -> bytes:
    words = dict.fromkeys(content_stems(f"{anchor} {' '.join(slug_words(url))}", language))
    words.pop("", None)
    hashed = [_bucket(word, seed) for word in list(words)[:MAX_FEATURES]]
    return b"".join(one.to_bytes(2, "little") for one in dict.fromkeys(hashed))


@lru_cache(maxsize=100_000)
def _bucket(word: str, seed: int) -> int:
    return xxhash.xxh32_intdigest(word.encode(), seed) % BUCKETS


class _Table:
    """The links under way, a column for each fact; grows as it fills."""

    def __init__(self, size: int) -> None:
        self.mark = np.zeros(size, np.int64)
        self.total = np.zeros(size)  # of the parents' priorities
        self.relevance = np.zeros(size)  # of the parents, summed up
        self.count = np.zeros(size, np.int64)  # of the parents
        self.parents = np.full((size, MAX_PARENTS), -1, np.int64)  # the last ones
        self.words = np.full((size, MAX_FEATURES), BUCKETS, np.uint16)
        self.queued = np.zeros(size)  # the priority that the frontier has
        self.node = np.zeros(size, np.int64)

    def __len__(self) -> int:
        return len(self.mark)

    def grow(self, size: int) -> None:
        """Room for `size` links."""
        larger = _Table(size)
        for name, column in vars(self).items():
            getattr(larger, name)[: len(self)] = column
        vars(self).update(vars(larger))

    def clear(self, slot: int, mark: int, features: bytes) -> None:
        """Take a slot for another link."""
        self.mark[slot] = mark
        self.total[slot] = self.relevance[slot] = self.queued[slot] = 0.0
        self.count[slot] = 0
        self.parents[slot] = -1
        self.words[slot] = BUCKETS
        words = np.frombuffer(features, "<u2")
        self.words[slot, : len(words)] = words


class LinkBook:
    """The links under way, by fingerprint. `adaptive`: learn from what was fetched; else only what parents say."""

    def __init__(self, *, adaptive: bool = True, max_links: int = MAX_LINKS) -> None:
        self._adaptive = adaptive
        self._max_links = max_links
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._table = _Table(min(1024, max_links))
        self._nodes: dict[str, int] = {}
        self._changed: dict[str, dict[int, float]] = {}
        self._word_sums = np.zeros(BUCKETS + 1)  # the last is no word
        self._word_counts = np.zeros(BUCKETS + 1)
        self._child_sums = np.zeros(PAGES)
        self._child_counts = np.zeros(PAGES)
        self._page = np.full(PAGES, -1, np.int64)  # whose counts they are
        self._pages = 0
        self._turn = 0
        self._taken = 0  # slots that were ever taken
        self._done = MarkSet()
        self._learnt_sum, self._learnt_count = 0.0, 0

    def __len__(self) -> int:
        return len(self._slots)

    def value(self, links: Sequence[RoutedLink], relevance: float = 0.0) -> list[float]:
        """What the links of one page of that relevance are worth now; what is known already is valued anew."""
        page = self._turn_page()
        found = [1.0 if link.priority is None else link.priority for link in links]
        open_links = [at for at, link in enumerate(links) if link.fingerprint not in self._done]
        if open_links:
            for at, worth in zip(
                open_links, self._valued([links[at] for at in open_links], page, relevance), strict=True
            ):
                found[at] = worth
        self._value_in_turn()
        return found

    def _valued(self, links: Sequence[RoutedLink], page: int, relevance: float) -> list[float]:
        """What links are worth that were not followed yet, when one more page names them."""
        slots = np.array([self._slot(link) for link in links], np.int64)
        table = self._table
        new = table.count[slots] == 0
        np.add.at(table.total, slots, [1.0 if link.priority is None else link.priority for link in links])
        np.add.at(table.relevance, slots, relevance)
        table.parents[slots, table.count[slots] % MAX_PARENTS] = page
        np.add.at(table.count, slots, 1)
        table.node[slots] = [self._nodes.setdefault(link.node, len(self._nodes)) for link in links]
        worth = self._worth(slots)
        table.queued[slots[new]] = worth[new]
        self._note_moved(slots, worth)
        found: list[float] = worth.tolist()
        return found

    def learn(self, fingerprint: int, relevance: float) -> None:
        """A URL was fetched and its page judged: its link's words and its parents gain or lose by it."""
        self._done.add(fingerprint)
        slot = self._slots.pop(fingerprint, None)
        if slot is None:
            return
        self._let_go(slot)
        for waiting in self._changed.values():
            waiting.pop(fingerprint, None)
        if not self._adaptive:
            return
        words = self._table.words[slot]  # each once
        words = words[words < BUCKETS]
        self._word_sums[words] += relevance
        self._word_counts[words] += 1.0
        self._learnt_sum += relevance
        self._learnt_count += 1
        parents = self._table.parents[slot]
        at = parents[parents >= 0] % PAGES
        at = at[self._page[at] == parents[parents >= 0]]
        self._child_sums[at] += relevance
        self._child_counts[at] += 1.0

    def take_changed(self, node: str) -> list[tuple[int, float]]:
        """The URLs of a node whose worth has changed since the last call, with what they are worth now."""
        return list(self._changed.pop(node, {}).items())

    def _turn_page(self) -> int:
        """The number of a page whose links come now."""
        page = self._pages
        self._pages += 1
        at = page % PAGES
        self._page[at], self._child_sums[at], self._child_counts[at] = page, 0.0, 0.0
        return page

    def _slot(self, link: RoutedLink) -> int:
        known = self._slots.get(link.fingerprint)
        if known is not None:
            return known
        if len(self._slots) >= self._max_links:
            self._let_go(self._slots.pop(next(iter(self._slots))))
        if not self._free and len(self._slots) >= len(self._table):
            self._table.grow(min(self._max_links, 2 * len(self._table)))
        slot = self._free.pop() if self._free else len(self._slots)
        self._taken = max(self._taken, slot + 1)
        self._slots[link.fingerprint] = slot
        self._table.clear(slot, link.fingerprint, link.features[: 2 * MAX_FEATURES])
        return slot

    def _let_go(self, slot: int) -> None:
        self._free.append(slot)
        self._table.count[slot] = 0

    def _worth(self, slots: Slots) -> Worths:
        table = self._table
        mean: Worths = table.total[slots] / np.maximum(table.count[slots], 1)
        worth: Worths = mean + HUB * np.log1p(table.relevance[slots])
        if self._adaptive and self._learnt_count:
            worth += WORDS * np.maximum(0.0, self._best_word(slots) - mean) + SIBLINGS * self._siblings(slots)
        return np.clip(worth, 0.0, 1.0)

    def _best_word(self, slots: Slots) -> Worths:
        at = self._table.words[slots]
        counts = self._word_counts[at]
        prior = CAUTION * 0.5 * self._learnt_sum / self._learnt_count
        worths = np.where(counts > 0.0, (self._word_sums[at] + prior) / (counts + CAUTION), 0.0)
        best: Worths = worths.max(axis=1)
        return best

    def _siblings(self, slots: Slots) -> Worths:
        parents = self._table.parents[slots]
        at = parents % PAGES
        known = (parents >= 0) & (self._page[at] == parents)
        sums = np.where(known, self._child_sums[at], 0.0).sum(axis=1)
        share: Worths = sums / (np.where(known, self._child_counts[at], 0.0).sum(axis=1) + SIBLING_CAUTION)
        return share

    def _note_moved(self, slots: Slots, worth: Worths) -> None:
        """Remember which links moved noticeably, for the frontier."""
        table = self._table
        moved = np.flatnonzero(np.abs(worth - table.queued[slots]) >= NOTICEABLE)
        if not len(moved):
            return
        names = list(self._nodes)
        at = slots[moved]
        for node, mark, now in zip(
            table.node[at].tolist(), table.mark[at].tolist(), worth[moved].tolist(), strict=True
        ):
            self._changed.setdefault(names[node], {})[mark] = now
        table.queued[at] = worth[moved]

    def _value_in_turn(self) -> None:
        """Value the next links anew."""
        if not self._adaptive:
            return
        start = self._turn if self._turn < self._taken else 0
        self._turn = start + IN_TURN
        slots = start + np.flatnonzero(self._table.count[start : min(self._turn, self._taken)])
        if len(slots):
            self._note_moved(slots, self._worth(slots))
