"""Which names in a text are meant as places: a logistic model over named context groups, then non-overlapping spans."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from periplus.places.context import Context, context_of
from periplus.places.gazetteer import Gazetteer
from periplus.places.model_weights import Weights
from periplus.places.scan import Hits, scan

__all__ = ["Recognised", "acceptance", "recognise", "select"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Recognised:
    """The accepted hits of a piece of text, in order and without overlaps, with their probability."""

    hits: Hits
    context: Context
    chosen: I64
    probability: F64


def acceptance(context: Context, weights: Weights) -> F64:
    """The probability of each hit to be a place."""
    score = np.full(len(next(iter(context.codes.values()))), weights.bias)
    for group, codes in context.codes.items():
        score += weights.tables[group][codes]
    result: F64 = 1.0 / (1.0 + np.exp(-score))
    return result


def select(hits: Hits, probability: F64, threshold: float) -> I64:
    """Hits above the threshold; of overlapping ones the longest, of equal ones the likelier, in text order."""
    good = np.flatnonzero(probability >= threshold)
    if not len(good):
        return good
    first, last = hits.first[good], hits.last[good]
    overlapping = np.flatnonzero(first[1:] <= np.maximum.accumulate(last)[:-1])
    if not len(overlapping):
        return good
    length = last - first
    order = np.lexsort((-probability[good], -length))
    taken: dict[int, int] = {}
    keep: list[int] = []
    for i in order.tolist():
        span = range(int(first[i]), int(last[i]) + 1)
        if not any(t in taken for t in span):
            taken.update(dict.fromkeys(span, i))
            keep.append(i)
    return np.sort(good[keep])


def recognise(text: str, gazetteer: Gazetteer, weights: Weights) -> Recognised:
    """Scan, judge and select the names of one piece of text."""
    hits = scan(text, gazetteer)
    context = context_of(hits, gazetteer)
    probability = acceptance(context, weights)
    chosen = select(hits, probability, weights.threshold)
    return Recognised(hits, context, chosen, probability)
