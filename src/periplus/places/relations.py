"""How two places lie to each other: equal, one within the other at a number of steps, overlapping, disjoint.

From the hierarchy first, then from overlaps that the user declared, then from polygons where they are loaded. The
values of R for topics (paper C) are worked out once per topic by `related_set`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from periplus.model import Place
from periplus.places.gazetteer import Gazetteer

__all__ = ["Related", "Relation", "RelationKind", "related_set", "relation", "relevance"]


class RelationKind(StrEnum):
    """The five relations of paper C."""

    EQUAL = "equal"
    CONTAINS = "contains"  # a is around b
    CONTAINED = "contained"  # a is inside b
    OVERLAP = "overlap"
    DISJOINT = "disjoint"


@dataclass(frozen=True, slots=True)
class Relation:
    """How place a lies to place b; `steps` is the distance in the hierarchy for contains and contained."""

    kind: RelationKind
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Related:
    """A place that counts for a topic's place, and how much (R of paper C)."""

    id: int
    relation: Relation
    weight: float


_DEEPEST: Final = 16
_OVERLAP_WEIGHT: Final = 0.4
_INNER: Final = {1: 0.6, 2: 0.4, 3: 0.2}  # the other place lies inside the topic's
_OUTER: Final = {1: 0.4, 2: 0.2}  # the other place lies around it


def relation(a: Place | int, b: Place | int, gazetteer: Gazetteer) -> Relation:
    """How `a` lies to `b`."""
    row_a, row_b = (gazetteer.row(p if isinstance(p, int) else p.id) for p in (a, b))
    if row_a == row_b:
        return Relation(RelationKind.EQUAL)
    chain_a, chain_b = gazetteer.chain(row_a), gazetteer.chain(row_b)
    if row_a in chain_b:
        return Relation(RelationKind.CONTAINS, len(chain_b) - 1 - chain_b.index(row_a))
    if row_b in chain_a:
        return Relation(RelationKind.CONTAINED, len(chain_a) - 1 - chain_a.index(row_b))
    if row_b in gazetteer.overlaps(row_a):
        return Relation(RelationKind.OVERLAP)
    return _by_shape(row_a, row_b, gazetteer)


def _by_shape(a: int, b: int, gazetteer: Gazetteer) -> Relation:
    """From polygons: a shape is around what it covers, at one step; two shapes overlap where their insides meet."""
    one, two = gazetteer.shape(a), gazetteer.shape(b)
    if one is None and two is None:
        return Relation(RelationKind.DISJOINT)
    first = one if one is not None else gazetteer.point_shape(a)
    second = two if two is not None else gazetteer.point_shape(b)
    if one is not None and first.covers(second):
        return Relation(RelationKind.CONTAINS, 1)
    if two is not None and second.covers(first):
        return Relation(RelationKind.CONTAINED, 1)
    if one is not None and two is not None and first.intersects(second) and not first.touches(second):
        return Relation(RelationKind.OVERLAP)
    return Relation(RelationKind.DISJOINT)


def relevance(found: Relation) -> float:
    """R(p_i, p_j) of paper C for p_i `found` p_j: what a mention of p_j is worth for a topic about p_i."""
    match found.kind:
        case RelationKind.EQUAL:
            return 1.0
        case RelationKind.OVERLAP:
            return _OVERLAP_WEIGHT
        case RelationKind.CONTAINS:
            return _INNER.get(found.steps, 0.0)
        case RelationKind.CONTAINED:
            return _OUTER.get(found.steps, 0.0)
        case RelationKind.DISJOINT:
            return 0.0


def related_set(place: Place | int, gazetteer: Gazetteer) -> dict[int, Related]:
    """M of paper C: every place with R > 0 for `place`, by id, itself included. Worked out once per topic."""
    row = gazetteer.row(place if isinstance(place, int) else place.id)
    ids = gazetteer.arrays["id"]
    parent = gazetteer.arrays["parent"]
    found: dict[int, Relation] = {row: Relation(RelationKind.EQUAL)}
    below: set[int] = set()
    level, steps = np.array([row]), 0
    while len(level := np.flatnonzero(np.isin(parent, level))) and steps < _DEEPEST:
        steps += 1
        below.update(level.tolist())
        if steps in _INNER:
            found.update(dict.fromkeys(level.tolist(), Relation(RelationKind.CONTAINS, steps)))
    above = gazetteer.chain(row)[-2::-1]
    for steps, outer in enumerate(above, start=1):
        if steps in _OUTER:
            found[outer] = Relation(RelationKind.CONTAINED, steps)
    hierarchy = below | set(gazetteer.chain(row))
    for other in gazetteer.overlaps(row):
        if other not in hierarchy:
            found.setdefault(other, Relation(RelationKind.OVERLAP))
    _add_by_shape(row, gazetteer, hierarchy, found)
    return {int(ids[r]): Related(int(ids[r]), how, relevance(how)) for r, how in found.items()}


def _add_by_shape(row: int, gazetteer: Gazetteer, hierarchy: set[int], found: dict[int, Relation]) -> None:
    """What polygons add to places that the hierarchy and the declared overlaps say nothing about."""
    shaped = set(gazetteer.arrays["shape_row"].tolist())
    for other in gazetteer.rows_in_shape(row).tolist():
        if other not in hierarchy and other not in shaped:
            found.setdefault(other, Relation(RelationKind.CONTAINS, 1))
    for other in gazetteer.shapes_near(row):
        if other not in hierarchy:
            how = _by_shape(row, other, gazetteer)
            if how.kind is not RelationKind.DISJOINT:
                found.setdefault(other, how)
