"""The summary of a crawl, read from its databases: the JSON of `periplus crawl` and the table that people see."""

from collections import Counter, deque
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder
from periplus.store.queueing import queued_count
from periplus.urls import fingerprint

__all__ = ["Harvest", "HarvestShare", "NodeSummary", "Summary", "summarize", "together"]

RECENT = 1_000
LACKING = """SELECT count(*) FILTER (WHERE keyword_relevance = 0), count(*) FILTER (WHERE place_relevance = 0)
FROM page WHERE outcome = 'not_relevant'"""


@dataclass(frozen=True, slots=True)
class HarvestShare:
    """Pages that belong to a topic: how many, their share of all fetched pages, and of the last 1,000."""

    pages: int
    share: float
    recent: float


class Harvest:
    """How many of the fetched pages belong to the topics, over all and lately. `""` stands for any topic."""

    def __init__(self) -> None:
        self._pages = 0
        self._found: Counter[str] = Counter()
        self._recent: deque[tuple[str, ...]] = deque(maxlen=RECENT)
        self._lately: Counter[str] = Counter()

    def add(self, topics: Sequence[str]) -> None:
        """One more page, with the topics it belongs to."""
        names = ("", *topics) if topics else ()
        if len(self._recent) == RECENT:
            self._lately.subtract(self._recent[0])
        self._recent.append(names)
        self._pages += 1
        self._found.update(names)
        self._lately.update(names)

    def shares(self) -> dict[str, HarvestShare]:
        """The harvest by topic; "all" is that of any topic."""
        if not self._pages:
            return {}
        names = sorted(self._found) or [""]
        return {
            name or "all": HarvestShare(
                self._found[name],
                round(self._found[name] / self._pages, 4),
                round(self._lately[name] / len(self._recent), 4),
            )
            for name in names
        }


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """What one node did."""

    pages: int
    kept: int
    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a crawl came to so far. `outcomes` adds up to the leases; `seconds` are those of the last run.

    `lacking`: of the pages that are not relevant, how many have nothing at all of the topic's keywords, of its places.
    """

    pages: int
    kept: int
    seen: int
    queued: int
    seconds: float
    pages_per_second: float
    outcomes: dict[str, int]
    stop_reason: str
    nodes: dict[str, NodeSummary]
    dropped: dict[str, int] = field(default_factory=dict)
    harvest: dict[str, HarvestShare] = field(default_factory=dict)
    lacking: dict[str, int] = field(default_factory=dict)


def summarize(
    folder: CrawlFolder, stop_reason: str, seconds: float, pages_this_run: int, names: Set[str] | None = None
) -> Summary:
    """Add up the accounts of all nodes, or of those named."""
    nodes: dict[str, NodeSummary] = {}
    outcomes: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    lacking: Counter[str] = Counter()
    fingerprints: set[int] = set()
    queued = 0
    fetched: list[tuple[str, int, str]] = []
    for node in folder.nodes():
        if names is not None and node.name not in names:
            continue
        db = open_reader(node.database)
        try:
            pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
            sent, received = db.execute("SELECT ifnull(sum(sent), 0), ifnull(sum(received), 0) FROM traffic").fetchone()
            nodes[node.name] = NodeSummary(pages, kept, sent, received)
            outcomes.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
            dropped.update(dict(db.execute("SELECT reason, count FROM dropped").fetchall()))
            keywords, places = db.execute(LACKING).fetchone()
            lacking.update(keywords=keywords, places=places)
            fetched += db.execute("SELECT fetched_at, id, topic FROM page").fetchall()
            queued += queued_count(db)
            fingerprints.update(row[0] for row in db.execute("SELECT fingerprint FROM url"))
            sent_on_the_way = [fingerprint(row[0]) for row in db.execute("SELECT url FROM outbox")]
            queued += len(sent_on_the_way)
            fingerprints.update(sent_on_the_way)
        finally:
            db.close()
    harvest = Harvest()
    for _, _, topic in sorted(fetched):
        harvest.add(topic.splitlines())
    return Summary(
        pages=sum(node.pages for node in nodes.values()),
        kept=sum(node.kept for node in nodes.values()),
        seen=len(fingerprints),
        queued=queued,
        seconds=round(seconds, 3),
        pages_per_second=round(pages_this_run / seconds, 1) if seconds else 0.0,
        outcomes=dict(sorted(outcomes.items())),
        stop_reason=stop_reason,
        nodes=nodes,
        dropped=dict(sorted(dropped.items())),
        harvest=harvest.shares(),
        lacking=dict(+lacking),
    )


def together(summaries: Sequence[Summary], stop_reason: str) -> Summary:
    """The summaries of nodes that crawled on machines of their own, as one; `seconds` are those of the longest run.

    A URL that several of them have (`overlap = "allow"`) is seen once by each. `recent` is over the last 1,000 pages of
    every node.
    """
    outcomes: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    lacking: Counter[str] = Counter()
    nodes: dict[str, NodeSummary] = {}
    for one in summaries:
        outcomes.update(one.outcomes)
        dropped.update(one.dropped)
        lacking.update(one.lacking)
        nodes.update(one.nodes)
    return Summary(
        pages=sum(one.pages for one in summaries),
        kept=sum(one.kept for one in summaries),
        seen=sum(one.seen for one in summaries),
        queued=sum(one.queued for one in summaries),
        seconds=max((one.seconds for one in summaries), default=0.0),
        pages_per_second=round(sum(one.pages_per_second for one in summaries), 1),
        outcomes=dict(sorted(outcomes.items())),
        stop_reason=stop_reason,
        nodes=dict(sorted(nodes.items())),
        dropped=dict(sorted(dropped.items())),
        harvest=_harvest_together(summaries),
        lacking=dict(lacking),
    )


def _harvest_together(summaries: Sequence[Summary]) -> dict[str, HarvestShare]:
    read = sum(one.pages for one in summaries)
    lately = sum(min(one.pages, RECENT) for one in summaries)
    found: dict[str, HarvestShare] = {}
    for name in sorted({name for one in summaries for name in one.harvest}):
        shares = [(one.harvest[name], min(one.pages, RECENT)) for one in summaries if name in one.harvest]
        pages = sum(share.pages for share, _ in shares)
        recent = sum(share.recent * weight for share, weight in shares) / lately
        found[name] = HarvestShare(pages, round(pages / read, 4), round(recent, 4))
    return found
