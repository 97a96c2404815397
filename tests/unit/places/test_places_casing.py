"""Names without their usual capitals: small letters, capitals throughout, hashtags."""

import pytest

from periplus.places import Gazetteer, locate


def found(text: str, gazetteer: Gazetteer) -> dict[str, int]:
    return {m.text: m.place.id for m in locate(text, gazetteer).mentions if m.place is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("floods hit sylhet in northern bangladesh on monday", {"sylhet": 1185099, "bangladesh": 1210997}),
        ("i moved from los angeles to berlin last year", {"los angeles": 5368361, "berlin": 2950159}),
        ("restaurants in austin tx", {"austin": 4671654}),
        ("pizza in lisbon", {"lisbon": 2267057}),
        ("FLOODS HIT SYLHET ON MONDAY", {"SYLHET": 1185099}),
        ("POLICE IN HOUSTON, TEXAS, ARREST MAN", {"HOUSTON": 4699066, "TEXAS": 4736286}),
        ("#LosAngeles and #london are dry", {"LosAngeles": 5368361, "london": 2643743}),
    ],
)
def test_names_are_found_however_they_are_written(gazetteer: Gazetteer, text: str, expected: dict[str, int]) -> None:
    result = found(text, gazetteer)
    assert {name: result.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    "text",
    [
        "he was reading a book on his mobile phone in may and had a nice orange of his own",
        "#reading is #nice, #mobile #of #the",
        "They had no time for it, and london had none either.",  # a text with capitals means its small letters
    ],
)
def test_words_stay_words(gazetteer: Gazetteer, text: str) -> None:
    assert not found(text, gazetteer)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("#GazaUnderAttack", {"Gaza": 281133}),
        ("#PrayForBrazil", {"Brazil": 3469034}),
        ("#Ceasefire4Gaza", {"Gaza": 281133}),
        ("#NewYorkFloods", {"NewYork": 5128638}),
        ("#AfricaAgainstEbola", {"Africa": 6255146}),
        ("#MeToo", {}),
        ("#JordanPeele", {}),
        ("#HappyNewYear", {}),
        ("#JavaScript", {}),
        ("#gazaunderattack", {}),
    ],
)
def test_hashtags_of_several_words_hold_names(gazetteer: Gazetteer, tag: str, expected: dict[str, int]) -> None:
    text = f"Stop it now {tag}"
    assert found(text, gazetteer) == expected
    assert all(text[m.start : m.end] == m.text for m in locate(text, gazetteer).mentions)


def test_a_hashtag_is_one_mention_without_its_sign(gazetteer: Gazetteer) -> None:
    text = "Rain in #LosAngeles again"
    (mention,) = locate(text, gazetteer).mentions
    assert text[mention.start : mention.end] == mention.text == "LosAngeles"


def test_months_are_no_towns(gazetteer: Gazetteer) -> None:
    assert not found("It opens in March and closes in August, or in June if nobody comes.", gazetteer)
