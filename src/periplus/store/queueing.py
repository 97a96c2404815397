"""The rows of the queue: `queue` has what was queued in the order of its turns, `spent` what of it has ended since.

Triggers of `schema.sql` keep both tables while URLs come and end. Here is what they cannot do: take what is spent out
of the queue, count what is left, and make the queue anew.
"""

import sqlite3

__all__ = ["enough_spent", "queued_count", "rebuild_queue", "sweep"]

SPENT_A_HOST = 8
LEAST_SPENT, MOST_SPENT = 128, 16_384
"""URLs that end before they leave the queue together: so many of each host share a page of the database. Until then
whoever looks for the best URLs of a host passes over them."""


def enough_spent(hosts: int) -> int:
    """How many URLs have ended when it is time to sweep."""
    return min(max(LEAST_SPENT, SPENT_A_HOST * hosts), MOST_SPENT)


def queued_count(db: sqlite3.Connection) -> int:
    """How many URLs are queued."""
    queued: int = db.execute("SELECT (SELECT count(*) FROM queue) - (SELECT count(*) FROM spent)").fetchone()[0]
    return queued


def sweep(db: sqlite3.Connection) -> None:
    """Take what is spent out of the queue, in its order."""
    db.execute("DELETE FROM queue WHERE (host_id, priority, id) IN (SELECT host_id, priority, id FROM spent)")
    db.execute("DELETE FROM spent")


def rebuild_queue(db: sqlite3.Connection) -> None:
    """Queue exactly what is queued by what `url` and `progress` say."""
    db.execute("DELETE FROM spent")
    db.execute("DELETE FROM queue")
    db.execute(
        "INSERT INTO queue "
        "SELECT host_id, priority, id FROM known_url WHERE state = 0 ORDER BY host_id, priority DESC, id"
    )
