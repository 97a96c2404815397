"""Regions and counties that news speak of are themselves, never hamlets of their name."""

import pytest

from periplus.places import Gazetteer, locate
from periplus.places.lookup import resolve_row


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Peace in the Middle East is far away.", "Middle East"),
        ("The Maryland senator spoke in Baltimore about the Middle East.", "Middle East"),
        ("Trade with the Far East grew.", "Far East"),
        ("Farmers in the Midwest fear drought.", "Midwest"),
        ("Talks in the Balkans failed.", "Balkans"),
        ("Droughts in the Sahel grow worse.", "Sahel"),
        ("Startups in Silicon Valley lay off workers.", "Silicon Valley"),
        ("Jobs left the Rust Belt.", "Rust Belt"),
        ("Oil spills in the Niger Delta go on.", "Niger Delta"),
        ("West Midlands Police are investigating.", "West Midlands"),
    ],
)
def test_regions_are_regions(gazetteer: Gazetteer, text: str, name: str) -> None:
    kinds = {m.text.removeprefix("the "): m.place.kind for m in locate(text, gazetteer).mentions if m.place}
    assert kinds.get(name) == "region"


def test_the_hamlet_is_meant_with_its_state(gazetteer: Gazetteer) -> None:
    first = locate("Hundreds gathered in Middle East, Maryland, on Sunday.", gazetteer).mentions[0]
    assert first.place is not None
    assert first.place.id == 11980025


@pytest.mark.parametrize(
    ("text", "town", "place"),
    [
        ("Reading is a town in Berkshire.", "Reading", 2639577),
        ("Crewe is a railway town in Cheshire.", "Crewe", 2652002),
        ("Kettering in Northamptonshire is home to the charity.", "Kettering", 2645753),
        ("Halifax is a town in West Yorkshire.", "Halifax", 2647632),
    ],
)
def test_towns_lie_in_the_counties_that_they_are_said_to_lie_in(
    gazetteer: Gazetteer, text: str, town: str, place: int
) -> None:
    assert {m.text: m.place.id for m in locate(text, gazetteer).mentions if m.place}[town] == place


def test_a_county_of_the_same_name_elsewhere_is_still_found(gazetteer: Gazetteer) -> None:
    text = "The sheriff of Berkshire County, Mass., spoke in Pittsfield."
    assert "Massachusetts" in next(m.place.path for m in locate(text, gazetteer).mentions if m.place)


def test_a_region_is_what_people_type(gazetteer: Gazetteer) -> None:
    assert gazetteer.place_at(resolve_row(gazetteer, "Middle East")).kind == "region"


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Kent County Council approved the plan.", "GB"),
        ("Norfolk County Council has plans for its roads.", "GB"),
        ("Cork County Council warned of floods.", "IE"),
        ("The Howard County Council in Maryland voted.", "US"),
        ("Kent County, Michigan, has a new sheriff.", "US"),
    ],
)
def test_county_councils_are_british_and_irish_where_there_are_such(
    gazetteer: Gazetteer, text: str, country: str
) -> None:
    """ "Kent County" of Michigan was found in the first; of a county council that only America has, the county is."""
    assert {m.place.country for m in locate(text, gazetteer).mentions if m.place} == {country}
