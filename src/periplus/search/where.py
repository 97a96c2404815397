"""The "where" of a question: place words found in the text, or the place, circle or box that was given.

Paper B's example decides the design: "pizza restaurant in Lisbon" must mean the Lisbon that this collection is
about, and must say which one it took and which others there are.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from periplus.errors import NotHere
from periplus.model import BBox, LonLat
from periplus.search.atlas import Atlas, KnownPlace, name_key
from periplus.search.request import Circle, Polygon, destination
from periplus.search.words import Word

__all__ = ["AROUND_KM", "PlaceWords", "Where", "absent_place", "find_place_words", "named_place"]

INSIDE_WORDS = frozenset({"in", "at", "im", "en", "em", "à", "nach", "aus", "within", "inside"})
AROUND_WORDS = frozenset({"near", "around", "nearby", "bei", "près", "perto", "cerca", "vicino"})
LINK_WORDS = frozenset({"to", "of", "de", "von", "the", "a", "di"})
"""Words that may stand between "near" and the name."""

AROUND_KM = 50.0
"""How far "near" reaches when no distance is given."""

_POINTS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
DIRECTIONS = {name: 45.0 * n for n, name in enumerate(_POINTS)}
"""Directions with their bearings: "north of Houston"."""

BESIDE_KM = {"city": 100.0, "feature": 100.0, "admin2": 150.0, "admin1": 800.0}
"""How far "north of" reaches, by the kind of place; 1,500 km for countries and larger."""

LONGEST_NAME = 5
"""Words of a place name."""

SURE_SHARE = 0.5
"""A name without a preposition is a place if at least this share of the pages with the word are about the place."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How a question relates to a name: in it, so many kilometres around it, or in a direction from it."""

    km: float | None = None
    bearing: float | None = None


IN_IT = Reach()


@dataclass(frozen=True, slots=True)
class Where:
    """Where the answer must be. `candidates`: what the name could mean, the chosen one first.

    Exactly one of `place`, `circle`, `box` is set. `beside`: the place that a circle lies beside ("north of Texas"),
    whose own pages do not count. How it was said: `reach`, a `zip_code` for the name, and `instead`, the place in the
    words that gave way to one that was given.
    """

    candidates: tuple[KnownPlace, ...] = ()
    place: KnownPlace | None = None
    circle: Circle | None = None
    box: BBox | Polygon | None = None
    beside: KnownPlace | None = None
    reach: Reach = IN_IT
    zip_code: str = ""
    instead: KnownPlace | None = None

    def __bool__(self) -> bool:
        return self.place is not None or self.circle is not None or self.box is not None

    @property
    def is_south(self) -> bool:
        """Whether it lies south of the equator, where summer is in January."""
        point = self.circle.center if self.circle else self.place.point if self.place else None
        return point is not None and point.lat < 0

    @property
    def relation(self) -> str:
        """The words before the name: `in`, `within 50 km of`, `up to 100 km north of`; none for a box or shape."""
        said = "in" if self.place is not None else self._relation_of_circle()
        if not self.zip_code:
            return said
        return f"{said} ZIP code {self.zip_code}" + (" in" if self.candidates else "")

    def _relation_of_circle(self) -> str:
        if self.circle is None:
            return ""
        around = _kilometres(self.circle.km)
        if self.reach.bearing is None:
            return f"within {around} of"
        direction = _POINTS[round(self.reach.bearing / 45.0) % len(_POINTS)]
        if self.reach.km is None:
            return f"up to {around} {direction} of"
        return f"within {around} of the point {_kilometres(self.reach.km)} {direction} of"


def _kilometres(km: float) -> str:
    return f"{round(km, 1 if km >= 1 else 3):,g} km"


@dataclass(frozen=True, slots=True)
class PlaceWords:
    """Place words in a question: from word `start` to `end`, the preposition included."""

    start: int
    end: int
    candidates: tuple[KnownPlace, ...]
    reach: Reach = IN_IT
    point: LonLat | None = None  # where it is better than the place's own: of a ZIP code
    zip_code: str = ""

    def where(self) -> Where:
        """As a place or, with a distance or direction, as a circle around or beside it."""
        chosen = self.candidates[0] if self.candidates else None
        said = Where(self.candidates, reach=self.reach, zip_code=self.zip_code)
        point = self.point or (chosen.point if chosen else None)
        km, bearing = self.reach.km, self.reach.bearing
        if point is not None and bearing is not None:
            if km is not None:  # "20 km north of": a stretch of land that far away
                return replace(said, circle=Circle(destination(point, bearing, km), max(10.0, km / 2)))
            far = BESIDE_KM.get(chosen.kind if chosen else "city", 1_500.0)
            return replace(said, circle=Circle(point, far, bearing), beside=chosen)
        if point is not None and (km is not None or chosen is None):
            return replace(said, circle=Circle(point, km or AROUND_KM))
        return replace(said, place=chosen)


def named_place(text: str, atlas: Atlas, *, hint: bool = True) -> Where:
    """The place that a person named on purpose: an id, a name, or a name with what is around it.

    Raises NotHere if the collection has no page about such a place, with names that look like it as a `hint`.
    """
    if re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
        place = atlas.get(int(text))
        found = _zip_code([Word(text)], 0, atlas) if place is None else None
        if found:
            return PlaceWords(0, 1, found[0], point=found[1], zip_code=text).where()
        if place is None:
            raise NotHere(f"no page of this collection is about place {text}")
        others = tuple(other for other in atlas.named(place.name) if other.id != place.id)
        return Where((place, *others), place=place)
    words = [Word(part.strip(" ,"), comma=part.endswith(",")) for part in text.replace(",", ", ").split()]
    words = [word for word in words if name_key(word.text)]
    for length in range(min(len(words), LONGEST_NAME), 0, -1):
        match = _match(words, 0, length, atlas)
        if match and match[1] == len(words):
            return Where(match[0], place=match[0][0])
    similar = atlas.similar_names(text) if hint else []
    tip = f"did you mean {' or '.join(similar)}?" if similar else "see the places it has with `periplus serve`"
    raise NotHere(f"no page of this collection is about a place named {text[:80]!r}; {tip}")


def find_place_words(words: Sequence[Word], atlas: Atlas, pages_with: Callable[[str], int]) -> PlaceWords | None:
    """The place words of a question: after a preposition first, else a name that is surely meant as a place.

    `pages_with` counts the pages that have a word or phrase in their text.
    """
    for start in range(len(words)):
        if found := _after_preposition(words, start, atlas):
            return found
    for start, word in enumerate(words):
        code = _zip_code(words, start, atlas)  # a bare number: only where the town counts for more than the number
        if code and sum(town.pages for town in code[0]) > pages_with(word.text):
            return PlaceWords(start, start + 1, code[0], point=code[1], zip_code=word.text)
        for length in range(min(LONGEST_NAME, len(words) - start), 0, -1):
            match = _match(words, start, length, atlas)
            if match and _is_surely_a_place(words[start : start + length], match, start + length, pages_with):
                return PlaceWords(start, match[1], match[0])
    return None


def absent_place(words: Sequence[Word], atlas: Atlas) -> str:
    """The name after a preposition that is a place's, though no page of the collection is about it; else nothing."""
    for start in range(len(words)):
        opened = _opening(words, start)
        if opened is None:
            continue
        first = _name_start(words, opened[1])
        for length in range(min(LONGEST_NAME, len(words) - first), 0, -1):
            name = " ".join(word.text for word in words[first : first + length])
            if all(map(_plain, words[first : first + length])) and atlas.is_elsewhere(name):
                return name
    return ""


def _name_start(words: Sequence[Word], start: int) -> int:
    """Where a name begins behind a preposition: "near the", "close to"."""
    while start < len(words) and words[start].text.lower() in LINK_WORDS:
        start += 1
    return start


_DISTANCE = re.compile(r"(\d{1,5}(?:\.\d{1,6})?)(km|kms|mi|miles?|kilomet(?:er|re)s?)?", re.IGNORECASE | re.ASCII)
_UNIT = re.compile(r"km|kms|mi|miles?|kilomet(?:er|re)s?", re.IGNORECASE)


def _after_preposition(words: Sequence[Word], start: int, atlas: Atlas) -> PlaceWords | None:
    opened = _opening(words, start)
    if opened is None:
        return None
    reach, name_start = opened[0], _name_start(words, opened[1])
    if found := _zip_code(words, name_start, atlas):
        return PlaceWords(start, name_start + 1, found[0], reach, found[1], words[name_start].text)
    for length in range(min(LONGEST_NAME, len(words) - name_start), 0, -1):
        if match := _match(words, name_start, length, atlas):
            middle = atlas.middle(match[0][0]) if reach.bearing is not None else None
            return PlaceWords(start, match[1], match[0], reach, middle)
    return None


def _opening(words: Sequence[Word], start: int) -> tuple[Reach, int] | None:
    """The words before a name that say it is a place, how they relate to it, and where they end."""
    first = words[start].text.lower()
    if not _plain(words[start]):
        return None
    if first == "within" and (distance := _distance(words, start + 1)):
        return Reach(km=distance[0]), distance[1]
    if distance := _distance(words, start, needs_unit=True):  # "20 km north of", "5 miles from"
        direction = _direction(words, distance[1])
        if direction:
            return Reach(distance[0], direction[0]), direction[1]
        if distance[1] < len(words) and words[distance[1]].text.lower() in ("from", "around", "of"):
            return Reach(km=distance[0]), distance[1] + 1
    if direction := _direction(words, start):
        return Reach(bearing=direction[0]), direction[1]
    if first in AROUND_WORDS:
        return Reach(km=AROUND_KM), start + 1
    return (IN_IT, start + 1) if first in INSIDE_WORDS else None


def _direction(words: Sequence[Word], start: int) -> tuple[float, int] | None:
    """`north of`, `south-west of`, `north east of`: the bearing, and where the words go on."""
    for length in (2, 1):
        part = [word.text.lower() for word in words[start : start + length]]
        name = "".join(part).replace("-", "")
        if len(part) == length and name in DIRECTIONS:
            end = start + length
            if end < len(words) and words[end].text.lower() == "of":
                return DIRECTIONS[name], end + 1
    return None


def _zip_code(words: Sequence[Word], start: int, atlas: Atlas) -> tuple[tuple[KnownPlace, ...], LonLat] | None:
    """What the ZIP code at this word means."""
    if start >= len(words) or not _plain(words[start]) or not _ZIP.fullmatch(words[start].text):
        return None
    found = atlas.zip_code(words[start].text[:5])
    return (tuple(found[0]), found[1]) if found else None


_ZIP = re.compile(r"\d{5}(?:-\d{4})?", re.ASCII)


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


def _plain(word: Word) -> bool:
    return not (word.quoted or word.excluded or word.alternative)


def _match(words: Sequence[Word], start: int, length: int, atlas: Atlas) -> tuple[tuple[KnownPlace, ...], int] | None:
    """Places named by exactly these words, narrowed by what follows ("Lisbon, NH"), and where the words go on."""
    part = words[start : start + length]
    if not all(map(_plain, part)) or any(word.comma for word in part[:-1]):
        return None
    candidates = atlas.named(" ".join(word.text for word in part))
    if not candidates:
        return None
    end = start + length
    for more in range(min(4, len(words) - end), 0, -1):
        qualifier = words[end : end + more]
        narrowed = [place for place in candidates if _is_qualified(place, qualifier, comma=words[end - 1].comma)]
        if narrowed and all(map(_plain, qualifier)):
            rest = [place for place in candidates if place not in narrowed]
            return (*narrowed, *rest), end + more
    return tuple(candidates), end


def _is_qualified(place: KnownPlace, qualifier: Sequence[Word], *, comma: bool) -> bool:
    """Whether the words name something around the place: its state, its country, or one of their codes."""
    text = " ".join(word.text for word in qualifier)
    if name_key(text) in {name_key(name) for name in place.path[:-1]}:
        return True
    is_code = len(qualifier) == 1 and len(text) in (2, 3) and (comma or text.isupper())
    return is_code and text.upper() in (place.admin1, place.country)


def _is_surely_a_place(
    name: Sequence[Word],
    match: tuple[tuple[KnownPlace, ...], int],
    name_end: int,
    pages_with: Callable[[str], int],
) -> bool:
    """Whether a name without preposition is meant as a place: "mobile phone" is not about Alabama."""
    candidates, end = match
    if end > name_end:  # "Portland, Maine"
        return True
    if not any(place.main_pages for place in candidates):  # named in passing only, perhaps not even that
        return False
    about = sum(place.pages for place in candidates)
    return about >= SURE_SHARE * pages_with(" ".join(word.text for word in name))
