"""The learnt weights: read from `weights.json`, which `scripts/train_places.py` writes and people can read."""

import importlib.resources
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from periplus.places.context import GROUPS
from periplus.places.rank import FEATURES
from periplus.places.sheet import Reals, reals
from periplus.places.support import CATEGORIES, SUPPORT

__all__ = ["Logistic", "Weights", "default_weights", "weights_from"]


@dataclass(frozen=True, slots=True)
class Logistic:
    """A bias and a weight per category of each group, flat: a row per group, the bias after the last."""

    flat: Reals


@dataclass(frozen=True, slots=True)
class Weights:
    """Screening sees the context only, acceptance also what ranking found; ranking is one number per feature."""

    screening: Logistic
    acceptance: Logistic
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


def weights_from(data: dict[str, Any]) -> Weights:
    """Weights out of the file's JSON."""
    ranking = data["ranking"]["weights"]
    return Weights(
        _logistic(data["screening"]),
        _logistic(data["acceptance"]),
        float(data["acceptance"]["threshold"]),
        reals(np.array([ranking.get(name, 0.0) for name in FEATURES], dtype=np.float64)),
    )


@cache
def default_weights() -> Weights:
    """The weights that ship with the package."""
    text = (importlib.resources.files("periplus.places") / "weights.json").read_text(encoding="utf-8")
    return weights_from(json.loads(text))
