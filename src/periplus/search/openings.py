"""The words before a name that say it is a place: in it, so far around it, or in a direction from it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from periplus.index import fold
from periplus.search.naming import is_plain
from periplus.search.words import Word

__all__ = ["AROUND_KM", "DIRECTIONS", "IN_IT", "POINTS", "Reach", "direction", "name_start", "opening"]

INSIDE_WORDS = frozenset(
    {"in", "at", "im", "en", "em", "à", "nach", "aus", "within", "inside"}
    | {"across", "throughout", "through", "via", "toward", "towards"}
)
AROUND_WORDS = frozenset({"near", "around", "nearby", "along", "bei", "près", "perto", "cerca", "vicino"})
AROUND_PHRASES = tuple(
    tuple(phrase.split())
    for phrase in (
        "close to", "next to", "not far from", "in the vicinity of", "in der nahe", "nicht weit von", "rund um",
        "autour de", "aux environs de", "alrededor de", "nos arredores de", "nei dintorni di",
    )
)  # fmt: skip
"""What else means "near", without accents."""

AT_MOST = (
    ("within",),
    ("less", "than"),
    ("up", "to"),
    ("at", "most"),
    ("im", "umkreis", "von"),
    ("dans", "un", "rayon", "de"),
)
AWAY_WORDS = frozenset({"from", "around", "of", "um", "von", "de", "di", "da", "rund"})
"""What stands between a distance and the name: "5 miles from", "20 km um"."""

LINK_WORDS = frozenset({"to", "of", "de", "von", "the", "a", "di", "um"})
"""Words that may stand between "near" and the name."""

AROUND_KM = 50.0
"""How far "near" reaches when no distance is given."""

POINTS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
DIRECTIONS = {name: 45.0 * n for n, name in enumerate(POINTS)}
"""Directions with their bearings: "north of Houston"."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How a question relates to a name: in it, so many kilometres around it, or in a direction from it."""

    km: float | None = None
    bearing: float | None = None


IN_IT = Reach()


def opening(words: Sequence[Word], start: int) -> tuple[Reach, int] | None:
    """The words before a name that say it is a place, how they relate to it, and where they end."""
    first = words[start].text.lower()
    if not is_plain(words[start]):
        return None
    if inside := _at_most(words, start):
        return inside
    if distance := _distance(words, start, needs_unit=True):  # "20 km north of", "5 miles from"
        if towards := direction(words, distance[1]):
            return Reach(distance[0], towards[0]), towards[1]
        if distance[1] < len(words) and words[distance[1]].text.lower() in AWAY_WORDS:
            return Reach(km=distance[0]), distance[1] + 1
    if towards := direction(words, start):
        return Reach(bearing=towards[0]), towards[1]
    for phrase in AROUND_PHRASES:
        if _begins(words, start, phrase):
            return Reach(km=AROUND_KM), start + len(phrase)
    if first in AROUND_WORDS:
        return Reach(km=AROUND_KM), start + 1
    return (IN_IT, start + 1) if first in INSIDE_WORDS else None


def _begins(words: Sequence[Word], start: int, phrase: Sequence[str]) -> bool:
    """Whether the words from `start` on are these, whatever their case and accents."""
    return [fold(word.text) for word in words[start : start + len(phrase)]] == list(phrase)


def _at_most(words: Sequence[Word], start: int) -> tuple[Reach, int] | None:
    """`within 20 km of`, `less than 20 km from`, `im Umkreis von 20 km um`: how far, and where the words go on."""
    for phrase in AT_MOST:
        if not _begins(words, start, phrase):
            continue
        if distance := _distance(words, start + len(phrase), needs_unit=phrase != ("within",)):
            end = distance[1]
            return Reach(km=distance[0]), end + (end < len(words) and words[end].text.lower() in AWAY_WORDS)
    return None


def direction(words: Sequence[Word], start: int) -> tuple[float, int] | None:
    """`north of`, `south-west of`, `north east of`: the bearing, and where the words go on."""
    for length in (2, 1):
        part = [word.text.lower() for word in words[start : start + length]]
        name = "".join(part).replace("-", "")
        if len(part) == length and name in DIRECTIONS:
            end = start + length
            if end < len(words) and words[end].text.lower() == "of":
                return DIRECTIONS[name], end + 1
    return None


def name_start(words: Sequence[Word], start: int) -> int:
    """Where a name begins behind a preposition: "near the", "close to"."""
    while start < len(words) and words[start].text.lower() in LINK_WORDS:
        start += 1
    return start


_DISTANCE = re.compile(r"(\d{1,5}(?:\.\d{1,6})?)(km|kms|mi|miles?|kilomet(?:er|re)s?)?", re.IGNORECASE | re.ASCII)
_UNIT = re.compile(r"km|kms|mi|miles?|kilomet(?:er|re)s?", re.IGNORECASE)


def _distance(words: Sequence[Word], start: int, *, needs_unit: bool = False) -> tuple[float, int] | None:
    """`20 km`, `20km` or `12 miles` in kilometres, and where the words go on."""
    if start >= len(words) or not (match := _DISTANCE.fullmatch(words[start].text)):
        return None
    unit, end = match[2], start + 1
    if unit is None and end < len(words) and _UNIT.fullmatch(words[end].text):
        unit, end = words[end].text, end + 1
    if unit is None and needs_unit:
        return None
    km = float(match[1]) * (1.609344 if (unit or "").lower().startswith("mi") else 1.0)
    return (km, end) if 0 < km <= 20_000 else None
