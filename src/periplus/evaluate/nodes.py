"""All measures of a crawl from what its nodes hold: arrays in, the JSON of `periplus evaluate` out.

`crawl` fills the arrays from a crawl's databases, `replay` from a crawl that was only played through.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from periplus.evaluate import measures
from periplus.evaluate.graph import Bools, Floats, Integers, LinkGraph, distinct

__all__ = ["DIGITS", "NodeData", "NodeLinks", "measured"]

DIGITS = 6

NodeLinks = Iterable[tuple[Integers, Integers, Integers]]
"""A node's links, many pages at a time: the pages' positions in its arrays, how many links each has, and the
fingerprints that they lead to, one page's behind the other's."""


@dataclass(frozen=True, slots=True)
class NodeData:
    """What one node holds. Arrays have one entry for each page that it has read, in the same order."""

    name: str
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


@dataclass(frozen=True, slots=True)
class _PageIndex:
    """The distinct pages of all nodes. `fingerprints` are sorted; `rows` says where each distinct page stands first
    among all downloads, `numbers` which distinct page each download is, and `starts` where each node's begin."""

    fingerprints: Integers
    rows: Integers
    numbers: Integers
    starts: list[int]

    @classmethod
    def of(cls, nodes: list[NodeData]) -> "_PageIndex":
        downloads = _together([node.fingerprints for node in nodes])
        unique, rows, numbers = np.unique(downloads, return_index=True, return_inverse=True)
        starts = np.cumsum([0, *(len(node.fingerprints) for node in nodes)]).tolist()
        return cls(unique, rows, numbers, starts)

    def graph(self, links: Iterable[NodeLinks]) -> LinkGraph:
        """The links between pages that were downloaded; links that lead out of the crawl are left out."""
        parts = []
        for start, batches in zip(self.starts, links, strict=False):
            for positions, counts, wanted in batches:
                rows = start + positions
                numbers = self.numbers[rows]
                numbers[self.rows[numbers] != rows] = -1  # another node downloaded it first: its links are there
                parts.append(self._inside(np.repeat(numbers, counts), wanted))
        return LinkGraph.from_parts(len(self.fingerprints), parts)

    def _inside(self, sources: Integers, wanted: Integers) -> tuple[Any, Any]:
        """Those of the links that lead from a page to another one that is known, each once, in order."""
        size = len(self.fingerprints)
        order = np.argsort(wanted)  # in order they are found in a tenth of the time
        ends = np.empty_like(order)
        ends[order] = np.minimum(np.searchsorted(self.fingerprints, wanted[order]), size - 1)
        inside = (self.fingerprints[ends] == wanted) & (sources >= 0) & (sources != ends)
        pairs = distinct(sources[inside] * size + ends[inside])
        return (pairs // size).astype(np.int32), (pairs % size).astype(np.int32)


def measured(nodes: list[NodeData], links: Iterable[NodeLinks]) -> dict[str, Any]:
    """Every measure of the papers; `links` has an entry for each node."""
    index = _PageIndex.of(nodes)
    return _result(nodes, index, index.graph(links))


def _together(arrays: list[Integers]) -> Integers:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)


def _result(nodes: list[NodeData], index: _PageIndex, graph: LinkGraph) -> dict[str, Any]:
    entities = _together([node.entities for node in nodes])
    targets = _together([node.targets for node in nodes])
    centrality = measures.geo_centrality(graph, entities[index.rows] > 0)
    locality = measures.geographic_locality(graph, targets[index.rows])
    pages = len(index.numbers)
    by_node = {
        node.name: _node_result(node, centrality[index.numbers[start : start + len(node.fingerprints)]])
        for node, start in zip(nodes, index.starts, strict=False)
    }
    return {
        "pages": pages,
        "geo_coverage": _rounded(measures.geo_coverage(entities)),
        "distinct_geo_coverage": _rounded(measures.distinct_geo_coverage(entities[index.rows], pages)),
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
        "balance_gini": _rounded(measures.gini([len(node.fingerprints) for node in nodes])),
        "nodes": by_node,
    }


def _retrieved_and_visited(nodes: list[NodeData]) -> tuple[int, int]:
    """Geo-oriented pages that were kept, and that were read."""
    retrieved = sum(int(np.count_nonzero(node.oriented & node.kept)) for node in nodes)
    return retrieved, sum(int(np.count_nonzero(node.oriented)) for node in nodes)


def _node_result(node: NodeData, centrality: Floats) -> dict[str, Any]:
    pages = len(node.fingerprints)
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
