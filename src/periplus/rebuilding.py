"""A node of a cluster opened in this process: anew, where it was left, or out of the stream if its folder is lost."""

import contextlib
import secrets
import sqlite3
from pathlib import Path

from periplus.cluster import NodeRecord
from periplus.errors import EnvironmentFailure
from periplus.exchange.nats import NatsExchange
from periplus.frontier import HomeIntake
from periplus.job import Prepared
from periplus.node import Node
from periplus.resume import open_node, outbox_rows, rest_hosts
from periplus.shared import Shared
from periplus.store.database import open_reader, transaction
from periplus.urls import canonicalize, fingerprint

__all__ = ["generation_in", "join_node"]

GENERATION = "generation"
"""Key in `meta`: which of the databases that the node ever had this is."""


def generation_in(database: Path) -> str | None:
    """The generation of a node's database; None if there is none."""
    if not database.exists():
        return None
    with contextlib.closing(open_reader(database)) as db:
        row = db.execute("SELECT value FROM meta WHERE key = ?", (GENERATION,)).fetchone()
    return str(row[0]) if row else ""


async def join_node(
    name: str, before: NodeRecord | None, prepared: Prepared, shared: Shared, exchange: NatsExchange
) -> tuple[Node, str]:
    """Open a node and connect it with the others; gives it with its generation.

    `before` is who ran it before. EnvironmentFailure if the folder here is older than what they had: the crawl has
    gone on elsewhere, and what lies here must not be taken for it.
    """
    found = generation_in(prepared.folder.node(name).database)
    lost = before is not None and bool(before.generation) and found is None
    if before is not None and before.generation and found and found != before.generation:
        raise EnvironmentFailure(
            f"{prepared.folder.node(name).path}: left behind when node {name} was taken over on "
            f"{before.machine.partition('/')[0]}; move it away, and the node is rebuilt from the stream"
        )
    node = open_node(name, prepared, shared)
    generation = found or _begin(node.store.db, prepared.folder.node(name).database)
    node.store.in_cluster = True
    node.store.is_home = isinstance(shared.intake, HomeIntake)
    if isinstance(shared.intake, HomeIntake):
        if lost:
            await _learn_passed(node, prepared, exchange)
        for mark, url in node.store.db.execute("SELECT fingerprint, url FROM passed"):
            parts = canonicalize(url)
            if parts is not None:
                shared.intake.remember_passed(name, parts.host, url, mark)
    rest_hosts([node], shared)
    await _connect(node, generation, shared, exchange, fresh=found is None)
    return node, generation


def _begin(db: sqlite3.Connection, path: Path) -> str:
    generation = secrets.token_hex(4)
    with transaction(db, path):
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (GENERATION, generation))
    return generation


async def _learn_passed(node: Node, prepared: Prepared, exchange: NatsExchange) -> None:
    """What the lost database had let through to others, as the stream remembers it: none of it may pass again."""
    passed = [
        (fingerprint(link.url.url), link.url.url)
        async for envelope in exchange.read_again()
        if envelope.sender.partition(".")[0] == node.name
        for link in envelope.links
        if not link.target
    ]
    with transaction(node.store.db, prepared.folder.node(node.name).database):
        node.store.db.executemany("INSERT OR IGNORE INTO passed VALUES (?, ?)", passed)


async def _connect(node: Node, generation: str, shared: Shared, exchange: NatsExchange, *, fresh: bool) -> None:
    db = node.store.db
    inbox = dict(db.execute("SELECT sender, sequence FROM inbox").fetchall())
    tails = {
        key.partition(" ")[2]: int(value)
        for key, value in db.execute("SELECT key, value FROM meta WHERE key LIKE 'tail %'")
    }
    await exchange.open(node.name, generation, inbox, tails, fresh=fresh)
    for sequence, parcel in outbox_rows(node):
        url = parcel.url
        shared.intake.remember_sent(node.name, url.host, url.url, url.fingerprint)
        exchange.post(node.name, parcel.receiver, sequence, url, parcel.target)
