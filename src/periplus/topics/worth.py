"""The loops of the link book: the links under way, a column for each fact, and what they are worth.

The formula is in `link_book.py`. Plain Python over flat arrays; compiled where there is a C compiler (`worth.pxd`).
"""

from collections.abc import MutableSequence
from math import *  # noqa: F403  log1p: C's own where this is compiled (worth.pxd), else this
from typing import Final, cast

import numpy as np

__all__ = ["MAX_FEATURES", "MAX_PARENTS", "NO_WORD", "PAGES", "Columns", "let_go", "name_links", "take", "value_turn"]

MAX_FEATURES: Final = 8
MAX_PARENTS: Final = 8
NO_WORD: Final = 1 << 15
"""What stands where a link has fewer words than there is room for; words are numbers below."""

PAGES: Final = 1 << 16
"""Pages of which is remembered what came of their links; the oldest are let go."""

Ints = MutableSequence[int]
Reals = MutableSequence[float]

# The names below have C types in worth.pxd.
_WORDS, _SIBLINGS, _HUB = 0.5, 0.3, 0.02
_CAUTION, _SIBLING_CAUTION = 3.0, 5.0
_NOTICEABLE = 0.02  # a queued URL moves in the frontier when its worth has changed by at least this
_FEATURES, _PARENTS, _NO_WORD, _PAGES = MAX_FEATURES, MAX_PARENTS, NO_WORD, PAGES


def _ints(size: int, kind: type[np.signedinteger] | type[np.unsignedinteger] = np.int64) -> Ints:
    return cast("Ints", np.zeros(size, kind).data)


def _reals(size: int) -> Reals:
    return cast("Reals", np.zeros(size).data)


class Columns:
    """The links under way by slot, and what following links has taught.

    With every page some 300 links are valued by words and parents that lie anywhere, so what is looked at together lies
    together, and is as small as it may be: that is mostly waiting for memory.
    """

    def __init__(self, size: int, adaptive: bool) -> None:
        self.size = 0
        self.adaptive = adaptive
        self.learnt_sum = self.learnt_count = 0.0
        self.learnt = _reals(2 * (_NO_WORD + 1))  # by word: sum and number of what was found by it
        self.children = _reals(3 * _PAGES)  # by page: its number, from 1; sum and number of what its links led to
        self.mark, self.count, self.node = (_ints(0) for _ in range(3))
        self.parents, self.words = _ints(0, np.int32), _ints(0, np.uint16)
        self.total, self.relevance, self.hub, self.queued = (_reals(0) for _ in range(4))
        self.grow(size)

    def grow(self, size: int) -> None:
        """Room for `size` links."""
        self.mark = _longer(self.mark, size)
        self.count = _longer(self.count, size)  # of the parents
        self.node = _longer(self.node, size)
        self.parents = _longer(self.parents, size * _PARENTS, np.int32)  # the last ones; 0 is none
        self.words = _longer(self.words, size * _FEATURES, np.uint16)
        self.total = _longer_reals(self.total, size)  # of the parents' priorities
        self.relevance = _longer_reals(self.relevance, size)  # of the parents, summed up
        self.hub = _longer_reals(self.hub, size)  # what that is worth
        self.queued = _longer_reals(self.queued, size)  # the priority that the frontier has
        self.size = size

    def begin_page(self, page: int) -> None:
        """The links of a page come now; nothing is known yet of what comes of them."""
        at = 3 * (page % _PAGES)
        self.children[at] = page
        self.children[at + 1] = self.children[at + 2] = 0.0


def _longer(old: Ints, size: int, kind: type[np.signedinteger] | type[np.unsignedinteger] = np.int64) -> Ints:
    return cast("Ints", np.concatenate((np.asarray(old, kind), np.zeros(size - len(old), kind))).data)


def _longer_reals(old: Reals, size: int) -> Reals:
    return cast("Reals", np.concatenate((np.asarray(old, np.float64), np.zeros(size - len(old)))).data)


def take(c: Columns, slot: int, mark: int, features: bytes) -> None:
    """Take a slot for a link; two bytes of `features` a word."""
    c.mark[slot] = mark
    c.total[slot] = c.relevance[slot] = c.hub[slot] = c.queued[slot] = 0.0
    c.count[slot] = 0
    words = len(features) // 2
    for i in range(_PARENTS):
        c.parents[slot * _PARENTS + i] = 0
    for i in range(_FEATURES):
        word = features[2 * i] + 256 * features[2 * i + 1] if i < words else _NO_WORD
        c.words[slot * _FEATURES + i] = word


def name_links(
    c: Columns, slots: Ints, priorities: Reals, nodes: Ints, page: int, relevance: float, worths: Reals
) -> list[tuple[int, int, float]]:
    """One more page of that relevance names the links in these slots; what they are worth goes into `worths`.

    Gives the nodes and fingerprints of links that moved noticeably, with their new worths.
    """
    for i in range(len(slots)):
        slot = slots[i]
        c.total[slot] += priorities[i]
        c.relevance[slot] += relevance
        c.hub[slot] = _HUB * log1p(c.relevance[slot])  # noqa: F405
        c.parents[slot * _PARENTS + c.count[slot] % _PARENTS] = page
        c.count[slot] += 1
        c.node[slot] = nodes[i]
    moved: list[tuple[int, int, float]] = []
    for i in range(len(slots)):
        slot = slots[i]
        worth = _worth(c, slot)
        worths[i] = worth
        if c.count[slot] == 1:
            c.queued[slot] = worth
        elif _moves(c, slot, worth):
            moved.append((c.node[slot], c.mark[slot], worth))
    return moved


def value_turn(c: Columns, start: int, stop: int) -> list[tuple[int, int, float]]:
    """Value the links in these slots anew; gives what `name_links` gives."""
    moved: list[tuple[int, int, float]] = []
    for slot in range(start, stop):
        if c.count[slot]:
            worth = _worth(c, slot)
            if _moves(c, slot, worth):
                moved.append((c.node[slot], c.mark[slot], worth))
    return moved


def let_go(c: Columns, slot: int, relevance: float, learn: bool) -> None:
    """A slot is free again; with `learn`, its link's words and parents gain or lose by what was found there."""
    c.count[slot] = 0
    if not learn:
        return
    c.learnt_sum += relevance
    c.learnt_count += 1.0
    for i in range(slot * _FEATURES, (slot + 1) * _FEATURES):
        word = c.words[i]
        if word != _NO_WORD:
            c.learnt[2 * word] += relevance
            c.learnt[2 * word + 1] += 1.0
    for i in range(slot * _PARENTS, (slot + 1) * _PARENTS):
        page = c.parents[i]
        at = 3 * (page % _PAGES)
        if page and c.children[at] == page:
            c.children[at + 1] += relevance
            c.children[at + 2] += 1.0


def _moves(c: Columns, slot: int, worth: float) -> bool:
    change = worth - c.queued[slot]
    if -_NOTICEABLE < change < _NOTICEABLE:
        return False
    c.queued[slot] = worth
    return True


def _worth(c: Columns, slot: int) -> float:
    mean = c.total[slot] / c.count[slot]
    worth = mean + c.hub[slot]
    if c.adaptive and c.learnt_count > 0.0:
        best = _best_word(c, slot)
        if best > mean:
            worth += _WORDS * (best - mean)
        worth += _SIBLINGS * _of_siblings(c, slot)
    return 0.0 if worth < 0.0 else min(worth, 1.0)


def _best_word(c: Columns, slot: int) -> float:
    prior = _CAUTION * 0.5 * c.learnt_sum / c.learnt_count
    best = 0.0
    for i in range(slot * _FEATURES, (slot + 1) * _FEATURES):
        word = c.words[i]
        if c.learnt[2 * word + 1] > 0.0:
            worth = (c.learnt[2 * word] + prior) / (c.learnt[2 * word + 1] + _CAUTION)
            best = max(best, worth)
    return best


def _of_siblings(c: Columns, slot: int) -> float:
    total, count = 0.0, _SIBLING_CAUTION
    for i in range(slot * _PARENTS, (slot + 1) * _PARENTS):
        page = c.parents[i]
        at = 3 * (page % _PAGES)
        if page and c.children[at] == page:
            total += c.children[at + 1]
            count += c.children[at + 2]
    return total / count
