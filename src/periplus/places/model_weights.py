"""The learnt weights: read from `weights.json`, which `scripts/train_places.py` writes and people can read."""

import importlib.resources
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from periplus.places.context import GROUPS

__all__ = ["Weights", "default_weights", "weights_from"]

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """Acceptance: a bias and one table per context group. Ranking: one number per feature name."""

    bias: float
    tables: dict[str, F64]
    threshold: float
    ranker: dict[str, float]


def weights_from(data: dict[str, Any]) -> Weights:
    """Weights out of the file's JSON; categories that it does not mention weigh nothing."""
    accept = data["acceptance"]
    tables = {
        group: np.array([accept["groups"].get(group, {}).get(name, 0.0) for name in names], dtype=np.float64)
        for group, names in GROUPS.items()
    }
    return Weights(float(accept["bias"]), tables, float(accept["threshold"]), dict(data["ranking"]["weights"]))


@cache
def default_weights() -> Weights:
    """The weights that ship with the package."""
    text = (importlib.resources.files("periplus.places") / "weights.json").read_text(encoding="utf-8")
    return weights_from(json.loads(text))
