"""GeoPackage 1.3, written with SQLite alone: layers `pages` (at their main places) and `places` (with page counts)."""

import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from periplus.export.files import whole_file
from periplus.export.rows import COLUMNS, ExportedPage, ExportedPlace, PlaceCounts
from periplus.store.database import transaction

__all__ = ["write_geopackage"]

APPLICATION_ID = 0x47504B47  # "GPKG"
VERSION = 10300
WGS84 = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],'
    'AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,'
    'AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]'
)
TYPES = {str: "TEXT", int: "INTEGER", float: "DOUBLE"}

_TABLES = """
CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT
);
CREATE TABLE gpkg_contents (
  table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
  last_change DATETIME NOT NULL, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE,
  srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id)
);
CREATE TABLE gpkg_geometry_columns (
  table_name TEXT NOT NULL REFERENCES gpkg_contents(table_name), column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL REFERENCES gpkg_spatial_ref_sys(srs_id),
  z TINYINT NOT NULL, m TINYINT NOT NULL, PRIMARY KEY (table_name, column_name)
);
"""

PLACE_COLUMNS: dict[str, type] = {
    "id": int,
    "name": str,
    "kind": str,
    "country": str,
    "admin1": str,
    "population": int,
    "path": str,
    "pages": int,
}


def write_geopackage(pages: Iterable[ExportedPage], path: Path) -> int:
    """A GeoPackage with both layers; how many pages there were."""
    with whole_file(path) as draft, closing(sqlite3.connect(draft, isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.executescript(_TABLES)
        with transaction(db, path):
            db.executemany(
                "INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)",
                [
                    ("Undefined Cartesian", -1, "NONE", -1, "undefined"),
                    ("Undefined geographic", 0, "NONE", 0, "undefined"),
                    ("WGS 84", 4326, "EPSG", 4326, WGS84),
                ],
            )
            counts = PlaceCounts()
            count = _write_layer(db, "pages", COLUMNS, map(_page_row, counts.watched(pages)))
            _write_layer(db, "places", PLACE_COLUMNS, map(_place_row, counts.places()))
    return count


def _page_row(page: ExportedPage) -> tuple[Any, ...]:
    place = page.place
    return (_point(place.lon, place.lat) if place else None, *page.to_row().values())


def _place_row(place: ExportedPlace) -> tuple[Any, ...]:
    plain = (place.id, place.name, place.kind, place.country, place.admin1, place.population)
    return (_point(place.lon, place.lat), *plain, " > ".join(place.path), place.pages)


def _write_layer(db: sqlite3.Connection, name: str, columns: dict[str, type], rows: Iterable[tuple[Any, ...]]) -> int:
    typed = ", ".join(f'"{column}" {TYPES[kind]}' for column, kind in columns.items())
    db.execute(f"CREATE TABLE {name} (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom POINT, {typed})")
    marks = ", ".join("?" * (len(columns) + 1))
    quoted = ", ".join(f'"{column}"' for column in columns)
    box = _Box()
    cursor = db.executemany(f"INSERT INTO {name} (geom, {quoted}) VALUES ({marks})", box.watched(rows))
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    db.execute(
        "INSERT INTO gpkg_contents VALUES (?, 'features', ?, '', ?, ?, ?, ?, ?, 4326)", (name, name, now, *box.bounds())
    )
    db.execute("INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', 'POINT', 4326, 0, 0)", (name,))
    return max(0, cursor.rowcount)


class _Box:
    """The bounds of the points that pass."""

    def __init__(self) -> None:
        self._bounds: tuple[float, float, float, float] | None = None

    def watched(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The rows, unchanged; their first values are points."""
        for row in rows:
            if row[0] is not None:
                lon, lat = struct.unpack("<dd", row[0][-16:])
                west, south, east, north = self._bounds or (lon, lat, lon, lat)
                self._bounds = (min(west, lon), min(south, lat), max(east, lon), max(north, lat))
            yield row

    def bounds(self) -> tuple[float | None, ...]:
        """West, south, east, north."""
        return self._bounds or (None, None, None, None)


def _point(lon: float, lat: float) -> bytes:
    """GeoPackage's header (little-endian, no envelope, WGS 84) and the point as well-known binary."""
    return b"GP" + struct.pack("<BBiBIdd", 0, 1, 4326, 1, 1, lon, lat)
