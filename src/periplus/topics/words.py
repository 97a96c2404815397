"""Words of a text as topics see them: stems by language, pairs of neighbours, pairs of characters without spaces.

One pass over the text; what stands between two blanks is cut into words and stemmed once in the life of a process,
since stemming is what costs. Pure.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Set
from functools import lru_cache

import Stemmer

from periplus.topics.stopwords import stop_words

__all__ = ["UNSPACED", "WORD", "content_stems", "is_unspaced", "pairs", "primary_language", "stem_phrase", "stems"]

WORD = re.compile(r"\w+")
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
"""Thai, Lao, Burmese, Khmer, Kana, Han, and Hangul: words are not told apart by spaces, or by more than spaces."""

_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_TOKEN = re.compile(f"[{UNSPACED}]+|[^\\W{UNSPACED}]+")
_LONGEST_WORD = 40
_REMEMBERED = 200_000
"""Chunks of text whose stems a table remembers before it begins anew."""

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


def content_stems(text: str, language: str, skip: Iterable[tuple[int, int]] = ()) -> list[str]:
    """The stems that say something, in order; "" stands for what was left out, so that neighbours stay neighbours.

    Left out are stop words, numbers, single letters, and the spans in `skip` (place names, in order). Runs of
    unspaced scripts become overlapping pairs of characters.
    """
    table = _content_stems(primary_language(language))
    return list(itertools.chain.from_iterable(map(table.__getitem__, _without(text, skip).split())))


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
    return 1 < len(word) <= _LONGEST_WORD and not word[0].isdigit() and word.strip("_") != ""


def _without(text: str, skip: Iterable[tuple[int, int]]) -> str:
    """The text with spans blanked out; a full stop keeps their neighbours apart."""
    parts: list[str] = []
    at = 0
    for start, end in skip:
        if start >= at:
            parts += (text[at:start], " 0 ")  # a number: left out, and no neighbour of anything
            at = end
    parts.append(text[at:])
    return "".join(parts)


class _StemTable(dict[str, tuple[str, ...]]):
    """What stands between two blanks → the stems of the words in it; filled as chunks are met, bounded."""

    def __init__(self, language: str, *, content: bool) -> None:
        super().__init__()
        self._stem = _stemmer(language).stemWords
        self._stop = stop_words(language) if content else None

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        folded = chunk.casefold()
        found = tuple(self._stem(WORD.findall(folded)) if self._stop is None else self._content(folded, self._stop))
        if len(chunk) <= _LONGEST_WORD:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[chunk] = found
        return found

    def _content(self, folded: str, stop: frozenset[str]) -> list[str]:
        found: list[str] = []
        for word in _TOKEN.findall(folded):
            if word[0] >= "\u0e00" and is_unspaced(word):
                found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
            else:
                found += [""] if word in stop or not _says_something(word) else self._stem([word])
        return found


@lru_cache(maxsize=64)
def _all_stems(language: str) -> _StemTable:
    return _StemTable(language, content=False)


@lru_cache(maxsize=64)
def _content_stems(language: str) -> _StemTable:
    return _StemTable(language, content=True)


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Stemmer.Stemmer:
    """The stemmer of a language; English where the language is unknown or has none. Our tables are its cache."""
    return Stemmer.Stemmer(LANGUAGES.get(language, "english"), 0)
