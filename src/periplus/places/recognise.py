"""Which names in a text are meant as places, and which places: screening, ranking, acceptance, selection.

Screening is a logistic model over the context of each hit and drops what is hopeless. Ranking finds the likeliest
place of each surviving name. Acceptance is a second logistic model that also knows how well that place fits the
page. Of overlapping hits the longest accepted one is kept.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.places.build import KINDS
from periplus.places.context import KIND, POPULATION, SHAPE, Context, context_of
from periplus.places.folding import SOLO
from periplus.places.gazetteer import Gazetteer
from periplus.places.model_weights import Weights
from periplus.places.rank import WITHIN, Evidence, Ranked, Units, rank
from periplus.places.scan import Hits, scan
from periplus.places.sources import ALIAS
from periplus.places.support import best_of, support_of

__all__ = ["Recognised", "Screened", "recognise", "screen", "select", "units_of"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_ADMIN1, _ADMIN2, _CITY = (KINDS.index(k) for k in ("admin1", "admin2", "city"))
_SAME_MIDDLE: Final = float(np.cos(60 / 6371))
_CASELESS: Final = SHAPE.index("caseless")
_AREAS: Final = tuple(KIND.index(k) for k in ("country", "alternate_country", "admin1", "continent"))
HOPELESS: Final = 0.04
"""Hits below this probability after screening are not looked at again."""


@dataclass(frozen=True, slots=True)
class Screened:
    """The hits of a piece of text that screening left, with their context."""

    hits: Hits
    codes: dict[str, I64]
    pair_row: I64
    probability: F64

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class Recognised:
    """Screened hits with the places of their units; `chosen` are accepted, in order, without overlaps."""

    screened: Screened
    unit_of: I64
    ranked: Ranked
    best: I64
    codes: dict[str, I64]
    probability: F64
    chosen: I64


def screen(hits: Hits, context: Context, weights: Weights) -> Screened:
    """Drop the hopeless hits."""
    probability = weights.screening.probability(context.codes)
    keep = np.flatnonzero((probability >= HOPELESS) | (context.codes["shape"] == _CASELESS))
    left = hits.only(keep)
    codes = {group: code[keep] for group, code in context.codes.items()}
    return Screened(left, codes, context.pair_row[keep], probability[keep])


def units_of(screened: Screened) -> tuple[Units, I64]:
    """One unit per distinct name, per name within a pair, and per built name; and the unit of each hit."""
    hits = screened.hits
    built = hits.built > 0
    unknown = -1 - ((hits.keys[hits.first] ^ (hits.keys[hits.last] << np.uint64(1))) >> np.uint64(2)).astype(np.int64)
    key = np.where(hits.name < 0, unknown, ((hits.name << 32) | (screened.pair_row + 1)) << 1 | built)
    _, first, unit_of = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(unit_of, kind="stable")
    starts = np.searchsorted(unit_of[order], np.arange(len(first)))
    weight = np.maximum.reduceat(screened.probability[order], starts) if len(order) else np.empty(0)
    units = Units(
        name=hits.name[first], outer=screened.pair_row[first], weight=weight, plain=~built[first],
        of=unit_of[order], token=hits.first[order],
    )  # fmt: skip
    return units, unit_of


def select(hits: Hits, probability: F64, threshold: float) -> I64:
    """Hits above the threshold; of overlapping ones the longest, of equal ones the likelier, in text order."""
    good = np.flatnonzero(probability >= threshold)
    if len(good) < 2:
        return good
    first, last = hits.first[good], hits.last[good]
    if not (first[1:] <= np.maximum.accumulate(last)[:-1]).any():
        return good
    order = np.lexsort((-probability[good], first - last))
    taken: set[int] = set()
    keep: list[int] = []
    for i, start, end in zip(order.tolist(), first[order].tolist(), last[order].tolist(), strict=True):
        span = range(start, end + 1)
        if taken.isdisjoint(span):
            taken.update(span)
            keep.append(i)
    return np.sort(good[keep])


def recognise(text: str, gazetteer: Gazetteer, weights: Weights, evidence: Evidence) -> Recognised | None:
    """Everything about the names of one piece of text; None if it holds none."""
    hits = scan(text, gazetteer)
    if not len(hits):
        return None
    screened = screen(hits, context_of(hits, gazetteer), weights)
    return judge(screened, gazetteer, weights, evidence) if len(screened) else None


def _prefer_cities(ranked: Ranked, best: I64, gazetteer: Gazetteer) -> None:
    """Where a division and the city in its middle share a name (Lisbon), people mean the city: it gets both shares."""
    placed = np.flatnonzero(best >= 0)
    facts = gazetteer.facts(ranked.row[best[placed]])
    divisions = placed[((facts.kind == _ADMIN1) | (facts.kind == _ADMIN2)) & (ranked.flag[best[placed]] != WITHIN)]
    for unit in divisions.tolist():
        top = int(best[unit])
        low, high = np.searchsorted(ranked.unit, [unit, unit + 1])
        near = gazetteer.facts(ranked.row[low:high])
        inside = (near.admin1 == ranked.row[top]) | (near.admin2 == ranked.row[top])
        close = near.point @ near.point[top - low] > _SAME_MIDDLE
        cities = low + np.flatnonzero((near.kind == _CITY) & inside & close & (ranked.flag[low:high] <= ALIAS))
        if len(cities):
            city = int(cities[np.argmax(ranked.probability[cities])])
            ranked.probability[city] += ranked.probability[top]
            ranked.probability[top] = 0.0
            best[unit] = city


def _judge_caseless(probability: F64, screened: Screened, codes: dict[str, I64]) -> None:
    """Scripts without capitals: the learnt context is of no use there, so size and length of the name decide."""
    at = np.flatnonzero(codes["shape"] == _CASELESS)
    if not len(at):
        return
    hits = screened.hits
    length = hits.tokens.end[hits.last[at]] - hits.tokens.start[hits.first[at]]
    solo = (hits.tokens.cls[hits.first[at]] & SOLO) != 0
    long_enough = length >= np.where(solo, 2, 3)
    known = np.isin(codes["kind"][at], _AREAS) | (codes["population"][at] >= POPULATION.index("<300k"))
    probability[at] = np.where(long_enough & known, 0.9, np.where(long_enough & (length >= 4), 0.6, 0.1))


def judge(screened: Screened, gazetteer: Gazetteer, weights: Weights, evidence: Evidence) -> Recognised:
    """Rank the units of the screened hits, then accept and select."""
    units, unit_of = units_of(screened)
    ranked = rank(units, gazetteer, weights.ranking, evidence)
    best = best_of(ranked, len(units))
    _prefer_cities(ranked, best, gazetteer)
    support = support_of(ranked, best, gazetteer, evidence)
    codes = screened.codes | {group: code[unit_of] for group, code in support.items()}
    probability = weights.acceptance.probability(codes)
    _judge_caseless(probability, screened, codes)
    chosen = select(screened.hits, probability, weights.threshold)
    return Recognised(screened, unit_of, ranked, best, codes, probability, chosen)
