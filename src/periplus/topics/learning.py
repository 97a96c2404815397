"""A topic from sample documents: keywords by contrast or a small logistic, target places, and thresholds.

With unlabelled pages (a crawl's, or any others) the keyword step is a logistic regression of the samples against
them; without, weights are contrasts to general English. Either way the result is a list of words with weights that a
person can read and change. Half points come from the samples' own cross-validated scores. Pure and deterministic.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from periplus.model import Place
from periplus.settings import LearntSettings
from periplus.topics.logistic import fit_logistic
from periplus.topics.reading import Reading
from periplus.topics.targets import Candidate, PlaceOf, find_candidates, find_targets, share_in
from periplus.topics.words import stem_phrase

__all__ = ["Learnt", "learn", "learn_paper"]

MAX_KEYWORDS = 140
MAX_AGAINST = 60
CONTRAST_KEYWORDS = 200
LOGISTIC_HALF = 0.30
COSINE_HALF = 0.7
"""Half points as parts of the median of the samples' own scores."""

PLACE_HALF = 0.12
MAX_BACKGROUND = 300
LOCAL_BACKGROUND = 0.8
"""Part of the unlabelled pages that name a target place, as far as there are such: the hard cases."""

ASSOCIATED = 3.0
"""The words of a phrase stand side by side this many times as often as chance would have it."""

FOLDS = 5
PAPER_TERMS = 10

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt: keyed by stems, which `names` turns into words that occur in the samples."""

    keywords: dict[str, float]
    against: dict[str, float]
    places: dict[Place, float]
    settings: LearntSettings
    candidates: tuple[Candidate, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)  # samples with the term


def learn(
    samples: Sequence[Reading],
    background: Sequence[Reading] = (),
    *,
    place_of: PlaceOf,
    rejected: Sequence[Reading] = (),
    targets: Sequence[Place] = (),
    language: str = "en",
) -> Learnt:
    """Learn from samples, unlabelled pages, and pages that were judged not to belong (they count ten times)."""
    candidates = find_candidates(samples, background, place_of)
    chosen = list(targets) or find_targets(samples, background, place_of)
    others = _background(background, {place.id for place in chosen})
    if others or rejected:
        keywords, against, settings = _by_logistic(samples, others, rejected)
    else:
        keywords, against, settings = _by_contrast(samples, language)
    found = Counter(term for reading in samples for term in (*reading.stems, *reading.pairs))
    return Learnt(
        keywords=keywords,
        against=against,
        places=dict.fromkeys(chosen, 1.0),
        settings=LearntSettings(
            form=settings.form,
            scale=settings.scale,
            bias=settings.bias,
            keyword_half=settings.keyword_half,
            place_half=PLACE_HALF,
            language=language,
        ),
        candidates=tuple(candidates[:10]),
        counts={term: found[term] for term in (*keywords, *against)},
    )


def learn_paper(samples: Sequence[Reading], *, place_of: PlaceOf, terms: int = PAPER_TERMS) -> Learnt:
    """The paper's way: the most frequent words and the most frequent places, weight = tf / max tf."""
    words: Counter[str] = Counter()
    places: Counter[Place] = Counter()
    for reading in samples:
        words.update(reading.stems)
        for place, mass in reading.places.items():
            places[place] += int(mass)
    top_words, top_places = words.most_common(terms), places.most_common(terms)
    most_word = top_words[0][1] if top_words else 1
    most_place = top_places[0][1] if top_places else 1
    return Learnt(
        keywords={word: count / most_word for word, count in top_words},
        against={},
        places={place: count / most_place for place, count in top_places if count},
        settings=LearntSettings(),
        candidates=tuple(find_candidates(samples, (), place_of)[:10]),
        counts=dict(top_words),
    )


# -- Keywords ----------------------------------------------------------------------------------------


def _background(pages: Sequence[Reading], targets: set[int]) -> list[Reading]:
    """The unlabelled pages to learn against, most of them from the targets: so topic and place are told apart."""
    local = [page for page in pages if any(share_in(page, target) > 0 for target in targets)]
    local = local[: int(MAX_BACKGROUND * LOCAL_BACKGROUND)]
    taken = {id(page) for page in local}
    return local + [page for page in pages if id(page) not in taken][: MAX_BACKGROUND - len(local)]


def _by_logistic(
    samples: Sequence[Reading], others: Sequence[Reading], rejected: Sequence[Reading]
) -> tuple[dict[str, float], dict[str, float], LearntSettings]:
    vocabulary = _vocabulary(samples)
    readings = [*samples, *others, *rejected]
    x = _matrix(readings, vocabulary)
    y = np.zeros(len(readings))
    y[: len(samples)] = 1.0
    importance = np.ones(len(readings))
    importance[len(samples) + len(others) :] = 10.0
    gram = x @ x.T
    dual, bias = fit_logistic(gram, y, importance)
    weights = x.T @ dual
    order = np.argsort(-weights, kind="stable")
    good = [int(i) for i in order[:MAX_KEYWORDS] if weights[i] > 0]
    bad = [int(i) for i in order[::-1][:MAX_AGAINST] if weights[i] < 0]
    scale = max(float(np.abs(weights[[*good, *bad]]).max()) if good or bad else 0.0, 1e-6)
    keywords = {vocabulary[i]: float(weights[i]) / scale for i in good}
    against = {vocabulary[i]: -float(weights[i]) / scale for i in bad}
    own = _cross_validated(gram, y, importance, len(samples))
    half = LOGISTIC_HALF * float(np.median(own))
    return keywords, against, LearntSettings(form="logistic", scale=scale, bias=bias, keyword_half=half)


def _cross_validated(gram: Matrix, y: Matrix, importance: Matrix, samples: int) -> Matrix:
    """The samples' scores, each by a model that has not seen it."""
    scores = np.full(samples, 0.5)
    folds = min(FOLDS, samples)
    if folds < 2:
        return scores
    position = np.arange(len(y))
    for fold in range(folds):
        out = (position < samples) & (position % folds == fold)
        seen = np.flatnonzero(~out)
        dual, bias = fit_logistic(gram[np.ix_(seen, seen)], y[seen], importance[seen])
        held = np.flatnonzero(out)
        scores[held] = 1.0 / (1.0 + np.exp(-np.clip(gram[np.ix_(held, seen)] @ dual + bias, -500, 500)))
    return scores


def _by_contrast(
    samples: Sequence[Reading], language: str
) -> tuple[dict[str, float], dict[str, float], LearntSettings]:
    weights = _contrast(samples, language)
    top = max(weights.values(), default=1.0)
    keywords = {term: weight / top for term, weight in weights.items()}
    scale = 1.0 / (math.sqrt(sum(weight**2 for weight in keywords.values())) or 1.0)
    own = []
    folds = min(FOLDS, len(samples))
    for fold in range(folds):
        seen = [reading for i, reading in enumerate(samples) if i % folds != fold]
        other = _contrast(seen or samples, language)
        norm = math.sqrt(sum(weight**2 for weight in other.values())) or 1.0
        own += [_linear(reading, other) / norm for i, reading in enumerate(samples) if i % folds == fold]
    half = COSINE_HALF * max(0.0, float(np.median(own))) if own else 0.0
    return keywords, {}, LearntSettings(form="cosine", scale=scale, keyword_half=min(1.0, half or 0.05))


def _contrast(samples: Sequence[Reading], language: str) -> dict[str, float]:
    """(Share of samples with the term) · log(that share / its share of general pages); the highest ones."""
    least = 2 if len(samples) > 1 else 1
    phrases = frozenset(_phrases(samples, least))
    found = Counter(term for reading in samples for term in (*reading.stems, *(reading.pairs.keys() & phrases)))
    length = sum(reading.words for reading in samples) / max(1, len(samples))
    weights: dict[str, float] = {}
    for term, count in found.items():
        share = count / len(samples)
        general = _general_share(term, language, length)
        if count >= least and share > general:
            weights[term] = share * math.log(share / general)
    order = sorted(weights, key=lambda term: (-weights[term], term))[:CONTRAST_KEYWORDS]
    return {term: weights[term] for term in order}


def _linear(reading: Reading, weights: dict[str, float]) -> float:
    counts = (
        (weights[term], n) for bag in (reading.stems, reading.pairs) for term, n in bag.items() if term in weights
    )
    return sum(weight * (1.0 + math.log(n)) for weight, n in counts) / (reading.norm or 1.0)


def _general_share(term: str, language: str, words: float) -> float:
    """In which share of pages of that length a term is expected."""
    frequency = _general_frequencies() if language == "en" else {}
    rates = [frequency.get(word, 1e-6) for word in term.split(" ")]
    rate = math.prod(rates) * 20 ** (len(rates) - 1)  # neighbours that make sense are commoner than chance
    return max(1e-4, 1.0 - math.exp(-rate * max(words, 50.0)))


@cache
def _general_frequencies() -> dict[str, float]:
    """Rates of English stems by Zipf's law from a ranked list of words of an encyclopedia."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415  large, and only needed here

    rates: dict[str, float] = {}
    for rank, word in enumerate(FREQUENCY_LISTS["english_wikipedia"], start=1):
        stem = stem_phrase(word, "en")
        rates[stem] = rates.get(stem, 0.0) + 0.1 / rank
    return rates


def _vocabulary(samples: Sequence[Reading]) -> list[str]:
    """All stems of the samples, and their phrases."""
    stems = dict.fromkeys(stem for reading in samples for stem in reading.stems)
    return [*stems, *_phrases(samples, least=2)]


def _phrases(samples: Sequence[Reading], least: int) -> list[str]:
    """Pairs of words that occur in so many samples, and far oftener side by side than chance would have them."""
    samples_with = Counter(pair for reading in samples for pair in reading.pairs)
    side_by_side, single = Counter[str](), Counter[str]()
    for reading in samples:
        side_by_side.update(reading.pairs)
        single.update(reading.stems)
    words = sum(single.values())
    found = []
    for pair, count in samples_with.items():
        if count >= least:
            first, _, second = pair.partition(" ")
            by_chance = single[first] * single[second] / max(1, words)
            if side_by_side[pair] >= ASSOCIATED * by_chance:
                found.append(pair)
    return found


def _matrix(readings: Sequence[Reading], vocabulary: Sequence[str]) -> Matrix:
    """1 + log count of each term, by the page's whole norm."""
    column = {term: i for i, term in enumerate(vocabulary)}
    x = np.zeros((len(readings), len(vocabulary)))
    for row, reading in enumerate(readings):
        norm = reading.norm or 1.0
        for bag in (reading.stems, reading.pairs):
            for term, count in bag.items():
                i = column.get(term)
                if i is not None:
                    x[row, i] = (1.0 + math.log(count)) / norm
    return x
