"""Exports as other programs read them: GDAL, GeoPandas, pyarrow, a spreadsheet's eyes, WARC readers."""

import codecs
import csv
import json
import math
import os
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import geopandas
import pyogrio
import pytest
import typer
from crawl_values import analysis, fetched, new_url, open_store
from pyarrow import parquet
from sample_collection import PAGES, PLACES, add_pages, build_collection, make_page
from typer.testing import CliRunner
from warcio.archiveiterator import ArchiveIterator

from periplus.errors import EnvironmentFailure, NotACrawl, UsageError
from periplus.export.commands import export
from periplus.model import Outcome
from periplus.search import Collection, SearchRequest, SearchResult
from periplus.store.commit import Batch, Completion
from periplus.store.folder import CrawlFolder

app = typer.Typer()
app.command()(export)

KEPT = [page for page in PAGES if page.kept]
LOCATED = [page for page in KEPT if page.places]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_collection(tmp_path_factory.mktemp("export") / "crawl").path


def test_geojson_has_every_page_at_its_main_place(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "pages.geojson"
    assert f"{len(KEPT)} pages" in run(folder, "--to", "geojson", "-o", file)
    found = json.loads(file.read_text("utf-8"))
    by_url = {feature["properties"]["url"]: feature for feature in found["features"]}
    assert set(by_url) == {page.url for page in KEPT}
    for page in LOCATED:
        place = PLACES[page.places[0][0]]
        assert by_url[page.url]["geometry"] == {"type": "Point", "coordinates": [place.lon, place.lat]}
    assert by_url["http://phones.example/0"]["geometry"] is None
    table = geopandas.read_file(file)
    assert len(table) == len(KEPT)
    assert table.crs.to_epsg() == 4326


def test_geoparquet_is_read_by_geopandas(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "pages.parquet"
    run(folder, "--to", "geoparquet", "-o", file, "--text")
    table = geopandas.read_parquet(file)
    assert table.crs.to_epsg() == 4326 or table.crs.to_string() == "OGC:CRS84"
    row = table[table.url == "http://sylhet.example/floods"].iloc[0]
    assert (round(row.geometry.x, 3), round(row.geometry.y, 3)) == (91.872, 24.899)
    assert "dams were opened" in row.text
    assert json.loads(parquet.read_schema(file).metadata[b"geo"])["version"] == "1.1.0"


def test_geopackage_opens_in_gdal_with_both_layers(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "pages.gpkg"
    run(folder, "--to", "gpkg", "-o", file)
    assert {str(name) for name, _ in pyogrio.list_layers(file)} == {"pages", "places"}
    pages = geopandas.read_file(file, layer="pages")
    assert len(pages) == len(KEPT)
    assert pages.crs.to_epsg() == 4326
    box = pages.cx[-10:-8, 38:39]
    assert set(box.country) == {"PT"}
    places = geopandas.read_file(file, layer="places")
    counts = dict(zip(places.name, places.pages, strict=False))
    assert counts["Sylhet"] == 1
    info = pyogrio.read_info(file, layer="pages")
    assert tuple(round(value, 2) for value in info["total_bounds"]) == (-179.97, -18.14, 178.44, 48.85)
    db = sqlite3.connect(file)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_csv_has_no_formulas(tmp_path: Path) -> None:
    titles = ["=1+1", "+1", "-1", "@sum", "\t=1", " =HYPERLINK(1)", "＝1", 'say "hi", then\nnew line', "plain"]
    pages = [make_page(n, title=title, text="x") for n, title in enumerate(titles)]
    crawl = build_collection(tmp_path / "crawl", pages, nodes=("a",))
    file = tmp_path / "pages.csv"
    run(crawl.path, "--to", "csv", "-o", file)
    assert file.read_bytes().startswith(codecs.BOM_UTF8)  # by which spreadsheets know the encoding
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["title"] for row in rows] == [f"'{title}" for title in titles[:7]] + titles[7:]
    assert all(float(row["lon"]) < 0 for row in rows)  # numbers stay numbers
    for row in rows:
        assert not row["title"].lstrip().startswith(("=", "+", "-", "@"))


def test_only_pages_that_answer_a_question(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "pizza.geojson"
    run(folder, "--to", "geojson", "-o", file, "--query", "pizza in Lisbon")
    features = json.loads(file.read_text("utf-8"))["features"]
    assert len(features) == 24
    assert {feature["properties"]["country"] for feature in features} == {"PT"}


@pytest.fixture
def archived(tmp_path: Path) -> CrawlFolder:
    """A crawl with three archived pages, and bytes behind the last commit, as a killed one leaves them."""
    crawl = CrawlFolder(tmp_path / "crawl")
    crawl.write_job('name = "archived"\nout = "."\n')
    store = open_store(crawl.path / "nodes")
    urls = [f"http://x.com/{n}" for n in range(3)]
    queued = store.commit(Batch(seeds=[new_url(url) for url in urls])).queued
    done = []
    for n, (taken, _) in enumerate(queued):
        response = fetched(taken.url, f"<p>page {n}".encode())
        done.append(Completion(taken, Outcome.KEPT, fetched=response, analysis=analysis(response=response, digest=n)))
    store.commit(Batch(completions=done))
    store.close()
    (file,) = crawl.node("main").archive.glob("*.warc.gz")
    with file.open("ab") as stream:
        stream.write(b"torn")
    return crawl


def test_warc_has_every_committed_record(archived: CrawlFolder, tmp_path: Path) -> None:
    file = tmp_path / "all.warc.gz"
    assert "9 records" in run(archived.path, "--to", "warc", "-o", file)
    with file.open("rb") as stream:
        records = [(one.rec_type, one.rec_headers.get_header("WARC-Target-URI")) for one in ArchiveIterator(stream)]
    assert records[0][0] == "warcinfo"
    assert sorted(url for kind, url in records if kind == "response") == [f"http://x.com/{n}" for n in range(3)]
    assert sum(kind == "request" for kind, _ in records) == 3


def test_wacz_has_every_response_and_its_index(archived: CrawlFolder, tmp_path: Path) -> None:
    file = tmp_path / "all.wacz"
    assert "3 pages" in run(archived.path, "--to", "wacz", "-o", file)
    with zipfile.ZipFile(file) as archive:
        assert {"archive/data.warc.gz", "indexes/index.cdxj", "pages/pages.jsonl", "datapackage.json"} <= set(
            archive.namelist()
        )
        assert archive.read("indexes/index.cdxj").count(b"\n") == 3


def test_text_that_no_file_takes_is_made_harmless(tmp_path: Path) -> None:
    page = make_page(1, title="nul \x00 here", text="and \x00 there")
    crawl = build_collection(tmp_path / "crawl", [page], nodes=("a",))
    for form in ("geojson", "gpkg", "csv", "geoparquet"):
        run(crawl.path, "--to", form, "-o", tmp_path / f"out.{form}", "--text")
    assert geopandas.read_parquet(tmp_path / "out.geoparquet").title[0] == "nul  here"


def test_a_failed_export_leaves_the_old_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pages.csv"
    file.write_text("old")
    monkeypatch.setattr("periplus.export.files.csv.writer", lambda _: (_ for _ in ()).throw(OSError(28, "No space")))
    with pytest.raises(EnvironmentFailure, match="no room left"):
        run(folder, "--to", "csv", "-o", file)
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["pages.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "shapefile", "-o", "x"), "not possible; choose geojson"),
        (("--to", "csv"), "needs -o FILE"),
        (("--to", "csv", "-o", "x", "--follow"), "is for databases"),
        (("--to", "postgis://h/db?schema=x;drop", "--query", "a"), "not possible with a database"),
        (("--to", "postgis://h/db?schema=Robert'--"), "is no name"),
        (("--to", "postgis://h/db", "--follow", "--every", "0"), "not between"),
    ],
)
def test_wrong_usage(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(folder, *arguments)


def test_missing_things_are_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(NotACrawl):
        run(tmp_path, "--to", "csv", "-o", tmp_path / "x")
    with pytest.raises(EnvironmentFailure, match="PostgreSQL: ") as caught:
        run(folder, "--to", f"postgis://me:secret@/db?host={tmp_path}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    add_pages(folder / "nodes" / "east" / "node.db", [])
    with pytest.raises(UsageError, match="no archive"):
        run(folder, "--to", "wacz", "-o", tmp_path / "x.wacz")


@pytest.mark.parametrize("form", ["geojson", "geoparquet", "gpkg", "csv", "warc"])
def test_a_link_is_followed_and_a_pipe_is_left_alone(folder: Path, tmp_path: Path, form: str) -> None:
    file, link, pipe = tmp_path / "elsewhere" / "file", tmp_path / "link", tmp_path / "pipe"
    file.parent.mkdir()
    link.symlink_to(file)
    run(folder, "--to", form, "-o", link)
    assert link.is_symlink()
    assert file.stat().st_size
    os.mkfifo(pipe)
    for target, what in ((pipe, "a pipe or a device"), (tmp_path, "a folder")):
        with pytest.raises(UsageError, match=f"is {what}, not a file"):
            run(folder, "--to", form, "-o", target)
    assert pipe.is_fifo()
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(UsageError, match="leads to itself"):
        run(folder, "--to", form, "-o", link)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "link", "pipe"]


def test_a_batch_that_is_not_full_is_not_taken_for_the_last(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("periplus.export.selection.LARGEST_PAGE", 5)
    whole, real = len(KEPT), Collection.search

    def short(self: Collection, request: SearchRequest, **options: Any) -> SearchResult:
        """As where most of what was looked at says the same."""
        result = real(self, request, **options)
        assert len(result.hits) <= 5
        return replace(result, hits=result.hits[1:])

    monkeypatch.setattr(Collection, "search", short)
    batches = math.ceil(whole / 5)
    assert f"{whole - batches} pages" in run(folder, "--to", "csv", "-o", tmp_path / "all.csv", "--query", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "csv", "-o", "x", "--every", "-3"], "--every is how often --follow looks"),
        (["--to", "postgis://me@/db", "--every", "3"], "--every is how often --follow looks"),
        (["--to", "postgis://me@/db", "--query", ""], "--query is not possible with a database"),
        (["--to", "warc", "-o", "x", "--text"], "--text is for tables"),
        (["--to", "wacz", "-o", "x", "--text"], "--text is for tables"),
    ],
)
def test_options_that_do_nothing_are_refused(folder: Path, options: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(folder, *options)


def test_an_export_of_nothing_says_why(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "none.csv"
    assert run(folder, "--to", "csv", "-o", file, "--query", "zzzzzz").endswith("0 pages; none answers the question\n")
    empty = build_collection(tmp_path / "empty", [make_page(1, kept=False)], nodes=("a",)).path
    assert run(empty, "--to", "csv", "-o", file).endswith("0 pages; the crawl has kept no page yet\n")
    assert len(file.read_text("utf-8").splitlines()) == 1, "the names of the columns"


def test_pages_that_say_the_same_are_written_once_and_counted(tmp_path: Path) -> None:
    story = "The ferry leaves the old harbour at noon, and the gulls go with it to the last of the islands. " * 4
    pages = [make_page(n, url=f"http://ferry.example/{n}", text=f"{story}Day {n}.", compared=True) for n in range(5)]
    crawl = build_collection(tmp_path / "crawl", pages, nodes=("main",)).path
    options = [str(crawl), "--to", "csv", "-o", str(tmp_path / "out.csv"), "--query", "ferry"]
    shown = CliRunner().invoke(app, options).output
    assert "4 more pages left out: the same again, or beyond 10,000" in shown
    assert f"{tmp_path / 'out.csv'}: 1 page" in shown
