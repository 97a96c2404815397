"""Street names: TIGER/Line tables as the Census Bureau publishes them, tables of one's own, what is broken."""

from pathlib import Path

import pytest
import shapefile

from periplus.errors import UsageError
from periplus.places import Gazetteer, find_addresses
from periplus.places.streets import StreetNames, street_key

ADDRFEAT = (
    ("TLID", "N", 10), ("TFIDL", "N", 10), ("TFIDR", "N", 10), ("ARIDL", "C", 22), ("ARIDR", "C", 22),
    ("LINEARID", "C", 22), ("FULLNAME", "C", 100), ("LFROMHN", "C", 12), ("LTOHN", "C", 12), ("RFROMHN", "C", 12),
    ("RTOHN", "C", 12), ("ZIPL", "C", 5), ("ZIPR", "C", 5), ("EDGE_MTFCC", "C", 5), ("ROAD_MTFCC", "C", 5),
    ("PARITYL", "C", 1), ("PARITYR", "C", 1), ("PLUS4L", "C", 4), ("PLUS4R", "C", 4), ("LFROMTYP", "C", 1),
    ("LTOTYP", "C", 1), ("RFROMTYP", "C", 1), ("RTOTYP", "C", 1), ("OFFSETL", "C", 1), ("OFFSETR", "C", 1),
)  # fmt: skip
FEATNAMES = (
    ("TLID", "N", 10), ("FULLNAME", "C", 100), ("NAME", "C", 100), ("PREDIRABRV", "C", 15), ("PRETYPABRV", "C", 50),
    ("PREQUALABR", "C", 15), ("SUFDIRABRV", "C", 15), ("SUFTYPABRV", "C", 50), ("SUFQUALABR", "C", 15),
    ("PREDIR", "C", 2), ("PRETYP", "C", 3), ("PREQUAL", "C", 2), ("SUFDIR", "C", 2), ("SUFTYP", "C", 3),
    ("SUFQUAL", "C", 2), ("LINEARID", "C", 22), ("MTFCC", "C", 5), ("PAFLAG", "C", 1),
)  # fmt: skip
ADDR = (
    ("TLID", "N", 10), ("FROMHN", "C", 12), ("TOHN", "C", 12), ("SIDE", "C", 1), ("ZIP", "C", 5), ("PLUS4", "C", 4),
    ("FROMTYP", "C", 1), ("TOTYP", "C", 1), ("ARID", "C", 22), ("MTFCC", "C", 5),
)  # fmt: skip


def write(path: Path, columns: tuple[tuple[str, str, int], ...], *rows: dict[str, object]) -> Path:
    """A shapefile's table (with lines for ADDRFEAT, which has a geometry) in the real column layout."""
    spatial = columns is ADDRFEAT
    with shapefile.Writer(str(path), shapeType=shapefile.POLYLINE if spatial else shapefile.NULL) as out:
        for name, kind, size in columns:
            out.field(name, kind, size=size)
        for row in rows:
            out.record(**{name: row.get(name, 0 if kind == "N" else "") for name, kind, _ in columns})
            if spatial:
                out.line([[[-89.65, 39.80], [-89.64, 39.80]]])
            else:
                out.null()
    return path.with_suffix(".dbf")


GOOD = "12 W. Main St., Springfield, IL 62701"
BAD = "12 Unreal Road, Springfield, IL 62701"


def test_addrfeat_gives_names_by_the_zips_of_both_sides(gazetteer: Gazetteer, tmp_path: Path) -> None:
    table = write(
        tmp_path / "tl_2023_17167_addrfeat", ADDRFEAT,
        {"TLID": 1, "FULLNAME": "W Main St", "ZIPL": "62701", "ZIPR": "62702", "ROAD_MTFCC": "S1400"},
        {"TLID": 2, "FULLNAME": "N 5th St", "ZIPL": "", "ZIPR": "62702"},
        {"TLID": 3, "FULLNAME": "", "ZIPL": "62701", "ZIPR": ""},
    )  # fmt: skip
    streets = StreetNames.read_tiger([table], gazetteer)
    assert {z: sorted(names) for z, names in streets.by_zip.items()} == {
        "62701": ["w main st"],
        "62702": ["n 5th st", "w main st"],
    }
    assert [a.level for a in find_addresses(GOOD, gazetteer, streets)] == ["street"]
    assert [a.level for a in find_addresses(BAD, gazetteer, streets)] == ["postal"]
    assert [a.level for a in find_addresses("1 Oak Road, Boise, ID 83702", gazetteer, streets)] == ["street"]


def test_featnames_with_the_address_ranges_beside_it(gazetteer: Gazetteer, tmp_path: Path) -> None:
    table = write(
        tmp_path / "tl_2023_17167_featnames", FEATNAMES,
        {"TLID": 10, "FULLNAME": "W Main St", "NAME": "Main", "MTFCC": "S1400", "PAFLAG": "P"},
        {"TLID": 10, "FULLNAME": "State Rte 97", "NAME": "State Rte 97", "MTFCC": "S1200", "PAFLAG": "A"},
        {"TLID": 11, "FULLNAME": "Sangamon Riv", "NAME": "Sangamon", "MTFCC": "H3010"},
    )  # fmt: skip
    write(tmp_path / "tl_2023_17167_addr", ADDR, {"TLID": 10, "FROMHN": "1", "TOHN": "99", "SIDE": "L", "ZIP": "62701"})
    streets = StreetNames.read_tiger([table], gazetteer)
    assert sorted(streets.by_zip["62701"]) == ["state rte 97", "w main st"]
    assert streets.skipped == {"not a road": 1}
    assert [a.level for a in find_addresses(BAD, gazetteer, streets)] == ["postal"]
    assert [a.level for a in find_addresses(GOOD, gazetteer, streets)] == ["street"]


def test_featnames_alone_counts_for_its_county(gazetteer: Gazetteer, tmp_path: Path) -> None:
    table = write(
        tmp_path / "tl_2023_17167_featnames", FEATNAMES, {"TLID": 10, "FULLNAME": "W Main St", "MTFCC": "S1400"}
    )
    streets = StreetNames.read_tiger([table], gazetteer)
    assert [gazetteer.place(i).name for i in streets.by_area] == ["Sangamon County"]
    assert [a.level for a in find_addresses(BAD, gazetteer, streets)] == ["postal"]
    assert [a.level for a in find_addresses(GOOD, gazetteer, streets)] == ["street"]
    assert [a.level for a in find_addresses("1 Oak Road, Boise, ID 83702", gazetteer, streets)] == ["street"]


def test_tables_by_city_and_both_joined(gazetteer: Gazetteer, tmp_path: Path) -> None:
    table = tmp_path / "streets.csv"
    table.write_text(
        "Street,City,State,ZIP\nWest Main Street,Springfield,IL,\n"
        "Oak Road,Boise,ID,83702\nElm,Nowhere,ZZ,\n,Boise,ID,\n",
        encoding="utf-8",
    )
    streets = StreetNames.read_csv(table, gazetteer)
    assert streets.skipped == {"no ZIP and no known city": 1, "no street name": 1}
    assert set(streets.by_zip) == {"83702"}
    both = streets.joined(StreetNames({}, {"62701": frozenset({street_key("Unreal Road")})}))
    assert [a.level for a in find_addresses(BAD, gazetteer, both)] == ["street"]
    assert [a.level for a in find_addresses(BAD, gazetteer, streets)] == ["postal"]


@pytest.mark.parametrize("damage", ["absent", "empty", "noise", "columns", "cut"])
def test_what_is_no_tiger_table_is_said_in_one_line(gazetteer: Gazetteer, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "tl_2023_17167_addrfeat.dbf"
    if damage in ("columns", "cut"):
        made = write(path.with_suffix(""), ADDR if damage == "columns" else ADDRFEAT, {"TLID": 1})
        if damage == "cut":
            path.write_bytes(made.read_bytes()[:40])
    elif damage != "absent":
        path.write_bytes(b"" if damage == "empty" else b"\x07noise" * 99)
    with pytest.raises(UsageError, match=r"tl_2023_17167_addrfeat\.dbf") as caught:
        StreetNames.read_tiger([path], gazetteer)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("West 5th Avenue", "W. 5th Ave."),
        ("Queen Anne Ave. N.", "queen anne avenue north"),
        ("Pennsylvania Avenue, N.W.", "Pennsylvania Ave NW"),
        ("State Route 97", "State Rte 97"),
    ],
)
def test_spellings_of_one_street(one: str, other: str) -> None:
    assert street_key(one) == street_key(other)
