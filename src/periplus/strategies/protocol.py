"""What a strategy is, what it is told, and the paper's two policies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from periplus.model import Assignment, Link, Located, Page

__all__ = ["NOTHING_KNOWN", "Claims", "HostView", "Known", "Strategy", "choose"]

Claims = tuple[Assignment, ...]
"""Every node with a claim to a link, the most probable first; at least one, and each node once."""


@dataclass(frozen=True, slots=True)
class HostView:
    """What earlier pages showed of a host: shares of the places its pages are about, heaviest first, and how many.

    `addresses` are the shares of its pages that have a postal address in a node's places, by node.
    """

    places: tuple[tuple[int, float], ...] = ()
    pages: int = 0
    addresses: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the page itself: the address it came from, the node that has it, hosts met before."""

    address: str = ""
    node: str = ""
    hosts: Mapping[str, HostView] = field(default_factory=dict)


NOTHING_KNOWN = Known()


class Strategy(Protocol):
    """Decides where the links of a page go.

    Pure: the same arguments give the same answer on any machine, whatever the order of the nodes in the job.
    """

    by_url_alone: bool = False
    """Whether a link's URL says all, so that the target of a redirect is assigned like any link."""

    def route(self, links: Sequence[Link], page: Page, located: Located, known: Known = NOTHING_KNOWN) -> list[Claims]:
        """The claims to each link of one page, in order. What is the same for all links is worked out once."""
        ...

    def claims(self, link: Link, page: Page, located: Located, known: Known = NOTHING_KNOWN) -> Claims:
        """The claims to one link."""
        return self.route((link,), page, located, known)[0]


def choose(claims: Claims, policy: str) -> Claims:
    """Policy "a" of paper A sends a link to the one most probable node, "b" to every node with a claim."""
    return claims if policy == "b" else claims[:1]
