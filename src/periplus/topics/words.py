"""Words of a text as topics see them: stems by language, pairs of neighbours, pairs of characters without spaces.

One pass over the text; what stands between two blanks is cut into words and stemmed once in the life of a process,
since stemming is what costs. Pure.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import Stemmer

from periplus.topics.stopwords import stop_words
from periplus.topics.tally import LONGEST, Chunks, ChunkTable, RowTable, StemCounts, count_stems, cut, ints

__all__ = [
    "CHUNKS",
    "TITLE_BOOST",
    "UNSPACED",
    "WORD",
    "content_counts",
    "content_stems",
    "is_unspaced",
    "pairs",
    "primary_language",
    "stem_phrase",
    "stems",
]

CHUNKS = ChunkTable()
"""The chunks that were met in the life of this process."""

WORD = re.compile(r"\w+")
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
"""Thai, Lao, Burmese, Khmer, Kana, Han, and Hangul: words are not told apart by spaces, or by more than spaces."""

_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_TOKEN = re.compile(f"[{UNSPACED}]+|[^\\W{UNSPACED}]+")
_REMEMBERED = 200_000
"""Chunks of text whose stems a table remembers before it begins anew."""

_MOST_STEMS = 500_000

TITLE_BOOST = 3
"""A word of the title counts this much more often."""

LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Languages with a stemmer; others are stemmed as English."""


def is_unspaced(text: str) -> bool:
    """Whether a text holds characters of a script without spaces."""
    return _UNSPACED_RUN.search(text) is not None


def stems(text: str, language: str) -> list[str]:
    """The stems of a text's words in order; nothing is left out."""
    return list(itertools.chain.from_iterable(map(_all_stems(primary_language(language)).__getitem__, text.split())))


def content_stems(text: str, language: str, skip: Sequence[tuple[int, int]] = ()) -> list[str]:
    """The stems that say something, in order; "" stands for what was left out, so that neighbours stay neighbours.

    Left out are stop words, numbers, single letters, and the spans in `skip` (place names, in order). Runs of
    unspaced scripts become overlapping pairs of characters.
    """
    return _content_table(primary_language(language)).read(cut(CHUNKS, text, skip))


def content_counts(
    text: str, skip: Sequence[tuple[int, int]], title: str, title_skip: Sequence[tuple[int, int]], language: str
) -> StemCounts:
    """How often the stems of a text that say something occur; those of the title are counted `TITLE_BOOST` times."""
    head = cut(CHUNKS, title, title_skip)
    return _content_table(primary_language(language)).count(head, cut(CHUNKS, text, skip))


def pairs(stemmed: Sequence[str]) -> Counter[str]:
    """Neighbouring stems that both say something, as "a b", with their counts."""
    return Counter(f"{a} {b}" for a, b in itertools.pairwise(stemmed) if a and b)


@lru_cache(maxsize=200_000)
def stem_phrase(phrase: str, language: str) -> str:
    """A keyword in the form that `stems` and `content_stems` give its words."""
    return " ".join(_stemmer(primary_language(language)).stemWords(WORD.findall(phrase.casefold())))


@lru_cache(maxsize=4096)
def primary_language(language: str) -> str:
    """`pt` of `pt-BR`."""
    return language.replace("_", "-").partition("-")[0].lower() or "en"


def _says_something(word: str) -> bool:
    return 1 < len(word) <= LONGEST and not word[0].isdigit() and word.strip("_") != ""


class _StemTable(dict[str, tuple[str, ...]]):
    """What stands between two blanks → the stems of the words in it; filled as chunks are met, bounded."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stem = _stemmer(language).stemWords

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = tuple(self._stem(WORD.findall(chunk.casefold())))
        if len(chunk) <= LONGEST:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[chunk] = found
        return found


class _ContentTable:
    """The stems that say something of every numbered chunk, in one language; filled as chunks are met."""

    def __init__(self, language: str) -> None:
        self._stem = _stemmer(language).stemWords
        self._stop = stop_words(language)
        self._begin_anew(-1)

    def _begin_anew(self, renewals: int) -> None:
        self._renewals = renewals
        self._names = [""]
        self._stems = {"": 0}
        self._counts = ints(np.zeros(1 << 12, np.int32))
        self._rows = RowTable()

    def read(self, chunks: Chunks) -> list[str]:
        """The stems of a text's chunks."""
        self._learn(chunks)
        names = self._names
        return [names[number] for number in self._rows.in_a_row(chunks)]

    def count(self, title: Chunks, text: Chunks) -> StemCounts:
        """The stems of a text and its title counted together."""
        self._learn(title)
        names, head = self._names, self._rows.in_a_row(title)
        self._learn(text)
        if names is not self._names:  # numbering began anew just between the two: rare, and done without the title
            names, head = self._names, ints(np.empty(0, np.int32))
        if len(self._counts) < len(names):
            self._counts = ints(np.zeros(2 * len(names), np.int32))
        return count_stems(names, self._rows, text, head, TITLE_BOOST, self._counts)

    def _learn(self, chunks: Chunks) -> None:
        if chunks.renewals != self._renewals or len(self._names) > _MOST_STEMS:
            self._begin_anew(chunks.renewals)
        self._rows.learn(chunks, self._row)

    def _row(self, chunk: str) -> list[int]:
        return [self._number(stem) for stem in self._content(chunk.casefold())]

    def _number(self, stem: str) -> int:
        number = self._stems.setdefault(stem, len(self._names))
        if number == len(self._names):
            self._names.append(stem)
        return number

    def _content(self, folded: str) -> list[str]:
        found: list[str] = []
        for word in _TOKEN.findall(folded):
            if word[0] >= "\u0e00" and is_unspaced(word):
                found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
            else:
                found += [""] if word in self._stop or not _says_something(word) else self._stem([word])
        return found


@lru_cache(maxsize=64)
def _all_stems(language: str) -> _StemTable:
    return _StemTable(language)


@lru_cache(maxsize=16)
def _content_table(language: str) -> _ContentTable:
    return _ContentTable(language)


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Stemmer.Stemmer:
    """The stemmer of a language; English where the language is unknown or has none. Our tables are its cache."""
    return Stemmer.Stemmer(LANGUAGES.get(language, "english"), 0)
