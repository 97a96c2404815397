"""Polygons that a node owns, from GeoJSON files: points are tested with the even-odd rule, holes included."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from periplus.errors import ConfigError
from periplus.model import LonLat
from periplus.places.shapes import unrolled_ring

__all__ = ["TURNS", "Area", "read_area"]

MAX_FILE_BYTES = 64 * 2**20
Edges = npt.NDArray[np.float64]
TURNS = (0.0, 360.0, -360.0)
"""What a longitude may be off by: an area across the date line goes on beyond it."""


@dataclass(frozen=True, slots=True)
class Area:
    """All polygons of one file: edges as rows of lon, lat, lon, lat, and the box around them."""

    name: str
    edges: Edges
    box: tuple[float, float, float, float]

    def contains(self, point: LonLat) -> bool:
        """Whether the point lies inside: a ray to the east crosses the edges an odd number of times."""
        return any(self._contains(point.lon + turn, point.lat) for turn in TURNS)

    def _contains(self, lon: float, lat: float) -> bool:
        west, south, east, north = self.box
        if not (west <= lon <= east and south <= lat <= north):
            return False
        x1, y1, x2, y2 = self.edges.T
        across = (y1 > lat) != (y2 > lat)
        x1, y1, x2, y2 = x1[across], y1[across], x2[across], y2[across]
        at = x1 + (lat - y1) * (x2 - x1) / (y2 - y1)
        return bool(np.count_nonzero(at > lon) % 2)


def read_area(path: Path, where: str) -> Area:
    """The polygons of a GeoJSON file (geometry, feature or collection). ConfigError in one line if there are none."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{where}: {path} is larger than {MAX_FILE_BYTES // 2**20} MiB")
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{where}: polygon {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{where}: polygon {path}: not a GeoJSON file") from None
    try:
        rings = [np.asarray(ring, dtype=np.float64)[:, :2] for ring in _rings(data)]
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        raise ConfigError(f"{where}: polygon {path}: its coordinates are not lists of [lon, lat]") from None
    rings = [ring for ring in rings if len(ring) >= 3]
    if not rings:
        raise ConfigError(f"{where}: polygon {path}: holds no Polygon or MultiPolygon")
    points = np.concatenate(rings)
    if not (np.isfinite(points).all() and (np.abs(points) <= (360.0, 90.0)).all()):
        raise ConfigError(f"{where}: polygon {path}: longitudes are -180..180 and latitudes -90..90, in this order")
    try:
        rings = [np.column_stack([unrolled_ring(ring[:, 0].tolist()), ring[:, 1]]) for ring in rings]
    except ValueError as error:
        raise ConfigError(f"{where}: polygon {path}: {error}") from None
    points = np.concatenate(rings)
    edges = np.concatenate([np.hstack([ring, np.roll(ring, -1, axis=0)]) for ring in rings])
    west, south = points.min(axis=0).tolist()
    east, north = points.max(axis=0).tolist()
    return Area(path.name, edges, (west, south, east, north))


def _rings(data: Any) -> list[Any]:
    """Every ring of every polygon in a GeoJSON value."""
    kind = data["type"]
    if kind == "FeatureCollection":
        return [ring for feature in data["features"] for ring in _rings(feature)]
    if kind == "Feature":
        return _rings(data["geometry"]) if data["geometry"] else []
    if kind == "GeometryCollection":
        return [ring for geometry in data["geometries"] for ring in _rings(geometry)]
    if kind == "Polygon":
        return list(data["coordinates"])
    if kind == "MultiPolygon":
        return [ring for polygon in data["coordinates"] for ring in polygon]
    return []
