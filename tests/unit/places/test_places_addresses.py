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
    ],
)
def test_what_is_no_address(gazetteer: Gazetteer, text: str) -> None:
    assert find_addresses(text, gazetteer) == ()


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
    "unit", ["1 ", "12 A ", "12 N. A ", "1 Main St ", "1 Main St, A ", "1 A B C D E F G H ", "St. ", "\n1\n"]
)
def test_hostile_text_costs_no_more_than_its_length(gazetteer: Gazetteer, unit: str) -> None:
    text = unit * (200_000 // len(unit))
    with bounded_effort():
        find_addresses(text, gazetteer)
