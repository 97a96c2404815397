"""How places lie to each other, from the hierarchy, declared overlaps and polygons."""

import json
from pathlib import Path

import pytest

from periplus.errors import PlaceError, UsageError
from periplus.places import Gazetteer, RelationKind, open_gazetteer, related_set, relation, relevance
from periplus.places.cache import add_records, build_from
from periplus.places.sources import Draft, Gathered

US, ILLINOIS, SPRINGFIELD, TEXAS, PORTUGAL = 6252001, 4896861, 4250542, 4736286, 2264397


@pytest.mark.parametrize(
    ("a", "b", "kind", "steps", "weight"),
    [
        (US, US, RelationKind.EQUAL, 0, 1.0),
        (US, ILLINOIS, RelationKind.CONTAINS, 1, 0.6),
        (ILLINOIS, SPRINGFIELD, RelationKind.CONTAINS, 2, 0.4),
        (US, SPRINGFIELD, RelationKind.CONTAINS, 3, 0.2),
        (ILLINOIS, US, RelationKind.CONTAINED, 1, 0.4),
        (SPRINGFIELD, ILLINOIS, RelationKind.CONTAINED, 2, 0.2),
        (SPRINGFIELD, US, RelationKind.CONTAINED, 3, 0.0),
        (TEXAS, ILLINOIS, RelationKind.DISJOINT, 0, 0.0),
        (PORTUGAL, SPRINGFIELD, RelationKind.DISJOINT, 0, 0.0),
    ],
)
def test_hierarchy(gazetteer: Gazetteer, a: int, b: int, *, kind: RelationKind, steps: int, weight: float) -> None:
    found = relation(a, b, gazetteer)
    assert (found.kind, found.steps) == (kind, steps)
    assert relevance(found) == weight


def test_related_set_is_what_relation_says(gazetteer: Gazetteer) -> None:
    related = related_set(ILLINOIS, gazetteer)
    assert related[ILLINOIS].weight == 1.0
    assert related[SPRINGFIELD].weight == 0.4
    assert related[US].weight == 0.4
    assert TEXAS not in related
    for place_id in list(related)[:200]:
        assert related[place_id].relation == relation(ILLINOIS, place_id, gazetteer)


def _small_base() -> Gathered:
    """World, United States, Illinois with Springfield, Texas: enough to hang own places from."""
    drafts = [
        Draft("world", 6295630, "World", "world", names=[("World", 0)]),
        Draft("+NA", 6255149, "North America", "continent", parent="world", names=[("North America", 0)]),
        Draft("US", US, "United States", "country", "US", "", 39.8, -98.5, 0, "+NA", names=[("United States", 0)]),
        Draft("US.IL", ILLINOIS, "Illinois", "admin1", "US", "IL", 40.0, -89.2, parent="US", names=[("Illinois", 0)]),
        Draft("US.TX", TEXAS, "Texas", "admin1", "US", "TX", 31.2, -99.2, parent="US", names=[("Texas", 0)]),
        Draft(
            f"#{SPRINGFIELD}", SPRINGFIELD, "Springfield", "city", "US", "IL", 39.8, -89.64, 114394, "US.IL",
            "America/Chicago", [("Springfield", 0)],
        ),
    ]  # fmt: skip
    return Gathered({d.key: d for d in drafts}, [])


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Gazetteer:
    """A gazetteer with own places: a polygon around Springfield, one that overlaps it, a declared overlap."""
    folder = tmp_path_factory.mktemp("own")
    box = [[[-90.0, 39.5], [-89.0, 39.5], [-89.0, 40.0], [-90.0, 40.0], [-90.0, 39.5]]]
    other = [[[-89.5, 39.8], [-88.0, 39.8], [-88.0, 41.0], [-89.5, 41.0], [-89.5, 39.8]]]
    features = [
        {"type": "Feature", "properties": {"name": "Lincolnland", "kind": "region", "parent": "United States",
         "aliases": "Land of Lincoln", "overlaps": "Texas"}, "geometry": {"type": "Polygon", "coordinates": box}},
        {"type": "Feature", "properties": {"name": "Corn Country", "kind": "region", "parent": "United States"},
         "geometry": {"type": "Polygon", "coordinates": other}},
        {"type": "Feature", "properties": {"name": ""}, "geometry": None},
        {"type": "Feature", "properties": {"name": "Nowhere"}, "geometry": {"type": "Point", "coordinates": [999, 0]}},
    ]  # fmt: skip
    (folder / "own.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    town = "name,lat,lon,kind,country,admin1,population\nPeriplusville,39.9,-89.2,city,US,IL,1234\n"
    (folder / "towns.csv").write_text(town)
    (folder / "XX.txt").write_text(
        "bad row\n1\tx\tx\t\tnope\t0\tP\tPPL\tUS\t\tIL\t\t\t\t700\t\t\tAmerica/Chicago\t2020\n"
    )
    names = ["own.geojson", "towns.csv", "XX.txt"]
    gathered = build_from([folder / n for n in names], folder / "own.bin", base=_small_base())
    assert dict(gathered.skipped) == {
        "wrong number of columns": 1, "number that is none": 1, "record without a name": 1,
        "record without a valid point": 1,
    }  # fmt: skip
    return open_gazetteer(folder / "own.bin")


def test_polygons_give_relations(own: Gazetteer) -> None:
    land, corn = own.resolve("Land of Lincoln"), own.resolve("Corn Country")
    assert relation(land, SPRINGFIELD, own).kind is RelationKind.CONTAINS
    assert relation(SPRINGFIELD, land, own).kind is RelationKind.CONTAINED
    assert relation(land, corn, own).kind is RelationKind.OVERLAP
    assert relation(land, TEXAS, own).kind is RelationKind.OVERLAP
    assert relation(corn, TEXAS, own).kind is RelationKind.DISJOINT
    assert related_set(land, own)[SPRINGFIELD].weight == 0.6


def test_own_towns_are_found_in_texts(own: Gazetteer) -> None:
    from periplus.places import locate

    assert own.resolve("Periplusville, IL").population == 1234
    mentions = locate("A fair opened in Periplusville, Illinois, on Sunday.", own).mentions
    assert mentions[0].text == "Periplusville"


def test_additions_without_a_point_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERIPLUS_CACHE", str(tmp_path))
    with pytest.raises(PlaceError, match="nothing was added"):
        add_records([{"name": "Nowhere"}])
    assert not (tmp_path / "own.jsonl").exists()
    add_records([{"name": "Somewhere", "lat": 1.0, "lon": 2.0}])
    assert (tmp_path / "own.jsonl").read_text().count("\n") == 1


def test_unreadable_files_are_usage_errors(tmp_path: Path) -> None:
    from periplus.places.own import read_records

    bad = tmp_path / "bad.geojson"
    bad.write_text("{not json")
    for path in (bad, tmp_path / "absent.csv", tmp_path / "what.xyz"):
        with pytest.raises(UsageError):
            read_records(path)
