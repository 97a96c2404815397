"""Learning the weights of `weights.json` from labelled documents: small convex problems, solved by Newton's method.

Screening and acceptance are logistic regressions on the categories of `context` and `support`; ranking is a softmax
over the candidates of each name. Same documents in, same weights out.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from periplus.model import Located
from periplus.places.build import unit_vectors
from periplus.places.context import GROUPS, KIND, Context, context_of
from periplus.places.gazetteer import Gazetteer
from periplus.places.locate import locate
from periplus.places.memory import HostPrior, leave_one_out
from periplus.places.model_weights import Weights, weights_from
from periplus.places.rank import FEATURES, WITHIN, Evidence, rank
from periplus.places.recognise import HOPELESS, Screened, judge, units_of
from periplus.places.scan import Hits, pieces, scan
from periplus.places.scoring import Document
from periplus.places.support import SUPPORT

__all__ = ["Example", "Recipe", "fit_recipe", "prepare_all"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Block = tuple[npt.NDArray[np.float32], int, float]

LOGISTIC_L2: Final = 1.0
RANK_L2: Final = 0.1
_LABEL_KM: Final = 161.0


@dataclass(frozen=True, slots=True)
class Example:
    """One piece of a labelled document, scanned once and used many times."""

    document: Document
    hits: Hits
    context: Context
    label: npt.NDArray[np.bool_]
    gold: dict[int, tuple[float, float]]  # hit → longitude, latitude
    weight: F64  # of each hit in recognition
    importance: float = 1.0  # of the whole example in ranking
    prior: HostPrior | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which corpora teach what, and how much; the few numbers that were chosen by hand."""

    recognition: tuple[str, ...] = ("lgl-even", "geovirus", "geocorpora")
    importance: tuple[tuple[str, float], ...] = (("wiktor-1000", 1.5),)
    no_demonyms: tuple[str, ...] = ("geovirus", "geocorpora")
    threshold: float = 0.49
    by_hand: tuple[tuple[str, float], ...] = (("hint_near", 5.0), ("tld_country", 1.0))  # no corpus has these


def prepare_all(
    corpora: dict[str, list[Document]], gazetteer: Gazetteer, recipe: Recipe
) -> dict[str, list[list[Example]]]:
    """The examples of each document of each corpus."""
    importance = dict(recipe.importance)
    return {
        name: [
            _prepare(d, gazetteer, demonyms=name not in recipe.no_demonyms, importance=importance.get(name, 1.0))
            for d in documents
        ]
        for name, documents in corpora.items()
    }


def _prepare(document: Document, gazetteer: Gazetteer, *, demonyms: bool, importance: float) -> list[Example]:
    """Scan a document and mark which hits people had marked; `demonyms=False` where a corpus ignores them."""
    examples: list[Example] = []
    for offset, text in pieces(document.text):
        hits = scan(text, gazetteer)
        if not len(hits):
            continue
        context = context_of(hits, gazetteer)
        label, gold = _labels(document, offset, text, hits)
        weight = np.ones(len(hits))
        if not demonyms:
            weight[context.codes["kind"] == KIND.index("demonym")] = 0.0
        examples.append(Example(document, hits, context, label, gold, weight, importance))
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


def _train_logistic(
    codes: list[dict[str, I64]],
    labels: list[npt.NDArray[np.bool_]],
    weights: list[F64],
    groups: dict[str, tuple[str, ...]],
) -> dict[str, Any]:
    """Bias and group weights of a logistic model."""
    at, size = {}, 1
    for group, names in groups.items():
        at[group] = size
        size += len(names)
    index = np.concatenate([np.stack([c[g] + at[g] for g in groups], axis=1) for c in codes])
    beta = _newton_logistic(
        index, np.concatenate(labels).astype(np.float64), np.concatenate(weights), size, LOGISTIC_L2
    )
    learnt = {
        g: {name: round(float(beta[at[g] + i]), 4) for i, name in enumerate(names)} for g, names in groups.items()
    }
    return {"bias": round(float(beta[0]), 4), "groups": learnt}


def _newton_logistic(index: I64, y: F64, w: F64, size: int, l2: float) -> F64:
    """Logistic regression over one-hot columns (column 0 is the bias)."""
    beta = np.zeros(size)
    x = np.zeros((len(index), size), dtype=np.float32)
    x[:, 0] = 1.0
    np.put_along_axis(x, index, 1.0, axis=1)
    penalty = np.full(size, l2)
    penalty[0] = 1e-6
    for _ in range(25):
        p = 1.0 / (1.0 + np.exp(-(x @ beta.astype(np.float32)).astype(np.float64)))
        gradient = x.T @ ((y - p) * w).astype(np.float32) - penalty * beta
        curve = np.maximum(p * (1 - p) * w, 1e-6).astype(np.float32)
        hessian = (x.T @ (x * curve[:, None])).astype(np.float64) + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-3:
            break
    return beta


def fit_recipe(examples: dict[str, list[list[Example]]], gazetteer: Gazetteer, recipe: Recipe) -> dict[str, Any]:
    """All three models from prepared corpora; where sites are known, once more with what their other pages taught."""
    teaching = [e for name in recipe.recognition for document in examples.get(name, ()) for e in document]
    placed = [e for documents in examples.values() for document in documents for e in document]
    data = _fit(teaching, placed, gazetteer, recipe)
    remembered = _with_priors(teaching, gazetteer, weights_from(data))
    if not remembered:
        return data
    halved = [replace(e, weight=e.weight / 2, importance=e.importance / 2) if e.document.site else e for e in teaching]
    known = {id(e) for e in teaching}
    others = [e for e in placed if id(e) not in known]
    return _fit(halved + remembered, halved + remembered + others, gazetteer, recipe)


def _with_priors(examples: list[Example], gazetteer: Gazetteer, weights: Weights) -> list[Example]:
    """Examples of sites again, each with the memory of the site's other documents, at half weight."""
    sites = [e for e in examples if e.document.site]

    def parse(text: str, _url: str) -> Located:
        return locate(text, gazetteer, weights=weights, candidates=False)

    priors = leave_one_out([(e.document.text, f"http://{e.document.site}/") for e in sites], parse)
    return [
        replace(e, prior=priors[i], weight=e.weight / 2, importance=e.importance / 2)
        for i, e in enumerate(sites)
        if i in priors
    ]


def _fit(teaching: list[Example], placed: list[Example], gazetteer: Gazetteer, recipe: Recipe) -> dict[str, Any]:
    screening = _train_logistic(
        [e.context.codes for e in teaching], [e.label for e in teaching], [e.weight for e in teaching], GROUPS
    )
    data: dict[str, Any] = {
        "screening": screening,
        "acceptance": {"bias": 0.0, "groups": {}, "threshold": recipe.threshold},
        "ranking": {"weights": {"population": 1.0}},
    }
    for _ in range(2):  # what ranking sees of a page depends on the ranker itself
        blocks = [b for e in placed for b in _rank_blocks(e, gazetteer, weights_from(data))]
        beta = _newton_softmax(blocks, RANK_L2)
        learnt = {name: round(float(v), 4) for name, v in zip(FEATURES, beta, strict=True)}
        data["ranking"]["weights"] = learnt | dict(recipe.by_hand)
    weights = weights_from(data)
    codes, labels, amounts = [], [], []
    for example in teaching:
        screened, keep = _screened(example, weights)
        if not len(keep):
            continue
        found = judge(screened, gazetteer, weights, Evidence(example.prior))
        codes.append(found.codes)
        labels.append(example.label[keep])
        amounts.append(example.weight[keep])
    accepted = _train_logistic(codes, labels, amounts, {**GROUPS, **SUPPORT})
    return {**data, "acceptance": {**accepted, "threshold": recipe.threshold}}


def _screened(example: Example, weights: Weights, *, with_gold: bool = False) -> tuple[Screened, I64]:
    """What screening leaves of an example (gold hits always, if asked), and which hits those are."""
    hits = example.hits
    probability = weights.screening.probability(example.context.codes)
    if with_gold and example.gold:
        probability[list(example.gold)] = np.maximum(probability[list(example.gold)], 0.5)
    keep = np.flatnonzero(probability >= HOPELESS)
    left = hits.only(keep)
    codes = {group: code[keep] for group, code in example.context.codes.items()}
    return Screened(left, codes, example.context.pair_row[keep], probability[keep]), keep


def _rank_blocks(example: Example, gazetteer: Gazetteer, weights: Weights) -> list[Block]:
    """(features, index of the right candidate, weight) for every unit that people placed."""
    screened, keep = _screened(example, weights, with_gold=True)
    if not len(keep) or not example.gold:
        return []
    units, unit_of = units_of(screened)
    ranked = rank(units, gazetteer, weights.ranking, Evidence(example.prior))
    points: dict[int, list[tuple[float, float]]] = {}
    for hit, unit in zip(keep.tolist(), unit_of.tolist(), strict=True):
        if hit in example.gold:
            points.setdefault(unit, []).append(example.gold[hit])
    blocks: list[Block] = []
    for unit, spots in points.items():
        low, high = np.searchsorted(ranked.unit, [unit, unit + 1])
        if high - low < 2:
            continue
        target = unit_vectors(np.array([spots[0][0]]), np.array([spots[0][1]]))[0]
        closeness = gazetteer.arrays["xyz"][ranked.row[low:high]] @ target
        closeness[ranked.flag[low:high] == WITHIN] -= 1.0  # a container is right only where no real candidate is
        near = np.cos(_LABEL_KM / 6371)
        if closeness.max() > near or closeness.max() + 1.0 > near > 1.0 + closeness.min():
            right = int(np.argmax(closeness))
            if closeness[right] <= near:
                inside = np.where(ranked.flag[low:high] == WITHIN, closeness + 1.0, -2.0)
                right = int(np.argmax(inside))
                if inside[right] <= near:
                    continue
            blocks.append((ranked.features[low:high], right, example.importance * len(spots) ** 0.5))
    return blocks


def _newton_softmax(blocks: list[Block], l2: float) -> F64:
    """Multinomial choice model by Newton's method."""
    beta = np.zeros(len(FEATURES))
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
