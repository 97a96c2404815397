"""Bad input over HTTP, and bad states of the index: a clear answer in the one error shape, never a 500."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from http_client import get
from running_server import running_server
from sample_collection import add_pages, build_collection, make_page
from tantivy import Index, SchemaBuilder

from periplus.errors import Corrupt
from periplus.index import NodeIndex
from periplus.search import Collection, SearchRequest


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(build_collection(tmp_path_factory.mktemp("bad") / "crawl").path) as address:
        yield address


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("", 200, ""),
        ("q=", 200, ""),
        ("q=" + quote('"unbalanced'), 200, ""),
        ("q=" + quote('a" "b" "'), 200, ""),
        ("q=" + quote("(" * 900), 200, ""),
        ("q=" + quote("NOT " * 200), 400, "words"),
        ("q=" + quote("site:* OR place:[1 TO 9] ^~*?"), 400, "no page of this collection"),
        ("q=" + quote("title:x AND text:* -(-(-y"), 200, ""),
        ("q=" + quote("near:1e309,0,5"), 400, "cannot be read"),
        ("q=" + quote("before:2026-02-31"), 400, "not in the calendar"),
        ("q=" + quote("inclass:"), 400, "needs a value"),
        ("q=" + "x" * 1_001, 400, "characters long"),
        ("q=" + "x" * 60_000, 400, "characters long"),
        ("bbox=10,20,5,10", 400, "south"),  # inverted: north below south
        ("bbox=nan,nan,nan,nan", 400, "cannot be read"),
        ("bbox=inf,0,1,1", 400, "cannot be read"),
        ("bbox=-181,0,0,1", 400, "longitude"),
        ("bbox=177,-20,-178,-15", 200, ""),  # across the antimeridian
        ("near=91,0,5", 400, "latitude"),
        ("near=0,0,0", 400, "not above 0"),
        ("near=0,0,1e300", 400, "not above 0"),
        ("place=" + quote("Atlantis"), 400, "no page of this collection is about a place named"),
        ("place=99999999999999999", 400, "no page of this collection is about place"),
        ("since=2026-02-31", 400, "not in the calendar"),
        ("since=tomorrow", 400, "no date"),
        ("until=" + quote("２０２６"), 400, "no date"),
        ("since=2027&until=2026", 400, "is after"),
        ("limit=201", 400, "limit"),
        ("limit=-1", 400, "whole number"),
        ("offset=10000", 400, "offset"),
        ("freshness=99999", 400, "freshness"),
        ("explain=maybe", 400, "explain"),
    ],
)  # fmt: skip
def test_a_clear_answer(server: str, query: str, status: int, words: str) -> None:
    answer = get(server, f"/api/search?{query}")
    assert answer.status == status, answer.body[:300]
    if status != 200:
        assert answer.json["status"] == status
        assert words in answer.json["error"]
        assert "\n" not in answer.json["error"]


def test_boxes_across_the_antimeridian_find_both_sides(server: str) -> None:
    hits = get(server, "/api/search?bbox=177,-20,-178,-15").json["hits"]
    assert {hit["place"]["name"] for hit in hits} == {"Suva", "Taveuni"}


def test_a_megabyte_is_refused(server: str) -> None:
    for path in ("search", "trend", "facets", "points", "suggest"):
        answer = get(server, f"/api/{path}?q=" + "x" * 2**20)
        assert answer.status == 400
        assert "characters long" in answer.json["error"]


# -- The index -------------------------------------------------------------------------------------


def test_a_missing_index_is_built(tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(1)], nodes=("a",))
    with Collection.open([crawl.path]) as collection:
        assert collection.search("bayou").total == 1
    shutil.rmtree(crawl.node("a").index)
    with running_server(crawl.path) as address:
        assert get(address, "/api/search?q=bayou").json["total"] == 1


def test_an_index_that_vanishes_while_it_is_served(tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(1)], nodes=("a",))
    with running_server(crawl.path) as address:
        get(address, "/api/search?q=bayou")
        shutil.rmtree(crawl.node("a").index)
        for path in ("search?q=bayou", "trend", "info", "suggest?q=st", "facets"):
            assert get(address, f"/api/{path}").status in (200, 503)


def test_an_index_that_another_process_writes_is_read_as_it_is(tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(1)], nodes=("a",))
    with Collection.open([crawl.path]) as collection:
        assert collection.search("bayou").total == 1
    index = NodeIndex.open(crawl.node("a").index)
    with index._writer():  # as long as somebody writes
        add_pages(crawl.node("a").database, [make_page(2)])
        with running_server(crawl.path) as address:
            assert get(address, "/api/search?q=bayou").json["total"] == 1
    with Collection.open([crawl.path]) as collection:
        assert collection.search("bayou").total == 2


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(1)], nodes=("a",))
    folder = crawl.node("a").index
    folder.mkdir(parents=True)
    Index(SchemaBuilder().add_text_field("old").build(), path=str(folder))
    with running_server(crawl.path) as address:
        assert get(address, "/api/search?q=bayou").json["total"] == 1


def test_a_damaged_index_says_what_to_do(tmp_path: Path) -> None:
    crawl = build_collection(tmp_path / "crawl", [make_page(n) for n in range(30)], nodes=("a",))
    with Collection.open([crawl.path]) as collection:
        before = collection.search(SearchRequest.of("bayou")).total
    meta = crawl.node("a").index / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"segments": "broken"}))
    with pytest.raises(Corrupt, match="delete this folder"):
        Collection.open([crawl.path])
    shutil.rmtree(crawl.node("a").index)
    with Collection.open([crawl.path]) as collection:
        assert collection.search(SearchRequest.of("bayou")).total == before
