"""Search from Python: periplus.open, GeoDataFrames, and what a notebook shows."""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import geopandas
import pytest
from sample_collection import ATTACKS, build_collection

import periplus
from periplus.errors import EnvironmentFailure, NotACrawl, QueryError
from periplus.search import Collection


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_collection(tmp_path_factory.mktemp("notebook") / "my-crawl").path


def test_one_line_from_a_crawl_to_a_geodataframe(folder: Path) -> None:
    table = periplus.open(folder).search("floods near Sylhet").to_geopandas()
    assert isinstance(table, geopandas.GeoDataFrame)
    assert table.crs.to_epsg() == 4326
    assert list(table.title) == ["Floods around Sylhet"]
    assert table.geometry.iloc[0].x == pytest.approx(91.87198)
    assert table.country.iloc[0] == "BD"


def test_options_and_several_crawls(folder: Path) -> None:
    with periplus.open(str(folder)) as collection:
        assert len(collection.search("pizza in Lisbon").hits) == 24
        assert len(collection.search("pizza", place="Lisbon, NH", limit=1).hits) == 1
        with pytest.raises(QueryError, match="limit"):
            collection.search("pizza", limit=0)
        with pytest.raises(TypeError):
            collection.search("pizza", colour="red")
    with pytest.raises(NotACrawl):
        periplus.open(folder / "nothing")


def test_pages_without_a_place_and_no_pages_at_all(folder: Path) -> None:
    with periplus.open(folder) as collection:
        phones = collection.search("mobile phone").to_geopandas()
        assert phones.geometry.isna().sum() == 6
        nothing = collection.search("zzzzzz").to_geopandas()
        assert len(nothing) == 0
        assert list(nothing.columns) == list(phones.columns)
        assert nothing.crs.to_epsg() == 4326
        features = collection.search("mobile").to_geojson()["features"]
        assert json.loads(json.dumps(features)) == features


class Tags(HTMLParser):
    """The tags of a document, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


def test_a_notebook_shows_a_table_and_runs_nothing_that_was_crawled(folder: Path) -> None:
    with periplus.open(folder) as collection:
        tags = Tags()
        shown = collection.search("harmless")._repr_html_()
        tags.feed(shown)
        assert tags.tags <= {"p", "b", "table", "thead", "tbody", "tr", "th", "td", "a", "br", "small"}
        assert tags.attributes <= {"href", "rel"}
        assert len(tags.links) == len(ATTACKS)
        assert all(link.startswith("http://") for link in tags.links)
        assert "Houston, Texas, United States" in collection._repr_html_()
        assert "84 pages in 2 nodes" in repr(collection)
        mistyped = collection.search('rodoe <b onclick="x">')._repr_html_()
        assert "onclick=" not in mistyped.replace("onclick=&quot;", "")


def test_without_geopandas_it_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with Collection.open([folder]) as collection, pytest.raises(EnvironmentFailure, match=r"periplus\[geo\]"):
        collection.search("pizza").to_geopandas()
