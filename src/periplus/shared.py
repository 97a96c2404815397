"""What all nodes of a process use together, and the running totals of their crawl."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from periplus.clock import Clock
from periplus.fetch import Fetcher, RobotsBook, RobotsRecord
from periplus.frontier import HostOrder, Intake, Schedule
from periplus.model import Analysis, Outcome
from periplus.pages import Workers
from periplus.reaching import Reaching
from periplus.registering import RegisteredLinks
from periplus.running import Journal
from periplus.settings import CrawlSettings
from periplus.store.commit import Completion
from periplus.store.summary import Harvest
from periplus.strategies import Settling
from periplus.topics import LinkBook

__all__ = ["Health", "RobotsShare", "Shared"]


class RobotsShare(Protocol):
    """What other machines know of robots.txt files."""

    async def look(self, origin: str) -> RobotsRecord | None:
        """What another machine has read, if it did."""

    async def tell(self, record: RobotsRecord) -> None:
        """What this one has read."""


@dataclass(slots=True)
class Health:
    """Running totals of the crawl, for limits and progress without a query."""

    pages: int = 0
    kept: int = 0
    harvest: Harvest = field(default_factory=Harvest)
    answered: bool = False
    last_failure: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)

    def take_up(self, pages: int, kept: int, outcomes: dict[str, int], dropped: dict[str, int]) -> None:
        """Add what an earlier run has done."""
        self.pages += pages
        self.kept += kept
        self.answered = self.answered or pages > 0
        self.outcomes.update(outcomes)
        self.dropped.update(dropped)

    def count(self, done: Completion) -> None:
        """Add a finished lease."""
        first = done.analysis is not None and not done.lease.visits
        self.pages += first
        self.kept += first and done.outcome is Outcome.KEPT
        if first:
            self.harvest.add(done.topic.splitlines())
        self.outcomes[done.outcome] += 1
        for reason, number in done.dropped.items():
            self.dropped[reason] += number


@dataclass(frozen=True, slots=True)
class Shared:
    """What all nodes of a process use together."""

    clock: Clock
    unix: Callable[[], float]  # steady: what is due when is decided by it, and no jump of the wall clock moves it
    schedule: Schedule
    robots: RobotsBook
    fetcher: Fetcher
    workers: Workers
    read_analysis: Callable[[bytes], Analysis]  # what workers give, as values
    intake: Intake
    order: HostOrder
    health: Health
    agent: str
    settling: Settling
    crawl: CrawlSettings
    journal: Journal
    book: LinkBook | None = None  # only where there is a topic: else all links are worth the same
    robots_share: RobotsShare | None = None  # only in a cluster
    registered: RegisteredLinks | None = None  # only where an RDAP service is asked
    reaching: Reaching | None = None  # only where the network decides, or is emulated
