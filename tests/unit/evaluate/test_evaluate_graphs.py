"""Every measure on four small graphs worked out by hand: nothing, one page, no links, links of pages to themselves."""

from pathlib import Path
from typing import Any

import pytest
from command_line import periplus
from test_evaluate_crawl import BOSTON, HOUSTON, OWNERS, FakePage, make_crawl

from periplus.evaluate import evaluate_crawl
from periplus.evaluate.measures import Retrieval, retrieval
from periplus.urls import fingerprint

NOTHING: dict[str, list[FakePage]] = {"west": [], "east": []}
ONE_PAGE = {"west": [FakePage(10, HOUSTON, [("a", "west")], [10])], "east": []}
DISCONNECTED = {
    "west": [FakePage(10, HOUSTON, [("a", "west")]), FakePage(11, BOSTON, [("b", "east")])],
    "east": [FakePage(20, BOSTON)],
}
SELF_LINKS = {
    "west": [FakePage(10, HOUSTON, [("a", "west"), ("a", "west")], [10, 11, 11]), FakePage(11, HOUSTON, links=[11])],
    "east": [FakePage(20, BOSTON, [("b", "east")], [20, 20])],
}
THIRD, SIXTH = 1 / 3, 1 / 6

BY_HAND: list[tuple[str, dict[str, list[FakePage]], dict[str, Any]]] = [
    (
        "nothing",
        NOTHING,
        {
            "pages": 0, "geo_coverage": 0.0, "geo_focus": None, "entity_uniqueness": None, "geo_centrality": 0.0,
            "overlap": 0.0, "diversity": 0.0, "communication_overhead": 0.0, "accuracy": None, "coverage": None,
            "locality": {"linked": None, "unlinked": None}, "balance_gini": None, "harvest": [],
            "exchange": {"sent": 8, "received": 0, "duplicate": 0, "waiting": 0, "bytes": 0},
        },
    ),
    (
        "one page, which links to itself",
        ONE_PAGE,
        {
            "pages": 1, "geo_coverage": 1.0, "geo_focus": 1.0, "entity_uniqueness": 1.0, "geo_centrality": 1.0,
            "overlap": 0.0, "diversity": 1.0, "communication_overhead": 8.0, "accuracy": 1.0, "coverage": 1.0,
            "locality": {"linked": None, "unlinked": None}, "balance_gini": 0.5,
            "harvest": [{"pages": 1, "harvest_rate": 1.0, "recently": 1.0}],
            "exchange": {"sent": 8, "received": 0, "duplicate": 0, "waiting": 0, "bytes": 8 * (16 + 24)},
        },
    ),
    (
        "three pages without links",
        DISCONNECTED,
        {
            "pages": 3, "geo_coverage": 2 * THIRD, "geo_focus": 0.5, "entity_uniqueness": 1.0,
            "geo_centrality": 2 * THIRD, "overlap": 0.0, "diversity": THIRD, "communication_overhead": 8 * THIRD,
            "accuracy": 1.0, "coverage": 2 * THIRD, "locality": {"linked": None, "unlinked": 0.333333},
            "balance_gini": SIXTH,
        },
    ),
    (
        "links to the page itself, and twice to another",
        SELF_LINKS,
        {
            "pages": 3, "geo_coverage": 2 * THIRD, "geo_focus": 1.0, "entity_uniqueness": 2 * THIRD,
            "geo_centrality": 2 * THIRD, "overlap": 0.0, "diversity": THIRD, "communication_overhead": 8 * THIRD,
            "accuracy": 1.0, "coverage": 2 * THIRD, "locality": {"linked": 1.0, "unlinked": 0.0},
            "balance_gini": SIXTH,
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "nodes", "expected"), BY_HAND, ids=[name for name, _, _ in BY_HAND])
def test_every_measure_is_what_was_worked_out_by_hand(
    tmp_path: Path, name: str, nodes: dict[str, list[FakePage]], expected: dict[str, Any]
) -> None:
    result = evaluate_crawl(make_crawl(tmp_path / "crawl", nodes, sent=4), OWNERS)
    for measure, value in expected.items():
        near = pytest.approx(value, abs=2e-6) if isinstance(value, float) else value
        assert result[measure] == near, (name, measure)


# -- Against labels ----------------------------------------------------------------------------------


def test_precision_recall_and_f() -> None:
    found = retrieval(3, 4, 6)
    assert (found.precision, found.recall) == (0.75, 0.5)
    assert found.f == pytest.approx(0.6)
    assert retrieval(0, 5, 5) == Retrieval(0.0, 0.0, 0.0)
    assert retrieval(0, 0, 5) == Retrieval(None, 0.0, 0.0)
    assert retrieval(0, 0, 0) == Retrieval(None, None, None)
    with pytest.raises(ValueError, match="3 right ones among 2 said and 9 true"):
        retrieval(3, 2, 9)


def test_a_crawl_is_judged_by_labels_and_pages_it_has_not_read_cost_recall(tmp_path: Path) -> None:
    pages = [FakePage(1), FakePage(2, kept=False), FakePage(3), FakePage(4)]
    urls = [f"http://a.test/{page.number}" for page in pages]
    for page, url in zip(pages, urls, strict=True):
        page.number = fingerprint(url)
    crawl = make_crawl(tmp_path / "crawl", {"main": pages})
    (tmp_path / "truth.csv").write_text(
        f"url,relevant\n{urls[0]},1\n{urls[1]},yes\n{urls[2]},0\nhttp://a.test/never,1\nno url,0\n", "utf-8"
    )
    done = periplus("evaluate", crawl, "--labels", tmp_path / "truth.csv", "--json")
    assert done.code == 0, done.err
    assert "2 labels are of pages that the crawl has not read" in done.err
    # kept: 1 and 3 of the labelled; relevant: 1, 2 and the one that was never read
    assert done.json["labels"]["relevance"] == {"precision": 0.5, "recall": 0.333333, "f": 0.4}
    assert done.json["labels"]["places"] is None
    assert "precision 0.5000" in periplus("evaluate", crawl, "--labels", tmp_path / "truth.csv").out


def test_places_of_pages_are_judged_by_labels(tmp_path: Path) -> None:
    houston, boston = 4699066, 4930956
    pages = [FakePage(fingerprint("http://a.test/1"), houston), FakePage(fingerprint("http://a.test/2"), houston)]
    crawl = make_crawl(tmp_path / "crawl", {"main": [*pages, FakePage(fingerprint("http://a.test/3"))]})
    labels = f'http://a.test/1,"Houston, TX"\nhttp://a.test/2,{boston}\nhttp://a.test/3,{boston}\n'
    (tmp_path / "truth.csv").write_text(f"url,place\n{labels}", "utf-8")
    found = evaluate_crawl(crawl, labels=tmp_path / "truth.csv")["labels"]
    assert found["places"] == {"precision": 0.5, "recall": 0.333333, "f": 0.4}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ("url,colour\nhttp://a.test/,red\n", "the first line must name the columns url, and place or relevant"),
        ("url,relevant\nhttp://a.test/,maybe\n", "line 2: relevant is 'maybe'; write 1 or 0"),
        ("url,place\nhttp://a.test/,Nowhereville\n", "line 2: "),
    ],
)
def test_labels_that_cannot_be_read_get_one_line(tmp_path: Path, text: str | None, said: str) -> None:
    crawl = make_crawl(tmp_path / "crawl", {"main": []})
    if text is not None:
        (tmp_path / "truth.csv").write_text(text, "utf-8")
    periplus("evaluate", crawl, "--labels", tmp_path / "truth.csv").assert_one_line_error(2, "truth.csv", said)
