"""Rows are gathered and written many at a time: the same rows in the same order as one by one."""

import random
import sqlite3

import pytest

from periplus.store.rows import AT_ONCE, Rows


def table() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL)")
    return db


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 65, 200])
def test_any_number_of_rows_arrives(count: int) -> None:
    db, rows = table(), [(number, f"text {number}", number / 7) for number in range(count)]
    gathered = Rows(db)
    gathered.insert_all("INTO t", rows)
    assert db.execute("SELECT count(*) FROM t").fetchone() == (0,), "nothing is written before"
    gathered.flush()
    gathered.flush()
    assert db.execute("SELECT * FROM t ORDER BY id").fetchall() == rows


def test_statements_stay_few_whatever_the_batches_are() -> None:
    """SQLite keeps a hundred statements ready; sizes of their own for each batch would drive the others out."""
    db, chance, seen = table(), random.Random(7), set[str]()
    db.set_trace_callback(seen.add)
    gathered, number = Rows(db), 0
    for _ in range(50):
        for _ in range(chance.randrange(100)):
            gathered.insert("OR REPLACE INTO t (id, a)", (number, "x"))
            number += 1
        gathered.flush()
    sizes = {statement.count("'x'") for statement in seen}
    assert sizes == set(AT_ONCE)
    assert db.execute("SELECT count(*) FROM t").fetchone() == (number,)


def test_updates_meet_the_rows_that_came_with_them_and_conflict_clauses_hold() -> None:
    db = table()
    gathered = Rows(db)
    gathered.update("UPDATE t SET a = ? WHERE id = ?", ("new", 1))
    gathered.insert("INTO t", (1, "old", 0.5))
    gathered.insert("OR IGNORE INTO t", (1, "another", 0.5))
    gathered.flush()
    gathered.insert("OR REPLACE INTO t", (2, "first", 0.5))
    gathered.insert("OR REPLACE INTO t", (2, "second", 0.5))
    gathered.flush()
    assert db.execute("SELECT id, a FROM t ORDER BY id").fetchall() == [(1, "new"), (2, "second")]


def test_rows_that_are_there_already_are_changed_instead() -> None:
    db = table()
    gathered = Rows(db)
    for number in (1, 2, 1, 3, 1):
        gathered.insert("INTO t", (number, "new", 0.5), otherwise="ON CONFLICT (id) DO UPDATE SET b = b + excluded.b")
    gathered.insert("INTO t", (4, "plain", 0.0))
    gathered.flush()
    assert db.execute("SELECT id, b FROM t ORDER BY id").fetchall() == [(1, 1.5), (2, 0.5), (3, 0.5), (4, 0.0)]
