"""What a strategy is, and the paper's two policies."""

from typing import Protocol

from periplus.model import Assignment, Link, Located, Page

__all__ = ["Strategy", "choose"]


class Strategy(Protocol):
    """Decides where the links of a page go."""

    def claims(self, link: Link, page: Page, located: Located) -> tuple[Assignment, ...]:
        """Every node with a claim to the link, the most probable first; at least one, and each node once.

        Pure: the same arguments give the same answer on any machine, whatever the order of the nodes in the job.
        """
        ...


def choose(claims: tuple[Assignment, ...], policy: str) -> tuple[Assignment, ...]:
    """Policy "a" of paper A sends a link to the one most probable node, "b" to every node with a claim."""
    return claims if policy == "b" else claims[:1]
