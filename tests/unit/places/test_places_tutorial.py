"""The tutorial is true: its commands run, in order, and its Python holds."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from periplus.cli import assemble
from periplus.places import Gazetteer, cache
from periplus.places.sources import Draft, Gathered

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tutorial-places.md"
BLOCKS = re.findall(r"```(console|python)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
COMMANDS = [line[2:] for kind, text in BLOCKS if kind == "console" for line in text.splitlines() if line[:2] == "$ "]


def small_base() -> Gathered:
    """Enough to hang own places from: compiling all of the bundled data again would take a test too long."""
    rows = [
        ("world", 6295630, "World", "world", "", ""),
        ("US", 6252001, "United States", "country", "US", "world"),
        ("US.NY", 5128638, "New York", "admin1", "US", "US"),
        ("US.IL", 4896861, "Illinois", "admin1", "US", "US"),
    ]
    drafts = [
        Draft(key, number, name, kind, country, key[3:], 40.0, -89.0, 1, parent, names=[(name, 0)])
        for key, number, name, kind, country, parent in rows
    ]
    return Gathered({d.key: d for d in drafts}, [])


def run(command: str) -> str:
    """One command of the page: Periplus in this process, everything else in a shell."""
    if not command.startswith("periplus "):
        subprocess.run(["/bin/sh", "-c", command], check=True)
        return ""
    call, _, target = command.removeprefix("periplus ").partition(" > ")
    done = CliRunner().invoke(assemble(), shlex.split(call), catch_exceptions=False)
    assert done.exit_code == 0, f"{command}: {done.output}"
    if target:
        Path(target).write_text(done.stdout, "utf-8")
    return done.stdout


def test_commands_and_python_of_the_tutorial(
    gazetteer: Gazetteer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cache, "gather", lambda _progress: small_base())
    full, own = tmp_path / "full", tmp_path / "own"
    full.mkdir()
    shutil.copy(gazetteer.path, full)  # nothing may end up in the developer's cache
    answers = {}
    for command in COMMANDS:
        mine = "gazetteer add" in command or "Mill on the Hill" in command
        monkeypatch.setenv("PERIPLUS_CACHE", str(own if mine else full))
        answers[command] = run(command)
    assert len(answers) > 20
    assert "Old Mill" in answers['periplus gazetteer lookup "Mill on the Hill"']
    assert "Danube" in answers["periplus gazetteer lookup Danube"]
    assert json.loads(answers["periplus places shop.txt --json"])["addresses"][0]["unit"] == "Suite 5"
    assert json.loads(answers["periplus places page.html --html --json"])["addresses"][0]["place_id"] == 2267057
    found = [json.loads(line) for line in Path("found.jsonl").read_text("utf-8").splitlines()]
    assert found[0]["mentions"][0]["place"]["admin1"] == "TX"
    assert json.loads(Path("story.geojson").read_text("utf-8"))["features"]
    assert (full / "streets.tsv").read_text("utf-8") == "#4250542\tmain st\n"


def test_python_of_the_tutorial(gazetteer: Gazetteer) -> None:
    (code,) = (text for kind, text in BLOCKS if kind == "python")
    scope: dict[str, object] = {}
    exec(compile(code, str(PAGE), "exec"), scope)  # noqa: S102  our own page
    assert "located" in scope
