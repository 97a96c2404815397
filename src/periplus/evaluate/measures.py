"""Every measure of the papers, as pure functions over counts and arrays: no database, no clock, no NaN.

Shares of pages (geo-coverage, overlap, diversity, communication overhead) are 0.0 for a crawl without pages.
Measures that have nothing to speak of (no entity, no own target, no pair) are None, which JSON writes as null.
Paper A is Gao, Lee and Miao 2006; paper B is Kozanidis, Stamou and Spiros 2009. `crawl` feeds these from a crawl's
databases; docs/measures.md tells the readings that were chosen.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from periplus.evaluate.graph import Bools, Floats, Integers, LinkGraph

__all__ = [
    "NO_TARGET",
    "Locality",
    "Retrieval",
    "accuracy",
    "communication_overhead",
    "coverage",
    "distinct_geo_coverage",
    "diversity",
    "entity_uniqueness",
    "geo_centrality",
    "geo_coverage",
    "geo_focus",
    "geographic_locality",
    "gini",
    "mean_geo_centrality",
    "mean_geo_focus",
    "overlap",
    "retrieval",
]

NO_TARGET = -1
"""The class of a page that is about none of the targets."""

HALF, LOW = 32, (1 << 32) - 1
"""A pair of pages is one number: one in the upper half of the bits, one in the lower."""

BLOCK = 4_000_000

Counts = npt.NDArray[np.integer] | Sequence[int]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# -- Paper A: what the pages hold ------------------------------------------------------------------


def geo_coverage(entities: Counts) -> float:
    """Paper A: pages with ≥ 1 geographic entity of any target / pages. 0.0 without pages.

    `entities` has for each page how many entities of targets it holds.
    """
    counts = np.asarray(entities)
    return _share(int(np.count_nonzero(counts)), counts.size)


def distinct_geo_coverage(entities: Counts, downloads: int) -> float:
    """Ours: distinct pages with ≥ 1 geographic entity of any target / downloads. 0.0 without downloads.

    Geo-coverage less what was downloaded again: `entities` has each page once. Without overlap the two are the same.
    """
    return _share(int(np.count_nonzero(np.asarray(entities))), downloads)


def geo_focus(entities: Counts, own: Counts) -> float | None:
    """Paper A, of one node: pages with ≥ 1 entity of the node's own targets / pages with ≥ 1 entity.

    `own` counts, for the same pages as `entities`, the entities of the node's own targets. None if no page of the
    node has an entity.
    """
    every, mine = np.asarray(entities), np.asarray(own)
    if every.shape != mine.shape:
        raise ValueError(f"entities of {every.size} pages, own entities of {mine.size}")
    with_entity = int(np.count_nonzero(every))
    return int(np.count_nonzero((mine > 0) & (every > 0))) / with_entity if with_entity else None


def mean_geo_focus(nodes: Mapping[str, float | None]) -> float | None:
    """Paper A, of a crawl: the mean of the geographic nodes' geo-focus; nodes without one (None) take no part.

    That it is the plain mean and not weighted by pages shows in the paper's url row: 91.7, 89.0, 82.8, 94.3 and 97.6
    give its 91.1.
    """
    known = [value for value in nodes.values() if value is not None]
    return sum(known) / len(known) if known else None


def entity_uniqueness(entities: Iterable[Hashable]) -> float | None:
    """Paper A, Table 5: distinct entities / entities. None without entities."""
    total, distinct = 0, set()
    for entity in entities:
        total += 1
        distinct.add(entity)
    return len(distinct) / total if total else None


def geo_centrality(graph: LinkGraph, aware: Bools, *, k: int = 2, weight: float = 0.1) -> Floats:
    """Paper A, of each page: GCt_k(p) = Σ weight^d(p, q) over geo-aware pages q at link distance d(p, q) ≤ k.

    Distances follow links forwards; a page that is geo-aware itself counts 1. The paper's example, a root with an
    entity, three aware pages one link away and four at two, gives 1 + 3·0.1 + 4·0.01 = 1.34.
    """
    if len(aware) != graph.size:
        raise ValueError(f"{len(aware)} flags for {graph.size} pages")
    result = np.asarray(aware, dtype=np.float64).copy()
    if k < 1 or not len(graph.targets):
        return result
    last = graph.towards(aware)  # nobody walks on from the last pages: only aware ones count
    mean, mean_last = len(graph.targets) / graph.size, len(last.targets) / graph.size
    steps = (*[graph.matrix()] * (k - 1), last.matrix())
    for first, end in graph.blocks(mean ** (k - 1) * (1 + mean_last)):
        result[first:end] += _walk_sums(steps, aware, np.arange(first, end), weight)
    return result


def _walk_sums(steps: Sequence[csr_array], aware: Bools, starts: Integers, weight: float) -> Floats:
    """For each of these pages, the sum over aware pages at distances 1, 2, …; the links of each step as a matrix."""
    sums = np.zeros(len(starts))
    itself = (np.ones(len(starts), dtype=bool), (np.arange(len(starts), dtype=np.int32), starts.astype(np.int32)))
    seen = csr_array(itself, shape=(len(starts), len(aware)))
    frontier = steps[0][starts[0] : starts[-1] + 1]  # no page links to itself
    for distance in range(1, len(steps) + 1):
        origins = np.repeat(np.arange(len(starts)), np.diff(frontier.indptr))
        sums += weight**distance * np.bincount(origins[aware[frontier.indices]], minlength=len(starts))
        if distance < len(steps):
            seen = seen + frontier
            frontier = (frontier @ steps[distance]) > seen
    return sums


def mean_geo_centrality(values: Floats) -> float:
    """Paper A, as reported: the mean of GCt_k over pages; 0.0 without pages."""
    return float(values.mean()) if values.size else 0.0


# -- Paper A: what the crawl cost ------------------------------------------------------------------


def overlap(downloads: int, distinct: int) -> float:
    """Paper A: (N - I) / N for N downloads of I distinct pages, over all nodes. 0.0 without downloads."""
    if distinct > downloads:
        raise ValueError(f"{distinct} distinct pages in {downloads} downloads")
    return _share(downloads - distinct, downloads)


def diversity(domains: int, downloads: int) -> float:
    """Paper A: S / N for S distinct registrable domains in N downloads. 0.0 without downloads."""
    return _share(domains, downloads)


def communication_overhead(sent: int, downloads: int) -> float:
    """Paper A: URLs sent to another node / pages downloaded. 0.0 without downloads."""
    return _share(sent, downloads)


@dataclass(frozen=True, slots=True)
class Locality:
    """Paper A's δ over linked pairs of pages and δ̃ over unlinked ones; None where there is no such pair."""

    linked: float | None
    unlinked: float | None


def geographic_locality(graph: LinkGraph, targets: Integers) -> Locality:
    """Paper A, section 5.3: the share of linked (unlinked) pairs of pages whose most probable target is the same.

    `targets` has each page's most probable target, or NO_TARGET. A pair is unordered and counts once; two pages are
    linked if either links to the other. Pages without a target take no part, which is what makes the paper's δ̃ as
    large as the sum of squares of its cities' shares. Unlinked pairs come from the totals of the classes:
    same = Σ n_c (n_c - 1) / 2 minus the linked same ones, all = n (n - 1) / 2 minus the linked ones.
    """
    if len(targets) != graph.size:
        raise ValueError(f"{len(targets)} targets for {graph.size} pages")
    taking_part = targets != NO_TARGET
    pairs = _linked_pairs(graph, taking_part)
    new = np.concatenate(([True], pairs[1:] != pairs[:-1])) if len(pairs) else np.empty(0, dtype=bool)
    linked, linked_same = int(np.count_nonzero(new)), 0
    for first in range(0, len(pairs), BLOCK):
        once = pairs[first : first + BLOCK][new[first : first + BLOCK]]
        linked_same += int(np.count_nonzero(targets[once >> HALF] == targets[once & LOW]))
    sizes = [int(size) for size in np.unique(targets[taking_part], return_counts=True)[1]]
    pages = sum(sizes)
    unlinked = pages * (pages - 1) // 2 - linked
    unlinked_same = sum(size * (size - 1) // 2 for size in sizes) - linked_same
    return Locality(
        linked_same / linked if linked else None,
        unlinked_same / unlinked if unlinked else None,
    )


def _linked_pairs(graph: LinkGraph, taking_part: Bools) -> Integers:
    """The linked pairs of pages that take part, the smaller number in the upper half; sorted, with repeats."""
    pairs = np.empty(len(graph.targets), dtype=np.int64)
    count = 0
    for first, end in graph.blocks(1 + len(graph.targets) / max(1, graph.size)):
        sources, ends = graph.links_of(first, end)
        both = taking_part[sources] & taking_part[ends]
        low, high = np.minimum(sources[both], ends[both]), np.maximum(sources[both], ends[both])
        pairs[count : count + len(low)] = low << HALF | high
        count += len(low)
    found = pairs[:count]
    found.sort()
    return found


# -- Paper B ---------------------------------------------------------------------------------------


def accuracy(retrieved: int, visited: int) -> float | None:
    """Paper B: geo-oriented pages retrieved / geo-oriented pages visited. None if none was visited.

    A page is geo-oriented if places were found in its text; retrieved means kept.
    """
    if retrieved > visited:
        raise ValueError(f"{retrieved} geo-oriented pages retrieved, {visited} visited")
    return retrieved / visited if visited else None


def coverage(distinct: int, total: int) -> float | None:
    """Paper B: distinct location entities / all location entities, in the retrieved pages. None without any."""
    if distinct > total:
        raise ValueError(f"{distinct} distinct location entities among {total}")
    return distinct / total if total else None


# -- Against labels --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Precision, recall and F; None where nothing was said, nothing was to be found, or both."""

    precision: float | None
    recall: float | None
    f: float | None


def retrieval(right: int, said: int, true: int) -> Retrieval:
    """Papers B and C: right / said, right / true, and their harmonic mean 2 P R / (P + R), which is 0 if right is.

    `said` is how many were chosen, `true` how many there are, `right` how many of these were chosen.
    """
    if right > min(said, true):
        raise ValueError(f"{right} right ones among {said} said and {true} true")
    precision, recall = right / said if said else None, right / true if true else None
    if precision is None and recall is None:
        return Retrieval(None, None, None)
    return Retrieval(precision, recall, 2 * right / (said + true))


# -- Ours ------------------------------------------------------------------------------------------


def gini(counts: Counts) -> float | None:
    """How unevenly work is spread over nodes: 0 all the same, towards 1 one does everything. None without work.

    G = 2 Σ i·x_i / (n Σ x_i) - (n + 1) / n, x sorted upwards, i from 1.
    """
    values = np.sort(np.asarray(counts, dtype=np.float64))
    total = float(values.sum())
    if not total:
        return None
    ranks = np.arange(1, values.size + 1)
    return max(0.0, float(2 * (ranks * values).sum() / (values.size * total) - (values.size + 1) / values.size))
