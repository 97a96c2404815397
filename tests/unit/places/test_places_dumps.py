"""Building from dumps: what is taken, what is counted, what is refused, and what a broken cache says."""

import json
import zipfile
from pathlib import Path

import pytest

from periplus.errors import GazetteerMissing, UsageError
from periplus.places import Gazetteer, cache, open_gazetteer
from periplus.places.cache import RECIPE, build_from, built_path, compile_gazetteer, rebuild
from periplus.places.container import read_container, write_container
from periplus.places.sources import Draft, Gathered

US, OREGON = 6252001, 5744337


def base() -> Gathered:
    drafts = [
        Draft("world", 6295630, "World", "world", names=[("World", 0)]),
        Draft("+NA", 6255149, "North America", "continent", parent="world", names=[("North America", 0)]),
        Draft("US", US, "United States", "country", "US", "", 39.8, -98.5, 0, "+NA", names=[("United States", 0)]),
        Draft("US.OR", OREGON, "Oregon", "admin1", "US", "OR", parent="US", names=[("Oregon", 0)], located=False),
    ]
    return Gathered({d.key: d for d in drafts}, [])


def row(identifier: object, name: str, **other: object) -> str:
    """A row of allCountries."""
    columns = {
        "id": identifier, "name": name, "ascii": name, "others": "", "lat": 45.5, "lon": -122.6, "class": "P",
        "code": "PPL", "country": "US", "cc2": "", "admin1": "OR", "admin2": "", "admin3": "", "admin4": "",
        "people": 5000, "up": "", "dem": 50, "zone": "America/Los_Angeles", "day": "2024-01-01",
    } | other  # fmt: skip
    return "\t".join(str(value) for value in columns.values())


DUMP = [
    row(1, "Riverton", others="Ривертон,RVT,riverton", admin2="051"),
    row(2, "Hamlet", people=20),
    row(3, "Big River", admin1="", people=0, code="STM", others="Rio Norte,Wide River", **{"class": "H"}),
    row(4, "Nameless Creek", **{"class": "H", "code": "STM", "people": 0}),
    row(OREGON, "Oregon", **{"class": "A", "code": "ADM1", "lat": 44.0, "lon": -120.5, "people": 4_000_000}),
    row(5, "Court House", **{"class": "S"}),
    "too\tfew", row("x", "Not A Number"), row(6, "Pole", lat=99), row(7, "Nan", lat="nan"), row(8, ""),
    row(10**30, "Huge"), row(9, "Crowd", people=10**30), row(10, "Bad \udcff Bytes"), "",
]  # fmt: skip


@pytest.fixture
def dumps(tmp_path: Path) -> list[Path]:
    (tmp_path / "allCountries.txt").write_text("\n".join(DUMP) + "\n", encoding="utf-8", errors="surrogateescape")
    (tmp_path / "admin2Codes.txt").write_text("US.OR.051\tMultnomah County\tMultnomah County\t5742126\nbad\n", "utf-8")
    names = [
        "1\t1\tde\tFlussstadt\t\t\t\t", "2\t1\tru\tРечной\t\t\t\t", "3\t1\tde\tFlußstadt\t1\t\t\t",
        "4\t1\tlink\thttps://example.org/\t\t\t\t", "5\t999\ten\tUnknown Place\t\t\t\t", "6\tx\ten\tBroken\t\t\t\t",
    ]  # fmt: skip
    (tmp_path / "alternateNamesV2.txt").write_text("\n".join(names), "utf-8")
    (tmp_path / "hierarchy.txt").write_text("3\t1\tADM\n3\t3\tADM\nx\ty\n", "utf-8")
    return [tmp_path / f"{n}.txt" for n in ("alternateNamesV2", "hierarchy", "allCountries", "admin2Codes")]


def test_dumps_give_places_names_and_hierarchy(dumps: list[Path], tmp_path: Path) -> None:
    gathered = build_from(dumps, tmp_path / "g.bin", base=base(), features=True)
    gazetteer = open_gazetteer(tmp_path / "g.bin")
    town = gazetteer.resolve("Riverton")
    assert town.path == ("World", "North America", "United States", "Oregon", "Multnomah County", "Riverton")
    assert gazetteer.resolve("Ривертон").id == gazetteer.resolve("Flussstadt").id == 1
    assert gazetteer.names_by_language(1) == {"de": "Flußstadt", "ru": "Речной"}
    assert (gazetteer.resolve("Oregon").point.lat, gazetteer.resolve("Oregon").population) == (44.0, 4_000_000)
    assert gazetteer.resolve("Wide River").kind == "feature"
    for absent in ("Hamlet", "Nameless Creek", "Court House", "Pole", "Huge", "Crowd"):
        assert gazetteer.find(absent) == []
    assert gathered.skipped == {
        "wrong number of columns": 2, "number that is none": 1, "coordinates out of range": 2,
        "place without a name": 1, "id or population out of range": 2, "division row": 1, "alternate name row": 1,
        "hierarchy row": 1, "place around itself": 1,
    }  # fmt: skip


def test_features_and_small_towns_are_left_to_the_user(dumps: list[Path], tmp_path: Path) -> None:
    build_from(dumps[2:3], tmp_path / "g.bin", base=base(), min_population=1)
    gazetteer = open_gazetteer(tmp_path / "g.bin")
    assert gazetteer.find("Hamlet")
    assert not gazetteer.find("Wide River")


def test_zipped_dumps_and_broken_archives(dumps: list[Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "US.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "x")
        archive.write(dumps[2], "US.txt")
    build_from([tmp_path / "US.zip"], tmp_path / "g.bin", base=base())
    assert open_gazetteer(tmp_path / "g.bin").find("Riverton")
    whole = (tmp_path / "US.zip").read_bytes()
    for name, data in {
        "cut": whole[:300],
        "noise": b"noise" * 99,
        "bits": whole[:150] + b"\0" * 99 + whole[249:],
    }.items():
        (tmp_path / f"{name}.zip").write_bytes(data)
        with pytest.raises(UsageError, match=f"cannot read .*{name}.zip"):
            build_from([tmp_path / f"{name}.zip"], tmp_path / "x.bin", base=base())
    with zipfile.ZipFile(tmp_path / "none.zip", "w"):
        pass
    with pytest.raises(UsageError, match="empty archive"):
        build_from([tmp_path / "none.zip"], tmp_path / "x.bin", base=base())
    assert not (tmp_path / "x.bin").exists()


def test_progress_is_reported_for_every_file(dumps: list[Path], tmp_path: Path) -> None:
    seen: dict[str, float] = {}
    build_from(dumps, tmp_path / "g.bin", base=base(), progress=seen.__setitem__)
    assert {"allCountries.txt", "alternateNamesV2.txt", "names", "done"} <= seen.keys()
    assert all(0.0 <= share <= 1.0 for share in seen.values())


@pytest.mark.parametrize(
    "record",
    [
        {"name": "A", "lat": 1, "lon": 2, "id": 10**30},
        {"name": "A", "lat": "x", "lon": 2},
        {"name": "A", "geometry": {"type": "Polygon", "coordinates": [[[0, 0]]]}},
        {"name": "A", "geometry": "POINT(1 1)"},
        {"name": "A", "geometry": {"type": "Point", "coordinates": []}},
        {"name": "A", "lat": 1, "lon": 2, "population": "inf"},
        {"name": None, "lat": 1, "lon": 2},
    ],
)
def test_bad_records_are_counted(record: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps(record) + "\n" + json.dumps({"name": "Good \ud800", "lat": 1, "lon": 2}), "utf-8")
    gathered = build_from([file], tmp_path / "g.bin", base=base())
    assert sum(gathered.skipped.values()) == 1
    assert open_gazetteer(tmp_path / "g.bin").find("Good ?")


def test_places_around_themselves_are_untied(tmp_path: Path) -> None:
    rows = [
        {"name": "Inner", "id": 71, "lat": 1, "lon": 2, "parent": "72"},
        {"name": "Outer", "id": 72, "lat": 1, "lon": 2, "parent": "71"},
        {"name": "Inner", "id": 71, "lat": 1, "lon": 2, "parent": "72"},
    ]
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps(r) for r in rows), "utf-8")
    gathered = build_from([file], tmp_path / "g.bin", base=base())
    assert gathered.skipped["place around itself"] == 1
    gazetteer = open_gazetteer(tmp_path / "g.bin")
    assert all(gazetteer.place(i).path[0] == "World" and len(gazetteer.place(i).path) < 4 for i in (71, 72))


@pytest.fixture
def small_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of one's own, where the bundled gazetteer is a small one."""
    monkeypatch.setenv("PERIPLUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "gather", lambda _progress: base())
    return tmp_path / "cache"


def test_a_broken_cache_is_loud_and_build_repairs_it(small_cache: Path) -> None:
    path = open_gazetteer().path
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", b"\0" * 5000, whole[:16] + b"{}" + whole[18:]):
        path.write_bytes(broken)
        with pytest.raises(GazetteerMissing, match="periplus gazetteer build"):
            open_gazetteer()
        assert rebuild() == path
        assert len(open_gazetteer()) == 4


def test_a_gazetteer_of_another_version_is_refused(small_cache: Path) -> None:
    compile_gazetteer(built_path())
    assert open_gazetteer().path == built_path()
    kept = read_container(built_path())
    arrays = {name: array.copy() for name, array in kept.arrays.items()}
    write_container(built_path(), arrays, {}, kept.meta | {"recipe": RECIPE - 1}, kept.digest)
    with pytest.raises(GazetteerMissing, match=r"another version.*periplus gazetteer build"):
        open_gazetteer()


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from periplus.errors import DiskFull

    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("PERIPLUS_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(cache, "gather", lambda _progress: base())
    with pytest.raises(DiskFull, match="PERIPLUS_CACHE"):
        open_gazetteer()


@pytest.mark.parametrize(
    ("name", "kind", "parent"),
    [
        ("Danube", "feature", "Europe"),
        ("Rhine", "feature", "Europe"),
        ("Alps", "feature", "Europe"),
        ("Nile River", "feature", "Africa"),
        ("Lake Victoria", "feature", "Africa"),
        ("Mount Everest", "feature", "Asia"),
        ("Andes", "feature", "South America"),
        ("富士山", "feature", "Japan"),
        ("Grand Canyon", "feature", "Arizona"),
        ("Melbourne", "city", "Victoria"),
        ("Lisbon", "city", "Lisbon"),
        ("London", "city", "Greater London"),
        ("München", "city", "Upper Bavaria"),
        ("東京", "city", "Tokyo"),
        ("Москва", "city", "Moscow"),
        ("القاهرة", "city", "Cairo"),
        ("Georgia", "country", "Asia"),
    ],
)
def test_famous_names_come_first(gazetteer: Gazetteer, name: str, kind: str, parent: str) -> None:
    first = gazetteer.find(name)[0]
    assert (first.kind, first.path[-2]) == (kind, parent)


def test_every_place_hangs_from_the_world_and_lies_in_its_extent(gazetteer: Gazetteer) -> None:
    a = gazetteer.arrays
    outside = 0
    for row_number in range(0, len(gazetteer), 97):
        place = gazetteer.place_at(row_number)
        assert place.path[0] == "World"
        extent = gazetteer.extent(place.id)
        outside += extent is not None and not extent.contains(place.point)
    assert outside == 0
    assert sorted({gazetteer.place_at(int(r)).kind for r in a["row_country"][a["row_country"] >= 0][:500]}) == [
        "country"
    ]
    fiji = gazetteer.resolve("Fiji")
    extent = gazetteer.extent(fiji.id)
    assert extent is not None
    assert extent.crosses_antimeridian
    assert extent.contains(fiji.point)
