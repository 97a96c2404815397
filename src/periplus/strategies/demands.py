"""How probable a link must be its own for a node to take it: the more the node has waiting, the more it asks for.

A node with nothing to do takes what is worth a third of what links have been worth in this crawl. One with a long queue
would fetch the doubtful before the certain; it asks for what is usual among the links that speak for it, but for no
more than MOST, since what is usual differs from web to web. What it leaves goes to a general node. Of nodes on other
machines nobody here knows what they have waiting, so they ask for nothing more.
"""

from collections.abc import Iterable

from periplus.strategies.blend import ENOUGH

__all__ = ["Demands"]

MOST = 0.45
MANY = 30
"""So many waiting make a node ask for all that it ever asks for."""

FIRST = 0.6
"""What is taken for usual before anything is known: a short crawl has no time to become choosy."""

USUAL = 0.6
STEP = 0.01
"""Of the links that speak for a node, this share is less probable than what is usual; each link moves it a little."""


WORTH = 0.33
"""A node asks for at least this part of what links have been worth that geographic nodes got: where most of them led to
pages of their places, a doubtful one is a download of which another node would make more."""

FEW = 20
"""So many links of the least worth are taken for granted before any have been followed."""


class Demands:
    """What nodes ask for, as `bars`. Depends on nothing but the order of the calls."""

    def __init__(self) -> None:
        self.bars: dict[str, float] = {}
        self._waiting: dict[str, int] = {}
        self._here: set[str] = set()  # nodes that were seen at work
        self._usual: dict[str, float] = {}
        self._followed, self._right = float(FEW), FEW * ENOUGH / WORTH

    @property
    def least(self) -> float:
        """What a node asks for that has nothing to do."""
        return max(ENOUGH, WORTH * self._right / self._followed)

    def came(self, *, right: bool) -> None:
        """Take up that a link was followed that a geographic node got, and whether it led to a page of its places."""
        self._followed += 1
        self._right += right

    def present(self, nodes: Iterable[str]) -> None:
        """Take up which nodes work here, before they have done anything."""
        self._here.update(nodes)

    def take_up(self, receiver: str, likeliest: tuple[str, float]) -> None:
        """Take up a new link: who got it, and for which geographic node most spoke."""
        node, probability = likeliest
        self._waiting[receiver] = self._waiting.get(receiver, 0) + 1
        if node and probability >= ENOUGH:
            usual = self._usual.get(node, FIRST)
            self._usual[node] = usual + (STEP * USUAL if probability > usual else STEP * (USUAL - 1.0))
            self._ask(node)
        if receiver != node:
            self._ask(receiver)

    def ended(self, node: str) -> None:
        """Take up that a node is done with one of its URLs."""
        self._here.add(node)
        if self._waiting.get(node):
            self._waiting[node] -= 1
        self._ask(node)

    def _ask(self, node: str) -> None:
        if node not in self._here:
            return
        least = self.least
        full = max(least, min(MOST, self._usual.get(node, FIRST)))
        self.bars[node] = least + (full - least) * min(1.0, self._waiting.get(node, 0) / MANY)
