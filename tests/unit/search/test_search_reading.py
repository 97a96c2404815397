"""How a question was read, in one line: nobody has to guess what place, time and filters were taken."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_collection import build_collection, make_page

from periplus.errors import NotHere, QueryError
from periplus.model import LonLat
from periplus.search import Collection, SearchRequest
from periplus.search.atlas import KnownPlace, ZipCode

HOUSTON = "Houston, Texas, United States"
LISBON = "Lisbon, Lisbon District, Portugal"
PORTO = "Porto, Porto District, Portugal"


class PostOffice:
    """A gazetteer that knows Lagos, and two ZIP codes: one of Houston, one of a town without pages."""

    def find(self, name: str, *, limit: int) -> list[KnownPlace]:
        lagos = KnownPlace(2332459, "Lagos", "city", "NG", "05", LonLat(3.4, 6.45), 15_000_000, (), ())
        tokyo = KnownPlace(1850147, "Tokyo", "city", "JP", "40", LonLat(139.7, 35.7), 8_336_599, (), ())
        return {"lagos": [lagos], "東京": [tokyo]}.get(name.casefold(), [])[:limit]

    def zip_code(self, code: str) -> ZipCode | None:
        known = {"77002": ZipCode((4699066,), LonLat(-95.37, 29.76)), "99950": ZipCode((1,), LonLat(-131.6, 55.3))}
        return known.get(code)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = build_collection(tmp_path_factory.mktemp("reading") / "crawl").path
    with Collection.open([folder], names=PostOffice()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "reading"),
    [
        ({"text": ""}, "all pages"),
        ({"text": "?!"}, "all pages, since the question holds no word"),
        ({"text": "pizza -pineapple"}, "what: pizza -pineapple"),
        ({"text": "pizza in Lisbon"}, f"what: pizza · where: in {LISBON}, one of 2 places so named"),
        ({"text": "story in Houston"}, f"what: story · where: in {HOUSTON}"),
        ({"text": "story near Houston"}, f"what: story · where: within 50 km of {HOUSTON}"),
        ({"text": "story within 12 miles of Houston"}, f"what: story · where: within 19.3 km of {HOUSTON}"),
        ({"text": "story north of Houston"}, f"what: story · where: up to 100 km north of {HOUSTON}"),
        ({"text": "south-west of Texas"}, "where: up to 800 km southwest of Texas, United States"),
        (
            {"text": "30 km east of Houston"},
            f"where: within 15 km of the point 30 km east of {HOUSTON}",
        ),
        ({"text": "story in 77002"}, f"what: story · where: in ZIP code 77002 in {HOUSTON}"),
        ({"text": "story near 99950"}, "what: story · where: within 50 km of ZIP code 99950"),
        ({"text": "", "near": "38.72,-9.14,25"}, "where: within 25 km of 38.72, -9.14"),
        ({"text": "near:38.72,-9.14,0.05"}, "where: within 0.05 km of 38.72, -9.14"),
        ({"text": "", "bbox": "177,-20,-178,-15"}, "where: in the box from -20, 177 to -15, -178"),
        ({"text": "", "polygon": "0,0;10,0;10,10"}, "where: in a shape of 3 corners"),
        (
            {"text": "pizza in Lisbon", "near": "0,0,5"},
            f"what: pizza · where: within 5 km of 0, 0, instead of {LISBON}",
        ),
        (
            {"text": "pizza in Lisbon", "place": "Porto"},
            f"what: pizza · where: in Porto, Porto District, Portugal, instead of {LISBON}",
        ),
        (
            {"text": "pizza in Lisbon", "place": "5088597"},
            "what: pizza · where: in Lisbon, New Hampshire, United States, one of 2 places so named",
        ),
        ({"text": "pizza since 2026-03"}, "what: pizza · when: since 2026-03-01"),
        ({"text": "before:2026"}, "when: until 2025-12-31"),
        ({"text": "in May 2026"}, "when: 2026-05-01 to 2026-05-31"),
        ({"text": "", "since": "2026-05-17", "until": "2026-05-17"}, "when: on 2026-05-17"),
        ({"text": "pizza 2026"}, "what: pizza 2026"),
        ({"text": "pizza in Lagos 2019"}, "what: pizza in Lagos 2019 · no page is about: Lagos"),
        ({"text": "pizza in lagos"}, "what: pizza in lagos"),
        (
            {"text": "pizza near the Lagos of Texas"},
            "what: pizza near the Lagos · where: in Texas, United States · no page is about: Lagos",
        ),
        (
            {"text": "inclass:food inclass:News site:a.example -site:b.example lang:pt"},
            "topic: food or news · site: a.example · not on site: b.example · language: pt"
            " · no page is from: a.example",
        ),
        ({"text": "lang:pt-BR"}, "language: pt"),
        ({"text": "ラーメン in 東京"}, "what: ラーメン · where: in Tokyo, Tokyo Prefecture, Japan"),
        ({"text": "story in west lagos"}, "what: story in west lagos"),
        ({"text": "site:lisbon-nh.example"}, "site: lisbon-nh.example"),
        ({"text": "pizza in Lisbon or Porto"}, f"what: pizza · where: in {LISBON}; or in {PORTO}"),
        (
            {"text": "pizza between Lisbon and Porto"},
            f"what: pizza · where: between {LISBON} and {PORTO} (pages about both first, then about either)",
        ),
        ({"text": "story in Houston and mobile"}, f"what: story and mobile · where: in {HOUSTON}"),
        ({"text": "story in northern Texas"}, "what: story · where: in the north of Texas, United States"),
        (
            {"text": "pizza between Lisbon and Lagos"},
            f"what: pizza between and Lagos · where: in {LISBON}, one of 2 places so named · no page is about: Lagos",
        ),
    ],
)
def test_one_line_says_all_of_it(collection: Collection, question: dict[str, str], reading: str) -> None:
    request = SearchRequest.of(**question)  # type: ignore[arg-type]  # the fields of a request, by name
    result = collection.search(request)
    assert result.to_json()["query"]["reading"] == reading
    assert collection.trend(request, "year").to_json()["query"]["reading"] == reading
    assert collection.facets_of(request)["query"]["reading"] == reading


def test_a_place_that_no_page_is_about_is_no_misspelt_word(tmp_path: Path) -> None:
    pages = [make_page(1, title="It lasts", text="A flood lasts in Houston.")]
    with Collection.open([build_collection(tmp_path / "crawl", pages).path], names=PostOffice()) as collection:
        assert collection.search("flood in Lagos").did_you_mean == ""
        assert collection.search("flood in Lagts").did_you_mean == "flood in lasts"


def test_json_has_every_part_of_it(collection: Collection) -> None:
    query = collection.search(SearchRequest.of("inclass:food site:a.example -site:b.example lang:pt")).to_json()[
        "query"
    ]
    assert {key: query[key] for key in ("topics", "sites", "excluded_sites", "languages")} == {
        "topics": ["food"],
        "sites": ["a.example"],
        "excluded_sites": ["b.example"],
        "languages": ["pt"],
    }
    assert collection.search("north of Houston").to_json()["query"]["area"]["relation"] == "up to 100 km north of"


def test_reasons_measure_from_the_place_that_they_name(collection: Collection) -> None:
    """And not from the middle of the circle that was looked at, which lies north of it."""
    hit = collection.search("325 km north of Houston").hits[0]
    assert hit.reason == "Dallas is 363 km from Houston"


def test_a_topic_that_is_not_there_is_told_which_are(collection: Collection) -> None:
    with pytest.raises(
        NotHere, match=r"called 'flod'; did you mean floods\? its topics are: attack, floods, food, news"
    ):
        collection.search("dams inclass:flod")
    assert collection.search("inclass:Floods").total == 1


def test_a_language_that_no_page_has_is_told_which_are_there(collection: Collection) -> None:
    with pytest.raises(NotHere, match="is in the language 'german'; its languages are: en, fr, ja, pt"):
        collection.search("pizza lang:german")


def test_a_topic_of_the_job_without_pages_yet_is_no_mistake(collection: Collection) -> None:
    assert collection.search("inclass:travel pizza").total == 0


def test_every_path_counts_the_same_pages(collection: Collection) -> None:
    """Also where no page has all the words, and pages with some of them are shown."""
    for text in (
        "pizza in Lisbon",
        "pizza ramen",
        "pizza lobster zzzzzz",
        "zzzzzz yyyyyy",
        "",
        "inclass:food since 2026",
    ):
        request = SearchRequest.of(text)
        found, over, spread = (
            collection.search(request),
            collection.trend(request, "month"),
            collection.facets_of(request),
        )
        assert found.total == over.total == spread["total"]
        assert found.total == sum(bucket.count for bucket in over.buckets) + over.undated
        assert sum(point.count for point in collection.points(request)) <= found.total
        assert found.relaxed == over.relaxed == spread["relaxed"]
        assert spread["facets"] == found.facets.to_json()
    assert collection.search("pizza ramen").relaxed
    assert collection.trend("pizza ramen", "year", since="2026").total == 26


@pytest.mark.parametrize(
    "operator", ["before:2026", "after:2026", "place:Lisbon", "near:0,0,5", "inclass:food", "lang:pt"]
)
def test_what_cannot_be_excluded_is_not_taken_for_its_opposite(collection: Collection, operator: str) -> None:
    with pytest.raises(QueryError, match=f"-{operator.split(':', maxsplit=1)[0]}: is not possible"):
        collection.search(f"pizza -{operator}")


def test_two_places_by_operator_are_one_too_many(collection: Collection) -> None:
    with pytest.raises(QueryError, match="once in a question"):
        collection.search("place:Lisbon place:Porto")


def test_facets_count_what_every_node_has(tmp_path: Path) -> None:
    """A site that is the smallest of many in one node, and the largest in the other."""
    small = [make_page(n, url=f"http://d{n % 15}.example/{n}") for n in range(30)]
    mixed = [page for n in range(30) for page in (small[n], make_page(100 + n, url=f"http://big.example/{n}"))]
    folder = build_collection(tmp_path / "crawl", [*mixed, make_page(200, url="http://big.example/last")]).path
    with Collection.open([folder]) as collection:
        found = collection.search("")
        assert found.facets.sites[0] == ("big.example", 31)
        for site, count in found.facets.sites:
            assert collection.search(f"site:{site}").total == count
