"""Where the compiled gazetteer lives, and when it must be made anew."""

import hashlib
import json
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Final

from periplus.places.build import build_arrays
from periplus.places.container import FORMAT, Container, read_container, write_container
from periplus.places.knowledge import knowledge
from periplus.places.lexicon import word_commonness
from periplus.places.sources import Gathered, gather, source_versions

__all__ = ["cache_folder", "compile_gazetteer", "open_container", "source_digest"]

RECIPE: Final = 1
"""Raised whenever the same sources would compile to something else."""

Progress = Callable[[str, float], None]


def cache_folder() -> Path:
    """PERIPLUS_CACHE, else the XDG cache folder's `periplus`."""
    own = os.environ.get("PERIPLUS_CACHE")
    if own:
        return Path(own)
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "periplus"


def source_digest() -> str:
    """Names everything the bundled gazetteer depends on; another digest means compiling again."""
    what: dict[str, object] = {
        "format": FORMAT,
        "recipe": RECIPE,
        "unicode": unicodedata.unidata_version,
        **source_versions(),
    }
    what["knowledge"] = hashlib.sha256(json.dumps([knowledge(), word_commonness()]).encode()).hexdigest()
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


def compile_gazetteer(
    path: Path, gathered: Gathered | None = None, digest: str | None = None, progress: Progress | None = None
) -> None:
    """Compile `gathered` (default: the bundled sources) to `path`, atomically."""
    report = progress or (lambda _what, _share: None)
    gathered = gathered or gather(report)
    arrays, strings = build_arrays(gathered, report)
    meta = {"sources": source_versions(), "skipped": dict(gathered.skipped)}
    write_container(path, arrays, strings, meta, digest or source_digest())
    report("done", 1.0)


def open_container(path: Path | None, progress: Progress | None = None) -> tuple[Path, Container]:
    """Open `path` as it is, or the cached bundled gazetteer, compiled first where it is absent or outdated.

    Two processes that compile at once both succeed: each writes its own temporary file and renames it.
    """
    if path is not None:
        return path, read_container(path)
    cached = cache_folder() / f"gazetteer-{source_digest()}.bin"
    if not cached.exists():
        compile_gazetteer(cached, progress=progress)
    return cached, read_container(cached)
