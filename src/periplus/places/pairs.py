"""Names with what tells where they lie written behind them ("City, State", "City POSTCODE"), and names in lists.

Compiled where possible: see `sheet`.
"""

import math
from typing import Final

from periplus.places.build import KINDS
from periplus.places.folding import DIGIT, GAP_COMMA, GAP_LINE, GAP_SPACE, UPPER
from periplus.places.lexicon import CLASSES
from periplus.places.sheet import CODES, Sheet, Tables
from periplus.places.sources import DEMONYM

__all__ = [
    "AMONG_STATES",
    "AMONG_TOWNS",
    "area_from",
    "find_lists",
    "find_pairs",
    "is_inside",
    "is_lettered",
    "some_inside",
]

AMONG_TOWNS: Final = 2
AMONG_STATES: Final = 3
"""What the names around one that is a state's and a large town's as well are, in a list; 1 for its other members."""

# The names below have C types in pairs.pxd.
_STRIDE, _COMMA, _LINE, _SPACE, _LETTER, _NUMBER = CODES, GAP_COMMA, GAP_LINE, GAP_SPACE, UPPER, DIGIT
_JOINING = 1 << CLASSES.index("joining")
_PLACING = (1 << CLASSES.index("locative")) | (1 << CLASSES.index("linking"))
_CITY, _LARGE, _LIKELIEST = KINDS.index("city"), math.log10(5e5), 5
_ADMIN1, _DEMONYM, _SAME_MIDDLE = KINDS.index("admin1"), DEMONYM, math.cos(60.0 / 6371.0)
_TOWNS, _STATES = AMONG_TOWNS, AMONG_STATES
_TOWN, _STATE, _EITHER, _FIELD = 1, 1 << 20, 1 << 40, (1 << 20) - 1  # members of a list, counted in one number
_CAP, _STATE_LETTERS, _BRACKET, _A = 5, 2, ord("("), ord("A")  # an Italian postcode has five digits
_CANADIAN_FIRST, _CANADIAN_SECOND, _BRITISH_SECOND = 0b101, 0b010, 0b011  # from the left, 1 for a letter


def find_pairs(s: Sheet, t: Tables, group: int) -> None:
    """For "City, State" and "City POSTCODE" the row of the outer place, which holds some candidate of the name; or -1.

    What is the outer part of a pair is marked in that group of its categories.
    """
    for hit in range(s.hits):
        s.h_pair[hit] = -1
        s.codes[hit * _STRIDE + group] = 0
        s.starts_here[s.h_first[hit]] = hit  # the longest, built ones included
        s.ends_here[s.h_last[hit]] = hit
    for hit in range(s.hits):
        last = s.h_last[hit]
        if s.h_name[hit] < 0 or last + 1 >= s.tokens:
            continue
        row = _postal_country(s, t, last)
        if row >= 0 and some_inside(t, s.h_name[hit], row):
            s.h_pair[hit] = row
        elif s.t_caps[last + 1] and s.t_end[last + 1] - s.t_start[last + 1] == _STATE_LETTERS:
            s.h_pair[hit] = _lettered_state(s, t, hit)
        if s.t_gap[last] != _COMMA:
            continue
        other = area_from(s, t, last + 1)
        if other < 0:
            continue
        for column in range(2):
            row = t.name_facts[4 * s.h_name[other] + column]
            if row >= 0 and some_inside(t, s.h_name[hit], row) and not _are_listed(s, t, hit, other, row):
                s.h_pair[hit] = row
                s.codes[other * _STRIDE + group] = 1
                break


def area_from(s: Sheet, t: Tables, token: int) -> int:
    """The longest plain hit from this token on that may name a division or country, -1 if there is none."""
    hit = s.starts_here[token]
    while hit >= 0 and s.h_first[hit] == token:
        if not s.h_built[hit] and t.name_facts[4 * s.h_name[hit]] >= 0:
            return hit
        hit -= 1
    return -1


def some_inside(t: Tables, name: int, row: int) -> bool:
    """Whether a place of that name lies in the division or country."""
    low, high = t.name_at[name], t.name_at[name + 1]
    for at in range(low, high):  # noqa: SIM110  a generator is slow where this is compiled
        if is_inside(t, t.cand_row[at], row):
            return True
    return False


def is_inside(t: Tables, place: int, row: int) -> bool:
    """Whether a place lies in a division or country."""
    fact = 8 * place
    return place != row and (
        t.place_facts[fact + 4] == row or t.place_facts[fact + 5] == row or t.place_facts[fact + 6] == row
    )


def _are_listed(s: Sheet, t: Tables, hit: int, other: int, row: int) -> bool:
    """Whether a name and the one behind it are two of a list, "London, Paris, New York", though a Paris lies there.

    They are if the second is a large town's as well, and neither the first nor the name before it is mainly of a place
    in the division: "Troy, Albany, New York" is a pair.
    """
    if _are_states(s, t, hit, other):
        return True
    before = s.h_first[hit] - 1
    if before < 0 or s.t_gap[before] != _COMMA or s.ends_here[before] < 0 or s.h_name[s.ends_here[before]] < 0:
        return False
    first, second = _likeliest(t, s.h_name[s.ends_here[before]]), _likeliest(t, s.h_name[hit])
    return _is_large_town(t, s.h_name[other]) and not is_inside(t, first, row) and not is_inside(t, second, row)


def _are_states(s: Sheet, t: Tables, hit: int, other: int) -> bool:
    """Whether three states follow each other, though some place in the second is called like the first.

    "Washington, Oregon and Idaho", "Kansas, Oklahoma and Texas".
    """
    if _member(t, s.h_name[hit]) < _STATE or _member(t, s.h_name[other]) != _STATE:
        return False
    token = _next_member(s, t, s.h_last[other])
    third = s.starts_here[token] if 0 <= token < s.tokens else -1
    return third >= 0 and _member(t, s.h_name[third]) == _STATE


def _likeliest(t: Tables, name: int) -> int:
    return t.cand_row[t.name_at[name]]


def _is_large_town(t: Tables, name: int) -> bool:
    """Whether one of the likeliest places of a name is a town of half a million people or more."""
    low, high = t.name_at[name], t.name_at[name + 1]
    for at in range(low, min(high, low + _LIKELIEST)):
        fact = 8 * t.cand_row[at]
        if t.place_facts[fact + 7] == _CITY and t.place_floats[fact + 3] >= _LARGE:
            return True
    return False


def _postal_country(s: Sheet, t: Tables, last: int) -> int:
    """The row of the country whose postcode follows a token, "CB2 1TN" or "M5H 2N2"; -1 if none does."""
    first, second = last + 1, last + 2
    if second >= s.tokens or not s.t_class[first] & _LETTER or not s.t_class[second] & _NUMBER:
        return -1
    size = s.t_end[first] - s.t_start[first]
    if size < 2 or size > 4 or s.t_end[second] - s.t_start[second] != 3 or s.t_gap[first] != _SPACE:
        return -1
    if s.t_gap[last] != _SPACE and s.t_gap[last] != _COMMA:
        return -1
    one, two = _letters(s, t, first), _letters(s, t, second)
    if size == 3 and one == _CANADIAN_FIRST and two == _CANADIAN_SECOND:
        return t.canada
    return t.britain if two == _BRITISH_SECOND and one and one != (1 << size) - 1 else -1


def _lettered_state(s: Sheet, t: Tables, hit: int) -> int:
    """The row of the state whose two letters follow a name: "Belém (PA)", "Recife/PE"; -1 if they are none's.

    For the letters of a province, "Bologna (BO)", "20121 Milano MI", that of Italy.
    """
    first, code, name = s.h_first[hit], s.h_last[hit] + 1, s.h_name[hit]
    gap, at = s.t_gap[code - 1], s.t_start[code]
    known = area_from(s, t, code)
    if gap == _COMMA or gap == _LINE or (known >= 0 and some_inside(t, name, t.name_facts[4 * s.h_name[known]])):
        return -1  # "Florence (AL)"
    row = _state_of(s, t, at) if gap != _SPACE else -1
    if row >= 0 and some_inside(t, name, row):
        return row
    coded = first > 0 and s.t_class[first - 1] & _NUMBER and s.t_end[first - 1] - s.t_start[first - 1] == _CAP
    written = s.text[at - 1] == _BRACKET or (coded and gap == _SPACE)
    return t.italy if written and t.italy >= 0 and is_inside(t, _likeliest(t, name), t.italy) else -1


def _state_of(s: Sheet, t: Tables, at: int) -> int:
    """The row of the state of the two letters there, -1 if there is none or they are not Latin."""
    one, two = s.text[at] - _A, s.text[at + 1] - _A
    return t.state_letters[26 * one + two] if 0 <= one < 26 and 0 <= two < 26 else -1


def is_lettered(s: Sheet, hit: int) -> bool:
    """Whether two letters are those of the state or province of the name before them: "Milano (MI)", not Michigan."""
    first = s.h_first[hit]
    if first == 0 or s.ends_here[first - 1] < 0 or s.t_end[first] - s.t_start[first] != _STATE_LETTERS:
        return False
    gap = s.t_gap[first - 1]
    return gap != _COMMA and gap != _LINE and s.h_pair[s.ends_here[first - 1]] >= 0


def _letters(s: Sheet, t: Tables, token: int) -> int:
    """A bit for each character of a short token, the first the highest: whether it is a capital; 0 for other things."""
    bits = 0
    for at in range(s.t_start[token], s.t_end[token]):
        here = t.char_class[s.text[at]]
        if not here & (_LETTER | _NUMBER):
            return 0
        bits = 2 * bits + (1 if here & _LETTER else 0)
    return bits


def find_lists(s: Sheet, t: Tables, group: int) -> None:
    """Mark the names that stand in lists: "New York and Frankfurt", "in Berlin and in Lisbon".

    The outer part of a pair, which is marked in `group`, stands in none.
    """
    for hit in range(s.hits):
        s.h_listed[hit] = s.l_members[hit] = 0
        s.h_list[hit] = hit
    for hit in range(s.hits):
        token = _next_member(s, t, s.h_last[hit]) if s.h_pair[hit] < 0 else -1
        other = s.starts_here[token] if token >= 0 else -1
        if other < 0:
            continue
        s.h_listed[hit] = 0 if s.codes[hit * _STRIDE + group] else 1
        while other >= 0 and s.h_first[other] == token:
            s.h_listed[other] = 1
            if s.h_list[other] == other:
                s.h_list[other] = s.h_list[hit]
            other -= 1
    _compare_members(s, t, group)


def _compare_members(s: Sheet, t: Tables, group: int) -> None:
    """Mark what the names that are a state's and a large town's as well stand among in their lists.

    Lists are of one kind: in "Chicago, Boston and New York" it is the city, in "Oregon and Washington" the state. Of
    "New York and Washington" alone both are cities.
    """
    for hit in range(s.hits):
        if s.h_listed[hit] or s.codes[hit * _STRIDE + group]:
            settled = s.h_pair[hit] >= 0 or s.codes[hit * _STRIDE + group]  # "Albany, New York, and Boston" are towns
            s.l_members[s.h_list[hit]] += _TOWN if settled else _member(t, s.h_name[hit])
    for hit in range(s.hits):
        if s.h_listed[hit] and s.l_members[s.h_list[hit]] >= _EITHER and _member(t, s.h_name[hit]) == _EITHER:
            members = s.l_members[s.h_list[hit]]
            towns, states = members & _FIELD, (members >> 20) & _FIELD
            if states == 0 and (towns > 0 or members >= 2 * _EITHER):
                s.h_listed[hit] = _TOWNS
            elif towns == 0 and states > 0:
                s.h_listed[hit] = _STATES


def _member(t: Tables, name: int) -> int:
    """Whether a name in a list is that of a town, a state, or of either: a state whose large town is not its middle."""
    if name < 0 or t.cand_flag[t.name_at[name]] == _DEMONYM:
        return 0
    kind = t.place_facts[8 * _likeliest(t, name) + 7]
    state = _state_called(t, name)
    town = _town_called(t, name, state) if state >= 0 else -1
    if town >= 0 and _are_close(t, state, town):
        return _TOWN
    if town >= 0 and t.place_floats[town + 3] >= _LARGE:
        return _EITHER
    return _TOWN if kind == _CITY else _STATE if kind == _ADMIN1 else 0


def _state_called(t: Tables, name: int) -> int:
    """Where the facts of the likeliest state of a name are, -1 where it is none of the likeliest places."""
    low, high = t.name_at[name], t.name_at[name + 1]
    for at in range(low, min(high, low + _LIKELIEST)):
        if t.place_facts[8 * t.cand_row[at] + 7] == _ADMIN1:
            return 8 * t.cand_row[at]
    return -1


def _town_called(t: Tables, name: int, state: int) -> int:
    """Where the facts of the likeliest town of a name are, of those in the country of the state of that name; or -1."""
    low, high = t.name_at[name], t.name_at[name + 1]
    for at in range(low, min(high, low + _LIKELIEST)):
        fact = 8 * t.cand_row[at]
        if t.place_facts[fact + 7] == _CITY and t.place_facts[fact + 6] == t.place_facts[state + 6]:
            return fact
    return -1


def _are_close(t: Tables, one: int, two: int) -> bool:
    dot = 0.0
    for axis in range(3):
        x, y = t.place_floats[one + axis], t.place_floats[two + axis]
        dot += x * y
    return dot > _SAME_MIDDLE


def _next_member(s: Sheet, t: Tables, last: int) -> int:
    """The token behind the comma, the "and" ("and in") or both that follow a token; -1 where neither does."""
    token = last + 1
    if token >= s.tokens or (s.t_gap[last] != _SPACE and s.t_gap[last] != _COMMA):
        return -1
    if t.word_bits[s.t_slot[token]] & _JOINING and not s.t_class[token] & _LETTER:
        if token + 1 >= s.tokens or s.t_gap[token] != _SPACE:
            return -1
        return token + 2 if _places_next(s, t, token + 1) else token + 1
    return token if s.t_gap[last] == _COMMA else -1


def _places_next(s: Sheet, t: Tables, token: int) -> bool:
    """Whether a token is a small word that says where, before a name: the "in" of "and in Lisbon"."""
    if s.starts_here[token] >= 0 or token + 1 >= s.tokens or s.starts_here[token + 1] < 0:
        return False  # only words beside names were looked up
    return s.t_gap[token] == _SPACE and not s.t_class[token] & _LETTER and t.word_bits[s.t_slot[token]] & _PLACING != 0
