"""The names of targets and of everything that competes with them: one table, made once, for all strategies.

A name in a URL or a text may mean several places, targets or not. The table holds them all, so that a place that
nobody owns can win against a target (`portland-maine` does not pull a page to Portland, Oregon), and longer names
around a target's name ("New York" around "York"). After it is made nothing asks the gazetteer again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from msgspec import Struct

from periplus.model import Place
from periplus.places import Gazetteer, GluedNames, glue, words_of
from periplus.strategies.ownership import Ownership

__all__ = ["Candidate", "NameTable", "Named"]

MIN_LETTERS = 4
"""Shorter names are only believed as whole labels of a host (`la.example.com`, `nyc.gov`)."""

MAX_CANDIDATES = 24
COMPETING = frozenset({"city", "admin1", "country"})
REGION_DIVISOR = 20
"""Between a city and a region of one name: New York and Washington are cities, Delaware and Oregon are states.

A country keeps all its people: Jamaica is not a part of New York.
"""

NOT_NAMES = frozenset({"google"})
"""Other names that places gave themselves for a day."""

BIG_PLACE = 100_000
"""From this population on a place's other names are used too: those of which it is the best-known bearer."""

MIN_ALIAS_LETTERS = 5
SHORT_FORMS = (("saint ", "st "), ("st ", "saint "), ("fort ", "ft "), ("mount ", "mt "), ("mt ", "mount "))


@dataclass(frozen=True, slots=True, eq=False)  # one object a place: compared and hashed by identity
class Candidate:
    """A place that a name may mean, with the node that owns it (None: nobody) and the words that point to it."""

    place: Place
    node: str | None
    target_id: int | None  # the owned place: the place itself or one around it
    division: str  # code of the first division, lower case; "" unless it is letters
    division_name: str  # glued
    country: str  # code, lower case
    country_name: str  # glued
    weight: float  # people who make it the one that is meant: those of a city or country; of a region only a part


class Named(Struct, frozen=True, gc=False):
    """A name in a text, the place meant, and whether the text itself says its region (city-state pair)."""

    start: int
    end: int
    candidate: Candidate
    paired: bool


class NameTable:
    """Glued name -> what it may mean, the most populous first; and how each name is spelled in words."""

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer) -> None:
        self._ownership = ownership
        self._gazetteer = gazetteer
        self._made: dict[int, Candidate] = {}
        self.candidates: dict[str, tuple[Candidate, ...]] = {}
        self.spellings: dict[str, set[str]] = {}  # glued -> words with single spaces
        index = gazetteer.glued
        places = list(ownership.named_places())
        for place in places:
            self._add_names(place.name, place, index)
        for place in places:
            if place.population >= BIG_PLACE:
                self._add_other_names(place, index)
        self._add_longer_names(index)

    def _add_names(self, name: str, place: Place, index: GluedNames) -> None:
        """A name in all its forms, with everybody who bears it."""
        for form in _forms(" ".join(words_of(name))):
            key = form.replace(" ", "")
            if key not in self.candidates:
                self.candidates[key] = self._bearers(index.rows(key))
            self.spellings.setdefault(key, set()).add(form)
            if all(candidate.place.id != place.id for candidate in self.candidates[key]):
                self.candidates[key] = tuple(sorted((*self.candidates[key], self.candidate(place)), key=_rank))

    def _add_other_names(self, place: Place, index: GluedNames) -> None:
        """Other names and initials of a big place, unless they are somebody's own name."""
        for other in self._gazetteer.other_names(place.id):
            key = glue(other)
            if other.isascii() and len(key) >= MIN_ALIAS_LETTERS and key not in index and key not in NOT_NAMES:
                self._add_names(other, place, index)
        initials = "".join(word[0] for word in place.name.split())
        if len(initials) > 1 and initials.isupper() and self._is_called(initials, place):
            self._add_names(initials, place, index)

    def _is_called(self, name: str, place: Place) -> bool:
        """Whether the gazetteer has the name for this city before all others."""
        found = (candidate for candidate in self._gazetteer.find(name, limit=5) if candidate.kind == "city")
        first = next(found, None)
        return first is not None and first.id == place.id

    def _bearers(self, rows: Iterable[int]) -> tuple[Candidate, ...]:
        """Every city or owned place of a name, wherever it is."""
        places = (self._gazetteer.place_at(row) for row in rows)
        found = [self.candidate(place) for place in places if place.kind in COMPETING]
        return tuple(sorted(found, key=_rank)[:MAX_CANDIDATES])

    def candidate(self, place: Place) -> Candidate:
        """A place with its owner and the words that point to it; made once."""
        made = self._made.get(place.id)
        if made is None:
            owned = self._ownership.owner(place)
            code = place.admin1.lower() if place.admin1.isalpha() else ""
            division = place.path[3] if len(place.path) > 4 else ""
            people = place.population + 1
            made = Candidate(
                place,
                owned[0] if owned else None,
                owned[1] if owned else None,
                code,
                glue(division),
                place.country.lower(),
                glue(place.path[2]) if len(place.path) > 2 else "",
                people if place.kind in ("city", "country") else people / REGION_DIVISOR,
            )
            self._made[place.id] = made
        return made

    def _add_longer_names(self, index: GluedNames) -> None:
        """Names of other places that contain a target's name as a word: they take it away from the target."""
        lone = {form for forms in self.spellings.values() for form in forms if " " not in form}
        for row in sorted({row for word in lone for row in index.with_word(word)}):
            words = words_of(self._gazetteer.name_at(row))
            key = "".join(words)
            if key not in self.candidates:
                bearers = self._bearers(index.rows(key))
                if bearers:
                    self.candidates[key] = bearers
                    self.spellings[key] = {" ".join(words)}


def _rank(candidate: Candidate) -> tuple[float, int]:
    """The most populous first; a division that shares a city's name counts for a part of its people."""
    return (-candidate.weight, candidate.place.id)


def _forms(spelled: str) -> Iterator[str]:
    """The name, and how people also write it in URLs and texts."""
    if spelled:
        yield spelled
    for long, short in SHORT_FORMS:
        if spelled.startswith(long):
            yield short + spelled.removeprefix(long)
    if spelled.endswith(" city") and spelled.count(" ") > 1:
        yield spelled.removesuffix(" city")
