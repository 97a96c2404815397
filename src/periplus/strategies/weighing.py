"""What `blend` weighs: kinds of evidence for a node, their weights, and the probability that they make.

A conditional logit: every node with evidence is an alternative, the general nodes together are another. An
alternative's score is the sum of its features times their weights, and the probabilities are the scores' softmax. The
weights are learnt offline on recorded webs (`make train-blend`) and kept in weights.json, with what they were learnt
on.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from periplus.model import LinkPosition

__all__ = ["FEATURES", "Features", "Terms", "Weights", "feature", "learnt_weights", "probabilities", "stepped"]

Weights = tuple[float, ...]
"""One weight for each of FEATURES."""

Terms = tuple[tuple[int, int, float], ...]
"""Evidence about a link: place id, feature, strength."""

Features = Mapping[str | None, Mapping[int, float]]
"""The features of each alternative: nodes by name, the general ones as None."""

BY_POSITION = ("anchor", "around", "content of the same host", "content of another host")
FEATURES: tuple[str, ...] = (
    "url with its region",
    "url host",
    "url path",
    *(f"{kind}, {position.name.lower()}" for kind in BY_POSITION for position in LinkPosition),
    "address, same host",
    "address, another host",
    "parent's node, same host",
    "parent's node, another host",
    "host's pages",
    "host's pages, clearly",
    "host's addresses",
    "nowhere",
    "url, nobody's place",
    "anchor, nobody's place",
    "content, nobody's place",
    "address, nobody's place",
    "host's pages, nobody's place",
    "host's pages, no place",
    "host's pages, no address",
    "url, nothing else",
    "anchor, nothing else",
    "url host, before a word",
)
_NUMBERS = {name: number for number, name in enumerate(FEATURES)}


@cache
def feature(kind: str, position: LinkPosition | None = None) -> int:
    """The number of a feature."""
    return _NUMBERS[kind if position is None else f"{kind}, {position.name.lower()}"]


@cache
def learnt_weights() -> Weights:
    """The weights that come with the program."""
    data = json.loads((resources.files("periplus.strategies") / "weights.json").read_text("utf-8"))
    return tuple(float(data["weights"].get(name, 0.0)) for name in FEATURES)


def probabilities(features: Features, weights: Sequence[float], odds: float = 0.0) -> dict[str | None, float]:
    """The probability of each alternative; `odds` are log odds for all that are not general."""
    scores = {node: sum(weights[i] * value for i, value in found.items()) for node, found in features.items()}
    scores[None] -= odds
    top = max(scores.values())
    parts = {node: math.exp(score - top) for node, score in scores.items()}
    total = sum(parts.values())
    return {node: part / total for node, part in parts.items()}


def stepped(weights: list[float], features: Features, outcome: str | None, rate: float, odds: float = 0.0) -> float:
    """Learn from one outcome: a step that makes it more probable; gives by how much the page was more geographic.

    An outcome for which nothing spoke cannot be learnt but for the general alternative.
    """
    chances = probabilities(features, weights, odds)
    outcome = outcome if outcome in features else None
    for node, found in features.items():
        wrong = (1.0 if node == outcome else 0.0) - chances[node]
        for i, value in found.items():
            weights[i] += rate * wrong * value
    return chances[None] - (outcome is None)
