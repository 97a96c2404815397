"""A node of a cluster opened in this process: anew, where it was left, or out of the stream if its folder is lost."""

import contextlib
import secrets
import sqlite3
from pathlib import Path

from periplus.cluster import NodeRecord
from periplus.cluster.members import RETURNING
from periplus.errors import ConfigError, Corrupt, EnvironmentFailure
from periplus.exchange.nats import NatsExchange
from periplus.frontier import HomeIntake
from periplus.job import Prepared
from periplus.node import Node
from periplus.resume import open_node, outbox_rows, rest_hosts
from periplus.shared import Shared
from periplus.store.database import open_reader, storage_errors, transaction
from periplus.store.folder import CrawlFolder, NodeFolder
from periplus.urls import canonicalize, fingerprint
from periplus.wording import counted

__all__ = ["check_alone", "check_folder", "join_node"]

GENERATION = "generation"
"""Key in `meta`: which of the databases that the node ever had this is."""


def _generation_in(folder: NodeFolder) -> tuple[str, bool]:
    """The generation of a node's database, empty if no cluster has begun with it, and whether it knows any URL."""
    if not folder.database.exists():
        return "", False
    try:
        with contextlib.closing(open_reader(folder.database)) as db, storage_errors(folder.database):
            row = db.execute("SELECT value FROM meta WHERE key = ?", (GENERATION,)).fetchone()
            return str(row[0]) if row else "", db.execute("SELECT 1 FROM url LIMIT 1").fetchone() is not None
    except Corrupt:  # an empty file is made one by who opens it for writing, who also says what is wrong with others
        return "", False


def check_alone(folder: CrawlFolder) -> None:
    """ConfigError if the folder is of a cluster's nodes: one process knows nothing of what the others have."""
    nodes = [node.name for node in folder.nodes() if _generation_in(node)[0]]
    if nodes:
        raise ConfigError(
            f"{folder.path}: has what a cluster's {' and '.join(nodes)} crawled; go on with `periplus node {nodes[0]} "
            f"--cluster … --job {folder.job_file}`, or take another folder (--out)"
        )


def check_folder(folder: NodeFolder, before: NodeRecord | None, *, rebuild: bool) -> str:
    """The generation of the node's database in a folder, if the node may go on there; empty: it begins there.

    `before` is who ran it last. `rebuild`: what was left in order in another folder may be fetched again in this one.
    """
    found, crawled = _generation_in(folder)
    if crawled and not found:
        raise ConfigError(f"{folder.path}: was crawled by one process, not in a cluster; take another folder (--out)")
    if before is None or not before.generation:
        return found
    machine = before.machine.partition("/")[0]
    if found and found != before.generation:
        raise EnvironmentFailure(
            f"{folder.path}: left behind when node {folder.name} was taken over on {machine}; move it away, and the "
            "node is rebuilt from the stream"
        )
    if not found and before.state in RETURNING and not rebuild:
        raise EnvironmentFailure(
            f"{folder.path}: nothing of node {folder.name} is here; its {counted(before.pages, 'page')} are in "
            f"{before.folder} on {machine}: start it there, bring that folder here, or fetch them again with --rebuild"
        )
    return found


async def join_node(
    name: str, before: NodeRecord | None, prepared: Prepared, shared: Shared, exchange: NatsExchange
) -> tuple[Node, str]:
    """Open a node and connect it with the others; gives it with its generation.

    `before` is who ran it before. EnvironmentFailure if the folder here is older than what they had: the crawl has
    gone on elsewhere, and what lies here must not be taken for it.
    """
    folder = prepared.folder.node(name)
    found = check_folder(folder, before, rebuild=True)
    lost = before is not None and bool(before.generation) and not found
    node = open_node(name, prepared, shared)
    generation = found or secrets.token_hex(4)
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
    await _connect(node, generation, shared, exchange, fresh=not found)
    if not found:  # last of all: who is killed before this begins anew, since what it had to learn may be missing
        _begin(node.store.db, folder.database, generation)
    return node, generation


def _begin(db: sqlite3.Connection, path: Path, generation: str) -> None:
    with transaction(db, path):
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (GENERATION, generation))


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
