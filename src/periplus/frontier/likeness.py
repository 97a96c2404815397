"""Near-duplicates: pages whose texts are the same but for a date, a number or a few words.

`likeness` is a similarity hash of a text (64 bits, by hashed pieces of eight bytes): texts that share nearly all pieces
differ in few bits. `Likenesses` compares each page with the last ones of its host and gives it a group, so that a
search can show one of a group. A pattern of URLs (`urls/traps.py`) that brings one near-duplicate after the other is
put off: its further URLs come last. They are not dropped, since what came first would then decide what a crawl ends
with (decision 3).
"""

from collections import OrderedDict, deque

import numpy as np

from periplus.frontier.pieces import PIECE, chosen_pieces, voted_bits
from periplus.urls import outline

__all__ = ["NEAR_BITS", "Likenesses", "differing_bits", "likeness"]

LEAST_BYTES = 64
"""Shorter texts are all alike; nothing is said about them."""

SAMPLES = 512
"""About so many pieces of a text are looked at, chosen by their hash, so the same ones in like texts."""

MASK = (1 << 64) - 1
NEAR_BITS = 6
REMEMBERED_PAGES = 32
REMEMBERED_HOSTS = 20_000
REMEMBERED_PATTERNS = 100_000

ALL_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
"""Another day or another number is not another text."""


def likeness(text: bytes) -> int:
    """The similarity hash of a text in UTF-8, signed as SQLite stores integers; 0 for one too short to compare."""
    if len(text) < LEAST_BYTES:
        return 0
    pieces = len(text) - PIECE + 1
    chosen = np.empty(pieces, np.uint64)
    most = int(min(1.0, SAMPLES / pieces) * (2**64 - 1025))
    count = chosen_pieces(text, ALL_DIGITS_ALIKE, most, chosen.data)
    chosen[:count].sort()
    bits = voted_bits(chosen.data, count)
    return int.from_bytes(bits.to_bytes(8, "little"), "big", signed=True) or 1


def differing_bits(one: int, other: int) -> int:
    """In how many of their 64 bits two likenesses differ."""
    return ((one ^ other) & MASK).bit_count()  # of a negative number bit_count would count those of its absolute value


class Likenesses:
    """Groups of near-duplicates within each host, and the patterns that bring nothing else. Order of pages counts."""

    def __init__(self, streak: int) -> None:
        self._streak = streak
        self._hosts: OrderedDict[str, deque[tuple[int, int]]] = OrderedDict()
        self._streaks: OrderedDict[int, int] = OrderedDict()
        self._put_off: set[int] = set()

    def take(self, host: str, url: str, mark: int) -> int:
        """The group of a page, named by the likeness of its first page; 0 for a page too short to compare."""
        if not mark or not self._streak:
            return mark
        recent = self._hosts.setdefault(host, deque(maxlen=REMEMBERED_PAGES))
        self._hosts.move_to_end(host)
        if len(self._hosts) > REMEMBERED_HOSTS:
            self._hosts.popitem(last=False)
        group = next((known for other, known in recent if differing_bits(other, mark) <= NEAR_BITS), None)
        if group is None:
            recent.append((mark, mark))
        self._count(url, alike=group is not None)
        return mark if group is None else group

    def is_put_off(self, url: str) -> bool:
        """Whether URLs of this pattern are to come last."""
        return bool(self._put_off) and _pattern(url) in self._put_off

    def _count(self, url: str, *, alike: bool) -> None:
        key = _pattern(url)
        if key is None:
            return
        in_a_row = self._streaks.pop(key, 0) + 1 if alike else 0
        self._streaks[key] = in_a_row
        if len(self._streaks) > REMEMBERED_PATTERNS:
            self._streaks.popitem(last=False)
        if in_a_row >= self._streak:
            self._put_off.add(key)


def _pattern(url: str) -> int | None:
    """The URL's pattern in short; None where nothing of it can be counted through."""
    _, pattern, dimensions = outline(url)
    return pattern if dimensions else None
