"""Learning the weights of `weights.json` from labelled documents: two small convex problems, solved by Newton's method.

Acceptance is a logistic regression on the categories of `context`; ranking is a softmax over the candidates of each
name. Same documents in, same weights out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from periplus.places.build import unit_vectors
from periplus.places.context import GROUPS, context_of
from periplus.places.gazetteer import Gazetteer
from periplus.places.locate import units_of
from periplus.places.model_weights import Weights, weights_from
from periplus.places.rank import FEATURES, Evidence, rank
from periplus.places.recognise import Recognised, acceptance, select
from periplus.places.scan import Hits, pieces, scan
from periplus.places.scoring import Document

__all__ = ["Example", "fit", "prepare", "train_acceptance", "train_ranking"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

ACCEPT_L2: Final = 1.0
RANK_L2: Final = 0.1
_LABEL_KM: Final = 161.0


@dataclass(frozen=True, slots=True)
class Example:
    """One piece of a labelled document, scanned once and used many times."""

    text: str
    found: Recognised
    label: npt.NDArray[np.bool_]
    gold: dict[int, tuple[float, float]]  # hit → longitude, latitude
    weight: float


def prepare(documents: Sequence[Document], gazetteer: Gazetteer, weight: float = 1.0) -> list[Example]:
    """Scan the documents and mark which hits people had marked."""
    examples: list[Example] = []
    for document in documents:
        for offset, text in pieces(document.text):
            hits = scan(text, gazetteer)
            context = context_of(hits, gazetteer)
            label, gold = _labels(document, offset, text, hits)
            none = np.empty(0, dtype=np.int64)
            examples.append(Example(text, Recognised(hits, context, none, np.empty(0)), label, gold, weight))
    return examples


def _labels(
    document: Document, offset: int, text: str, hits: Hits
) -> tuple[npt.NDArray[np.bool_], dict[int, tuple[float, float]]]:
    spans = {(g.start - offset, g.end - offset): g for g in document.gold}
    label = np.zeros(len(hits), dtype=np.bool_)
    points: dict[int, tuple[float, float]] = {}
    starts, ends = hits.tokens.start[hits.first], hits.tokens.end[hits.last]
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        hit = spans.get((start, end))
        if hit is None and text[end : end + 1] == ".":
            hit = spans.get((start, end + 1))
        if hit is not None:
            label[i] = True
            if hit.point is not None:
                points[i] = (hit.point.lon, hit.point.lat)
    return label, points


def _columns() -> dict[str, int]:
    at, offset = {}, 1
    for group, names in GROUPS.items():
        at[group] = offset
        offset += len(names)
    at[""] = offset
    return at


def train_acceptance(examples: Sequence[Example], l2: float = ACCEPT_L2) -> dict[str, Any]:
    """Bias and group weights of the logistic model."""
    at = _columns()
    rows, labels, weights = [], [], []
    for example in examples:
        codes = example.found.context.codes
        rows.append(np.stack([codes[g] + at[g] for g in GROUPS], axis=1))
        labels.append(example.label)
        weights.append(np.full(len(example.label), example.weight))
    index, y, w = np.concatenate(rows), np.concatenate(labels).astype(np.float64), np.concatenate(weights)
    beta = _newton_logistic(index, y, w, at[""], l2)
    groups = {
        g: {name: round(float(beta[at[g] + i]), 4) for i, name in enumerate(names)} for g, names in GROUPS.items()
    }
    return {"bias": round(float(beta[0]), 4), "groups": groups}


def _newton_logistic(index: I64, y: F64, w: F64, size: int, l2: float) -> F64:
    """Logistic regression over one-hot columns (column 0 is the bias)."""
    beta = np.zeros(size)
    index = np.concatenate([np.zeros((len(index), 1), dtype=np.int64), index], axis=1)
    penalty = np.full(size, l2)
    penalty[0] = 1e-6
    for _ in range(25):
        score = beta[index].sum(axis=1)
        p = 1.0 / (1.0 + np.exp(-score))
        residual = (y - p) * w
        gradient = np.bincount(index.ravel(), np.repeat(residual, index.shape[1]), size) - penalty * beta
        curve = np.maximum(p * (1 - p) * w, 1e-6)
        hessian = np.zeros((size, size))
        for j in range(index.shape[1]):
            for k in range(j, index.shape[1]):
                block = np.bincount(index[:, j] * size + index[:, k], curve, size * size).reshape(size, size)
                hessian += block if j == k else block + block.T
        step = np.linalg.solve(hessian + np.diag(penalty), gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-4:
            break
    return beta


def train_ranking(
    examples: Sequence[Example], gazetteer: Gazetteer, weights: Weights, l2: float = RANK_L2, rounds: int = 3
) -> dict[str, float]:
    """Weights of the linear ranker; features of the second look depend on the weights, hence the rounds."""
    beta = np.array([weights.ranker.get(name, 0.0) for name in FEATURES])
    for _ in range(rounds):
        blocks = [b for e in examples for b in _rank_blocks(e, gazetteer, weights, beta)]
        beta = _newton_softmax(blocks, beta, l2)
    return {name: round(float(v), 4) for name, v in zip(FEATURES, beta, strict=True)}


def _rank_blocks(
    example: Example, gazetteer: Gazetteer, weights: Weights, beta: F64
) -> list[tuple[npt.NDArray[np.float32], int, float]]:
    """(features, index of the right candidate, weight) for every unit that people placed."""
    found = example.found
    probability = acceptance(found.context, weights)
    probability[list(example.gold)] = 1.0
    chosen = select(found.hits, probability, weights.threshold)
    if not len(chosen):
        return []
    units, unit_of = units_of(found, chosen, gazetteer)
    ranked = rank(units, gazetteer, beta, Evidence())
    points: dict[int, list[tuple[float, float]]] = {}
    for hit, unit in zip(chosen.tolist(), unit_of.tolist(), strict=True):
        if hit in example.gold:
            points.setdefault(unit, []).append(example.gold[hit])
    blocks = []
    for unit, spots in points.items():
        members = np.flatnonzero(ranked.unit == unit)
        if len(members) < 2:
            continue
        target = unit_vectors(np.array([spots[0][0]]), np.array([spots[0][1]]))[0]
        closeness = gazetteer.arrays["xyz"][ranked.row[members]] @ target
        if closeness.max() > np.cos(_LABEL_KM / 6371):
            blocks.append((ranked.features[members], int(np.argmax(closeness)), example.weight * len(spots) ** 0.5))
    return blocks


def _newton_softmax(blocks: list[tuple[npt.NDArray[np.float32], int, float]], start: F64, l2: float) -> F64:
    """Multinomial choice model by Newton's method."""
    beta = start.copy()
    for _ in range(15):
        gradient, hessian = -l2 * beta, l2 * np.eye(len(beta))
        for x, right, w in blocks:
            score = x @ beta
            p = np.exp(score - score.max())
            p /= p.sum()
            mean = p @ x
            gradient = gradient + w * (x[right] - mean)
            hessian += w * ((x * p[:, None]).T @ x - np.outer(mean, mean))
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-3:
            break
    return beta


def fit(
    examples: Sequence[Example], placed: Sequence[Example], gazetteer: Gazetteer, threshold: float
) -> dict[str, Any]:
    """Both models: acceptance from `examples` (fully labelled), ranking from `placed` (labels with points)."""
    accept = {**train_acceptance(examples), "threshold": threshold}
    weights = weights_from({"acceptance": accept, "ranking": {"weights": {"population": 1.0}}})
    return {"acceptance": accept, "ranking": {"weights": train_ranking(placed, gazetteer, weights)}}
