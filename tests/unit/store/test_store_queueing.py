"""The queue on disk has what is queued and nothing else, whoever writes; and a URL's own row is written once."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawl_values import new_url, open_store

from periplus.frontier import Revisit
from periplus.model import Lease, Outcome
from periplus.store.checks import check_pages
from periplus.store.commit import Batch, Completion, NodeStore
from periplus.store.queueing import rebuild_queue, sweep

URLS = 30


@pytest.fixture
def store(tmp_path: Path) -> Iterator[NodeStore]:
    store = open_store(tmp_path)
    store.urls.revalues = True
    yield store
    store.close()


@pytest.fixture
def leases(store: NodeStore) -> list[Lease]:
    urls = [new_url(f"http://{'ab'[n % 2]}.com/{n}", priority=n % 5 / 10) for n in range(URLS)]
    return [lease for lease, _ in store.commit(Batch(seeds=urls)).queued]


def turns(db: sqlite3.Connection) -> list[tuple[int, float, int]]:
    return db.execute("SELECT * FROM queue EXCEPT SELECT host_id, priority, id FROM spent ORDER BY id").fetchall()


def queued(db: sqlite3.Connection) -> list[tuple[int, float, int]]:
    return db.execute("SELECT host_id, priority, id FROM known_url WHERE state = 0 ORDER BY id").fetchall()


STATEMENTS = (
    "UPDATE progress SET state = 0 WHERE id = :id",
    "UPDATE progress SET state = 1 WHERE id = :id",
    "UPDATE progress SET state = 2, not_before = 5 WHERE id = :id",
    "UPDATE progress SET priority = :priority WHERE id = :id",
    "UPDATE progress SET priority = NULL WHERE id = :id",
    "UPDATE progress SET priority = :priority, state = 1 - (state <> 0) WHERE id = :id",
    "INSERT OR IGNORE INTO progress (id, attempts) VALUES (:id, 1)",
    "INSERT OR IGNORE INTO progress (id, priority) VALUES (:id, :priority)",
    "INSERT OR IGNORE INTO progress (id, state, priority) VALUES (:id, 1, :priority)",
    "INSERT INTO progress (id, state) VALUES (:id, 1) ON CONFLICT (id) DO UPDATE SET state = excluded.state",
    "INSERT INTO progress (id, priority) VALUES (:id, :priority) "
    "ON CONFLICT (id) DO UPDATE SET priority = excluded.priority WHERE state = 0",
    "DELETE FROM progress WHERE id = :id",
)


@pytest.mark.usefixtures("leases")
@pytest.mark.parametrize("seed", range(8))
def test_no_statement_can_forget_the_queue(store: NodeStore, seed: int) -> None:
    chance, db = random.Random(seed), store.db
    for _ in range(600):
        db.execute(chance.choice(STATEMENTS), {"id": chance.randint(1, URLS), "priority": chance.randrange(9) / 10})
        if chance.random() < 0.05:
            chance.choice([sweep, rebuild_queue])(db)
        assert turns(db) == queued(db)
    sweep(db)
    assert db.execute("SELECT * FROM queue ORDER BY id").fetchall() == queued(db)
    waiting = db.execute("SELECT id, fingerprint FROM progress WHERE state = 2").fetchall()
    assert set(waiting) <= set(db.execute("SELECT id, fingerprint FROM url").fetchall()), "sitemaps find them"


def test_the_row_of_a_url_is_not_written_again(store: NodeStore, leases: list[Lease]) -> None:
    """Neither when it is tried, ends, waits or comes up again nor when it is worth more."""
    store.db.execute("CREATE TRIGGER unchanged BEFORE UPDATE ON url BEGIN SELECT raise(ABORT, 'written again'); END")
    store.db.execute("CREATE TRIGGER kept BEFORE DELETE ON url BEGIN SELECT raise(ABORT, 'written again'); END")
    before = store.db.execute("SELECT * FROM url").fetchall()
    marks = dict(store.db.execute("SELECT id, fingerprint FROM url").fetchall())
    store.commit(Batch(revalued=[(marks[lease.url_id], 0.95) for lease in leases[:20]]))
    ends = [
        Completion(leases[0], Outcome.RETRY, retry_at=99.0),
        Completion(leases[1], Outcome.REDIRECTED, redirect=marks[1]),
        Completion(leases[2], Outcome.NOT_RELEVANT, visited_at=50.0, revisit=Revisit(10.0, 60.0)),
        *(Completion(lease, Outcome.HTTP_ERROR) for lease in leases[3:25]),
    ]
    store.commit(Batch(completions=ends))
    ((again, _),) = store.commit(Batch(due_until=100.0)).queued
    assert (again.url_id, again.visits, again.priority) == (3, 1, 0.95), "what it was worth at last"
    store.commit(Batch(revalued=[(marks[3], 0.7), (marks[4], 0.7), (marks[30], 0.7)]))
    assert store.db.execute("SELECT * FROM url").fetchall() == before
    assert (
        turns(store.db)
        == queued(store.db)
        == [
            *store.db.execute("SELECT host_id, 0.95, id FROM url WHERE id = 1").fetchall(),
            *store.db.execute("SELECT host_id, 0.7, id FROM url WHERE id = 3").fetchall(),
            *store.db.execute(
                "SELECT host_id, CASE id WHEN 30 THEN 0.7 ELSE priority END, id FROM url WHERE id > 25"
            ).fetchall(),
        ]
    )
    assert check_pages(store.folder, store.db, repair=False) == []


def test_a_batch_that_fails_leaves_no_progress(store: NodeStore, leases: list[Lease]) -> None:
    marks = dict(store.db.execute("SELECT id, fingerprint FROM url").fetchall())
    store.db.execute("CREATE TRIGGER full BEFORE INSERT ON outcome BEGIN SELECT raise(ABORT, 'no room'); END")
    batch = Batch(completions=[Completion(leases[0], Outcome.HTTP_ERROR)], revalued=[(marks[2], 0.9)])
    with pytest.raises(sqlite3.IntegrityError, match="no room"):
        store.commit(batch)
    assert store.db.execute("SELECT count(*) FROM progress").fetchone() == (0,)
    store.db.execute("DROP TRIGGER full")
    store.commit(batch)
    assert turns(store.db) == queued(store.db)
    assert store.db.execute("SELECT id, priority FROM progress").fetchall() == [(1, 0.0), (2, 0.9)]


def test_a_url_that_ends_leaves_the_queue_without_a_look_at_its_row(store: NodeStore, leases: list[Lease]) -> None:
    """Of ten million URLs nearly every row stands on a page of the database that nobody else has to read."""
    marks = dict(store.db.execute("SELECT id, fingerprint FROM url").fetchall())
    store.commit(Batch(revalued=[(marks[leases[2].url_id], 0.9)]))
    store.db.execute("UPDATE url SET priority = -1")  # whoever looks there finds a place that is not in the queue
    store.commit(
        Batch(
            completions=[
                Completion(leases[0], Outcome.HTTP_ERROR),
                Completion(leases[1], Outcome.KEPT, visited_at=5.0),
                Completion(leases[2], Outcome.HTTP_ERROR),
            ]
        )
    )
    store.db.execute("BEGIN")
    sweep(store.db)
    store.db.execute("COMMIT")
    gone = [lease.url_id for lease in leases[:3]]
    left = [row[0] for row in store.db.execute("SELECT id FROM queue ORDER BY id")]
    assert left == [lease.url_id for lease in leases if lease.url_id not in gone]
