"""A first visit to the collection of a newspaper: titles, years, news of a place, towns it does not write about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from sample_collection import PLACES, SamplePlace, build_collection, make_page

from periplus.search import Collection, SearchRequest
from periplus.search.atlas import ZipCode
from periplus.search.results import SearchResult

LISBON, HAMLET, HOUSTON, SPRING, BERLIN, SYLHET, PORTLAND_ME, PORTLAND_OR = (
    2267057, 5088597, 4699066, 4733042, 2950159, 1185099, 4975802, 5746545,
)  # fmt: skip
"""The hamlet is Lisbon in New Hampshire, with 1,587 people."""


@dataclass
class Names:
    """A gazetteer that also knows Portland in Oregon, and that the hamlet is called Middle East as well."""

    def find(self, name: str, *, limit: int) -> Sequence[SamplePlace]:
        known = {"middle east": [HAMLET], "portland": [PORTLAND_ME, PORTLAND_OR], "lake": [HOUSTON]}
        return [place for place in PLACES.values() if place.id in known.get(name.casefold(), [])][:limit]

    def zip_code(self, code: str) -> ZipCode | None:  # noqa: ARG002 - the protocol's signature
        return None


ASIDE = "\n\nRelated articles\nA dam for Oslo\n© 2026 The Gazette. All rights reserved. Write to the rodeo desk."


@pytest.fixture(scope="module")
def gazette(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    prose = "The dam near the town will be late by a year, said the water board, since cement has become so dear."
    pages = [
        make_page(1, title="Flood in Sylhet", text="Water.", published="2025-06-18", places=((SYLHET, 0.9),)),
        make_page(
            2,
            title="A dam is late",
            text=f"{prose}\nFarmers fear a flood.\nShare on X\nRead more{ASIDE}",
            published="2026-02-03",
            places=((SYLHET, 0.9),),
        ),
        make_page(3, title="Houston", text="After the storm.", published="2025-09-12", places=((HOUSTON, 0.9),)),
        make_page(4, title="Wahlen in Berlin", text="Das Ergebnis.", language="de", places=((BERLIN, 0.9),)),
        make_page(
            5,
            title="Talks",
            text="Peace in the middle east. In spring, at the lake.",
            places=((BERLIN, 0.9), (HAMLET, 0.1), (SPRING, 0.1)),
        ),
        make_page(6, title="Middle of May", text="East wind in spring at a lake.", places=()),
        make_page(7, title="East", text="The middle way in spring to the lake.", places=()),
        make_page(8, title="Coffee in Portland", text="A cup of coffee.", places=((PORTLAND_ME, 0.9),)),
        make_page(9, title="Bondes", text="Trams of Lisbon.", language="pt", places=((LISBON, 0.9),)),
        make_page(10, title="Old trams", text="Trams of Lisbon.", places=((LISBON, 0.9),)),
        make_page(11, title="Lisbon, NH", text="A town.", language="de", places=((BERLIN, 0.8), (HAMLET, 0.2))),
        make_page(12, title="Storm", text="It names 2025 in its text.", published="2024-01-05", places=()),
    ]
    root = tmp_path_factory.mktemp("newspaper") / "crawl"
    with Collection.open([build_collection(root, pages).path], names=Names()) as opened:
        yield opened


def ask(gazette: Collection, question: str) -> SearchResult:
    return gazette.search(SearchRequest.of(question))


def found(gazette: Collection, question: str) -> list[int]:
    """Numbers of the pages in the order of the answer."""
    return [int(hit.url.rpartition("-")[2]) for hit in ask(gazette, question).hits]


def reading(gazette: Collection, question: str) -> str:
    return ask(gazette, question).understood.reading


@pytest.mark.parametrize("operator", ["title", "Title", "intitle"])
def test_title_looks_in_titles_only(gazette: Collection, operator: str) -> None:
    assert sorted(found(gazette, "flood")) == [1, 2]
    assert found(gazette, f"{operator}:flood") == [1]
    assert found(gazette, f"flood -{operator}:sylhet") == [2]
    assert found(gazette, f'{operator}:"dam is late"') == [2]
    assert found(gazette, f'{operator}:"late dam"') == []
    assert reading(gazette, f'{operator}:"dam is late"') == 'what: title:"dam is late"'


def test_a_place_in_a_title_is_a_word(gazette: Collection) -> None:
    assert reading(gazette, "title:houston") == "what: title:houston"
    assert (
        reading(gazette, "title:flood in Sylhet") == "what: title:flood · where: in Sylhet, Sylhet Division, Bangladesh"
    )
    assert reading(gazette, "title: houston").startswith("what: title")  # no value, no operator


def test_a_filter_chooses_among_the_places_of_a_name(gazette: Collection) -> None:
    assert (
        reading(gazette, "lang:pt Lisbon")
        == "where: in Lisbon, Lisbon District, Portugal, one of 2 places so named · language: pt"
    )
    assert (
        reading(gazette, "lang:de Lisbon")
        == "where: in Lisbon, New Hampshire, United States, one of 2 places so named · language: de"
    )
    assert found(gazette, "lang:de Lisbon") == [11]
    assert reading(gazette, "Lisbon lang:de trams").startswith("what: trams · where: in Lisbon, New Hampshire")
    chosen = gazette.search(SearchRequest.of("Lisbon lang:de", place=str(LISBON)))
    assert chosen.total == 0  # who chose is not contradicted


def test_a_bare_year_is_found_by_the_date_as_well(gazette: Collection) -> None:
    assert sorted(found(gazette, "2025")) == [1, 3, 12]
    assert found(gazette, "2025")[-1] == 12
    assert found(gazette, "flood 2025") == [1]
    assert found(gazette, '"2025"') == [12]
    assert sorted(found(gazette, "flood -2025")) == [1, 2]  # left out are pages with the word


def test_words_that_any_page_could_be_called_are_not_looked_for(gazette: Collection) -> None:
    for question in (
        "news from Houston",
        "latest news in Houston",
        "what happened in Houston?",
        "Nachrichten aus Houston",
    ):
        assert found(gazette, question) == [3], question
    assert found(gazette, "was ist passiert in Berlin")[0] == 4
    assert ask(gazette, "news").total == 0  # without a place it is the question


def test_ordinary_words_are_no_hamlet_that_is_named_in_passing(gazette: Collection) -> None:
    assert gazette.atlas.named("middle east")[0].id == HAMLET
    assert reading(gazette, "peace in the middle east") == "what: peace in the middle east"
    assert reading(gazette, "peace in the Middle East") == "what: peace in the Middle East"
    assert reading(gazette, "wind in the spring") == "what: wind in the spring"
    assert reading(gazette, "way at the lake") == "what: way at the lake"
    assert "Spring, Texas" in reading(gazette, "wind in Spring")
    assert "Spring, Texas" in reading(gazette, "wind in spring, tx")
    assert "New Hampshire" in reading(gazette, 'place:"middle east"')


@pytest.mark.parametrize("name", ["Portland, Oregon", "Portland Oregon", "Portland, OR"])
def test_another_town_of_the_name_is_not_taken_for_the_one_asked_for(gazette: Collection, name: str) -> None:
    said = reading(gazette, f"coffee in {name}")
    assert "where" not in said
    assert f"no page is about: Portland, {name[-2:] if name.isupper() or name.endswith('OR') else 'Oregon'}" in said


def test_the_town_that_pages_are_about_stays_found(gazette: Collection) -> None:
    assert reading(gazette, "coffee in Portland, Maine") == "what: coffee · where: in Portland, Maine, United States"
    assert "in Lisbon, Lisbon District, Portugal; or in Houston" in reading(gazette, "trams in Lisbon, Houston")


def test_a_snippet_is_what_the_page_says(gazette: Collection) -> None:
    assert ask(gazette, "flood dam").hits[0].snippet.endswith("Farmers fear a flood. …")
    beside = ask(gazette, "rodeo").hits[0].snippet
    assert beside.endswith("Write to the rodeo desk.")
    assert "Farmers" not in beside


def test_short_words_are_not_corrected_to_quite_other_ones(gazette: Collection) -> None:
    assert ask(gazette, "stron").did_you_mean == ""  # two letters from "storm" by swapping and changing
    assert ask(gazette, "strom").did_you_mean == "storm"


def test_who_types_an_accent_means_it(tmp_path: Path) -> None:
    pages = [
        make_page(1, title="Kuchen", text="Kuchen, Kuchen und Kuchen.", language="de", places=()),
        make_page(2, title="Die neue Küche in unserem alten Haus", text="Groß und hell.", language="de", places=()),
        make_page(3, title="Häuser", text="Alt.", language="de", places=()),
    ]
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as opened:
        assert found(opened, "Küche") == [2, 1]
        assert found(opened, "Kuchen") == [1, 2]
        assert sorted(found(opened, "Haus")) == [2, 3]  # forms of one word
