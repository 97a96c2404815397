"""Rows of the exchange and the accounts of a node: outbox, inbox, traffic, counters; part of a `commit.py` batch."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from periplus.model import Parcel
from periplus.store.batch import Delivery

__all__ = ["count", "note_confirmed", "note_passed", "receive", "send"]


def send(db: sqlite3.Connection, parcels: Sequence[Parcel]) -> list[tuple[int, Parcel]]:
    """Put parcels into the outbox; gives them with their sequence numbers."""
    if not parcels:
        return []
    sent = []
    for parcel in parcels:
        url = parcel.url
        cursor = db.execute(
            "INSERT INTO outbox (receiver, url, priority, depth, redirects, sitemap, target) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (parcel.receiver, url.url, url.priority, url.depth, url.redirects, url.sitemap, parcel.target),
        )
        sent.append((cursor.lastrowid or 0, parcel))
    for receiver, number in Counter(parcel.receiver for parcel in parcels).items():
        _traffic(db, receiver, sent=number)
    return sent


def receive(db: sqlite3.Connection, delivery: Delivery) -> None:
    """Remember up to where a sender's parcels have come in."""
    db.execute("INSERT OR REPLACE INTO inbox VALUES (?, ?)", (delivery.sender, delivery.sequence))
    peer = delivery.sender.partition(".")[0]  # in a cluster the generation of its database stands behind the dot
    _traffic(db, peer, received=delivery.received, duplicate=delivery.duplicate)


def note_passed(db: sqlite3.Connection, parcels: Iterable[Parcel]) -> None:
    """Remember what a home has let through to other nodes, so that it never lets it through again."""
    db.executemany(
        "INSERT OR IGNORE INTO passed VALUES (?, ?)",
        [(parcel.url.fingerprint, parcel.url.url) for parcel in parcels if not parcel.target],
    )


def note_confirmed(db: sqlite3.Connection, confirmed: Mapping[str, int], *, kept: bool) -> None:
    """Forget outbox rows that receivers have committed; `kept`: remember up to where, for receivers elsewhere."""
    for receiver, sequence in confirmed.items():
        db.execute("DELETE FROM outbox WHERE receiver = ? AND sequence <= ?", (receiver, sequence))
        if kept:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"tail {receiver}", str(sequence)))


def count(db: sqlite3.Connection, table: str, column: str, counts: Counter[str]) -> None:
    """Add to the counters of a table."""
    db.executemany(
        f"INSERT INTO {table} VALUES (?, ?) ON CONFLICT ({column}) DO UPDATE SET count = count + excluded.count",
        list(counts.items()),
    )


def _traffic(db: sqlite3.Connection, peer: str, *, sent: int = 0, received: int = 0, duplicate: int = 0) -> None:
    db.execute(
        "INSERT INTO traffic VALUES (?, ?, ?, ?) ON CONFLICT (peer) DO UPDATE SET sent = sent + excluded.sent, "
        "received = received + excluded.received, duplicate = duplicate + excluded.duplicate",
        (peer, sent, received, duplicate),
    )
