"""Rows on their way into a node's database, gathered by statement.

A step of SQLite costs about as much as what it writes, and lets the other threads in before and after it. So rows of a
table go in many at once; where there are too few for that, one by one. Values are plain: for a member of an enumeration
or a bool the library looks for an adapter first.
"""

import sqlite3
from collections.abc import Sequence
from itertools import chain

__all__ = ["Rows"]

AT_ONCE = (64, 16, 4, 1)
"""Rows that one statement inserts: few sizes, so that SQLite has each statement ready."""

Row = Sequence[object]


class Rows:
    """What a transaction is still to write. Whoever reads a table flushes first."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._inserts: dict[tuple[str, str], list[Row]] = {}
        self._updates: dict[str, list[Row]] = {}

    def insert(self, into: str, row: Row, *, otherwise: str = "") -> None:
        """A row for `INSERT {into}`: a table, perhaps with a conflict clause before and columns behind its name.

        `otherwise`: what becomes of a row that is there already (ON CONFLICT …).
        """
        self._inserts.setdefault((into, otherwise), []).append(row)

    def insert_all(self, into: str, rows: Sequence[Row]) -> None:
        """Several rows at once."""
        if rows:
            self._inserts.setdefault((into, ""), []).extend(rows)

    def update(self, statement: str, values: Row) -> None:
        """The values of an UPDATE; updates come after all inserts."""
        self._updates.setdefault(statement, []).append(values)

    def flush(self) -> None:
        """Write everything that was gathered."""
        for (into, otherwise), rows in self._inserts.items():
            self._insert(into, rows, otherwise)
        self._inserts.clear()
        for statement, values in self._updates.items():
            self._db.executemany(statement, values)
        self._updates.clear()

    def _insert(self, into: str, rows: list[Row], otherwise: str) -> None:
        one, at = f"({','.join('?' * len(rows[0]))})", 0
        for size in AT_ONCE:
            if len(rows) - at < size:
                continue
            statement = f"INSERT {into} VALUES {','.join([one] * size)} {otherwise}"
            while len(rows) - at >= size:
                self._db.execute(statement, tuple(chain.from_iterable(rows[at : at + size])))
                at += size
