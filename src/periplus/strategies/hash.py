"""Strategy `hash`: a uniform hash of the URL over all nodes. The baseline of paper A."""

import xxhash

from periplus.model import Assignment, Link, Located, Page
from periplus.places import Gazetteer
from periplus.strategies.ownership import Ownership

__all__ = ["HashStrategy"]


class HashStrategy:
    """Every node, general or not, gets the same share of all URLs."""

    def __init__(self, ownership: Ownership, _gazetteer: Gazetteer) -> None:
        self._nodes = ownership.names

    def claims(self, link: Link, _page: Page, _located: Located) -> tuple[Assignment, ...]:
        """The one node that the URL's hash names."""
        number = xxhash.xxh3_64_intdigest(link.url.encode("utf-8", "surrogatepass"))
        return (Assignment(self._nodes[number % len(self._nodes)], None, "hash"),)
