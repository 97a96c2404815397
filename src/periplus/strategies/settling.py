"""Settling links by what is known of their hosts, where that memory is: in the process of a crawl, not in its workers.

A strategy that remembers hosts (`blend`) gives each link of a page its evidence; here the page is learnt from, and each
link gets its node. The first decision about a URL stands, so that no two nodes fetch it.
"""

from collections.abc import Iterable

import msgspec

from periplus.model import RoutedLink
from periplus.strategies.blend import BlendStrategy
from periplus.strategies.hosts import HostPlaces
from periplus.strategies.protocol import Strategy

__all__ = ["Settling"]


class Settling:
    """The memory of a crawl about hosts and decisions; does nothing for strategies that need none."""

    def __init__(self, strategy: Strategy, *, policy: str, overlap: str) -> None:
        self._strategy = strategy if isinstance(strategy, BlendStrategy) else None
        self._settles = policy == "a"
        self._remembers = overlap == "allow"  # else a URL is accepted once, whoever it was meant for
        self._hosts = HostPlaces()
        self._settled: dict[int, str] = {}

    @property
    def learns(self) -> bool:
        """Whether pages are to be learnt from."""
        return self._strategy is not None

    def learn(self, host: str, places: Iterable[tuple[int, float]]) -> None:
        """Take up a page of a host: its places with their weights."""
        if self._strategy is not None:
            self._hosts.learn(host, places)

    def remember(self, fingerprint: int, node: str) -> None:
        """Take up a decision of an earlier run."""
        self._settled.setdefault(fingerprint, node)

    def settle(self, links: tuple[RoutedLink, ...], node: str) -> tuple[RoutedLink, ...]:
        """The links of a page of `node`, each with the node that it goes to."""
        strategy = self._strategy
        if strategy is None or not self._settles:
            return links
        views = {link.host: self._hosts.view(link.host) for link in links}
        settled = []
        for link in links:
            receiver = self._settled.get(link.fingerprint)
            if receiver is None:
                receiver = strategy.settle(link.host, link.evidence, views[link.host], node)[0].node
                if self._remembers:
                    self._settled[link.fingerprint] = receiver
            settled.append(msgspec.structs.replace(link, node=receiver, evidence=()))
        return tuple(settled)
