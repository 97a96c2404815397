"""Names in a text: every run of tokens that some place is called, before anything is judged.

Runs start and end with a capital (or a letter of a script without capitals) and do not cross sentences, commas or
lines. All runs of a page are looked up at once; nothing here is a loop over tokens in Python.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.places.folding import (
    CASELESS,
    GAP_HYPHEN,
    GAP_JOIN,
    GAP_SPACE,
    GAP_STOP,
    MAX_CHARS,
    SOLO,
    UPPER,
    Tokens,
    tokenise,
)
from periplus.places.gazetteer import Gazetteer

__all__ = ["Hits", "pieces", "scan"]

I64 = npt.NDArray[np.int64]

MAX_TOKENS: Final = 7
MAX_SOLO_TOKENS: Final = 8
_MAX_ABBREVIATION: Final = 3


@dataclass(frozen=True, slots=True)
class Hits:
    """Runs of tokens that are names: first and last token, and the position in the table of names."""

    tokens: Tokens
    first: I64
    last: I64
    name: I64

    def __len__(self) -> int:
        return len(self.first)


def pieces(text: str) -> list[tuple[int, str]]:
    """The text in pieces short enough for `tokenise`, each with its offset, cut at line ends or spaces."""
    if len(text) <= MAX_CHARS - 8:
        return [(0, text)]
    cut: list[tuple[int, str]] = []
    at = 0
    while at < len(text):
        end = min(len(text), at + MAX_CHARS - 8)
        if end < len(text):
            for mark in ("\n", " "):
                found = text.rfind(mark, at + MAX_CHARS // 2, end)
                if found > 0:
                    end = found + 1
                    break
        cut.append((at, text[at:end]))
        at = end
    return cut


def scan(text: str, gazetteer: Gazetteer) -> Hits:
    """All names in one piece of text, overlapping ones included, by first token and then by length."""
    tokens = tokenise(text)
    able = (tokens.cls & (UPPER | CASELESS)) != 0
    short = (tokens.end - tokens.start) <= _MAX_ABBREVIATION
    gap = tokens.gap
    joined = (gap == GAP_SPACE) | (gap == GAP_HYPHEN) | (gap == GAP_JOIN) | ((gap == GAP_STOP) & short)
    at = np.flatnonzero(able)
    firsts, lasts = [at], [at]
    reach = at
    solo = (tokens.cls & SOLO) != 0
    for n in range(1, MAX_SOLO_TOKENS):
        reach = reach[(reach + n < len(tokens)) & joined[np.minimum(reach + n - 1, len(tokens) - 1)]]
        if n >= MAX_TOKENS - 1:
            reach = reach[solo[reach]]
        if not len(reach):
            break
        closed = reach[able[reach + n]]
        firsts.append(closed)
        lasts.append(closed + n)
    first, last = np.concatenate(firsts), np.concatenate(lasts)
    name = gazetteer.name_index(tokens.key(first, last))
    known = np.flatnonzero(name >= 0)
    order = known[np.lexsort((last[known], first[known]))]
    return Hits(tokens, first[order], last[order], name[order])
