"""The summary of a crawl, read from its databases: the JSON of `periplus crawl` and the table that people see."""

from collections import Counter
from dataclasses import dataclass, field

from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder
from periplus.urls import fingerprint

__all__ = ["NodeSummary", "Summary", "summarize"]


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """What one node did."""

    pages: int
    kept: int
    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a crawl came to so far. `outcomes` adds up to the leases; `seconds` are those of the last run."""

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


def summarize(folder: CrawlFolder, stop_reason: str, seconds: float, pages_this_run: int) -> Summary:
    """Add up the accounts of all nodes."""
    nodes: dict[str, NodeSummary] = {}
    outcomes: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    fingerprints: set[int] = set()
    queued = 0
    for node in folder.nodes():
        db = open_reader(node.database)
        try:
            pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
            sent, received = db.execute("SELECT ifnull(sum(sent), 0), ifnull(sum(received), 0) FROM traffic").fetchone()
            nodes[node.name] = NodeSummary(pages, kept, sent, received)
            outcomes.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
            dropped.update(dict(db.execute("SELECT reason, count FROM dropped").fetchall()))
            queued += db.execute("SELECT count(*) FROM url WHERE state = 0").fetchone()[0]
            fingerprints.update(row[0] for row in db.execute("SELECT fingerprint FROM url"))
            sent_on_the_way = [fingerprint(row[0]) for row in db.execute("SELECT url FROM outbox")]
            queued += len(sent_on_the_way)
            fingerprints.update(sent_on_the_way)
        finally:
            db.close()
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
    )
