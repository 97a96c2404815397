"""Strategy `hash`: a uniform hash of the URL over all nodes, or of its host. The baseline of paper A."""

from collections.abc import Sequence

import xxhash

from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy

__all__ = ["HashStrategy", "HostHashStrategy", "host_of"]


class HashStrategy(Strategy):
    """Every node, general or not, gets the same share of all URLs."""

    by_url_alone = True

    def __init__(self, ownership: Ownership, _gazetteer: Gazetteer) -> None:
        self._claims: list[Claims] = [(Assignment(name, None, "hash"),) for name in ownership.names]

    def route(
        self, links: Sequence[Link], _page: Page, _located: Located, _known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """The one node that each URL's hash names."""
        claims, size = self._claims, len(self._claims)
        digest = xxhash.xxh3_64_intdigest
        return [claims[digest(link.url.encode("utf-8", "surrogatepass")) % size] for link in links]


class HostHashStrategy(HashStrategy):
    """The same by host: all URLs of a host go to one node, so that its politeness is one node's affair."""

    def route(
        self, links: Sequence[Link], _page: Page, _located: Located, _known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """The one node that the hash of each URL's host names."""
        claims, size = self._claims, len(self._claims)
        digest = xxhash.xxh3_64_intdigest
        return [claims[digest(host_of(link.url).encode("utf-8", "surrogatepass")) % size] for link in links]


def host_of(url: str) -> str:
    """The host of a canonical URL, by its form alone; whatever stands in its place in others."""
    authority = url.partition("://")[2].partition("/")[0]
    return authority.partition("?")[0].partition(":")[0]
