"""The gazetteer as users see it: names typed by people, the hierarchy, what happens to broken files."""

import subprocess
import sys
from pathlib import Path

import pytest

from periplus.errors import GazetteerMissing, PlaceError
from periplus.places import Gazetteer, open_gazetteer

SPRINGFIELD_IL = 4250542


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Portland, OR", 5746545),
        ("Portland, Oregon", 5746545),
        ("portland, me", 4975802),
        ("Lisbon, Portugal", 2267057),
        ("Lisbon, NH", 5088728),
        ("Springfield, IL, US", SPRINGFIELD_IL),
        ("Glendale, AZ", 5295985),
        ("Glendale, CA", 5352423),
        ("Arlington, TX", 4671240),
        ("Arlington, VA", 4744709),
        ("Kansas City, MO", 4393217),
        ("Kansas City, KS", 4273837),
        ("Athens, Greece", 264371),
        ("St. Louis, MO", 4407066),
        ("Saint Louis, Missouri", 4407066),
        ("5128581", 5128581),
        ("Paris", 2988507),
        ("São Paulo", 3448439),
        ("SAO PAULO", 3448439),
        ("北京", 1816670),
        ("Москва", 524901),
        ("United States", 6252001),
        ("Texas", 4736286),
    ],
)
def test_resolves_what_people_type(gazetteer: Gazetteer, name: str, expected: int) -> None:
    assert gazetteer.resolve(name).id == expected


def test_ambiguous_names_list_candidates_that_can_be_typed(gazetteer: Gazetteer) -> None:
    with pytest.raises(PlaceError, match=r"Springfield, MO, US \(id 4409896\); Springfield, MA, US"):
        gazetteer.resolve("Springfield")
    assert gazetteer.resolve("Springfield, MO, US").id == 4409896


def test_unknown_names_get_suggestions(gazetteer: Gazetteer) -> None:
    with pytest.raises(PlaceError, match="did you mean Houston"):
        gazetteer.resolve("Houstn")


@pytest.mark.parametrize("name", ["", "   ", "\x00", "…", "1" * 400, "\ud800", "x" * 5000, "999999999999"])
def test_nonsense_is_a_place_error(gazetteer: Gazetteer, name: str) -> None:
    with pytest.raises(PlaceError):
        gazetteer.resolve(name)


def test_unknown_ids_are_place_errors(gazetteer: Gazetteer) -> None:
    for place_id in (0, -1, 2**70):
        with pytest.raises(PlaceError, match="no place has the id"):
            gazetteer.place(place_id)


def test_hierarchy_runs_from_the_world_down(gazetteer: Gazetteer) -> None:
    place = gazetteer.place(SPRINGFIELD_IL)
    assert place.path == ("World", "North America", "United States", "Illinois", "Sangamon County", "Springfield")
    assert [gazetteer.place(i).name for i in place.ancestors] == list(place.path[:-1])
    assert gazetteer.is_within(SPRINGFIELD_IL, 6252001)
    assert not gazetteer.is_within(6252001, SPRINGFIELD_IL)
    assert SPRINGFIELD_IL in gazetteer.children(place.ancestors[-1])


def test_candidates_come_biggest_first_and_by_country(gazetteer: Gazetteer) -> None:
    found = gazetteer.find("Athens")
    assert found[0].country == "GR"
    assert gazetteer.find("Athens", country="us")[0].admin1 == "GA"
    assert len(gazetteer.find("Springfield", limit=3)) == 3
    assert gazetteer.find("Xyzzyville") == []


def test_cities_of_a_state(gazetteer: Gazetteer) -> None:
    cities = gazetteer.cities_of("US", "TX")
    assert [c.name for c in cities[:2]] == ["Houston", "San Antonio"]
    assert all(c.admin1 == "TX" for c in cities)
    with pytest.raises(PlaceError, match="no country has the code"):
        gazetteer.cities_of("QQ")


def test_zones_names_and_extents(gazetteer: Gazetteer) -> None:
    assert gazetteer.timezone(5128581) == "America/New_York"
    assert gazetteer.timezone(4736286) == "America/Chicago"
    assert "Lissabon" in gazetteer.other_names(2267057)
    assert gazetteer.names_by_language(2264397)["it"] == "Portogallo"
    texas = gazetteer.extent(4736286)
    assert texas is not None
    assert texas.contains(gazetteer.resolve("Austin, TX").point)


def test_ids_of_divisions_are_the_same_everywhere(gazetteer: Gazetteer) -> None:
    assert gazetteer.resolve("Bavaria").id == -52474567937870 or gazetteer.resolve("Bavaria").id < 0
    assert gazetteer.resolve("Cook County, IL").id < 0


def test_counts(gazetteer: Gazetteer) -> None:
    counts = gazetteer.counts()
    assert counts["city"] > 200_000
    assert counts["country"] > 240
    assert counts["admin1"] > 3_000
    assert counts["admin2"] > 20_000
    assert counts["zip_codes"] > 40_000


def test_a_missing_file_says_how_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(GazetteerMissing, match="periplus gazetteer build"):
        open_gazetteer(tmp_path / "none.bin")


@pytest.mark.parametrize("damage", ["empty", "noise", "cut", "header"])
def test_a_broken_file_is_loud(gazetteer: Gazetteer, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "broken.bin"
    data = gazetteer.path.read_bytes()[:200_000]
    path.write_bytes({"empty": b"", "noise": b"x" * 999, "cut": data, "header": data[:20] + b"!!" + data[22:]}[damage])
    with pytest.raises(GazetteerMissing, match="periplus gazetteer build"):
        open_gazetteer(path)


def test_opening_does_not_compile_again(gazetteer: Gazetteer) -> None:
    before = gazetteer.path.stat().st_mtime_ns
    code = "from periplus.places import open_gazetteer; print(open_gazetteer().path.stat().st_mtime_ns)"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert int(out) == before
