"""Where links without a place go: to the general nodes, by their hosts."""

from collections.abc import Sequence

from periplus.model import Assignment, Link
from periplus.strategies.hash import host_of
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import Claims

__all__ = ["general_claims"]


def general_claims(ownership: Ownership, links: Sequence[Link]) -> list[Claims]:
    """The claim of a general node to each link; where there is one such node, nobody asks for hosts."""
    if len(ownership.general) == 1:
        return [(Assignment(ownership.general[0], None, "no_place"),)] * len(links)
    return [(Assignment(ownership.general_for(host_of(link.url)), None, "no_place"),) for link in links]
