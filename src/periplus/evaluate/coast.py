"""The coastline behind a report's map, from the atlas that comes with the web page; none if the page is not built."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["coast_path"]

ASSETS = Path(__file__).parents[1] / "web" / "static" / "assets"
ATLAS = "countries-110m-*.json"

Line = tuple[tuple[float, float], ...]


def coast_path(west: float, south: float, scale: float, width: float, height: float) -> str:
    """The coast as the data of an SVG path in a frame with that lower left corner; `scale`: units a degree."""
    east, north = west + width / scale, south + height / scale
    parts = []
    for line in _coast():
        lons, lats = [lon for lon, _ in line], [lat for _, lat in line]
        if max(lons) < west or min(lons) > east or max(lats) < south or min(lats) > north:
            continue
        points = (f"{(lon - west) * scale:.1f},{(north - lat) * scale:.1f}" for lon, lat in line)
        parts.append("M" + " ".join(points))
    return "".join(parts)


@cache
def _coast() -> tuple[Line, ...]:
    """The lines of the coast in degrees; none of them jumps over the date line."""
    found = sorted(ASSETS.glob(ATLAS))
    if not found:
        return ()
    atlas = json.loads(found[0].read_text("utf-8"))
    used = {number if number >= 0 else ~number for number in _numbers(atlas["objects"]["land"])}
    return tuple(line for number in sorted(used) for line in _lines(atlas, atlas["arcs"][number]))


def _numbers(shape: Any) -> Iterator[int]:
    """The numbers of all lines that a shape of the atlas is made of."""
    if isinstance(shape, int):
        yield shape
    elif isinstance(shape, list):
        for part in shape:
            yield from _numbers(part)
    else:
        for key in ("geometries", "arcs"):
            yield from _numbers(shape.get(key, []))


def _lines(atlas: dict[str, Any], arc: list[list[int]]) -> Iterator[Line]:
    """An arc in degrees: each point is said by its distance from the one before."""
    (wide, high), (left, bottom) = atlas["transform"]["scale"], atlas["transform"]["translate"]
    x = y = 0
    line: list[tuple[float, float]] = []
    for dx, dy in arc:
        x, y = x + dx, y + dy
        point = (x * wide + left, y * high + bottom)
        if line and abs(point[0] - line[-1][0]) > 180:
            yield tuple(line)
            line = []
        line.append(point)
    yield tuple(line)
