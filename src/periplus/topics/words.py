"""Words of a text as topics see them: stems by language, pairs of neighbours, pairs of characters without spaces.

One pass over the text; what stands between two blanks is cut into words and stemmed once in the life of a process,
since stemming is what costs. Pure.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import Stemmer

from periplus.topics.stopwords import stop_words
from periplus.topics.tally import (
    LONGEST,
    MOST,
    Chunks,
    ChunkTable,
    Ints,
    alike,
    count_stems,
    cut,
    ints,
    stem_room,
    stems_of,
)

__all__ = [
    "CHUNKS",
    "UNSPACED",
    "WORD",
    "Content",
    "content_of",
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
    return content_of(cut(CHUNKS, text, skip), language).sequence


@dataclass(frozen=True, slots=True)
class Content:
    """The stems of a text that say something, by their numbers in a language's table."""

    names: list[str]
    numbers: Ints

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def sequence(self) -> list[str]:
        """The stems in order."""
        return [self.names[number] for number in self.numbers]

    def counts(self) -> dict[str, int]:
        """How often each stem occurs; what says nothing is left out."""
        counts = ints(np.zeros(len(self.names), np.int32))
        met = ints(np.empty(len(self), np.int32))
        different = count_stems(self.numbers, counts, met)
        names = self.names
        found = {names[stem]: counts[stem] for stem in met[:different]}
        found.pop("", None)
        return found


def content_of(chunks: Chunks, language: str) -> Content:
    """`content_stems` of a text that is cut already."""
    return _content_table(primary_language(language)).read(chunks)


def pairs(stemmed: list[str], firsts: Set[str] | None = None) -> Counter[str]:
    """Neighbouring stems that both say something, as "a b", with their counts; with `firsts`, those that begin so."""
    if firsts is not None and not firsts:
        return Counter()
    if firsts is None:
        return Counter(f"{a} {b}" for a, b in itertools.pairwise(stemmed) if a and b)
    return Counter(f"{a} {b}" for a, b in itertools.pairwise(stemmed) if a in firsts and a and b)


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
    """The stems that say something of every numbered chunk, in one language; filled as chunks are met.

    `_first` says where a chunk's row begins in `_rows`, which has the count of its stems and then the stems.
    """

    def __init__(self, language: str) -> None:
        self._stem = _stemmer(language).stemWords
        self._stop = stop_words(language)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._renewals = CHUNKS.renewals
        self._names = [""]
        self._stems = {"": 0}
        self._first = np.zeros(MOST + 1024, np.int32)
        self._rows = np.zeros(1 << 16, np.int32)
        self._used = 1  # 0 is a chunk of which nothing is known yet

    def read(self, chunks: Chunks) -> Content:
        """The stems of a text's chunks."""
        if chunks.renewals != self._renewals or len(self._names) > _MOST_STEMS:
            self._begin_anew()
        for number in alike(chunks.numbers, chunks.count, ints(self._first), 0):
            if self._first[number] == 0:
                self._first[number] = self._learn(chunks.chunk(number))
        used = self._used
        if chunks.long:
            self._learn_long(chunks.long)
        rows, first = ints(self._rows), ints(self._first)
        found = ints(np.empty(stem_room(chunks.numbers, chunks.count, first, rows), np.int32))
        stems_of(chunks.numbers, chunks.count, first, rows, found)
        self._used = used  # the rows of long chunks were for this text only
        return Content(self._names, found)

    def _learn_long(self, long: list[str]) -> None:
        if len(self._first) < MOST + len(long):
            self._first = np.concatenate((self._first, np.zeros(2 * len(long), np.int32)))
        self._first[MOST : MOST + len(long)] = [self._learn(chunk) for chunk in long]

    def _learn(self, chunk: str) -> int:
        """Make a row for a chunk; where it begins."""
        row = [self._stems.setdefault(stem, len(self._stems)) for stem in self._content(chunk.casefold())]
        self._names += itertools.islice(self._stems, len(self._names), None)
        while self._used + len(row) + 1 > len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
        at = self._used
        self._rows[at : at + len(row) + 1] = [len(row), *row]
        self._used += len(row) + 1
        return at

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
