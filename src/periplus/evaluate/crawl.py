"""The measures of a crawl, read from its nodes' databases, finished or running.

Each node is read in one transaction, so that pages, entities and links of a node belong together even while a crawl
writes. Fingerprints, classes and links are arrays; nothing here holds page texts.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from periplus.evaluate import measures
from periplus.evaluate.graph import Bools, Floats, Integers, LinkGraph, distinct
from periplus.places import open_gazetteer
from periplus.settings import load_job
from periplus.store.database import open_reader, storage_errors
from periplus.store.folder import CrawlFolder, NodeFolder
from periplus.strategies import Ownership

__all__ = ["evaluate_crawl"]

DIGITS = 6


@dataclass(frozen=True, slots=True)
class _NodeData:
    """What one node's database says. Arrays have one entry for each page, in the order of `ids`."""

    name: str
    ids: Integers
    fingerprints: Integers
    kept: Bools
    oriented: Bools
    targets: Integers
    entities: Integers
    own: Integers
    entity_keys: Integers
    domains: frozenset[str]
    places: frozenset[int]
    place_rows: int
    sent: int
    received: int
    owns_places: bool


def evaluate_crawl(folder: Path, ownership: Ownership | None = None) -> dict[str, Any]:
    """Every measure of the crawl in `folder`, as the JSON of `periplus evaluate`.

    `ownership` is looked up from the crawl's job unless given. Raises NotACrawl if there is no crawl.
    """
    crawl = CrawlFolder.existing(folder)
    owners = ownership or _ownership(crawl)
    with ExitStack() as stack:
        snapshots = [(node, stack.enter_context(_snapshot(node))) for node in crawl.nodes()]
        nodes = []
        for node, db in snapshots:
            with storage_errors(node.database):
                nodes.append(_read_node(node.name, db, owners))
        index = _PageIndex.of(nodes)
        graph = index.graph(nodes, [db for _, db in snapshots])
    return _result(nodes, index, graph)


def _ownership(crawl: CrawlFolder) -> Ownership:
    """Who owns what, from the job that the crawl keeps; without targets no gazetteer is needed."""
    nodes = load_job(crawl.job_file).nodes
    if any(node.places for node in nodes.values()):
        return Ownership.of(nodes, open_gazetteer())
    return Ownership(tuple(sorted(nodes)), tuple(sorted(nodes)), {}, ())


@contextmanager
def _snapshot(node: NodeFolder) -> Iterator[sqlite3.Connection]:
    """The node's database as it is now, whatever is written meanwhile."""
    with closing(open_reader(node.database)) as db, storage_errors(node.database):
        db.execute("BEGIN")
        yield db


# -- Reading one node ------------------------------------------------------------------------------


def _read_node(name: str, db: sqlite3.Connection, owners: Ownership) -> _NodeData:
    pages = np.fromiter(
        db.execute("SELECT id, fingerprint, kept, ifnull(main_place, 0) FROM page ORDER BY id"),
        dtype=[("id", "i8"), ("fingerprint", "i8"), ("kept", "?"), ("main_place", "i8")],
    )
    ids = pages["id"].copy()
    entities = _entities(name, db, owners)
    sent, received = db.execute("SELECT ifnull(sum(sent), 0), ifnull(sum(received), 0) FROM traffic").fetchone()
    retrieved = "FROM page_place JOIN page ON page.id = page_id WHERE page.kept = 1"
    return _NodeData(
        name=name,
        ids=ids,
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
        owns_places=name in owners.owner_by_place.values(),
    )


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
    of_targets = "AND owner IS NOT NULL" if owners.owner_by_place else ""
    rows = db.execute(f"SELECT page_id, key, ifnull(owner, '') FROM entity WHERE level = 'street' {of_targets}")
    return np.fromiter(
        ((page, xxhash.xxh3_64_intdigest(key.encode()) - 2**63, owner == name) for page, key, owner in rows),
        dtype=[("page", "i8"), ("key", "i8"), ("own", "?")],
    )


def _targets(main_places: Integers, db: sqlite3.Connection, owners: Ownership) -> Integers:
    """The most probable target of each page: the target that its main place is or lies in."""
    if not owners.owner_by_place:
        return np.where(main_places == 0, measures.NO_TARGET, main_places)
    target_of = {0: measures.NO_TARGET}
    for place, ancestors in db.execute("SELECT id, ancestors FROM place"):
        around = (place, *reversed(json.loads(ancestors)))
        target_of[place] = next((p for p in around if p in owners.owner_by_place), measures.NO_TARGET)
    found = [target_of.get(place, measures.NO_TARGET) for place in main_places.tolist()]
    return np.array(found, dtype=np.int64)


# -- All nodes together ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _PageIndex:
    """The distinct pages of all nodes. `fingerprints` are sorted; `rows` says where each distinct page stands first
    among all downloads, `numbers` which distinct page each download is, and `starts` where each node's begin."""

    fingerprints: Integers
    rows: Integers
    numbers: Integers
    starts: list[int]

    @classmethod
    def of(cls, nodes: list[_NodeData]) -> "_PageIndex":
        downloads = _together([node.fingerprints for node in nodes])
        unique, rows, numbers = np.unique(downloads, return_index=True, return_inverse=True)
        starts = np.cumsum([0, *(len(node.ids) for node in nodes)]).tolist()
        return cls(unique, rows, numbers, starts)

    def graph(self, nodes: list[_NodeData], databases: list[sqlite3.Connection]) -> LinkGraph:
        """The links between pages that were downloaded; links that lead out of the crawl are left out."""
        rows: list[Any] = [np.empty(0, dtype=np.int32)] * len(self.fingerprints)
        if not rows:
            return LinkGraph.from_rows([])
        for node, start, db in zip(nodes, self.starts, databases, strict=False):
            for page, packed in db.execute("SELECT page_id, fingerprints FROM link"):
                row = start + int(np.searchsorted(node.ids, page))
                number = self.numbers[row]
                if self.rows[number] != row:  # another node downloaded it first: its links are there already
                    continue
                wanted = np.frombuffer(packed, dtype="<i8")
                at = np.minimum(np.searchsorted(self.fingerprints, wanted), len(rows) - 1)
                linked = distinct(at[self.fingerprints[at] == wanted])
                rows[number] = linked[linked != number].astype(np.int32)
        return LinkGraph.from_rows(rows)


def _together(arrays: list[Integers]) -> Integers:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)


def _result(nodes: list[_NodeData], index: _PageIndex, graph: LinkGraph) -> dict[str, Any]:
    entities = _together([node.entities for node in nodes])
    targets = _together([node.targets for node in nodes])
    centrality = measures.geo_centrality(graph, entities[index.rows] > 0)
    locality = measures.geographic_locality(graph, targets[index.rows])
    pages = len(index.numbers)
    by_node = {
        node.name: _node_result(node, centrality[index.numbers[start : start + len(node.ids)]])
        for node, start in zip(nodes, index.starts, strict=False)
    }
    return {
        "pages": pages,
        "geo_coverage": _rounded(measures.geo_coverage(entities)),
        "geo_focus": _rounded(measures.mean_geo_focus({name: row["geo_focus"] for name, row in by_node.items()})),
        "entity_uniqueness": _rounded(
            measures.entity_uniqueness(key for node in nodes for key in node.entity_keys.tolist())
        ),
        "geo_centrality": _rounded(measures.mean_geo_centrality(centrality[index.numbers])),
        "overlap": _rounded(measures.overlap(pages, len(index.fingerprints))),
        "diversity": _rounded(measures.diversity(len(frozenset().union(*(n.domains for n in nodes))), pages)),
        "communication_overhead": _rounded(measures.communication_overhead(sum(n.sent for n in nodes), pages)),
        "locality": {"linked": _rounded(locality.linked), "unlinked": _rounded(locality.unlinked)},
        "accuracy": _rounded(measures.accuracy(*_retrieved_and_visited(nodes))),
        "coverage": _rounded(
            measures.coverage(
                len(frozenset().union(*(node.places for node in nodes))), sum(node.place_rows for node in nodes)
            )
        ),
        "nodes": by_node,
    }


def _retrieved_and_visited(nodes: list[_NodeData]) -> tuple[int, int]:
    """Geo-oriented pages that were kept, and that were read."""
    retrieved = sum(int(np.count_nonzero(node.oriented & node.kept)) for node in nodes)
    return retrieved, sum(int(np.count_nonzero(node.oriented)) for node in nodes)


def _node_result(node: _NodeData, centrality: Floats) -> dict[str, Any]:
    pages = len(node.ids)
    focus = measures.geo_focus(node.entities, node.own) if node.owns_places else None
    return {
        "pages": pages,
        "kept": int(np.count_nonzero(node.kept)),
        "geo_coverage": _rounded(measures.geo_coverage(node.entities)),
        "geo_focus": _rounded(focus),
        "entity_uniqueness": _rounded(measures.entity_uniqueness(node.entity_keys.tolist())),
        "geo_centrality": _rounded(measures.mean_geo_centrality(centrality)),
        "diversity": _rounded(measures.diversity(len(node.domains), pages)),
        "communication_overhead": _rounded(measures.communication_overhead(node.sent, pages)),
        "sent": node.sent,
        "received": node.received,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
