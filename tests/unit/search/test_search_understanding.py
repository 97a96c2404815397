"""Query understanding: directions, distances, ZIP codes, ambiguity with counts, did you mean, completion."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from sample_collection import SamplePage, build_collection, make_page

from periplus.errors import QueryError
from periplus.index import DayRange, fold
from periplus.model import LonLat
from periplus.search import Collection, SearchRequest
from periplus.search.atlas import KnownPlace, ZipCode
from periplus.search.request import bearing, destination
from periplus.search.spelling import distance
from periplus.search.when import find_date_words
from periplus.search.words import take_apart

HOUSTON, PASADENA, DALLAS, MOBILE = 4699066, 4718097, 4684888, 4076598


class PostOffice:
    """A gazetteer that knows two ZIP codes: one of Houston, one of a town without pages."""

    def find(self, name: str, *, limit: int) -> list[KnownPlace]:
        return [] if name else [][:limit]

    def zip_code(self, code: str) -> ZipCode | None:
        known = {"77002": ZipCode((HOUSTON,), LonLat(-95.37, 29.76)), "99950": ZipCode((1,), LonLat(-131.6, 55.3))}
        return known.get(code)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    def about(number: int, place: int, name: str) -> SamplePage:
        return make_page(number, title=f"Rodeo of {name}", text=f"A rodeo in {name}.", places=((place, 0.9),))

    pages = [
        about(1, HOUSTON, "Houston"),
        about(2, PASADENA, "Pasadena"),
        about(3, DALLAS, "Dallas"),
        about(4, MOBILE, "Mobile"),
        make_page(5, title="Catalogue", text="Part 77002 of the catalogue, 10001 and 10002", places=()),
    ]
    root = tmp_path_factory.mktemp("understanding") / "crawl"
    with Collection.open([build_collection(root, pages).path], names=PostOffice()) as opened:
        yield opened


def towns(collection: Collection, question: str) -> list[str]:
    """The towns of the hits that lie where the question asks, best first."""
    hits = collection.search(SearchRequest.of(question)).hits
    return [hit.place.name for hit in hits if hit.place and hit.relation == "in"]


# -- Directions and distances ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("rodeo east of Houston", ["Pasadena"]),
        ("rodeo west of Houston", []),
        ("rodeo south-east of Dallas", []),
        ("rodeo north of Texas", []),  # Dallas is in Texas, not beside it
        ("rodeo east of Texas", ["Mobile"]),
        ("rodeo within 20 km of Houston", ["Houston", "Pasadena"]),
        ("rodeo within 12 miles of Houston", ["Houston", "Pasadena"]),
        ("rodeo within 10 km of Houston", ["Houston"]),
        ("rodeo 17 km east of Houston", ["Pasadena"]),
        ("rodeo 300 km north of Houston", ["Dallas"]),
        ("rodeo 20 km from Pasadena", ["Pasadena", "Houston"]),
        ("rodeo near Pasadena", ["Pasadena", "Houston"]),
        ("rodeo around Pasadena", ["Pasadena", "Houston"]),
        ("rodeo in Texas", ["Houston", "Pasadena", "Dallas"]),
        ("rodeo between Houston and Dallas", ["Houston", "Dallas"]),
        ("rodeo from Dallas to Mobile", ["Dallas", "Mobile"]),
        ("rodeo zwischen Houston und Dallas", ["Houston", "Dallas"]),
        ("rodeo in Houston and Dallas", ["Houston", "Dallas"]),
        ("rodeo in Houston, Dallas or in Mobile", ["Houston", "Dallas", "Mobile"]),
        ("rodeo in Houston OR Dallas", ["Houston", "Dallas"]),
        ("rodeo in Texas except Houston", ["Pasadena", "Dallas"]),
        ("rodeo in Texas but not in Houston", ["Pasadena", "Dallas"]),
        ("rodeo close to Pasadena", ["Pasadena", "Houston"]),
        ("rodeo in the Pasadena area", ["Pasadena", "Houston"]),
        ("rodeo in northern Texas", ["Dallas"]),
        ("rodeo in the south of Texas", ["Houston", "Pasadena"]),
        ("rodeo South Texas", ["Houston", "Pasadena"]),
        ("rodeo Houston & Dallas", ["Houston", "Dallas"]),
        ("rodeo in Houston vs Dallas", ["Houston", "Dallas"]),
        ("rodeo to Dallas from Houston", ["Houston", "Dallas"]),
        ("rodeo less than 20 km from Houston", ["Houston", "Pasadena"]),
        ("rodeo in Houston, TX 77002", ["Houston"]),
        ("rodeo near Houston or Dallas", ["Houston", "Pasadena", "Dallas"]),
        ("rodeo within 20 km of Pasadena, Dallas or Mobile", ["Houston", "Pasadena", "Dallas", "Mobile"]),
        ("where can I find a rodeo in Houston?", ["Houston"]),
        ("Where in Texas is the best rodeo?", ["Houston", "Pasadena", "Dallas"]),
        ("show me the rodeo in Dallas", ["Dallas"]),
        ("Wo finde ich Rodeo in Houston", ["Houston"]),
        ("Zeige mir das beste Rodeo in Dallas", ["Dallas"]),
        ("Où trouver le meilleur rodéo à Houston", ["Houston"]),
        ("¿Dónde puedo encontrar el mejor rodeo en Dallas?", ["Dallas"]),
    ],
)
def test_distances_and_directions(collection: Collection, question: str, found: list[str]) -> None:
    assert sorted(towns(collection, question)) == sorted(found)
    assert fold(collection.understand(SearchRequest.of(question)).what_text) == "rodeo"


def test_a_place_that_is_left_out_leaves_the_rest(collection: Collection) -> None:
    for words in ("not in Texas", "outside Texas", "except Texas", "without Texas"):
        result = collection.search(f"rodeo {words}")
        assert [hit.place.name for hit in result.hits if hit.place] == ["Mobile"]
        assert result.to_json()["query"]["reading"] == "what: rodeo · where: not in Texas, United States"
    assert collection.search("rodeo outside Texas").to_json()["query"]["excluded"]["name"] == "Texas"


@pytest.mark.parametrize(
    ("question", "without"),
    [
        ("rodeo in Houston", {"where": "rodeo"}),
        ("rodeo between Houston and Dallas", {"where": "rodeo in Dallas", "also": ["rodeo in Houston"]}),
        ("from Houston to Dallas rodeo", {"where": "in Dallas rodeo", "also": ["in Houston rodeo"]}),
        (
            "rodeo in Houston OR Dallas lang:en",
            {"where": "rodeo in Dallas lang:en", "also": ["rodeo in Houston lang:en"]},
        ),
        (
            "rodeo in Houston, Texas, Dallas and Mobile",
            {
                "where": "rodeo in Dallas or Mobile",
                "also": ["rodeo in Houston, Texas or Mobile", "rodeo in Houston, Texas or Dallas"],
            },
        ),
        (
            "rodeo in Texas (except Houston) since 2020",
            {
                "where": "rodeo except Houston since 2020",
                "excluded": "rodeo in Texas since 2020",
                "when": "rodeo in Texas except Houston",
            },
        ),
        (
            "rodeo within 20 km of Houston in May 2026",
            {"where": "rodeo in May 2026", "when": "rodeo within 20 km of Houston"},
        ),
        (
            "rodeo within 20 km of Houston or Dallas",
            {"where": "rodeo within 20 km of Dallas", "also": ["rodeo within 20 km of Houston"]},
        ),
        ('place:"Dallas" after:2020 rodeo', {"where": "after:2020 rodeo", "when": 'place:"Dallas" rodeo'}),
        ("rodeo near:29.7,-95.3,25", {"where": "rodeo"}),
        ("rodeo", {}),
    ],
)
def test_every_part_of_a_question_can_be_taken_back(
    collection: Collection, question: str, without: dict[str, str | list[str]]
) -> None:
    nothing: dict[str, object] = {"where": None, "also": [], "excluded": None, "when": None}
    assert collection.search(question).to_json()["query"]["without"] == nothing | without


def test_what_is_left_of_a_question_means_the_same(collection: Collection) -> None:
    """Without one of its places, words and the other places are as before."""
    question = "rodeo in Houston, Dallas and Mobile"
    first, second = collection.search(question).understood.without.also
    assert sorted(towns(collection, first)) == ["Houston", "Mobile"]
    assert sorted(towns(collection, second)) == ["Dallas", "Houston"]


def test_a_place_that_was_given_is_not_in_the_words(collection: Collection) -> None:
    request = SearchRequest.of("rodeo between Houston and Dallas", place="Mobile")
    assert collection.search(request).understood.without.where is None


def test_a_page_about_both_ends_comes_before_those_about_one(tmp_path: Path) -> None:
    pages = [
        make_page(1, title="Train", text="A train in Houston.", places=((HOUSTON, 0.9),)),
        make_page(2, title="Train", text="The train of both.", places=((HOUSTON, 0.5), (DALLAS, 0.5))),
        make_page(3, title="Train", text="A train near Dallas.", places=((DALLAS, 0.9),)),
    ]
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as collection:
        result = collection.search("train from Houston to Dallas")
        assert result.hits[0].url.endswith("story-2")
        assert result.total == 3
        query = result.to_json()["query"]
        assert [place["name"] for place in (*query["where"], *query["also"])] == ["Houston", "Dallas"]


def test_words_that_are_no_places_stay_words(collection: Collection) -> None:
    for text in (
        "difference between rodeo and catalogue",
        "from rodeo to catalogue",
        "not in stock",
        "outside seating",
    ):
        assert collection.understand(SearchRequest.of(text)).what_text == text


@pytest.mark.parametrize(
    "question", ["find my phone", "hay bales", "WHO report", '"what is" love', "what is the", "where", "show me"]
)
def test_words_that_ask_nothing_stay_words(collection: Collection, question: str) -> None:
    assert collection.understand(SearchRequest.of(question)).what_text == question


def test_near_one_of_several_places_is_said_and_measured_from_the_nearest(collection: Collection) -> None:
    result = collection.search("rodeo near Dallas or Pasadena")
    reading = "within 50 km of Dallas, Texas, United States; or of Pasadena, Texas, United States"
    assert result.to_json()["query"]["reading"] == f"what: rodeo · where: {reading}"
    assert {hit.reason for hit in result.hits} == {"", "Houston is 17 km from Pasadena"}


def test_nobody_knows_where_the_person_is(collection: Collection) -> None:
    with pytest.raises(QueryError, match="near me: where you are is not known here; name a place"):
        collection.search("rodeo near me")
    assert collection.understand(SearchRequest.of("rodeo near me", near="29.7,-95.3,20")).what_text == "rodeo"
    assert collection.understand(SearchRequest.of('rodeo "near me"')).what_text == 'rodeo "near me"'


def test_a_direction_is_said_in_the_answer(collection: Collection) -> None:
    area = collection.search(SearchRequest.of("rodeo north east of Houston")).to_json()["query"]["area"]
    point = {"lat": pytest.approx(29.76328), "lon": pytest.approx(-95.36327)}
    assert area == point | {"km": 100.0, "bearing": 45.0, "relation": "up to 100 km northeast of"}


@pytest.mark.parametrize("east", ["181", "-179"])
def test_a_shape_across_the_date_line(tmp_path: Path, east: str) -> None:
    pages = [make_page(1, places=((-7, 0.9),)), make_page(2, places=((2198148, 0.9),)), make_page(3)]
    shape = f"178,-20;{east},-20;{east},-15;178,-15"  # Suva lies west of the line, Taveuni east of it
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as collection:
        result = collection.search(SearchRequest.of("", polygon=shape))
        assert sorted(hit.place.name for hit in result.hits if hit.place) == ["Suva", "Taveuni"]
        assert result.to_json()["query"]["area"]["polygon"][1] == [181.0, -20.0]


def test_shapes_that_no_map_shows_are_refused() -> None:
    for shape, reason in (("0,70;120,70;-120,70", "around a pole"), ("0,0;500,0;0,9", "500"), ("0,0;1,91;2,2", "91")):
        with pytest.raises(QueryError, match=reason):
            SearchRequest.of("", polygon=shape)


def test_a_direction_without_of_is_a_word(collection: Collection) -> None:
    assert not collection.understand(SearchRequest.of("north wind")).where


def test_bearing_and_destination_agree() -> None:
    start = LonLat(179.5, 10.0)
    for degrees in (0.0, 90.0, 200.0, 315.0):
        end = destination(start, degrees, 150.0)
        assert start.distance_km(end) == pytest.approx(150.0, rel=1e-6)
        assert bearing(start, end) == pytest.approx(degrees, abs=1e-6)


# -- Dates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "since", "until", "rest"),
    [
        ("floods 2019-2021", "2019-01-01", "2021-12-31", "floods"),
        ("floods 2019–2021", "2019-01-01", "2021-12-31", "floods"),
        ("floods from 2019 to 2021", "2019-01-01", "2021-12-31", "floods"),
        ("floods between May 2020 and July 2021", "2020-05-01", "2021-07-31", "floods"),
        ("since 2019 until 2021 floods", "2019-01-01", "2021-12-31", "floods"),
        ("floods after 2019 before 2022", "2020-01-01", "2021-12-31", "floods"),
        ("floods in the 1990s", "1990-01-01", "1999-12-31", "floods"),
        ("1990s music", None, None, "1990s music"),
        ("floods on 17 May 2025", "2025-05-17", "2025-05-17", "floods"),
        ("floods May 17th, 2025", "2025-05-17", "2025-05-17", "floods"),
        ("floods since 17 March 2020", "2020-03-17", None, "floods"),
        ("floods 2025-05-17", "2025-05-17", "2025-05-17", "floods"),
        ("part 2025-13", None, None, "part 2025-13"),
        ("floods in Sept. 2020", "2020-09-01", "2020-09-30", "floods"),
        ("floods in the summer of 2021", "2021-06-01", "2021-08-31", "floods"),
        ("winter 2021 storm", "2020-12-01", "2021-02-28", "storm"),
        ("floods seit 2015", "2015-01-01", None, "floods"),
        ("floods last year", "2025-01-01", "2025-12-31", "floods"),
        ("floods this month", "2026-11-01", "2026-11-30", "floods"),
        ("floods last week", "2026-11-09", "2026-11-15", "floods"),
        ("floods in the last 10 days", "2026-11-07", "2026-11-17", "floods"),
        ("floods last March", "2026-03-01", "2026-03-31", "floods"),
        ("floods last December", "2025-12-01", "2025-12-31", "floods"),
        ("floods since last summer", "2026-06-01", None, "floods"),
        ("floods from May to July 2021", "2021-05-01", "2021-07-31", "floods"),
        ("floods November to February 2021", "2020-11-01", "2021-02-28", "floods"),
        ("floods May-July 2021", "2021-05-01", "2021-07-31", "floods"),
        ("floods 2019 to 2021", "2019-01-01", "2021-12-31", "floods"),
        ("floods 2019 onwards", "2019-01-01", None, "floods"),
        ("floods up to 2019", None, "2019-12-31", "floods"),
        ("floods Q3 2021", "2021-07-01", "2021-09-30", "floods"),
        ("floods in 2021 Q1", "2021-01-01", "2021-03-31", "floods"),
        ("floods in the third quarter of 2021", "2021-07-01", "2021-09-30", "floods"),
        ("floods first half of 2021", "2021-01-01", "2021-06-30", "floods"),
        ("floods early 2021", "2021-01-01", "2021-04-30", "floods"),
        ("floods end of 2021", "2021-10-01", "2021-12-31", "floods"),
        ("floods mid-2021", "2021-05-01", "2021-08-31", "floods"),
        ("floods winter 2020/21", "2020-12-01", "2021-02-28", "floods"),
        ("floods winter 2020-2021", "2020-12-01", "2021-02-28", "floods"),
        ("floods 2020/21", "2020-01-01", "2021-12-31", "floods"),
        ("floods 2011-12", "2011-12-01", "2011-12-31", "floods"),
        ("floods since March", "2026-03-01", None, "floods"),
        ("floods in December", "2025-12-01", "2025-12-31", "floods"),
        ("floods on 17 May", "2026-05-17", "2026-05-17", "floods"),
        ("floods in the 90s", "1990-01-01", "1999-12-31", "floods"),
        ("floods yesterday", "2026-11-16", "2026-11-16", "floods"),
        ("USA Today", None, None, "USA Today"),
        ("floods last Monday", "2026-11-16", "2026-11-16", "floods"),
        ("floods last weekend", "2026-11-14", "2026-11-15", "floods"),
        ("floods last two weeks", "2026-11-03", "2026-11-17", "floods"),
        ("floods 3 days ago", "2026-11-14", "2026-11-14", "floods"),
        ("floods this summer", "2026-06-01", "2026-08-31", "floods"),
        ("floods 17.05.2025", "2025-05-17", "2025-05-17", "floods"),
        ("floods 5/17/2025", "2025-05-17", "2025-05-17", "floods"),
        ("floods 5/6/2025", None, None, "floods 5/6/2025"),
        ("mission to mars 2026", None, None, "mission to mars 2026"),
        ("Hochwasser seit März 2020", "2020-03-01", None, "Hochwasser"),
        ("Hochwasser im Sommer 2021", "2021-06-01", "2021-08-31", "Hochwasser"),
        ("Hochwasser letztes Jahr", "2025-01-01", "2025-12-31", "Hochwasser"),
        ("Hochwasser von 2019 bis 2021", "2019-01-01", "2021-12-31", "Hochwasser"),
        ("Hochwasser am 17. Mai 2025", "2025-05-17", "2025-05-17", "Hochwasser"),
        ("inondations en mars 2021", "2021-03-01", "2021-03-31", "inondations"),
        ("inondations entre 2019 et 2021", "2019-01-01", "2021-12-31", "inondations"),
        ("inondations l'année dernière", "2025-01-01", "2025-12-31", "inondations"),
        ("inundaciones desde marzo de 2021", "2021-03-01", None, "inundaciones"),
        ("inundaciones 17 de mayo de 2025", "2025-05-17", "2025-05-17", "inundaciones"),
        ("inundaciones el año pasado", "2025-01-01", "2025-12-31", "inundaciones"),
        ("floods in 2025 and 2026", "2025-01-01", "2026-12-31", "floods"),
        ("floods in May and June 2021", "2021-05-01", "2021-06-30", "floods"),
        ("floods last night", "2026-11-16", "2026-11-17", "floods"),
        ("floods this morning", "2026-11-17", "2026-11-17", "floods"),
        ("floods tonight", "2026-11-17", "2026-11-17", "floods"),
        ("floods this week", "2026-11-16", "2026-11-22", "floods"),
        ("floods today", "2026-11-17", "2026-11-17", "floods"),
        ("inondations aujourd'hui", "2026-11-17", "2026-11-17", "inondations"),
        ("the last day of school", None, None, "the last day of school"),
        ('floods in "2021"', None, None, "floods in 2021"),
        ("march for peace", None, None, "march for peace"),
    ],
)
def test_dates_as_people_write_them(question: str, since: str | None, until: str | None, rest: str) -> None:
    words = list(take_apart(question).words)
    found = find_date_words(words, date(2026, 11, 17))
    if found:
        del words[found.start : found.end]
    days = found.days if found else DayRange()
    assert (days.since and days.since.isoformat(), days.until and days.until.isoformat()) == (since, until)
    assert " ".join(word.text for word in words) == rest


def test_summer_is_in_january_south_of_the_equator(collection: Collection) -> None:
    there, here = (
        collection.understand(SearchRequest.of("fires in summer 2020", near=f"{lat},151.2,50")).days
        for lat in (-34, 34)
    )
    assert there == DayRange(date(2019, 12, 1), date(2020, 2, 29))
    assert here == DayRange(date(2020, 6, 1), date(2020, 8, 31))


def test_a_day_that_is_in_no_calendar_is_told(collection: Collection) -> None:
    with pytest.raises(QueryError, match="not in the calendar"):
        collection.understand(SearchRequest.of("rodeo on 31 June 2025"))


# -- ZIP codes -------------------------------------------------------------------------------------


def test_a_zip_code_is_its_town(collection: Collection) -> None:
    question = collection.understand(SearchRequest.of("rodeo in 77002"))
    assert question.where.place is not None
    assert question.where.place.name == "Houston"
    assert towns(collection, "rodeo 77002-1234") == ["Houston"]
    assert sorted(towns(collection, "rodeo within 20 km of 77002")) == ["Houston", "Pasadena"]
    assert towns(collection, "rodeo place:77002") == ["Houston"]


def test_a_zip_code_without_a_known_town_is_a_circle(collection: Collection) -> None:
    circle = collection.understand(SearchRequest.of("rodeo near 99950")).where.circle
    assert circle is not None
    assert circle.center == LonLat(-131.6, 55.3)


def test_a_number_that_is_no_zip_code_is_a_word(collection: Collection) -> None:
    assert not collection.understand(SearchRequest.of("catalogue 10001")).where
    assert collection.search(SearchRequest.of("10001")).total == 1


# -- Ambiguity -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def portlands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """Eight pages about two towns of one name, five of them about Oregon's, and one about Houston."""
    pages = [make_page(n, places=((4975802, 0.9),), text=f"Portland {n}") for n in range(3)]
    pages += [make_page(n, places=((5746545, 0.9),), text=f"Portland {n}") for n in range(3, 8)]
    pages.append(make_page(8, places=((HOUSTON, 0.9),), text="Houston"))
    with Collection.open([build_collection(tmp_path_factory.mktemp("two") / "crawl", pages).path]) as opened:
        yield opened


def test_candidates_come_with_their_counts(portlands: Collection) -> None:
    where = portlands.search(SearchRequest.of("in Portland")).to_json()["query"]["where"]
    assert [(place["admin1"], place["pages"]) for place in where] == [("OR", 5), ("ME", 3)]
    where = portlands.search(SearchRequest.of("in Portland", place="Portland, ME")).to_json()["query"]["where"]
    assert [place["admin1"] for place in where] == ["ME", "OR"]  # what is given wins, the other stays listed


@pytest.mark.parametrize("text", ["coffee within 30 km of Portland in 2025", "coffee north of Portland in 2025"])
def test_which_place_of_a_name_is_meant_changes_nothing_else(portlands: Collection, text: str) -> None:
    requests = SearchRequest.of(text), SearchRequest.of(text, place="Portland, ME")
    first, other = [portlands.search(request).to_json()["query"] for request in requests]
    assert [place["admin1"] for place in other["where"]] == ["ME", "OR"]
    assert (other["area"]["km"], other["area"]["relation"]) == (first["area"]["km"], first["area"]["relation"])
    assert round(other["area"]["lat"]) == 44
    assert other["without"] == first["without"]
    assert other["without"]["where"] == "coffee in 2025"


def test_which_of_two_is_meant_leaves_the_second_place(portlands: Collection) -> None:
    asked = portlands.search(SearchRequest.of('in Portland and Houston place:"Portland, ME"')).to_json()["query"]
    assert asked["where"][0]["admin1"] == "ME"
    assert [place["name"] for place in asked["also"]] == ["Houston"]
    assert asked["without"]["where"] == "in Houston"


# -- Did you mean, and completion ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rodoe in Houston", "rodeo in Houston"),
        ("rodeo in Huoston", "rodeo in Houston"),
        ("catalogeu", "catalogue"),
        ("rodeo in Houston", ""),
        ("qqqqqqq", ""),
        ('"rodoe"', ""),
        ("-rodoe qqqq", ""),
    ],
)
def test_did_you_mean(collection: Collection, typed: str, meant: str) -> None:
    assert collection.search(SearchRequest.of(typed)).did_you_mean == meant


def test_a_misspelt_place_that_was_given_is_an_error_with_a_hint(collection: Collection) -> None:
    with pytest.raises(QueryError, match="did you mean Houston"):
        collection.search(SearchRequest.of("rodeo", place="Huston"))


def test_edits_are_counted() -> None:
    assert distance("lisbon", "lisbon") == 0
    assert distance("lisbon", "lisobn") == 1
    assert distance("lisbon", "lisbn") == 1
    assert distance("lisbon", "libon") == 1
    assert distance("lisbon", "porto") == 99


def test_places_and_words_are_completed(collection: Collection) -> None:
    found = collection.suggest("rodeo in Hou").to_json()
    assert [place["text"] for place in found["places"]] == ["rodeo in Houston, Texas, United States"]
    assert collection.suggest("cat").to_json()["terms"] == [{"text": "catalogue", "pages": 1}]
    assert collection.suggest("big rod").to_json()["terms"] == [{"text": "big rodeo", "pages": 4}]
    assert collection.suggest("").to_json() == {"places": [], "terms": []}
    assert collection.suggest("x" * 10_000).to_json() == {"places": [], "terms": []}
    assert collection.suggest("((\x00 ' \\").to_json()["places"] == []
