"""Points for `build` and for ranking: the middle of a set of them, and vectors whose products are distances."""

import numpy as np
import numpy.typing as npt

__all__ = ["hull_centroid", "unit_vectors"]


def hull_centroid(xs: npt.NDArray[np.float64], ys: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Centroid of the convex hull of some points; their mean where the hull has no area."""
    points = sorted(set(zip(xs.tolist(), ys.tolist(), strict=True)))
    if len(points) < 3:
        return float(np.mean(xs)), float(np.mean(ys))

    def half(sequence: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for p in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    hull = half(points) + half(points[::-1])
    area = cx = cy = 0.0
    for (x0, y0), (x1, y1) in zip(hull, hull[1:] + hull[:1], strict=True):
        cross = x0 * y1 - x1 * y0
        area += cross
        cx += (x0 + x1) * cross
        cy += (y0 + y1) * cross
    if abs(area) < 1e-9:
        return float(np.mean(xs)), float(np.mean(ys))
    return cx / (3 * area), cy / (3 * area)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def unit_vectors(lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Points on the unit sphere, for distances by dot product."""
    x, y = np.radians(lon), np.radians(lat)
    return np.stack([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)], axis=1).astype(np.float32)
