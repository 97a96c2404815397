"""The inner loop of `blend`: from a link's evidence to the probability of each node.

Nodes are numbers here, in the order of their names; NOBODY stands for the general ones together. The same sums in the
same order as `weighing.probabilities` over `BlendStrategy.features`, without making these. Plain Python; compiled
where there is a C compiler (`chances.pxd`).
"""

import math
from collections.abc import Sequence

__all__ = ["NOBODY", "HostPart", "leader", "weigh"]

NOBODY = -1
_NOBODY = NOBODY  # has a C type in chances.pxd

HostPart = tuple[tuple[tuple[int, int, float], ...], tuple[tuple[int, int, float], ...]]
"""What a host's pages say: features of nodes, and of the general ones (node, feature, value); nodes in order."""


def weigh(  # noqa: PLR0917  a function in C, where names of arguments cost time
    terms: Sequence[tuple[int, int, float]],
    owners: dict[int, int],
    nobodys: list[int],
    nowhere: int,
    host: HostPart,
    parent: int,
    parent_feature: int,
    weights: list[float],
    odds: float,
) -> tuple[list[int], list[float]]:
    """The nodes that anything speaks for, the general ones first, and the probability of each.

    `terms` are (place, feature, strength), each place is in `owners`; `nobodys` has for a feature what it becomes for a
    place that nobody owns, `nowhere` is the feature that general nodes always have. `parent` is the node that has the
    page, with the feature that this is, or NOBODY.
    """
    nodes, features, values = [_NOBODY], [nowhere], [1.0]
    for place, feature, strength in terms:
        node = owners[place]
        if node == _NOBODY:
            feature = nobodys[feature]  # noqa: PLW2901  the same evidence, for nobody's place
        for i in range(len(nodes)):
            if nodes[i] == node and features[i] == feature:
                values[i] = min(1.0, values[i] + strength)
                break
        else:
            nodes.append(node)
            features.append(feature)
            values.append(min(1.0, strength))
    named, scores = [_NOBODY], [0.0]
    for i in range(len(nodes)):
        _add(named, scores, nodes[i], weights[features[i]] * values[i])
    for node, feature, value in host[0]:
        _add(named, scores, node, weights[feature] * value)
    for node, feature, value in host[1]:
        _add(named, scores, node, weights[feature] * value)
    if parent != _NOBODY:
        _add(named, scores, parent, weights[parent_feature])
    scores[0] -= odds
    return named, _softmax(scores)


def _add(named: list[int], scores: list[float], node: int, score: float) -> None:
    """Add to a node's score."""
    for i in range(len(named)):
        if named[i] == node:
            scores[i] += score
            return
    named.append(node)
    scores.append(score)


def _softmax(scores: list[float]) -> list[float]:
    """Probabilities out of scores."""
    top = max(scores)
    total = 0.0
    for i in range(len(scores)):
        scores[i] = math.exp(scores[i] - top)
        total += scores[i]
    for i in range(len(scores)):
        scores[i] /= total
    return scores


def leader(nodes: list[int], chances: list[float]) -> int:
    """Where the most probable node stands that is not general, the first by name of equal ones; 0 if there is none."""
    best = 0
    for i in range(1, len(nodes)):
        if best == 0 or chances[i] > chances[best] or (chances[i] == chances[best] and nodes[i] < nodes[best]):
            best = i
    return best
