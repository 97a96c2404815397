"""The small tables of `knowledge.toml`: abbreviations, everyday names, demonyms, points, regions, word classes."""

import importlib.resources
import tomllib
from functools import cache
from typing import Any

__all__ = ["knowledge"]


@cache
def knowledge() -> dict[str, Any]:
    """All tables by name."""
    text = (importlib.resources.files("periplus.places") / "knowledge.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
