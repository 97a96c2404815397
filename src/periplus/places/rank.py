"""Which place a name means on this page: a linear ranker over all candidates of all names at once.

The evidence comes from the page's other units (see `units`), twice: first weighted by prior, then by what the first
round found; and from outside: host memory, the page's own coordinates and countries. Compiled where possible: see
`sheet`.
"""

import math
from typing import Final

from periplus.places.build import KINDS
from periplus.places.sheet import Ints, Reals, Sheet, Tables
from periplus.places.sources import ALIAS, NAME_FLAGS
from periplus.places.units import FAR, WITHIN, find_areas, find_candidates

__all__ = ["FEATURES", "Outside", "rank_units"]

FEATURES: Final = (
    "population", "best_share", "first",
    *(f"kind_{k}" for k in KINDS[1:]),
    *(f"name_{f}" for f in NAME_FLAGS[1:]),
    "within_admin1", "within_admin2", "within_country", "within_close",
    "named_admin1", "close_admin1", "first_admin1", "named_admin2", "close_admin2", "first_admin2",
    "named_country", "close_country", "first_country", "within_first",
    "near_40km", "near_250km", "same_country", "same_admin1", "holds",
    "host_same", "host_near", "host_country", "hint_near", "tld_country", "named_population", "within_implied",
)  # fmt: skip
COLUMN: Final = {name: i for i, name in enumerate(FEATURES)}
_MAX_ANCHOR_UNITS: Final = 64

# The names below have C types in rank.pxd.
_WITHIN, _ALIAS = WITHIN, ALIAS
_COUNTRY, _ADMIN1, _ADMIN2, _CITY = (KINDS.index(k) for k in ("country", "admin1", "admin2", "city"))
_FIRST, _KIND0, _FLAG0 = COLUMN["first"], COLUMN[f"kind_{KINDS[1]}"] - 1, COLUMN[f"name_{NAME_FLAGS[1]}"] - 1
_WITHIN0, _WITHIN_CLOSE, _WITHIN_FIRST = COLUMN["within_admin1"], COLUMN["within_close"], COLUMN["within_first"]
_NAMED0, _NEAR, _AROUND = COLUMN["named_admin1"], COLUMN["near_40km"], COLUMN["near_250km"]
_SAME_COUNTRY, _SAME_ADMIN1, _HOLDS = COLUMN["same_country"], COLUMN["same_admin1"], COLUMN["holds"]
_HOST_SAME, _HOST_NEAR, _HOST_COUNTRY = COLUMN["host_same"], COLUMN["host_near"], COLUMN["host_country"]
_HINT_NEAR, _TLD = COLUMN["hint_near"], COLUMN["tld_country"]
_NAMED_PEOPLE, _WITHIN_IMPLIED = COLUMN["named_population"], COLUMN["within_implied"]
_WIDTH = len(FEATURES)
_FAR = FAR
_E = math.e
_R2 = 2.0 * 6371.0 * 6371.0  # times (1 - cosine) is the square of the chord
_TOO_FAR = math.cos(2500.0 / 6371.0)
_SAME_MIDDLE = math.cos(60.0 / 6371.0)


class Outside:
    """What is known besides the text, as flat arrays: host memory, the page's own points and country."""

    def __init__(self, rows: Ints, mass: Reals, points: Reals, countries: Ints) -> None:
        self.rows, self.mass, self.points, self.countries = rows, mass, points, countries
        self.total = 0.0
        for i in range(len(rows)):
            self.total += mass[i]


# -- features ------------------------------------------------------------------------------------------


def _static_features(s: Sheet, t: Tables, unit: int) -> None:
    """What is known of the candidates of a unit before the company of others is weighed."""
    low, high = s.u_at[unit], s.u_at[unit + 1]
    top = -1.0e9
    for c in range(low, high):
        if s.c_prior[c] > top:
            top = s.c_prior[c]
    for c in range(low, high):
        base = c * _WIDTH
        for i in range(_WIDTH):
            s.features[base + i] = 0.0
        fact = 8 * s.c_row[c]
        flag, kind = s.c_flag[c], t.place_facts[fact + 7]
        s.c_named[c] = 0
        if flag == _WITHIN:
            _within_features(s, unit, c, base, kind)
            continue
        s.features[base] = t.place_floats[fact + 3] / 3.0
        s.features[base + 1] = (s.c_prior[c] - top) / 3.0
        s.features[base + _FIRST] = c == low
        if kind > 0:
            s.features[base + _KIND0 + kind] = 1.0
        if flag > 0:
            s.features[base + _FLAG0 + flag] = 1.0
        for which in range(3):
            _named_features(s, t, unit, c, base, which)


def _within_features(s: Sheet, unit: int, c: int, base: int, kind: int) -> None:
    s.features[base + _WITHIN0] = kind == _ADMIN1
    s.features[base + _WITHIN0 + 1] = kind == _ADMIN2
    s.features[base + _WITHIN0 + 2] = kind == _COUNTRY
    at = unit * s.areas + s.area_at[s.c_row[c]] - 1
    s.features[base + _WITHIN_CLOSE] = 1.0 / (1.0 + s.near[at] / 6.0)
    s.features[base + _WITHIN_FIRST] = 1.0 / (1.0 + s.near_first[at] / 6.0)
    row = s.c_row[c]
    s.features[base + _WITHIN_IMPLIED] = row == s.implied_admin1 or row == s.implied_admin2


def _named_features(s: Sheet, t: Tables, unit: int, c: int, base: int, which: int) -> None:
    """Whether, and how near, the candidate's own division or country is named on the page."""
    row = t.place_facts[8 * s.c_row[c] + 4 + which]
    if row < 0 or row == s.c_row[c] or not s.area_at[row]:
        return
    at = unit * s.areas + s.area_at[row] - 1
    far = s.near[at]
    if far >= _FAR:
        return
    column = base + _NAMED0 + 3 * which
    close = 1.0 / (1.0 + far / 6.0)
    s.features[column] = 1.0
    s.features[column + 1] = close
    s.features[column + 2] = 1.0 / (1.0 + s.near_first[at] / 6.0)
    if which == 0:
        s.features[base + _NAMED_PEOPLE] = s.features[base]  # where the state is named, small towns are likelier too
    if which < 2:
        s.c_named[c] |= 3 if close > 0.3 else 1


def closeness(dot: float, km: float) -> float:
    """1 at the same point, 1/4 at `km`, falling with the fourth power: from the dot product of unit vectors."""
    square = (1.0 - dot) * _R2 / (km * km)
    if square < 0.0:
        square = 0.0
    square += 1.0
    return 1.0 / (square * square)


def _outside_features(s: Sheet, t: Tables, o: Outside, c: int) -> None:
    """Host memory, the page's own coordinates, the countries of its top-level domain and languages."""
    base = c * _WIDTH
    fact = 8 * s.c_row[c]
    px, py, pz = t.place_floats[fact], t.place_floats[fact + 1], t.place_floats[fact + 2]
    country = t.place_facts[fact + 6]
    for i in range(len(o.countries)):
        if o.countries[i] == country:
            s.features[base + _TLD] = 1.0
    best = 0.0
    for i in range(len(o.points) // 3):
        value = closeness(px * o.points[3 * i] + py * o.points[3 * i + 1] + pz * o.points[3 * i + 2], 100.0)
        if value > best:
            best = value
    s.features[base + _HINT_NEAR] = best
    s.c_host[c] = 0.0
    if o.total <= 0.0:
        return
    same = near = shared = 0.0
    for i in range(len(o.rows)):
        row = o.rows[i]
        host = 8 * row
        mass = o.mass[i]
        if row == s.c_row[c]:
            same += mass
        if t.place_facts[host + 6] == country:
            shared += mass
        if t.place_facts[host + 7] > _COUNTRY:
            dot = px * t.place_floats[host] + py * t.place_floats[host + 1] + pz * t.place_floats[host + 2]
            near += mass * closeness(dot, 60.0)
    s.features[base + _HOST_SAME] = math.log1p(same) / 2.0
    s.c_host[c] = (near / o.total) ** 0.5
    s.features[base + _HOST_NEAR] = s.c_host[c]
    s.features[base + _HOST_COUNTRY] = shared / o.total


# -- ranking -------------------------------------------------------------------------------------------


def rank_units(s: Sheet, t: Tables, o: Outside, w: Reals) -> int:
    """Score every candidate of every unit and choose; the number of candidates."""
    find_areas(s, t)
    find_candidates(s, t)
    count = s.u_at[s.units]
    for unit in range(s.units):
        _static_features(s, t, unit)
    outside = o.total > 0.0 or len(o.points) > 0 or len(o.countries) > 0
    for c in range(count):
        s.c_near[c] = s.c_around[c] = s.c_same[c] = s.c_host[c] = 0.0
        if outside:
            _outside_features(s, t, o, c)
        score = 0.0
        for i in range(_WIDTH):
            if s.features[c * _WIDTH + i] != 0.0:
                score += s.features[c * _WIDTH + i] * w[i]
        s.c_score[c] = score
        s.c_probability[c] = score + s.c_prior[c]
    _softmax(s)
    _choose_anchors(s, t)
    if s.anchors > 1:
        for _ in range(2):
            _weigh_company(s, t, w)
            _softmax(s)
    for area in range(s.areas):
        s.area_at[s.area_row[area]] = 0
    _choose(s, t)
    return count


def _softmax(s: Sheet) -> None:
    """Turn the scores in `c_probability` into probabilities within each unit."""
    for unit in range(s.units):
        low, high = s.u_at[unit], s.u_at[unit + 1]
        top = -1.0e300
        for c in range(low, high):
            if s.c_probability[c] > top:
                top = s.c_probability[c]
        total = 0.0
        for c in range(low, high):
            weight = _E ** (s.c_probability[c] - top)
            s.c_probability[c] = weight
            total += weight
        for c in range(low, high):
            s.c_probability[c] /= total


def _choose_anchors(s: Sheet, t: Tables) -> None:
    """The likeliest candidates of the page's surest and most frequent units."""
    s.anchors = 0
    units = [(-s.u_count[unit] * s.u_weight[unit], unit) for unit in range(s.units)]
    if s.units > _MAX_ANCHOR_UNITS:
        units = sorted(units)[:_MAX_ANCHOR_UNITS]
    for _, unit in units:
        if s.u_weight[unit] <= 0.2:
            continue
        below = 2.0
        for _turn in range(3):
            best = -1
            for c in range(s.u_at[unit], s.u_at[unit + 1]):
                value = s.c_probability[c]
                if value < below and (best < 0 or value > s.c_probability[best]):
                    best = c
            if best < 0 or s.c_probability[best] <= 0.05:
                break
            below = s.c_probability[best]
            if s.c_flag[best] != _WITHIN:
                _keep_anchor(s, t, unit, best)


def _keep_anchor(s: Sheet, t: Tables, unit: int, c: int) -> None:
    a = s.anchors
    fact = 8 * s.c_row[c]
    s.a_cand[a] = c
    s.a_name[a] = s.u_name[unit] if s.u_name[unit] >= 0 else -1 - unit
    s.a_country[a], s.a_admin1[a] = t.place_facts[fact + 6], t.place_facts[fact + 4]
    s.a_local[a] = t.place_facts[fact + 7] > _COUNTRY
    for i in range(3):
        s.a_point[3 * a + i] = t.place_floats[fact + i]
    s.anchors = a + 1


def _weigh_company(s: Sheet, t: Tables, w: Reals) -> None:
    """Nearness to, and shared divisions with, the likeliest candidates of the page's other units."""
    for a in range(s.anchors):
        s.a_mass[a] = s.c_probability[s.a_cand[a]] * s.u_weight[s.c_unit[s.a_cand[a]]]
    for unit in range(s.units):
        called = s.u_name[unit] if s.u_name[unit] >= 0 else -1 - unit
        rest = 1.0e-6
        for a in range(s.anchors):
            if s.a_name[a] != called:
                rest += s.a_mass[a]
        for c in range(s.u_at[unit], s.u_at[unit + 1]):
            _company_of(s, t, c, called, rest, w)


def _company_of(s: Sheet, t: Tables, c: int, called: int, rest: float, w: Reals) -> None:
    fact = 8 * s.c_row[c]
    px, py, pz = t.place_floats[fact], t.place_floats[fact + 1], t.place_floats[fact + 2]
    country, admin1 = t.place_facts[fact + 6], t.place_facts[fact + 4]
    near = around = in_country = in_admin1 = 0.0
    for a in range(s.anchors):
        if s.a_name[a] == called:
            continue
        mass = s.a_mass[a]
        if s.a_country[a] == country and country >= 0:
            in_country += mass
        if s.a_admin1[a] == admin1 and admin1 >= 0:
            in_admin1 += mass
        if s.a_local[a]:
            dot = px * s.a_point[3 * a] + py * s.a_point[3 * a + 1] + pz * s.a_point[3 * a + 2]
            if dot > _TOO_FAR:
                near += mass * closeness(dot, 40.0)
                around += mass * closeness(dot, 250.0)
    base = c * _WIDTH
    in_country /= rest
    in_admin1 /= rest
    s.c_near[c] = math.log1p(near) if near > 1.0e-4 else 0.0
    s.c_around[c] = math.log1p(around) if around > 1.0e-4 else 0.0
    s.c_same[c] = in_admin1
    holds = in_admin1 if admin1 == s.c_row[c] else in_country if country == s.c_row[c] else 0.0
    s.features[base + _NEAR], s.features[base + _AROUND] = s.c_near[c], s.c_around[c]
    s.features[base + _SAME_COUNTRY], s.features[base + _SAME_ADMIN1], s.features[base + _HOLDS] = (
        in_country,
        in_admin1,
        holds,
    )
    score = s.c_score[c] + w[_NEAR] * s.c_near[c] + w[_AROUND] * s.c_around[c]
    s.c_probability[c] = score + w[_SAME_COUNTRY] * in_country + w[_SAME_ADMIN1] * in_admin1 + w[_HOLDS] * holds


def _choose(s: Sheet, t: Tables) -> None:
    """The likeliest candidate of each unit, -1 where it has none."""
    for unit in range(s.units):
        best = -1
        for c in range(s.u_at[unit], s.u_at[unit + 1]):
            if best < 0 or s.c_probability[c] > s.c_probability[best]:
                best = c
        if best >= 0 and s.c_flag[best] != _WITHIN:
            kind = t.place_facts[8 * s.c_row[best] + 7]
            if kind == _ADMIN1 or kind == _ADMIN2:
                best = _city_in_the_middle(s, t, unit, best)
        s.u_best[unit] = best


def _city_in_the_middle(s: Sheet, t: Tables, unit: int, top: int) -> int:
    """Where a division and the city in its middle share a name (Lisbon), people mean the city: it gets both shares."""
    row = s.c_row[top]
    centre = 8 * row
    city = -1
    for c in range(s.u_at[unit], s.u_at[unit + 1]):
        fact = 8 * s.c_row[c]
        if t.place_facts[fact + 7] != _CITY or s.c_flag[c] > _ALIAS:
            continue
        if t.place_facts[fact + 4] != row and t.place_facts[fact + 5] != row:
            continue
        dot = 0.0
        for i in range(3):
            dot += t.place_floats[fact + i] * t.place_floats[centre + i]
        if dot > _SAME_MIDDLE and (city < 0 or s.c_probability[c] > s.c_probability[city]):
            city = c
    if city < 0:
        return top
    s.c_probability[city] += s.c_probability[top]
    s.c_probability[top] = 0.0
    return city
