"""Which place a name means on this page: a linear ranker over all candidates of all names at once.

The evidence comes from the page's other units (see `units`), twice: first weighted by prior, then by what the first
round found; and from outside: host memory, the page's own coordinates and countries. Compiled where possible: see
`sheet`.
"""

import math
from math import *  # noqa: F403  exp and log1p: C's own where this is compiled (rank.pxd), else these
from typing import Final

from periplus.places.build import KINDS
from periplus.places.sheet import MAX_ANCHORS, Ints, Reals, Sheet, Tables
from periplus.places.sources import ALTERNATE, NAME_FLAGS
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
    "fame", "language_country", "holds_country",
)  # fmt: skip
COLUMN: Final = {name: i for i, name in enumerate(FEATURES)}
_MAX_ANCHOR_UNITS: Final = MAX_ANCHORS // 3

# The names below have C types in rank.pxd.
_WITHIN, _ALTERNATE = WITHIN, ALTERNATE
_COUNTRY, _ADMIN1, _ADMIN2, _CITY = (KINDS.index(k) for k in ("country", "admin1", "admin2", "city"))
_FIRST, _KIND0, _FLAG0 = COLUMN["first"], COLUMN[f"kind_{KINDS[1]}"] - 1, COLUMN[f"name_{NAME_FLAGS[1]}"] - 1
_WITHIN0, _WITHIN_CLOSE, _WITHIN_FIRST = COLUMN["within_admin1"], COLUMN["within_close"], COLUMN["within_first"]
_NAMED0, _NEAR, _AROUND = COLUMN["named_admin1"], COLUMN["near_40km"], COLUMN["near_250km"]
_SAME_COUNTRY, _SAME_ADMIN1, _HOLDS = COLUMN["same_country"], COLUMN["same_admin1"], COLUMN["holds"]
_HOST_SAME, _HOST_NEAR, _HOST_COUNTRY = COLUMN["host_same"], COLUMN["host_near"], COLUMN["host_country"]
_HINT_NEAR, _TLD = COLUMN["hint_near"], COLUMN["tld_country"]
_NAMED_PEOPLE, _WITHIN_IMPLIED, _FAME = COLUMN["named_population"], COLUMN["within_implied"], COLUMN["fame"]
_LANGUAGE, _HOLDS_COUNTRY = COLUMN["language_country"], COLUMN["holds_country"]
_WIDTH = len(FEATURES)
_FAR = FAR
_LARGE, _TINY, _ABROAD = math.log10(5e5), math.log10(50), 0.6
_R2 = 2.0 * 6371.0 * 6371.0  # times (1 - cosine) is the square of the chord
_NEAR_SCALE, _AROUND_SCALE = _R2 / (40.0 * 40.0), _R2 / (250.0 * 250.0)
_TOO_FAR = math.cos(2500.0 / 6371.0)
_SAME_MIDDLE = math.cos(60.0 / 6371.0)


class Outside:
    """What is known besides names, as flat arrays: host memory, the page's own points and countries, its language's.

    Of the countries that its language is spoken in the first `homes` are where it is at home.
    """

    def __init__(self, rows: Ints, mass: Reals, points: Reals, countries: Ints, spoken: Ints, homes: int) -> None:
        self.rows, self.mass, self.points, self.countries = rows, mass, points, countries
        self.spoken, self.homes = spoken, homes
        self.total = 0.0
        for i in range(len(rows)):
            self.total += mass[i]


# -- features ------------------------------------------------------------------------------------------


def _static_features(s: Sheet, unit: int) -> None:
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
        flag, kind = s.c_flag[c], s.c_kind[c]
        s.c_named[c] = 0
        if flag == _WITHIN:
            _within_features(s, unit, c, base, kind)
            continue
        s.features[base] = s.c_people[c] / 3.0
        s.features[base + 1] = (s.c_prior[c] - top) / 3.0
        s.features[base + _FAME] = s.c_fame[c]
        s.features[base + _FIRST] = c == low
        if kind > 0:
            s.features[base + _KIND0 + kind] = 1.0
        if flag > 0:
            s.features[base + _FLAG0 + flag] = 1.0
        shaded = _is_overshadowed(s, low, c)
        _named_features(s, unit, c, 0, s.c_admin1[c], shaded)
        _named_features(s, unit, c, 1, s.c_admin2[c], shaded)
        _named_features(s, unit, c, 2, s.c_country[c], shaded)


def _is_overshadowed(s: Sheet, first: int, c: int) -> bool:
    """Whether a town is tiny beside the large one that bears its name."""
    if s.c_kind[first] != _CITY or s.c_people[first] < _LARGE:
        return False
    return bool(s.c_kind[c] == _CITY and s.c_people[c] < s.c_people[first] - _TINY)


def _within_features(s: Sheet, unit: int, c: int, base: int, kind: int) -> None:
    s.features[base + _WITHIN0] = kind == _ADMIN1
    s.features[base + _WITHIN0 + 1] = kind == _ADMIN2
    s.features[base + _WITHIN0 + 2] = kind == _COUNTRY
    at = unit * s.areas + s.area_at[s.c_row[c]] - 1
    s.features[base + _WITHIN_CLOSE] = 1.0 / (1.0 + s.near[at] / 6.0)
    s.features[base + _WITHIN_FIRST] = 1.0 / (1.0 + s.near_first[at] / 6.0)
    row = s.c_row[c]
    s.features[base + _WITHIN_IMPLIED] = row == s.implied_admin1 or row == s.implied_admin2


def _named_features(s: Sheet, unit: int, c: int, which: int, row: int, shaded: bool) -> None:
    """Whether, and how near, the candidate's own division or country is named on the page.

    A tiny town (`shaded`) needs more than its state in a list, or than a name that is a town's as well: Boston is not
    in that state in "Albany, New York, and Boston", nor in "Boston at New York".
    """
    if row < 0 or row == s.c_row[c] or not s.area_at[row]:
        return
    at = unit * s.areas + s.area_at[row] - 1
    if shaded and s.u_outer[unit] != row and (s.area_town[s.area_at[row] - 1] or s.h_listed[s.u_first[unit]]):
        return
    far = s.near[at]
    if far >= _FAR:
        return
    base = c * _WIDTH
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


def _country_features(s: Sheet, o: Outside, base: int, country: int) -> None:
    """Whether the page belongs to a country, and whether its language is spoken there."""
    for i in range(len(o.countries)):
        if o.countries[i] == country:
            s.features[base + _TLD] = 1.0
    for i in range(len(o.spoken)):
        if o.spoken[i] == country:
            s.features[base + _LANGUAGE] = 1.0 if i < o.homes else _ABROAD


def _outside_features(s: Sheet, t: Tables, o: Outside, c: int) -> None:
    """Host memory, the page's own coordinates, the countries of its domain, of its markup and of its language."""
    base = c * _WIDTH
    px, py, pz, country = s.c_x[c], s.c_y[c], s.c_z[c], s.c_country[c]
    _country_features(s, o, base, country)
    best = 0.0
    for i in range(len(o.points) // 3):
        value = closeness(px * o.points[3 * i] + py * o.points[3 * i + 1] + pz * o.points[3 * i + 2], 100.0)
        if value > best:
            best = value
    s.features[base + _HINT_NEAR] = best
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
    s.features[base + _HOST_SAME] = log1p(same) / 2.0  # noqa: F405
    s.c_host[c] = (near / o.total) ** 0.5
    s.features[base + _HOST_NEAR] = s.c_host[c]
    s.features[base + _HOST_COUNTRY] = shared / o.total


def _static_score(s: Sheet, c: int, w: Reals) -> float:
    """The weighted features, column by column; of kinds and flags there is at most one, of company none yet."""
    base = c * _WIDTH
    score = _part_score(s, base, w, 0, _KIND0 + 1, 0.0)
    if s.c_flag[c] != _WITHIN:
        if s.c_kind[c] > 0:
            score += w[_KIND0 + s.c_kind[c]]
        if s.c_flag[c] > 0:
            score += w[_FLAG0 + s.c_flag[c]]
    score = _part_score(s, base, w, _WITHIN0, _NEAR, score)
    return _part_score(s, base, w, _HOST_SAME, _HOLDS_COUNTRY, score)


def _part_score(s: Sheet, base: int, w: Reals, low: int, high: int, score: float) -> float:
    for i in range(low, high):
        if s.features[base + i] != 0.0:
            score += s.features[base + i] * w[i]
    return score


# -- ranking -------------------------------------------------------------------------------------------


def rank_units(s: Sheet, t: Tables, o: Outside, w: Reals) -> int:
    """Score every candidate of every unit and choose; the number of candidates."""
    find_areas(s, t)
    find_candidates(s, t)
    count = s.u_at[s.units]
    for unit in range(s.units):
        _static_features(s, unit)
    outside = o.total > 0.0 or len(o.points) > 0 or len(o.countries) > 0 or len(o.spoken) > 0
    for c in range(count):
        s.c_near[c] = s.c_around[c] = s.c_same[c] = s.c_host[c] = 0.0
        if outside:
            _outside_features(s, t, o, c)
        s.c_score[c] = _static_score(s, c, w)
        s.c_probability[c] = s.c_score[c] + s.c_prior[c]
    _softmax(s)
    _choose_anchors(s)
    if s.anchors > 1:
        _find_groups(s, count)
        for _ in range(2):
            _weigh_company(s, w)
            _softmax(s)
    for area in range(s.areas):
        s.area_at[s.area_row[area]] = 0
    _choose(s)
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
            weight = exp(s.c_probability[c] - top)  # noqa: F405
            s.c_probability[c] = weight
            total += weight
        for c in range(low, high):
            s.c_probability[c] /= total


def _choose_anchors(s: Sheet) -> None:
    """The likeliest candidates of the page's surest and most frequent units."""
    s.anchors = 0
    if s.units <= _MAX_ANCHOR_UNITS:
        for unit in range(s.units):
            _keep_anchors(s, unit)
    else:
        order = sorted([(-s.u_count[unit] * s.u_weight[unit], unit) for unit in range(s.units)])
        for _, unit in order[:_MAX_ANCHOR_UNITS]:
            _keep_anchors(s, unit)


def _keep_anchors(s: Sheet, unit: int) -> None:
    """Up to three candidates of a unit."""
    if s.u_weight[unit] <= 0.2:
        return
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
            s.a_cand[s.anchors], s.a_name[s.anchors] = best, _called(s, unit)
            s.anchors += 1


def _called(s: Sheet, unit: int) -> int:
    """What tells the names of units apart, those without a name of the gazetteer too."""
    return s.u_name[unit] if s.u_name[unit] >= 0 else -1 - unit


def _find_groups(s: Sheet, count: int) -> None:
    """Number the divisions and countries of the anchors, and find each candidate's own among them; 0 is none."""
    s.groups = 0
    for a in range(s.anchors):
        s.a_in_admin1[a] = _group(s, s.c_admin1[s.a_cand[a]])
        s.a_in_country[a] = _group(s, s.c_country[s.a_cand[a]])
    for c in range(count):
        s.c_in_admin1[c] = s.group_at[s.c_admin1[c]] if s.c_admin1[c] >= 0 else 0
        s.c_in_country[c] = s.group_at[s.c_country[c]] if s.c_country[c] >= 0 else 0
    for group in range(1, s.groups + 1):
        s.group_at[s.group_row[group]] = 0


def _group(s: Sheet, row: int) -> int:
    if row < 0:
        return 0
    if not s.group_at[row]:
        s.groups += 1
        s.group_at[row] = s.groups
        s.group_row[s.groups] = row
    return s.group_at[row]


def _weigh_company(s: Sheet, w: Reals) -> None:
    """Nearness to, and shared divisions with, the likeliest candidates of the page's other units."""
    for a in range(s.anchors):
        s.a_mass[a] = s.c_probability[s.a_cand[a]] * s.u_weight[s.c_unit[s.a_cand[a]]]
    for c in range(s.u_at[s.units]):
        s.c_near_sum[c] = s.c_around_sum[c] = 0.0
    for a in range(s.anchors):
        if s.c_kind[s.a_cand[a]] > _COUNTRY:  # others have no point
            _add_anchor(s, a)
    for unit in range(s.units):
        rest = _weigh_others(s, _called(s, unit), s.c_kind[s.u_at[unit]] == _CITY)
        for c in range(s.u_at[unit], s.u_at[unit + 1]):
            _company_of(s, c, rest, w)


def _weigh_others(s: Sheet, called: int, town: bool) -> float:
    """The mass of the anchors of other names, also by division and country.

    For the name of a `town` without states that stand in lists: who moved from Texas to Paris left Texas.
    """
    for group in range(s.groups + 1):
        s.admin1_mass[group] = s.country_mass[group] = 0.0
    rest = 1.0e-6
    for a in range(s.anchors):
        if s.a_name[a] != called and not (town and _is_listed(s, s.a_cand[a])):
            rest += s.a_mass[a]
            s.admin1_mass[s.a_in_admin1[a]] += s.a_mass[a]
            s.country_mass[s.a_in_country[a]] += s.a_mass[a]
    s.admin1_mass[0] = s.country_mass[0] = 0.0
    return rest


def _is_listed(s: Sheet, c: int) -> bool:
    """Whether a candidate is a state that is named only once, in a list."""
    unit = s.c_unit[c]
    return bool(s.c_kind[c] == _ADMIN1 and s.u_count[unit] == 1 and s.h_listed[s.u_first[unit]])


def _add_anchor(s: Sheet, a: int) -> None:
    """Add how close an anchor is to all candidates but those of its own name, which lie between long stretches."""
    low, other, mass = 0, s.a_cand[a], s.a_mass[a]
    for unit in range(s.units):
        if _called(s, unit) == s.a_name[a]:
            _add_nearness(s.c_x, s.c_y, s.c_z, s.c_near_sum, s.c_around_sum, low, s.u_at[unit], other, mass)
            low = s.u_at[unit + 1]
    _add_nearness(s.c_x, s.c_y, s.c_z, s.c_near_sum, s.c_around_sum, low, s.u_at[s.units], other, mass)


def _add_nearness(
    xs: Reals, ys: Reals, zs: Reals, near: Reals, around: Reals, low: int, high: int, other: int, mass: float
) -> None:
    """Add for each candidate how close another is, at the scales of 40 and of 250 km: see `closeness`.

    Without branches, and over arrays and numbers of its own, so that the compiler takes several candidates at once.
    """
    near_scale, around_scale, too_far = _NEAR_SCALE, _AROUND_SCALE, _TOO_FAR
    x, y, z = xs[other], ys[other], zs[other]
    for c in range(low, high):
        dot = xs[c] * x + ys[c] * y + zs[c] * z
        apart = 1.0 - dot if dot < 1.0 else 0.0
        one = apart * near_scale + 1.0
        two = apart * around_scale + 1.0
        one *= one
        two *= two
        share = (mass if dot > too_far else 0.0) / (one * two)  # one division for both: they are what costs
        near[c] += share * two
        around[c] += share * one


def _company_of(s: Sheet, c: int, rest: float, w: Reals) -> None:
    near, around = s.c_near_sum[c], s.c_around_sum[c]
    in_country = s.country_mass[s.c_in_country[c]] / rest
    in_admin1 = s.admin1_mass[s.c_in_admin1[c]] / rest
    base = c * _WIDTH
    s.c_near[c] = log1p(near) if near > 1.0e-4 else 0.0  # noqa: F405
    s.c_around[c] = log1p(around) if around > 1.0e-4 else 0.0  # noqa: F405
    s.c_same[c] = in_admin1
    row = s.c_row[c]
    holds = in_admin1 if s.c_admin1[c] == row else 0.0
    holds_country = in_country if s.c_country[c] == row else 0.0
    s.features[base + _NEAR], s.features[base + _AROUND] = s.c_near[c], s.c_around[c]
    s.features[base + _SAME_COUNTRY], s.features[base + _SAME_ADMIN1], s.features[base + _HOLDS] = (
        in_country,
        in_admin1,
        holds,
    )
    s.features[base + _HOLDS_COUNTRY] = holds_country
    score = s.c_score[c] + w[_NEAR] * s.c_near[c] + w[_AROUND] * s.c_around[c]
    s.c_probability[c] = score + w[_SAME_COUNTRY] * in_country + w[_SAME_ADMIN1] * in_admin1 + w[_HOLDS] * holds
    s.c_probability[c] += w[_HOLDS_COUNTRY] * holds_country


def _choose(s: Sheet) -> None:
    """The likeliest candidate of each unit, -1 where it has none."""
    for unit in range(s.units):
        best = -1
        for c in range(s.u_at[unit], s.u_at[unit + 1]):
            if best < 0 or s.c_probability[c] > s.c_probability[best]:
                best = c
        if best >= 0 and s.c_flag[best] != _WITHIN and (s.c_kind[best] == _ADMIN1 or s.c_kind[best] == _ADMIN2):
            best = _city_in_the_middle(s, unit, best)
        s.u_best[unit] = best


def _city_in_the_middle(s: Sheet, unit: int, top: int) -> int:
    """Where a division and the city in its middle share a name (Lisbon), people mean the city: it gets both shares."""
    row = s.c_row[top]
    city = -1
    for c in range(s.u_at[unit], s.u_at[unit + 1]):
        if s.c_kind[c] != _CITY or s.c_flag[c] > _ALTERNATE:
            continue
        if s.c_admin1[c] != row and s.c_admin2[c] != row:
            continue
        dot = s.c_x[c] * s.c_x[top] + s.c_y[c] * s.c_y[top] + s.c_z[c] * s.c_z[top]
        if dot > _SAME_MIDDLE and (city < 0 or s.c_probability[c] > s.c_probability[city]):
            city = c
    if city < 0:
        return top
    s.c_probability[city] += s.c_probability[top]
    s.c_probability[top] = 0.0
    return city
