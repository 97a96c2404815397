"""`periplus places` and `periplus gazetteer` as scripts call them."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from periplus.errors import PlaceError, UsageError
from periplus.places.commands import gazetteer_app, places

app = typer.Typer()
app.command("places")(places)
app.add_typer(gazetteer_app, name="gazetteer")


def run(*arguments: str, text: str = "") -> str:
    result = CliRunner().invoke(app, list(arguments), input=text, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_has_the_promised_keys() -> None:
    text = "Floods hit Sylhet, Bangladesh. Write to 1200 Main Street, Springfield, IL 62701."
    found = json.loads(run("places", "-", "--json", text=text))
    assert found.keys() == {"id", "mentions", "addresses", "footprint"}
    mention = next(m for m in found["mentions"] if m["text"] == "Sylhet")
    assert text[mention["start"] : mention["end"]] == "Sylhet"
    assert mention["place"].keys() == {
        "id", "name", "kind", "country", "admin1", "lat", "lon", "population", "path",
    }  # fmt: skip
    assert mention["place"]["path"][0] == "World"
    assert found["addresses"][0]["place_id"] == 4250542
    assert 0 < found["footprint"][0]["weight"] <= 1


def test_files_tables_and_geojson(tmp_path: Path) -> None:
    file = tmp_path / "news.txt"
    file.write_text("The mayor of Lisbon, Portugal, spoke.", encoding="utf-8")
    assert "Lisbon" in run("places", str(file))
    shapes = json.loads(run("places", str(file), "--geojson"))
    assert shapes["features"][0]["geometry"]["coordinates"] == [-9.1498, 38.72509]


def test_html_pages() -> None:
    page = "<html><head><title>x</title></head><body><p>Floods in <b>Sylhet</b>, Bangladesh</p></body></html>"
    assert "Sylhet" in run("places", "-", "--html", "--json", text=page)
    plain = "<p class=Paris>Floods hit Sylhet.</p>"
    for beginning in (
        "<!DOCTYPE html>",
        "\ufeff <html>",
        '<?xml version="1.0"?>\n<!doctype html>',
        "<!-- saved --><html>",
    ):
        found = json.loads(run("places", "-", "--json", text=beginning + plain))
        assert [mention["text"] for mention in found["mentions"]] == ["Sylhet"], beginning


def test_lines_keep_their_order_and_sites_inform_each_other() -> None:
    rows = [
        {"id": "a", "text": "Police in Paris are looking for a man.", "url": "http://news.example/1"},
        {"id": 7, "text": "Schools in Paris, Texas, reopen in Lamar County.", "url": "http://news.example/2"},
        {
            "id": "c",
            "text": "The Lamar County court in Paris, Texas, sat. \u2028 Paris, Texas.",
            "url": "http://news.example/3",
        },
        {"id": "d", "text": ""},
    ]
    lines = "\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n"
    plain = [json.loads(line) for line in run("places", "-", "--jsonl", text=lines).splitlines()]
    assert [r["id"] for r in plain] == ["a", 7, "c", "d"]
    remembered = [json.loads(line) for line in run("places", "-", "--jsonl", "--site-memory", text=lines).splitlines()]
    assert plain[0]["mentions"][0]["place"]["country"] == "FR"
    assert remembered[0]["mentions"][0]["place"]["admin1"] == "TX"


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"id": 1, "text": 5}'])
def test_a_bad_line_is_named(line: str) -> None:
    with pytest.raises(UsageError, match="line 1"):
        run("places", "-", "--jsonl", text=line + "\n")


def test_what_is_not_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "image.png"
    binary.write_bytes(b"\x89PNG\0\0\0")
    with pytest.raises(UsageError, match="not text"):
        run("places", str(binary))
    with pytest.raises(UsageError, match="cannot read"):
        run("places", str(tmp_path / "absent.txt"))
    with pytest.raises(UsageError, match="a text comes by standard input"):
        run("places", "Floods hit Sylhet.")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_name_that_nobody_has_ends_with_2(form: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["gazetteer", "lookup", "Nowherezzz", *form])
    assert isinstance(result.exception, PlaceError)
    assert result.exception.exit_code == 2
    assert result.stdout == ("[]\n" if form else "")
    assert CliRunner().invoke(app, ["gazetteer", "lookup", "Portland", "--limit", "-1", *form]).exit_code == 2


def test_gazetteer_info_and_lookup() -> None:
    facts = json.loads(run("gazetteer", "info", "--json"))
    assert facts["counts"]["city"] > 200_000
    found = json.loads(run("gazetteer", "lookup", "Portland, OR", "--json"))
    assert [p["id"] for p in found] == [5746545]
    assert "Oregon" in run("gazetteer", "lookup", "Portland")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["places", "-", "--site-memory"], "--site-memory is for several documents"),
        (["places", "-", "--jsonl", "--html"], "--html is not possible with --jsonl"),
        (["places", "-", "--jsonl", "--geojson"], "--geojson is not possible with --jsonl"),
        (["places", "-", "--json", "--geojson"], "--json and --geojson exclude each other"),
        (["gazetteer", "build", "--features"], "--features is for dumps"),
        (["gazetteer", "add", "places.csv", "--name", "Hill"], "--name is for a place without a file"),
    ],
)
def test_options_that_do_nothing_are_refused(options: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(*options)
