"""From text to index terms, the same way for pages and for questions.

Words are split at everything that is neither letter nor digit, lower-cased, stripped of accents and stemmed.
This is done before a page is handed to the index, by the stemmer of the page's language, so that all languages share
one field and one set of word frequencies; a question's word is looked up in the form it has in each language of the
collection. Scripts without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) become overlapping pairs of
characters; the last character of a run is also a term of its own, so that every character begins exactly one term and
single characters can be found by prefix.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from periplus.index.terms import TermWriter, may_be_unspaced

__all__ = [
    "ANALYSIS_VERSION",
    "STEMMERS",
    "TOKENIZER",
    "WORDS",
    "final_analyzer",
    "fold",
    "forms",
    "is_stop_word",
    "is_unspaced",
    "prepare",
    "primary",
    "stemmer_of",
    "word_analyzer",
    "word_spans",
]

ANALYSIS_VERSION = 2
"""Counts up when the same text would give other terms: indexes of another version are rebuilt."""

TOKENIZER = "periplus"
"""Name under which the analyzer is registered with every index."""

WORDS = "periplus_words"
"""Name of the analyzer of whole words, which are offered while somebody types."""

STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "nb": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""Languages with a stemmer of their own; others are stemmed as English."""

SHORT_TEXT = 100
"""Characters of titles and links, which come again as they are."""

LONGEST_SHORT_STEM = 3
"""Letters of a stem that is likely to be another word in another language."""

LONGEST_WORD = 40
"""Longer runs of letters are no words; they are not indexed."""

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003134f"  # Han, further planes
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_WORD = re.compile(r"[^\W_]+")


@cache
def _analyzer(language: str) -> TextAnalyzer:
    """The analyzer of a stemmer's language, or of English."""
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.remove_long(LONGEST_WORD + 1))
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
        .filter(Filter.stemmer(STEMMERS.get(language, "english")))
        .build()
    )


def final_analyzer() -> TextAnalyzer:
    """What every index runs over what `prepare` returns, which are terms; to be registered as TOKENIZER."""
    return TextAnalyzerBuilder(Tokenizer.simple()).build()


@cache
def word_analyzer() -> TextAnalyzer:
    """Words as they are written but for case; to be registered as WORDS after opening."""
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.remove_long(LONGEST_WORD + 1))
        .filter(Filter.lowercase())
        .build()
    )


def prepare(text: str, language: str) -> str:
    """Text of a page as it is handed to the index: its terms with blanks between them."""
    stemmed = stemmer_of(language)
    if len(text) <= SHORT_TEXT:
        return _prepared_short(text, stemmed)
    return _term_writer(stemmed).write(_paired(text))


@lru_cache(maxsize=20_000)
def _prepared_short(text: str, language: str) -> str:
    return " ".join(_analyzer(language).analyze(_paired(text)))


@cache
def _term_writer(language: str) -> TermWriter:
    return TermWriter(_analyzer(language).analyze)


def _paired(text: str) -> str:
    return _UNSPACED_RUN.sub(_page_pairs, text) if may_be_unspaced(text) else text


def forms(text: str, languages: frozenset[str]) -> dict[tuple[str, ...], frozenset[str]]:
    """The term sequences under which a question's word or phrase may stand in pages of these languages.

    One term each for a plain word; several for a phrase, a hyphenated word or unspaced script. With each the languages
    of the pages in which it counts, `en` for those without a stemmer; none: in all, since words that many languages
    share have the same stem in them. A short stem is another word elsewhere: Dutch makes "es" of "Essen".
    """
    found: dict[tuple[str, ...], set[str]] = {}
    paired = _UNSPACED_RUN.sub(_question_pairs, text) if not text.isascii() else text
    for language in ("en", *sorted(languages & STEMMERS.keys())):
        found.setdefault(tuple(_analyzer(language).analyze(paired)), set()).add(language)
    shared = len(found) == 1
    return {
        form: frozenset(() if shared or len(form) > 1 or len(form[0]) > LONGEST_SHORT_STEM else those)
        for form, those in found.items()
        if form
    }


def stemmer_of(language: str) -> str:
    """The language by whose stemmer pages are indexed: their own, or `en`."""
    own = primary(language)
    return own if own in STEMMERS else "en"


@lru_cache(maxsize=4096)
def primary(language: str) -> str:
    """`pt` of `pt-BR`."""
    return re.split(r"[-_]", language, maxsplit=1)[0].lower()


def is_unspaced(word: str) -> bool:
    """Whether the word is a single character of a script without spaces, to be looked up by prefix."""
    return len(word) == 1 and _UNSPACED_RUN.fullmatch(word) is not None


def _page_pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(run[i : i + 2] for i in range(len(run)))} "


def _question_pairs(match: re.Match[str]) -> str:
    run = match[0]
    pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return f" {' '.join(pairs)} "


# -- Question words --------------------------------------------------------------------------------


@cache
def _stop_filter(language: str) -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase()).filter(Filter.stopword(language)).build()


def is_stop_word(word: str, languages: frozenset[str]) -> bool:
    """Whether the word says nothing in English or, lower-cased, in one of the collection's languages."""
    names = {"english", *(STEMMERS[code] for code in languages & _STOP_LISTS)}
    return any(not _stop_filter(name).analyze(word) for name in sorted(names))


_STOP_LISTS = frozenset({"da", "de", "es", "fi", "fr", "hu", "it", "nl", "no", "nb", "pt", "ru", "sv"})


# -- Marking ---------------------------------------------------------------------------------------


class _Folding(dict[int, str]):
    """Character by character: without accents and case where that leaves one character, else unchanged."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c)).lower()
        folded = plain if len(plain) == 1 else character
        self[code] = folded
        return folded


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Text without case and accents, of the same length: offsets stay true."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every word, split as the index splits."""
    return (match.span() for match in _WORD.finditer(text))
