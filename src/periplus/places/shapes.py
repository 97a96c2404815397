"""Polygons on the earth: one form for all of them, also for those across the antimeridian.

A shape in that form lies between -180 and 180 degrees and is cut at the antimeridian where it crosses it, as RFC 7946
wants. Sources draw such shapes in three ways (cut, jumping from 179 to -179, running on to 181); all become this one.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

__all__ = ["on_the_earth", "point_and_box", "unrolled_ring"]

_WIDE: Final = 180.0

Point = tuple[float, float]
Box = tuple[float, float, float, float]


def on_the_earth(geometry: dict[str, Any]) -> "BaseGeometry":
    """The shape of a GeoJSON geometry in the form above; ValueError for anything that is none."""
    import shapely  # noqa: PLC0415  heavy, and only needed where polygons are loaded
    from shapely.geometry import shape  # noqa: PLC0415

    try:
        area = shape(geometry)
        west, south, east, north = area.bounds if not area.is_empty else (999.0,) * 4
        if not (-90 <= south <= north <= 90 and -360 <= west <= east <= 540):
            raise ValueError("coordinates are not on the earth")
        if not area.is_valid and not _crosses(area):
            area = area.buffer(0)
        area = _cut(_unrolled(area)) if _crosses(area) else area
    except (shapely.errors.ShapelyError, AttributeError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"not a shape: {' '.join(str(error).split())}") from error
    if area.is_empty:
        raise ValueError("an empty shape")
    return area


def _crosses(area: "BaseGeometry") -> bool:
    west, _, east, _ = area.bounds
    if east > 180 or west < -180:
        return True
    turned = _unrolled(area).bounds
    return bool(east - west > _WIDE and turned[2] - turned[0] < east - west - 1)


def _unrolled(area: "BaseGeometry") -> "BaseGeometry":
    """The shape with its western longitudes moved behind the eastern ones: one piece from 177 to 182."""
    import shapely  # noqa: PLC0415

    moved = shapely.transform(area, _eastward)
    return moved if moved.is_valid else moved.buffer(0)


def _eastward(xy: Any) -> Any:
    xy = xy.copy()
    xy[xy[:, 0] < 0, 0] += 360.0
    return xy


def _cut(area: "BaseGeometry") -> "BaseGeometry":
    """An unrolled shape cut at 180 degrees, its eastern part moved back."""
    import shapely  # noqa: PLC0415
    from shapely.geometry import box  # noqa: PLC0415

    here = area.intersection(box(-180, -90, 180, 90))
    beyond = area.intersection(box(180, -90, 540, 90))
    return shapely.union_all([here, shapely.transform(beyond, lambda xy: xy - (360.0, 0.0))])


def point_and_box(area: "BaseGeometry") -> tuple[Point, Box]:
    """A point inside the shape (its centroid if that is) and the box around it, which may cross the antimeridian."""
    turned = _unrolled(area) if _crosses(area) else area
    middle = turned.centroid
    if not turned.contains(middle):
        middle = turned.representative_point()
    west, south, east, north = turned.bounds
    return (_back(middle.x), middle.y), (_back(west), south, _back(east), north)


def _back(lon: float) -> float:
    return float(lon) if lon <= 180 else float(lon) - 360.0


def unrolled_ring(longitudes: Sequence[float]) -> list[float]:
    """The longitudes of a ring so that every step takes the shorter way: 179, -179 becomes 179, 181.

    ValueError for longitudes beyond 360, and for a ring around a pole, which no flat map shows in one piece.
    """
    found: list[float] = []
    turned = 0.0
    for before, lon in zip([*longitudes[:1], *longitudes], longitudes, strict=False):
        if not -360.0 <= lon <= 360.0:
            raise ValueError(f"longitude {lon!r} is not between -180 and 180")
        if _WIDE < abs(lon - before) < 2 * _WIDE:  # 360 degrees are a strip around the earth
            turned -= math.copysign(2 * _WIDE, lon - before)
        found.append(lon + turned)
    if found and _WIDE < abs(found[-1] - found[0]) < 2 * _WIDE:
        raise ValueError("it goes around a pole; leave the pole out")
    return found
