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
from periplus.fetch.connections import LONGEST_HEADER, MOST_FRAMING, MOST_HEADERS, MOST_INTERIM, MOST_KEPT
from periplus.fetch.decode import MAX_ENCODINGS
from periplus.fetch.retries import MAX_RETRY_AFTER_SECONDS, MAX_RETRY_SECONDS
from periplus.fetch.robots import MAX_CRAWL_DELAY_SECONDS, MAX_REDIRECTS
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
    text = (getattr(parameter, "help", "") or "").replace("\\[", "[")  # escaped for the terminal's markup
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


LIMITS = {
    "What one request may cost": (
        "fetch.total_seconds", "fetch.connect_seconds", "fetch.wire_bytes", "fetch.body_bytes", "fetch.redirects",
        "fetch.ports", "fetch.robots_bytes", "fetch.robots_hours", "fetch.sitemap_bytes",
    ),
    "What one page may cost": ("run.page_cpu_seconds", "run.page_memory_bytes", "crawl.page_links", "crawl.url_length"),
    "What one host may cost, and what it is spared": (
        "crawl.delay_seconds", "crawl.delay_factor", "crawl.ip_delay_seconds", "crawl.host_pages", "crawl.domain_hosts",
        "crawl.pattern_pages", "crawl.retries", "crawl.retry_seconds",
    ),
    "What one crawl may cost": (
        "crawl.pages", "crawl.minutes", "crawl.depth", "crawl.connections", "crawl.workers",
        "archive.disk_reserve_bytes", "run.disk_wait_minutes", "run.log_bytes",
    ),
}  # fmt: skip
"""Which settings are bounds, by what they bound."""


def limits_page() -> str:
    """The settings that are bounds, and the exit codes."""
    rows = {row.name: row for row in explain()}
    lines = ["# Limits and exit codes\n", NOTE + "All of them are settings; [settings.md](settings.md) has the rest.\n"]
    for title, names in LIMITS.items():
        lines += [f"## {title}\n", "| setting | default | unit | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{name}` | `{rows[name].default}` | {rows[name].unit} | {rows[name].sentence} |" for name in names
        ]
        lines.append("")
    fixed = {
        "Longest Crawl-delay that is waited for; beyond it the host is left alone": f"{MAX_CRAWL_DELAY_SECONDS:g} s",
        "Longest Retry-After that is believed": f"{MAX_RETRY_AFTER_SECONDS:g} s",
        "Longest wait between two tries": f"{MAX_RETRY_SECONDS:g} s",
        "Redirects of robots.txt": str(MAX_REDIRECTS),
        "Headers of one answer": str(MOST_HEADERS),
        "Longest line of a header": f"{LONGEST_HEADER} bytes",
        "Bytes of an answer that are not its body, beyond as many as its body has": f"{MOST_FRAMING} bytes",
        "Interim responses (1xx) before an answer": str(MOST_INTERIM),
        "Connections kept for a next request": str(MOST_KEPT),
        "Encodings of one body": str(MAX_ENCODINGS),
    }
    lines += [
        "## Fixed\n",
        "| bound | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in fixed.items()),
    ]
    lines += ["\n## Exit codes\n", "| code | means | errors |", "|---|---|---|"]
    for code, meaning in EXIT_CODES.items():
        named = ", ".join(f"`{name}`" for name in errors.__all__ if getattr(errors, name).exit_code == code)
        lines.append(f"| {code} | {meaning} | {named} |")
    return "\n".join(lines) + "\n"


EXIT_CODES = {
    0: "done",
    1: "a fault of the program, or what an error of its own says",
    2: "wrong usage, job or file",
    3: "stopped by a limit with work left; the same command goes on",
    4: "the machine: disk full, port taken, folder in use, server missing",
    130: "interrupted; the same command goes on",
}

PAGES = {
    "docs/settings.md": settings_page,
    "docs/commands.md": commands_page,
    "docs/errors.md": errors_page,
    "docs/limits.md": limits_page,
}


def main() -> None:
    """Write all generated pages."""
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
