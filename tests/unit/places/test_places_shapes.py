"""Polygons on a round earth: every way to draw a shape across the antimeridian means the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import Point

from periplus.places import Gazetteer, RelationKind, open_gazetteer, related_set, relation
from periplus.places.cache import build_from
from periplus.places.gazetteer import _meet
from periplus.places.shapes import on_the_earth, point_and_box
from periplus.places.sources import Draft, Gathered

Ring = list[list[float]]


def ring(west: float, south: float, east: float, north: float) -> Ring:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def back(lon: float) -> float:
    return lon - 360.0 if lon > 180.0 else lon


def drawn(west: float, south: float, width: float, north: float) -> list[dict[str, Any]]:
    """The same box cut at the antimeridian, jumping over it, and running on beyond 180 degrees."""
    east = west + width
    if east <= 180.0:
        return [{"type": "Polygon", "coordinates": [ring(west, south, east, north)]}]
    cut = [[ring(west, south, 180.0, north)], [ring(-180.0, south, east - 360.0, north)]]
    jumping = [[back(x), y] for x, y in ring(west, south, east, north)]
    return [
        {"type": "MultiPolygon", "coordinates": cut},
        {"type": "Polygon", "coordinates": [jumping]},
        {"type": "Polygon", "coordinates": [ring(west, south, east, north)]},
    ]


boxes = st.tuples(
    st.integers(100, 178), st.integers(-60, 50), st.integers(3, 90), st.integers(2, 30)
)  # west, south, width, height


@settings(max_examples=examples(60), deadline=None)
@given(boxes, st.floats(-179.9, 179.9), st.floats(-80, 80))
def test_what_is_inside_does_not_depend_on_how_it_is_drawn(
    box: tuple[int, int, int, int], lon: float, lat: float
) -> None:
    west, south, width, height = box
    inside = (lon - west) % 360.0 < width and south < lat < south + height
    edge = min((lon - west) % 360.0, (lon - west - width) % 360.0) < 1e-6 or abs(lon) > 179.999
    for geometry in drawn(west, south, width, south + height):
        area = on_the_earth(geometry)
        bounds = area.bounds
        assert -180.0 <= bounds[0] <= bounds[2] <= 180.0
        if not edge:
            assert area.contains(Point(lon, lat)) == inside
        (x, y), (left, bottom, right, top) = point_and_box(area)
        assert (x - west) % 360.0 == pytest.approx(width / 2, abs=1e-6)
        assert y == pytest.approx(south + height / 2, abs=1e-6)
        assert (left, bottom, right, top) == pytest.approx(
            (back(west), south, back(west + width), south + height), abs=1e-6
        )


@settings(max_examples=examples(60), deadline=None)
@given(boxes, boxes)
def test_boxes_meet_as_their_shapes_do(one: tuple[int, int, int, int], two: tuple[int, int, int, int]) -> None:
    from periplus.model import BBox

    areas = [on_the_earth(drawn(w, s, wide, s + high)[0]) for w, s, wide, high in (one, two)]
    met = [BBox(*point_and_box(area)[1]) for area in areas]
    if areas[0].intersects(areas[1]):
        assert _meet(met[0], met[1])
        assert _meet(met[1], met[0])
    elif areas[0].distance(areas[1]) > 1.0 and not any(b.crosses_antimeridian for b in met):
        assert not _meet(met[0], met[1])


def test_a_shape_around_the_whole_earth_stays_as_it_is() -> None:
    antarctica = on_the_earth({"type": "Polygon", "coordinates": [ring(-180, -90, 180, -65)]})
    assert antarctica.contains(Point(0.5, -80))
    assert antarctica.contains(Point(-120, -80))
    assert point_and_box(antarctica)[1] == (-180, -90, 180, -65)


@pytest.mark.parametrize(
    "geometry",
    [
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 99], [1, 99], [1, 98], [0, 99]]]},
        {"type": "Polygon", "coordinates": "x"},
        {"type": "Nonsense"},
        {},
        {"type": "Polygon", "coordinates": [[[float("nan"), 0], [1, 1], [1, 0], [float("nan"), 0]]]},
    ],
)
def test_what_is_no_shape_is_a_value_error(geometry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        on_the_earth(geometry)


TOWNS = {
    "Suva": (178.44, -18.14), "Somosomo": (-179.97, -16.77), "Apia": (-171.76, -13.83), "Anadyr": (177.51, 64.73),
    "Provideniya": (-173.23, 64.42), "Teller": (-166.36, 65.26), "Adak": (-176.64, 51.87), "Attu": (173.18, 52.90),
    "Severo-Kurilsk": (156.12, 50.68),
}  # fmt: skip
AREAS = {
    "Fiji": (176.9, -20.7, 5.0, -12.4),
    "Chukotka": (157.0, 61.8, 34.0, 71.6),
    "Aleutians": (172.0, 51.0, 25.0, 55.0),
}
INSIDE = {"Fiji": {"Suva", "Somosomo"}, "Chukotka": {"Anadyr", "Provideniya"}, "Aleutians": {"Adak", "Attu"}}


@pytest.fixture(scope="module", params=["cut", "jumping", "running on"])
def pacific(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Gazetteer:
    """Towns and areas on both sides of the antimeridian, the areas drawn in each way; no hierarchy between them."""
    style = ["cut", "jumping", "running on"].index(request.param)
    drafts = [Draft("world", 6295630, "World", "world", names=[("World", 0)])]
    drafts += [
        Draft(f"#{n}", n, name, "city", "", "", lat, lon, 1000, "world", names=[(name, 0)])
        for n, (name, (lon, lat)) in enumerate(TOWNS.items(), start=1)
    ]
    folder = tmp_path_factory.mktemp("pacific")
    features = [
        {"type": "Feature", "properties": {"name": name, "kind": "region", "id": 100 + n},
         "geometry": drawn(*box)[style]}
        for n, (name, box) in enumerate(AREAS.items())
    ]  # fmt: skip
    file = folder / "areas.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    build_from([file], folder / "pacific.bin", base=Gathered({d.key: d for d in drafts}, []))
    return open_gazetteer(folder / "pacific.bin")


def test_areas_across_the_antimeridian_hold_their_towns(pacific: Gazetteer) -> None:
    for area, inside in INSIDE.items():
        place = pacific.resolve(area)
        held = {t for t in TOWNS if relation(place, pacific.resolve(t), pacific).kind is RelationKind.CONTAINS}
        assert held == inside
        extent = pacific.extent(place.id)
        assert extent is not None
        assert extent.crosses_antimeridian
        assert extent.contains(place.point)
    fiji = pacific.resolve("Fiji").point
    assert abs(fiji.lon) > 178
    assert fiji.distance_km(pacific.resolve("Suva").point) < 300


def test_the_related_set_is_what_relation_says_of_everything(pacific: Gazetteer) -> None:
    ids = [int(i) for i in pacific.arrays["id"]]
    for one in ids:
        related = related_set(one, pacific)
        for other in ids:
            expected = relation(one, other, pacific)
            if expected.kind is RelationKind.DISJOINT:
                assert other not in related
            elif other in related:
                assert related[other].relation == expected
            else:
                assert expected.kind in (RelationKind.CONTAINS, RelationKind.CONTAINED)


def test_relations_are_mirrored(pacific: Gazetteer) -> None:
    mirror = {RelationKind.CONTAINS: RelationKind.CONTAINED, RelationKind.CONTAINED: RelationKind.CONTAINS}
    ids = [int(i) for i in pacific.arrays["id"]]
    for one in ids:
        for other in ids:
            there, back_again = relation(one, other, pacific), relation(other, one, pacific)
            assert back_again.kind is mirror.get(there.kind, there.kind)
            assert back_again.steps == there.steps


def test_a_continents_polygon_adds_nothing_to_what_the_hierarchy_says(tmp_path: Path) -> None:
    chain = ["world", "+NA", "US", "US.IL", "US.IL.Sangamon"]
    drafts = [
        Draft(key, n + 1, key, kind, parent=parent, lat=40.0, lon=-89.0, names=[(key, 0)])
        for n, (key, kind, parent) in enumerate(
            zip(chain, ("world", "continent", "country", "admin1", "admin2"), ["", *chain[:-1]], strict=True)
        )
    ]
    drafts.append(Draft("#9", 9, "Town", "city", "US", "IL", 40.0, -89.0, 5, chain[-1], names=[("Town", 0)]))
    drafts[1].rings = json.dumps({"type": "Polygon", "coordinates": [ring(-130, 10, -60, 70)]})
    drafts[1].bbox = (-130, 10, -60, 70)
    build_from([], tmp_path / "g.bin", base=Gathered({d.key: d for d in drafts}, []))
    gazetteer = open_gazetteer(tmp_path / "g.bin")
    assert relation(2, 9, gazetteer).steps == 4
    assert 9 not in related_set(2, gazetteer)
