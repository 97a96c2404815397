"""Strategy `blend`, ours: all evidence about a link in one probability for each node.

Evidence is a place, a kind and a strength: the link's URL, the names in and around its text, what its page is about
(these by where in the page the link stands), the address the page came from; and, known only where the crawl's memory
is, the node that has the page, what earlier pages of the link's host were about, and whose addresses they had. Places
that nobody owns speak for the general nodes. How much each kind counts was learnt (`weighing`), and every decision can
be explained by its largest terms.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from periplus.errors import PlaceError
from periplus.model import Assignment, Link, LinkPosition, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.anchor import AnchorStrategy
from periplus.strategies.content import ContentStrategy
from periplus.strategies.hash import host_of
from periplus.strategies.ip import IpStrategy
from periplus.strategies.names import NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, HostView, Known, Strategy
from periplus.strategies.url import UrlFinding, UrlStrategy
from periplus.strategies.weighing import Features, Terms, Weights, feature, learnt_weights, probabilities

__all__ = ["ENOUGH", "BlendStrategy", "Parent", "Settled"]

MAX_TERMS = 16
MAX_PAGE_PLACES = 6
HALF_DISTANCE = 4.0
"""Tokens from the link at which a name counts half."""

ENOUGH = 0.05
"""From this probability on that its page has an address there, a link goes to a geographic node that has nothing else.

One page in six has one on the webs that the weights are learnt on.
"""

CLEAR = 0.6
"""... if of all that speaks for geographic nodes this share speaks for it."""

NO_BARS: Mapping[str, float] = MappingProxyType({})

MIN_CLAIM = 0.05
"""Under policy b a node with less probability has no claim."""

Parent = tuple[str, bool]
"""The node that has the linking page, and whether the link stays on its host."""


class Settled:
    """How a link was settled: the claims of the nodes, and the probability of the first."""

    __slots__ = ("claims", "features", "geographic", "likeliest")

    def __init__(self, claims: Claims, features: Features, geographic: float, likeliest: tuple[str, float]) -> None:
        self.claims = claims
        self.features = features
        self.geographic = geographic  # probability that the link leads to a page about the node's places, or any
        self.likeliest = likeliest  # geographic node, with its probability, whether it gets the link or not


class BlendStrategy(Strategy):
    """Weighs evidence. `evidence` needs the page, `settle` only what `evidence` gave and the crawl's memory."""

    def __init__(
        self,
        ownership: Ownership,
        gazetteer: Gazetteer,
        ip: IpStrategy | None = None,
        weights: Weights | None = None,
        table: NameTable | None = None,
    ) -> None:
        self.ownership = ownership
        self._gazetteer = gazetteer
        self.weights = weights or learnt_weights()
        table = table or NameTable(ownership, gazetteer)
        self._url = UrlStrategy(ownership, gazetteer, table)
        self._anchor = AnchorStrategy(ownership, gazetteer, table)
        self._content = ContentStrategy(ownership, gazetteer, table)
        self._ip = ip
        self._owners: dict[int, str | None] = {}

    def route(self, links: Sequence[Link], page: Page, located: Located, known: Known = NOTHING_KNOWN) -> list[Claims]:
        """The nodes of each link by probability, the most probable first."""
        found = self.evidence(links, page, located, known)
        own = host_of(page.url)
        return [
            self.settle(host, terms, known.hosts.get(host, HostView()), (known.node, host == own)).claims
            for host, terms in zip((host_of(link.url) for link in links), found, strict=True)
        ]

    def evidence(
        self, links: Sequence[Link], page: Page, located: Located, known: Known = NOTHING_KNOWN
    ) -> list[Terms]:
        """What speaks for which place, for each link; without what the crawl remembers. The strongest first."""
        shared = self._places_of_page(page, located)
        own = host_of(page.url)
        address = self._ip.place_of(known.address) if self._ip and known.address else None
        urls = self._url.findings([link.url for link in links])
        found = []
        for i, (link, near) in enumerate(zip(links, self._anchor.nearby(links, page), strict=True)):
            terms = [(f.candidate.place.id, feature(_url_kind(f)), 1.0) for f in urls[i][:3]]
            for distance, named in near[:3]:
                kind = "around" if distance else "anchor"
                closeness = 1 / (1 + distance / HALF_DISTANCE)
                terms.append((named.candidate.place.id, feature(kind, link.position), closeness))
            kind = "content of the same host" if host_of(link.url) == own else "content of another host"
            terms += [(place_id, feature(kind, link.position), share) for place_id, share in shared]
            if address is not None:
                terms.append((address.id, feature("address"), 1.0))
            found.append(_strongest(terms))
        return found

    def _places_of_page(self, page: Page, located: Located) -> list[tuple[int, float]]:
        """What the page is about: shares, smaller where it says little of any place."""
        scores = self._content.scores(page, located)[:MAX_PAGE_PLACES]
        total = sum(score for score, _ in scores)
        surety = 1 - math.exp(-2 * total)
        return [(place.id, score / total * surety) for score, place in scores]

    def settle(
        self,
        host: str,
        terms: Terms,
        view: HostView,
        parent: Parent = ("", False),
        *,
        weights: Sequence[float] = (),
        odds: float = 0.0,
        bars: Mapping[str, float] = NO_BARS,
    ) -> Settled:
        """The claims of the nodes, given a link's evidence and what the crawl has learnt of its host and URL.

        `bars` are the probabilities that nodes ask for, where that is more than ENOUGH.
        """
        features = self.features(terms, view, parent)
        chances = probabilities(features, weights or self.weights, odds)
        return self._settled(host, chances, features, terms, bars)

    def features(self, terms: Terms, view: HostView, parent: Parent) -> dict[str | None, dict[int, float]]:
        """The evidence as features of each node that any of it speaks for, and of the general ones."""
        nowhere: dict[int, float] = {feature("nowhere"): 1.0}
        found: dict[str | None, dict[int, float]] = {None: nowhere}
        for place_id, number, strength in terms:
            node = self.owner_of(place_id)
            if node is None:
                number = _NOBODYS[number]  # noqa: PLW2901  the same evidence, for nobody's place
            mine = found.setdefault(node, {})
            mine[number] = min(1.0, mine.get(number, 0.0) + strength)
        if view.pages:
            self._add_host(found, nowhere, view)
        if parent[0] and parent[0] not in self.ownership.general:
            kind = feature("parent's node, same host" if parent[1] else "parent's node, another host")
            found.setdefault(parent[0], {})[kind] = 1.0
        return found

    def _add_host(self, found: dict[str | None, dict[int, float]], nowhere: dict[int, float], view: HostView) -> None:
        trust = view.pages / (view.pages + 2)  # one page alone convinces nobody
        shares: dict[str | None, float] = {}
        for place_id, share in view.places:
            node = self.owner_of(place_id)
            shares[node] = shares.get(node, 0.0) + share
        addresses = dict(view.addresses)
        for node in {*shares, *addresses} - {None}:
            mine = found.setdefault(node, {})
            share = min(1.0, shares.get(node, 0.0))
            mine[feature("host's pages")] = trust * share
            mine[feature("host's pages, clearly")] = trust if share > sum(shares.values()) / 2 else 0.0
            mine[feature("host's addresses")] = trust * addresses.get(node or "", 0.0)
        nowhere[feature("host's pages, nobody's place")] = trust * min(1.0, shares.get(None, 0.0))
        nowhere[feature("host's pages, no place")] = trust * max(0.0, 1.0 - sum(shares.values()))
        nowhere[feature("host's pages, no address")] = trust * max(0.0, 1.0 - sum(addresses.values()))

    def _settled(
        self,
        host: str,
        chances: dict[str | None, float],
        features: Features,
        terms: Terms,
        bars: Mapping[str, float],
    ) -> Settled:
        """Nodes by probability; general ones take part as one."""
        ranked = sorted((-chance, node) for node, chance in chances.items() if node is not None)
        geographic = 1.0 - chances[None]
        claims = [
            Assignment(node, self._place_for(node, terms), "blend") for chance, node in ranked if -chance >= MIN_CLAIM
        ]
        nowhere = Assignment(self.ownership.general_for(host), None, "no_place")
        best, node = (-ranked[0][0], ranked[0][1]) if ranked else (0.0, "")
        if claims and best >= max(ENOUGH, bars.get(node, 0.0)) and best >= CLEAR * geographic:
            own = [*claims, nowhere] if chances[None] >= MIN_CLAIM else claims
            return Settled(tuple(own), features, best, (node, best))
        return Settled((nowhere, *claims), features, geographic, (node, best))

    def _place_for(self, node: str, terms: Terms) -> int | None:
        """The place behind a node's claim: that of its strongest evidence; None if only memory speaks for it."""
        mine = [
            (strength * self.weights[number], -place_id)
            for place_id, number, strength in terms
            if self.owner_of(place_id) == node
        ]
        return -max(mine)[1] if mine else None

    def owner_of(self, place_id: int) -> str | None:
        """The node that owns a place, by its id."""
        if place_id not in self._owners:
            try:
                owned = self.ownership.owner(self._gazetteer.place(place_id))
            except PlaceError:  # a place of an older gazetteer, out of a resumed crawl
                owned = None
            self._owners[place_id] = owned[0] if owned else None
        return self._owners[place_id]


def _nobodys() -> dict[int, int]:
    """Feature -> the feature of the general nodes that it becomes for a place that nobody owns."""
    url = feature("url, nobody's place")
    anchor, content = feature("anchor, nobody's place"), feature("content, nobody's place")
    found = {feature(kind): url for kind in ("url with its region", "url host", "url path")}
    for position in LinkPosition:
        found |= {feature(kind, position): anchor for kind in ("anchor", "around")}
        found |= {feature(f"content of {host}", position): content for host in ("the same host", "another host")}
    return found | {feature("address"): content}


_NOBODYS = _nobodys()


def _url_kind(finding: UrlFinding) -> str:
    """How far a name in a URL is to be believed."""
    if finding.region >= 2:
        return "url with its region"
    return "url host" if finding.in_host else "url path"


def _strongest(terms: list[tuple[int, int, float]]) -> Terms:
    return tuple(sorted(terms, key=lambda term: (-term[2], term[0], term[1]))[:MAX_TERMS])
