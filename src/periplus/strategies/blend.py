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
from typing import cast

from periplus.errors import PlaceError
from periplus.model import Assignment, Link, LinkPosition, Located, Mention, Page, Place
from periplus.places import Gazetteer
from periplus.strategies.anchor import AnchorStrategy
from periplus.strategies.chances import NOBODY, HostPart, leader, weigh
from periplus.strategies.content import ContentStrategy
from periplus.strategies.hash import host_of
from periplus.strategies.ip import IpStrategy
from periplus.strategies.names import NameTable
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, HostView, Known, Strategy
from periplus.strategies.url import UrlFinding, UrlStrategy
from periplus.strategies.weighing import FEATURES, Features, Terms, Weights, feature, learnt_weights

__all__ = ["ENOUGH", "NOTHING_TOLD", "BlendStrategy", "Decision", "Parent", "Settled"]

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

MOSTLY = 0.8
"""A link whose text is a name to this part says nothing else."""

NO_BARS: Mapping[str, float] = MappingProxyType({})

MIN_CLAIM = 0.05
"""Under policy b a node with less probability has no claim."""

Parent = tuple[str, bool]
"""The node that has the linking page, and whether the link stays on its host."""


Decision = tuple[str, float, tuple[str, float]]
"""Who gets a link; the probability that it leads to a page about that node's places, or any; and the likeliest
geographic node with its probability, whether it gets the link or not ("" if nothing speaks for any)."""

NOTHING_TOLD: HostPart = ((), ())
"""What a host of which nothing is known says."""


class Settled:
    """How a link was settled: the claims of the nodes, the first of which gets it, and the decision."""

    __slots__ = ("claims", "likeliest")

    def __init__(self, claims: Claims, likeliest: tuple[str, float]) -> None:
        self.claims = claims
        self.likeliest = likeliest


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
        self._weights = list(self.weights)
        self._numbers = {name: number for number, name in enumerate(ownership.names)}
        self._owners: dict[int, int] = {}  # places to numbers of nodes

    def route(self, links: Sequence[Link], page: Page, located: Located, known: Known = NOTHING_KNOWN) -> list[Claims]:
        """The nodes of each link by probability, the most probable first."""
        own, claims = host_of(page.url), []
        made: dict[tuple[str, Terms], Claims] = {}  # links without words of their own have all the same evidence
        hosts = [host_of(link.url) for link in links]
        for host, terms in zip(hosts, self._evidence(links, hosts, page, located, known), strict=True):
            one = made.get((host, terms))
            if one is None:
                view = known.hosts.get(host, NOTHING_SEEN)
                one = made[host, terms] = self.settle(host, terms, view, (known.node, host == own)).claims
            claims.append(one)
        return claims

    def evidence(
        self, links: Sequence[Link], page: Page, located: Located, known: Known = NOTHING_KNOWN
    ) -> list[Terms]:
        """What speaks for which place, for each link; without what the crawl remembers. The strongest first."""
        return self._evidence(links, [host_of(link.url) for link in links], page, located, known)

    def _evidence(
        self, links: Sequence[Link], hosts: list[str], page: Page, located: Located, known: Known
    ) -> list[Terms]:
        shared = self._places_of_page(page, located)
        own = host_of(page.url)
        address = self._ip.place_of(known.address) if self._ip and known.address else None
        alike: dict[int, tuple[list[_Turned], Terms]] = {}
        found = []
        urls = self._url.findings([link.url for link in links])
        located_at = {mention.start: mention for mention in located.mentions if _is_sure(mention)}
        for link, host, named, near in zip(links, hosts, urls, self._anchor.nearby(links, page), strict=True):
            number = _OF_PAGE[host == own][link.position]
            if number not in alike:
                terms = [_turned(place_id, number, share) for place_id, share in shared]
                if address is not None:
                    terms.append(_turned(address.id, _ADDRESS[host == own], 1.0))
                alike[number] = (terms, _strongest(terms))
            read = located_at.get(link.start)
            if not named and not near and read is None:
                found.append(alike[number][1])
                continue
            terms = [_turned(f.candidate.place.id, _url_feature(f), 1.0) for f in named[:3]]
            terms += [_turned(f.candidate.place.id, _URL_ALONE, 1.0) for f in named[:3] if f.alone]
            for distance, one in near[:3]:
                kind = _AROUND if distance else _ANCHOR
                terms.append(_turned(one.candidate.place.id, kind[link.position], 1 / (1 + distance / HALF_DISTANCE)))
                if not distance and one.end - one.start >= MOSTLY * len(link.anchor):
                    terms.append(_turned(one.candidate.place.id, _ANCHOR_ALONE, 1.0))
            if read is not None and (not near or near[0][0]) and _says_all(read, link):
                place = cast("Place", read.place).id
                terms += [_turned(place, kind, read.confidence) for kind in (_ANCHOR[link.position], _ANCHOR_ALONE)]
            found.append(_strongest(terms + alike[number][0]))
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
        weights: list[float] | None = None,
        bars: Mapping[str, float] = NO_BARS,
    ) -> Settled:
        """The claims of the nodes, given a link's evidence and what the crawl has learnt of its host.

        `bars` are the probabilities that nodes ask for, where that is more than ENOUGH.
        """
        nodes, chances = self._chances(terms, self.told(view), parent, weights or self._weights, 0.0)
        receiver, _, likeliest = self._decided(host, nodes, chances, bars)
        names = self.ownership.names
        ranked = sorted((-chance, names[node]) for node, chance in zip(nodes, chances, strict=True) if node != NOBODY)
        places = self._places_for(terms) if ranked else {}
        claims = [Assignment(node, places.get(node), "blend") for chance, node in ranked if -chance >= MIN_CLAIM]
        nowhere = Assignment(self.ownership.general_for(host), None, "no_place")
        if claims and receiver == claims[0].node:
            return Settled((*claims, nowhere) if chances[0] >= MIN_CLAIM else tuple(claims), likeliest)
        return Settled((nowhere, *claims), likeliest)

    def decide(
        self,
        host: str,
        terms: Terms,
        told: HostPart,
        parent: Parent,
        *,
        weights: list[float],
        odds: float,
        bars: Mapping[str, float],
    ) -> Decision:
        """Who gets a link; as `settle`, without the others' claims. `odds` are what the URL's form promises."""
        nodes, chances = self._chances(terms, told, parent, weights, odds)
        return self._decided(host, nodes, chances, bars)

    def _chances(
        self, terms: Terms, told: HostPart, parent: Parent, weights: list[float], odds: float
    ) -> tuple[list[int], list[float]]:
        """The nodes that anything speaks for, the general ones first, and their probabilities."""
        node = self._numbers.get(parent[0], NOBODY) if parent[0] not in self.ownership.general else NOBODY
        kind = _PARENT[parent[1]]
        try:
            return weigh(terms, self._owners, _NOBODYS, _NOWHERE, told, node, kind, weights, odds)
        except KeyError:  # a place that was not asked for yet
            for place_id, _, _ in terms:
                self.owner_of(place_id)
            return weigh(terms, self._owners, _NOBODYS, _NOWHERE, told, node, kind, weights, odds)

    def _decided(self, host: str, nodes: list[int], chances: list[float], bars: Mapping[str, float]) -> Decision:
        """General nodes take part as one."""
        geographic = 1.0 - chances[0]
        at = leader(nodes, chances)
        if not at:
            return self.ownership.general_for(host), geographic, ("", 0.0)
        best, node = chances[at], self.ownership.names[nodes[at]]
        if best >= ENOUGH and best >= bars.get(node, 0.0) and best >= CLEAR * geographic:
            return node, best, (node, best)
        return self.ownership.general_for(host), geographic, (node, best)

    def features(self, terms: Terms, view: HostView, parent: Parent) -> Features:
        """The evidence as features of each node that any of it speaks for, and of the general ones."""
        return self.features_told(terms, self.told(view), parent)

    def features_told(self, terms: Terms, told: HostPart, parent: Parent) -> Features:
        """The same, with what the host says as `told` gives it."""
        names = self.ownership.names
        found: dict[str | None, dict[int, float]] = {None: {_NOWHERE: 1.0}}
        for place_id, number, strength in terms:
            node = self.owner_of(place_id)
            if node is None:
                number = _NOBODYS[number]  # noqa: PLW2901  the same evidence, for nobody's place
            mine = found.setdefault(node, {})
            mine[number] = min(1.0, mine.get(number, 0.0) + strength)
        for part in told:
            for which, number, value in part:
                found.setdefault(None if which == NOBODY else names[which], {})[number] = value
        if parent[0] and parent[0] not in self.ownership.general:
            found.setdefault(parent[0], {})[_PARENT[parent[1]]] = 1.0
        return found

    def told(self, view: HostView) -> HostPart:
        """What a host's earlier pages say, as features of nodes and of the general ones."""
        if not view.pages:
            return NOTHING_TOLD
        trust = view.pages / (view.pages + 2)  # one page alone convinces nobody
        shares: dict[str | None, float] = {}
        for place_id, share in view.places:
            node = self.owner_of(place_id)
            shares[node] = shares.get(node, 0.0) + share
        addresses = dict(view.addresses)
        places, addressed = sum(shares.values()), sum(addresses.values())
        nodes = []
        for name in sorted(self._numbers.keys() & {*shares, *addresses}):
            number, share = self._numbers[name], min(1.0, shares.get(name, 0.0))
            nodes.append((number, _HOST, trust * share))
            nodes.append((number, _HOST_CLEARLY, trust if share > places / 2 else 0.0))
            nodes.append((number, _HOST_ADDRESSES, trust * addresses.get(name, 0.0)))
        general = (
            (NOBODY, _HOST_NOBODYS, trust * min(1.0, shares.get(None, 0.0))),
            (NOBODY, _HOST_NO_PLACE, trust * max(0.0, 1.0 - places)),
            (NOBODY, _HOST_NO_ADDRESS, trust * max(0.0, 1.0 - addressed)),
        )
        return tuple(nodes), general

    def _places_for(self, terms: Terms) -> dict[str | None, int]:
        """The place behind each node's claim: that of its strongest evidence; none if only memory speaks for it."""
        best: dict[str | None, tuple[float, int]] = {}
        for place_id, number, strength in terms:
            node, worth = self.owner_of(place_id), (strength * self.weights[number], -place_id)
            if node not in best or worth > best[node]:
                best[node] = worth
        return {node: -negative for node, (_, negative) in best.items()}

    def owner_of(self, place_id: int) -> str | None:
        """The node that owns a place, by its id."""
        number = self._owners.get(place_id)
        if number is None:
            try:
                owned = self.ownership.owner(self._gazetteer.place(place_id))
            except PlaceError:  # a place of an older gazetteer, out of a resumed crawl
                owned = None
            number = self._owners[place_id] = self._numbers[owned[0]] if owned else NOBODY
        return None if number == NOBODY else self.ownership.names[number]


NOTHING_SEEN = HostView()
_Turned = tuple[float, int, int, tuple[int, int, float]]  # evidence with what it is put in order by before it


def _by_position(kind: str) -> list[int]:
    return [feature(kind, position) for position in LinkPosition]


_ANCHOR, _AROUND = _by_position("anchor"), _by_position("around")
_OF_PAGE = {True: _by_position("content of the same host"), False: _by_position("content of another host")}
_PARENT = {True: feature("parent's node, same host"), False: feature("parent's node, another host")}
_ADDRESS = {True: feature("address, same host"), False: feature("address, another host")}
_NOWHERE = feature("nowhere")
_URL_REGION, _URL_HOST, _URL_PATH = feature("url with its region"), feature("url host"), feature("url path")
_URL_BEFORE = feature("url host, before a word")
_URL_ALONE, _ANCHOR_ALONE = feature("url, nothing else"), feature("anchor, nothing else")
_HOST, _HOST_CLEARLY = feature("host's pages"), feature("host's pages, clearly")
_HOST_ADDRESSES, _HOST_NOBODYS = feature("host's addresses"), feature("host's pages, nobody's place")
_HOST_NO_PLACE, _HOST_NO_ADDRESS = feature("host's pages, no place"), feature("host's pages, no address")


def _nobodys() -> list[int]:
    """Feature -> the feature of the general nodes that it becomes for a place that nobody owns."""
    url, anchor = feature("url, nobody's place"), feature("anchor, nobody's place")
    content, address = feature("content, nobody's place"), feature("address, nobody's place")
    found = list(range(len(FEATURES)))
    for numbers, becomes in (
        ((_URL_REGION, _URL_HOST, _URL_BEFORE, _URL_PATH, _URL_ALONE), url),
        ((*_ANCHOR, *_AROUND, _ANCHOR_ALONE), anchor),
        ((*_OF_PAGE[True], *_OF_PAGE[False]), content),
        (_ADDRESS.values(), address),
    ):
        for number in numbers:
            found[number] = becomes
    return found


_NOBODYS = _nobodys()


def _url_feature(finding: UrlFinding) -> int:
    """How far a name in a URL is to be believed."""
    if finding.region >= 2:
        return _URL_REGION
    if finding.before_a_word:
        return _URL_BEFORE
    return _URL_HOST if finding.in_host else _URL_PATH


def _is_sure(mention: Mention) -> bool:
    """Whether the page's text names a place of one country there, not a people or something of no map."""
    place = mention.place
    return place is not None and bool(place.country) and not mention.adjectival and not mention.within


def _says_all(mention: Mention, link: Link) -> bool:
    """Whether a link's text, which begins where the mention does, is nothing but the mention."""
    return mention.end <= link.end and mention.end - mention.start >= MOSTLY * len(link.anchor)


def _strongest(terms: list[_Turned]) -> Terms:
    return tuple([turned[3] for turned in sorted(terms)[:MAX_TERMS]])


def _turned(place_id: int, number: int, strength: float) -> _Turned:
    return -strength, place_id, number, (place_id, number, strength)
