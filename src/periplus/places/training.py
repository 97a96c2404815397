"""Learning the weights of `weights.json` from labelled documents: small convex problems, solved by Newton's method.

Screening and acceptance are logistic regressions on the categories of `context` and `support`; ranking is a softmax
over the candidates of each name. Same documents in, same weights out.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from periplus.model import Located
from periplus.places.context import GROUPS
from periplus.places.folding import fold
from periplus.places.gazetteer import Gazetteer
from periplus.places.geometry import unit_vectors
from periplus.places.locate import end_without_council, locate
from periplus.places.memory import HostPrior, leave_one_out
from periplus.places.model_weights import Weights, weights_from
from periplus.places.rank import FEATURES, rank_units
from periplus.places.recognise import Evidence, borrowed_sheet, describe, judge, outside_of
from periplus.places.scan import pieces
from periplus.places.scoring import Document
from periplus.places.sheet import CODES, Sheet
from periplus.places.support import SUPPORT, WORDS, is_demonym, screen, word_at
from periplus.places.units import WITHIN, gather_units

__all__ = ["Example", "Recipe", "fit_recipe", "prepare_all"]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Block = tuple[npt.NDArray[np.float32], int, float]
Spoken = list[tuple[str, ...]]  # for each hit the words of `WORDS`, "" where there is none

LOGISTIC_L2: Final = 1.0
WORD_L2: Final = 2.0
WORD_DOCUMENTS: Final = 3
"""A word gets a weight of its own if that many documents have it in the same place by a name."""
RANK_L2: Final = 0.1
_LABEL_KM: Final = 161.0
_SHIPS: Final = "uss hms hmas hmcs hmnzs usns uscgc rms"
_CARS: Final = "chevrolet chevy gmc hyundai kia dodge chrysler"
_SEATS: Final = "kremlin"  # of a government: what denies and says is a person else
_FOOD: Final = "sprouts pepper sauce"


@dataclass(frozen=True, slots=True)
class Example:
    """One piece of a labelled document with the categories of its hits."""

    document: Document
    text: str
    codes: U8
    label: npt.NDArray[np.bool_]
    gold: dict[int, tuple[float, float]]  # hit → longitude, latitude
    weight: F64  # of each hit in recognition
    importance: float = 1.0  # of the whole example in ranking
    prior: HostPrior | None = None

    @property
    def has_host(self) -> bool:
        """Whether other documents of its site are known."""
        return self.prior is not None and bool(self.prior.weights)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which corpora teach what, and how much; the few numbers that were chosen by hand."""

    recognition: tuple[str, ...] = ("lgl-even", "geovirus", "geocorpora")
    importance: tuple[tuple[str, float], ...] = (("wiktor-1000", 2.0),)
    no_demonyms: tuple[str, ...] = ("geovirus", "geocorpora")
    threshold: float = 0.49
    by_hand: tuple[tuple[str, float], ...] = (
        ("hint_near", 5.0),
        ("tld_country", 2.4),
        ("host_same", 0.5),
        ("language_country", 1.5),
    )
    """No corpus has the first two; what a site's other pages say of the very same name repeats their errors there."""
    usage: tuple[tuple[str, float], ...] = (("free", 0.0), ("called", -4.0), ("called_elsewhere", -3.0))
    foreign: float = -8.0
    """What English alone abbreviates, in texts of other languages: the labelled ones are English."""
    words: tuple[tuple[str, str, float], ...] = (
        ("before", _SHIPS, -6.0), ("before", _CARS, -4.0), ("after", _FOOD, -5.0),
        ("last", _SEATS, 1.0),
    )  # fmt: skip
    """News hold too few people without surnames, ships, cars, recipes and palaces that speak to learn from."""


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
    with borrowed_sheet(gazetteer) as (sheet, tables):
        for offset, text in pieces(document.text):
            if not describe(sheet, tables, text):
                continue
            codes = _codes(sheet, len(GROUPS))
            label, gold = _labels(document, offset, text, sheet)
            weight = np.ones(len(codes))
            if not demonyms:
                weight[[is_demonym(sheet, tables, hit) for hit in range(sheet.hits)]] = 0.0
            examples.append(Example(document, text, codes, label, gold, weight, importance))
    return examples


def _codes(sheet: Sheet, groups: int) -> U8:
    """A copy of the categories of all hits."""
    return np.array(sheet.codes[: sheet.hits * CODES]).reshape(-1, CODES)[:, :groups].copy()


def _labels(
    document: Document, offset: int, text: str, sheet: Sheet
) -> tuple[npt.NDArray[np.bool_], dict[int, tuple[float, float]]]:
    spans = {(g.start - offset, g.end - offset): g for g in document.gold}
    label = np.zeros(sheet.hits, dtype=np.bool_)
    points: dict[int, tuple[float, float]] = {}
    starts = np.asarray(sheet.t_start)[np.asarray(sheet.h_first)[: sheet.hits]]
    ends = np.asarray(sheet.t_end)[np.asarray(sheet.h_last)[: sheet.hits]]
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        hit = spans.get((start, end_without_council(text, start, end)))
        if hit is None and text[end : end + 1] == ".":
            hit = spans.get((start, end + 1))
        if hit is not None:
            label[i] = True
            if hit.point is not None:
                points[i] = (hit.point.lon, hit.point.lat)
    return label, points


def _train_logistic(
    codes: list[U8], labels: list[npt.NDArray[np.bool_]], weights: list[F64], groups: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Bias and group weights of a logistic model."""
    return _train_with_words(codes, labels, weights, groups, ([], []))


def _train_with_words(
    codes: list[U8],
    labels: list[npt.NDArray[np.bool_]],
    weights: list[F64],
    groups: dict[str, tuple[str, ...]],
    words: tuple[list[tuple[int, str]], list[Spoken]],
) -> dict[str, Any]:
    """The same with weights of single words: the known ones, as (place, word), and those of every hit."""
    vocabulary, spoken = words
    at, size = {}, 1
    for group, names in groups.items():
        at[group] = size
        size += len(names)
    index = np.concatenate(codes).astype(np.int64) + np.array([at[g] for g in groups])
    column = {entry: size + i for i, entry in enumerate(vocabulary)}
    penalty = np.full(size + len(column), LOGISTIC_L2)
    penalty[0], penalty[size:] = 1e-6, WORD_L2
    x = np.zeros((len(index), len(penalty)), dtype=np.float32)
    x[:, 0] = 1.0
    np.put_along_axis(x, index, 1.0, axis=1)
    for i, around in enumerate(one for page in spoken for one in page):
        for entry in enumerate(around):
            if entry in column:
                x[i, column[entry]] = 1.0
    beta = _newton_logistic(x, np.concatenate(labels).astype(np.float64), np.concatenate(weights), penalty)
    learnt = {
        g: {name: round(float(beta[at[g] + i]), 4) for i, name in enumerate(names)} for g, names in groups.items()
    }
    told: dict[str, dict[str, float]] = {place: {} for place in WORDS} if vocabulary else {}
    for (place, word), at_word in column.items():
        told[WORDS[place]][word] = round(float(beta[at_word]), 4)
    return {"bias": round(float(beta[0]), 4), "groups": learnt} | ({"words": told} if told else {})


def _newton_logistic(x: npt.NDArray[np.float32], y: F64, w: F64, penalty: F64) -> F64:
    """Logistic regression over one-hot columns (column 0 is the bias)."""
    beta = np.zeros(len(penalty))
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
        [e.codes for e in teaching], [e.label for e in teaching], [e.weight for e in teaching], GROUPS
    )
    screening["groups"]["usage"] = dict(recipe.usage)
    screening["groups"]["word"]["foreign"] = recipe.foreign
    data: dict[str, Any] = {
        "screening": screening,
        "acceptance": {"bias": 0.0, "groups": {}, "threshold": recipe.threshold},
        "ranking": {"weights": {"population": 1.0}},
    }
    for _ in range(2):  # what ranking sees of a page depends on the ranker itself
        blocks = [b for e in placed for b in _rank_blocks(e, gazetteer, weights_from(data))]
        for features, _, _ in blocks:
            features[:, [FEATURES.index(name) for name, _ in recipe.by_hand]] = 0.0
        beta = _newton_softmax(blocks, RANK_L2)
        learnt = {name: round(float(v), 4) for name, v in zip(FEATURES, beta, strict=True)}
        data["ranking"]["weights"] = learnt | dict(recipe.by_hand)
    weights = weights_from(data)
    codes, labels, amounts, spoken = [], [], [], []
    for example in teaching:
        judged, keep, around = _judged(example, gazetteer, weights)
        codes.append(judged)
        labels.append(example.label[keep])
        amounts.append(example.weight[keep])
        spoken.append(around)
    words = (_vocabulary(teaching, spoken), spoken)
    accepted = _train_with_words(codes, labels, amounts, {**GROUPS, **SUPPORT}, words)
    accepted["groups"]["usage"] = dict(recipe.usage)
    accepted["groups"]["word"]["foreign"] = recipe.foreign
    for place, spoken_words, weight in recipe.words:
        accepted.setdefault("words", {}).setdefault(place, {}).update(dict.fromkeys(spoken_words.split(), weight))
    return {**data, "acceptance": {**accepted, "threshold": recipe.threshold}}


def _vocabulary(examples: list[Example], spoken: list[Spoken]) -> list[tuple[int, str]]:
    """The words, each with its place, that enough documents have."""
    where = {
        (entry, id(e.document))
        for e, page in zip(examples, spoken, strict=True)
        for one in page
        for entry in enumerate(one)
    }
    documents = Counter(entry for entry, _ in where)
    return sorted(entry for entry, count in documents.items() if entry[1] and count >= WORD_DOCUMENTS)


_folded = cache(fold)


def _judged(example: Example, gazetteer: Gazetteer, weights: Weights) -> tuple[U8, I64, Spoken]:
    """The categories of the hits that screening leaves, support included, which hits those are, and their words."""
    with borrowed_sheet(gazetteer) as (sheet, tables):
        describe(sheet, tables, example.text)
        screen(sheet, weights.screening.flat)
        keep = np.flatnonzero(np.asarray(sheet.h_kept)[: sheet.hits])
        outside = outside_of(Evidence(example.prior), gazetteer)
        judge(sheet, tables, outside, weights, has_host=example.has_host)
        around: Spoken = []
        for hit in keep.tolist():
            tokens = [word_at(sheet, hit, which) for which in range(len(WORDS))]
            words = [example.text[sheet.t_start[t] : sheet.t_end[t]] if t >= 0 else "" for t in tokens]
            around.append(tuple(_folded(word) if word else "" for word in words))
        return _codes(sheet, len(GROUPS) + len(SUPPORT))[keep], keep, around


def _rank_blocks(example: Example, gazetteer: Gazetteer, weights: Weights) -> list[Block]:
    """(features, index of the right candidate, weight) for every unit that people placed."""
    if not example.gold:
        return []
    with borrowed_sheet(gazetteer) as (sheet, tables):
        describe(sheet, tables, example.text)
        screen(sheet, weights.screening.flat)
        gold = list(example.gold)
        np.asarray(sheet.h_kept)[gold] = 1
        sure = np.asarray(sheet.h_probability)
        sure[gold] = np.maximum(sure[gold], 0.5)
        gather_units(sheet)
        count = rank_units(sheet, tables, outside_of(Evidence(example.prior), gazetteer), weights.ranking)
        unit_of = np.asarray(sheet.h_unit)[gold].tolist()
        at = np.array(sheet.u_at[: sheet.units + 1])
        row, flag = np.array(sheet.c_row[:count]), np.array(sheet.c_flag[:count])
        features = np.array(sheet.features[: count * len(FEATURES)]).reshape(count, len(FEATURES))
    points: dict[int, list[tuple[float, float]]] = {}
    for hit, unit in zip(gold, unit_of, strict=True):
        points.setdefault(unit, []).append(example.gold[hit])
    blocks: list[Block] = []
    for unit, spots in points.items():
        low, high = int(at[unit]), int(at[unit + 1])
        if high - low < 2:
            continue
        target = unit_vectors(np.array([spots[0][0]]), np.array([spots[0][1]]))[0]
        closeness = gazetteer.arrays["xyz"][row[low:high]] @ target
        closeness[flag[low:high] == WITHIN] -= 1.0  # a container is right only where no real candidate is
        near = np.cos(_LABEL_KM / 6371)
        if closeness.max() > near or closeness.max() + 1.0 > near > 1.0 + closeness.min():
            right = int(np.argmax(closeness))
            if closeness[right] <= near:
                inside = np.where(flag[low:high] == WITHIN, closeness + 1.0, -2.0)
                right = int(np.argmax(inside))
                if inside[right] <= near:
                    continue
            blocks.append((features[low:high], right, example.importance * len(spots) ** 0.5))
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
