"""The small tables of `knowledge.toml` (abbreviations, everyday names, demonyms, points, regions, word classes),
`features.toml` (rivers, mountains, seas) and `divisions.toml` (what states and provinces are called at home)."""

import importlib.resources
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["knowledge", "state_letters", "usual_names", "wrong_names"]


@cache
def knowledge() -> dict[str, Any]:
    """All tables by name."""
    folder = importlib.resources.files("periplus.places")
    tables: dict[str, Any] = {}
    for name in ("knowledge.toml", "features.toml", "divisions.toml"):
        tables |= tomllib.loads((folder / name).read_text(encoding="utf-8"))
    return tables


def state_letters(row_of: Mapping[str, int]) -> npt.NDArray[np.int32]:
    """For every two letters the row of the state that they may stand for behind a town's name, or -1."""
    rows = np.full(26 * 26, -1, dtype=np.int32)
    for key, letters in knowledge()["state_letters"].items():
        rows[26 * (ord(letters[0]) - ord("A")) + ord(letters[1]) - ord("A")] = row_of.get(key, -1)
    return rows


def wrong_names() -> dict[int, frozenset[str]]:
    """By place what sources list as its names and nobody means by it."""
    return {int(place): frozenset(names) for place, names in knowledge()["wrong_names"].items()}


def usual_names() -> dict[int, frozenset[str]]:
    """By place what it is called by all who say no more, whatever else is called so."""
    return {int(place): frozenset(names) for place, names in knowledge()["usual_names"].items()}
