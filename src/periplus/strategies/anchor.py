"""Strategy `anchor` of paper A: a target in the link's text or in a window of words around it; the closest wins."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.closeness import Near, claims_near, closest
from periplus.strategies.general import general_claims
from periplus.strategies.names import Candidate, NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy
from periplus.strategies.textnames import TextNames

__all__ = ["AnchorStrategy"]

WINDOW_TOKENS = 50
MEMO_CLAIMS = 50_000
NEIGHBOURS = 2
"""So many names on each side of a link are looked at."""


class AnchorStrategy(Strategy):
    """Looks for names around links: in the page's text at once where links know their position in it."""

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer, table: NameTable | None = None) -> None:
        self._ownership = ownership
        self._claimed: dict[tuple[Candidate, ...], Claims] = {}
        self._names = TextNames(table or NameTable(ownership, gazetteer))

    def route(
        self, links: Sequence[Link], page: Page, _located: Located, _known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """Owners of the targets around each link, the closest first; else a general node."""
        if len(self._claimed) >= MEMO_CLAIMS:
            self._claimed.clear()
        nobody = general_claims(self._ownership, links)
        return claims_near(self.nearby(links, page), nobody, self._claimed, self._made)

    def nearby(self, links: Sequence[Link], page: Page) -> list[Near]:
        """For each link the names around it with their distance in tokens (0: in the link's text), closest first."""
        found = self._around(page.text, links)
        return [self._beside(link) if near is None else near for link, near in zip(links, found, strict=True)]

    def _beside(self, link: Link) -> Near:
        """The names around a link that does not know where it stands."""
        begin = len(link.before) + 1
        text = f"{link.before} {link.anchor} {link.after}"
        return self._around(text, [Link("", "", start=begin, end=begin + len(link.anchor))])[0] or []

    def _around(self, text: str, links: Sequence[Link]) -> list[Near | None]:
        """Names within the window around each link, closest first; None for links that do not stand in the text."""
        return closest(self._names.find(text), links, _words_before(text), WINDOW_TOKENS, NEIGHBOURS)

    def _made(self, targets: tuple[Candidate, ...]) -> Claims:
        """The claims that follow from these places around a link; remembered."""
        claims = self._claimed[targets] = _claims_of(targets)
        return claims


def _claims_of(candidates: tuple[Candidate, ...]) -> Claims:
    nodes: dict[str, Assignment] = {}
    for candidate in candidates:
        if candidate.node is not None:
            nodes.setdefault(candidate.node, Assignment(candidate.node, candidate.place.id, "anchor"))
    return tuple(nodes.values())


def _words_before(text: str) -> Sequence[int]:
    """How many blanks stand before each offset of the text."""
    codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8)  # a byte for each letter
    counts = np.zeros(len(text) + 1, np.int32)
    np.cumsum((codes == ord(" ")) | (codes == ord("\n")), out=counts[1:])
    return cast("Sequence[int]", counts.data)
