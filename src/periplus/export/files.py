"""GeoJSON, CSV and GeoParquet. A file appears when it is whole; one that is there already is replaced then."""

import csv
import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from periplus.errors import EnvironmentFailure
from periplus.export.rows import COLUMNS, ExportedPage
from periplus.files import target_file
from periplus.store.database import storage_errors

__all__ = ["point_wkb", "whole_file", "write_csv", "write_geojson", "write_geoparquet"]

ROW_GROUP = 5_000
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula, also in full width."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to; it becomes the file when the block ends without an error."""
    with storage_errors(path):
        path = target_file(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
            draft = Path(folder) / path.name
            yield draft
            draft.replace(path)


def write_geojson(pages: Iterable[ExportedPage], path: Path) -> int:
    """RFC 7946: a point feature a page, with a null geometry where the page has no place."""
    count = 0
    with whole_file(path) as draft, draft.open("w", encoding="utf-8") as file:
        file.write('{"type":"FeatureCollection","features":[')
        for page in pages:
            place, row = page.place, page.to_row()
            lon, lat = row.pop("lon"), row.pop("lat")
            feature = {
                "type": "Feature",
                "id": f"{page.node}/{page.page}",
                "geometry": {"type": "Point", "coordinates": [lon, lat]} if place else None,
                "properties": row | {"places": json.loads(row["places"]), "topics": list(page.topics)},
            }
            file.write(",\n" if count else "\n")
            file.write(json.dumps(feature, ensure_ascii=False, allow_nan=False))
            count += 1
        file.write("\n]}\n")
    return count


def write_csv(pages: Iterable[ExportedPage], path: Path) -> int:
    """Comma-separated, UTF-8 with the mark by which spreadsheets know it: without it "Köln" is "KÃ¶ln" there.

    No cell of text can be a formula: one that looks like it gets an apostrophe before it.
    """
    count = 0
    with whole_file(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for page in pages:
            writer.writerow([_cell(value) for value in page.to_row().values()])
            count += 1
    return count


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA) else value


def write_geoparquet(pages: Iterable[ExportedPage], path: Path) -> int:
    """GeoParquet 1.1: points as WKB in the column `geometry`. Needs pyarrow, which the extra `geo` brings."""
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise EnvironmentFailure("GeoParquet needs pyarrow; install it with: pip install 'periplus[geo]'") from None
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    fields = [pa.field(name, types[kind]) for name, kind in COLUMNS.items()]
    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}},
    }
    schema = pa.schema([*fields, pa.field("geometry", pa.binary())], metadata={"geo": json.dumps(geo)})
    count = 0
    with whole_file(path) as draft, parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
        for part in _parts(pages, ROW_GROUP):
            rows = [page.to_row() | {"geometry": point_wkb(page)} for page in part]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


def point_wkb(page: ExportedPage) -> bytes | None:
    """The page's point as well-known binary; None if it has no place."""
    return struct.pack("<BIdd", 1, 1, page.place.lon, page.place.lat) if page.place else None


def _parts(pages: Iterable[ExportedPage], size: int) -> Iterator[list[ExportedPage]]:
    part: list[ExportedPage] = []
    for page in pages:
        part.append(page)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
