"""Strategy `anchor` of paper A: a target in the link's text or in a window of words around it; the closest wins."""

from bisect import bisect_left
from collections.abc import Sequence

from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.hash import host_of
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
        return [self._claims(link, near) for link, near in zip(links, self.nearby(links, page), strict=True)]

    def nearby(self, links: Sequence[Link], page: Page) -> list[list[tuple[int, Named]]]:
        """For each link the names around it with their distance in tokens (0: in the link's text), closest first."""
        whole: list[Named] | None = None
        starts: list[int] = []
        result = []
        for link in links:
            if 0 <= link.start <= link.end <= len(page.text) and page.text:
                if whole is None:
                    whole = self._names.find(page.text)
                    starts = [named.start for named in whole]
                result.append(_around(whole, starts, page.text, link.start, link.end) if whole else [])
            else:
                text = f"{link.before} {link.anchor} {link.after}"
                begin = len(link.before) + 1
                found = self._names.find(text)
                result.append(_around(found, [n.start for n in found], text, begin, begin + len(link.anchor)))
        return result

    def _claims(self, link: Link, near: list[tuple[int, Named]]) -> Claims:
        targets = tuple(named.candidate for _, named in near if named.candidate.node is not None)
        if targets:
            claims = self._claimed.get(targets)
            if claims is None:
                if len(self._claimed) >= MEMO_CLAIMS:
                    self._claimed.clear()
                claims = self._claimed[targets] = _claims_of(targets)
            return claims
        return (Assignment(self._ownership.general_for(host_of(link.url)), None, "no_place"),)


def _claims_of(candidates: tuple[Candidate, ...]) -> Claims:
    nodes: dict[str, Assignment] = {}
    for candidate in candidates:
        if candidate.node is not None:
            nodes.setdefault(candidate.node, Assignment(candidate.node, candidate.place.id, "anchor"))
    return tuple(nodes.values())


def _around(found: list[Named], starts: list[int], text: str, start: int, end: int) -> list[tuple[int, Named]]:
    """Names within the window, closest first; at the same distance the one before the link."""
    near = []
    at = bisect_left(starts, start)
    for named in found[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]:
        if named.end <= start:
            distance = 1 + _spaces(text, named.end, start)
        elif named.start >= end:
            distance = 1 + _spaces(text, end, named.start)
        else:
            distance = 0
        if distance <= WINDOW_TOKENS:
            near.append((distance, named))
    near.sort(key=lambda pair: (pair[0], pair[1].start))
    return near


def _spaces(text: str, start: int, end: int) -> int:
    return text.count(" ", start, end) + text.count("\n", start, end)
