"""Figures in docs/ that a command has produced stand between marks, `<!-- NAME -->` and `<!-- /NAME -->`."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["between", "markdown", "put_between"]


def markdown(rows: Iterable[Sequence[object]]) -> str:
    """A table; the first row is its head."""
    head, *others = [[str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *others])


def between(page: Path, mark: str) -> str:
    """What stands between the marks of a page. ValueError if it has no such marks, or several."""
    found = _marks(mark).findall(page.read_text("utf-8"))
    if len(found) != 1:
        raise ValueError(f"{page}: {len(found)} places are marked {mark}")
    return str(found[0])


def put_between(page: Path, mark: str, text: str) -> None:
    """Replace what stands between the marks of a page. ValueError if it has none, rather than figures lost."""
    between(page, mark)
    marked = f"<!-- {mark} -->\n{text}\n<!-- /{mark} -->"
    page.write_text(_marks(mark).sub(lambda _: marked, page.read_text("utf-8")), "utf-8")


def _marks(mark: str) -> re.Pattern[str]:
    return re.compile(rf"<!-- {re.escape(mark)} -->\n?(.*?)\n?<!-- /{re.escape(mark)} -->", re.DOTALL)
