"""Strategy `anchor` of paper A: a target in the link's text or in a window of words around it; the closest wins."""

import itertools
from collections.abc import Sequence

import numpy as np

from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.closeness import closest
from periplus.strategies.general import general_claims
from periplus.strategies.names import Candidate, NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy
from periplus.strategies.textnames import Named, TextNames

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
        claims = [self._claims(near) for near in self.nearby(links, page)]
        return [own or none for own, none in zip(claims, general_claims(self._ownership, links), strict=True)]

    def nearby(self, links: Sequence[Link], page: Page) -> list[list[tuple[int, Named]]]:
        """For each link the names around it with their distance in tokens (0: in the link's text), closest first."""
        text = page.text
        inside = [0 <= link.start <= link.end <= len(text) and text != "" for link in links]
        spans = [(link.start, link.end) for link, known in zip(links, inside, strict=True) if known]
        found = iter(self._around(text, spans) if spans else ())
        return [next(found) if known else self._beside(link) for link, known in zip(links, inside, strict=True)]

    def _beside(self, link: Link) -> list[tuple[int, Named]]:
        """The names around a link that does not know where it stands."""
        begin = len(link.before) + 1
        text = f"{link.before} {link.anchor} {link.after}"
        return self._around(text, [(begin, begin + len(link.anchor))])[0]

    def _around(self, text: str, spans: Sequence[tuple[int, int]]) -> list[list[tuple[int, Named]]]:
        """Names within the window around each span, closest first; at the same distance the one before it."""
        found = self._names.find(text)
        if not found:
            return [[] for _ in spans]
        starts, ends = [named.start for named in found], [named.end for named in found]
        words = _words_before(text, [*starts, *ends, *itertools.chain.from_iterable(spans)])
        near = closest(starts, ends, spans, words, WINDOW_TOKENS, NEIGHBOURS)
        return [[(distance, found[n]) for distance, n in one] for one in near]

    def _claims(self, near: list[tuple[int, Named]]) -> Claims:
        if not near:
            return ()
        targets = tuple([named.candidate for _, named in near if named.candidate.node is not None])
        claims = self._claimed.get(targets)
        if claims is None:
            if len(self._claimed) >= MEMO_CLAIMS:
                self._claimed.clear()
            claims = self._claimed[targets] = _claims_of(targets)
        return claims


def _claims_of(candidates: tuple[Candidate, ...]) -> Claims:
    nodes: dict[str, Assignment] = {}
    for candidate in candidates:
        if candidate.node is not None:
            nodes.setdefault(candidate.node, Assignment(candidate.node, candidate.place.id, "anchor"))
    return tuple(nodes.values())


def _words_before(text: str, places: Sequence[int]) -> list[int]:
    """How many blanks stand before each of these places."""
    codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8)  # a byte for each letter
    blanks = np.flatnonzero((codes == ord(" ")) | (codes == ord("\n")))
    found: list[int] = np.searchsorted(blanks, places).tolist()
    return found
