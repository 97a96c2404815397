"""Names in lists, beside people, and behind words that say what they are."""

import pytest

from periplus.places import Gazetteer, locate

BOSTON, HOUSTON = 4930956, 4699066
NEW_YORK_CITY, NEW_YORK_STATE = 5128581, 5128638
THE_CAPITAL, THE_STATE = 4140963, 5815135


def meant(gazetteer: Gazetteer, text: str) -> dict[str, int]:
    return {m.text: m.place.id for m in locate(text, gazetteer).mentions if m.place is not None}


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        ("Flights leave Albany, New York, and Boston every hour.", "Boston", BOSTON),
        ("The storm hit Portland, Maine, and Houston on Monday.", "Houston", HOUSTON),
        ("Boston at New York, 7 p.m.", "Boston", BOSTON),
    ],
)
def test_a_large_city_is_not_in_the_state_of_the_pair_before_it(
    gazetteer: Gazetteer, text: str, name: str, place: int
) -> None:
    assert meant(gazetteer, text)[name] == place


def test_a_town_behind_a_pair_may_still_lie_in_its_state(gazetteer: Gazetteer) -> None:
    assert meant(gazetteer, "Stores in Buffalo, New York, and Rochester will open.")["Rochester"] == 5134086
    assert meant(gazetteer, "Fairs in Augusta, Maine, and Bangor.")["Bangor"] == 4957280


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Offices in London, Paris, Tokyo and New York will close.", NEW_YORK_CITY),
        ("Flights to Chicago, Boston and New York were cancelled.", NEW_YORK_CITY),
        ("The airline serves New York, Los Angeles and Miami.", NEW_YORK_CITY),
        ("He moved from New York to Washington.", NEW_YORK_CITY),
        ("New York and New Jersey sued the government.", NEW_YORK_STATE),
        ("New York, Connecticut and New Jersey agreed on tolls.", NEW_YORK_STATE),
    ],
)
def test_new_york_is_what_stands_beside_it_in_a_list(gazetteer: Gazetteer, text: str, place: int) -> None:
    assert meant(gazetteer, text)["New York"] == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Wildfires burned across Washington and Oregon on Tuesday.", THE_STATE),
        ("Fires in California, Oregon and Washington spread.", THE_STATE),
        ("Voters in Washington, Oregon and Idaho go to the polls.", THE_STATE),
        ("Talks went on. Washington and Moscow disagreed.", THE_CAPITAL),
        ("Boston, Austin and Washington", THE_CAPITAL),
        ("Portland, Oregon, and Washington officials agreed.", THE_CAPITAL),
        ("Congo and Rwanda signed a deal in Washington.", THE_CAPITAL),
    ],
)
def test_washington_is_a_state_among_states(gazetteer: Gazetteer, text: str, place: int) -> None:
    assert meant(gazetteer, text)["Washington"] == place


def test_one_list_of_states_does_not_move_a_page_about_the_capital(gazetteer: Gazetteer) -> None:
    text = (
        "Washington is calm. In Washington a vote was held. Senators of Oregon and Washington left. Washington waits."
    )
    assert meant(gazetteer, text)["Washington"] == THE_CAPITAL


def test_three_states_are_no_town_in_a_state(gazetteer: Gazetteer) -> None:
    assert meant(gazetteer, "Kansas, Oklahoma and Texas saw tornadoes.")["Kansas"] == 4273857
    assert meant(gazetteer, "Nevada, Missouri, is a small town.")["Nevada"] == 4400203


@pytest.mark.parametrize("text", ["Students marched in Santiago and Valparaíso.", "Valparaíso, Santiago and Lima"])
def test_a_state_elsewhere_or_around_its_city_changes_nothing(gazetteer: Gazetteer, text: str) -> None:
    found = meant(gazetteer, text)
    assert (found["Santiago"], found["Valparaíso"]) == (3871336, 3868626)


@pytest.mark.parametrize(
    "text",
    [
        "Supporters of Bush and Cheney cheered.",
        "Clinton, Bush and Obama attended the funeral.",
        "Bush, Blair and Aznar met at the summit.",
        "Bush and Gore debated for an hour.",
        "President Bush met reporters. Bush said he would veto the bill.",
        "Critics of Bush and Petersen were angry.",
    ],
)
def test_surnames_beside_surnames_are_people(gazetteer: Gazetteer, text: str) -> None:
    assert meant(gazetteer, text) == {}


def test_towns_with_surnames_stay_towns(gazetteer: Gazetteer) -> None:
    assert {"Clinton", "Jackson"} <= set(meant(gazetteer, "Schools in Clinton, Mississippi, and Jackson closed."))


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        ("The town of Orange in New South Wales was flooded.", "Orange", 2154219),
        ("The village of Nice in California", "Nice", 5376959),
        ("The city of Mobile approved the budget.", "Mobile", 4076598),
    ],
)
def test_common_words_are_places_where_they_are_said_to_be(
    gazetteer: Gazetteer, text: str, name: str, place: int
) -> None:
    assert meant(gazetteer, text)[name] == place
