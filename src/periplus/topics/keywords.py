"""Keywords found in a text: word stems by language, phrases, and plain substrings for scripts without spaces."""

import re
from functools import lru_cache

import Stemmer

__all__ = ["count_keywords"]

WORD = re.compile(r"\w+")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Scripts written without spaces between words (Thai, Lao, Burmese, Khmer, Kana, Han) and Hangul."""

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
    stemmer = _stemmer(language)
    stems = f" {' '.join(stemmer.stemWords(WORD.findall(folded)))} "
    counts = []
    for keyword in keywords:
        if UNSPACED.search(keyword):
            counts.append(folded.count(keyword.casefold()))
        else:
            counts.append(_count_phrase(stems, _stemmed(keyword, language)))
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


@lru_cache(maxsize=100_000)
def _stemmed(keyword: str, language: str) -> str:
    return " ".join(_stemmer(language).stemWords(WORD.findall(keyword.casefold())))


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Stemmer.Stemmer:
    """The stemmer of a language; English where the language is unknown or has none."""
    return Stemmer.Stemmer(LANGUAGES.get(language, "english"), 10_000)
