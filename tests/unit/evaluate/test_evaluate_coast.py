"""The coastline behind the map of a report."""

import json
import re
from pathlib import Path

import pytest

from periplus.evaluate import coast
from periplus.evaluate.plots import map_plot

POINTS = [(-100.0, 40.0, "west", 3), (-80.0, 35.0, "east", 1)]


@pytest.fixture
def atlas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for an atlas, empty as yet."""
    monkeypatch.setattr(coast, "ASSETS", tmp_path)
    coast._coast.cache_clear()
    return tmp_path / "countries-110m-x.json"


def write(path: Path, arcs: list[list[list[int]]], land: list[list[int]]) -> None:
    """An atlas whose numbers are tenths of degrees from the south-west corner of the world."""
    shape = {"type": "GeometryCollection", "geometries": [{"type": "Polygon", "arcs": land}]}
    transform = {"scale": [0.1, 0.1], "translate": [-180.0, -90.0]}
    path.write_text(json.dumps({"arcs": arcs, "objects": {"land": shape, "countries": {}}, "transform": transform}))


def drawn(svg: str) -> list[str]:
    found = re.search(r'class="coast" d="([^"]*)"', svg)
    assert found
    return [part for part in found[1].split("M") if part]


def test_only_the_coast_in_sight_is_drawn_and_borders_are_not(atlas: Path) -> None:
    here, far, border = [[800, 1300], [50, 10]], [[3000, 1300], [10, 0]], [[850, 1300], [0, 50]]
    write(atlas, [here, far, border], [[0], [~1]])
    (line,) = drawn(map_plot(POINTS, ["east", "west"]))
    first, second = (tuple(map(float, point.split(","))) for point in line.split())
    assert second[0] - first[0] == pytest.approx(5 * (first[1] - second[1]), abs=0.6)


def test_no_line_jumps_over_the_date_line(atlas: Path) -> None:
    write(atlas, [[[3595, 1200], [4, 0], [-3598, 0], [4, 0]]], [[0]])
    lines = drawn(map_plot([(-179.0, 30.0, "a", 1), (179.0, 31.0, "a", 1)], ["a"]))
    assert [len(line.split()) for line in lines] == [2, 2]


def test_without_the_page_there_is_no_coast(atlas: Path) -> None:
    assert not atlas.exists()
    svg = map_plot(POINTS, ["east", "west"])
    assert drawn(svg) == []
    assert svg.count("<circle") == 2
