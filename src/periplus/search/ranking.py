"""The parts of a hit's score beside its text: where and when.

    score = text × geo × fresh
    geo   = max over the page's places p of  relation(p) × (0.05 + 0.95 × weight(p))

`text` is the weighted sum of the fields' BM25 (index.query.FIELD_WEIGHTS), 1 plus that of the place's
name where the question has no words of its own.
`weight` is the place's share in the page. `relation` is
    the place asked for            1
    z levels inside it             0.8 + 0.2 / (1 + z)
    at d km of a circle of r km    exp(-d / r)
    in the box asked for           1
    anything else                  0
Of several places ("between Lisbon and Porto") geo is the mean over all of them: a page about both comes first.
Where nothing geographic is asked, geo is 1.
`fresh` is 1 unless freshness is asked for; then it halves with every so many days of the page's age:
    fresh = 0.5 ^ (age / days); a page without a date counts as two of these spans old
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.where import Where

__all__ = ["ANYWHERE", "FLOOR", "GeoScore", "GeoScorer", "freshness", "relation"]

FLOOR = 0.05
"""What a place counts in a page that hardly speaks of it."""


@dataclass(frozen=True, slots=True)
class GeoScore:
    """How much a page is about where the question asks, and the place that says so."""

    value: float
    place_id: int | None = None
    relation: float = 1.0
    weight: float = 1.0


ANYWHERE = GeoScore(1.0)
"""The score where nothing geographic is asked."""


def relation(place: KnownPlace, where: Where) -> float:
    """How a place of a page relates to where the question asks: 0 to 1."""
    if where.place is not None:
        return max(_inside(place, asked) for asked in where.places) if where.has_side(place) else 0.0
    if where.circle is not None and place.point is not None:
        if where.beside is not None and place.is_inside(where.beside):
            return 0.0
        distances = [circle.distance(place.point) for circle in where.circles]
        nearest = min((distance for distance in distances if distance is not None), default=None)
        return math.exp(-nearest / where.circle.km) if nearest is not None else 0.0
    if where.box is not None and place.point is not None:
        return 1.0 if where.box.contains(place.point) else 0.0
    return 0.0


def _inside(place: KnownPlace, asked: KnownPlace) -> float:
    if place.id == asked.id:
        return 1.0
    if asked.id not in place.ancestors:
        return 0.0
    levels = len(place.ancestors) - place.ancestors.index(asked.id)
    return 0.8 + 0.2 / (1 + levels)


UNDATED_SPANS = 2.0
"""How old a page without a date is taken to be, in half-lives."""


def freshness(day: int | None, today: int, half_life: int) -> float:
    """What a page's age leaves of its score; 1 where age does not count (half_life 0). Days are `day_number`s."""
    if half_life <= 0:
        return 1.0
    spans = UNDATED_SPANS if day is None else max(0, today - day) / half_life
    return math.pow(0.5, min(60.0, spans))


class GeoScorer:
    """Scores the pages of one question; the relation of each place is worked out once."""

    def __init__(self, where: Where, atlas: Atlas) -> None:
        self._where = where
        self._atlas = atlas
        self._relations: dict[int, float] = {}
        several = where.places if len(where.places) > 1 else ()
        self._each = [GeoScorer(replace(where, place=place, others=()), atlas) for place in several]

    def relation(self, place_id: int) -> float:
        """How the place relates to where the question asks: 0 to 1."""
        known = self._relations.get(place_id)
        if known is None:
            place = self._atlas.get(place_id)
            known = self._relations[place_id] = relation(place, self._where) if place else 0.0
        return known

    def score(self, footprint: Sequence[tuple[int, float]]) -> GeoScore:
        """The score of a page with these places and weights; of several places asked for the mean over all of them."""
        if self._each:
            found = [scorer.score(footprint) for scorer in self._each]
            best = max(found, key=lambda one: one.value)
            return replace(best, value=sum(one.value for one in found) / len(found))
        best = GeoScore(0.0, None, 0.0, 0.0)
        for place_id, weight in footprint:
            related = self.relation(place_id)
            if related:
                value = related * (FLOOR + (1.0 - FLOOR) * min(1.0, weight))
                if value > best.value:
                    best = GeoScore(value, place_id, related, weight)
        return best
