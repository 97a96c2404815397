"""Names that their sentence says are those of places, though they are words or people's names as well."""

import pytest

from periplus.places import Gazetteer, locate


def meant(gazetteer: Gazetteer, text: str) -> dict[str, str]:
    return {m.text: m.place.path[-1] for m in locate(text, gazetteer, language="en").mentions if m.place is not None}


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        ("Hull is a port in the north of England.", "Hull", "Kingston upon Hull"),
        ("Mobile was the largest city in those days.", "Mobile", "Mobile"),
        ("Thousands were evacuated from Feni in Bangladesh.", "Feni", "Feni"),
        ("Two people from Split in Croatia were arrested.", "Split", "Split"),
        ("He works for the City of Orange and lives near it.", "Orange", "Orange"),
    ],
)
def test_what_is_said_to_be_a_place_is_one(gazetteer: Gazetteer, text: str, name: str, place: str) -> None:
    """Of all of these nothing was found."""
    assert meant(gazetteer, text)[name] == place


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Police in Poland arrested two men.", "Police"),
        ("Split is the answer of a quiet city.", "Split"),
        ("Hope is the owner of a small port.", "Hope"),
        ("Hope was not a city girl.", "Hope"),
    ],
)
def test_what_is_said_of_words_and_people_is_not(gazetteer: Gazetteer, text: str, name: str) -> None:
    assert name not in meant(gazetteer, text)


@pytest.mark.parametrize(
    "text",
    [
        "We met at Christmas and again at Easter; most shops were closed.",
        "Christmas is coming. A Christmas market opened in Vienna before Christmas.",
        "Police were busy over Christmas, as they are at Halloween and Thanksgiving.",
    ],
)
def test_feasts_are_no_towns_that_are_called_after_them(gazetteer: Gazetteer, text: str) -> None:
    assert meant(gazetteer, text).keys() <= {"Vienna"}


def test_towns_called_after_feasts_are_found_with_their_state(gazetteer: Gazetteer) -> None:
    found = meant(gazetteer, "Christmas, Florida is a small town. Christmas Island belongs to Australia.")
    assert found["Christmas"] == "Christmas"
    assert found["Christmas Island"] == "Christmas Island"
