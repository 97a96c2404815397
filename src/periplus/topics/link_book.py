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

from array import array
from collections.abc import Sequence
from functools import lru_cache

import xxhash

from periplus.model import Link, Links
from periplus.topics.link_parts import Stems, joined
from periplus.topics.url_names import slug_words
from periplus.topics.words import content_stems, primary_language
from periplus.topics.worth import MAX_FEATURES, NO_WORD, Columns, let_go, name_links, take, value_turn
from periplus.urls import MarkSet

__all__ = ["LinkBook", "features_of", "link_features"]

MAX_LINKS = 500_000
"""Links under way that are remembered; the oldest are let go."""

REMEMBERED = 50_000
"""Anchors, and URLs, whose hashed words are remembered in a language before it begins anew."""

IN_TURN = 256
"""Links that are valued anew with every page."""


def link_features(link: Link, language: str, seed: int = 0) -> bytes:
    """The words of a link's anchor and URL, hashed; two bytes each."""
    return features_of([link], language, seed)[0]


def features_of(links: Sequence[Link], language: str, seed: int = 0) -> list[bytes]:
    """`link_features` of all links of a page."""
    hashes = _hashes(primary_language(language), seed)
    return joined(hashes.of_anchors(links), hashes.of_urls(links))


@lru_cache(maxsize=16)
def _hashes(language: str, seed: int) -> "_Hashes":
    return _Hashes(language, seed)


class _Hashes:
    """The stems of anchors and of URLs, remembered: the links of one page are mostly those of the next."""

    def __init__(self, language: str, seed: int) -> None:
        self._language = language
        self._seed = seed
        self._anchors: dict[str, Stems] = {}
        self._urls: dict[str, Stems] = {}

    def of_anchors(self, links: Sequence[Link]) -> list[Stems]:
        known = self._anchors
        return [known.get(link.anchor) or self._learn(known, link.anchor, link.anchor) for link in links]

    def of_urls(self, links: Sequence[Link]) -> list[Stems]:
        known = self._urls
        return [known.get(link.url) or self._learn(known, link.url, " ".join(slug_words(link.url))) for link in links]

    def _learn(self, known: dict[str, Stems], key: str, text: str) -> Stems:
        if len(known) >= REMEMBERED:
            known.clear()
        words = dict.fromkeys(content_stems(text, self._language))
        words.pop("", None)
        stems = tuple(words)[:MAX_FEATURES]
        found = known[key] = Stems(stems, b"".join([_bucket(stem, self._seed) for stem in stems]))
        return found


@lru_cache(maxsize=100_000)
def _bucket(word: str, seed: int) -> bytes:
    return (xxhash.xxh32_intdigest(word.encode(), seed) % NO_WORD).to_bytes(2, "little")


class LinkBook:
    """The links under way, by fingerprint. `adaptive`: learn from what was fetched; else only what parents say."""

    def __init__(self, *, adaptive: bool = True, max_links: int = MAX_LINKS) -> None:
        self._adaptive = adaptive
        self._max_links = max_links
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._columns = Columns(min(1024, max_links), adaptive)
        self._nodes: dict[str, int] = {}
        self._changed: dict[str, dict[int, float]] = {}
        self._pages = 0
        self._turn = 0
        self._taken = 0  # slots that were ever taken
        self._done = MarkSet()

    def __len__(self) -> int:
        return len(self._slots)

    def value(self, links: Links, relevance: float = 0.0) -> list[float]:
        """What the links of one page of that relevance are worth now; what is known already is valued anew."""
        self._pages += 1
        self._columns.begin_page(self._pages)
        found = links.worths(1.0)
        open_links = self._done.missing(links.keys)  # the others were followed already
        if open_links:
            worths = array("d", bytes(8 * len(open_links)))
            moved = name_links(
                self._columns,
                array("q", self._slots_of(links, open_links)),
                array("d", [found[at] for at in open_links]),
                array("q", self._numbers_of(links.nodes, open_links)),
                self._pages,
                relevance,
                worths,
            )
            self._note_moved(moved)
            for at, worth in zip(open_links, worths, strict=True):
                found[at] = worth
        if self._adaptive:
            self._value_in_turn()
        return found

    def _numbers_of(self, nodes: Sequence[str], open_links: list[int]) -> list[int]:
        """The numbers of the nodes that links go to; mostly all to one."""
        numbers = self._nodes
        if len(set(nodes)) == 1:
            return [numbers.setdefault(nodes[0], len(numbers))] * len(open_links)
        return [numbers.setdefault(nodes[at], len(numbers)) for at in open_links]

    def _slots_of(self, links: Links, open_links: list[int]) -> list[int]:
        """The slots of links that were not followed yet."""
        marks = links.fingerprints
        if len(self._slots) + len(open_links) > self._max_links:  # a slot may be let go while others are looked for
            return [self._slot(marks[at], links, at) for at in open_links]
        known = self._slots.get
        slots = [known(marks[at], -1) for at in open_links]
        if -1 in slots:
            return [
                self._slot(marks[at], links, at) if slot < 0 else slot
                for at, slot in zip(open_links, slots, strict=True)
            ]
        return slots

    def learn(self, fingerprint: int, relevance: float) -> None:
        """A URL was fetched and its page judged: its link's words and its parents gain or lose by it."""
        self._done.add(fingerprint)
        slot = self._slots.pop(fingerprint, None)
        if slot is None:
            return
        self._free.append(slot)
        let_go(self._columns, slot, relevance, self._adaptive)
        for waiting in self._changed.values():
            waiting.pop(fingerprint, None)

    def take_changed(self, node: str) -> list[tuple[int, float]]:
        """The URLs of a node whose worth has changed since the last call, with what they are worth now."""
        return list(self._changed.pop(node, {}).items())

    def _slot(self, mark: int, links: Links, at: int) -> int:
        """The slot of a link that was not followed yet."""
        known = self._slots.get(mark)
        if known is not None:
            return known
        if len(self._slots) >= self._max_links:
            oldest = self._slots.pop(next(iter(self._slots)))
            self._free.append(oldest)
            let_go(self._columns, oldest, 0.0, learn=False)
        if not self._free and len(self._slots) >= self._columns.size:
            self._columns.grow(min(self._max_links, 2 * self._columns.size))
        slot = self._free.pop() if self._free else len(self._slots)
        self._taken = max(self._taken, slot + 1)
        self._slots[mark] = slot
        take(self._columns, slot, mark, links.features[at][: 2 * MAX_FEATURES] if links.features else b"")
        return slot

    def _note_moved(self, moved: list[tuple[int, int, float]]) -> None:
        """Remember which links moved noticeably, for the frontier."""
        if not moved:
            return
        changed = [self._changed.setdefault(node, {}) for node in self._nodes]
        for node, mark, worth in moved:
            changed[node][mark] = worth

    def _value_in_turn(self) -> None:
        """Value the next links anew."""
        start = self._turn if self._turn < self._taken else 0
        self._turn = start + IN_TURN
        self._note_moved(value_turn(self._columns, start, min(self._turn, self._taken)))
