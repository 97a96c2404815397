"""Strategy `blend`, ours: all evidence about a link in one probability for each node.

Evidence is a place and a weight: the link's URL, the names around the link, what its page is about, the node that
has the page, the address it came from, and (strongest) what earlier pages of the link's host were about. Places that
nobody owns speak for the general nodes. A node's score is the sum of the evidence for its places; the probabilities
are the scores' softmax. Weights are few and plain, so that every decision can be explained by its largest terms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from periplus.errors import PlaceError
from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.anchor import AnchorStrategy
from periplus.strategies.content import ContentStrategy
from periplus.strategies.hash import host_of
from periplus.strategies.ip import IpStrategy
from periplus.strategies.names import NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, HostView, Known, Strategy
from periplus.strategies.url import UrlFinding, UrlStrategy

__all__ = ["BlendStrategy", "Weights"]

MAX_TERMS = 12
MIN_CLAIM = 0.05
"""Under policy b a node with less probability has no claim."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each kind of evidence counts at its strongest, and what a target has to beat."""

    url: float = 6.0
    anchor: float = 2.2
    content: float = 1.0
    host: float = 6.0
    parent: float = 0.3
    ip: float = 1.0
    nowhere: float = 3.0
    host_nowhere: float = 6.0  # of a host whose pages have no place, or all kinds of places
    half_distance: float = 4.0  # tokens from the link at which a name counts half


class BlendStrategy(Strategy):
    """Adds up evidence. `evidence` needs the page, `settle` only what `evidence` gave and the host's memory."""

    def __init__(
        self, ownership: Ownership, gazetteer: Gazetteer, ip: IpStrategy | None = None, weights: Weights | None = None
    ) -> None:
        self._ownership = ownership
        self._gazetteer = gazetteer
        self._weights = weights or Weights()
        table = NameTable(ownership, gazetteer)
        self._url = UrlStrategy(ownership, gazetteer, table)
        self._anchor = AnchorStrategy(ownership, gazetteer, table)
        self._content = ContentStrategy(ownership, gazetteer, table)
        self._ip = ip
        self._owners: dict[int, str | None] = {}

    def route(self, links: Sequence[Link], page: Page, located: Located, known: Known = NOTHING_KNOWN) -> list[Claims]:
        """The nodes of each link by probability, the most probable first."""
        found = self.evidence(links, page, located, known)
        return [
            self.settle(host_of(link.url), terms, known.hosts.get(host_of(link.url), HostView()))
            for link, terms in zip(links, found, strict=True)
        ]

    def evidence(
        self, links: Sequence[Link], page: Page, located: Located, known: Known = NOTHING_KNOWN
    ) -> list[tuple[tuple[int, float], ...]]:
        """(place id, weight) for each link, without what its host's pages showed; the strongest first."""
        weights = self._weights
        shared = self._of_page(page, located, known)
        urls = self._url.findings([link.url for link in links])
        found = []
        for i, near in enumerate(self._anchor.nearby(links, page)):
            terms = dict(shared)
            for finding in urls.get(i, ())[:3]:
                place_id = finding.candidate.place.id
                terms[place_id] = terms.get(place_id, 0.0) + weights.url * _surety(finding)
            for distance, named in near[:2]:
                place_id = named.candidate.place.id
                closeness = 1 / (1 + distance / weights.half_distance)
                terms[place_id] = terms.get(place_id, 0.0) + weights.anchor * closeness
            found.append(_strongest(terms))
        return found

    def _of_page(self, page: Page, located: Located, known: Known) -> dict[int, float]:
        """Evidence that all links of a page share."""
        terms: dict[int, float] = {}
        scores = self._content.scores(page, located)[:MAX_TERMS]
        total = sum(score for score, _ in scores)
        for score, place in scores:
            terms[place.id] = self._weights.content * score / total * (1 - math.exp(-2 * total))
        place_of_address = self._ip.place_of(known.address) if self._ip and known.address else None
        if place_of_address is not None:
            terms[place_of_address.id] = terms.get(place_of_address.id, 0.0) + self._weights.ip
        return terms

    def settle(self, host: str, terms: Sequence[tuple[int, float]], view: HostView, parent: str = "") -> Claims:
        """The claims of the nodes, given a link's evidence and what is known of its host."""
        scores: dict[str | None, float] = {None: self._weights.nowhere}
        best: dict[str, tuple[float, int]] = {}
        trust = self._weights.host * view.pages / (view.pages + 2)  # one page alone convinces nobody
        if view.pages:
            silent = max(0.0, 1.0 - 2 * max((share for _, share in view.places), default=0.0))
            scores[None] += self._weights.host_nowhere * silent * view.pages / (view.pages + 1)
        evidence = [*terms, *((place_id, trust * share) for place_id, share in view.places)]
        for place_id, weight in evidence:
            node = self._owner(place_id)
            scores[node] = scores.get(node, 0.0) + weight
            if node is not None and (weight, -place_id) > best.get(node, (0.0, 0)):
                best[node] = (weight, -place_id)
        if parent in scores:
            scores[parent] += self._weights.parent
        return self._ranked(host, scores, best)

    def _ranked(self, host: str, scores: dict[str | None, float], best: dict[str, tuple[float, int]]) -> Claims:
        """Nodes by probability; general ones take part as one."""
        top = max(scores.values())
        parts = {node: math.exp(score - top) for node, score in scores.items()}
        total = sum(parts.values())
        claims: list[Assignment] = []
        for node, part in sorted(parts.items(), key=lambda pair: (-pair[1], pair[0] or "")):
            if claims and part / total < MIN_CLAIM:
                break
            if node is None:
                claims.append(Assignment(self._ownership.general_for(host), None, "no_place"))
            else:
                claims.append(Assignment(node, -best[node][1], "blend"))
        return tuple(claims)

    def _owner(self, place_id: int) -> str | None:
        if place_id not in self._owners:
            try:
                owned = self._ownership.owner(self._gazetteer.place(place_id))
            except PlaceError:  # a place of an older gazetteer, out of a resumed crawl
                owned = None
            self._owners[place_id] = owned[0] if owned else None
        return self._owners[place_id]


def _surety(finding: UrlFinding) -> float:
    """How far a name in a URL is to be believed."""
    if finding.region >= 2:
        return 1.0
    return 0.9 if finding.in_host else 0.7


def _strongest(terms: dict[int, float]) -> tuple[tuple[int, float], ...]:
    return tuple(sorted(terms.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_TERMS])
