"""The "where" of a question: place words found in the text, or the place, circle or box that was given.

Paper B's example decides the design: "pizza restaurant in Lisbon" must mean the Lisbon that this collection is
about, and must say which one it took and which others there are.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from periplus.errors import NotHere
from periplus.index import fold
from periplus.model import BBox, LonLat
from periplus.search.atlas import Atlas, KnownPlace, name_key
from periplus.search.naming import (
    LONGEST_NAME,
    Match,
    elsewhere,
    is_plain,
    is_surely_a_place,
    is_worth_a_place,
    longest_match,
    match_name,
)
from periplus.search.openings import AROUND_KM, DIRECTIONS, IN_IT, POINTS, Reach, direction, name_start, opening
from periplus.search.points import point_at
from periplus.search.request import Circle, Polygon, bearing, destination
from periplus.search.several import Range, further_places, two_ends
from periplus.search.words import Word

__all__ = ["AROUND_KM", "PlaceWords", "Where", "absent_namesake", "absent_place", "find_place_words", "named_place"]

AREA_WORDS = (("metropolitan", "area"), ("metro", "area"), ("area",), ("region",))
"""What makes a town's name mean what is around it: "the Houston area"."""

SIDES = DIRECTIONS | {f"{name}ern": degrees for name, degrees in DIRECTIONS.items()}
"""Parts of a country or state: "southern Texas", "West Texas"."""

BESIDE_KM = {"city": 100.0, "feature": 100.0, "admin2": 150.0, "admin1": 800.0}
"""How far "north of" reaches, by the kind of place; 1,500 km for countries and larger."""


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
        towards = _direction_name(self.reach.bearing)
        if self.reach.km is None:
            return f"up to {around} {towards} of"
        return f"within {around} of the point {_kilometres(self.reach.km)} {towards} of"


def _direction_name(degrees: float) -> str:
    return POINTS[round(degrees / 45.0) % len(POINTS)]


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


def find_place_words(
    words: Sequence[Word], atlas: Atlas, pages_with: Callable[[str], int], is_date: Callable[[int], bool]
) -> PlaceWords | None:
    """The place words of a question: after a preposition first, else a name that is surely meant as a place.

    `pages_with` counts the pages that have a word or phrase in their text; `is_date` says of a word whether a date
    begins with it: "in March 2024" is not about March, England.
    """
    for start in range(len(words)):
        if both := two_ends(words, start, atlas):
            names = both[3]
            return PlaceWords(start, names[1][1], both[0], others=both[1][:1], ends=both[2], names=names)
        if found := _part_of_place(words, start, atlas) or _after_preposition(words, start, atlas, pages_with, is_date):
            found = replace(found, start=_before_name(words, start) if found.reach.km else start)  # "à 20 km de"
            return _with_more(words, found, atlas, pages_with)
    for start in range(len(words)):
        if found := _without_preposition(words, start, atlas, pages_with, is_date):
            return replace(_with_more(words, found, atlas, pages_with), start=_before_name(words, start))
    return None


def _without_preposition(
    words: Sequence[Word],
    start: int,
    atlas: Atlas,
    pages_with: Callable[[str], int],
    is_date: Callable[[int], bool],
) -> PlaceWords | None:
    """A point, a ZIP code or a name that is surely meant as a place."""
    if point := point_at(words, start):
        return PlaceWords(start, point[1], (), point=point[0])
    code = _zip_code(words, start, atlas)  # a bare number: only where the town counts for more than the number
    if code and sum(town.pages for town in code[0]) > pages_with(words[start].text):
        return PlaceWords(start, code[2], code[0], point=code[1], zip_code=words[start].text)
    for length in range(min(LONGEST_NAME, len(words) - start), 0, -1):
        match = match_name(words, start, length, atlas)
        if match is None or (match[1] == start + length and is_date(start)):
            continue
        if is_surely_a_place(words[start : start + length], match, start + length, pages_with):
            return PlaceWords(start, match[1], match[0])
    return None


_BEFORE_NAMES = """
of from for about the to de von vom aus uber fur a al di da do du des del della sur sobre su"""
BEFORE_NAMES = frozenset(_BEFORE_NAMES.split())
"""Words before a name that say nothing without it: "news from Vienna", "the mayor of Houston"."""


def _before_name(words: Sequence[Word], start: int) -> int:
    """Where the words before a name begin that go with it."""
    while start and is_plain(words[start - 1]) and fold(words[start - 1].text) in BEFORE_NAMES:
        start -= 1
    return start


def _with_more(words: Sequence[Word], found: PlaceWords, atlas: Atlas, pages_with: Callable[[str], int]) -> PlaceWords:
    """What was found with what stands behind it: "in the Houston area", "in Lisbon and Porto"."""
    if found.reach.bearing is not None or not found.candidates or found.zip_code or found.side is not None:
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
    side = direction(words, at) if at == start + 2 else None
    degrees, begins = side or (SIDES.get(words[at].text.lower().replace("-", "")), at + 1)
    match = longest_match(words, begins, atlas) if degrees is not None else None
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
        opened = opening(words, start)
        if opened is None and words[start].text.lower() not in JOINING_WORDS:
            continue
        first = name_start(words, opened[1] if opened else start + 1)
        for length in range(min(LONGEST_NAME, len(words) - first), 0, -1):
            name = " ".join(word.text for word in words[first : first + length])
            if all(map(is_plain, words[first : first + length])) and atlas.is_elsewhere(name):
                return name
    return ""


def absent_namesake(words: Sequence[Word], atlas: Atlas) -> str:
    """A name with its state or country where pages are only about another place of that name; else nothing."""
    for start in range(len(words)):
        for length in range(min(LONGEST_NAME, len(words) - start), 0, -1):
            name = words[start : start + length]
            if all(map(is_plain, name)) and atlas.named(" ".join(word.text for word in name)):
                if longest_match(words, start, atlas):
                    break
                return elsewhere(words, start, length, atlas)
    return ""


def _after_preposition(
    words: Sequence[Word],
    start: int,
    atlas: Atlas,
    pages_with: Callable[[str], int],
    is_date: Callable[[int], bool],
) -> PlaceWords | None:
    opened = opening(words, start)
    if opened is None:
        return None
    reach, begins = opened[0], name_start(words, opened[1])
    if point := point_at(words, begins):
        return PlaceWords(start, point[1], (), reach, point[0]) if reach.bearing is None or reach.km else None
    if found := _zip_code(words, begins, atlas):
        return PlaceWords(start, found[2], found[0], reach, found[1], words[begins].text)
    match = longest_match(words, begins, atlas)
    if match is None or (reach == IN_IT and is_date(begins) and not _has_qualifier(words, begins, match)):
        return None
    if reach == IN_IT and not is_worth_a_place(words[begins : match[1]], match[0], pages_with):
        return None
    middle = atlas.middle(match[0][0]) if reach.bearing is not None else None
    return PlaceWords(start, match[1], match[0], reach, middle)


def _has_qualifier(words: Sequence[Word], start: int, match: Match) -> bool:
    """Whether more than the name itself was read: "March, England"."""
    names = {name_key(place.name) for place in match[0]}
    return name_key(" ".join(word.text for word in words[start : match[1]])) not in names


def _zip_code(words: Sequence[Word], start: int, atlas: Atlas) -> tuple[tuple[KnownPlace, ...], LonLat, int] | None:
    """What the ZIP code at this word means, and where the words go on: behind its town, if that stands there.

    Before another town's name it is no ZIP code of ours: 10115 is one of New York, and of Berlin.
    """
    if start >= len(words) or not is_plain(words[start]) or not _ZIP.fullmatch(words[start].text):
        return None
    found = atlas.zip_code(words[start].text[:5])
    if found is None:
        return None
    named = longest_match(words, start + 1, atlas)
    if named and set(named[0]).isdisjoint(found[0]):
        return None
    return tuple(found[0]), found[1], named[1] if named else start + 1


_ZIP = re.compile(r"\d{5}(?:-\d{4})?", re.ASCII)
