"""Keywords found in a text: word stems by language, phrases, and plain substrings for scripts without spaces."""

from functools import lru_cache

from periplus.topics.lexicon import Lexicon

__all__ = ["count_keywords", "lexicon_of"]


@lru_cache(maxsize=64)
def lexicon_of(keywords: tuple[str, ...], language: str) -> Lexicon:
    """The lexicon of some keywords; remembered, since pages of few languages meet few topics."""
    return Lexicon(keywords, language)


def count_keywords(text: str, keywords: tuple[str, ...], language: str) -> list[int]:
    """How often each keyword (a word or a phrase) occurs in the text, after stemming in its language."""
    if not keywords:
        return []
    found = lexicon_of(keywords, language).count_text(text)
    return [found.get(number, 0) for number in range(len(keywords))]
