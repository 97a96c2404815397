"""Words that tell a place name from a person, a firm or a common word, as classes that a page's tokens carry.

Hand lists of English function words, titles, verbs of saying, organisation, street and landform words; first names
and surnames from the `zxcvbn` package (MIT); how often a word is written small comes from `weights.json`.
"""

from collections.abc import Iterable
from typing import Final

from periplus.places.knowledge import knowledge

__all__ = ["CLASSES", "word_bits", "word_commonness"]

CLASSES: Final = (
    "locative", "preposition", "article", "title", "saying", "organisation", "street", "landform", "direction",
    "first_name", "surname", "month_day", "conjunction", "be_have", "division_word", "sports", "sound", "person_role",
)  # fmt: skip
"""Word classes; class i is bit i of a token's bits."""


def _names() -> tuple[list[str], list[str]]:
    """First names and surnames, commonest first, without words that every text is full of."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415  1 MB of words, only needed when compiling

    common = set(FREQUENCY_LISTS["english_wikipedia"][:1500]) | set(FREQUENCY_LISTS["us_tv_and_film"][:1500])
    first = [n for n in (*FREQUENCY_LISTS["male_names"], *FREQUENCY_LISTS["female_names"]) if n not in common]
    last = [n for n in FREQUENCY_LISTS["surnames"] if n not in common]
    return first, last


def word_bits() -> dict[str, int]:
    """Every known word (folded) with the bits of its classes."""
    bits: dict[str, int] = {}

    def mark(words: Iterable[str], name: str) -> None:
        bit = 1 << CLASSES.index(name)
        for word in words:
            bits[word] = bits.get(word, 0) | bit

    for name, text in knowledge()["words"].items():
        mark(text.split(), name)
    function_words = set(bits)
    first, last = _names()
    mark((w for w in first if w not in function_words), "first_name")
    mark((w for w in last if w not in function_words), "surname")
    return bits


def word_commonness() -> dict[str, int]:
    """Words of everyday English, 2 (rare) to 6 (in every text)."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415  1 MB of words, only needed when compiling

    classes: dict[str, int] = {}
    for source in ("english_wikipedia", "us_tv_and_film"):
        for rank, word in enumerate(FREQUENCY_LISTS[source]):
            level = 6 - int(rank >= 300) - int(rank >= 1500) - int(rank >= 5000) - int(rank >= 15000)
            classes[word] = max(level, classes.get(word, 0))
    return classes
