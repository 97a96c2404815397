"""What the words of the lexicon mean before and after a name: categories for `context`, by slot of the lexicon."""

from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.places.lexicon import CLASSES

__all__ = ["AFTER", "BEFORE", "word_tables"]

U8 = npt.NDArray[np.uint8]

BEFORE: Final = (
    "line", "sentence", "locative", "of", "preposition", "article", "title", "first_name", "direction", "capital",
    "conjunction", "comma_capital", "comma_small", "hyphen", "saying", "be_have", "small", "digit", "mark",
    "possessive", "role", "organisation_of", "dollar",
)  # fmt: skip
AFTER: Final = (
    "line", "stop", "pair", "comma_capital", "comma_small", "possessive", "saying", "organisation", "street",
    "landform",
    "division_word", "sports", "surname", "capital", "be_have", "conjunction", "preposition", "small",
    "hyphen", "digit", "mark",
    "person_role", "inhabitant", "division_small", "street_small", "pair_country",
)  # fmt: skip

_BEFORE_CAPITAL: Final = (
    ("locative", "locative"), ("preposition", "preposition"), ("article", "article"), ("title", "title"),
    ("first_name", "first_name"), ("direction", "direction"), ("conjunction", "conjunction"),
    ("place_word", "locative"),
)  # fmt: skip
_BEFORE_SMALL: Final = (
    ("locative", "locative"), ("preposition", "preposition"), ("article", "article"), ("title", "role"),
    ("direction", "direction"), ("conjunction", "conjunction"), ("saying", "saying"), ("be_have", "be_have"),
    ("place_word", "locative"),
)  # fmt: skip
_CAPITAL_ABROAD: Final = (("linking", "locative"),)
_SMALL_ABROAD: Final = (("linking", "of"),)
"""What stands before names in other languages and means something else in English, or nothing: "i Oslo", "di Roma"."""

_AFTER_CAPITAL: Final = (
    ("person_role", "person_role"), ("organisation", "organisation"), ("street", "street"), ("landform", "landform"),
    ("division_word", "division_word"), ("sports", "sports"), ("surname", "surname"),
)  # fmt: skip
_AFTER_SMALL: Final = (
    ("person_role", "person_role"), ("inhabitant", "inhabitant"), ("division_word", "division_small"),
    ("street", "street_small"), ("saying", "saying"), ("be_have", "be_have"), ("conjunction", "conjunction"),
    ("preposition", "preposition"), ("locative", "preposition"),
)  # fmt: skip


def word_tables(word_bits: npt.NDArray[np.uint32]) -> tuple[U8, ...]:
    """What each word of the lexicon means before and after a name, with a capital and without: categories by slot.

    Then what it means before a name in texts that are not English.
    """

    def table(names: tuple[str, ...], default: str, rules: tuple[tuple[str, str], ...]) -> U8:
        out = np.full(len(word_bits), names.index(default), dtype=np.uint8)
        for word, category in reversed(rules):
            out[(word_bits & np.uint32(1 << CLASSES.index(word))) != 0] = names.index(category)
        return out

    return (
        table(BEFORE, "capital", _BEFORE_CAPITAL), table(BEFORE, "small", _BEFORE_SMALL),
        table(AFTER, "capital", _AFTER_CAPITAL), table(AFTER, "small", _AFTER_SMALL),
        table(BEFORE, "capital", (*_CAPITAL_ABROAD, *_BEFORE_CAPITAL)),
        table(BEFORE, "small", (*_SMALL_ABROAD, *_BEFORE_SMALL)),
    )  # fmt: skip
