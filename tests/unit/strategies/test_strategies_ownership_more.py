"""Who owns what: regions, time zones, polygons; and that nothing has two owners."""

import json
from functools import cache
from pathlib import Path

import pytest

from periplus.errors import ConfigError
from periplus.places import Gazetteer, open_gazetteer
from periplus.settings import NodeSettings
from periplus.strategies import Ownership, load_targets


@cache
def gazetteer() -> Gazetteer:
    return open_gazetteer()


def owned(base: Path | None = None, nearest_km: float = 0.0, **places: list[str]) -> Ownership:
    nodes = {name: NodeSettings(places=items) for name, items in places.items()} | {"general": NodeSettings()}
    return Ownership.of(nodes, gazetteer(), base=base, nearest_km=nearest_km)


def owner(ownership: Ownership, name: str) -> str | None:
    found = ownership.owner(gazetteer().resolve(name))
    return found[0] if found else None


def test_us100_is_the_papers_table() -> None:
    nodes = load_targets("us100", Path(), gazetteer())
    assert {name: len(node.places) for name, node in nodes.items()} == {
        "eastern": 33, "pacific": 22, "mountain": 10, "central": 33, "hawaii-alaska": 2, "general": 0,
    }  # fmt: skip


def test_all_of_a_state_and_a_country() -> None:
    ownership = owned(tx=["all of TX"], fr=["all of France"])
    assert owner(ownership, "Austin, TX") == "tx"
    assert owner(ownership, "Lyon, France") == "fr"
    assert owner(ownership, "Boston, MA") is None
    with pytest.raises(ConfigError, match=r"nodes\.x: 'Punjab' may be Punjab, PK .*; Punjab, IN"):
        owned(x=["all of Punjab"])
    assert owner(owned(x=["all of Punjab, India"]), "Ludhiana, India") == "x"


def test_time_zone() -> None:
    ownership = owned(mountain=["time zone America/Denver"])
    assert owner(ownership, "Denver, CO") == "mountain"
    assert owner(ownership, "Chicago, IL") is None
    with pytest.raises(ConfigError, match=r"nodes\.x.*America/Nowhere"):
        owned(x=["time zone America/Nowhere"])


def test_polygon(tmp_path: Path) -> None:
    ring = [[-72, 42], [-70.5, 42], [-70.5, 43], [-72, 43], [-72, 42]]
    (tmp_path / "bay.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    ownership = owned(tmp_path, bay=["polygon bay.geojson"])
    assert owner(ownership, "Boston, MA") == "bay"
    assert owner(ownership, "Chicago, IL") is None
    with pytest.raises(ConfigError, match=r"'bay'.*'city'|'city'.*'bay'|nodes\.city.*'bay'"):
        owned(tmp_path, bay=["polygon bay.geojson"], city=["Boston, MA"])


@pytest.mark.parametrize("lons", [(177, 182), (177, -178), (-183, -178)])
def test_a_polygon_across_the_date_line(tmp_path: Path, lons: tuple[float, float]) -> None:
    west, east = lons
    ring = [[west, -20], [east, -20], [east, -15], [west, -15], [west, -20]]
    (tmp_path / "fiji.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    ownership = owned(tmp_path, fiji=["polygon fiji.geojson"])
    assert owner(ownership, "2198148") == "fiji"
    assert owner(ownership, "Boston, MA") is None


@pytest.mark.parametrize("lons", [(160, 192), (160, -168), (-200, -168)])
def test_cities_beyond_the_date_line_are_known_by_name(tmp_path: Path, lons: tuple[float, float]) -> None:
    west, east = lons
    ring = [[west, 62], [east, 62], [east, 70], [west, 70], [west, 62]]
    (tmp_path / "chukotka.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    ownership = owned(tmp_path, far=["polygon chukotka.geojson"])
    assert {"Anadyr", "Provideniya"} <= {place.name for place in ownership.named_places()}
    with pytest.raises(ConfigError, match=r"'polygon chukotka\.geojson'.*'all of Alaska'|'all of Alaska'.*'polygon"):
        owned(tmp_path, far=["polygon chukotka.geojson"], alaska=["all of Alaska"])


def test_owners_are_the_same_if_their_polygons_are(tmp_path: Path) -> None:
    def described(east: float, file: str = "area.geojson") -> list[str]:
        ring = [[-72, 42], [east, 42], [east, 43], [-72, 43], [-72, 42]]
        (tmp_path / file).write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
        return owned(tmp_path, bay=[f"polygon {file}"], zone=["time zone America/Denver"]).described()

    assert described(-70.5) == described(-70.5, "bay.geojson")
    assert described(-70.5) != described(-71)


def test_a_polygon_around_a_pole_is_refused_with_a_reason(tmp_path: Path) -> None:
    ring = [[0, 70], [120, 70], [-120, 70]]
    (tmp_path / "pole.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    with pytest.raises(ConfigError, match="it goes around a pole"):
        owned(tmp_path, x=["polygon pole.geojson"])


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[1,2]",
        '{"type":"Point","coordinates":[1,2]}',
        '{"type":"Polygon","coordinates":[[[500,1],[2,3],[4,5]]]}',
    ],
)
def test_bad_polygon_is_one_clear_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.geojson").write_text(content)
    with pytest.raises(ConfigError, match=r"nodes\.x: polygon"):
        owned(tmp_path, x=["polygon bad.geojson"])
    with pytest.raises(ConfigError, match="No such file"):
        owned(tmp_path, x=["polygon none.geojson"])


def test_overlap_names_both_owners() -> None:
    with pytest.raises(ConfigError, match=r"nodes\.b: 'Austin, TX' overlaps with 'all of TX' of node 'a'"):
        owned(a=["all of TX"], b=["Austin, TX"])
    with pytest.raises(ConfigError, match=r"nodes\.b.*belongs to node 'a' already"):
        owned(a=["Austin, TX"], b=["Austin, TX"])
    with pytest.raises(ConfigError, match=r"a.*time zone America/Denver.*'tx'"):
        owned(a=["time zone America/Denver"], tx=["all of TX"])


def test_nearest_owner_is_an_option() -> None:
    assert owner(owned(a=["Boston, MA"]), "Cambridge, MA") is None
    near = owned(nearest_km=50, a=["Boston, MA"], b=["Chicago, IL"])
    assert owner(near, "Cambridge, MA") == "a"
    assert owner(near, "Denver, CO") is None


def test_a_job_needs_somewhere_for_links_without_a_place() -> None:
    with pytest.raises(ConfigError, match=r"\[nodes\.general\]"):
        Ownership.of({"a": NodeSettings(places=["Boston, MA"])}, gazetteer())
    with pytest.raises(ConfigError, match=r"nodes\.a.*Atlantisville"):
        owned(a=["Atlantisville"])
