"""Files that the page lets people take away: results of a question for other programs, and archive records."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from periplus.errors import UsageError
from periplus.export.files import write_csv, write_geojson, write_geoparquet
from periplus.export.geopackage import write_geopackage
from periplus.export.rows import ExportedPage, read_pages
from periplus.export.selection import chosen_pages
from periplus.search import Collection, SearchRequest
from periplus.search.shard import LocalShard

__all__ = ["EXPORT_FORMS", "Download", "can_export", "export_results"]


@dataclass(frozen=True, slots=True)
class Download:
    """A file for the browser to save."""

    data: bytes
    media: str
    name: str


@dataclass(frozen=True, slots=True)
class _Form:
    write: Callable[[Iterable[ExportedPage], Path], int]
    media: str


EXPORT_FORMS: dict[str, _Form] = {
    "csv": _Form(write_csv, "text/csv"),
    "geojson": _Form(write_geojson, "application/geo+json"),
    "gpkg": _Form(write_geopackage, "application/geopackage+sqlite3"),
    "geoparquet": _Form(write_geoparquet, "application/vnd.apache.parquet"),
}


def can_export(collection: Collection) -> bool:
    """Whether all pages are on this machine."""
    return all(isinstance(shard, LocalShard) for shard in collection.shards)


def export_results(collection: Collection, request: SearchRequest, form: str) -> Download:
    """The pages that answer a question, at most 10,000, as a file."""
    chosen = EXPORT_FORMS.get(form)
    if chosen is None:
        raise UsageError(f"to {form[:40]!r} is not possible; choose {', '.join(EXPORT_FORMS)}")
    wanted = {(hit.node, hit.page) for hit in chosen_pages(collection, request)}
    if not can_export(collection):
        raise UsageError("pages of other machines are not brought here; run `periplus export` where they are")
    keys = {(shard.crawl, shard.name): shard.key for shard in collection.shards}

    def pages() -> Iterable[ExportedPage]:
        for crawl in collection.folders:
            names = {name: key for (path, name), key in keys.items() if path == str(crawl.path)}
            yield from read_pages(crawl, wanted=lambda node, page, n=names: (n.get(node, ""), page) in wanted)  # type: ignore[misc]  # bound now

    with TemporaryDirectory(prefix="periplus-export-") as folder:
        path = Path(folder) / f"results.{form}"
        chosen.write(pages(), path)
        return Download(path.read_bytes(), chosen.media, f"periplus-results.{form}")
