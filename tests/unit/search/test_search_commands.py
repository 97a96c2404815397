"""The commands `search` and `trend` as a person types them."""

import json
from pathlib import Path

import pytest
import typer
from sample_collection import build_collection, make_page
from typer.testing import CliRunner

from periplus.errors import NotACrawl, QueryError
from periplus.search.commands import search, trend

app = typer.Typer()
app.command()(search)
app.command()(trend)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_collection(tmp_path_factory.mktemp("commands") / "crawl").path)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_search_for_people_says_what_it_took(folder: str) -> None:
    output = " ".join(run("search", folder, "pizza in Lisbon", "--limit", "2").split())
    assert "24 pages · what: pizza · where: in Lisbon, Lisbon District, Portugal, one of 2 places so named" in output
    assert "not: Lisbon, New Hampshire, United States (--place 5088597)" in output


def test_one_page_is_one_page(folder: str) -> None:
    assert "1 page · what: ramen" in run("search", folder, "ramen")
    assert "1 page, 0 without a date · what: ramen" in run("trend", folder, "ramen")


def test_filters_are_said_and_brackets_are_no_markup(folder: str) -> None:
    told = run("search", folder, "pizza [bold]", "--near", "38.72,-9.14,25", "--since", "2026")
    assert "what: pizza bold · where: within 25 km of 38.72, -9.14 · when: since 2026-01-01" in told
    assert '"a [red] b"' in run("trend", folder, '"a [red] b" lang:en site:x.example')


def test_search_as_json(folder: str) -> None:
    answer = json.loads(run("search", folder, "pizza", "--bbox", "-73,43,-71,45", "--json"))
    assert [hit["title"] for hit in answer["hits"]] == ["Lisbon House of Pizza"]


def test_explain(folder: str) -> None:
    answer = json.loads(run("search", folder, "pizza in Lisbon", "--explain", "--limit", "1", "--json"))
    assert {"text", "geo", "relation", "weight", "formula"} <= answer["hits"][0]["explain"].keys()
    assert "score" in run("search", folder, "pizza in Lisbon", "--explain", "--limit", "1")


def test_nothing_found(folder: str) -> None:
    assert "Nothing found" in run("search", folder, "zzzzzz")


@pytest.mark.parametrize("command", ["search", "trend"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_empty_collection_is_called_empty(tmp_path: Path, command: str, form: list[str]) -> None:
    folder = build_collection(tmp_path / "crawl", [make_page(1, kept=False)], nodes=("a",)).path
    done = CliRunner().invoke(app, [command, str(folder), "bayou", *form])
    assert done.exit_code == 0
    assert "is empty: its crawl has kept no page yet" in done.stderr
    assert "Try fewer words" not in done.stdout
    assert not form or json.loads(done.stdout)["total"] == 0


def test_lines_that_no_terminal_shows_are_whole(tmp_path: Path) -> None:
    url = f"http://long.example/{'a-long-path/' * 12}"
    folder = build_collection(tmp_path / "crawl", [make_page(1, url=url)], nodes=("a",))
    assert url in run("search", str(folder.path), "bayou")


def test_trend_by_year(folder: str) -> None:
    answer = json.loads(run("trend", folder, "inclass:food", "--every", "year", "--json"))
    assert [bucket["start"] for bucket in answer["buckets"]] == ["2025-01-01", "2026-01-01"]
    shown = run("trend", folder, "inclass:food", "--by", "year")
    assert " 2026  " in shown
    assert "2026-01-01" not in shown
    assert " 2026-05  " in run("trend", folder, "inclass:food")


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    page = make_page(1, title="Nasty \x1b[31m title \x07", text="nasty \x1b]0;owned\x07 text")
    folder = build_collection(tmp_path / "crawl", [page], nodes=("a",))
    output = run("search", str(folder.path), "nasty")
    assert "\x1b" not in output
    assert "\x07" not in output


def test_wrong_usage_is_a_clear_error(folder: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="day, week, month or year"):
        run("trend", folder, "x", "--every", "decade")
    with pytest.raises(QueryError, match="offset -1 is below 0"):
        run("search", folder, "x", "--offset", "-1")
    with pytest.raises(QueryError, match="narrow the question"):
        run("search", folder, "x", "--offset", "10000")
    with pytest.raises(QueryError, match="cannot be read"):
        run("search", folder, "x", "--near", "here")
    with pytest.raises(NotACrawl):
        run("search", str(tmp_path), "x")
