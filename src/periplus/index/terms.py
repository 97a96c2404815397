"""A text written as its index terms, each chunk of it (what stands between blanks) analysed once in a process.

Stemming is most of what indexing costs, and the words of one page are mostly those of the next.
"""

import threading
from collections.abc import Callable

import numpy as np

from periplus.topics.tally import ChunkTable, RowTable, cut

__all__ = ["TermWriter"]


class TermWriter:
    """Writes texts as terms, by an analyzer that looks at no more than one chunk at a time. Threads take turns."""

    def __init__(self, analyse: Callable[[str], list[str]]) -> None:
        self._analyse = analyse
        self._turn = threading.Lock()
        self._chunks = ChunkTable()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._renewals = self._chunks.renewals
        self._pieces = RowTable()

    def write(self, text: str) -> str:
        """The terms of a text in order, with blanks between them."""
        with self._turn:
            chunks = cut(self._chunks, text)
            if chunks.renewals != self._renewals:
                self._begin_anew()
            self._pieces.learn(chunks, self._piece)
            found = self._pieces.in_a_row(chunks)
        return np.asarray(found).astype(np.uint8).tobytes().decode()

    def _piece(self, chunk: str) -> bytes:
        """What a chunk is written as: its terms with a blank behind each, perhaps nothing."""
        return "".join(f"{term} " for term in self._analyse(chunk)).encode()
