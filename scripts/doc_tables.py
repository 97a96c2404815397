"""Figures in docs/ that a command has produced stand between marks, `<!-- NAME -->` and `<!-- /NAME -->`."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["markdown", "put_between"]


def markdown(rows: Iterable[Sequence[object]]) -> str:
    """A table; the first row is its head."""
    head, *others = [[str(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *others])


def put_between(page: Path, mark: str, text: str) -> None:
    """Replace what stands between the marks of a page. ValueError if the page has none, rather than figures lost."""
    marks = re.compile(rf"<!-- {re.escape(mark)} -->.*?<!-- /{re.escape(mark)} -->", re.DOTALL)
    written, count = marks.subn(lambda _: f"<!-- {mark} -->\n{text}\n<!-- /{mark} -->", page.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{page}: {count} places are marked {mark}")
    page.write_text(written, "utf-8")
