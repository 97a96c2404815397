"""Small plots as SVG text: lines, grouped bars, points, a map of points. No script, no font, nothing from outside."""

import math
from collections.abc import Mapping, Sequence
from html import escape

from periplus.evaluate.coast import coast_path
from periplus.wording import counted

__all__ = ["bar_plot", "line_plot", "map_plot", "point_plot"]

COLOURS = ("#3b6fb6", "#d1603d", "#3f8f5f", "#8a5fa8", "#b8860b", "#5f7f8f", "#c2497c", "#6b6b2f", "#2f9aa0", "#7a4a2a")
WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 150, 26, 40
TICKS = 5


def colour(number: int) -> str:
    """The colour of the n-th series."""
    return COLOURS[number % len(COLOURS)]


def line_plot(series: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str) -> str:
    """One line for each series of (x, y)."""
    points = [point for line in series.values() for point in line]
    frame = _Frame(max((x for x, _ in points), default=1.0), max((y for _, y in points), default=1.0))
    parts = [frame.axes(x_label, y_label)]
    for number, (name, line) in enumerate(series.items()):
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in line)
        parts.append(f'<polyline fill="none" stroke="{colour(number)}" stroke-width="2" points="{path}"/>')
        parts.append(_legend(number, name))
    return _svg(parts, f"{y_label} by {x_label}")


def point_plot(
    points: Mapping[str, tuple[float, float]], x_label: str, y_label: str, margins: Mapping[str, float] | None = None
) -> str:
    """One point for each name, with the interval around its y."""
    margin = margins or {}
    highest = max((y + margin.get(name, 0.0) for name, (_, y) in points.items()), default=1.0)
    frame = _Frame(max((x for x, _ in points.values()), default=1.0), highest)
    parts = [frame.axes(x_label, y_label)]
    for number, (name, (x, y)) in enumerate(points.items()):
        low, high = frame.y(max(0.0, y - margin.get(name, 0.0))), frame.y(y + margin.get(name, 0.0))
        at = f'x1="{frame.x(x):.1f}" x2="{frame.x(x):.1f}"'
        parts.append(f'<line class="whisker" {at} y1="{low:.1f}" y2="{high:.1f}"/>')
        at = f'cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}"'
        parts.append(f'<circle {at} r="6" fill="{colour(number)}"><title>{escape(name)}</title></circle>')
        parts.append(_legend(number, name))
    return _svg(parts, f"{y_label} by {x_label}")


def bar_plot(groups: Mapping[str, Mapping[str, float | None]], y_label: str) -> str:
    """Groups of bars: group -> series -> value; None leaves a gap."""
    names = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    values = [value for bars in groups.values() for value in bars.values() if value is not None]
    frame = _Frame(1.0, max(values, default=1.0))
    parts = [frame.axes("", y_label, x_ticks=False)]
    width = (WIDTH - LEFT - RIGHT) / max(1, len(groups))
    for place, (group, bars) in enumerate(groups.items()):
        start = LEFT + place * width
        bar = width * 0.8 / max(1, len(names))
        parts.append(_text(start + width / 2, HEIGHT - BOTTOM + 16, group, anchor="middle"))
        for number, name in enumerate(names):
            value = bars.get(name)
            if value is not None:
                top = frame.y(value)
                at = f'x="{start + width * 0.1 + number * bar:.1f}" y="{top:.1f}" width="{bar * 0.9:.1f}"'
                height = max(0.0, HEIGHT - BOTTOM - top)
                label = f"<title>{escape(group)}, {escape(name)}: {value:.3f}</title>"
                parts.append(f'<rect {at} height="{height:.1f}" fill="{colour(number)}">{label}</rect>')
    parts += [_legend(number, name) for number, name in enumerate(names)]
    return _svg(parts, y_label)


def map_plot(points: Sequence[tuple[float, float, str, int]], nodes: Sequence[str]) -> str:
    """Points (longitude, latitude, node, pages) in plain degrees, coloured by node, as large as their pages."""
    if not points:
        return _svg([_text(LEFT, HEIGHT / 2, "no page has a place")], "map of assignments")
    west, east = min(p[0] for p in points) - 2, max(p[0] for p in points) + 2
    south, north = min(p[1] for p in points) - 2, max(p[1] for p in points) + 2
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    scale = min(wide / (east - west), high / (north - south))
    parts = [f'<rect class="sea" x="{LEFT}" y="{TOP}" width="{wide}" height="{high}"/>']
    corner = (west + east - wide / scale) / 2, (south + north - high / scale) / 2
    coast = coast_path(*corner, scale, wide, high)
    parts.append(f'<svg x="{LEFT}" y="{TOP}" width="{wide}" height="{high}"><path class="coast" d="{coast}"/></svg>')
    most = max(p[3] for p in points)
    for lon, lat, node, pages in sorted(points, key=lambda p: -p[3]):
        x = LEFT + wide / 2 + (lon - (west + east) / 2) * scale
        y = TOP + high / 2 - (lat - (south + north) / 2) * scale
        number = nodes.index(node)
        size = 2 + 8 * (pages / most) ** 0.5
        label = f"<title>{lat:.2f}, {lon:.2f}: {counted(pages, 'page')} at {escape(node)}</title>"
        at = f'cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"'
        parts.append(f'<circle {at} fill="{colour(number)}" fill-opacity="0.6">{label}</circle>')
    parts += [_legend(number, name) for number, name in enumerate(nodes)]
    return _svg(parts, "map of assignments")


class _Frame:
    """From values to the plane, both axes from zero."""

    def __init__(self, x_max: float, y_max: float) -> None:
        self.x_max = _round_up(x_max)
        self.y_max = _round_up(y_max)

    def x(self, value: float) -> float:
        return LEFT + value / self.x_max * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - value / self.y_max * (HEIGHT - TOP - BOTTOM)

    def axes(self, x_label: str, y_label: str, *, x_ticks: bool = True) -> str:
        parts = []
        for tick in range(TICKS + 1):
            value = self.y_max * tick / TICKS
            height = self.y(value)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>')
            parts.append(_text(LEFT - 6, height + 4, _short(value), anchor="end"))
            if x_ticks:
                value = self.x_max * tick / TICKS
                parts.append(_text(self.x(value), HEIGHT - BOTTOM + 16, _short(value), anchor="middle"))
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_label, anchor="middle"))
        parts.append(_text(LEFT, TOP - 12, y_label))
        return "".join(parts)


def _round_up(value: float) -> float:
    """The end of an axis that goes on to `value`: a number whose fifths are easy to read."""
    if value <= 0:
        return 1.0
    step = 10.0 ** math.floor(math.log10(value))
    ends = (step * factor for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5))
    return next((end for end in ends if end >= value * 0.9999), step * 10.0)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def _legend(number: int, name: str) -> str:
    top = TOP + 8 + number * 18
    mark = f'<rect x="{WIDTH - RIGHT + 12}" y="{top - 8}" width="10" height="10" fill="{colour(number)}"/>'
    return mark + _text(WIDTH - RIGHT + 28, top + 1, name)


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Sequence[str], title: str) -> str:
    view = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>{"".join(parts)}</svg>'
