"""Settling links by what a crawl remembers, where that memory is: in the process of a crawl, not in its workers.

A strategy that remembers (`blend`) gives each link of a page its evidence; here the page is learnt from, and each link
gets its node. The first decision about a URL stands, so that no two nodes fetch it. When the page behind a URL is read,
what it turned out to be about corrects the weights that had been used for it.
"""

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from periplus.model import Analysis, Link, Links, Located, Page, RoutedLink
from periplus.strategies.blend import BlendStrategy, Decision, Parent
from periplus.strategies.chances import HostPart
from periplus.strategies.demands import Demands
from periplus.strategies.hosts import HostPlaces
from periplus.strategies.protocol import HostView, Strategy
from periplus.strategies.shapes import Shapes, forms
from periplus.strategies.weighing import Terms, stepped
from periplus.urls import MarkSet, fingerprint

__all__ = ["Settling", "Told"]

MAX_EXPECTED = 50_000
"""Decisions whose outcome is waited for; later ones teach nothing until some have come."""

MAX_TOLD = 10_000
"""Hosts of which is kept what they say."""

RATE = 0.1
PULL = 0.002
"""How far one outcome moves the weights, and how far they are drawn back to the learnt ones each time."""


ADDRESSED_SHARE = 0.02
"""Where fewer pages have an address of a target, the place that its title names says how the decision about it turned
out, too."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a page turned out to be: its places with their shares, and the nodes in whose places it has addresses."""

    places: tuple[tuple[int, float], ...]
    addressed: frozenset[str]
    subject: int | None = None  # the place that it is mostly about, if its title names it


class Settling:
    """The memory of a crawl about hosts and decisions; does nothing for strategies that need none.

    `orders`: links are worth what is expected of them; for crawls whose topic does not say what they are worth.
    """

    def __init__(self, strategy: Strategy, *, policy: str, overlap: str, orders: bool = False) -> None:
        self._any = strategy
        self._strategy = strategy if isinstance(strategy, BlendStrategy) else None
        self._settles = policy == "a"
        self._remembers = overlap == "allow"  # else a URL is accepted once, whoever it was meant for
        self._orders = orders
        self._hosts = HostPlaces()
        self._settled: dict[int, str] = {}
        self._expected: dict[int, tuple[Terms, HostPart, Parent, str]] = {}  # what decisions went by, and who got it
        self._told: dict[str, tuple[HostView, HostPart]] = {}
        self._shapes = Shapes()
        self._demands = Demands()
        self._counted = MarkSet()  # the links among these, where decisions are not remembered
        self._pages = self._addressed = 0
        self._learnt = list(self._strategy.weights) if self._strategy else []

    @property
    def learns(self) -> bool:
        """Whether pages are to be learnt from."""
        return self._strategy is not None

    def learn_page(self, url: str, host: str, found: Analysis) -> None:
        """Take up a page that was read."""
        if self._strategy is None:
            return
        addressed = frozenset(entity.owner for entity in found.entities if entity.owner)
        places = tuple((one.place.id, one.weight) for one in found.places)
        main = next((one.place for one in found.places if one.place.id == found.main_place), None)
        self.learn(url, host, Told(places, addressed, main.id if main and main.name in found.title else None))

    def learn(self, url: str, host: str, told: Told) -> None:
        """Take up a page that was read: what it says of its host, and how the decision about it turned out."""
        if self._strategy is None:
            return
        self._hosts.learn(host, told.places, told.addressed)
        self._pages += 1
        self._addressed += bool(told.addressed)
        went_by = self._expected.pop(fingerprint(url), None)
        if went_by is not None:
            terms, host_part, parent, receiver = went_by
            found, expected = forms(url), self._strategy.features_told(terms, host_part, parent)
            addressed = told.addressed
            if self._addressed < ADDRESSED_SHARE * self._pages and told.subject is not None:
                owner = self._strategy.owner_of(told.subject)
                addressed |= {owner} if owner else set()
            if receiver not in self._strategy.ownership.general:
                self._demands.came(right=receiver in addressed)
            outcome = min((node for node in addressed if node in expected), default=None)
            self._shapes.learn(found, stepped(self._learnt, expected, outcome, RATE, self._shapes.odds(found)))
            for i, learnt in enumerate(self._strategy.weights):
                self._learnt[i] += PULL * (learnt - self._learnt[i])

    def remember(self, fingerprint: int, node: str) -> None:
        """Take up a decision of an earlier run."""
        self._settled.setdefault(fingerprint, node)

    def present(self, nodes: Iterable[str]) -> None:
        """Take up which nodes work here; else they are known by their work."""
        self._demands.present(nodes)

    def ended(self, node: str) -> None:
        """Take up that a node is done with one of its URLs, whatever came of it."""
        self._demands.ended(node)

    def settle(self, links: Links, node: str, host: str = "") -> Links:
        """The links of a page of `node` on `host`, each with the node that it goes to."""
        strategy = self._strategy
        if strategy is None or not self._settles:
            return links
        told: dict[str, HostPart] = {}
        nodes, worths = [], links.worths(math.nan)
        for at, mark in enumerate(links.fingerprints):
            receiver = self._settled.get(mark)
            if receiver is None:  # else the URL is known, and nobody asks again what it is worth
                link = links.link(at)
                if link.host not in told:
                    told[link.host] = self._told_by(strategy, link.host)
                found = self._found(strategy, link, told[link.host], (node, link.host == host))
                receiver = found[0]
                worths[at] = found[1] if self._orders else worths[at]
            nodes.append(receiver)
        priorities = array("d", worths).tobytes()
        return msgspec.structs.replace(links, nodes=tuple(nodes), priorities=priorities, evidence=())

    def _told_by(self, strategy: BlendStrategy, host: str) -> HostPart:
        """What a host says; worked out anew when another page of it was read."""
        view, known = self._hosts.view(host), self._told.get(host)
        if known is not None and known[0] is view:
            return known[1]
        if len(self._told) >= MAX_TOLD:
            self._told.clear()
        told = strategy.told(view)
        self._told[host] = (view, told)
        return told

    def _found(self, strategy: BlendStrategy, link: RoutedLink, told: HostPart, parent: Parent) -> Decision:
        """Settle a link, and remember what is needed of that."""
        odds = self._shapes.odds(forms(link.url))
        found = strategy.decide(
            link.host, link.evidence, told, parent, weights=self._learnt, odds=odds, bars=self._demands.bars
        )
        if self._remembers or self._counted.add(link.fingerprint):
            self._demands.take_up(found[0], found[2])
        if self._remembers:
            self._settled[link.fingerprint] = found[0]
        if len(self._expected) < MAX_EXPECTED:
            self._expected.setdefault(link.fingerprint, (link.evidence, told, parent, found[0]))
        return found

    def redirected(self, url: str, host: str, node: str) -> str:
        """The node for the target of a redirect that `node` met.

        Strategies that go by URLs alone decide as for any link. The others went by a page that is not here again: what
        they decided for the link stands, unless the target itself says something else.
        """
        mark = fingerprint(url)
        if mark in self._settled:
            return self._settled[mark]
        link, page = Link(url, ""), Page(url, "", "", ())
        if self._strategy is None:
            return self._any.claims(link, page, Located())[0].node if self._any.by_url_alone else node
        terms = self._strategy.evidence((link,), page, Located())[0]
        found = self._strategy.settle(host, terms, self._hosts.view(host), weights=self._learnt)
        receiver = node if found.claims[0].reason == "no_place" else found.claims[0].node
        if self._remembers:
            self._settled[mark] = receiver
        return receiver
