"""The parts of query understanding: words, snippets, names, buckets."""

import contextlib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import QueryError
from periplus.index import day_number
from periplus.model import LonLat
from periplus.search.atlas import Atlas, KnownPlace, rank
from periplus.search.request import SearchRequest, parse_bbox, parse_day, parse_near
from periplus.search.snippets import Marker, merge
from periplus.search.trend import bucket_days
from periplus.search.words import Word, take_apart

texts = st.text(max_size=400)


# -- Words -----------------------------------------------------------------------------------------


def test_a_question_taken_apart() -> None:
    parsed = take_apart('pizza "wood oven" -pineapple tea OR coffee site:example.org -site:b.example place:"New York"')
    assert [word.text for word in parsed.words] == ["pizza", "wood oven", "pineapple", "tea", "coffee"]
    assert parsed.words[1].quoted
    assert parsed.words[2].excluded
    assert parsed.words[4].alternative
    assert [(o.name, o.value, o.excluded) for o in parsed.operators] == [
        ("site", "example.org", False),
        ("site", "b.example", True),
        ("place", "New York", False),
    ]


def test_commas_are_remembered_and_unknown_operators_are_words() -> None:
    assert take_apart("Lisbon, NH").words == (Word("Lisbon", comma=True), Word("NH"))
    assert [word.text for word in take_apart("colour:red").words] == ["colour:red"]


@given(texts)
def test_any_text_is_a_question_or_a_query_error(text: str) -> None:
    with contextlib.suppress(QueryError):
        assert all(word.text for word in take_apart(text).words)


@given(texts)
def test_any_text_is_a_box_or_a_query_error(text: str) -> None:
    for parse in (parse_bbox, parse_near, lambda value: parse_day(value, "since")):
        with contextlib.suppress(QueryError):
            parse(text)


def test_the_ends_of_spans() -> None:
    assert parse_day("2024-02", "until", last=True) == date(2024, 2, 29)
    assert parse_day("2024-12", "until", last=True) == date(2024, 12, 31)
    assert parse_day("2024", "until", last=True) == date(2024, 12, 31)
    assert parse_day("2024-2-3", "since") == date(2024, 2, 3)


def test_requests_have_bounds() -> None:
    assert SearchRequest.of("x", offset=9_990, limit=10).offset == 9_990
    with pytest.raises(QueryError, match="offset"):
        SearchRequest.of("x", offset=9_991, limit=10)


# -- Snippets --------------------------------------------------------------------------------------


@given(text=texts, words=st.lists(st.text(min_size=1, max_size=12), max_size=4), name=st.text(max_size=10))
def test_marks_lie_in_the_snippet_in_order(text: str, words: list[str], name: str) -> None:
    marker = Marker(words, [name], frozenset({"en", "fr"}))
    snippet = marker.snippet(text, [(0, min(3, len(text)))])
    last = 0
    for mark in snippet.marks:
        assert last <= mark.start < mark.end <= len(snippet.text)
        last = mark.end
    assert len(snippet.text) <= 300


@given(before=st.text(alphabet="<>&\"' abc", max_size=50), after=st.text(alphabet="<>&\"' abc", max_size=50))
def test_what_is_marked_is_the_word(before: str, after: str) -> None:
    snippet = Marker(["floods"], [], frozenset()).snippet(f"{before} Flooding {after}")
    assert "Flooding" in [snippet.text[mark.start : mark.end] for mark in snippet.marks]


def test_a_snippet_shows_the_place_where_the_words_are() -> None:
    text = "Nothing to see here. " * 100 + "The harbour of Porto has a ferry. " + "More nothing. " * 100
    snippet = Marker(["ferry"], ["Porto"], frozenset()).snippet(text)
    assert "harbour of Porto has a ferry" in snippet.text
    assert snippet.text.startswith("… ")
    assert snippet.text.endswith(" …")


def test_a_mark_that_ends_within_white_space_ends_with_what_it_became() -> None:
    snippet = Marker([], [], frozenset()).snippet("0  \x85 1", [(0, 3)])
    assert (snippet.text, [(mark.start, mark.end) for mark in snippet.marks]) == ("0 1", [(0, 2)])
    assert Marker([], [], frozenset()).snippet("0  \x85 1", [(2, 4)]).marks == ()


def test_marks_survive_white_space() -> None:
    snippet = Marker(["ferry"], [], frozenset()).snippet("a\n\n\tlong   way to the\n ferry\r\n now")
    assert snippet.text == "a long way to the ferry now"
    assert [snippet.text[mark.start : mark.end] for mark in snippet.marks] == ["ferry"]


def test_places_win_over_words() -> None:
    marker = Marker(["york"], [], frozenset())
    marks = merge(marker.marks("in New York now"), [], 15)
    assert [(mark.start, mark.kind) for mark in marks] == [(7, "what")]
    snippet = marker.snippet("in New York now", [(3, 11)])
    assert [(mark.start, mark.end, mark.kind) for mark in snippet.marks] == [(3, 11, "where")]


def test_mentions_outside_the_text_are_left_out() -> None:
    assert Marker([], [], frozenset()).snippet("short", [(-1, 3), (2, 99), (3, 3)]).marks == ()


# -- Places ----------------------------------------------------------------------------------------


def place(
    identifier: int, name: str, pages: int, *, ancestors: tuple[int, ...] = (), population: int = 0
) -> KnownPlace:
    path = ("World", "Continent", "Country", name)
    return KnownPlace(identifier, name, "city", "XX", "", LonLat(0, 0), population, path, ancestors, pages)


def test_most_pages_then_most_people() -> None:
    few, many, large = place(1, "Lisbon", 3), place(2, "Lisbon", 42), place(3, "Lisbon", 3, population=9)
    assert [p.id for p in rank([few, many, large])] == [2, 3, 1]


def test_the_city_comes_before_the_state_around_it() -> None:
    state, city = place(1, "New York", 50), place(2, "New York", 40, ancestors=(1,))
    assert [p.id for p in rank([state, city])] == [2, 1]
    small = place(2, "New York", 10, ancestors=(1,))
    assert [p.id for p in rank([state, small])] == [1, 2]


def test_names_are_found_without_case_accents_and_punctuation() -> None:
    atlas = Atlas([place(1, "São Paulo", 1), place(2, "St. Paul", 1), place(3, "Empty", 0)])
    assert [p.id for p in atlas.named("sao paulo")] == [1]
    assert [p.id for p in atlas.named("ST PAUL")] == [2]
    assert atlas.named("empty") == []
    assert [p.id for p in atlas.beginning_with("são", 5)] == [1]
    assert atlas.similar_names("Sao Paolo") == ["São Paulo"]


class OtherNames:
    """A gazetteer that knows two other names."""

    def find(self, name: str, *, limit: int) -> list[KnownPlace]:
        return [place(1, "Lisbon", 0), place(99, "Elsewhere", 0)][:limit] if name.lower() in ("lisboa", "lx") else []

    def zip_code(self, code: str) -> None:
        assert code.isdigit()


def test_a_gazetteer_adds_other_names_of_known_places() -> None:
    atlas = Atlas([place(1, "Lisbon", 4)], OtherNames())
    assert [p.pages for p in atlas.named("Lisboa")] == [4]
    assert atlas.named("Elsewhere") == []
    assert [p.pages for p in atlas.named("LX")] == [4]
    assert atlas.named("lx") == []


# -- Trend -----------------------------------------------------------------------------------------


def test_weeks_begin_on_monday() -> None:
    days = {day_number(date(2026, 11, 15)): 2, day_number(date(2026, 11, 16)): 1}
    assert [(b.start, b.count) for b in bucket_days(days, "week")] == [("2026-11-09", 2), ("2026-11-16", 1)]


def test_a_stray_date_makes_no_thousand_buckets() -> None:
    days = {day_number(date(1000, 1, 1)): 1, day_number(date(2026, 1, 1)): 1}
    assert len(bucket_days(days, "day")) == 2
    assert len(bucket_days(days, "year")) == 1027
