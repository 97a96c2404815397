"""The distinct names of a page and the places they may mean: one unit is one sense.

A unit is a name on a page, or a name inside one particular "City, State" pair. Its candidates are the places of that
name and, where a division or country named nearby holds none of them, that area itself: the place meant may be missing
from the gazetteer and lie "within" it; not so for a pair that fits. Compiled where possible: see `sheet`.
"""

import math
from typing import Final

from periplus.places.build import KINDS
from periplus.places.pairs import AMONG_STATES, AMONG_TOWNS, is_inside
from periplus.places.sheet import MAX_AREAS, MAX_CANDIDATES, Sheet, Tables
from periplus.places.sources import ABBREVIATION, ALTERNATE, NAME_FLAGS, POSTAL

__all__ = ["FAR", "WITHIN", "find_areas", "find_candidates", "gather_units"]

WITHIN: Final = len(NAME_FLAGS)
"""The flag of a candidate that only contains the place meant."""

FAR: Final = 10_000
"""The distance in tokens to an area that is not named."""

# The names below have C types in units.pxd.
_MAX_OF_NAME = 64
_SEVERAL = 3
_TOWN, _LARGE, _KNOWN, _FAMOUS, _SURE = (math.log10(people) for people in (5e4, 1e5, 3e5, 1e6, 1e7))
_NEXT, _BESIDE, _LIKELIEST = 2, 4, 5
_DWARFED, _SMALL, _SMALLER, _ECLIPSED = math.log10(20), math.log10(5), 2.0, math.log10(300)
_ALTERNATE, _POSTAL, _ABBREVIATION = ALTERNATE, POSTAL, ABBREVIATION
_TOWNS, _STATES = AMONG_TOWNS, AMONG_STATES
_NAMELESS = 1 << 63
_WITHIN, _FAR, _ROOM = WITHIN, FAR, MAX_CANDIDATES - _MAX_OF_NAME - 6
_COUNTRY, _ADMIN1, _ADMIN2, _CITY, _REGION = (KINDS.index(k) for k in ("country", "admin1", "admin2", "city", "region"))
_HAMLET = math.log10(3e3)


def gather_units(s: Sheet) -> int:
    """One unit per distinct name, per name within a pair, and per built name, among the hits that were kept."""
    mask = 3
    while mask + 1 < 2 * s.hits:
        mask = 2 * mask + 1
    for slot in range(mask + 1):
        s.found[slot] = 0
    s.units = 0
    for hit in range(s.hits):
        if not s.h_kept[hit]:
            s.h_unit[hit] = -1
            continue
        slot = _unit_slot(s, _unit_key(s, hit), mask)
        unit = s.found[slot] - 1
        weight = s.h_probability[hit]
        if unit < 0:
            unit = s.units
            s.units = s.found[slot] = unit + 1
            s.u_name[unit], s.u_outer[unit], s.u_plain[unit] = s.h_name[hit], s.h_pair[hit], s.h_built[hit] == 0
            s.u_first[unit], s.u_count[unit], s.u_weight[unit], s.u_among[unit] = hit, 0, weight, 0
        s.u_count[unit] += 1
        s.u_among[unit] += 1 if s.h_listed[hit] == _TOWNS else -1 if s.h_listed[hit] == _STATES else 0
        s.h_unit[hit] = unit
        if weight > s.u_weight[unit]:
            s.u_weight[unit] = weight
    return s.units


def _unit_slot(s: Sheet, key: int, mask: int) -> int:
    """Where the number of a unit is kept, a free place if the unit is new."""
    slot = (key ^ (key >> 33)) & mask
    while s.found[slot] and s.found_key[slot] != key:
        slot = (slot + 1) & mask
    s.found_key[slot] = key
    return slot


def _unit_key(s: Sheet, hit: int) -> int:
    name = s.h_name[hit]
    if name < 0:
        one, two = s.t_key[s.h_first[hit]], s.t_key[s.h_last[hit]]
        return _NAMELESS | ((one ^ (two >> 1)) >> 2)
    return (name << 33) | ((s.h_pair[hit] + 1) << 1) | (s.h_built[hit] > 0)


# -- divisions and countries named on the page ---------------------------------------------------------


def find_areas(s: Sheet, t: Tables) -> None:
    """The divisions and countries that the page names, the most frequent ones if there are very many."""
    tally: dict[int, int] = {}
    for unit in range(s.units):
        for which in range(3):
            row = _names_area(s, t, unit, which)
            if row >= 0:
                tally[row] = tally.get(row, 0) + s.u_count[unit]
    s.implied_admin1, s.implied_admin2 = _implied(s, t, 4), _implied(s, t, 5)
    frequent = sorted([(-count, row) for row, count in tally.items()])[: MAX_AREAS - 2]
    rows = {row for _, row in frequent} | {s.implied_admin1, s.implied_admin2}
    s.areas = 0
    for row in sorted(rows - {-1}):
        s.area_row[s.areas] = row
        s.areas += 1
        s.area_at[row] = s.areas
    if s.areas:
        _mark_towns(s, t)
        for i in range(s.units * s.areas):
            s.near[i] = s.near_first[i] = _FAR
        _sweep(s, t, 1)
        _sweep(s, t, -1)
        _except_own(s, t)


def _implied(s: Sheet, t: Tables, column: int) -> int:
    """The division, named or not, that most towns of the page lie in if each is its likeliest namesake; -1 for none."""
    votes: dict[int, float] = {}
    for unit in range(s.units):
        name = s.u_name[unit]
        if name < 0 or not s.u_plain[unit] or s.u_weight[unit] < 0.3:
            continue
        fact = 8 * t.cand_row[t.name_at[name]]
        row = t.place_facts[fact + column]
        if row >= 0 and t.place_facts[fact + 7] == _CITY:
            votes[row] = votes.get(row, 0.0) + s.u_weight[unit]
    best = max(votes, key=lambda row: (votes[row], -row), default=-1)
    return best if best >= 0 and votes[best] > 1.0 else -1


def _names_area(s: Sheet, t: Tables, unit: int, which: int) -> int:
    """The areas a unit names: two by its own name, one as the outer part of its pair; -1 for none."""
    if which == 2:
        return s.u_outer[unit]
    if s.u_name[unit] < 0 or not s.u_plain[unit] or s.u_weight[unit] < 0.3:
        return -1
    return t.name_facts[4 * s.u_name[unit] + which]


def _mark_towns(s: Sheet, t: Tables) -> None:
    """Mark the areas that only names of towns stand for: who says Lisbon hardly means the district around it."""
    for area in range(s.areas):
        s.area_town[area] = 1
    for unit in range(s.units):
        for which in range(3):
            row = _names_area(s, t, unit, which)
            if row >= 0 and s.area_at[row] and (which == 2 or not _has_town(t, s.u_name[unit], row)):
                s.area_town[s.area_at[row] - 1] = 0


def _has_town(t: Tables, name: int, row: int) -> bool:
    """Whether one of the likeliest places of a name is a town in, or of the same state as, the division of that name.

    Of many towns the gazetteer does not say in which district they lie.
    """
    fact = 8 * row
    if t.place_facts[fact + 7] == _COUNTRY:
        return False
    low, high, state = t.name_at[name], t.name_at[name + 1], t.place_facts[fact + 4]
    for at in range(low, min(high, low + _LIKELIEST)):
        place = t.cand_row[at]
        if t.cand_flag[at] == _ALTERNATE or t.place_facts[8 * place + 7] != _CITY:
            continue
        if is_inside(t, place, row) or (state >= 0 and t.place_facts[8 * place + 4] == state):
            return True
    return False


def _sweep(s: Sheet, t: Tables, step: int) -> None:
    """Distances in tokens from every mention back (or on) to the last mention of each area."""
    width = s.areas
    for area in range(width):
        s.area_last[area] = -1
    hit = 0 if step > 0 else s.hits - 1
    while 0 <= hit < s.hits:
        unit = s.h_unit[hit]
        if unit >= 0:
            token = s.h_first[hit]
            for which in range(3):
                row = _names_area(s, t, unit, which)
                if row >= 0 and s.area_at[row] and not (which < 2 and s.h_listed[hit]):
                    s.area_last[s.area_at[row] - 1] = token
            is_first = s.u_first[unit] == hit
            for area in range(width):
                if s.area_last[area] >= 0:
                    gap = (token - s.area_last[area]) * step
                    at = unit * width + area
                    if gap < s.near[at]:
                        s.near[at] = gap
                    if is_first and gap < s.near_first[at]:
                        s.near_first[at] = gap
        hit += step


def _except_own(s: Sheet, t: Tables) -> None:
    """A name is no evidence for itself; the outer part of a pair is next to it."""
    for unit in range(s.units):
        for which in range(2):
            row = _names_area(s, t, unit, which)
            if row >= 0 and s.area_at[row] and s.u_outer[unit] != row:
                at = unit * s.areas + s.area_at[row] - 1
                s.near[at] = s.near_first[at] = _FAR
        row = s.u_outer[unit]
        if row >= 0 and s.area_at[row]:
            s.near[unit * s.areas + s.area_at[row] - 1] = 1


# -- candidates ----------------------------------------------------------------------------------------


def find_candidates(s: Sheet, t: Tables) -> None:
    """Candidates of all units; a unit within a pair keeps only those inside the outer place."""
    count = 0
    outers = _outers(s)
    for unit in range(s.units):
        s.u_at[unit] = count
        if count > _ROOM:
            continue  # bounded; such a page names tens of thousands of different places
        name, outer = s.u_name[unit], s.u_outer[unit]
        best_kind = _CITY
        if name >= 0:
            if outer < 0 and s.u_plain[unit]:
                outer = outers.get(name, -1)
                if _people(s, t, unit) >= _FAMOUS and not is_inside(t, t.cand_row[t.name_at[name]], outer):
                    outer = -1  # Paris stays in France, however often Paris, Texas is named
            count = _add_named(s, t, unit, outer, count)
            best_kind = t.place_facts[8 * t.cand_row[t.name_at[name]] + 7]
        settled = outer >= 0 and count > s.u_at[unit] and is_inside(t, s.c_row[count - 1], outer)
        settled = settled or s.u_among[unit] != 0  # a list says what such a name is
        if s.areas and not settled and (best_kind >= _ADMIN2 or not s.u_plain[unit]):
            count = _add_containers(s, t, unit, count)
    s.u_at[s.units] = count


def _outers(s: Sheet) -> dict[int, int]:
    """Names that mean by themselves what they mean in pairs: those in several pairs, or first met in one, of one outer.

    Who writes "Paris, France" and then "Paris" has said which.
    """
    alone: dict[int, int] = {}
    for unit in range(s.units):
        if s.u_outer[unit] < 0 and s.u_plain[unit]:
            alone[s.u_name[unit]] = s.u_first[unit]
    found: dict[int, int] = {}
    for unit in range(s.units):
        name, outer = s.u_name[unit], s.u_outer[unit]
        if name >= 0 and outer >= 0:
            says = s.u_count[unit] >= _SEVERAL or s.u_first[unit] < alone.get(name, -1)
            found[name] = outer if says and name not in found else -1
    return found


def _add_named(s: Sheet, t: Tables, unit: int, outer: int, count: int) -> int:
    """The places that bear the name of the unit, where some lie inside the outer place only those."""
    name = s.u_name[unit]
    low, high = t.name_at[name], t.name_at[name + 1]
    if high > low + _MAX_OF_NAME:
        high = low + _MAX_OF_NAME
    fits = False
    if outer >= 0:
        for at in range(low, high):
            if is_inside(t, t.cand_row[at], outer):
                fits = True
                break
    for at in range(low, high):
        row = t.cand_row[at]
        if not is_inside(t, row, outer) if fits else _is_dwarfed(t, low, at) or _is_eclipsed(t, low, at):
            continue
        if not fits and _is_of_other_kind(s, unit, t.place_facts[8 * row + 7]):
            continue
        s.c_prior[count], s.c_fame[count] = t.cand_prior[at], t.cand_fame[at]
        count = _add(s, t, unit, row, t.cand_flag[at], count)
    return count


def _is_of_other_kind(s: Sheet, unit: int, kind: int) -> bool:
    """Whether most mentions stand in lists of states and a place is none, or the same of towns."""
    among = 2 * s.u_among[unit]
    if among >= s.u_count[unit]:
        return bool(kind == _ADMIN1 or kind == _ADMIN2)
    return bool(-among >= s.u_count[unit] and (kind == _CITY or kind == _ADMIN2))


def _is_dwarfed(t: Tables, first: int, at: int) -> bool:
    """Whether a place that only some language calls so is far smaller than the first of the name, a well-known one.

    Frankfurt is not Frankfort, New York, because New York is named beside it; nor is Женева Geneva, Illinois.
    """
    if t.cand_flag[at] != _ALTERNATE:
        return False
    people, others = t.place_floats[8 * t.cand_row[first] + 3], t.place_floats[8 * t.cand_row[at] + 3]
    if t.cand_flag[first] == _ALTERNATE:  # then the language is another one, and its news are about large places
        return bool(people > _LARGE and others < people - _SMALL)
    return bool(people > _KNOWN and others < people - _DWARFED)


def _is_eclipsed(t: Tables, first: int, at: int) -> bool:
    """Whether a place lies in the country or state of its name that everybody means: Colombia, in Huila in Colombia.

    Or is a hamlet where the name is a region's: the Middle East is not the one in Baltimore, however near that is. Nor
    is the EU, an abbreviation and found in capitals only, the town of Eu.
    """
    whole, row = t.cand_row[first], t.cand_row[at]
    kind = t.place_facts[8 * whole + 7]
    if kind == _REGION:
        if t.cand_flag[first] == _ABBREVIATION and t.place_facts[8 * row + 7] == _CITY:
            return True
        return bool(t.place_facts[8 * row + 7] == _CITY and t.place_floats[8 * row + 3] < _HAMLET)
    if (kind != _COUNTRY and kind != _ADMIN1) or not is_inside(t, row, whole):
        return False
    if t.place_facts[8 * row + 7] != _CITY:
        return bool(kind == _COUNTRY)
    return bool(t.place_floats[8 * row + 3] < t.place_floats[8 * whole + 3] - _ECLIPSED)


def _add(s: Sheet, t: Tables, unit: int, row: int, flag: int, count: int) -> int:
    """One more candidate, with what the gazetteer has of it."""
    fact = 8 * row
    s.c_row[count], s.c_unit[count], s.c_flag[count] = row, unit, flag
    s.c_x[count], s.c_y[count], s.c_z[count] = (
        t.place_floats[fact],
        t.place_floats[fact + 1],
        t.place_floats[fact + 2],
    )
    s.c_people[count] = t.place_floats[fact + 3]
    s.c_admin1[count], s.c_admin2[count] = t.place_facts[fact + 4], t.place_facts[fact + 5]
    s.c_country[count], s.c_kind[count] = t.place_facts[fact + 6], t.place_facts[fact + 7]
    return count + 1


def _add_containers(s: Sheet, t: Tables, unit: int, count: int) -> int:
    """The nearest named division and country of each kind, and the implied ones, that hold no candidate of the unit."""
    for area in range(s.areas):
        s.area_open[area] = 1
    for at in range(s.u_at[unit], count):
        _close_area(s, s.c_admin1[at])
        _close_area(s, s.c_admin2[at])
        _close_area(s, s.c_country[at])
    people = _people(s, t, unit)
    if people > _SURE:
        return count
    for which in range(3):
        wanted = _ADMIN1 if which == 0 else _ADMIN2 if which == 1 else _COUNTRY
        best = _nearest_open(s, t, unit, wanted, people)
        if best >= 0:
            s.c_prior[count], s.c_fame[count] = 1.0, 0.0
            count = _add(s, t, unit, s.area_row[best], _WITHIN, count)
            s.area_open[best] = 0
    if people > _KNOWN:
        return count
    for row in (s.implied_admin1, s.implied_admin2):
        if row >= 0 and s.area_open[s.area_at[row] - 1]:
            s.c_prior[count], s.c_fame[count] = 1.0, 0.0
            count = _add(s, t, unit, row, _WITHIN, count)
    return count


def _close_area(s: Sheet, row: int) -> None:
    if row >= 0 and s.area_at[row]:
        s.area_open[s.area_at[row] - 1] = 0


def _people(s: Sheet, t: Tables, unit: int) -> float:
    """Decades of people of the likeliest place of that name: Los Angeles on a page about Dallas is not near Dallas.

    A large one that alone bears its name counts for ten times as many: Sylhet does not lie near Boston either. One of
    more than 300,000 whose namesakes are far smaller, and called so by a post office or in some language only, counts
    for fifteen times.
    """
    name = s.u_name[unit]
    if name < 0 or not s.u_plain[unit]:
        return 0.0
    first = t.name_at[name]
    people = t.place_floats[8 * t.cand_row[first] + 3]
    division = t.place_facts[8 * t.cand_row[first] + 4]
    at = first + 1
    while at < t.name_at[name + 1] and t.place_facts[8 * t.cand_row[at] + 4] == division >= 0:
        at += 1  # what is around it, or a part of it
    if at == t.name_at[name + 1]:
        return people + 1.0 if people > _LARGE else people
    elsewhere = t.cand_flag[at] == _ALTERNATE or t.cand_flag[at] == _POSTAL
    alone = elsewhere and t.cand_prior[at] < t.cand_prior[first] - _SMALLER
    return people + 1.2 if people > _KNOWN and alone else people


def _nearest_open(s: Sheet, t: Tables, unit: int, wanted: int, people: float) -> int:
    """The area of that kind named nearest to the unit, of those still open that may hold it; -1 for none."""
    best, nearest = -1, _BESIDE if people > _FAMOUS else _FAR
    base = unit * s.areas
    for area in range(s.areas):
        gap = s.near[base + area]
        if gap == 0:
            continue  # the Durham County in "Durham County Council" is but a part of that name
        if not s.area_open[area] or gap >= nearest or t.place_facts[8 * s.area_row[area] + 7] != wanted:
            continue
        if people <= 0.0 or _may_hold(s, t, unit, area, people > _TOWN and gap > _NEXT):
            best = area
            nearest = gap
    return best


def _may_hold(s: Sheet, t: Tables, unit: int, area: int, known: bool) -> bool:
    """Whether an area may be where a place lies that the gazetteer lacks, though it knows the name from elsewhere.

    Not one that only the name of a town stands for: "A train left Berlin for Madrid". Nor one in another country than a
    town that is well known (`known`) and not said often: "The Leeds man was arrested in Bavaria".
    """
    if s.area_town[area]:
        return False
    home = t.place_facts[8 * t.cand_row[t.name_at[s.u_name[unit]]] + 6]
    if not known or s.u_count[unit] >= _SEVERAL or home < 0:
        return True
    row = s.area_row[area]
    return row == home or t.place_facts[8 * row + 6] == home
