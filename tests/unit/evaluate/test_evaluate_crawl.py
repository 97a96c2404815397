"""The measures read from a crawl's databases: two nodes made by hand, whose every figure is known."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import periplus
from typer import Typer
from typer.testing import CliRunner

from periplus.errors import Corrupt, NotACrawl
from periplus.evaluate import evaluate_crawl
from periplus.evaluate.commands import evaluate
from periplus.evaluate.measures import Retrieval, retrieval
from periplus.evaluate.policy import PolicyCosts
from periplus.store.database import open_writer
from periplus.strategies import Ownership
from periplus.urls import fingerprint

HOUSTON, HARRIS, BOSTON, PARIS = 1, 2, 3, 4
OWNERS = Ownership(("east", "general", "west"), ("general",), {HOUSTON: "west", BOSTON: "east"}, ())
NOBODY = Ownership(("main",), ("main",), {}, ())


@dataclass
class FakePage:
    """A page as the crawl would have stored it."""

    number: int  # its URL's fingerprint
    place: int | None = None
    entities: list[tuple[str, str | None]] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    kept: bool = True
    domain: str = "a.test"
    level: str = "street"


def make_node(folder: Path, name: str, pages: list[FakePage], *, sent: int = 0) -> None:
    path = folder / "nodes" / name / "node.db"
    with closing(open_writer(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        for place, ancestors in ((HOUSTON, [HARRIS]), (HARRIS, []), (BOSTON, []), (PARIS, []), (9, [HARRIS, HOUSTON])):
            db.execute("INSERT INTO place VALUES (?,'','city','','',0,0,0,'[]',?)", (place, json.dumps(ancestors)))
        for row, page in enumerate(pages, 1):
            add_page(db, row, page)
        db.execute("INSERT INTO traffic VALUES ('other', ?, 0, 0)", (sent,))
        db.execute("COMMIT")


def add_page(db: sqlite3.Connection, row: int, page: FakePage) -> None:
    db.execute("INSERT OR IGNORE INTO host VALUES (1, 'h', 'h', 0)")
    db.execute(
        "INSERT INTO url (id, fingerprint, url, host_id, priority, depth) VALUES (?, ?, ?, 1, 0, 0)",
        (row, page.number, f"http://a.test/{page.number}"),
    )
    db.execute("INSERT INTO progress (id, state, outcome, attempts) VALUES (?, 1, 'kept', 1)", (row,))
    db.execute(
        "INSERT INTO page (id, url_id, fingerprint, url, domain, outcome, kept, revision, depth, title, description, "
        "language, fetched_at, fetch_seconds, body_bytes, content_digest, keyword_relevance, place_relevance, topic, "
        "main_place) VALUES (?,?,?,?,?,'kept',?,?,0,'','','en','2026-01-01T00:00:00Z',0,1,0,0,0,'',?)",
        (row, row, page.number, f"http://a.test/{page.number}", page.domain, page.kept, row, page.place),
    )
    if page.place is not None:
        db.execute("INSERT INTO page_place VALUES (?, ?, 1.0)", (row, page.place))
    db.executemany(
        "INSERT INTO entity VALUES (?, ?, ?, ?, ?)",
        [(row, HOUSTON, key, page.level, owner) for key, owner in page.entities],
    )
    if page.links:
        packed = np.array(page.links, dtype="<i8").tobytes()
        db.execute(
            "INSERT INTO link (page_id, fingerprints, nodes) VALUES (?, ?, ?)",
            (row, packed, bytes(2 * len(page.links))),
        )


def make_crawl(folder: Path, nodes: dict[str, list[FakePage]], *, sent: int = 0) -> Path:
    (folder / "nodes").mkdir(parents=True)
    (folder / "crawl.toml").write_text("".join(f"[nodes.{name}]\n" for name in nodes), "utf-8")
    for name, pages in nodes.items():
        make_node(folder, name, pages, sent=sent)
    return folder


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """West has pages 10, 11, 12, east 20 and again 10; 99 was never downloaded."""
    return make_crawl(
        tmp_path / "crawl",
        {
            "west": [
                FakePage(10, HOUSTON, [("a", "west"), ("a", "west")], [11, 12, 99, 10, 11]),
                FakePage(11, 9, [("b", "east")], [20], domain="b.test"),
                FakePage(12, PARIS, [("c", None)], kept=False),
            ],
            "east": [
                FakePage(20, BOSTON, [("d", "east")], [10]),
                FakePage(10, HOUSTON, [("a", "west"), ("a", "west")], [11, 12, 99, 10, 11]),
            ],
        },
        sent=4,
    )


def test_every_measure_of_a_crawl_with_two_nodes(crawl: Path) -> None:
    result = evaluate_crawl(crawl, OWNERS)
    assert list(result) == [
        "pages", "geo_coverage", "distinct_geo_coverage", "geo_focus", "entity_uniqueness", "geo_centrality",
        "overlap", "diversity", "communication_overhead", "locality", "accuracy", "coverage", "balance_gini", "nodes",
        "exchange", "policy", "links_assigned_away_per_page", "harvest",
    ]  # fmt: skip
    assert result["pages"] == 5
    assert result["geo_coverage"] == 0.8  # page 12's address belongs to no target
    # west: of 10 and 11 only 10 is its own; east: of 20 and 10 only 20 is.
    assert result["geo_focus"] == 0.5
    assert result["entity_uniqueness"] == pytest.approx(3 / 6)
    assert result["overlap"] == pytest.approx(1 / 5)
    assert result["diversity"] == pytest.approx(2 / 5)
    assert result["communication_overhead"] == pytest.approx(8 / 5)
    # Geo-aware: 10, 11, 20. 10 → 11 → 20 → 10 is a circle, 12 leads nowhere.
    assert result["geo_centrality"] == pytest.approx((1.11 * 4 + 0) / 5)
    # Targets: 10 and 11 Houston (9 lies in it), 20 Boston, 12 none. Linked pairs: 10-11, 11-20, 20-10.
    assert result["locality"] == {"linked": pytest.approx(1 / 3, abs=1e-6), "unlinked": None}
    assert result["accuracy"] == 0.8
    assert result["coverage"] == 0.75  # Houston, the place in it, and Boston, in four kept pages


def test_each_node_has_its_own_row(crawl: Path) -> None:
    nodes = evaluate_crawl(crawl, OWNERS)["nodes"]
    assert list(nodes) == ["east", "west"]
    assert nodes["west"] == {
        "pages": 3,
        "kept": 2,
        "geo_coverage": pytest.approx(2 / 3, abs=1e-6),
        "geo_focus": 0.5,
        "entity_uniqueness": pytest.approx(2 / 3, abs=1e-6),
        "geo_centrality": pytest.approx(2.22 / 3, abs=1e-6),
        "diversity": pytest.approx(2 / 3, abs=1e-6),
        "communication_overhead": pytest.approx(4 / 3, abs=1e-6),
        "sent": 4,
        "received": 0,
    }


def test_a_crawl_without_targets_takes_the_whole_world_as_its_target(crawl: Path) -> None:
    result = evaluate_crawl(crawl)
    assert result["geo_coverage"] == 1.0
    assert result["geo_focus"] is None
    assert result["locality"]["linked"] == 0.0  # each page's own place is its class now


def test_a_node_that_owns_a_time_zone_has_a_focus_and_its_cities_are_targets(tmp_path: Path) -> None:
    houston, dallas, boston = 4699066, 4684888, 4930956
    pages = [
        FakePage(1, houston, [("a", "south")], [2]),
        FakePage(2, houston, [("b", "south")]),
        FakePage(3, dallas, [("c", None)]),
        FakePage(4, boston),
    ]
    crawl = make_crawl(tmp_path / "crawl", {"south": pages, "general": []})
    with closing(open_writer(crawl / "nodes" / "south" / "node.db")) as db:
        for place in (houston, dallas, boston):
            db.execute("INSERT INTO place VALUES (?,'','city','','',0,0,0,'[]','[]')", (place,))
    (crawl / "crawl.toml").write_text(
        "[nodes.south]\nplaces = ['time zone America/Chicago']\n[nodes.general]\n", "utf-8"
    )
    found = evaluate_crawl(crawl)
    assert found["geo_focus"] == found["nodes"]["south"]["geo_focus"] == 1.0
    assert found["geo_coverage"] == 0.5  # the address that nobody owns does not count
    # Houston twice, linked, and Dallas: three pages with a target, one pair of the same
    assert found["locality"] == {"linked": 1.0, "unlinked": 0.0}


def test_an_address_without_a_street_is_no_entity_of_the_paper(tmp_path: Path) -> None:
    pages = [FakePage(1, HOUSTON, [("a", "west")], level="postal")]
    assert evaluate_crawl(make_crawl(tmp_path / "crawl", {"west": pages}), OWNERS)["geo_coverage"] == 0.0


@pytest.mark.parametrize("pages", [[], [FakePage(1, links=[1])]])
def test_an_empty_crawl_and_a_single_page_have_no_nan(tmp_path: Path, pages: list[FakePage]) -> None:
    result = evaluate_crawl(make_crawl(tmp_path / "crawl", {"main": pages}), NOBODY)
    json.dumps(result, allow_nan=False)
    assert result["pages"] == len(pages)
    assert result["geo_coverage"] == result["overlap"] == result["geo_centrality"] == 0.0
    assert result["entity_uniqueness"] is result["accuracy"] is result["coverage"] is None
    assert result["locality"] == {"linked": None, "unlinked": None}


def test_a_crawl_that_was_only_begun_has_no_nodes(tmp_path: Path) -> None:
    result = evaluate_crawl(make_crawl(tmp_path / "crawl", {}), NOBODY)
    assert result["pages"] == 0
    assert result["nodes"] == {}


def test_a_running_crawl_is_read_as_it_was_at_one_moment(crawl: Path) -> None:
    with closing(open_writer(crawl / "nodes/west/node.db")) as writer:
        writer.execute("BEGIN IMMEDIATE")
        add_page(writer, 50, FakePage(50, HOUSTON, [("z", "west")], [10]))
        assert evaluate_crawl(crawl, OWNERS)["pages"] == 5
        writer.execute("COMMIT")
        assert evaluate_crawl(crawl, OWNERS)["pages"] == 6


def test_what_is_no_crawl_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotACrawl, match="no such folder"):
        evaluate_crawl(tmp_path / "nothing")
    with pytest.raises(NotACrawl, match="not a crawl"):
        evaluate_crawl(tmp_path)


def test_a_broken_database_says_which(crawl: Path) -> None:
    (crawl / "nodes/west/node.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(Corrupt, match=r"west/node\.db"):
        evaluate_crawl(crawl, NOBODY)


def test_the_command_prints_tables_or_json(crawl: Path) -> None:
    app = Typer()
    app.command()(evaluate)
    tables = CliRunner().invoke(app, [str(crawl)])
    assert tables.exit_code == 0
    for word in ("5 pages", "geo coverage", "locality, unlinked", "west", "imbalance", "(in this crawl 1.20)"):
        assert word in tables.output
    printed = CliRunner().invoke(app, [str(crawl), "--json"])
    assert json.loads(printed.output) == evaluate_crawl(crawl)
    assert "Example:" in CliRunner().invoke(app, ["--help"]).output


def test_policy_costs_follow_lemma_2() -> None:
    costs = PolicyCosts(page_bytes=1_000, message_bytes=100, links=10, claims=1.0)
    assert costs.cost_a == 1_000 + 10 * (100 + 1_000)
    assert costs.cost_b(2.0) == 2 * 1_000 + 10 * 2 * 1_000
    assert costs.break_even == pytest.approx(12_000 / 11_000)
    assert costs.as_dict()["cost_b_claims"] == 2.0
    assert PolicyCosts(0, 0, 0, 1).as_dict()["a_is_cheaper_above_claims"] is None


def test_costs_and_harvest_are_read_from_the_crawl(tmp_path: Path) -> None:
    west = [FakePage(1, links=[2, 3]), FakePage(2, links=[1], kept=False)]
    east = [FakePage(3), FakePage(4, kept=False)]
    result = evaluate_crawl(make_crawl(tmp_path / "crawl", {"west": west, "east": east}), OWNERS)
    assert result["policy"]["links_per_page"] == pytest.approx(3 / 4)
    assert result["policy"]["claims_per_link"] == 1.0
    assert result["policy"]["message_bytes"] == len("http://a.test/1") + 24
    assert [step["pages"] for step in result["harvest"]] == [1, 2, 3, 4]
    assert result["harvest"][-1]["harvest_rate"] == 0.5


# -- Every measure on small graphs, worked out by hand ---------------------------------------------------

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
    assert "2 labels of pages that the crawl has not read" in done.err
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
