"""What a person means by a name typed into a job file, a query or a command: "Portland, OR", "Lisbon", "5128581".

`find_rows` ranks candidates, `resolve_row` demands a clear winner. Texts are another matter: see `locate`.
"""

import difflib
from collections.abc import Collection
from typing import Final

import numpy as np

from periplus.errors import PlaceError
from periplus.places.build import KINDS
from periplus.places.folding import fold
from periplus.places.gazetteer import Gazetteer
from periplus.places.sources import DEMONYM

__all__ = ["clear_row", "find_rows", "nearest_names", "resolve_row"]

MARGIN: Final = 0.7
"""A bare name is clear if its best candidate leads by this much in prior (0.7 = five times the population)."""

BIG_CITY: Final = 100_000
_MAX_NAME: Final = 200
_CITY: Final = KINDS.index("city")


def find_rows(gazetteer: Gazetteer, name: str, *, country: str | None = None) -> list[int]:
    """Rows that `name` may mean, best first. Parts after commas must contain the place."""
    name = name.strip()[:_MAX_NAME]
    digits = name.lstrip("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 19:
        try:
            return [gazetteer.row(int(name))]
        except PlaceError:
            return []
    head, *outer = [part.strip() for part in name.split(",")]
    found = _called(gazetteer, head)
    for part in filter(None, outer):
        around = frozenset(_called(gazetteer, part))
        found = [r for r in found if _lies_in(gazetteer, r, part, around)]
    if not found and outer:  # a name with a comma of its own: "Washington, D.C."
        found = gazetteer.candidates(name)[0].tolist()
    if country:
        code = gazetteer.country_row(country.upper())
        found = [r for r in found if gazetteer.arrays["row_country"][r] == code]
    return _city_before_its_division(gazetteer, found)


def _city_before_its_division(gazetteer: Gazetteer, found: list[int]) -> list[int]:
    """A person who types "Lisbon" means the city, not the district around it that is called the same."""
    kind = gazetteer.arrays["kind"]
    if not found or KINDS[kind[found[0]]] not in ("admin1", "admin2"):
        return found
    inner = next((r for r in found[1:] if kind[r] == _CITY and found[0] in gazetteer.chain(r)), None)
    if inner is None or gazetteer.arrays["population"][inner] < BIG_CITY:
        return found
    return [inner, *(r for r in found if r != inner)]


def _called(gazetteer: Gazetteer, name: str) -> list[int]:
    """The rows of the places that bear the name, best first."""
    rows, flags = gazetteer.candidates(name)
    return [r for r, f in zip(rows.tolist(), flags.tolist(), strict=True) if f != DEMONYM]


def _lies_in(gazetteer: Gazetteer, row: int, name: str, around: frozenset[int]) -> bool:
    """Whether a place above `row` is one of those that bear the name, or the country or division with that code."""
    if not around.isdisjoint(gazetteer.chain(row)[:-1]):
        return True
    place = gazetteer.place_at(row)
    return name.upper() == place.country or (bool(place.admin1) and name.upper() == place.admin1.upper())


def resolve_row(gazetteer: Gazetteer, name: str, kinds: Collection[str] = ()) -> int:
    """The row meant, or `PlaceError` that lists the candidates and how to name one of them."""
    found = find_rows(gazetteer, name)
    if kinds:
        found = [row for row in found if KINDS[gazetteer.arrays["kind"][row]] in kinds]
    if not found:
        near = nearest_names(gazetteer, name)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise PlaceError(f"no place is called {name[:80]!r}{hint} (or add it with: periplus gazetteer add)")
    row = clear_row(gazetteer, found)
    if row >= 0:
        return row
    shown = "; ".join(describe(gazetteer, r) for r in found[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    raise PlaceError(f"{name!r} may be {shown}{more}; write it like the first of these, or give the id")


def clear_row(gazetteer: Gazetteer, found: list[int]) -> int:
    """The first of the rows that a name may mean if it is what nearly everybody means, else -1."""
    return found[0] if len(found) == 1 or (found and _is_clear(gazetteer, found)) else -1


def _is_clear(gazetteer: Gazetteer, found: list[int]) -> bool:
    """Whether the first candidate is what nearly everybody means."""
    a = gazetteer.arrays
    first, second = found[0], found[1]
    if KINDS[a["kind"][first]] == "city" and KINDS[a["kind"][second]] == "admin2":
        return True  # "Baltimore, MD" is the city; who means the county says so
    if a["kind"][first] != a["kind"][second]:
        weight = [_weight(gazetteer, r) for r in (first, second)]
        return weight[0] - weight[1] >= MARGIN or second in gazetteer.chain(first) or first in gazetteer.chain(second)
    if _same_spot(gazetteer, first, second):
        return True
    ratio = float(np.log10((a["population"][first] + 100.0) / (a["population"][second] + 100.0)))
    return ratio >= MARGIN


def _same_spot(gazetteer: Gazetteer, first: int, second: int) -> bool:
    xyz = gazetteer.arrays["xyz"]
    return bool(float(xyz[first] @ xyz[second]) > np.cos(15 / 6371))


def _weight(gazetteer: Gazetteer, row: int) -> float:
    """Decades of people; a country or first division counts more than they say, a desert or region has none."""
    bonus = {"country": 2.0, "continent": 2.0, "admin1": 0.5, "feature": 3.5, "region": 3.5}
    kind = KINDS[gazetteer.arrays["kind"][row]]
    return float(np.log10(gazetteer.arrays["population"][row] + 100.0)) + bonus.get(kind, 0.0)


def describe(gazetteer: Gazetteer, row: int) -> str:
    """A place in a few words that `resolve` understands: "Portland, OR, US (id 5746545)"."""
    place = gazetteer.place_at(row)
    division = gazetteer.arrays["row_admin1"][row]
    around = [] if division < 0 or division == row else [_short_division(gazetteer, int(division))]
    if place.country and place.kind != "country":
        around.append(place.country)
    kind = "" if place.kind == "city" else f"{place.kind}, "
    return f"{', '.join([place.name, *around])} ({kind}id {place.id})"


def _short_division(gazetteer: Gazetteer, row: int) -> str:
    place = gazetteer.place_at(row)
    return place.admin1 if place.country == "US" else place.name


def nearest_names(gazetteer: Gazetteer, name: str, limit: int = 3) -> list[str]:
    """Known names that look like `name`, the most populous among equals first."""
    wanted = fold(name.partition(",")[0])
    if not wanted:
        return []
    pool: dict[str, str] = {}
    for row, known in enumerate(gazetteer.main_names()):
        if abs(len(known) - len(wanted)) <= 2 and known[:1].casefold() == wanted[0]:
            pool.setdefault(known.casefold(), describe(gazetteer, row).split(" (")[0])
    return [pool[m] for m in difflib.get_close_matches(wanted, pool, n=limit, cutoff=0.75)]
