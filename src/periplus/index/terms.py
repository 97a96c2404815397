"""A text written as its index terms, each chunk of it (what stands between blanks) analysed once in a process.

Stemming is most of what indexing costs, and the words of one page are mostly those of the next.
"""

import threading
from collections.abc import Callable

import numpy as np

from periplus.topics.tally import MOST, ChunkTable, alike, cut, ints, write, written_room

__all__ = ["TermWriter"]

LONG_ROOM = 1024
UNKNOWN = 0


class TermWriter:
    """Writes texts as terms, by an analyzer that looks at no more than one chunk at a time. Threads take turns."""

    def __init__(self, analyse: Callable[[str], list[str]]) -> None:
        self._analyse = analyse
        self._turn = threading.Lock()
        self._chunks = ChunkTable()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._renewals = self._chunks.renewals
        self._first = np.zeros(MOST + LONG_ROOM, np.int32)
        self._sizes = np.zeros(MOST + LONG_ROOM, np.int32)
        self._pieces = np.zeros(1 << 20, np.uint8)
        self._used = 1  # `first` 0 is a chunk that was not met yet

    def write(self, text: str) -> str:
        """The terms of a text in order, with blanks between them."""
        with self._turn:
            chunks = cut(self._chunks, text)
            if chunks.renewals != self._renewals:
                self._begin_anew()
            for number in alike(chunks.numbers, chunks.count, ints(self._first), UNKNOWN):
                if self._first[number] == UNKNOWN:
                    self._learn(number, chunks.chunk(number))
            used = self._used
            self._make_room(len(chunks.long))
            for number, chunk in enumerate(chunks.long, MOST):
                self._learn(number, chunk)
            sizes = ints(self._sizes)
            found = np.empty(written_room(chunks.numbers, chunks.count, sizes), np.uint8)
            write(chunks.numbers, chunks.count, ints(self._first), sizes, ints(self._pieces), ints(found))
            self._used = used  # long chunks are remembered for one text only
        return found.tobytes().decode()

    def _make_room(self, long: int) -> None:
        if MOST + long > len(self._first):
            more = np.zeros(2 * long, np.int32)
            self._first = np.concatenate((self._first, more))
            self._sizes = np.concatenate((self._sizes, more))

    def _learn(self, number: int, chunk: str) -> None:
        """Remember what a chunk is written as: its terms with a blank behind each, perhaps nothing."""
        piece = "".join(f"{term} " for term in self._analyse(chunk)).encode()
        while self._used + len(piece) > len(self._pieces):
            self._pieces = np.concatenate((self._pieces, np.zeros_like(self._pieces)))
        self._first[number], self._sizes[number] = self._used, len(piece)
        self._pieces[self._used : self._used + len(piece)] = np.frombuffer(piece, np.uint8)
        self._used += len(piece)
