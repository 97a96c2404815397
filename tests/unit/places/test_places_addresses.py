"""Postal addresses: the layouts people use, what is refused, street names, cost."""

from pathlib import Path

import pytest
from effort import bounded_effort

from periplus.errors import UsageError
from periplus.places import Gazetteer, find_addresses
from periplus.places.streets import StreetNames


@pytest.mark.parametrize(
    ("text", "street", "city_id", "zip_code"),
    [
        ("1200 Main Street, Springfield, IL 62701", "Main Street", 4250542, "62701"),
        ("Joe's\n452 W. 5th Ave. Suite 200\nGlendale, AZ 85301\nCall us", "W. 5th Ave.", 5295985, "85301"),
        ("Visit 2438 High Ridge Trail\nMadison, WI 53713", "High Ridge Trail", 5261457, "53713"),
        ("1301 Spring Street Apt # 201,\nMadison, WI 53715", "Spring Street", 5261457, "53715"),
        ("618 1/2 S. Mills St. Madison, WI 53715", "S. Mills St.", 5261457, "53715"),
        ("1210 West Dayton Street\nMadison, Wisconsin USA 53706", "West Dayton Street", 5261457, "53706"),
        ("833 Vernon Ave., Arlington, Texas.", "Vernon Ave.", 4671240, ""),
        ("10 Congress Square | Portland, ME 04101-1234", "Congress Square", 4975802, "04101-1234"),
        ("1600 Pennsylvania Avenue NW, Washington, DC 20500", "Pennsylvania Avenue NW", 4140963, "20500"),
        ("555 Hwy 71, Kansas City, MO 64106", "Hwy 71", 4393217, "64106"),
        ("1101 E. University, Urbana, IL 61801", "E. University", 4914570, "61801"),
        ("1319 F Street, NW Suite 500 Washington, D.C. 20004", "F Street, NW", 4140963, "20004"),
        ("130 West 42nd Street, New York, NY 10036", "West 42nd Street", 5128581, "10036"),
        ("100 Market St., St. Louis, MO 63101", "Market St.", 4407066, "63101"),
        ("4108 MARSEILLE ST LOUIS MO 63129", "MARSEILLE", 4407066, "63129"),
        ("12 Cannon Street\nCharleston, West Virginia 25301-1234", "Cannon Street", 4801859, "25301-1234"),
        ("511 South 300 West, Salt Lake City, UT 84101", "South 300 West", 5780993, "84101"),
        ("11950 FM 998, Dalhart, TX 79022", "FM 998", 5519862, "79022"),
        ("46-237 Heeia Street\nKaneohe, Hawaii 96744", "Heeia Street", 5848189, "96744"),
        ("600-S, South Loop Road\nHuntsville, AL 35805", "South Loop Road", 4068590, "35805"),
        ("15812 - 130th Pl SE\nRenton, WA 98058", "130th Pl SE", 5808189, "98058"),
        ("975 University Avenue\n2240 Grainger Hall\nMadison WI 53706", "University Avenue", 5261457, "53706"),
        ("545 Technology Square, Room 620A / Cambridge, MA 02139", "Technology Square", 4931972, "02139"),
        ("4542 SW 75 Avenue, Miami, FL.", "SW 75 Avenue", 4164138, ""),
        ("2025 Guadalupe, Austin, TX 78705", "Guadalupe", 4671654, "78705"),
        ("8528 davis blvd # 134, dallas tx 75201", "davis blvd", 4684888, "75201"),
        ("600 Mountain Avenue\nMurray Hill, NJ 07974", "Mountain Avenue", 5101775, "07974"),
    ],
)
def test_layouts(gazetteer: Gazetteer, text: str, street: str, city_id: int, zip_code: str) -> None:
    (address,) = find_addresses(text, gazetteer)
    assert (address.street, address.place_id, address.zip, address.level) == (street, city_id, zip_code, "street")
    assert text[address.start : address.end] == address.text


@pytest.mark.parametrize(
    "text",
    [
        "In 2005 Main Street was closed, Springfield said.",
        "He ran 100 Meters Road races in Texas.",
        "The 12 Apostles Road, Lorne, Victoria 3232",
        "1200 Main Street, Springfield, ZZ 62701",
        "1200 Main Street, Nosuchtown, IL 62701",
        "Flight 1200 Drive Time, Dallas Cowboys",
        "August 1995\nCornell Theory Center, Ithaca, NY",
        "He was 34 Theory Center, Ithaca, NY",
        "In the fall of 1996 Main Street was full. Madison, Wisconsin",
        "Box 12 Main Street\nwas sold in Texas",
    ],
)
def test_what_is_no_address(gazetteer: Gazetteer, text: str) -> None:
    assert find_addresses(text, gazetteer) == ()


@pytest.mark.parametrize(
    "text",
    [
        "5137 Upson Hall\nIthaca, NY 14853",
        "1301 Computer Sciences, Madison, WI 53706",
        "Copyright 1996 Joe Smith Austin, TX 78712",
        "Call 471-9549 Ann Lee Austin, TX 78712",
        "Hwy 16 And Minnesota Rd NW, Preston, MN 55965",
        "dept 33513 po box 39000 san francisco ca 94139",
    ],
)
def test_rooms_years_phones_and_crossings_are_no_houses(gazetteer: Gazetteer, text: str) -> None:
    assert [a.level for a in find_addresses(text, gazetteer)] == ["postal"]


def test_units_and_boxes_are_kept(gazetteer: Gazetteer) -> None:
    (flat,) = find_addresses("452 W. 5th Ave., Suite 200\nGlendale, AZ 85301", gazetteer)
    (box,) = find_addresses("Contact Quarterly, P.O. Box 603, Northampton MA 01061", gazetteer)
    assert (flat.street, flat.unit) == ("W. 5th Ave.", "Suite 200")
    assert (box.level, box.street, box.text) == ("postal", "P.O. Box 603", "P.O. Box 603, Northampton MA 01061")


def test_the_zip_vouches_for_a_misspelt_city_but_not_for_any(gazetteer: Gazetteer) -> None:
    (address,) = find_addresses("1 E. Wacker Dr., Ste. 2350, Chicag, IL 60601", gazetteer)
    assert gazetteer.place(address.place_id).name == "Chicago"
    assert find_addresses("1 E. Wacker Dr., Ste. 2350, Zzyzx, IL 60601", gazetteer) == ()


def test_a_city_with_its_zip_is_a_postal_entity(gazetteer: Gazetteer) -> None:
    text = "Box 352350, Seattle, WA 98195. Not one: Seattle, WA 02134."
    (address,) = find_addresses(text, gazetteer)
    assert (address.level, address.city, address.place_id) == ("postal", "Seattle", 5809844)


def test_the_post_offices_names_count(gazetteer: Gazetteer) -> None:
    (address,) = find_addresses("100 Ocean Drive, Miami Bch, FL 33139", gazetteer) or (None,)
    (other,) = find_addresses("100 Ocean Drive, Miami Beach, FL 33139", gazetteer)
    assert other.place_id == 4164143
    assert address is None or address.place_id == other.place_id


def test_several_addresses_keep_their_order(gazetteer: Gazetteer) -> None:
    text = "1 A Street, Dallas, TX 75201; 22 B Avenue, Boise, ID 83702; Austin, TX 78712"
    found = find_addresses(text, gazetteer)
    assert [(a.city, a.level) for a in found] == [("Dallas", "street"), ("Boise", "street"), ("Austin", "postal")]


def test_street_names_refuse_what_does_not_exist(gazetteer: Gazetteer, tmp_path: Path) -> None:
    table = tmp_path / "streets.csv"
    table.write_text("street,city,state\nWest Main Street,Springfield,IL\n", encoding="utf-8")
    streets = StreetNames.read_csv(table, gazetteer)
    good, bad = "12 W. Main St., Springfield, IL 62701", "12 Unreal Road, Springfield, IL 62701"
    assert len(find_addresses(good, gazetteer, streets)) == 1
    assert [a.level for a in find_addresses(bad, gazetteer, streets)] == ["postal"]
    assert len(find_addresses("12 Unreal Road, Boise, ID 83702", gazetteer, streets)) == 1  # Boise is not judged


def test_a_table_without_the_columns_says_so(gazetteer: Gazetteer, tmp_path: Path) -> None:
    table = tmp_path / "streets.csv"
    table.write_text("road,town\nx,y\n", encoding="utf-8")
    with pytest.raises(UsageError, match="columns street and zip"):
        StreetNames.read_csv(table, gazetteer)


@pytest.mark.parametrize(
    "unit",
    [
        "1 ", "12 A ", "12 N. A ", "1 Main St ", "1 Main St, A ", "1 A B C D E F G H ", "St. ", "\n1\n",
        f"1 Main Str{'9' * 58}eet, Springfield, IL 62701. ", f"1 Main St{'1A' * 40}, Springfield, IL 62701. ",
    ],
)  # fmt: skip
def test_hostile_text_costs_no_more_than_its_length(gazetteer: Gazetteer, unit: str) -> None:
    text = unit * (200_000 // len(unit))
    with bounded_effort():
        find_addresses(text, gazetteer)
