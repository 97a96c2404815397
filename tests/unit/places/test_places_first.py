"""The public face of the room."""

import pytest

from periplus.errors import PlaceError
from periplus.places import Gazetteer, RelationKind, locate, relation


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Portland, OR", 5746545),
        ("Portland, Oregon", 5746545),
        ("portland, me", 4975802),
        ("Lisbon, Portugal", 2267057),
        ("Lisbon, NH", 5088728),
        ("Springfield, IL, US", 4250542),
        ("5128581", 5128581),
        ("Paris", 2988507),
        ("São Paulo", 3448439),
        ("SAO PAULO", 3448439),
        ("北京", 1816670),
    ],
)
def test_resolves(gazetteer: Gazetteer, name: str, expected: int) -> None:
    assert gazetteer.resolve(name).id == expected


def test_ambiguous_names_list_their_candidates(gazetteer: Gazetteer) -> None:
    with pytest.raises(PlaceError, match=r"Springfield, MO, US \(id 4409896\); Springfield, MA, US"):
        gazetteer.resolve("Springfield")


def test_unknown_names_get_suggestions(gazetteer: Gazetteer) -> None:
    with pytest.raises(PlaceError, match="did you mean Houston"):
        gazetteer.resolve("Houstn")


def test_a_city_lies_in_its_state_and_country(gazetteer: Gazetteer) -> None:
    assert relation(4250542, 6252001, gazetteer).kind is RelationKind.CONTAINED
    assert gazetteer.is_within(4250542, 4896861)
    assert gazetteer.place(4250542).path[-3:] == ("Illinois", "Sangamon County", "Springfield")


def test_locate_finds_mentions_addresses_and_footprint(gazetteer: Gazetteer) -> None:
    text = "Joe's Pizza\n1200 Main Street, Springfield, IL 62701\nFloods hit Sylhet, Bangladesh."
    located = locate(text, gazetteer)
    names = {m.text: m.place.id for m in located.mentions if m.place}
    assert names["Springfield"] == 4250542
    assert names["Bangladesh"] == 1210997
    assert [text[m.start : m.end] for m in located.mentions] == [m.text for m in located.mentions]
    assert [(a.street_number, a.street, a.zip, a.place_id) for a in located.addresses] == [
        ("1200", "Main Street", "62701", 4250542)
    ]
    assert located.footprint.main is not None
    assert located.footprint.main.name == "Springfield"
