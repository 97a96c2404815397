"""Which place a name means on this page: a linear ranker over all candidates of all names at once.

A unit is a name on a page (or a name inside one particular "City, State" pair): one sense per page. The evidence
comes from the page's other units, twice: first weighted by prior, then by what the first round found. A division
named nearby may stand in for a name whose own place is missing from the gazetteer: "within" it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.errors import PlaceError
from periplus.model import LonLat
from periplus.places.build import KINDS, unit_vectors
from periplus.places.gazetteer import Facts, Gazetteer
from periplus.places.memory import HostPrior
from periplus.places.sources import NAME_FLAGS

__all__ = ["FEATURES", "WITHIN", "Evidence", "Ranked", "Units", "rank"]

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

WITHIN: Final = len(NAME_FLAGS)
"""The flag of a candidate that only contains the place meant."""

MAX_CANDIDATES: Final = 64
MAX_ANCHOR_UNITS: Final = 64
MAX_AREAS: Final = 48
ANCHORS_PER_UNIT: Final = 3
FAR: Final = 10_000
_DENSE: Final = 100_000
_R: Final = 6371.0
_COUNTRY, _ADMIN1, _ADMIN2, _CITY = (KINDS.index(k) for k in ("country", "admin1", "admin2", "city"))

FEATURES: Final = (
    "population", "best_share", "first",
    *(f"kind_{k}" for k in KINDS[1:]),
    *(f"name_{f}" for f in NAME_FLAGS[1:]),
    "within_admin1", "within_admin2", "within_country", "within_close",
    "named_admin1", "close_admin1", "first_admin1", "named_admin2", "close_admin2", "first_admin2",
    "named_country", "close_country", "first_country", "within_first",
    "near_40km", "near_250km", "same_country", "same_admin1", "holds",
    "host_same", "host_near", "host_country", "hint_near", "tld_country",
)  # fmt: skip
COLUMN: Final = {name: i for i, name in enumerate(FEATURES)}


@dataclass(frozen=True, slots=True)
class Units:
    """The distinct names of a page, and where they stand.

    Per unit: `name` in the table of names (-1: none), `outer` row of its pair (-1: none), `weight` (how surely it
    is a place at all), `plain` (not built). Per mention, sorted by unit: `of` unit, `token`.
    """

    name: I64
    outer: I64
    weight: F64
    plain: npt.NDArray[np.bool_]
    of: I64
    token: I64

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known besides the text."""

    prior: HostPrior | None = None
    points: tuple[LonLat, ...] = ()
    country_row: int = -1


@dataclass(frozen=True, slots=True)
class Candidates:
    """All candidates of all units, by unit: row, kind of name (`WITHIN` for containers), prior, facts."""

    unit: I64
    row: I64
    flag: U8
    prior: F64
    facts: Facts

    def starts(self) -> I64:
        """Where each unit with candidates begins."""
        return np.flatnonzero(np.concatenate([[True], self.unit[1:] != self.unit[:-1]]))


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates with their probability within the unit, and the features that gave it."""

    unit: I64
    row: I64
    flag: U8
    probability: F64
    features: F32


def rank(units: Units, gazetteer: Gazetteer, weights: F64, evidence: Evidence) -> Ranked:
    """Score every candidate of every unit. Units without any candidate do not appear."""
    areas = _named_areas(units, gazetteer)
    found = _candidates(units, gazetteer, areas)
    x = np.zeros((len(found.row), len(FEATURES)), dtype=np.float32)
    if not len(found.row):
        return Ranked(found.unit, found.row, found.flag, np.empty(0), x)
    _static(x, found)
    _outside(x, found, gazetteer, evidence)
    _named(x, found, areas)
    light = weights.astype(np.float32)
    probability = softmax(x @ light + found.prior.astype(np.float32), found)
    company = _company(units, found, probability)
    if company is not None:
        for _ in range(2):
            _nearness(x, units, found, probability, company)
            probability = softmax(x @ light, found)
    return Ranked(found.unit, found.row, found.flag, probability, x)


def softmax(score: npt.NDArray[np.floating], found: Candidates) -> F64:
    """Probabilities within each unit."""
    starts = found.starts()
    sizes = np.diff(np.append(starts, len(score)))
    top = np.repeat(np.maximum.reduceat(score, starts), sizes)
    weight = np.exp((score - top).astype(np.float64))
    result: F64 = weight / np.repeat(np.add.reduceat(weight, starts), sizes)
    return result


# -- divisions and countries named on the page ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Areas:
    """Divisions and countries that the page names, by row, and how far in tokens each unit stands from each.

    `distance` is from the nearest of the unit's mentions, `first` from its first one, which often defines it.
    """

    row: I64
    distance: I64
    first: I64


def _named_areas(units: Units, gazetteer: Gazetteer) -> _Areas:
    """Find the named areas of a page, the most frequent ones if there are very many."""
    a = gazetteer.arrays
    outer = a["name_outer"][np.maximum(units.name, 0)].astype(np.int64)
    outer[(units.name < 0) | ~units.plain | (units.weight < 0.3)] = -1
    counts = np.bincount(units.of, minlength=len(units))
    pairs = [(int(r), u) for u, both in enumerate(outer.tolist()) for r in both if r >= 0] if len(units) < 2000 else []
    pairs += [(int(r), u) for u, r in enumerate(units.outer.tolist()) if r >= 0]
    tally: dict[int, list[int]] = {}
    for row, unit in pairs:
        tally.setdefault(row, []).append(unit)
    best = sorted(tally, key=lambda r: (-sum(int(counts[u]) for u in tally[r]), r))[:MAX_AREAS]
    areas = np.array(sorted(best), dtype=np.int64)
    distance = np.full((len(units), len(areas)), FAR, dtype=np.int64)
    first = distance.copy()
    if not len(areas):
        return _Areas(areas, distance, first)
    begin = np.searchsorted(units.of, np.arange(len(units) + 1))
    spots = [np.concatenate([units.token[begin[u] : begin[u + 1]] for u in tally[row]]) for row in areas.tolist()]
    nearest = _token_gaps(units.token, spots)
    distance[:] = np.minimum.reduceat(nearest, begin[:-1], axis=0)
    first[:] = nearest[begin[:-1]]
    for column, row in enumerate(areas.tolist()):
        naming = [u for u in tally[row] if units.outer[u] != row]
        distance[naming, column] = first[naming, column] = FAR
        distance[units.outer == row, column] = 1
    return _Areas(areas, distance, first)


def _token_gaps(token: I64, spots: list[I64]) -> I64:
    """For each mention the distance in tokens to the nearest mention of each area."""
    everywhere = np.concatenate(spots)
    starts = np.cumsum([0, *(len(s) for s in spots[:-1])])
    if len(token) * len(everywhere) <= _DENSE:
        return np.minimum.reduceat(np.abs(token[:, None] - everywhere[None, :]), starts, axis=1)
    gaps = np.empty((len(token), len(spots)), dtype=np.int64)
    for column, spot in enumerate(spots):
        at = np.sort(spot)
        right = np.searchsorted(at, token)
        after, before = at[np.minimum(right, len(at) - 1)], at[np.maximum(right - 1, 0)]
        gaps[:, column] = np.minimum(np.abs(after - token), np.abs(token - before))
    return gaps


def _candidates(units: Units, gazetteer: Gazetteer, areas: _Areas) -> Candidates:
    """Candidates of all units in one list; a unit within a pair keeps only those inside the outer place."""
    a = gazetteer.arrays
    some = np.flatnonzero(units.name >= 0)
    start = a["name_at"][units.name[some]].astype(np.int64)
    size = np.minimum(a["name_at"][units.name[some] + 1].astype(np.int64) - start, MAX_CANDIDATES)
    unit = np.repeat(some, size)
    at = np.arange(len(unit)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(start, size)
    row = a["cand_row"][at].astype(np.int64)
    outer = units.outer[unit]
    paired = outer >= 0
    if paired.any():
        facts = gazetteer.facts(row)
        inside = (facts.admin1 == outer) | (facts.country == outer) | (facts.admin2 == outer)
        inside &= row != outer
        fits = np.bincount(unit, weights=inside & paired, minlength=len(units)) > 0
        keep = ~paired | inside | ~fits[unit]
        unit, at, row = unit[keep], at[keep], row[keep]
    flag, prior = a["cand_flag"][at], a["cand_prior"][at].astype(np.float64)
    c_unit, c_row = _containers(units, unit, row, gazetteer, named=areas)
    unit, row = np.concatenate([unit, c_unit]), np.concatenate([row, c_row])
    flag = np.concatenate([flag, np.full(len(c_unit), WITHIN, dtype=np.uint8)])
    prior = np.concatenate([prior, np.full(len(c_unit), 1.0)])
    order = np.argsort(unit, kind="stable")
    return Candidates(unit[order], row[order], flag[order], prior[order], gazetteer.facts(row[order]))


def _containers(units: Units, unit: I64, row: I64, gazetteer: Gazetteer, *, named: _Areas) -> tuple[I64, I64]:
    """For names of towns and features: the nearest named division and country that hold none of their candidates."""
    a = gazetteer.arrays
    none = np.empty(0, dtype=np.int64)
    areas, distance = named.row, named.distance
    if not len(areas):
        return none, none
    best_kind = np.full(len(units), _CITY)
    known = units.name >= 0
    head = a["cand_row"][a["name_at"][units.name[known]].astype(np.int64)]
    best_kind[known] = a["kind"][head]
    allowed = (best_kind >= _ADMIN2) | ~units.plain
    holds = np.zeros((len(units), len(areas)), dtype=np.bool_)
    facts = gazetteer.facts(row)
    for above in (facts.admin1, facts.admin2, facts.country):
        at = np.minimum(np.searchsorted(areas, above), len(areas) - 1)
        same = areas[at] == above
        holds[unit[same], at[same]] = True
    open_ = np.where(holds | ~allowed[:, None], FAR, distance)
    chosen_unit: list[I64] = []
    chosen_row: list[I64] = []
    kinds = a["kind"][areas]
    for wanted in (_ADMIN1, _ADMIN2, _COUNTRY):
        columns = np.flatnonzero(kinds == wanted)
        if not len(columns):
            continue
        nearest = np.argmin(open_[:, columns], axis=1)
        near = np.flatnonzero(open_[np.arange(len(units)), columns[nearest]] < FAR)
        chosen_unit.append(near)
        chosen_row.append(areas[columns[nearest[near]]])
    if not chosen_unit:
        return none, none
    return np.concatenate(chosen_unit), np.concatenate(chosen_row)


# -- features ------------------------------------------------------------------------------------------


def _static(x: F32, found: Candidates) -> None:
    """What is known of a candidate without any text."""
    row, flag, prior = found.row, found.flag, found.prior
    starts = found.starts()
    sizes = np.diff(np.append(starts, len(row)))
    real = flag != WITHIN
    x[:, 0] = np.where(real, found.facts.people / 3.0, 0.0)
    x[:, 1] = np.where(real, (prior - np.repeat(np.maximum.reduceat(prior, starts), sizes)) / 3.0, 0.0)
    x[starts, 2] = real[starts]
    kind = found.facts.kind.astype(np.int64)
    some = np.flatnonzero((kind > 0) & real)
    x[some, 2 + kind[some]] = 1.0
    base = COLUMN[f"name_{NAME_FLAGS[1]}"] - 1
    other = np.flatnonzero((flag > 0) & real)
    x[other, base + flag[other]] = 1.0


def _outside(x: F32, found: Candidates, gazetteer: Gazetteer, evidence: Evidence) -> None:
    """Host memory, the page's own coordinates, the country of its top-level domain."""
    row, facts = found.row, found.facts
    if evidence.country_row >= 0:
        x[:, COLUMN["tld_country"]] = facts.country == evidence.country_row
    if evidence.points:
        lon, lat = (np.array([getattr(p, n) for p in evidence.points[:16]]) for n in ("lon", "lat"))
        x[:, COLUMN["hint_near"]] = closeness(facts.point @ unit_vectors(lon, lat).T, 100.0).max(axis=1)
    if evidence.prior is None or not evidence.prior.weights:
        return
    rows, mass = _host_rows(evidence.prior, gazetteer)
    if not len(rows):
        return
    same = row[:, None] == rows[None, :]
    x[:, COLUMN["host_same"]] = np.log1p((same * mass).sum(axis=1)) / 2.0
    host = gazetteer.facts(rows)
    local = host.kind > _COUNTRY
    share = mass / mass.sum()
    near = closeness(facts.point @ host.point[local].T, 60.0) @ share[local]
    x[:, COLUMN["host_near"]] = np.sqrt(near)
    x[:, COLUMN["host_country"]] = ((facts.country[:, None] == host.country[None, :]) * share).sum(axis=1)


def _host_rows(prior: HostPrior, gazetteer: Gazetteer) -> tuple[I64, F32]:
    """Rows and weights of a host's places; places of another gazetteer are passed over."""
    rows: list[int] = []
    mass: list[float] = []
    for place_id, weight in prior.weights:
        try:
            rows.append(gazetteer.row(place_id))
            mass.append(weight)
        except PlaceError:
            continue
    return np.array(rows, dtype=np.int64), np.array(mass, dtype=np.float32)


def closeness(dot: F32, km: float) -> F32:
    """1 at the same point, 1/4 at `km`, falling with the fourth power: from dot products of unit vectors."""
    square = (np.float32(1.0) - dot) * np.float32(2.0 * _R * _R / (km * km))
    np.maximum(square, np.float32(0.0), out=square)
    square += np.float32(1.0)
    np.square(square, out=square)
    result: F32 = np.reciprocal(square, out=square)
    return result


def _named(x: F32, found: Candidates, known: _Areas) -> None:
    """Whether, and how near, the candidate's own division or country is named on the page."""
    areas, distance = known.row, known.distance
    if not len(areas):
        return
    real = found.flag != WITHIN
    facts = found.facts
    for name, above in (("admin1", facts.admin1), ("admin2", facts.admin2), ("country", facts.country)):
        at = np.minimum(np.searchsorted(areas, above), len(areas) - 1)
        far = distance[found.unit, at]
        named = real & (areas[at] == above) & (above != found.row) & (far < FAR)
        x[:, COLUMN[f"named_{name}"]] = named
        x[:, COLUMN[f"close_{name}"]] = named / (1.0 + far / 6.0)
        x[:, COLUMN[f"first_{name}"]] = named / (1.0 + known.first[found.unit, at] / 6.0)
    inside = np.flatnonzero(~real)
    if len(inside):
        kind = facts.kind[inside]
        for name in ("admin1", "admin2", "country"):
            x[inside, COLUMN[f"within_{name}"]] = kind == KINDS.index(name)
        at = np.searchsorted(areas, found.row[inside])
        x[inside, COLUMN["within_close"]] = 1.0 / (1.0 + distance[found.unit[inside], at] / 6.0)
        x[inside, COLUMN["within_first"]] = 1.0 / (1.0 + known.first[found.unit[inside], at] / 6.0)


@dataclass(frozen=True, slots=True)
class _Company:
    """The anchors of a page and, for every candidate and anchor of another unit, how they lie to each other."""

    anchor: I64
    close: tuple[tuple[str, F32], ...]
    share: tuple[tuple[str, F32], ...]
    other: F32
    itself: tuple[tuple[str, npt.NDArray[np.bool_]], ...]


def _company(units: Units, found: Candidates, probability: F64) -> _Company | None:
    """Choose the anchors and work out once what both rounds need."""
    unit, row, facts = found.unit, found.row, found.facts
    anchor = _anchors(units, found, probability)
    if len(anchor) < 2:
        return None
    points = facts.point
    called = np.where(units.name >= 0, units.name, -1 - np.arange(len(units)))[unit]
    other = called[:, None] != called[anchor][None, :]
    light = other.astype(np.float32)
    dot = points @ points[anchor].T
    local = facts.kind[anchor] > _COUNTRY
    dot[~other] = -1.0  # the other side of the earth: a unit does not support itself
    dot[:, ~local] = -1.0
    shares, itself = [], []
    for name, area in (("country", facts.country), ("admin1", facts.admin1)):
        same = (area[:, None] == area[anchor][None, :]) & other
        same[area < 0] = False
        shares.append((name, same.astype(np.float32)))
        itself.append((name, area == row))
    close = tuple((name, closeness(dot, km)) for name, km in (("near_40km", 40.0), ("near_250km", 250.0)))
    return _Company(anchor, close, tuple(shares), light, tuple(itself))


def _nearness(x: F32, units: Units, found: Candidates, probability: F64, company: _Company) -> None:
    """Nearness to, and shared divisions with, the likeliest candidates of the page's other units."""
    mass = (probability * units.weight[found.unit])[company.anchor].astype(np.float32)
    for name, matrix in company.close:
        x[:, COLUMN[name]] = np.log1p(matrix @ mass)
    rest = np.maximum(company.other @ mass, np.float32(1e-6))
    for (name, matrix), (_, itself) in zip(company.share, company.itself, strict=True):
        share = (matrix @ mass) / rest
        x[:, COLUMN[f"same_{name}"]] = share
        x[itself, COLUMN["holds"]] = share[itself]


def _anchors(units: Units, found: Candidates, probability: F64) -> I64:
    """The likeliest candidates of the page's surest and most frequent units."""
    order = np.lexsort((-probability, found.unit))
    starts = found.starts()
    position = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    keep = order[position < ANCHORS_PER_UNIT]
    keep = keep[(probability[keep] > 0.05) & (found.flag[keep] != WITHIN) & (units.weight[found.unit[keep]] > 0.2)]
    if len(units) > MAX_ANCHOR_UNITS:
        importance = np.bincount(units.of, minlength=len(units)) * units.weight
        frequent = np.argsort(-importance, kind="stable")[:MAX_ANCHOR_UNITS]
        keep = keep[np.isin(found.unit[keep], frequent)]
    return np.asarray(keep, dtype=np.int64)
