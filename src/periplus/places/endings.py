"""What languages write behind names, by the code points of its characters: tables for `scan`."""

from typing import Final

__all__ = ["CASES", "NOMINATIVES", "PARTICLES", "VOWELS"]

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

SLAVIC_CASES: Final = frozenset(map(_packed, ("a", "e", "i", "u", "y", "ie", "iu", "em", "ach")))
"""Endings of declined names of Polish, Czech and their neighbours, packed, without accents."""

SLAVIC: Final = tuple(map(ord, "aoe"))
"""What undeclined ones may have instead, if not nothing: Warszawa, Brno, Katowice."""

GOVERNORS: Final = frozenset(map(_packed, ["w", "we", "z", "ze", "v", "ve", "u", "iz", "do", "od", "na", "za"]))
"""Prepositions of those languages, packed: only behind them a name is looked for under its declined form."""

HEBREW: Final = frozenset(map(_packed, [*"בלמהושכ", *(first + second for first in "וש" for second in "בלמהכ")]))
"""One or two letters, packed, that Hebrew writes to a name: in, to, from, and, that."""

ARABIC: Final = frozenset(map(_packed, [*"وفبلك", *(first + second for first in "وف" for second in "بلك")]))
"""The same of Arabic."""
