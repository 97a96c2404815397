"""Words that tell a place name from a person, a firm or a common word, as classes that a page's tokens carry.

Hand lists of English function words, titles, verbs of saying, organisation, street and landform words; first names
and surnames from the `zxcvbn` package (MIT); how often a word is written small comes from `weights.json`.
"""

import importlib.resources
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, cast

from periplus.pages.language import COMMON
from periplus.places.knowledge import knowledge

__all__ = ["CLASSES", "commonness_level", "word_bits", "word_commonness", "words_of"]

CLASSES: Final = (
    "locative", "preposition", "article", "title", "saying", "organisation", "street", "landform", "direction",
    "first_name", "surname", "month_day", "conjunction", "be_have", "division_word", "sports", "person_role",
    "landform_first", "inhabitant", "acting", "speaking", "software", "software_name", "joining", "street_first",
    "square_first", "going", "linking", "place_word", "public_figure",
)  # fmt: skip
"""Word classes; class i is bit i of a token's bits."""

COMMON_ONLY: Final = ("contractions", "feast")
"""Tables of words that are common and of no class."""


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

    person = sum(1 << CLASSES.index(name) for name in ("first_name", "surname", "software_name", "public_figure"))
    for name, text in knowledge()["words"].items():
        if name in COMMON_ONLY:
            continue
        mark(text.split(), name)
    function_words = {word for word, bit in bits.items() if not bit & person}
    first, last = _names()
    mark((w for w in first if w not in function_words), "first_name")
    mark((w for w in last if w not in function_words), "surname")
    return bits


def word_commonness() -> dict[str, int]:
    """Names that are also words: 2 (seldom written small) to 6 (a common word), learnt from running text."""
    words = knowledge()["words"]
    common = [word for name in (*COMMON_ONLY, "month_day", "direction") for word in words[name].split()]
    return _levels(_learnt().get("words", {})) | dict.fromkeys(common, 6)


@lru_cache(256)
def words_of(language: str) -> dict[str, int]:
    """The same for what is a word in one language only: "Lage" and "seine" in German, "cela" in French."""
    if language == "en":
        return {}  # its words are those of `word_commonness`
    known = _levels(_learnt().get("words_of", {}).get(language, {}))
    return known | dict.fromkeys([*COMMON.get(language, "").split(), *_CAPITAL_WORDS.get(language, "").split()], 6)


_CAPITAL_WORDS: Final = {
    "ar": "الجمعة السبت الأحد البلاد الثورة الحراك سلمية جديدة أن المدينة الشيخ الحرة القديمة الوسطى الكبير الصغير",
    "de": "kanton kantone kantonen kantons apotheke bast bissen boni bogen buch böse diss drogen dämme favoriten forst "
    "gerät geräte golem handel hof holz ihren kalk keller kita kitas klang kürze landes leiden lichte längen löhne "
    "mitte monster neubau neuland ofen olympia pracht regen reisen rissen salz schulen schwärme seifen sitten soja "
    "sommer springe stein strassen strände sänger tal türen ufer wangen wiesen zug übersee",
    "es": "constitución nacional república agro aventura caza centro democracia espíritu esperanza este feliz iglesia "
    "justicia leer libertad limpio mesa milagro norte oeste pacífico registro solidaridad sur universidad vista",
    "fi": "paras paremmin tämän tässä uusi",
    "fr": "canton cantons campagne cela corne marin observatoire seul seule",
    "hu": "minden",
    "it": "cantone cantoni costituzione nazionale centro pianura repubblica ultimo ultima",
    "pl": "brak rada rady",
    "pt": "centro constituição federal geral justiça nacional república saúde união vista",
    "zh": "青年 联合 城中",
}
"""Words that running text does not tell from towns, so often they have capitals, or have none as all do.

Kanton is not Guangzhou, Kita not Quito, Mitte seldom a part of Berlin, Iglesia no town of Argentina."""


def _learnt() -> dict[str, Any]:
    text = (importlib.resources.files("periplus.places") / "weights.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _levels(lists: dict[str, str]) -> dict[str, int]:
    return {word: int(level) for level, words in lists.items() for word in words.split()}


def commonness_level(small: int, capital: int) -> int:
    """The level of a word that was seen so often written small, so often with a capital inside a sentence."""
    if small < 3:
        return 1
    share = small / (small + capital)
    if share > 0.85:
        return 6 if small >= 100 else 5
    return 2 + int(share > 0.1) + int(share > 0.5)
