"""The rows of revisiting, inside the commit's transaction: visits, pages that are gone, URLs that are due again."""

import contextlib
import sqlite3
from collections.abc import Iterable

from periplus.errors import Corrupt
from periplus.frontier import UrlState, state_after
from periplus.model import Lease, Outcome
from periplus.store.batch import Completion
from periplus.store.database import open_reader
from periplus.store.folder import CrawlFolder
from periplus.store.rows import Rows

__all__ = ["begin_revisits", "bring_forward", "latest_visit", "mark_gone", "mark_visited", "queue_due"]

MAX_DUE = 10_000
"""URLs that one transaction queues again."""

NEXT_VISIT = (
    "ON CONFLICT (id) DO UPDATE SET state = excluded.state, outcome = excluded.outcome, attempts = 0, "
    "not_before = excluded.not_before, visits = visits + excluded.visits, "
    "visited_at = max(visited_at, excluded.visited_at), revisit_seconds = excluded.revisit_seconds"
)
"""What a further visit changes of a URL to which something has happened before."""


def mark_visited(rows: Rows, done: Completion, host_id: int) -> None:
    """The URL is done, or waits for its next visit."""
    again, now = done.revisit, done.visited_at
    rows.insert(
        "INTO progress (id, state, outcome, not_before, visits, visited_at, revisit_seconds, host_id, priority)",
        (
            done.lease.url_id,
            int(state_after(done.outcome, again=again is not None)),
            done.outcome.value,
            again.due_at if again else 0.0,
            int(now > 0),
            now,
            again.interval_seconds if again else 0.0,
            host_id,
            done.lease.priority,
        ),
        otherwise=NEXT_VISIT,
    )


def mark_gone(db: sqlite3.Connection, url_id: int, revision: int) -> None:
    """The page is there no more: its row says so and it leaves the index; the archive keeps its record."""
    db.execute("DELETE FROM page_text WHERE page_id = (SELECT id FROM page WHERE url_id = ?)", (url_id,))
    db.execute("UPDATE page SET outcome = ?, kept = 0, revision = ? WHERE url_id = ?", (Outcome.GONE, revision, url_id))


def queue_due(db: sqlite3.Connection, now: float) -> list[tuple[Lease, int]]:
    """Queue the URLs whose next visit is due, those that are due longest first; gives them with their hosts' rows."""
    rows = db.execute(
        "SELECT u.id, u.url, host.name, u.depth, u.redirects, ifnull(p.priority, u.priority), u.sitemap, p.visits, "
        "u.host_id FROM progress p JOIN url u ON u.id = p.id JOIN host ON host.id = u.host_id "
        "WHERE p.state = 2 AND p.not_before <= ? ORDER BY p.not_before LIMIT ?",
        (now, MAX_DUE),
    ).fetchall()
    db.executemany(
        "UPDATE progress SET state = ?, not_before = 0 WHERE id = ?", [(UrlState.QUEUED, row[0]) for row in rows]
    )
    return [
        (Lease(url_id, url, host, depth, redirects, priority, 0, bool(sitemap), visits), host_id)
        for url_id, url, host, depth, redirects, priority, sitemap, visits, host_id in rows
    ]


def bring_forward(db: sqlite3.Connection, lastmods: Iterable[tuple[int, float]]) -> None:
    """Pages that changed after our last visit, as a sitemap says (fingerprint, Unix time), are due now."""
    db.executemany(
        "UPDATE progress SET not_before = 0 WHERE state = 2 AND fingerprint = ? AND visited_at < ?", lastmods
    )


def begin_revisits(db: sqlite3.Connection, first_seconds: float) -> None:
    """A crawl that did not revisit begins to: what was read waits for its next visit."""
    db.execute(
        "UPDATE progress SET state = ?, revisit_seconds = ?, not_before = visited_at + ? "
        "WHERE state = ? AND revisit_seconds = 0 AND visits > 0 AND outcome <> ?",
        (UrlState.WAITING, first_seconds, first_seconds, UrlState.DONE, Outcome.GONE),
    )


def latest_visit(folder: CrawlFolder) -> float:
    """The latest Unix time at which a node of the crawl has noted an answer; 0 if there is none."""
    latest = 0.0
    for node in folder.nodes():
        with contextlib.suppress(Corrupt), contextlib.closing(open_reader(node.database)) as db:  # who opens it says so
            for question in ("SELECT max(visited_at) FROM progress", "SELECT max(fetched_at) FROM robots"):
                latest = max(latest, db.execute(question).fetchone()[0] or 0.0)
    return latest
