"""Results of `periplus compare` that the server was told of: tables for the page to draw."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from periplus.errors import EnvironmentFailure, UsageError

__all__ = ["Comparisons"]

MOST_BYTES = 32 * 2**20


class Comparisons:
    """Comparisons by the names of their folders."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        """UsageError if a folder holds no comparison, or two are called the same."""
        self._paths: dict[str, Path] = {}
        for folder in folders:
            path, name = folder / "results.json", folder.resolve().name
            if not path.is_file():
                raise UsageError(f"{folder}: no results.json of `periplus compare` in it")
            if name in self._paths:
                raise UsageError(f"two comparisons are called {name!r}; rename one of their folders")
            self._paths[name] = path

    def names(self) -> dict[str, Any]:
        """What there is."""
        return {"results": list(self._paths)}

    def result(self, name: str) -> dict[str, Any] | None:
        """A comparison: what it was about, and the measures of each strategy; None if there is none of that name."""
        path = self._paths.get(name)
        if path is None:
            return None
        try:
            if path.stat().st_size > MOST_BYTES:
                raise EnvironmentFailure(f"comparison {name}: larger than {MOST_BYTES // 2**20} MiB")
            found = json.loads(path.read_text("utf-8"))
            return {"name": name, "about": dict(found["about"]), "strategies": dict(found["strategies"])}
        except (OSError, ValueError, KeyError, TypeError):
            raise EnvironmentFailure(f"comparison {name}: its results.json cannot be read") from None
