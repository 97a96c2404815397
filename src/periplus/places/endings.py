"""What languages write behind names, by the code points of its characters: tables for `scan`."""

from typing import Final

__all__ = ["CASES", "ENDINGS_OF", "NOMINATIVES", "PARTICLES", "VOWELS"]

_KOREAN: Final = """
은 는 이 가 을 를 에 의 와 과 도 로 만 나 랑 서 에서 에는 에도 에만 에선 에게 에의 으로 이나 이란 처럼 보다 까지 부터
에서는 에서도 에서의 으로는 으로부터 로부터 까지는"""


def _packed(syllables: str) -> int:
    """Up to four syllables as one number."""
    code = 0
    for syllable in syllables:
        code = code << 16 | ord(syllable)
    return code


PARTICLES: Final = frozenset(
    [_packed("시"), *(_packed(city + particle) for particle in _KOREAN.split() for city in ("", "시"))]
)
"""Korean for "in", "and", "of" and the like, packed; the word for city may stand before them."""

CASES: Final = frozenset(
    (ord(case[0]), ord(case[1:] or "\0"))
    for case in ("а", "е", "и", "у", "ы", "ю", "я", "і", "ї", "ом", "ем", "ой", "ей", "ою")
)
"""Endings of declined names in Cyrillic, of one letter or two."""

NOMINATIVES: Final = tuple(map(ord, "аяь"))
"""What undeclined names may have instead, if not nothing: Москва, Россия, Казань."""

VOWELS: Final = frozenset(map(ord, "aeiuıü"))
"""Turkish suffixes of one letter; in English those are contractions: "Don't"."""

SLAVIC_CASES: Final = frozenset(map(_packed, ("a", "e", "i", "u", "y", "ia", "ie", "iu", "em", "iem", "ach")))
"""Endings of declined names of Polish, Czech and their neighbours, packed, without accents."""

SLAVIC: Final = tuple(map(ord, "aoe"))
"""What undeclined ones may have instead, if not nothing: Warszawa, Brno, Katowice."""

GOVERNORS: Final = frozenset(map(_packed, ["w", "we", "z", "ze", "v", "ve", "u", "iz", "do", "od", "na", "za"]))
"""Prepositions of those languages, packed: only behind them a name is looked for under its declined form."""

HEBREW: Final = frozenset(map(_packed, [*"בלמהושכ", *(first + second for first in "וש" for second in "בלמהכ")]))
"""One or two letters, packed, that Hebrew writes to a name: in, to, from, and, that."""

ARABIC: Final = frozenset(map(_packed, [*"وفبلك", *(first + second for first in "وف" for second in "بلك")]))
"""The same of Arabic."""

BENGALI: Final = frozenset(
    map(_packed, ["ে", "ের", "র", "য়", "য\u09bc", "য়ের", "য\u09bcের", "তে", "কে", "েও", "য়ও", "েই", "েরও"])
)
"""Endings of Bengali, packed: in, of, to; a dot below may be a character of its own."""


def _letters(word: str) -> int:
    """A few letters without accents as one number, from the last on: no two words have the same."""
    code = 0
    for i, letter in enumerate(reversed(word)):
        code |= (ord(letter) - 96) << 5 * i
    return code


def _table(pairs: dict[str, list[str]]) -> dict[int, tuple[bytes, ...]]:
    return {_letters(ending): tuple(one.encode() for one in instead) for ending, instead in pairs.items()}


def _finnish() -> dict[str, list[str]]:
    """Where, whence, whither and whose in Finnish, with what the stem had before its end changed.

    Helsingissä, Turun, Lahdesta, Tampereelle, Suomeen, Riihimäellä, Washingtonissa; Kuopioon and Espooseen keep it.
    """
    changed = {"": "", "e": "i", "ee": "e", "i": "", "de": "ti", "ae": "aki", "oe": "oki", "ru": "rku"}
    changed |= {f"ng{vowel}": f"nk{vowel}" for vowel in "aiou"} | {f"nn{vowel}": f"nt{vowel}" for vowel in "ao"}
    changed |= {f"{one}{vowel}": f"{one}{one}{vowel}" for one in "kpt" for vowel in "aiou"}
    pairs: dict[str, list[str]] = {}
    for case in ("ssa", "sta", "lla", "lta", "lle", "n"):
        for weak, strong in changed.items():
            if case != "n" or weak != "":  # "n" alone is the end of too many names
                pairs.setdefault(weak + case, []).append(strong)
    for vowel in "aeiou":
        pairs.setdefault(f"{vowel}{vowel}n", []).append(vowel)
        pairs.setdefault(f"{vowel}n", []).append(vowel)
    pairs.setdefault("een", []).append("i")
    pairs["seen"] = [""]
    return pairs


_HUNGARIAN: Final = """
ban ben ba be bol on en n ra re rol nal nel hoz hez tol ig t ot et at nak nek val vel ert ott ett"""

ENDINGS_OF: Final[dict[str, tuple[int, bool, dict[int, tuple[bytes, ...]]]]] = {
    "fi": (4, True, _table(_finnish())),
    "hu": (4, True, _table({ending: [""] for ending in _HUNGARIAN.split()})),
    **dict.fromkeys(("de", "sv", "no", "nb", "nn", "da"), (6, False, _table({"s": [""]}))),
}
"""By language what its names may end in, each with what they end in otherwise, all without accents.

Before them how many people a place must have for that, as a place in `context.POPULATION` (nouns have capitals in
German), and whether the endings say where, as "in" does elsewhere."""

LONGEST_ENDING: Final = 6

DECLINED: Final = frozenset({"pl", "cs", "sk", "sl", "hr"})
"""Slavic languages in Latin letters: in their texts large cities are looked for without a preposition too."""
