"""The learnt weights: read from `weights.json`, which `scripts/train_places.py` writes and people can read."""

import importlib.resources
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from periplus.errors import UsageError
from periplus.places.context import GROUPS
from periplus.places.folding import name_keys
from periplus.places.rank import FEATURES
from periplus.places.sheet import Ints, Reals, ints, reals
from periplus.places.support import CATEGORIES, SUPPORT, WORD_BITS, WORDS

__all__ = ["Logistic", "Weights", "WordWeights", "default_weights", "weights_from"]


@dataclass(frozen=True, slots=True)
class Logistic:
    """A bias and a weight per category of each group, flat: a row per group, the bias after the last."""

    flat: Reals


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Weights of single words by where they stand: a hash table of their keys, and a row of weights for each place."""

    keys: Ints
    flat: Reals


@dataclass(frozen=True, slots=True)
class Weights:
    """Screening sees the context only, acceptance also what ranking found and the words; ranking is one number a
    feature."""

    screening: Logistic
    acceptance: Logistic
    words: WordWeights
    threshold: float
    ranking: Reals


def _logistic(data: dict[str, Any]) -> Logistic:
    """Categories that the file does not mention weigh nothing."""
    groups = {**GROUPS, **SUPPORT}
    flat = np.zeros(len(groups) * CATEGORIES + 1)
    for row, (group, names) in enumerate(groups.items()):
        known = data["groups"].get(group, {})
        flat[row * CATEGORIES : row * CATEGORIES + len(names)] = [known.get(name, 0.0) for name in names]
    flat[-1] = data["bias"]
    return Logistic(reals(flat))


def _word_weights(data: dict[str, dict[str, float]]) -> WordWeights:
    size = 1 << WORD_BITS
    words = sorted({word for place in WORDS for word in data.get(place, {})})
    if 2 * len(words) > size:
        raise UsageError(f"{len(words)} words have weights of their own; at most {size // 2} may")
    keys, flat = np.zeros(size, dtype=np.uint64), np.zeros((size, len(WORDS)))
    for word, key in zip(words, name_keys(words).tolist(), strict=True):
        slot = key % size
        while keys[slot] and keys[slot] != key:
            slot = (slot + 1) % size
        keys[slot] = key
        flat[slot] = [data.get(place, {}).get(word, 0.0) for place in WORDS]
    return WordWeights(ints(keys), reals(flat))


def weights_from(data: dict[str, Any]) -> Weights:
    """Weights out of the file's JSON."""
    ranking = data["ranking"]["weights"]
    return Weights(
        _logistic(data["screening"]),
        _logistic(data["acceptance"]),
        _word_weights(data["acceptance"].get("words", {})),
        float(data["acceptance"]["threshold"]),
        reals(np.array([ranking.get(name, 0.0) for name in FEATURES], dtype=np.float64)),
    )


@cache
def default_weights() -> Weights:
    """The weights that ship with the package."""
    text = (importlib.resources.files("periplus.places") / "weights.json").read_text(encoding="utf-8")
    return weights_from(json.loads(text))
