"""The learnt weights: read from `weights.json`, which `scripts/train_places.py` writes and people can read."""

import importlib.resources
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from periplus.places.context import GROUPS
from periplus.places.rank import FEATURES
from periplus.places.support import SUPPORT

__all__ = ["Logistic", "Weights", "default_weights", "weights_from"]

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Logistic:
    """A bias and one table of weights per group of categories."""

    bias: float
    tables: dict[str, F64]

    def probability(self, codes: dict[str, npt.NDArray[np.int64]]) -> F64:
        """The probability of each item, given its category in every group."""
        score = np.full(len(next(iter(codes.values()))), self.bias)
        for group, table in self.tables.items():
            score += table[codes[group]]
        result: F64 = 1.0 / (1.0 + np.exp(-score))
        return result


@dataclass(frozen=True, slots=True)
class Weights:
    """Screening sees the context only, acceptance also what ranking found; ranking is one number per feature."""

    screening: Logistic
    acceptance: Logistic
    threshold: float
    ranking: F64


def _logistic(data: dict[str, Any], groups: dict[str, tuple[str, ...]]) -> Logistic:
    """Categories that the file does not mention weigh nothing."""
    tables = {
        group: np.array([data["groups"].get(group, {}).get(name, 0.0) for name in names], dtype=np.float64)
        for group, names in groups.items()
    }
    return Logistic(float(data["bias"]), tables)


def weights_from(data: dict[str, Any]) -> Weights:
    """Weights out of the file's JSON."""
    ranking = data["ranking"]["weights"]
    return Weights(
        _logistic(data["screening"], GROUPS),
        _logistic(data["acceptance"], {**GROUPS, **SUPPORT}),
        float(data["acceptance"]["threshold"]),
        np.array([ranking.get(name, 0.0) for name in FEATURES], dtype=np.float64),
    )


@cache
def default_weights() -> Weights:
    """The weights that ship with the package."""
    text = (importlib.resources.files("periplus.places") / "weights.json").read_text(encoding="utf-8")
    return weights_from(json.loads(text))
