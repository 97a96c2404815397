"""Ranking: each part of the score, expansion with its reason, freshness, and which node is asked first."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from fake_clock import FakeClock
from sample_collection import SamplePage, add_pages, build_collection, make_page

from periplus.errors import QueryError
from periplus.search import Collection, SearchRequest
from periplus.search.ranking import freshness
from periplus.store.folder import CrawlFolder

HOUSTON, PASADENA, DALLAS, SYLHET = 4699066, 4718097, 4684888, 1185099


def page(number: int, *places: tuple[int, float], **changes: object) -> SamplePage:
    fields: dict[str, object] = {"url": f"http://r{number}.example/", "title": f"Rodeo {number}", "text": "A rodeo."}
    return make_page(number, places=places, **(fields | changes))


def opened(tmp_path: Path, pages: list[SamplePage], *nodes: str) -> Collection:
    crawl = build_collection(tmp_path / "crawl", pages, nodes=nodes or ("a",))
    return Collection.open([crawl.path], clock=FakeClock(datetime(2026, 11, 1, tzinfo=UTC)))


def urls(collection: Collection, question: str, **options: object) -> list[str]:
    return [hit.url for hit in collection.search(SearchRequest.of(question, **options)).hits]  # type: ignore[arg-type]  # options


# -- Where -----------------------------------------------------------------------------------------


def test_a_question_about_a_state_finds_its_towns_and_says_why(tmp_path: Path) -> None:
    with opened(tmp_path, [page(1, (HOUSTON, 0.9)), page(2, (4736286, 0.9)), page(3, (SYLHET, 0.9))]) as collection:
        hits = collection.search("rodeo in Texas").hits
        assert [(hit.url, hit.reason) for hit in hits] == [
            ("http://r2.example/", ""),  # Texas itself comes first
            ("http://r1.example/", "Houston is in Texas"),
        ]


def test_neighbours_fill_up_and_say_how_far(tmp_path: Path) -> None:
    with opened(tmp_path, [page(1, (HOUSTON, 0.9)), page(2, (PASADENA, 0.9)), page(3, (DALLAS, 0.9))]) as collection:
        hits = collection.search("rodeo in Houston").hits
        assert [(hit.relation, hit.reason) for hit in hits] == [("in", ""), ("near", "Pasadena is 17 km from Houston")]


def test_what_a_page_is_more_about_comes_first(tmp_path: Path) -> None:
    pages = [page(1, (DALLAS, 0.8), (HOUSTON, 0.2)), page(2, (HOUSTON, 0.8), (DALLAS, 0.2))]
    with opened(tmp_path, pages) as collection:
        assert urls(collection, "rodeo in Houston") == ["http://r2.example/", "http://r1.example/"]
        assert urls(collection, "rodeo in Dallas") == ["http://r1.example/", "http://r2.example/"]


def test_what_is_nearer_comes_first(tmp_path: Path) -> None:
    with opened(tmp_path, [page(1, (PASADENA, 0.9)), page(2, (HOUSTON, 0.9))]) as collection:
        assert urls(collection, "rodeo near Houston") == ["http://r2.example/", "http://r1.example/"]
        assert urls(collection, "rodeo near Pasadena") == ["http://r1.example/", "http://r2.example/"]


def test_every_part_of_the_score_is_shown_and_multiplies(tmp_path: Path) -> None:
    with opened(tmp_path, [page(n, (HOUSTON, 0.5), published=f"2026-0{n}-01") for n in range(1, 6)]) as collection:
        hits = collection.search(SearchRequest.of("rodeo in Houston", explain=True, freshness=30)).hits
        assert len(hits) == 5
        for hit in hits:
            parts = hit.explanation
            assert parts is not None
            assert hit.score == pytest.approx(parts["text"] * parts["geo"] * parts["fresh"], rel=1e-3)
            assert parts["geo"] == pytest.approx(parts["relation"] * (0.05 + 0.95 * parts["weight"]), rel=1e-3)
            assert 0 < parts["fresh"] < 1


# -- When ------------------------------------------------------------------------------------------


def test_freshness_is_off_unless_asked_for(tmp_path: Path) -> None:
    old = page(1, (HOUSTON, 0.9), published="2001-01-01", title="Rodeo rodeo rodeo")
    new = page(2, (HOUSTON, 0.9), published="2026-10-30", title="A story that names a rodeo once")
    undated = page(3, (HOUSTON, 0.9), published=None, title="A story that names a rodeo too")
    with opened(tmp_path, [old, new, undated]) as collection:
        assert urls(collection, "rodeo")[0] == old.url
        assert urls(collection, "rodeo", freshness=365) == [new.url, undated.url, old.url]
        assert urls(collection, "rodeo in Houston", freshness=365) == [new.url, undated.url, old.url]


def test_freshness_halves_with_every_span() -> None:
    assert freshness(None, 1000, 0) == 1.0
    assert freshness(1000, 1000, 30) == 1.0
    assert freshness(970, 1000, 30) == 0.5
    assert freshness(940, 1000, 30) == 0.25
    assert freshness(None, 1000, 30) == 0.25
    assert freshness(2000, 1000, 30) == 1.0  # a date in the future is not fresher than today
    assert freshness(-(10**6), 1000, 1) > 0.0


@pytest.mark.parametrize("days", [-1, 10**9])
def test_freshness_is_bounded(days: int) -> None:
    with pytest.raises(QueryError, match="freshness"):
        SearchRequest.of("x", freshness=days)


# -- Across nodes ----------------------------------------------------------------------------------


@pytest.fixture
def three_nodes(tmp_path: Path) -> CrawlFolder:
    """Houston belongs to `south`, Dallas to `north`; `general` owns nothing and has most of the pages."""
    crawl = build_collection(tmp_path / "crawl", [], nodes=("general", "north", "south"))
    crawl.write_job(
        'name = "owners"\nout = "."\n[nodes.general]\nplaces = []\n'
        '[nodes.north]\nplaces = ["Dallas, TX"]\n[nodes.south]\nplaces = ["Houston, TX", "Nowhere-at-all"]\n'
    )
    add_pages(crawl.node("general").database, [page(n, (HOUSTON, 0.9)) for n in range(5)])
    add_pages(crawl.node("north").database, [page(10, (DALLAS, 0.9)), page(11, (HOUSTON, 0.9))])
    add_pages(crawl.node("south").database, [page(20, (HOUSTON, 0.9))])
    return crawl


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("rodeo in Houston", ("south", "general", "north")),
        ("rodeo near Houston", ("south", "general", "north")),
        ("rodeo in Dallas", ("north", "general", "south")),
        ("rodeo in Texas", ("north", "south", "general")),  # both own a part of it; then by pages
        ("rodeo", ("general", "north", "south")),
    ],
)
def test_owners_of_a_place_are_asked_first(three_nodes: CrawlFolder, question: str, order: tuple[str, ...]) -> None:
    with Collection.open([three_nodes.path]) as collection:
        result = collection.search(question)
        assert result.nodes == order
        assert result.missing == ()


def test_an_answer_that_ran_out_of_time_is_marked_and_has_the_owners_pages(three_nodes: CrawlFolder) -> None:
    with Collection.open([three_nodes.path]) as collection:
        result = collection.search("rodeo in Houston", seconds=0.0)
        assert result.nodes == ("south",)
        assert result.missing == ("general", "north")
        assert [hit.url for hit in result.hits if hit.relation == "in"] == ["http://r20.example/"]
        assert result.to_json()["missing"] == ["general", "north"]
        assert len(collection.search("rodeo in Houston", seconds=60.0).hits) == 7
