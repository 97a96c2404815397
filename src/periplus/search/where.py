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
from periplus.search.naming import LONGEST_NAME, is_plain, is_surely_a_place, longest_match, match_name
from periplus.search.request import Circle, Polygon, bearing, destination
from periplus.search.several import Range, further_places, two_ends
from periplus.search.words import Word

__all__ = ["AROUND_KM", "PlaceWords", "Where", "absent_place", "find_place_words", "named_place"]

INSIDE_WORDS = frozenset(
    {"in", "at", "im", "en", "em", "à", "nach", "aus", "within", "inside"}
    | {"across", "throughout", "through", "via", "toward", "towards"}
)
AROUND_WORDS = frozenset({"near", "around", "nearby", "along", "bei", "près", "perto", "cerca", "vicino"})
AROUND_PHRASES = (("close", "to"), ("next", "to"), ("not", "far", "from"))
AT_MOST = (("less", "than"), ("up", "to"), ("at", "most"))
AREA_WORDS = (("metropolitan", "area"), ("metro", "area"), ("area",), ("region",))
"""What makes a town's name mean what is around it: "the Houston area"."""

LINK_WORDS = frozenset({"to", "of", "de", "von", "the", "a", "di"})
"""Words that may stand between "near" and the name."""

AROUND_KM = 50.0
"""How far "near" reaches when no distance is given."""

_POINTS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
DIRECTIONS = {name: 45.0 * n for n, name in enumerate(_POINTS)}
"""Directions with their bearings: "north of Houston"."""

SIDES = DIRECTIONS | {f"{name}ern": degrees for name, degrees in DIRECTIONS.items()}
"""Parts of a country or state: "southern Texas", "West Texas"."""

BESIDE_KM = {"city": 100.0, "feature": 100.0, "admin2": 150.0, "admin1": 800.0}
"""How far "north of" reaches, by the kind of place; 1,500 km for countries and larger."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How a question relates to a name: in it, so many kilometres around it, or in a direction from it."""

    km: float | None = None
    bearing: float | None = None


IN_IT = Reach()


@dataclass(frozen=True, slots=True)
class Where:
    """Where the answer must be. `candidates`: what the name could mean, the chosen one first.

    At most one of `place`, `circle`, `box` is set. `others`: places beside the first any of which will do, those of a
    list (with a circle: what is as near to them) or (`ends`: `between`, `from`) the other end of a way. `side`: only
    the part of the place that lies that way from `middle`. `beside`: the place that a circle lies beside ("north of
    Texas"), whose own pages do not count. `excluded`: pages mainly about it do not count. How it was said: `reach`, a
    `zip_code` for the name, and `instead`, the place in the words that gave way to one that was given.
    """

    candidates: tuple[KnownPlace, ...] = ()
    place: KnownPlace | None = None
    circle: Circle | None = None
    box: BBox | Polygon | None = None
    beside: KnownPlace | None = None
    reach: Reach = IN_IT
    zip_code: str = ""
    instead: KnownPlace | None = None
    others: tuple[KnownPlace, ...] = ()
    ends: str = ""
    side: float | None = None
    middle: LonLat | None = None
    excluded: KnownPlace | None = None

    @property
    def places(self) -> tuple[KnownPlace, ...]:
        """All places any of which will do; none for a circle or box."""
        return (self.place, *self.others) if self.place is not None else ()

    @property
    def circles(self) -> tuple[Circle, ...]:
        """All circles any of which will do: "near Houston or Dallas"."""
        if self.circle is None:
            return ()
        points = [other.point for other in self.others if other.point is not None]
        return (self.circle, *(Circle(point, self.circle.km) for point in points))

    def has_side(self, place: KnownPlace) -> bool:
        """Whether a place inside the one asked for lies in the part that is asked for."""
        if self.side is None or self.middle is None:
            return True
        if place.point is None or place.point == self.middle:
            return False
        return abs((bearing(self.middle, place.point) - self.side + 180.0) % 360.0 - 180.0) <= 90.0

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
        said = (self._side_of() or "in") if self.place is not None else self._relation_of_circle()
        if not self.zip_code:
            return said
        return f"{said} ZIP code {self.zip_code}" + (" in" if self.candidates else "")

    def _side_of(self) -> str:
        return "" if self.side is None else f"in the {_direction_name(self.side)} of"

    def _relation_of_circle(self) -> str:
        if self.circle is None:
            return ""
        around = _kilometres(self.circle.km)
        if self.reach.bearing is None:
            return f"within {around} of"
        direction = _direction_name(self.reach.bearing)
        if self.reach.km is None:
            return f"up to {around} {direction} of"
        return f"within {around} of the point {_kilometres(self.reach.km)} {direction} of"


def _direction_name(degrees: float) -> str:
    return _POINTS[round(degrees / 45.0) % len(_POINTS)]


def _kilometres(km: float) -> str:
    return f"{round(km, 1 if km >= 1 else 3):,g} km"


@dataclass(frozen=True, slots=True)
class PlaceWords:
    """Place words in a question: from word `start` to `end`, the preposition included.

    `names`: where there are `others`, the words of each place, the first with its preposition unless they are `ends`.
    """

    start: int
    end: int
    candidates: tuple[KnownPlace, ...]
    reach: Reach = IN_IT
    point: LonLat | None = None  # where it is better than the place's own: of a ZIP code
    zip_code: str = ""
    others: tuple[KnownPlace, ...] = ()
    ends: str = ""
    side: float | None = None
    names: tuple[Range, ...] = ()

    def may_mean(self, place: KnownPlace | None) -> bool:
        """Whether a place that was given only says which of that name is meant; a ZIP code says so itself."""
        return place in self.candidates and not self.zip_code

    def meaning(self, place: KnownPlace, atlas: Atlas) -> "PlaceWords":
        """The same words of another place of that name: "within 30 km of Springfield"."""
        others = (other for other in self.candidates if other != place)
        has_parts = self.side is not None or self.reach.bearing is not None
        return replace(self, candidates=(place, *others), point=atlas.middle(place) if has_parts else None)

    def where(self) -> Where:
        """As a place or, with a distance or direction, as a circle around or beside it."""
        chosen = self.candidates[0] if self.candidates else None
        said = Where(self.candidates, reach=self.reach, zip_code=self.zip_code, others=self.others, ends=self.ends)
        if self.side is not None:
            return replace(said, place=chosen, side=self.side, middle=self.point)
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
        match = match_name(words, 0, length, atlas)
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
        if both := two_ends(words, start, atlas):
            names = both[3]
            return PlaceWords(start, names[1][1], both[0], others=both[1][:1], ends=both[2], names=names)
        if found := _part_of_place(words, start, atlas) or _after_preposition(words, start, atlas):
            return _with_more(words, found, atlas, pages_with)
    for start, word in enumerate(words):
        code = _zip_code(words, start, atlas)  # a bare number: only where the town counts for more than the number
        if code and sum(town.pages for town in code[0]) > pages_with(word.text):
            return PlaceWords(start, start + 1, code[0], point=code[1], zip_code=word.text)
        for length in range(min(LONGEST_NAME, len(words) - start), 0, -1):
            match = match_name(words, start, length, atlas)
            if match and is_surely_a_place(words[start : start + length], match, start + length, pages_with):
                return _with_more(words, PlaceWords(start, match[1], match[0]), atlas, pages_with)
    return None


def _with_more(words: Sequence[Word], found: PlaceWords, atlas: Atlas, pages_with: Callable[[str], int]) -> PlaceWords:
    """What was found with what stands behind it: "in the Houston area", "in Lisbon and Porto"."""
    if found.reach.bearing is not None or found.zip_code or found.side is not None:
        return found
    if found.reach.km is not None:
        return _with_others(words, found, atlas, pages_with)
    for area in AREA_WORDS:
        end = found.end + len(area)
        if found.candidates[0].kind == "city" and area == tuple(word.text.lower() for word in words[found.end : end]):
            return replace(found, end=end, reach=Reach(km=AROUND_KM))
    code = _zip_code(words, found.end, atlas)  # "Houston, TX 77002"
    if code and not set(code[0]).isdisjoint(found.candidates):
        return replace(found, end=found.end + 1)
    return _with_others(words, found, atlas, pages_with)


def _with_others(
    words: Sequence[Word], found: PlaceWords, atlas: Atlas, pages_with: Callable[[str], int]
) -> PlaceWords:
    """Place words with the other places of their list, if it is one."""
    others, names = further_places(words, found.end, atlas, pages_with)
    if not others:
        return found
    return replace(found, end=names[-1][1], others=others, names=((found.start, found.end), *names))


def _part_of_place(words: Sequence[Word], start: int, atlas: Atlas) -> PlaceWords | None:
    """`southern Texas`, `in northern Portugal`, `in the south of Texas`; none for towns, whose parts are not known."""
    at = start
    while at < start + 2 and at < len(words) and words[at].text.lower() in ("in", "the"):
        at += 1
    if at >= len(words) or not is_plain(words[at]) or longest_match(words, at, atlas):  # "Western Australia"
        return None
    direction = _direction(words, at) if at == start + 2 else None
    degrees, name_start = direction or (SIDES.get(words[at].text.lower().replace("-", "")), at + 1)
    match = longest_match(words, name_start, atlas) if degrees is not None else None
    if match is None or degrees is None or match[0][0].kind in ("city", "feature"):
        return None
    if atlas.is_elsewhere(" ".join(word.text.title() for word in words[at : match[1]])):  # "West Virginia"
        return None
    middle = atlas.middle(match[0][0])
    return PlaceWords(start, match[1], match[0], point=middle, side=degrees) if middle else None


JOINING_WORDS = frozenset({"between", "and", "to"})
"""What else stands before a name: "between Houston and Lagos"."""


def absent_place(words: Sequence[Word], atlas: Atlas) -> str:
    """The name after a preposition that is a place's, though no page of the collection is about it; else nothing."""
    for start in range(len(words)):
        opened = _opening(words, start)
        if opened is None and words[start].text.lower() not in JOINING_WORDS:
            continue
        first = _name_start(words, opened[1] if opened else start + 1)
        for length in range(min(LONGEST_NAME, len(words) - first), 0, -1):
            name = " ".join(word.text for word in words[first : first + length])
            if all(map(is_plain, words[first : first + length])) and atlas.is_elsewhere(name):
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
    match = longest_match(words, name_start, atlas)
    if match is None:
        return None
    middle = atlas.middle(match[0][0]) if reach.bearing is not None else None
    return PlaceWords(start, match[1], match[0], reach, middle)


def _opening(words: Sequence[Word], start: int) -> tuple[Reach, int] | None:
    """The words before a name that say it is a place, how they relate to it, and where they end."""
    first = words[start].text.lower()
    if not is_plain(words[start]):
        return None
    if inside := _at_most(words, start):
        return inside
    if distance := _distance(words, start, needs_unit=True):  # "20 km north of", "5 miles from"
        direction = _direction(words, distance[1])
        if direction:
            return Reach(distance[0], direction[0]), direction[1]
        if distance[1] < len(words) and words[distance[1]].text.lower() in ("from", "around", "of"):
            return Reach(km=distance[0]), distance[1] + 1
    if direction := _direction(words, start):
        return Reach(bearing=direction[0]), direction[1]
    for phrase in AROUND_PHRASES:
        if tuple(word.text.lower() for word in words[start : start + len(phrase)]) == phrase:
            return Reach(km=AROUND_KM), start + len(phrase)
    if first in AROUND_WORDS:
        return Reach(km=AROUND_KM), start + 1
    return (IN_IT, start + 1) if first in INSIDE_WORDS else None


def _at_most(words: Sequence[Word], start: int) -> tuple[Reach, int] | None:
    """`within 20 km of`, `less than 20 km from`: how far, and where the words go on."""
    texts = [word.text.lower() for word in words[start:]]
    distance = None
    if texts[0] == "within":
        distance = _distance(words, start + 1)
    elif tuple(texts[:2]) in AT_MOST:
        distance = _distance(words, start + 2, needs_unit=True)
    if distance is None:
        return None
    return Reach(km=distance[0]), distance[1] + (texts[distance[1] - start :][:1] == ["from"])


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
    if start >= len(words) or not is_plain(words[start]) or not _ZIP.fullmatch(words[start].text):
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
