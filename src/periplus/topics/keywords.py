"""Keywords found in a text: word stems by language, phrases, and plain substrings for scripts without spaces."""

import re
from functools import lru_cache

import Stemmer

__all__ = ["count_keywords"]

WORD = re.compile(r"\w+")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Scripts written without spaces between words (Thai, Lao, Burmese, Khmer, Kana, Han) and Hangul."""

MAX_VOCABULARY = 200_000
MAX_WORD_CHARS = 40

LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def count_keywords(text: str, keywords: tuple[str, ...], language: str) -> list[int]:
    """How often each keyword (a word or a phrase) occurs in the text, after stemming in its language."""
    if not keywords:
        return []
    folded = text.casefold()
    stems = ""
    counts = []
    for keyword in keywords:
        if UNSPACED.search(keyword):
            counts.append(folded.count(keyword.casefold()))
            continue
        if not stems:
            stems = f" {_stems(folded, language)} "
        counts.append(_count_phrase(stems, _stems(keyword.casefold(), language)))
    return counts


def _count_phrase(stems: str, phrase: str) -> int:
    """Occurrences of a phrase between spaces; neighbours may share the space."""
    if not phrase:
        return 0
    count = position = 0
    wanted = f" {phrase} "
    while (position := stems.find(wanted, position)) >= 0:
        count += 1
        position += len(wanted) - 1
    return count


def _stems(folded: str, language: str) -> str:
    """The words of a text as stems, with a blank between them."""
    known = _vocabulary(LANGUAGES.get(language, "english"))
    if len(known) > MAX_VOCABULARY:
        known.clear()
    return " ".join([known[word] for word in WORD.findall(folded)])


class _Vocabulary(dict[str, str]):
    """Stems by word, worked out once for each: the words of one page are those of the next."""

    def __init__(self, stemmer: Stemmer.Stemmer) -> None:
        self._stemmer = stemmer

    def __missing__(self, word: str) -> str:
        stem: str = self._stemmer.stemWord(word)
        if len(word) <= MAX_WORD_CHARS:
            self[word] = stem
        return stem


@lru_cache(maxsize=64)
def _vocabulary(algorithm: str) -> _Vocabulary:
    """The vocabulary of a language; English where the language is unknown or has no stemmer."""
    return _Vocabulary(Stemmer.Stemmer(algorithm, 0))
