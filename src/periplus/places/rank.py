"""Which place a name means on this page: a linear ranker over all candidates of all names at once.

A unit is a name on a page (or a name inside one particular "City, State" pair): one sense per page. The evidence
comes from the page's other units, twice: first weighted by prior, then by what the first round found.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.model import LonLat
from periplus.places.build import KINDS, unit_vectors
from periplus.places.gazetteer import Gazetteer
from periplus.places.memory import HostPrior
from periplus.places.sources import NAME_FLAGS

__all__ = ["FEATURES", "Evidence", "Units", "rank"]

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

MAX_CANDIDATES: Final = 64
MAX_ANCHOR_UNITS: Final = 96
ANCHORS_PER_UNIT: Final = 3
_R: Final = 6371.0

FEATURES: Final = (
    "population", "best_share", "first",
    *(f"kind_{k}" for k in KINDS[1:]),
    *(f"name_{f}" for f in NAME_FLAGS[1:]),
    "pair", "named_admin1", "named_admin2", "named_country", "near_30km", "near_150km", "near_600km",
    "same_country", "same_admin1",
    "host_same", "host_near", "hint_near", "tld_country",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Units:
    """The distinct names of a page: name index, how often, the outer row of its pair (-1: none), share of certainty."""

    name: I64
    count: I64
    outer: I64


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known besides the text."""

    prior: HostPrior | None = None
    points: tuple[LonLat, ...] = ()
    country_row: int = -1


@dataclass(frozen=True, slots=True)
class Ranked:
    """All candidates of all units: `unit[i]` owns `row[i]` with `probability[i]` within the unit."""

    unit: I64
    row: I64
    flag: npt.NDArray[np.uint8]
    probability: F64
    features: F32


def rank(units: Units, gazetteer: Gazetteer, weights: F64, evidence: Evidence) -> Ranked:
    """Score every candidate of every unit."""
    unit, row, flag, prior = _flatten(units, gazetteer)
    if not len(row):
        return Ranked(unit, row, flag, np.empty(0), np.empty((0, len(FEATURES)), dtype=np.float32))
    x = np.zeros((len(row), len(FEATURES)), dtype=np.float32)
    _static(x, unit, row, flag, prior=prior, gazetteer=gazetteer)
    _outside(x, row, gazetteer, evidence)
    _named(x, units, unit, row, gazetteer)
    probability = softmax(prior * 1.5, unit)
    for _ in range(2):
        _nearness(x, units, unit, row, probability=probability, gazetteer=gazetteer)
        probability = softmax(x @ weights, unit)
    return Ranked(unit, row, flag, probability, x)


def softmax(score: npt.NDArray[np.floating], unit: I64) -> F64:
    """Probabilities within each unit; `unit` is sorted."""
    starts = np.flatnonzero(np.concatenate([[True], unit[1:] != unit[:-1]]))
    group = np.cumsum(np.concatenate([[0], unit[1:] != unit[:-1]]))
    top = np.maximum.reduceat(score, starts)
    weight = np.exp((score - top[group]).astype(np.float64))
    result: F64 = weight / np.add.reduceat(weight, starts)[group]
    return result


def _flatten(units: Units, gazetteer: Gazetteer) -> tuple[I64, I64, npt.NDArray[np.uint8], F64]:
    """Candidates of all units in one list; a unit within a pair keeps only those inside the outer place."""
    a = gazetteer.arrays
    start = a["name_at"][units.name].astype(np.int64)
    size = np.minimum(a["name_at"][units.name + 1].astype(np.int64) - start, MAX_CANDIDATES)
    unit = np.repeat(np.arange(len(units.name)), size)
    at = np.arange(len(unit)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(start, size)
    row = a["cand_row"][at].astype(np.int64)
    outer = units.outer[unit]
    paired = outer >= 0
    if paired.any():
        inside = (a["row_admin1"][row] == outer) | (a["row_country"][row] == outer) | (a["row_admin2"][row] == outer)
        inside &= row != outer
        some = np.bincount(unit, weights=inside & paired, minlength=len(units.name)) > 0
        keep = ~paired | inside | ~some[unit]
        unit, at, row = unit[keep], at[keep], row[keep]
    return unit, row, a["cand_flag"][at], a["cand_prior"][at].astype(np.float64)


def _column(name: str) -> int:
    return FEATURES.index(name)


def _static(x: F32, unit: I64, row: I64, flag: npt.NDArray[np.uint8], *, prior: F64, gazetteer: Gazetteer) -> None:
    a = gazetteer.arrays
    size = np.log10(a["population"][row] + 100.0)
    starts = np.flatnonzero(np.concatenate([[True], unit[1:] != unit[:-1]]))
    group = np.cumsum(np.concatenate([[0], unit[1:] != unit[:-1]]))
    x[:, 0] = size / 3.0
    x[:, 1] = (prior - np.maximum.reduceat(prior, starts)[group]) / 3.0
    x[starts, 2] = 1.0
    kind = a["kind"][row].astype(np.int64)
    some = kind > 0
    x[np.flatnonzero(some), 2 + kind[some]] = 1.0
    base = _column(f"name_{NAME_FLAGS[1]}") - 1
    other = np.flatnonzero(flag > 0)
    x[other, base + flag[other]] = 1.0


def _outside(x: F32, row: I64, gazetteer: Gazetteer, evidence: Evidence) -> None:
    """Host memory, the page's own coordinates, the country of its top-level domain."""
    a = gazetteer.arrays
    if evidence.country_row >= 0:
        x[:, _column("tld_country")] = a["row_country"][row] == evidence.country_row
    if evidence.points:
        lon, lat = (np.array([getattr(p, n) for p in evidence.points[:16]]) for n in ("lon", "lat"))
        x[:, _column("hint_near")] = closeness(a["xyz"][row] @ unit_vectors(lon, lat).T, 100.0).max(axis=1)
    if evidence.prior is not None and evidence.prior.weights:
        known = [(gazetteer.row(i), w) for i, w in evidence.prior.weights]
        rows, mass = np.array([r for r, _ in known]), np.array([w for _, w in known], dtype=np.float32)
        same = row[:, None] == rows[None, :]
        x[:, _column("host_same")] = np.log1p((same * mass).sum(axis=1)) / 2.0
        near = closeness(a["xyz"][row] @ a["xyz"][rows].T, 100.0) * (mass / mass.sum())
        x[:, _column("host_near")] = near.sum(axis=1)


def closeness(dot: F32, km: float) -> F32:
    """1 at the same point, 1/4 at `km`, falling with the fourth power: from dot products of unit vectors."""
    square = np.maximum(1.0 - dot, 0.0) * np.float32(2.0 * _R * _R / (km * km))
    result: F32 = 1.0 / np.square(1.0 + square)
    return result


def _named(x: F32, units: Units, unit: I64, row: I64, gazetteer: Gazetteer) -> None:
    """Whether the candidate's own division or country is named on the page by another unit."""
    a = gazetteer.arrays
    outer = a["name_outer"][units.name]
    mentioned = np.unique(np.concatenate([outer[outer >= 0], units.outer[units.outer >= 0]]))
    for name in ("admin1", "admin2", "country"):
        above = a[f"row_{name}"][row]
        x[:, _column(f"named_{name}")] = np.isin(above, mentioned) & (above != row)
    x[:, _column("pair")] = units.outer[unit] >= 0


def _nearness(x: F32, units: Units, unit: I64, row: I64, *, probability: F64, gazetteer: Gazetteer) -> None:
    """Nearness to, and shared divisions with, the likeliest candidates of the page's other units."""
    a = gazetteer.arrays
    anchor = _anchors(units, unit, probability)
    if len(anchor) < 2:
        return
    owner, rows = unit[anchor], row[anchor]
    weight = probability[anchor].astype(np.float32)
    dot = a["xyz"][row] @ a["xyz"][rows].T
    other = (unit[:, None] != owner[None, :]) * weight
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    for name, km in (("near_30km", 30.0), ("near_150km", 150.0), ("near_600km", 600.0)):
        best = np.maximum.reduceat(closeness(dot, km) * other, starts, axis=1)
        x[:, _column(name)] = np.log1p(best.sum(axis=1))
    total = np.maximum(other.sum(axis=1), 1e-6)
    for name in ("country", "admin1"):
        column = a[f"row_{name}"]
        same = (column[row][:, None] == column[rows][None, :]) & (column[row] >= 0)[:, None]
        x[:, _column(f"same_{name}")] = (same * other).sum(axis=1) / total


def _anchors(units: Units, unit: I64, probability: F64) -> I64:
    """The likeliest candidates of the page's most frequent units."""
    order = np.lexsort((-probability, unit))
    sorted_unit = unit[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_unit[1:] != sorted_unit[:-1]]))
    position = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    keep = order[position < ANCHORS_PER_UNIT]
    if len(units.name) > MAX_ANCHOR_UNITS:
        frequent = np.argsort(-units.count, kind="stable")[:MAX_ANCHOR_UNITS]
        keep = keep[np.isin(unit[keep], frequent)]
    return keep[np.argsort(unit[keep], kind="stable")]
