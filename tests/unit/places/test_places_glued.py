"""Main names as URLs write them: the compiled tables say what reading every name would say."""

import random
from collections import defaultdict

import pytest

from periplus.places import Gazetteer, GluedNames, glue, words_of
from periplus.places.glued import glued_tables


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("São Paulo", ["sao", "paulo"]),
        ("Coeur d'Alene", ["coeur", "dalene"]),
        ("St. Mary's 3rd", ["st", "marys", "rd"]),
        ("Łódź", ["łodz"]),
        ("12_34", []),
    ],
)
def test_words_have_no_capitals_accents_and_apostrophes(text: str, words: list[str]) -> None:
    assert words_of(text) == words
    assert glue(text) == "".join(words)


def test_names_are_found_whole_and_by_their_words_in_the_order_of_their_rows() -> None:
    found = GluedNames(glued_tables(["York", "New York", "Newyork", "East York", "York York", "7"]))
    assert found.rows("york") == [0]
    assert found.rows("newyork") == [1, 2]
    assert found.with_word("york") == [1, 3, 4]
    assert found.rows("") == [5]
    assert "eastyork" in found
    assert "westyork" not in found
    assert found.rows("westyork") == found.with_word("west") == []


def test_the_gazetteer_has_every_main_name(gazetteer: Gazetteer) -> None:
    whole, parts = defaultdict(list), defaultdict(list)
    for row, name in enumerate(gazetteer.main_names()):
        words = words_of(name)
        whole["".join(words)].append(row)
        for word in set(words) if len(words) > 1 else ():
            parts[word].append(row)
    some = random.Random(7)
    for word in some.sample(sorted(whole), 2_000):
        assert gazetteer.glued.rows(word) == whole[word]
    for word in some.sample(sorted(parts), 2_000):
        assert gazetteer.glued.with_word(word) == parts[word]
