"""Questions as people type them: pasted coordinates, small letters, countries behind states, other languages, NOT."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_collection import SamplePage, build_collection, make_page

from periplus.errors import QueryError
from periplus.model import LonLat
from periplus.search import Collection, SearchRequest
from periplus.search.atlas import KnownPlace, ZipCode
from periplus.search.snippets import Marker

HOUSTON, PASADENA, DALLAS, MOBILE, SPRING, MARCH, BERLIN = 4699066, 4718097, 4684888, 4076598, 4733042, 2643097, 2950159
PORTLAND_ME, PORTLAND_OR = 4975802, 5746545


class PostOffice:
    """A gazetteer that knows one ZIP code, which in Germany is one of Berlin's."""

    def find(self, name: str, *, limit: int) -> list[KnownPlace]:
        return [] if name else [][:limit]

    def zip_code(self, code: str) -> ZipCode | None:
        return ZipCode((HOUSTON,), LonLat(-95.37, 29.76)) if code == "10115" else None


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    def about(number: int, place: int, name: str, **more: str) -> SamplePage:
        return make_page(number, title=f"Rodeo of {name}", text=f"A rodeo in {name}.", places=((place, 0.9),), **more)

    pages = [
        about(1, HOUSTON, "Houston", published="2024-03-05"),
        about(2, PASADENA, "Pasadena"),
        about(3, DALLAS, "Dallas"),
        about(4, MOBILE, "Mobile"),
        about(5, SPRING, "Spring"),
        about(6, MARCH, "March"),
        about(7, BERLIN, "Berlin"),
        about(8, PORTLAND_ME, "Portland"),
        about(9, PORTLAND_OR, "Portland"),
        *(about(n, HOUSTON, "Houston", url=f"http://h{n}.example/") for n in range(10, 16)),
        make_page(20, title="Essen", text="Wir essen gern.", language="de", url="http://kueche.example.de/"),
        make_page(21, title="Wetter", text="Es regnet, und es bleibt so.", language="de"),
        make_page(22, title="Fiets", text="Een fiets.", language="nl"),
        make_page(23, title="A man", text="John Huston made films.", language="en"),
    ]
    root = tmp_path_factory.mktemp("typed") / "crawl"
    with Collection.open([build_collection(root, pages).path], names=PostOffice()) as opened:
        yield opened


def reading(collection: Collection, question: str) -> str:
    found = collection.search(SearchRequest.of(question)).to_json()["query"]["reading"]
    assert isinstance(found, str)
    return found


HOUSTON_TX = "in Houston, Texas, United States"
BERLIN_DE = "Berlin, Germany"


@pytest.mark.parametrize(
    ("question", "read"),
    [
        # A month or season behind "in" is a time, though towns are called so.
        ("rodeo in March 2024", "what: rodeo · when: 2024-03-01 to 2024-03-31"),
        ("rodeo in spring 2025", "what: rodeo · when: 2025-03-01 to 2025-05-31"),
        ("rodeo in March, England", "what: rodeo · where: in March, England, United Kingdom"),
        ("rodeo in Spring", "what: rodeo · where: in Spring, Texas, United States"),
        ("rodeo near March", "what: rodeo · where: within 50 km of March, England, United Kingdom"),
        # Two times need not be neighbours.
        ("rodeo in 2019 and 2021", "what: rodeo · when: 2019-01-01 to 2019-12-31, or 2021-01-01 to 2021-12-31"),
        ("rodeo in May and July 2021", "what: rodeo · when: 2021-05-01 to 2021-05-31, or 2021-07-01 to 2021-07-31"),
        ("rodeo in 2020 and 2021", "what: rodeo · when: 2020-01-01 to 2021-12-31"),
        ("rodeo between 2019 and 2021", "what: rodeo · when: 2019-01-01 to 2021-12-31"),
        ("rodeo in 2019 and 2021 before:2020-07", "what: rodeo · when: 2019-01-01 to 2019-12-31"),
        ("rodeo in 2019 and 2021 after:2020-07", "what: rodeo · when: 2021-01-01 to 2021-12-31"),
        # Coordinates as maps give them.
        ("rodeo near 29.76, -95.37", "what: rodeo · where: within 50 km of 29.76, -95.37"),
        ("29.76,-95.37", "where: within 50 km of 29.76, -95.37"),
        ("rodeo within 5 km of 29.76° N, 95.37° W", "what: rodeo · where: within 5 km of 29.76, -95.37"),
        ("rodeo 33.86°S 151.21°E", "what: rodeo · where: within 50 km of -33.86, 151.21"),
        ("rodeo 2.5, 3", "what: rodeo 2.5 3"),
        ("rodeo near:Houston", "what: rodeo · where: within 50 km of Houston, Texas, United States"),
        ("rodeo near:Houston,20", "what: rodeo · where: within 20 km of Houston, Texas, United States"),
        ('rodeo near:"Houston, TX, 20km"', "what: rodeo · where: within 20 km of Houston, Texas, United States"),
        ("rodeo 129.5, 200.5", "what: rodeo 129.5 200.5"),
        # What follows a name says which one is meant, all of it.
        ("rodeo in Houston, Texas, USA", f"what: rodeo · where: {HOUSTON_TX}"),
        ("rodeo houston tx", f"what: rodeo · where: {HOUSTON_TX}"),
        ("rodeo in houston texas usa", f"what: rodeo · where: {HOUSTON_TX}"),
        ("rodeo portland or", "what: rodeo · where: in Portland, Oregon, United States, one of 2 places so named"),
        ("rodeo in Portland O.R.", "what: rodeo · where: in Portland, Oregon, United States, one of 2 places so named"),
        # Postal codes of other countries.
        ("rodeo 10115 Berlin", f"what: rodeo 10115 · where: in {BERLIN_DE}"),
        ("rodeo in 10115 Houston", "what: rodeo · where: in ZIP code 10115 in Houston, Texas, United States"),
        # Words that stand before a name and mean nothing without it.
        ("news from Houston", f"what: news · where: {HOUSTON_TX}"),
        ("the mayor of Houston", f"what: the mayor · where: {HOUSTON_TX}"),
        # Near, in other languages.
        ("Rodeo in der Nähe von Berlin", f"what: Rodeo · where: within 50 km of {BERLIN_DE}"),
        ("Rodeo im Umkreis von 20 km um Berlin", f"what: Rodeo · where: within 20 km of {BERLIN_DE}"),
        ("rodéo à 20 km de Berlin", f"what: rodéo · where: within 20 km of {BERLIN_DE}"),
        ("rodéo autour de Berlin", f"what: rodéo · where: within 50 km of {BERLIN_DE}"),
        # NOT leaves out what follows, unless it is a place's "not in".
        ("rodeo NOT film", "what: rodeo -film"),
        ('rodeo NOT "a film"', 'what: rodeo -"a film"'),
        ("rodeo NOT in Houston", "what: rodeo · where: not in Houston, Texas, United States"),
        ("RODEO NOT IN HOUSTON", "what: RODEO · where: not in Houston, Texas, United States"),
        ("rodeo NOT", "what: rodeo NOT"),
    ],
)
def test_questions_are_read_as_they_are_meant(collection: Collection, question: str, read: str) -> None:
    assert reading(collection, question) == read


def test_a_pasted_point_finds_what_is_around_it(collection: Collection) -> None:
    hits = collection.search(SearchRequest.of("rodeo within 20 km of 29.69,-95.21")).hits
    assert {hit.place.name for hit in hits if hit.place} == {"Houston", "Pasadena"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("near:1,2,3,4", "write LAT,LON,KM"), ("near:91,0", "not between"), ("near:Nowhereville", "Nowhereville")],
)
def test_what_is_near_nothing_is_said(collection: Collection, wrong: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        collection.search(SearchRequest.of(wrong))


def test_a_point_can_be_taken_back(collection: Collection) -> None:
    question = collection.understand(SearchRequest.of("rodeo near 29.76, -95.37"))
    assert question.without.where == "rodeo"


def test_what_is_not_wanted_is_left_out(collection: Collection) -> None:
    assert collection.search(SearchRequest.of("rodeo NOT houston")).total == 8


def test_a_year_between_two_does_not_count(tmp_path: Path) -> None:
    pages = [make_page(n, text="Rodeo", published=f"{n}-05-01") for n in (2019, 2020, 2021, 2022)]
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as opened:
        hits = opened.search(SearchRequest.of("rodeo in 2019 and 2021")).hits
        assert {hit.published for hit in hits} == {"2019-05-01", "2021-05-01"}
        assert opened.trend("rodeo in 2019 or 2021", "year").total == 2
        assert opened.search(SearchRequest.of("rodeo in 2019 and 2021")).to_json()["query"]["when"] == {
            "since": "2019-01-01", "until": "2021-12-31", "apart": ["2020-01-01", "2020-12-31"],
        }  # fmt: skip


def test_a_short_stem_counts_in_its_own_language_only(collection: Collection) -> None:
    """Dutch makes "es" of "Essen", and every German page has that word."""
    hits = collection.search(SearchRequest.of("Essen")).hits
    assert [hit.title for hit in hits] == ["Essen"]
    assert [hit.snippet[mark.start : mark.end] for hit in hits for mark in hit.marks] == ["essen"]


def test_sites_can_be_named_by_what_they_end_with(collection: Collection) -> None:
    assert [hit.title for hit in collection.search(SearchRequest.of("site:.de")).hits] == ["Essen"]
    assert collection.search(SearchRequest.of("rodeo -site:example")).total == 0
    assert "no page is from: gov" in reading(collection, "site:gov")


def test_a_misspelt_place_is_seen_though_a_page_has_the_word(collection: Collection) -> None:
    found = collection.search(SearchRequest.of("rodeo in Huston"))
    assert found.did_you_mean == "rodeo in Houston"


def test_words_that_say_nothing_are_not_marked(collection: Collection) -> None:
    hit = collection.search(SearchRequest.of("rodeo in Nowhereville")).hits[0]
    assert {hit.snippet[mark.start : mark.end].lower() for mark in hit.marks} == {"rodeo"}


def test_a_snippet_does_not_say_the_title_again() -> None:
    text = "Home › News\nRiver rises in Houston\nRiver rises in Houston\n" + "The river is as high as in 2017. " * 9
    snippet = Marker(["river"], [], frozenset()).snippet(text, title="River rises in Houston - The Daily Star")
    assert snippet.text.startswith("The river is as high")
    short = Marker(["river"], [], frozenset()).snippet("River rises in Houston. More.", title="River rises in Houston")
    assert short.text.startswith("River rises")
    before = Marker(["dam"], [], frozenset()).snippet(f"The dam holds. {text}", title="River rises in Houston")
    assert before.text.startswith("The dam holds.")


def test_a_snippet_is_text_rather_than_a_menu() -> None:
    text = (
        "1. Flood warnings 2. Contact 3. Imprint 4. Search 5. Help " * 5
        + "The flood came at night. Nobody was hurt. " * 4
    )
    assert "The flood came" in Marker(["flood"], [], frozenset()).snippet(text).text
