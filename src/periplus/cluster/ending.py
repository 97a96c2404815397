"""When a crawl is over on all machines: nothing queued, nothing under way, nothing on its way.

No clock and no moment is shared, so a single round of questions proves nothing: a link may have left a node that was
not asked yet for one that was. Two rounds do. A node counts everything that it does (`activity`); it says that its
outbox is empty only when every link that it ever sent was committed by its receiver. If all nodes are idle with empty
outboxes in two rounds, and none has counted anything between its two answers, then between the rounds there was a
moment at which all were idle at once and nothing was on its way.
"""

from collections.abc import Mapping

from msgspec import Struct

__all__ = ["Report", "is_over"]


class Report(Struct, frozen=True):
    """How a node is, as it says itself when asked."""

    node: str
    member: str
    epoch: int
    idle: bool
    outbox: int
    """Links that were sent and are not known to be committed."""
    activity: int
    """Grows with everything that the node does."""
    pages: int = 0
    kept: int = 0
    queued: int = 0
    beyond: bool = False
    """Whether it has set URLs aside that seemed too far away."""
    waits: str = ""
    """What for, in words for people."""


def is_over(nodes: tuple[str, ...], first: Mapping[str, Report], second: Mapping[str, Report]) -> bool:
    """Whether two rounds of answers, the second begun after the first was complete, prove that nothing is left."""
    if set(nodes) - first.keys() or set(nodes) - second.keys():
        return False
    return all(
        first[node] == second[node] and second[node].idle and not second[node].outbox and not first[node].outbox
        for node in nodes
    )
