"""Write the parts of the documentation that follow from the code: settings, commands, errors.

`make docs` writes them; a test fails when they are out of date.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from periplus import errors
from periplus.cli import assemble
from periplus.model import Outcome
from periplus.settings import explain
from periplus.urls.filters import DROP_REASONS

ROOT = Path(__file__).resolve().parent.parent
NOTE = "<!-- Written by `make docs` from the code; do not edit. -->\n\n"


def settings_page() -> str:
    """Every setting of the job file."""
    lines = ["# Settings\n", NOTE + "A job file is TOML. `periplus config --explain` prints this table.\n"]
    lines += ["| setting | default | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{row.name}` | `{row.default}` | {row.unit} | {row.sentence} |" for row in explain()]
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Every command with its help."""
    lines = ["# Commands\n", NOTE + "Exit codes: 0 done · 2 wrong usage or file · 3 stopped by a limit with work left "]
    lines[-1] += (
        "(the same command resumes) · 4 the machine: disk full, port taken, server missing · 130 interrupted.\n"
    )
    for name, command in walk_commands():
        lines.append(f"## `{name}`\n")
        lines.append(f"{inspect.cleandoc(command.help or '')}\n")
        lines += ["| argument | meaning | default |", "|---|---|---|"]
        lines += [row for parameter in command.params if (row := parameter_row(parameter))]
        lines.append("")
    return "\n".join(lines)


def walk_commands() -> Iterator[tuple[str, Any]]:
    """All commands and those inside groups, by full name."""
    root = typer.main.get_command(assemble())
    waiting: list[tuple[str, Any]] = [("periplus", root)]
    while waiting:
        name, command = waiting.pop(0)
        inner = getattr(command, "commands", None)
        if inner:
            waiting.extend((f"{name} {key}", value) for key, value in inner.items())
        else:
            yield name, command


def parameter_row(parameter: Any) -> str:
    """A row of a command's table; empty for --help."""
    if parameter.name == "help":
        return ""
    is_option = parameter.param_type_name == "option"
    label = (
        ", ".join(f"`{text}`" for text in parameter.opts)
        if is_option
        else f"`{parameter.metavar or parameter.name.upper()}`"
    )
    default = (
        parameter.default if parameter.default not in (None, False, ...) and not callable(parameter.default) else ""
    )
    text = getattr(parameter, "help", "") or ""
    return f"| {label} | {text} | {f'`{default}`' if default != '' else ''} |".replace("|  |", "| |")


def errors_page() -> str:
    """Errors, outcomes of leases, and reasons for which URLs are dropped."""
    lines = ["# Errors, outcomes, reasons\n", NOTE + "## Errors\n"]
    lines.append("Everything Periplus raises on purpose is a `PeriplusError`; a command prints it as one line.\n")
    lines += ["| error | is a | exit code | means |", "|---|---|---|---|"]
    for name in errors.__all__:
        error = getattr(errors, name)
        meaning = inspect.cleandoc(error.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        lines.append(f"| `{name}` | `{error.__base__.__name__}` | {error.exit_code} | {meaning} |")
    lines += ["\n## Outcomes\n", "Every lease ends in exactly one of them; their counts add up to the leases.\n"]
    lines += ["| outcome | means |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in outcome_meanings()]
    lines += ["\n## Reasons\n", "Why a link did not join the frontier. Each has a counter in the summary.\n"]
    lines += ["| reason | means |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in DROP_REASONS.items()]
    return "\n".join(lines) + "\n"


def outcome_meanings() -> Iterator[tuple[str, str]]:
    """Outcomes with the comment behind each of them in the source."""
    source = inspect.getsource(Outcome)
    for outcome in Outcome:
        match = re.search(rf'{outcome.name} = "{outcome.value}"(?:  # (.+))?', source)
        yield outcome.value, (match[1] if match and match[1] else outcome.value.replace("_", " "))


PAGES = {"docs/settings.md": settings_page, "docs/commands.md": commands_page, "docs/errors.md": errors_page}


def main() -> None:
    """Write all generated pages."""
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
