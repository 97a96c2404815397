"""The parts of the priorities of all links of a page, and their words hashed: the loops over links.

The formulas are in `priority.py` and `link_book.py`. Plain Python over flat arrays; compiled where there is a C
compiler (`link_parts.pxd`).
"""

from collections.abc import Callable, MutableSequence, Sequence
from typing import Final

from periplus.model import Link
from periplus.pages.blanks import blanks, byte_each
from periplus.topics.worth import MAX_FEATURES

__all__ = [
    "ANCHOR",
    "OWN",
    "PARENT",
    "PARTS",
    "SILENT",
    "UNWORDED",
    "Mentions",
    "PageSide",
    "Stems",
    "UrlSaid",
    "joined",
    "packed",
    "score_links",
]

PARTS: Final = 9
"""How many parts a priority has; the priority itself is the last."""

PARENT: Final = 0.5
OWN: Final = 0.5
ANCHOR: Final = 0.25
UNWORDED: Final = 0.2
"""What is left of a link to which no keyword points: links are short, and places still tell them apart."""

SILENT: Final = 0.5
"""A link that names no place, or none of the keywords, is taken to be so much like its page: names are often missing,
and only a link that names places elsewhere speaks against itself."""

WINDOW: Final = 0.25

Ints = Sequence[int]
Reals = MutableSequence[float]
Loose = tuple[int, int, int, int, int, float]
"""`Near` of a link that has no position in the text."""

# The names below have C types in link_parts.pxd.
_PARENT, _OWN, _ANCHOR, _UNWORDED, _SILENT, _WINDOW = PARENT, OWN, ANCHOR, UNWORDED, SILENT, WINDOW
_PARTS, _STEMS = PARTS, MAX_FEATURES


class UrlSaid:
    """What a URL says to a topic: its words, the numbers of keywords among them, and the places that the topic knows.

    Of the places: how many they are, how many of them lie in targets, and their spatial correlation.
    """

    def __init__(self, words: tuple[str, ...], keywords: tuple[int, ...], places: tuple[int, int, float]) -> None:
        self.words = words
        self.keywords = keywords
        self.places, self.targets, self.spatial = places


class Mentions:
    """The mentions of a page in order: where they start, how many before each are wanted, and these names' letters."""

    def __init__(self, starts: Ints, wanted: Ints, lengths: Ints) -> None:
        self.starts, self.wanted, self.lengths = starts, wanted, lengths
        self.count = len(starts)


class PageSide:
    """What all links of a page have from it; `names` are the first words of the places that it names."""

    def __init__(
        self,
        text: str,
        mentions: Mentions,
        names: frozenset[str],
        relevances: tuple[float, float, float],
        asks: tuple[bool, bool],
    ) -> None:
        self.codes, self.mentions, self.names = byte_each(text), mentions, names
        self.keywords, self.places, self.time = relevances
        self.has_keywords, self.has_places = asks


class Near:
    """What one link names: in its anchor, and with the window around it; the words of both.

    How many blanks lie before the last window is kept, since windows go on through the text.
    """

    def __init__(self) -> None:
        self.anchored = self.anchored_wanted = self.named = self.wanted = self.terms = 0
        self.covered = 0.0
        self.low = self.high = self.low_blanks = self.high_blanks = 0


def score_links(
    side: PageSide,
    links: Sequence[Link],
    urls: Sequence[UrlSaid],
    worded: Reals,
    named_by: Callable[[tuple[str, ...]], tuple[int, int, float] | None],
    loose: Callable[[Link], Loose],
    parts: Reals,
) -> None:
    """Write the parts of each link's priority into `parts`, one link behind the other.

    `worded` is the evidence of keywords in each link. `named_by` says what places of the page the words of a URL name,
    `loose` what a link names that has no position in the text; few links need them.
    """
    near = Near()
    for i in range(len(links)):
        link, url = links[i], urls[i]
        if side.names:
            start, end, low, high = link.start, link.end, link.low, link.high
            if 0 <= start < end <= len(side.codes):
                _look_near(side, near, start, end, low, high)
            else:
                near.anchored, near.anchored_wanted, near.named, near.wanted, near.terms, near.covered = loose(link)
            if _any_in(url.words, side.names):
                named = named_by(url.words)
                if named is not None:
                    url = UrlSaid(url.words, url.keywords, named)
        _write(side, near, url, worded[i], parts, i * _PARTS)


def _look_near(side: PageSide, near: Near, start: int, end: int, low: int, high: int) -> None:
    """What stands in a link's anchor and in its window."""
    mentions = side.mentions
    first, last = _before(mentions, start), _before(mentions, end)
    near.anchored, near.anchored_wanted, near.covered = 0, 0, 0.0
    if last > first:
        near.anchored = last - first
        near.anchored_wanted = mentions.wanted[last] - mentions.wanted[first]
        near.covered = min(1.0, (mentions.lengths[last] - mentions.lengths[first]) / _real(end - start))
    first, last = _before(mentions, low), _before(mentions, high)
    near.named = near.wanted = near.terms = 0
    if last > first:
        near.named = last - first
        near.wanted = mentions.wanted[last] - mentions.wanted[first]
    if high > low:
        near.low_blanks += _blanks(side.codes, near.low, low)
        near.high_blanks += _blanks(side.codes, near.high, high)
        near.low, near.high = low, high
        near.terms = near.high_blanks - near.low_blanks + 1


def _write(side: PageSide, near: Near, url: UrlSaid, worded: float, parts: Reals, at: int) -> None:
    """The parts of one link's priority."""
    local, total = _SILENT * side.places, url.places + near.anchored + _WINDOW * (near.named - near.anchored)
    if side.has_places and total != 0.0:
        good = near.anchored_wanted + _WINDOW * (near.wanted - near.anchored_wanted)
        local = (good + url.targets) / (total + 0.25)
    keywords = _SILENT * side.keywords
    worth = 1.0 - _ANCHOR + _ANCHOR * near.covered
    if side.has_keywords:
        keywords = max(keywords, worded)
        worth *= _UNWORDED + (1.0 - _UNWORDED) * (_PARENT * side.keywords + _OWN * keywords)
    if side.has_places:
        worth *= _PARENT * side.places + _OWN * local
    parts[at] = url.spatial
    parts[at + 1] = min(1.0, near.named / _real(near.terms)) if near.terms else 0.0
    parts[at + 2] = local
    parts[at + 3] = keywords
    parts[at + 4] = side.keywords
    parts[at + 5] = side.places
    parts[at + 6] = near.covered
    parts[at + 7] = side.time
    parts[at + 8] = worth * side.time


def _real(number: float) -> float:
    """The number, not whole: whole ones would be divided as C does."""
    return number


def _before(mentions: Mentions, position: int) -> int:
    """How many mentions start before a position."""
    low, high = 0, mentions.count
    while low < high:
        middle = (low + high) // 2
        if mentions.starts[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low


def _blanks(codes: bytes, start: int, end: int) -> int:
    """How many blanks lie between two positions; less than none if the second comes first."""
    return blanks(codes, start, end) if end >= start else -blanks(codes, end, start)


def _any_in(words: tuple[str, ...], names: frozenset[str]) -> bool:
    for word in words:  # noqa: SIM110  compiled, a generator would cost more than the loop
        if word in names:
            return True
    return False


def packed(parts: Reals) -> bytes:
    """Parts in 255ths, one byte each."""
    found = bytearray(len(parts))
    for at in range(len(parts)):
        found[at] = int(255.0 * parts[at] + 0.5)
    return bytes(found)


class Stems:
    """The first stems of a text that say something, each once, and their hashes, two bytes each."""

    def __init__(self, stems: tuple[str, ...], hashed: bytes) -> None:
        self.stems = stems
        self.hashed = hashed


def joined(anchors: Sequence[Stems], urls: Sequence[Stems]) -> list[bytes]:
    """The hashes of the first stems of each link's anchor and URL together, each once."""
    return [_both(anchors[i], urls[i]) for i in range(len(anchors))]


def _both(one: Stems, other: Stems) -> bytes:
    room = _STEMS - len(one.stems)
    hashed = one.hashed
    for i in range(len(other.stems)):
        if room > 0 and other.stems[i] not in one.stems:
            hashed += other.hashed[2 * i : 2 * i + 2]
            room -= 1
    return _each_once(hashed)


def _each_once(hashed: bytes) -> bytes:
    """Different stems may have one hash."""
    for i in range(2, len(hashed), 2):
        for k in range(0, i, 2):
            if hashed[i] == hashed[k] and hashed[i + 1] == hashed[k + 1]:
                return _each_once(hashed[:i] + hashed[i + 2 :])
    return hashed
