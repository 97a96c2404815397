"""The commands of the index."""

import json
from pathlib import Path

import pytest
from sample_collection import PAGES, build_collection
from typer.testing import CliRunner

from periplus.errors import NotACrawl
from periplus.index.commands import index_app
from periplus.search import Collection


def test_rebuild_and_info(tmp_path: Path) -> None:
    folder = build_collection(tmp_path / "crawl").path
    runner = CliRunner()
    built = runner.invoke(index_app, ["rebuild", str(folder)])
    assert built.exit_code == 0
    assert "east: " in built.stdout
    told = json.loads(runner.invoke(index_app, ["info", str(folder), "--json"]).stdout)
    assert sum(row["pages"] for row in told.values()) == sum(page.kept for page in PAGES)
    assert "MiB" in runner.invoke(index_app, ["info", str(folder)]).stdout


def test_an_index_that_has_read_nothing_says_so(tmp_path: Path) -> None:
    folder = build_collection(tmp_path / "crawl", nodes=("a",)).path
    runner = CliRunner()
    assert runner.invoke(index_app, ["info", str(folder)]).stdout.startswith("a: no index yet")
    told = json.loads(runner.invoke(index_app, ["info", str(folder), "--json"]).stdout)
    assert told == {"a": {"pages": 0, "revision": None, "bytes": 0}}
    assert not (folder / "nodes" / "a" / "index").exists(), "who asks makes nothing"
    empty = build_collection(tmp_path / "empty", [], nodes=("a",)).path
    Collection.open([empty]).close()
    assert runner.invoke(index_app, ["info", str(empty)]).stdout.startswith("a: 0 pages, 0.0 MiB")


def test_a_folder_that_is_no_crawl(tmp_path: Path) -> None:
    result = CliRunner().invoke(index_app, ["rebuild", str(tmp_path)])
    with pytest.raises(NotACrawl):
        raise result.exception or AssertionError
