"""The measures against values worked out by hand, and at their edges: nothing, one page, no links."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.evaluate.graph import LinkGraph
from periplus.evaluate.measures import (
    NO_TARGET,
    accuracy,
    communication_overhead,
    coverage,
    distinct_geo_coverage,
    diversity,
    entity_uniqueness,
    geo_centrality,
    geo_coverage,
    geo_focus,
    geographic_locality,
    gini,
    mean_geo_centrality,
    mean_geo_focus,
    overlap,
)

EMPTY = LinkGraph.from_lists([])


def flags(*values: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array(values, dtype=bool)


def classes(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


# -- Coverage, focus, uniqueness -------------------------------------------------------------------


def test_geo_coverage_counts_pages_not_entities() -> None:
    assert geo_coverage([0, 7, 0, 1]) == 0.5
    assert geo_coverage([3]) == 1.0
    assert geo_coverage([]) == 0.0


def test_geo_focus_asks_only_pages_with_an_entity() -> None:
    assert geo_focus([1, 2, 0, 3], [1, 0, 0, 2]) == pytest.approx(2 / 3)
    assert geo_focus([1, 1], [0, 0]) == 0.0
    assert geo_focus([0, 0], [0, 0]) is None
    assert geo_focus([], []) is None
    with pytest.raises(ValueError, match="entities of 1 pages, own entities of 2"):
        geo_focus([1], [1, 1])


def test_the_mean_of_geo_focus_is_that_of_the_paper() -> None:
    paper = {"Cn1": 91.7, "Cn2": 89.0, "Cn3": 82.8, "Cn4": 94.3, "Cn5": 97.6, "Cn0": None}
    assert mean_geo_focus(paper) == pytest.approx(91.1, abs=0.05)
    assert mean_geo_focus({"general": None}) is None
    assert mean_geo_focus({}) is None


def test_entity_uniqueness_is_distinct_over_all() -> None:
    assert entity_uniqueness(["a", "b", "a", "a"]) == 0.5
    assert entity_uniqueness(iter(["a"])) == 1.0
    assert entity_uniqueness([]) is None


# -- Centrality ------------------------------------------------------------------------------------


def test_the_worked_example_of_paper_a_gives_1_34() -> None:
    graph = LinkGraph.from_lists([[1, 2, 3], [4, 5], [6], [7], [], [], [], []])
    values = geo_centrality(graph, np.ones(8, dtype=bool))
    assert values[0] == pytest.approx(1.34)
    assert values[1] == pytest.approx(1.2)
    assert values[4] == 1.0


def test_centrality_counts_each_page_once_at_its_shortest_distance() -> None:
    # 0 → 1 → 2 and 0 → 2: page 2 is one link away, not two; 2 → 0 closes a circle.
    graph = LinkGraph.from_lists([[1, 2, 2, 2], [2], [0]])
    assert geo_centrality(graph, flags(0, 0, 1)).tolist() == pytest.approx([0.1, 0.1, 1.0])
    assert geo_centrality(graph, flags(1, 0, 0)).tolist() == pytest.approx([1.0, 0.01, 0.1])


def test_centrality_ends_at_k_links() -> None:
    chain = LinkGraph.from_lists([[1], [2], [3], []])
    aware = flags(0, 0, 0, 1)
    assert [float(geo_centrality(chain, aware, k=k)[0]) for k in (0, 1, 2, 3, 4)] == pytest.approx(
        [0, 0, 0, 0.001, 0.001]
    )


def test_centrality_without_links_or_pages() -> None:
    assert geo_centrality(LinkGraph.from_lists([[], []]), flags(1, 0)).tolist() == [1.0, 0.0]
    assert geo_centrality(LinkGraph.from_lists([[0]]), flags(1)).tolist() == [1.0]
    assert mean_geo_centrality(geo_centrality(EMPTY, flags())) == 0.0
    assert mean_geo_centrality(np.array([1.0, 0.0])) == 0.5
    with pytest.raises(ValueError, match="1 flags for 0 pages"):
        geo_centrality(EMPTY, flags(1))


def _graphs() -> st.SearchStrategy[list[list[int]]]:
    return st.integers(1, 12).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=6), min_size=n, max_size=n)
    )


@given(_graphs(), st.integers(0, 4), st.randoms(use_true_random=False))
def test_centrality_equals_a_plain_breadth_first_search(lists: list[list[int]], k: int, random: object) -> None:
    aware = np.array([(page * 7 + len(row)) % 3 == 0 for page, row in enumerate(lists)])
    values = geo_centrality(LinkGraph.from_lists(lists), aware, k=k)
    for start in range(len(lists)):
        distance = {start: 0}
        queue = [start]
        for page in queue:
            for linked in lists[page]:
                if linked not in distance:
                    distance[linked] = distance[page] + 1
                    queue.append(linked)
        expected = sum(0.1**d for page, d in distance.items() if d <= k and aware[page])
        assert values[start] == pytest.approx(expected)


def test_a_large_graph_is_walked_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [[(page * 31 + step * 17) % 500 for step in range(8)] for page in range(500)]
    graph, aware = LinkGraph.from_lists(lists), np.arange(500) % 5 == 0
    whole = geo_centrality(graph, aware, k=3)
    monkeypatch.setattr("periplus.evaluate.graph.BLOCK_PAIRS", 2_000)
    assert len(list(graph.blocks(100))) > 20
    assert geo_centrality(graph, aware, k=3).tolist() == pytest.approx(whole.tolist())


# -- Locality --------------------------------------------------------------------------------------


def test_locality_counts_pairs_of_pages_with_a_target() -> None:
    # Pages 0, 1 about A; 2, 3 about B; 4 about nothing. Linked pairs: 0-1 (both ways, once), 1-2, 2-3.
    graph = LinkGraph.from_lists([[1, 4], [0, 2], [3], [3], [0]])
    found = geographic_locality(graph, classes(1, 1, 2, 2, NO_TARGET))
    assert found.linked == pytest.approx(2 / 3)
    assert found.unlinked == 0.0  # 0-2, 0-3 and 1-3 are left, and none of them is the same


def test_locality_without_pairs_is_none() -> None:
    assert geographic_locality(EMPTY, classes()).linked is None
    alone = geographic_locality(LinkGraph.from_lists([[0]]), classes(5))
    assert (alone.linked, alone.unlinked) == (None, None)
    disconnected = geographic_locality(LinkGraph.from_lists([[], [], []]), classes(5, 5, 6))
    assert disconnected.linked is None
    assert disconnected.unlinked == pytest.approx(1 / 3)
    complete = geographic_locality(LinkGraph.from_lists([[1], []]), classes(5, 5))
    assert (complete.linked, complete.unlinked) == (1.0, None)
    nothing = geographic_locality(LinkGraph.from_lists([[1], [0]]), classes(NO_TARGET, NO_TARGET))
    assert (nothing.linked, nothing.unlinked) == (None, None)
    with pytest.raises(ValueError, match="1 targets for 0 pages"):
        geographic_locality(EMPTY, classes(1))


@given(_graphs())
def test_locality_equals_enumerating_all_pairs(lists: list[list[int]]) -> None:
    targets = [NO_TARGET if len(row) == 3 else (page * 5 + len(row)) % 3 for page, row in enumerate(lists)]
    found = geographic_locality(LinkGraph.from_lists(lists), np.array(targets, dtype=np.int64))
    tally = {True: [0, 0], False: [0, 0]}
    for p, q in combinations(range(len(lists)), 2):
        if NO_TARGET not in (targets[p], targets[q]):
            pair = tally[q in lists[p] or p in lists[q]]
            pair[0] += targets[p] == targets[q]
            pair[1] += 1
    for value, (same, every) in ((found.linked, tally[True]), (found.unlinked, tally[False])):
        assert value == (pytest.approx(same / every) if every else None)


# -- Counts ----------------------------------------------------------------------------------------


def test_a_page_that_was_downloaded_again_covers_nothing_more() -> None:
    assert distinct_geo_coverage([2, 0, 1], 5) == 0.4
    assert distinct_geo_coverage([2, 0, 1], 3) == geo_coverage([2, 0, 1])
    assert distinct_geo_coverage([], 0) == 0.0


def test_overlap_diversity_and_overhead() -> None:
    assert overlap(10, 8) == pytest.approx(0.2)
    assert overlap(5, 5) == overlap(0, 0) == 0.0
    assert diversity(3, 12) == 0.25
    assert diversity(0, 0) == 0.0
    assert communication_overhead(50, 20) == 2.5
    assert communication_overhead(0, 0) == 0.0
    with pytest.raises(ValueError, match="3 distinct pages in 2 downloads"):
        overlap(2, 3)


def test_paper_b_gives_its_own_figures() -> None:
    assert accuracy(2_500_000, 2_800_000) == pytest.approx(0.8928, abs=0.0001)
    assert coverage(1_029, 1_265) == pytest.approx(0.8134, abs=0.0001)
    assert accuracy(0, 0) is None
    assert coverage(0, 0) is None
    with pytest.raises(ValueError, match="2 geo-oriented pages retrieved, 1 visited"):
        accuracy(2, 1)
    with pytest.raises(ValueError, match="2 distinct location entities among 1"):
        coverage(2, 1)


def test_gini_of_even_and_uneven_work() -> None:
    assert gini([5, 5, 5]) == 0.0
    assert gini([0, 0, 9]) == pytest.approx(2 / 3)
    assert gini([1, 3]) == pytest.approx(0.25)
    assert gini([4]) == 0.0
    assert gini([]) is None
    assert gini([0, 0]) is None


@given(st.lists(st.integers(0, 1000), max_size=20))
def test_gini_is_between_0_and_1_and_never_nan(counts: list[int]) -> None:
    value = gini(counts)
    assert value is None or (not math.isnan(value) and 0 <= value < 1)
    json.dumps(value, allow_nan=False)
