"""What ranking says about whether a name is a place at all: small towns are believed where their surroundings are."""

from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.places.build import KINDS
from periplus.places.gazetteer import Gazetteer
from periplus.places.rank import COLUMN, WITHIN, Evidence, Ranked

__all__ = ["SUPPORT", "best_of", "support_of"]

I64 = npt.NDArray[np.int64]

SUPPORT: Final[dict[str, tuple[str, ...]]] = {
    "near": ("none", "<0.3", "<0.7", "<1.2", "1.2+"),
    "around": ("none", "<0.6", "<1.2", "<2", "2+"),
    "division": ("not_named", "named", "close"),
    "same_division": ("none", "<20%", "<50%", "50%+"),
    "host": ("unknown", "far", "<0.3", "<0.6", "0.6+"),
    "placed_kind": (*KINDS, "within", "none"),
    "certainty": ("<40%", "<70%", "<90%", "90%+"),
}
"""Groups of categories, like those of `context`, but known only after ranking."""


def best_of(ranked: Ranked, units: int) -> I64:
    """For each unit the index of its best candidate, -1 if it has none."""
    best = np.full(units, -1, dtype=np.int64)
    order = np.lexsort((ranked.probability, ranked.unit))
    best[ranked.unit[order]] = order  # the last one written is the likeliest
    return best


def support_of(ranked: Ranked, best: I64, gazetteer: Gazetteer, evidence: Evidence) -> dict[str, I64]:
    """The categories of every unit, given its best candidate."""
    none = best < 0
    at = np.maximum(best, 0)
    if not len(ranked.row):
        return {group: np.zeros(len(best), dtype=np.int64) for group in SUPPORT} | {
            "placed_kind": np.full(len(best), len(KINDS) + 1)
        }
    x = ranked.features[at]
    kind = gazetteer.arrays["kind"][ranked.row[at]].astype(np.int64)
    kind[ranked.flag[at] == WITHIN] = len(KINDS)
    kind[none] = len(KINDS) + 1
    named = x[:, COLUMN["named_admin1"]] + x[:, COLUMN["named_admin2"]] > 0
    close = np.maximum(x[:, COLUMN["close_admin1"]], x[:, COLUMN["close_admin2"]]) > 0.3
    has_host = evidence.prior is not None and bool(evidence.prior.weights)
    host = (
        np.digitize(x[:, COLUMN["host_near"]], (0.1, 0.3, 0.6)) + 1 if has_host else np.zeros(len(best), dtype=np.int64)
    )
    codes = {
        "near": np.digitize(x[:, COLUMN["near_40km"]], (0.1, 0.3, 0.7, 1.2)),
        "around": np.digitize(x[:, COLUMN["near_250km"]], (0.2, 0.6, 1.2, 2.0)),
        "division": named.astype(np.int64) + (named & close),
        "same_division": np.digitize(x[:, COLUMN["same_admin1"]], (0.05, 0.2, 0.5)),
        "host": host,
        "placed_kind": kind,
        "certainty": np.digitize(ranked.probability[at], (0.4, 0.7, 0.9)),
    }
    for group in ("near", "around", "division", "same_division", "certainty"):
        codes[group] = np.where(none, 0, codes[group])
    return codes
