"""The small tables of `knowledge.toml` (abbreviations, everyday names, demonyms, points, regions, word classes) and
`features.toml` (rivers, mountains, seas)."""

import importlib.resources
import tomllib
from functools import cache
from typing import Any

__all__ = ["knowledge"]


@cache
def knowledge() -> dict[str, Any]:
    """All tables by name."""
    folder = importlib.resources.files("periplus.places")
    tables: dict[str, Any] = {}
    for name in ("knowledge.toml", "features.toml"):
        tables |= tomllib.loads((folder / name).read_text(encoding="utf-8"))
    return tables
