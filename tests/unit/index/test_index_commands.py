"""The commands of the index."""

import json
from pathlib import Path

import pytest
from sample_collection import PAGES, build_collection
from typer.testing import CliRunner

from periplus.errors import NotACrawl
from periplus.index.commands import index_app


def test_rebuild_and_info(tmp_path: Path) -> None:
    folder = build_collection(tmp_path / "crawl").path
    runner = CliRunner()
    built = runner.invoke(index_app, ["rebuild", str(folder)])
    assert built.exit_code == 0
    assert "east: " in built.stdout
    told = json.loads(runner.invoke(index_app, ["info", str(folder), "--json"]).stdout)
    assert sum(row["pages"] for row in told.values()) == sum(page.kept for page in PAGES)
    assert "MiB" in runner.invoke(index_app, ["info", str(folder)]).stdout


def test_a_folder_that_is_no_crawl(tmp_path: Path) -> None:
    result = CliRunner().invoke(index_app, ["rebuild", str(tmp_path)])
    with pytest.raises(NotACrawl):
        raise result.exception or AssertionError
