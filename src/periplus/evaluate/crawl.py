"""The measures of a crawl, read from its nodes' databases, finished or running.

Each node is read in one transaction, so that pages, entities and links of a node belong together even while a crawl
writes. Fingerprints, classes and links are arrays; nothing here holds page texts.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from periplus.evaluate import measures
from periplus.evaluate.graph import Integers, distinct
from periplus.evaluate.labels import judged, labelled, read_labels
from periplus.evaluate.nodes import DIGITS, NodeData, NodeLinks, measured
from periplus.evaluate.policy import MESSAGE_OVERHEAD, PolicyCosts
from periplus.places import open_gazetteer
from periplus.settings import load_job
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder, NodeFolder
from periplus.strategies import Ownership

__all__ = ["evaluate_crawl"]

HARVEST_STEPS = 20
BATCH_PAGES = 20_000
FINGERPRINT_BYTES = 8
SPREAD = np.int64(0x1E3779B97F4A7C15)
"""Times a page's number, it sets the fingerprints of one page apart from those of another."""


def evaluate_crawl(folder: Path, ownership: Ownership | None = None, *, labels: Path | None = None) -> dict[str, Any]:
    """Every measure of the crawl in `folder`, as the JSON of `periplus evaluate`.

    `ownership` is looked up from the crawl's job unless given; `labels` is a file of truth. Raises NotACrawl if there
    is no crawl.
    """
    crawl = CrawlFolder.existing(folder)
    owners = ownership or _ownership(crawl)
    with ExitStack() as stack:
        snapshots = [(node, stack.enter_context(_snapshot(node))) for node in crawl.nodes()]
        nodes = []
        for node, db in snapshots:
            with storage_errors(node.database):
                nodes.append(_read_node(node.name, db, owners))
        result = measured(nodes, [_links(db) for _, db in snapshots])
        databases = [db for _, db in snapshots]
        costs = _policy_costs(databases)
        result |= {"exchange": _exchanged(nodes, databases, costs.message_bytes), "policy": costs.as_dict()}
        away = sum(_assigned_away(node.name, db) for node, db in snapshots)
        result["links_assigned_away_per_page"] = round(away / result["pages"], DIGITS) if result["pages"] else 0.0
        result["harvest"] = _harvest(databases)
    if labels is not None:
        gazetteer = open_gazetteer()
        result["labels"] = judged(nodes, labelled(read_labels(labels, gazetteer), owners, gazetteer))
    return result


def _exchanged(nodes: list[NodeData], databases: list[sqlite3.Connection], message_bytes: float) -> dict[str, int]:
    """What nodes told each other: links sent, received, received again, still on their way; and their bytes, about."""
    sent = sum(node.sent for node in nodes)
    again = sum(db.execute("SELECT ifnull(sum(duplicate), 0) FROM traffic").fetchone()[0] for db in databases)
    waiting = sum(db.execute("SELECT count(*) FROM outbox").fetchone()[0] for db in databases)
    return {
        "sent": sent,
        "received": sum(node.received for node in nodes),
        "duplicate": again,
        "waiting": waiting,
        "bytes": round(sent * message_bytes),
    }


def _ownership(crawl: CrawlFolder) -> Ownership:
    """Who owns what, from the job that the crawl keeps; without targets no gazetteer is needed."""
    job = load_job(crawl.job_file)
    if any(node.places for node in job.nodes.values()):
        return Ownership.of_job(job, open_gazetteer())
    return Ownership(tuple(sorted(job.nodes)), tuple(sorted(job.nodes)), {}, ())


@contextmanager
def _snapshot(node: NodeFolder) -> Iterator[sqlite3.Connection]:
    """The node's database as it is now, whatever is written meanwhile."""
    with closing(open_reader(node.database)) as db, storage_errors(node.database):
        db.execute("BEGIN")
        yield db


# -- Over all nodes --------------------------------------------------------------------------------


def _policy_costs(databases: list[sqlite3.Connection]) -> PolicyCosts:
    """What pages and messages weighed. A URL's length is taken from those that are known."""
    pages = size = links = urls = characters = 0
    for db in databases:
        pages += db.execute("SELECT count(*) FROM page").fetchone()[0]
        size += db.execute("SELECT ifnull(sum(body_bytes), 0) FROM page").fetchone()[0]
        links += db.execute("SELECT ifnull(sum(length(fingerprints)) / 8, 0) FROM link").fetchone()[0]
        known = db.execute("SELECT count(*), ifnull(sum(length(url)), 0) FROM url").fetchone()
        urls, characters = urls + known[0], characters + known[1]
    distinct_links = sum(_distinct_links(db) for db in databases)
    return PolicyCosts(
        page_bytes=size / max(1, pages),
        message_bytes=characters / urls + MESSAGE_OVERHEAD if urls else 0.0,
        links=distinct_links / max(1, pages),
        claims=links / distinct_links if distinct_links else 1.0,
    )


def _distinct_links(db: sqlite3.Connection) -> int:
    """Links of all pages, each counted once a page however many nodes it was sent to."""
    return sum(
        len(distinct(wanted ^ (np.repeat(pages, counts) * SPREAD)))  # so that pages do not share any
        for pages, counts, wanted in _packed_links(db)
    )


def _assigned_away(name: str, db: sqlite3.Connection) -> int:
    """Links of the node's pages that were for other nodes: what it would send if it did not remember what it has sent,
    nor know what has been seen."""
    row = db.execute("SELECT id FROM node_name WHERE name = ?", (name,)).fetchone()
    own, away = row[0] if row else -1, 0
    rows = db.execute("SELECT nodes FROM link")
    while batch := rows.fetchmany(BATCH_PAGES):
        numbers = np.frombuffer(b"".join(packed for (packed,) in batch), dtype="<u2")
        away += int(np.count_nonzero(numbers != own))
    return away


def _harvest(databases: list[sqlite3.Connection]) -> list[dict[str, float]]:
    """The share of pages that were kept, up to each twentieth of the crawl and in that twentieth."""
    times = [
        np.fromiter(
            db.execute("SELECT ifnull(unixepoch(fetched_at), 0), kept FROM page"), dtype=[("time", "i8"), ("kept", "?")]
        )
        for db in databases
    ]
    together = np.concatenate(times) if times else np.empty(0, dtype=[("time", "i8"), ("kept", "?")])
    kept = together["kept"][np.argsort(together["time"], kind="stable")]
    bounds = sorted({len(kept) * step // HARVEST_STEPS for step in range(1, HARVEST_STEPS + 1)} - {0})
    total = np.cumsum(kept)
    return [
        {
            "pages": end,
            "harvest_rate": round(float(total[end - 1]) / end, 6),
            "recently": round(float(np.mean(kept[begin:end])), 6),
        }
        for begin, end in zip([0, *bounds], bounds, strict=False)
    ]


# -- Reading one node ------------------------------------------------------------------------------


def _read_node(name: str, db: sqlite3.Connection, owners: Ownership) -> NodeData:
    pages = np.fromiter(
        db.execute("SELECT id, fingerprint, kept, ifnull(main_place, 0) FROM page ORDER BY id"),
        dtype=[("id", "i8"), ("fingerprint", "i8"), ("kept", "?"), ("main_place", "i8")],
    )
    ids = pages["id"].copy()
    entities = _entities(name, db, owners)
    sent, received = db.execute("SELECT ifnull(sum(sent), 0), ifnull(sum(received), 0) FROM traffic").fetchone()
    retrieved = "FROM page_place JOIN page ON page.id = page_id WHERE page.kept = 1"
    return NodeData(
        name=name,
        fingerprints=pages["fingerprint"].copy(),
        kept=pages["kept"].copy(),
        oriented=np.isin(ids, _column(db, "SELECT DISTINCT page_id FROM page_place")),
        targets=_targets(pages["main_place"], db, owners),
        entities=_per_page(ids, entities["page"]),
        own=_per_page(ids, entities["page"][entities["own"]]),
        entity_keys=entities["key"].copy(),
        domains=frozenset(domain for (domain,) in db.execute("SELECT DISTINCT domain FROM page")),
        places=frozenset(place for (place,) in db.execute(f"SELECT DISTINCT place_id {retrieved}")),
        place_rows=db.execute(f"SELECT count(*) {retrieved}").fetchone()[0],
        sent=sent,
        received=received,
        owns_places=owners.spokesman(name) in owners.owning,
    )


def _links(db: sqlite3.Connection) -> NodeLinks:
    """The node's links."""
    ids = _column(db, "SELECT id FROM page ORDER BY id")
    for pages, counts, wanted in _packed_links(db):
        yield np.searchsorted(ids, pages), counts, wanted


def _packed_links(db: sqlite3.Connection) -> NodeLinks:
    """Ids of pages, how many links each has, and their fingerprints; many pages at a time."""
    rows = db.execute("SELECT page_id, fingerprints FROM link")
    while batch := rows.fetchmany(BATCH_PAGES):
        pages, packed = zip(*batch, strict=True)
        counts = np.fromiter(map(len, packed), dtype=np.int64, count=len(packed)) // FINGERPRINT_BYTES
        yield np.array(pages, dtype=np.int64), counts, np.frombuffer(b"".join(packed), dtype="<i8")


def _column(db: sqlite3.Connection, query: str) -> Integers:
    return np.fromiter((value for (value,) in db.execute(query)), dtype=np.int64)


def _per_page(ids: Integers, pages: Integers) -> Integers:
    """How often each page occurs in `pages`; ids are sorted."""
    counts = np.zeros(len(ids), dtype=np.int64)
    np.add.at(counts, np.searchsorted(ids, pages), 1)
    return counts


def _entities(name: str, db: sqlite3.Connection, owners: Ownership) -> npt.NDArray[np.void]:
    """Paper A's entities: page, key and whether the node owns it, for each address with number and street.

    Only addresses of targets count. A crawl without targets has the whole world as its target.
    """
    of_targets = "AND owner IS NOT NULL" if owners.owns_anything else ""
    name = owners.spokesman(name)
    rows = db.execute(f"SELECT page_id, key, ifnull(owner, '') FROM entity WHERE level = 'street' {of_targets}")
    return np.fromiter(
        ((page, xxhash.xxh3_64_intdigest(key.encode()) - 2**63, owner == name) for page, key, owner in rows),
        dtype=[("page", "i8"), ("key", "i8"), ("own", "?")],
    )


def _targets(main_places: Integers, db: sqlite3.Connection, owners: Ownership) -> Integers:
    """The most probable target of each page: the target that its main place is or lies in; in a time zone or polygon
    that a node owns, every city is one."""
    if not owners.owns_anything:
        return np.where(main_places == 0, measures.NO_TARGET, main_places)
    target_of = {0: measures.NO_TARGET}
    for place, ancestors in db.execute("SELECT id, ancestors FROM place"):
        around = (place, *reversed(json.loads(ancestors)))
        target = next((p for p in around if p in owners.owner_by_place), None)
        if target is None and owners.by_position and (owned := owners.owner_by_id(place)):
            target = owned[1]
        target_of[place] = measures.NO_TARGET if target is None else target
    found = [target_of.get(place, measures.NO_TARGET) for place in main_places.tolist()]
    return np.array(found, dtype=np.int64)
