"""Databases of every released version are opened by this one, and a death on the way changes nothing.

`tests/schemas/vN.sql` is the schema as version N was released. A change of `schema.sql` needs a new version, a
migration from the one before, and its own copy here.
"""

import os
import signal
import sqlite3
from pathlib import Path
from unittest.mock import ANY

import pytest

from periplus.errors import Corrupt, EnvironmentFailure
from periplus.files import write_whole
from periplus.model import Outcome
from periplus.store import database
from periplus.store.checks import PAGE_OUTCOMES, Finding, check_pages
from periplus.store.folder import NodeFolder
from periplus.store.revisits import bring_forward, queue_due

ROOT = Path(__file__).resolve().parents[3]
RELEASED = {int(path.stem[1:]): path for path in (ROOT / "tests" / "schemas").glob("v*.sql")}
CURRENT = (ROOT / "src" / "periplus" / "store" / "schema.sql").read_text("utf-8")


def made(path: Path, version: int) -> Path:
    """A database as that release made it, with a host in it."""
    with sqlite3.connect(path) as db:
        db.executescript(RELEASED[version].read_text("utf-8"))
        db.execute("INSERT INTO host (name, domain) VALUES ('old.example', 'old.example')")
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    return path


def shape(db: sqlite3.Connection) -> set[tuple[str, str]]:
    """Tables and indexes with their columns, triggers with what they do."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")]
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    columns = {(name, str(column[1:3])) for name in names for column in db.execute(f"PRAGMA table_info({name})")}
    return columns | {(name, " ".join(sql.split())) for name, sql in triggers}


def test_the_schema_of_this_version_is_the_one_that_was_written_down() -> None:
    assert RELEASED[database.SCHEMA_VERSION].read_text("utf-8") == CURRENT, "a new schema is a new version"
    assert set(range(min(RELEASED), database.SCHEMA_VERSION + 1)) == set(RELEASED)


def test_a_new_database_has_its_tables_from_the_moment_that_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads beside the writer, or finds what a loss of power left, finds no database without tables."""

    def power_fails(path: Path, data: bytes) -> None:
        write_whole(path, data)
        raise OSError("no power")

    monkeypatch.setattr(database, "write_whole", power_fails)
    with pytest.raises(EnvironmentFailure):
        database.open_writer(tmp_path / "new.db")
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]
    reader = database.open_reader(tmp_path / "new.db")
    assert reader.execute("SELECT count(*) FROM url").fetchone() == (0,)
    assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",), "and needs no journal to become what it is"
    reader.close()


@pytest.mark.parametrize("version", sorted(RELEASED))
def test_every_released_version_is_opened_and_loses_nothing(version: int, tmp_path: Path) -> None:
    fresh = database.open_writer(tmp_path / "fresh.db")
    db = database.open_writer(made(tmp_path / "old.db", version))
    assert db.execute("PRAGMA user_version").fetchone()[0] == database.SCHEMA_VERSION
    assert db.execute("SELECT name FROM host").fetchall() == [("old.example",)]
    assert shape(db) == shape(fresh)
    db.close()
    fresh.close()


def test_what_version_6_had_queued_is_queued(tmp_path: Path) -> None:
    path = made(tmp_path / "old.db", 6)
    with sqlite3.connect(path) as old:
        old.executemany(
            "INSERT INTO url (id, fingerprint, url, host_id, state, priority, depth) VALUES (?, ?, ?, 1, ?, ?, 1)",
            [(n, n, f"http://old.example/{n}", n % 3, n / 10) for n in range(1, 10)],
        )
    old.close()
    db = database.open_writer(path)
    assert db.execute("SELECT id FROM queue").fetchall() == [(9,), (6,), (3,)]
    db.execute("INSERT INTO progress (id, state) VALUES (6, 1)")
    db.execute("INSERT INTO progress (id, priority) VALUES (3, 2.0)")
    assert db.execute("SELECT id FROM queue").fetchall() == [(3,), (9,), (6,)]
    assert db.execute("SELECT id FROM spent").fetchall() == [(6,)]
    db.close()


COLUMNS = (
    "id, fingerprint, url, host_id, state, outcome, priority, depth, redirects, attempts, not_before, sitemap, visits, "
    "visited_at, revisit_seconds, redirect"
)


def with_urls_of_every_kind(path: Path, version: int) -> list[tuple[object, ...]]:
    """URLs that are queued, wait for a try or a visit, were put back after a visit, or ended in any way."""
    fates = [
        (0, None, 0, 0.0, 0, 0.0, 0.0, None),  # queued
        (0, "retry", 2, 1.8e9, 0, 0.0, 0.0, None),  # waits for its next try
        (0, "kept", 0, 0.0, 3, 1.7e9, 86400.0, None),  # is to be visited again
        (2, "not_modified", 0, 1.9e9, 3, 1.7e9, 5400.5, None),  # waits for that
        (1, "redirected", 1, 0.0, 0, 0.0, 0.0, -77),
        *((1, outcome.value, 1, 0.0, int(outcome is Outcome.KEPT), 0.0, 0.0, None) for outcome in Outcome),
    ]
    rows = [
        (
            n,
            1000 - n,
            f"http://old.example/{n}",
            1,
            *fate[:2],
            n % 7 / 10,
            n % 3,
            n % 2,
            *fate[2:4],
            n % 5 == 0,
            *fate[4:],
        )
        for n, fate in enumerate(fates, 1)
    ]
    with sqlite3.connect(path) as old:
        old.executemany(f"INSERT INTO url ({COLUMNS}) VALUES ({','.join('?' * 16)})", rows)
        if version == 7:  # one more that has ended and is in the queue still
            old.execute(f"INSERT INTO url ({COLUMNS}) SELECT 99, 99, 'http://old.example/99', 1, 0, NULL, 0.9, 1, 0, "
                        "0, 0, 0, 0, 0, 0, NULL")  # fmt: skip
            old.execute("UPDATE url SET state = 1, outcome = 'kept' WHERE id = 99")
        found = old.execute(f"SELECT {COLUMNS} FROM url ORDER BY id").fetchall()
    old.close()
    return found


@pytest.mark.parametrize("version", [6, 7])
def test_every_state_of_a_url_is_kept(version: int, tmp_path: Path) -> None:
    path = made(tmp_path / "old.db", version)
    before = with_urls_of_every_kind(path, version)
    db = database.open_writer(path)
    assert db.execute(f"SELECT {COLUMNS} FROM known_url ORDER BY id").fetchall() == before
    assert db.execute("SELECT count(*) FROM progress").fetchone()[0] == len(before) - 1, "one has never been tried"
    assert db.execute("SELECT id FROM queue EXCEPT SELECT id FROM spent").fetchall() == [(1,), (2,), (3,)]
    assert db.execute("SELECT id FROM spent").fetchall() == ([(99,)] if version == 7 else [])
    bring_forward(db, [(1000 - 4, 1.75e9)])
    assert [lease.url_id for lease, _ in queue_due(db, 1.6e9)] == [4], "a sitemap finds what waits"
    assert check_pages(NodeFolder("old", tmp_path), db, repair=False) == [
        Finding("old", "database", "URLs are done and have no page", len(PAGE_OUTCOMES) + (version == 7), ANY),
        Finding("old", "database", "URLs have a wrong fingerprint", len(before), ANY),
    ], "nothing but what this test left out"
    db.close()


def test_unknown_versions_are_refused_with_advice(tmp_path: Path) -> None:
    for version, advice in ((99, "newer Periplus"), (3, "crawl anew")):
        path = made(tmp_path / f"{version}.db", database.SCHEMA_VERSION)
        with sqlite3.connect(path) as db:
            db.execute(f"PRAGMA user_version = {version}")
        db.close()
        with pytest.raises(Corrupt, match=advice):
            database.open_writer(path)


STEPS = (
    "ALTER TABLE host ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'",
    "CREATE TABLE paint (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "INSERT INTO paint (name) SELECT name FROM host",
)


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> int:
    """As if the next release had come: one more column and table."""
    version = database.SCHEMA_VERSION
    monkeypatch.setattr(database, "MIGRATIONS", {version: STEPS})
    monkeypatch.setattr(database, "SCHEMA_VERSION", version + 1)
    return version + 1


def test_a_migration_is_done_once(tmp_path: Path, next_version: int) -> None:
    path = made(tmp_path / "node.db", next_version - 1)
    for opens in (database.open_reader, database.open_writer, database.open_reader):  # who searches has it done, too
        db = opens(path)
        assert db.execute("SELECT name, colour FROM host").fetchall() == [("old.example", "grey")]
        assert db.execute("SELECT count(*) FROM paint").fetchone() == (1,)
        db.close()


@pytest.mark.parametrize("step", range(len(STEPS) + 2))
def test_killed_while_migrating_it_is_the_old_or_the_new_schema(tmp_path: Path, next_version: int, step: int) -> None:
    """The process dies before the n-th statement of the migration, its version and its commit included."""
    path = made(tmp_path / "node.db", next_version - 1)
    pid = os.fork()
    if pid == 0:
        _die_at(path, step)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == next_version - 1
        assert "colour" not in {row[1] for row in db.execute("PRAGMA table_info(host)")}
    db.close()
    again = database.open_writer(path)
    assert again.execute("SELECT count(*) FROM paint").fetchone() == (1,)
    again.close()


def _die_at(path: Path, step: int) -> None:
    begun, seen = False, 0

    def watch(statement: str) -> None:
        nonlocal begun, seen
        if begun:
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1
        begun = begun or statement.startswith("BEGIN")

    try:
        db = sqlite3.connect(path, isolation_level=None)
        db.set_trace_callback(watch)
        database._migrate(db)
    finally:
        os._exit(1)
