"""Main names as URLs write them, glued together: `newyorkcity`; and the names of several words by each of their words.

Both are tables of the compiled gazetteer, so that nobody has to read a quarter of a million names at every start.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

__all__ = ["GluedNames", "glue", "glued_tables", "words_of"]

WORDS = re.compile(r"[^\W\d_]+")

Arrays = dict[str, npt.NDArray[Any]]


def words_of(text: str) -> list[str]:
    """The words of a text, folded: no capitals, no accents, no apostrophes."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = text.translate(dict.fromkeys(map(ord, filter(unicodedata.combining, set(text)))))
    return WORDS.findall(text.replace("'", "").casefold())


def glue(text: str) -> str:
    """The words of a text written as one."""
    return "".join(words_of(text))


def glued_tables(names: Iterable[str]) -> Arrays:
    """The tables for main names, row by row."""
    whole: list[tuple[int, int]] = []
    parts: list[tuple[int, int]] = []
    for row, name in enumerate(names):
        words = words_of(name)
        whole.append((_key("".join(words)), row))
        if len(words) > 1:
            parts += [(_key(word), row) for word in set(words)]
    return _columns("glued", whole) | _columns("glued_part", parts)


def _columns(name: str, pairs: list[tuple[int, int]]) -> Arrays:
    pairs.sort()
    return {
        f"{name}_key": np.array([key for key, _ in pairs], dtype=np.uint64),
        f"{name}_row": np.array([row for _, row in pairs], dtype=np.int32),
    }


def _key(word: str) -> int:
    return xxhash.xxh3_64_intdigest(word.encode())


class GluedNames:
    """The rows of places by their glued main name, and by a word of it. Rows come in ascending order."""

    def __init__(self, arrays: Arrays) -> None:
        self._whole = (arrays["glued_key"].data, arrays["glued_row"].data)
        self._parts = (arrays["glued_part_key"].data, arrays["glued_part_row"].data)

    def __contains__(self, name: str) -> bool:
        return bool(self.rows(name))

    def rows(self, name: str) -> list[int]:
        """The rows of places that have this glued name."""
        return _rows(self._whole, name)

    def with_word(self, word: str) -> list[int]:
        """The rows of places whose name is of several words, this one among them."""
        return _rows(self._parts, word)


def _rows(table: tuple[memoryview, memoryview], word: str) -> list[int]:
    keys, rows = table
    key = _key(word)
    at = bisect_left(keys, key)
    found = []
    while at < len(keys) and keys[at] == key:
        found.append(rows[at])
        at += 1
    return found
