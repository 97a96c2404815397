"""Finnish names with their endings in texts too short for common words."""

import pytest

from periplus.places import Gazetteer, locate
from periplus.places.finnish import is_finnish


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Oulussa sataa lunta.", 643492),
        ("Asun Turussa.", 633679),
        ("Helsingin kaupunginvaltuusto kokoontui eilen.", 658225),
        ("Jyväskylän messut alkavat huomenna.", 655194),
        ("Tampereen yliopisto avasi ovensa.", 634963),
    ],
)
def test_a_short_text_names_its_town(gazetteer: Gazetteer, text: str, place: int) -> None:
    assert [m.place.id for m in locate(text, gazetteer).mentions if m.place] == [place]


@pytest.mark.parametrize(
    "text",
    [
        "", "Leeds man jailed for fraud.", "Teen seen in Salla", "Vanessa and Camilla met", "Augusta police arrest man",
        "La festa della Camilla", "Das Haar ist nass", "De haas rent over het veld", "Una sala nella casa",
        "Tallinnas sajab lund", "Melissa Mustonen won",
    ],
)  # fmt: skip
def test_other_languages_are_not_taken_for_it(text: str) -> None:
    assert not is_finnish(text)


def test_long_texts_have_common_words() -> None:
    assert is_finnish("Oulussa sataa lunta.")
    assert not is_finnish("Oulussa sataa lunta. " * 20)
