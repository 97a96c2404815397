"""A node's database: opening it for the one writer or for readers, and its schema.

Previous stage: `exchange` hands over what to write; next: `index` and `search` read what was committed.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path

from periplus.errors import Corrupt, DiskFull, EnvironmentFailure, NotACrawl
from periplus.files import write_whole
from periplus.store.migrations import MIGRATIONS

__all__ = ["SCHEMA_VERSION", "open_reader", "open_writer", "read_only", "storage_errors", "transaction"]

SCHEMA_VERSION = 9

WAL_MODE = slice(18, 20)
"""Where a database file says how it is read and written: 2 is with a write-ahead log (SQLite's file format, 1.3.3). A
change of mode later would be written through a rollback journal, which a reader cannot clean up after a death."""

CACHE_KIB, LEAST_CACHE_KIB = 24_576, 4_096
"""Of all writers of a process, and of each; memory counts, and the system caches the files as well."""


def open_writer(path: Path, *, durability: str = "normal", sharers: int = 1) -> sqlite3.Connection:
    """Open (or make) the database for its one writer. Transactions are explicit: BEGIN IMMEDIATE … COMMIT.

    `sharers`: how many nodes share the memory of the process.
    """
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_whole(path, _empty())
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        # NORMAL survives the death of the process, FULL also the loss of power (SQLite's WAL documentation).
        db.execute(f"PRAGMA synchronous = {'FULL' if durability == 'full' else 'NORMAL'}")
        db.execute(f"PRAGMA cache_size = -{max(LEAST_CACHE_KIB, CACHE_KIB // sharers)}")
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("PRAGMA busy_timeout = 10000")
        _ensure_schema(db, path)
    return db


def open_reader(path: Path) -> sqlite3.Connection:
    """Open an existing database for reading, also while a crawl writes to it. An older one is brought up to date."""
    if not path.is_file():
        raise NotACrawl(f"{path}: no such database; was this folder made by `periplus crawl`?")
    with storage_errors(path):
        # Of a log beside it SQLite makes an index, which a read-only file system has no place for; nobody writes there.
        whole = "&immutable=1" if _is_read_only(path) and not path.with_name(f"{path.name}-wal").exists() else ""
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{whole}", uri=True, check_same_thread=False)
        db.execute("PRAGMA busy_timeout = 10000")
        if _version(db) in MIGRATIONS and not _is_read_only(path):
            open_writer(path).close()
        _check_version(db, path)
    return db


@contextmanager
def transaction(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """All of the block's changes or, with an error, none of them."""
    with storage_errors(path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _empty() -> bytes:
    """A database with its tables and nothing in them: whoever finds the file finds them, also when the power failed."""
    with closing(sqlite3.connect(":memory:")) as db:
        _make_tables(db)
        image = bytearray(db.serialize())
    image[WAL_MODE] = b"\2\2"
    return bytes(image)


def _make_tables(db: sqlite3.Connection) -> None:
    schema = resources.files("periplus.store").joinpath("schema.sql").read_text("utf-8")
    db.executescript(f"BEGIN IMMEDIATE; {schema}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")


def _ensure_schema(db: sqlite3.Connection, path: Path) -> None:
    if _version(db) == 0:  # an empty file, as a disk may leave of one
        _make_tables(db)
    _migrate(db)
    _check_version(db, path)


def _migrate(db: sqlite3.Connection) -> None:
    """Bring a database of an older release up to date in one transaction: whoever dies in it changed nothing."""
    version = _version(db)
    if not all(step in MIGRATIONS for step in range(version, SCHEMA_VERSION)):
        return  # unknown: the check of the version says so
    if version >= SCHEMA_VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for step in range(version, SCHEMA_VERSION):
            for statement in MIGRATIONS[step]:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version


def _check_version(db: sqlite3.Connection, path: Path) -> None:
    version = _version(db)
    if version != SCHEMA_VERSION:
        advice = "use a newer Periplus" if version > SCHEMA_VERSION else "crawl anew into another folder"
        if version in MIGRATIONS:
            advice = "open it once where it can be written to: `periplus search DIR WORD`"
        raise Corrupt(f"{path}: schema version {version}, this Periplus reads version {SCHEMA_VERSION}; {advice}")


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into our errors, each one line with the path."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        extended = getattr(error, "sqlite_errorcode", 0)
        code = extended & 0xFF
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) and _is_read_only(path):
            raise read_only(path) from error
        if (
            code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE
        ):  # no room for the file, or beside it
            raise DiskFull(f"{path}: no room left on the disk; free some and run the same command again") from error
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise Corrupt(f"{path}: not a readable database ({error}); restore it from a copy") from error
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY):
            raise EnvironmentFailure(f"{path}: {error}") from error
        raise
    except OSError as error:
        raise from_os_error(error, path) from error


def from_os_error(error: OSError, path: Path) -> EnvironmentFailure:
    """The error tree's word for an operating system error on `path`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DiskFull(f"{path}: no room left on the disk; free some and run the same command again")
    if error.errno == errno.EROFS:
        return read_only(path)
    return EnvironmentFailure(f"{path}: {error.strerror or error}")


def _is_read_only(path: Path) -> bool:
    """Whether the file system on which a path lies cannot be written to, as after an error of its disk."""
    try:
        return bool(os.statvfs(path if path.exists() else path.parent).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def read_only(path: Path) -> EnvironmentFailure:
    """What is said where the file system cannot be written to."""
    return EnvironmentFailure(
        f"{path}: the file system is read-only; run the same command again when it can be written to"
    )
