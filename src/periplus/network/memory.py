"""Room network: what delegation remembers: who has which subnet, and the round trips that were measured.

`DelegationStore` is the seam: a file of SQLite here, the key-value store in a cluster. A delegation is kept with an
address inside its subnet, so that a hierarchy rebuilt from newer files of the registries finds its place again.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from periplus.errors import Corrupt

__all__ = ["Delegation", "DelegationStore", "Measurement", "SqliteDelegations"]

SCHEMA = """
CREATE TABLE IF NOT EXISTS delegation (
  group_name TEXT NOT NULL, subnet TEXT NOT NULL, node TEXT NOT NULL, host TEXT NOT NULL, address TEXT NOT NULL,
  ms REAL, decided_at REAL NOT NULL, PRIMARY KEY (group_name, subnet)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS measurement (
  address TEXT NOT NULL, node TEXT NOT NULL, host TEXT NOT NULL, ms REAL NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (address, node)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Delegation:
    """A subnet is a node's, among the nodes of a group. `ms`: the round trip that it was given for, if known."""

    group: str
    subnet: str
    node: str
    host: str
    address: str
    ms: float | None
    decided_at: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """A round trip from a node to an address."""

    address: str
    node: str
    host: str
    ms: float
    at: float


class DelegationStore(Protocol):
    """Keeps what was learnt. Of two decisions about one subnet the later is believed."""

    async def delegations(self) -> list[Delegation]:
        """All that are kept, the oldest first."""

    async def measurements(self) -> list[Measurement]:
        """All that are kept, the oldest first."""

    async def find(self, group: str, subnet: str) -> tuple[Delegation, list[Measurement]] | None:
        """What is kept of a subnet, and what was measured for it; other machines may have decided meanwhile."""

    async def keep(self, delegation: Delegation, measured: list[Measurement]) -> Delegation:
        """Keep a decision and what was measured for it, both or neither; gives the decision that holds."""

    async def forget(self, group: str, subnet: str) -> None:
        """The subnet is nobody's."""


class SqliteDelegations:
    """A file. Corrupt in one line if it is none of ours."""

    def __init__(self, path: Path) -> None:
        try:
            self._db = sqlite3.connect(path)
            self._db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" + SCHEMA)
        except sqlite3.DatabaseError as error:
            raise Corrupt(f"{path}: delegations cannot be read ({error}); remove the file to learn them anew") from None

    def close(self) -> None:
        """Let the file go."""
        self._db.close()

    async def delegations(self) -> list[Delegation]:
        """All that are kept, the oldest first."""
        rows = self._db.execute(
            "SELECT group_name, subnet, node, host, address, ms, decided_at FROM delegation ORDER BY decided_at, subnet"
        )
        return [Delegation(*row) for row in rows]

    async def measurements(self) -> list[Measurement]:
        """All that are kept, the oldest first."""
        rows = self._db.execute("SELECT address, node, host, ms, at FROM measurement ORDER BY at, address, node")
        return [Measurement(*row) for row in rows]

    async def find(self, group: str, subnet: str) -> tuple[Delegation, list[Measurement]] | None:
        """Nothing that its only process does not know."""

    async def keep(self, delegation: Delegation, measured: list[Measurement]) -> Delegation:
        """Keep a decision and what was measured for it, both or neither; nobody else decides."""
        one = delegation
        row = (one.group, one.subnet, one.node, one.host, one.address, one.ms, one.decided_at)
        rows = [(m.address, m.node, m.host, m.ms, m.at) for m in measured]
        with self._db:  # one transaction
            self._db.execute("INSERT OR REPLACE INTO delegation VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._db.executemany("INSERT OR REPLACE INTO measurement VALUES (?, ?, ?, ?, ?)", rows)
        return delegation

    async def forget(self, group: str, subnet: str) -> None:
        """The subnet is nobody's."""
        with self._db:
            self._db.execute("DELETE FROM delegation WHERE group_name = ? AND subnet = ?", (group, subnet))
