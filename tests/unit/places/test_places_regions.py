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
    ("text", "said", "name", "country"),
    [
        ("Kent County Council approved the plan.", "Kent", "Kent", "GB"),
        ("Norfolk County Council has plans for its roads.", "Norfolk", "Norfolk", "GB"),
        ("Cork County Council warned of floods.", "Cork", "County Cork", "IE"),
        ("The Howard County Council in Maryland voted.", "Howard County", "Howard County", "US"),
        ("Kent County, Michigan, has a new sheriff.", "Kent County", "Kent County", "US"),
        ("Birmingham City Council has no money left.", "Birmingham", "Birmingham", "GB"),
        ("The Birmingham City Council in Alabama voted.", "Birmingham", "Birmingham", "US"),
        ("Hull City Council closed a bridge.", "Hull", "Kingston upon Hull", "GB"),
        ("Reading Borough Council closed a bridge.", "Reading", "Reading", "GB"),
        ("Houston City Council voted on Tuesday.", "Houston", "Houston", "US"),
        ("Durham County Council has plans for its roads.", "Durham", "County Durham", "GB"),
        ("Newcastle City Council closed a bridge.", "Newcastle", "Newcastle upon Tyne", "GB"),
        ("Newcastle City Council and Sydney agreed.", "Newcastle", "Newcastle", "AU"),
    ],
)
def test_what_councils_govern_is_found(gazetteer: Gazetteer, text: str, said: str, name: str, country: str) -> None:
    """ "Kent County" of Michigan was found in the first, and nothing in those of cities."""
    first = locate(text, gazetteer).mentions[0]
    assert first.place is not None
    assert (first.text, first.place.name, first.place.country) == (said, name, country)
    assert text[first.start : first.end] == said


@pytest.mark.parametrize(
    ("text", "name", "country"),
    [
        ("War in Congo has killed thousands.", "Congo", "CD"),
        ("The army of Congo fought rebels near Goma.", "Congo", "CD"),
        ("Congo's president flew to Brazzaville.", "Congo", "CG"),
        ("Ships left Norfolk on Monday.", "Norfolk", "US"),
        ("The trip to Granada was long.", "Granada", "ES"),
        ("The storm hit Grenada and Saint Lucia.", "Grenada", "GD"),
        ("The museum in Cambridge opens at nine.", "Cambridge", "GB"),
        ("Students from Cambridge and Boston won.", "Cambridge", "US"),
    ],
)
def test_of_namesakes_the_one_that_everybody_means(gazetteer: Gazetteer, text: str, name: str, country: str) -> None:
    """The smaller Congo was, Norfolk Island, Grenada (Granada in some languages), and Cambridge in Ontario."""
    mentions = locate(text, gazetteer, language="en").mentions
    assert country in [m.place.country for m in mentions if m.text == name and m.place]


def test_the_union_is_an_abbreviation_and_no_town(gazetteer: Gazetteer) -> None:
    text = "Farmers in the EU, in Norway and in the UK were paid."
    places = {m.text: m.place.name for m in locate(text, gazetteer).mentions if m.place}
    assert places["EU"] == "European Union"
    assert "Eu" not in {m.text for m in locate("Eu gosto de chuva em Lisboa.", gazetteer, language="pt").mentions}


def test_the_police_is_no_town(gazetteer: Gazetteer) -> None:
    assert not locate("Metropolitan Police said so. Police were called.", gazetteer).mentions


@pytest.mark.parametrize(
    ("text", "name", "country"),
    [
        ("The Kremlin denied it on Monday.", "Kremlin", "RU"),
        ("The president met them at Camp David.", "Camp David", "US"),
        ("Golden Gate Bridge, San Francisco, was closed.", "Golden Gate Bridge", "US"),
        ("Tower Bridge in London was closed.", "Tower Bridge", "GB"),
        ("Flights at Heathrow Airport were cancelled.", "Heathrow", "GB"),
    ],
)
def test_what_people_built_is_no_town_of_a_part_of_its_name(
    gazetteer: Gazetteer, text: str, name: str, country: str
) -> None:
    """They were in Oklahoma, Panama, Florida and Ireland, and the airport was nowhere."""
    first = locate(text, gazetteer).mentions[0]
    assert first.place is not None
    assert (first.place.name, first.place.country) == (name, country)


@pytest.mark.parametrize(
    ("name", "country"),
    [
        ("Camarines Sur", "Philippines"),
        ("Bukidnon", "Philippines"),
        ("Konawe Utara", "Indonesia"),
        ("Hainaut", "Belgium"),
        ("Vaucluse", "France"),
        ("Oromia", "Ethiopia"),
        ("North Kivu", "Democratic Republic of the Congo"),
        ("Hadramawt", "Yemen"),
        ("Puntland", "Somalia"),
        ("Noakhali", "Bangladesh"),
        ("Gandaki", "Nepal"),
        ("El Alto", "Bolivia"),
    ],
)
def test_provinces_are_found_by_what_everybody_calls_them(gazetteer: Gazetteer, name: str, country: str) -> None:
    """Lists have "Province of Camarines Sur", "Oromiya" and "Muhafazat Hadramaout": no text has these."""
    found = locate(f"Thousands were evacuated from {name} in {country} on Monday.", gazetteer).mentions
    first = next(mention.place for mention in found if mention.text == name)
    assert first is not None
    assert country in first.path


def test_a_division_keeps_its_full_name_too(gazetteer: Gazetteer) -> None:
    named = gazetteer.resolve("Province of Camarines Sur")
    assert named.name == "Camarines Sur"
    assert named.id == gazetteer.resolve("Camarines Sur").id
