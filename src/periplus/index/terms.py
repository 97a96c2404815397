"""A text written as its index terms, each chunk of it (what stands between blanks) analysed once in a process.

Stemming is most of what indexing costs, and the words of one page are mostly those of the next. A chunk is known by a
64-bit key of its characters, so that no string is made of one that is known; its key stands beside the place of what it
is written as, in a table that grows with the words that are met, so that the usual ones share the processor's cache.
Plain Python; compiled where there is a C compiler (`terms.pxd`).
"""

import threading
from collections.abc import Callable, MutableSequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

__all__ = ["TermWriter", "may_be_unspaced"]

# The names below have C types in terms.pxd.
_BASE, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_BLANKS = 0x3001
_BLANK = bytes(chr(code).isspace() for code in range(0x3001))
_LONGEST = 40  # characters of a chunk that is remembered; longer ones are mostly sentences of scripts without spaces
_MOST = 100_000  # chunks that are remembered before remembering begins anew
_SLOTS, _BYTES = 1 << 12, 1 << 16
_LENGTH = (1 << 32) - 1  # the half of a span that is a length


def _numbers(array: npt.NDArray[Any]) -> MutableSequence[int]:
    """The array as Python and C both index it fast."""
    return cast("MutableSequence[int]", array.data)


class TermWriter:
    """Writes texts as terms, by an analyzer that looks at no more than one chunk at a time. Threads take turns."""

    def __init__(self, analyse: Callable[[str], list[str]]) -> None:
        self._analyse = analyse
        self._turn = threading.Lock()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._slots, self._known, self._used = _SLOTS, 0, 0
        self._table = _numbers(np.zeros(2 * _SLOTS, np.uint64))  # a key, then where its piece begins and its length
        self._pieces = _numbers(np.empty(_BYTES, np.uint8))

    def write(self, text: str) -> str:
        """The terms of a text in order, with blanks between them."""
        with self._turn:
            if self._known >= _MOST:
                self._begin_anew()
            return self._write(text)

    def _write(self, text: str) -> str:
        self._room = 2 * len(text) + 64
        self._written, self._count = _numbers(np.empty(self._room, np.uint8)), 0
        at, start, key = 0, -1, _BASE  # a start of -1: no chunk has begun
        for character in text:
            code = ord(character)
            if not 32 < code < 127 and code < _BLANKS and _BLANK[code]:  # letters are seen to be none at once
                if start >= 0:
                    self._add(self._span(key, text, start, at))
                start, key = -1, _BASE
            else:
                if start < 0:
                    start = at
                key = ((key ^ code) * _PRIME) & _MASK
            at += 1
        if start >= 0:
            self._add(self._span(key, text, start, at))
        return bytes(np.asarray(self._written)[: self._count]).decode()

    def _add(self, span: int) -> None:
        """Write one more piece."""
        first, length, count = span >> 32, span & _LENGTH, self._count
        if count + length > self._room:
            more = np.empty(self._room + length, np.uint8)
            self._written = _numbers(np.concatenate((np.asarray(self._written), more)))
            self._room = len(self._written)
        for place in range(length):
            self._written[count + place] = self._pieces[first + place]
        self._count = count + length

    def _span(self, key: int, text: str, start: int, end: int) -> int:
        """Where the piece of a chunk begins, and in the lower half how long it is."""
        slot = self._slot(key)
        if end - start <= _LONGEST and self._table[2 * slot] == key:
            return self._table[2 * slot + 1]
        piece = "".join([f"{term} " for term in self._analyse(text[start:end])]).encode()
        span = self._put(piece)
        if end - start <= _LONGEST and self._known < _MOST:  # else the next piece takes its place
            self._used += len(piece)
            self._known += 1
            self._table[2 * slot], self._table[2 * slot + 1] = key, span
            if 2 * self._known > self._slots:
                self._grow()
        return span

    def _slot(self, key: int) -> int:
        """Where a key stands or would stand."""
        slot = (key ^ (key >> 32)) & (self._slots - 1)
        while self._table[2 * slot] != 0 and self._table[2 * slot] != key:
            slot = (slot + 1) & (self._slots - 1)
        return slot

    def _put(self, piece: bytes) -> int:
        """Write a piece down behind those that are kept; its span."""
        while self._used + len(piece) > len(self._pieces):
            self._pieces = _numbers(np.concatenate((np.asarray(self._pieces), np.empty_like(self._pieces))))
        for place in range(len(piece)):
            self._pieces[self._used + place] = piece[place]
        return (self._used << 32) | len(piece)

    def _grow(self) -> None:
        old, held = self._table, self._slots
        self._slots = 2 * held
        self._table = _numbers(np.zeros(2 * self._slots, np.uint64))
        for slot in range(held):
            if old[2 * slot]:
                fresh = self._slot(old[2 * slot])
                self._table[2 * fresh], self._table[2 * fresh + 1] = old[2 * slot], old[2 * slot + 1]


def may_be_unspaced(text: str) -> bool:
    """Whether a search for scripts without spaces may find any; it costs far more than this."""
    if text.isascii():
        return False
    for character in text:
        code = ord(character)
        if code >= 0x0E00 and (code < 0x1800 or code >= 0x3040):
            return True
    return False
