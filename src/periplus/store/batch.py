"""What one transaction writes, and what becomes of it: the values between a node's turns and `commit.py`."""

from dataclasses import dataclass, field

import msgspec

from periplus.fetch import RobotsRecord
from periplus.frontier import Revisit
from periplus.model import Analysis, Fetched, Lease, NewUrl, Outcome, Parcel

__all__ = ["Batch", "Committed", "Completion", "Delivery"]


class Completion(msgspec.Struct, frozen=True):
    """How one lease ended."""

    lease: Lease
    outcome: Outcome
    host_not_before: float = 0.0  # Unix time, as is:
    retry_at: float = 0.0
    fetched: Fetched | None = None
    analysis: Analysis | None = None
    topic: str = ""
    new_urls: tuple[NewUrl, ...] = ()
    parcels: tuple[Parcel, ...] = ()
    beyond: tuple[Parcel, ...] = ()
    redirect: int | None = None  # fingerprint of the target
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    group: int = 0  # of near-duplicates; 0: none
    revisit: Revisit | None = None
    lastmods: tuple[tuple[int, float], ...] = ()  # what a sitemap says has changed, and when
    visited_at: float = 0.0  # 0: nothing was learnt about the URL


@dataclass(frozen=True, slots=True)
class Delivery:
    """URLs from another node, up to and including `sequence` of its outbox."""

    sender: str
    sequence: int
    urls: tuple[NewUrl, ...]
    received: int
    duplicate: int = 0
    parcels: tuple[Parcel, ...] = ()  # what goes on from here: the receiver is only its home
    dropped: dict[str, int] = field(default_factory=dict)
    beyond: tuple[Parcel, ...] = ()  # what its pattern may still earn a place for


@dataclass(slots=True)
class Batch:
    """What one transaction writes."""

    completions: list[Completion] = field(default_factory=list)
    seeds: list[NewUrl] = field(default_factory=list)
    nearer: list[Parcel] = field(default_factory=list)  # URLs from `beyond` to which a shorter way has appeared
    deliveries: list[Delivery] = field(default_factory=list)
    confirmed: dict[str, int] = field(default_factory=dict)  # receiver -> sequence that it has committed
    robots: list[RobotsRecord] = field(default_factory=list)
    due_until: float = 0.0  # URLs whose next visit is due by then (Unix time) join the queue; 0: none
    revalued: list[tuple[int, float]] = field(default_factory=list)  # fingerprint, priority; of URLs known already

    def __bool__(self) -> bool:
        written = self.completions or self.seeds or self.nearer or self.deliveries or self.confirmed or self.robots
        return bool(written or self.due_until or self.revalued)


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of a batch: URLs that joined the frontier, with their hosts' rows, and rows of the outbox."""

    queued: list[tuple[Lease, int]]
    outbox: list[tuple[int, Parcel]]
    revalued: dict[str, float] = field(default_factory=dict)  # host -> the best new priority of its queued URLs
    swept: bool = False  # what has ended has left the queue
