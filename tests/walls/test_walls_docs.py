"""What is public is documented, and what is documented is true."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer
from rich.text import Text

from periplus import cli, errors
from periplus.model import Outcome
from periplus.settings import explain
from periplus.urls.filters import DROP_REASONS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def generated() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generated_docs", ROOT / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generated_docs"] = module
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date(generated: ModuleType) -> None:
    for name, page in generated.PAGES.items():
        assert (ROOT / name).read_text("utf-8") == page(), f"{name} is out of date: make docs"


def test_the_scoreboard_says_what_the_tables_say() -> None:
    """`make scoreboard` writes it, and so does every command that writes one of the tables."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "scoreboard.py")], capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert f"<!-- scoreboard -->\n{done.stdout}<!-- /scoreboard -->" in page, "out of date: scripts/scoreboard.py"


def test_every_setting_has_default_unit_and_sentence() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    for row in explain():
        assert f"| `{row.name}` |" in page
        assert row.sentence.endswith("."), f"{row.name} has no sentence"


def test_help_shows_every_word_of_itself(generated: ModuleType) -> None:
    """A table's name in brackets is markup to the terminal, and vanishes, unless it is escaped."""
    for name, command in generated.walk_commands():
        for text in [command.help or "", *(getattr(parameter, "help", "") or "" for parameter in command.params)]:
            assert Text.from_markup(text).plain == text.replace("\\[", "[").rstrip("\n"), f"{name}: {text}"


def test_every_command_has_help_with_an_example(generated: ModuleType) -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    names = []
    for name, command in generated.walk_commands():
        names.append(name)
        assert f"## `{name}`" in page
        _, example, shown = (command.help or "").partition("Example: ")
        assert example, f"{name} --help shows no example"
        assert name in shown, f"{name} --help shows no example"
        for parameter in command.params:
            assert getattr(parameter, "help", None) or parameter.name == "help", f"{name}: {parameter.name}"
    assert "periplus crawl" in names


def test_every_group_shows_an_example() -> None:
    """In its own help, or in the line of a command of it."""
    for name, group in typer.main.get_group(cli.assemble()).commands.items():
        first = [(inner.help or "").split("\n\n")[0] for inner in getattr(group, "commands", {}).values()]
        shown = [text for text in (group.help or "", *first) if f"periplus {name}" in text]
        assert shown, f"{name} --help shows no example"


def test_the_overview_says_what_commands_say_of_themselves() -> None:
    """And needs none of them for it: who asks for help waits for nothing."""
    summaries = {
        command.name: (command.help or "").split("\n\n")[0].replace("\n", " ")
        for command in typer.main.get_group(cli.assemble()).commands.values()
    }
    assert summaries == {name: summary for name, (_, summary) in cli.COMMANDS.items()}
    asked = "import sys; from periplus.cli import main\ntry: main()\nfinally: print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked, "--help"], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in cli.COMMANDS)
    assert not any(f"'{place.partition(':')[0]}'" in done.stdout for place, _ in cli.COMMANDS.values())


def test_every_error_outcome_and_reason_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    tree = errors.__doc__ or ""
    for name in errors.__all__:
        assert f"| `{name}` |" in page
        assert name in tree, f"{name} is missing from the tree in errors.py"
    for name in [*Outcome, *DROP_REASONS]:
        assert f"| `{name}` |" in page


def test_readme_table_of_stages_leads_to_folders() -> None:
    rows = re.findall(r"^\| \*?\*?([\w ,]+?)\*?\*? \| \[`([^`]+)`\]\(([^)]+)\)", README, re.MULTILINE)
    assert len(rows) >= 12, "the table stage → folder"
    for stage, label, target in rows:
        assert (ROOT / target).exists(), f"{stage}: {target} does not exist"
        assert label.rstrip("/") in target


def test_readme_commands_exist() -> None:
    for target in re.findall(r"^make ([a-z-]+)", README, re.MULTILINE):
        listed = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert listed.returncode == 0, f"make {target}: {listed.stderr}"
    assert re.search(r"^make demo\b", README, re.MULTILINE)
    assert re.search(r"^make test\b", README, re.MULTILINE)


def test_links_between_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_ci_runs_exactly_make_test() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert [line for line in script.splitlines() if "make" in line] == ["exec make test"]
