"""From text to terms: pages and questions meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.index import fold, forms, is_stop_word
from periplus.index.analysis import final_analyzer, prepare
from periplus.index.schema import host_and_words


def terms(text: str, language: str) -> list[str]:
    return list(final_analyzer().analyze(prepare(text, language)))


@pytest.mark.parametrize(
    ("page", "language", "question"),
    [
        ("The restaurants were flooded", "en", "restaurant"),
        ("The restaurants were flooded", "en", "flooding"),
        ("Les musées sont fermés", "fr", "musee"),
        ("Die Häuser am Fluss", "de", "Haus"),
        ("Die Häuser am Fluss", "de-AT", "häuser"),
        ("os restaurantes da cidade", "pt-BR", "restaurante"),
        ("наводнения в городе", "ru", "наводнение"),
        ("東京の新宿にあるラーメン店", "ja", "ラーメン"),
        ("東京の新宿", "ja", "新宿"),
        ("강남구 맛집", "ko", "맛집"),
        ("Ünknown lánguage", "", "unknown"),
    ],
)
def test_a_question_finds_the_word_in_the_language_of_the_page(page: str, language: str, question: str) -> None:
    found = terms(page, language)
    sequences = forms(question, frozenset({language.split("-", maxsplit=1)[0]}))
    assert any(set(sequence) <= set(found) for sequence in sequences)


@given(st.text(max_size=200))
def test_folding_keeps_offsets(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(st.text(max_size=200), st.sampled_from(["", "en", "de", "fr", "ja", "xx", "pt-BR"]))
def test_any_text_can_be_prepared(text: str, language: str) -> None:
    terms(text, language)
    forms(text, frozenset({language}))


def test_words_that_say_nothing() -> None:
    assert is_stop_word("the", frozenset())
    assert is_stop_word("The", frozenset())
    assert is_stop_word("und", frozenset({"de"}))
    assert not is_stop_word("und", frozenset())
    assert not is_stop_word("flood", frozenset({"de", "fr"}))


def test_words_of_addresses() -> None:
    assert host_and_words("http://a.example/new-york_pizza%20bar?x=1") == (
        "a.example",
        "a example new york pizza bar x 1",
    )
    assert host_and_words("http://[broken") == ("", "")
