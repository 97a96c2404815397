"""Where the compiled gazetteer lives, what goes into it, and when it must be made anew.

gazetteer-<digest>.bin   compiled from the dependencies' data and the user's own places
gazetteer-built.bin      compiled from dumps by `gazetteer build FILES`; where it exists, it is the one that counts
streets.tsv              street names that addresses are checked against, where the user loaded some
own.jsonl                what `gazetteer add` was given: merged whenever a gazetteer is compiled
"""

import gc
import hashlib
import json
import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from periplus.errors import DiskFull, GazetteerMissing, PlaceError
from periplus.files import write_whole
from periplus.places.build import build_arrays
from periplus.places.container import FORMAT, Container, read_container, write_container
from periplus.places.dumps import merge_geonames
from periplus.places.knowledge import knowledge
from periplus.places.lexicon import word_commonness
from periplus.places.own import merge_records, read_records, read_wordnet
from periplus.places.sources import Gathered, gather, source_versions

__all__ = [
    "add_records",
    "build_from",
    "built_path",
    "cache_folder",
    "compile_gazetteer",
    "open_container",
    "rebuild",
    "streets_path",
]

RECIPE: Final = 26
"""Raised whenever the same sources would compile to something else."""

_MONTH_SECONDS: Final = 30 * 86400
_RECORD_SUFFIXES: Final = (".geojson", ".json", ".csv", ".jsonl", ".shp")

Progress = Callable[[str, float], None]


def cache_folder() -> Path:
    """PERIPLUS_CACHE, else the XDG cache folder's `periplus`."""
    own = os.environ.get("PERIPLUS_CACHE")
    if own:
        return Path(own)
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "periplus"


def built_path() -> Path:
    """The gazetteer that the user built from dumps."""
    return cache_folder() / "gazetteer-built.bin"


def own_path() -> Path:
    """The user's own places."""
    return cache_folder() / "own.jsonl"


def streets_path(gazetteer: Path) -> Path:
    """Where the street names for a gazetteer file are."""
    return gazetteer.parent / "streets.tsv"


def _code_digest() -> str:
    """Names the code and tables that compile."""
    what: dict[str, object] = {"format": FORMAT, "recipe": RECIPE, "unicode": unicodedata.unidata_version}
    what["knowledge"] = hashlib.sha256(json.dumps([knowledge(), word_commonness()]).encode()).hexdigest()
    return hashlib.sha256(json.dumps({**what, **source_versions()}, sort_keys=True).encode()).hexdigest()[:16]


def source_digest() -> str:
    """Names everything the bundled gazetteer depends on; another digest means compiling again."""
    own = own_path().read_bytes() if own_path().exists() else b""
    return hashlib.sha256(_code_digest().encode() + own).hexdigest()[:16] if own else _code_digest()


@contextmanager
def _without_collector() -> Iterator[None]:
    """No search for cycles while millions of records are made that have none: a third of the time goes there."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@_without_collector()
def compile_gazetteer(
    path: Path, gathered: Gathered | None = None, digest: str | None = None, progress: Progress | None = None
) -> Gathered:
    """Compile `gathered` (default: the bundled sources) and the user's own places to `path`, atomically."""
    report = progress or (lambda _what, _share: None)
    gathered = gathered or gather(report)
    if own_path().exists():
        merge_records(gathered, read_records(own_path()))
    arrays, strings = build_arrays(gathered, report)
    meta = {"sources": source_versions(), "skipped": dict(gathered.skipped), "recipe": RECIPE}
    write_container(path, arrays, strings, meta, digest or source_digest())
    report("done", 1.0)
    return gathered


@_without_collector()
def build_from(
    paths: Sequence[Path],
    out: Path,
    *,
    min_population: int = 500,
    features: bool = False,
    base: Gathered | None = None,
    progress: Progress | None = None,
) -> Gathered:
    """Compile `base` (default: the bundled sources) together with dumps, shapes, tables and WordNet to `out`."""
    gathered = base or gather(progress or (lambda _what, _share: None))
    records = [p for p in paths if p.suffix.lower() in _RECORD_SUFFIXES and "noun" not in p.name]
    wordnet = [p for p in paths if "noun" in p.name]
    merge_geonames(
        gathered,
        [p for p in paths if p not in records and p not in wordnet],
        min_population=min_population,
        features=features,
        progress=progress or (lambda _what, _share: None),
    )
    for path in records:
        merge_records(gathered, read_records(path))
    for path in wordnet:
        read_wordnet(path, gathered)
    digest = hashlib.sha256(_code_digest().encode())
    for path in paths:
        digest.update(path.read_bytes() if path.stat().st_size < 1 << 28 else str(path.stat().st_size).encode())
    return compile_gazetteer(out, gathered, digest.hexdigest()[:16], progress)


def add_records(records: list[dict[str, Any]]) -> None:
    """Remember own places; they are part of the gazetteer from the next time it is opened."""
    check = Gathered({}, [])
    taken = merge_records(check, [{k: v for k, v in r.items() if k != "overlaps"} for r in records])
    if taken != len(records):
        reasons = ", ".join(f"{n} x {why}" for why, n in check.skipped.items())
        raise PlaceError(f"nothing was added: {reasons}; every place needs a name and lat, lon or a shape")
    try:
        own_path().parent.mkdir(parents=True, exist_ok=True)
        before = own_path().read_text(encoding="utf-8") if own_path().exists() else ""
        lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
        write_whole(own_path(), (before + lines).encode("utf-8", "replace"))
    except OSError as error:
        raise DiskFull(f"cannot write {own_path()}: {error.strerror}; set PERIPLUS_CACHE") from error


def rebuild(progress: Progress | None = None) -> Path:
    """Compile the bundled gazetteer anew and make it the one that counts, whatever lies in the cache."""
    cached = cache_folder() / f"gazetteer-{source_digest()}.bin"
    compile_gazetteer(cached, progress=progress)
    built_path().unlink(missing_ok=True)
    return cached


def _forget_old(current: Path) -> None:
    """Remove compiled gazetteers of other versions that are a month old."""
    for old in cache_folder().glob("gazetteer-????????????????.bin"):
        if old != current and old.stat().st_mtime < current.stat().st_mtime - _MONTH_SECONDS:
            old.unlink(missing_ok=True)


def open_container(path: Path | None, progress: Progress | None = None) -> tuple[Path, Container]:
    """Open `path` as it is, or the user's built one, or the bundled one, compiled first where it is absent or outdated.

    Two processes that compile at once both succeed: each writes its own temporary file and renames it.
    """
    if path is not None:
        return path, read_container(path)
    if built_path().exists():
        built = read_container(built_path())
        if built.meta.get("recipe") != RECIPE:
            raise GazetteerMissing(
                f"{built_path()} was built by another version of Periplus; build it again with: "
                "periplus gazetteer build and the same files (without files: the bundled data)"
            )
        return built_path(), built
    cached = cache_folder() / f"gazetteer-{source_digest()}.bin"
    if not cached.exists():
        compile_gazetteer(cached, progress=progress)
        _forget_old(cached)
    return cached, read_container(cached)
