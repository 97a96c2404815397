"""Searching a collection: what, where, when, over several nodes."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sample_collection import ATTACKS, PAGES, SamplePage, add_pages, build_collection, make_page

from periplus.errors import NotACrawl, QueryError
from periplus.search import Collection, SearchRequest, SearchResult
from periplus.search.shard import LocalShard
from periplus.store.database import open_reader


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = build_collection(tmp_path_factory.mktemp("search") / "crawl")
    with Collection.open([folder.path]) as opened:
        yield opened


def labels(result: SearchResult) -> list[str]:
    return [place.label for place in result.understood.where.candidates]


# -- Where -----------------------------------------------------------------------------------------


def test_pizza_in_lisbon_is_portugal_and_says_so(collection: Collection) -> None:
    result = collection.search(SearchRequest.of("pizza restaurant in Lisbon"))
    assert labels(result) == ["Lisbon, Lisbon District, Portugal", "Lisbon, New Hampshire, United States"]
    assert result.understood.what == "pizza restaurant"
    assert result.total == 24
    assert {hit.place.country for hit in result.hits if hit.place} == {"PT"}


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("pizza in Lisbon, NH", 5088597),
        ("pizza in Lisbon, New Hampshire", 5088597),
        ("pizza Lisbon NH", 5088597),
        ('pizza place:"Lisbon, NH"', 5088597),
        ("pizza place:5088597", 5088597),
        ("Lisbon, Portugal pizza", 2267057),
        ("coffee in Portland, Maine", 4975802),
        ("coffee in Portland", 5746545),
        ("coffee in Portland ME", 4975802),
        ("coffee in Portland OR", 5746545),
        ("in Portland, OR coffee", 5746545),
        ("PORTLAND coffee", 5746545),
        ("rodeo in Texas", 4736286),
        ("news from texas", 4736286),
        ("wine in the united states", 6252001),
    ],
)
def test_places_in_words(collection: Collection, question: str, place: int) -> None:
    chosen = collection.understand(SearchRequest.of(question)).where.place
    assert chosen is not None
    assert chosen.id == place


def test_a_word_that_is_rarely_the_place_stays_a_word(collection: Collection) -> None:
    result = collection.search(SearchRequest.of("mobile phone"))
    assert labels(result) == []
    assert result.total == 6
    assert collection.search(SearchRequest.of("ships in Mobile")).hits[0].title == "The port of Mobile"


def test_given_places_win_over_words(collection: Collection) -> None:
    result = collection.search(SearchRequest.of("pizza in Lisbon", place="5088597"))
    assert labels(result)[0] == "Lisbon, New Hampshire, United States"
    assert labels(result)[1] == "Lisbon, Lisbon District, Portugal"
    assert [hit.title for hit in result.hits] == ["Lisbon House of Pizza"]


def test_near_means_around(collection: Collection) -> None:
    question = collection.understand(SearchRequest.of("floods within 20 miles of Sylhet"))
    assert question.where.circle is not None
    assert question.where.circle.km == pytest.approx(32.19, abs=0.01)
    assert collection.search(SearchRequest.of("floods near Sylhet")).total == 1


def test_boxes_work_across_the_antimeridian(collection: Collection) -> None:
    across = collection.search(SearchRequest.of("", bbox="178,-20,-179,-15"))
    assert {hit.title for hit in across.hits} == {"Reef walks near Suva", "Taveuni on the date line"}
    assert collection.search(SearchRequest.of("", bbox="-179,-20,178,-15")).total == 0


def test_a_question_about_texas_finds_houston_and_dallas(collection: Collection) -> None:
    result = collection.search(SearchRequest.of("in Texas", limit=100))
    assert result.total == 33
    # Bicycles in Portland names Houston in passing, so it is there but last.
    assert result.hits[-1].title == "Bicycles in Portland"


def test_unknown_places_are_named_with_the_nearest(collection: Collection) -> None:
    with pytest.raises(QueryError, match="did you mean Portland"):
        collection.search(SearchRequest.of("", place="Portlund"))
    with pytest.raises(QueryError, match="no page of this collection is about place 42"):
        collection.search(SearchRequest.of("", place="42"))


def test_few_hits_are_filled_up_from_around_and_say_so(tmp_path: Path) -> None:
    pages = [
        make_page(1, title="Rodeo of Houston", text="A rodeo in Houston", places=((4699066, 0.9),)),
        make_page(2, title="Rodeo of Pasadena", text="A rodeo in Pasadena", places=((4718097, 0.9),)),
        make_page(3, title="Rodeo of Dallas", text="A rodeo in Dallas", places=((4684888, 0.9),)),
    ]
    with Collection.open([build_collection(tmp_path / "crawl", pages, nodes=("a",)).path]) as collection:
        result = collection.search(SearchRequest.of("rodeo in Houston"))
        assert [(hit.title, hit.relation) for hit in result.hits] == [
            ("Rodeo of Houston", "in"),
            ("Rodeo of Pasadena", "near"),
        ]
        assert result.total == 1
        assert [hit.rank for hit in result.hits] == [1, 2]
        texas = collection.search(SearchRequest.of("rodeo in Texas"))
        assert {hit.relation for hit in texas.hits} == {"in"}


# -- When ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("pizza in 2026", "2026-01-01", "2026-12-31"),
        ("pizza in May 2026", "2026-05-01", "2026-05-31"),
        ("pizza since 2026-03", "2026-03-01", None),
        ("pizza after 2025", "2026-01-01", None),
        ("pizza before 2026-05-17", None, "2026-05-16"),
        ("pizza after:2026-05 before:2026-07", "2026-05-01", "2026-06-30"),
        ("pizza in Lisbon in February 2026", "2026-02-01", "2026-02-28"),
    ],
)
def test_dates_in_words(collection: Collection, question: str, since: str | None, until: str | None) -> None:
    when = collection.search(SearchRequest.of(question)).to_json()["query"]["when"]
    assert when == {"since": since, "until": until}


def test_a_bare_year_is_a_word(collection: Collection) -> None:
    assert not collection.understand(SearchRequest.of("olympics 2026")).days


def test_trend_counts_by_month_and_fills_gaps(collection: Collection) -> None:
    trend = collection.trend(SearchRequest.of("inclass:food"), "month").to_json()
    assert trend["buckets"][0] == {"start": "2025-11-01", "count": 1}
    assert trend["buckets"][1] == {"start": "2025-12-01", "count": 0}
    assert sum(bucket["count"] for bucket in trend["buckets"]) == trend["total"]
    assert trend["undated"] == 0


@pytest.mark.parametrize("every", ["day", "week", "month", "year"])
def test_trend_buckets_add_up(collection: Collection, every: str) -> None:
    trend = collection.trend(SearchRequest.of(""), every)
    assert sum(bucket.count for bucket in trend.buckets) + trend.undated == trend.total
    assert [bucket.start for bucket in trend.buckets] == sorted(bucket.start for bucket in trend.buckets)


# -- What ------------------------------------------------------------------------------------------


def test_operators(collection: Collection) -> None:
    assert collection.search(SearchRequest.of("inclass:food -pizza")).total == 4
    assert collection.search(SearchRequest.of("site:lisbon-nh.example pizza")).total == 1
    assert collection.search(SearchRequest.of("pizza -site:lisbon-nh.example")).total == 24
    assert collection.search(SearchRequest.of('"house of pizza"')).total == 1
    assert collection.search(SearchRequest.of("lobster OR rodeo")).total == 2
    assert collection.search(SearchRequest.of("lang:pt")).total == 1


def test_words_that_no_page_has_together_are_searched_apart(collection: Collection) -> None:
    result = collection.search(SearchRequest.of("zeppelin lobster"))
    assert result.relaxed
    assert result.hits[0].title == "Lobster rolls of Portland"


def test_no_pages_are_promised_when_no_page_has_any_of_the_words(collection: Collection) -> None:
    result = collection.search(SearchRequest.of("zeppelin quixotism"))
    assert not result.hits
    assert not result.relaxed


def test_snippets_mark_what_and_where(collection: Collection) -> None:
    hit = collection.search(SearchRequest.of("pizza in Lisbon", limit=1)).hits[0]
    marked = {(hit.snippet[mark.start : mark.end].lower(), mark.kind) for mark in hit.marks}
    assert marked == {("pizza", "what"), ("lisbon", "where")}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_are_returned_as_the_text_they_are(collection: Collection, attack: str) -> None:
    titles = {hit.title for hit in collection.search(SearchRequest.of("harmless", limit=50)).hits}
    assert attack in titles


def test_sort_by_time_and_paging(collection: Collection) -> None:
    everything = collection.search(SearchRequest.of("", sort="time", limit=200)).hits
    dates = [hit.published or "" for hit in everything]
    assert dates == sorted(dates, reverse=True)
    pages = [
        hit.url
        for offset in range(0, len(everything), 7)
        for hit in collection.search(SearchRequest.of("", sort="time", limit=7, offset=offset)).hits
    ]
    assert pages == [hit.url for hit in everything]


@pytest.mark.parametrize("sort", ["relevance", "time"])
def test_paging_is_stable_where_all_are_equal(tmp_path: Path, sort: str) -> None:
    pages = [
        make_page(n, url=f"http://s{n}.example/", text=f"Equal number {n}", published="2026-05-05") for n in range(60)
    ]
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as collection:
        shown = [
            hit.url
            for offset in range(0, 60, 10)
            for hit in collection.search(SearchRequest.of("equal in Houston", sort=sort, offset=offset)).hits
        ]
    assert len(shown) == len(set(shown)) == 60


def test_facets_are_a_tree_with_counts(collection: Collection) -> None:
    places = collection.search(SearchRequest.of("in Texas")).to_json()["facets"]["places"]
    america = next(place for place in places if place["name"] == "North America")
    states = {state["name"]: state["count"] for state in america["children"][0]["children"]}
    assert states["Texas"] == 33


def test_explain_shows_the_parts_of_the_score(collection: Collection) -> None:
    hit = collection.search(SearchRequest.of("pizza in Lisbon", explain=True, limit=1)).hits[0]
    assert hit.explanation is not None
    assert hit.score == pytest.approx(hit.explanation["text"] * hit.explanation["geo"], rel=1e-4)
    assert hit.explanation["geo"] == pytest.approx(1.0 * (0.05 + 0.95 * 0.8))


def test_json_has_the_agreed_keys(collection: Collection) -> None:
    answer = json.loads(json.dumps(collection.search(SearchRequest.of("coffee in Portland")).to_json()))
    assert {"query", "total", "hits", "facets"} <= answer.keys()
    assert {"what", "where", "when"} <= answer["query"].keys()
    wanted = "rank url title snippet score published fetched topics place path other_places"
    assert set(wanted.split()) <= answer["hits"][0].keys()
    assert {"places", "topics"} <= answer["facets"].keys()
    place = answer["hits"][0]["place"]
    assert {"id", "name", "kind", "country", "admin1", "lat", "lon", "population", "path"} <= place.keys()


def test_a_page_leads_to_pages_like_it_and_near_it(collection: Collection) -> None:
    hit = collection.search(SearchRequest.of("lobster")).hits[0]
    view = collection.page(hit.node, hit.page, "lobster")
    assert view is not None
    assert [page["place"] for page in view["nearby"]] == ["Lisbon, New Hampshire, United States"]
    assert view["nearby"][0]["km"] == pytest.approx(146, abs=2)
    assert collection.page("nowhere", 1) is None
    assert collection.page(hit.node, 10**6) is None


def test_pages_like_a_page_share_its_words(tmp_path: Path) -> None:
    subjects = ["harbour cranes unload containers", "vineyard grapes ripen slowly", "glacier tongues retreat yearly"]
    pages = [make_page(n, title=f"Note {n}", text=f"{subjects[n % 3]} according to visitor {n}") for n in range(12)]
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as collection:
        hit = collection.search(SearchRequest.of("vineyard", limit=1)).hits[0]
        view = collection.page(hit.node, hit.page)
        assert view is not None
        alike = [collection.page(other["node"], other["page"]) for other in view["similar"][:3]]
        assert all(other and "vineyard" in other["text"] for other in alike)
        assert hit.url not in {other["url"] for other in view["similar"]}


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    ["", "   ", '"', '"unbalanced', "((((((", ")" * 900, "NOT NOT NOT", "-", "-pizza", "OR OR", "a:b:c", "title:x",
     "\x00\x01", "'; DROP TABLE page; --", "pizza AND (", "*", "?", "/.*/", "[a TO b]", "{}", "~", "^2", "\\", "💥",
     "in", "near", "within 5 km of", "in in in", "before", "since", "e\u0301", "\ud7ff" * 300, "- - - -pizza"],
)  # fmt: skip
def test_odd_questions_are_answered(collection: Collection, question: str) -> None:
    collection.search(SearchRequest.of(question))
    collection.trend(SearchRequest.of(question), "month")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": "x" * 2**20}, "characters long"),
        ({"text": " ".join("abcdefghij" * 10)}, "words"),
        ({"text": "inclass:"}, "needs a value"),
        ({"text": "before:2026-02-31"}, "not in the calendar"),
        ({"text": "after:tomorrow"}, "is no date"),
        ({"text": "near:91,0,10"}, "latitude"),
        ({"text": "-place:Lisbon"}, "not possible"),
        ({"bbox": "nan,0,1,1"}, "cannot be read"),
        ({"bbox": "0,10,1,0"}, "south"),
        ({"bbox": "1,2,3"}, "cannot be read"),
        ({"bbox": "-200,0,0,1"}, "longitude"),
        ({"near": "0,0,-5"}, "not above 0"),
        ({"near": "inf,0,5"}, "cannot be read"),
        ({"since": "2026-02-31"}, "not in the calendar"),
        ({"since": "2027", "until": "2026"}, "is after"),
        ({"since": "0000"}, "not in the calendar"),
        ({"sort": "price"}, "relevance or time"),
        ({"limit": 0}, "limit"),
        ({"offset": 10**9}, "offset"),
        ({"offset": -1}, "offset"),
        ({"place": "Lisbon", "bbox": "0,0,1,1"}, "exclude each other"),
    ],
)
def test_wrong_questions_say_what_is_wrong(collection: Collection, fields: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        collection.search(SearchRequest.of(**fields))  # type: ignore[arg-type]  # wrong on purpose
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_crawl(tmp_path: Path) -> None:
    with pytest.raises(NotACrawl, match="no such folder"):
        Collection.open([tmp_path / "nothing"])
    with pytest.raises(NotACrawl, match="not a crawl"):
        Collection.open([tmp_path])


# -- Several nodes and a running crawl -------------------------------------------------------------


def test_the_same_page_in_two_nodes_is_shown_once(tmp_path: Path) -> None:
    folder = build_collection(tmp_path / "crawl", PAGES[:4])
    add_pages(folder.node("east").database, [make_page(1)])
    add_pages(folder.node("west").database, [make_page(1)])
    with Collection.open([folder.path]) as collection:
        result = collection.search(SearchRequest.of("bayou"))
        assert [(hit.url, hit.alike) for hit in result.hits] == [(make_page(1).url, 1)]
        assert result.total == collection.trend(SearchRequest.of("bayou"), "year").total == 2


def test_a_collection_keeps_up_with_a_crawl(tmp_path: Path) -> None:
    folder = build_collection(tmp_path / "crawl", PAGES[:4])
    with Collection.open([folder.path]) as collection:
        assert not collection.refresh()
        add_pages(folder.node("west").database, [make_page(1)])
        assert collection.refresh()
        assert collection.search(SearchRequest.of("in Houston")).total == 1


def test_two_crawls_are_searched_as_one(tmp_path: Path) -> None:
    one = build_collection(tmp_path / "one", PAGES[:3], nodes=("a",))
    two = build_collection(tmp_path / "two", [make_page(1)], nodes=("a",))
    with Collection.open([one.path, two.path]) as collection:
        assert collection.search(SearchRequest.of("")).total == 4
        assert sorted(shard.key for shard in collection.shards) == ["one.a", "two.a"]


# -- What links say, and near-duplicates -----------------------------------------------------------


def test_a_page_is_found_by_what_links_say_about_it(tmp_path: Path) -> None:
    target = make_page(1, url="http://t.example/")
    folder = build_collection(tmp_path / "crawl", [target, make_page(2)], nodes=("east", "west"))
    with Collection.open([folder.path]) as collection:
        assert collection.search(SearchRequest.of("zeppelin")).total == 0
        # A page of the other node, committed later, links to it; that page is not even kept.
        link = (target.url, "the zeppelin museum", "east")
        add_pages(folder.node("west").database, [make_page(3, links=(link,), kept=False)])
        assert collection.refresh()
        assert [hit.url for hit in collection.search(SearchRequest.of("zeppelin")).hits] == [target.url]
        assert [hit.url for hit in collection.search(SearchRequest.of('"zeppelin museum"')).hits] == [target.url]
        assert not collection.refresh()


def test_links_known_before_the_page_count_too(tmp_path: Path) -> None:
    link = ("http://t.example/", "zeppelin museum", "a")
    folder = build_collection(tmp_path / "crawl", [make_page(1, links=(link,))], nodes=("a",))
    with Collection.open([folder.path]) as collection:
        add_pages(folder.node("a").database, [make_page(2, url="http://t.example/")])
        collection.refresh()
        assert [hit.url for hit in collection.search(SearchRequest.of("zeppelin")).hits] == ["http://t.example/"]


def test_a_much_linked_page_is_indexed_a_few_times_only(tmp_path: Path) -> None:
    target = make_page(0, url="http://t.example/")
    folder = build_collection(tmp_path / "crawl", [target], nodes=("a",))
    again = 0
    with Collection.open([folder.path]) as collection:
        for n in range(1, 21):
            link = (target.url, f"praise number{n}", "a")
            add_pages(folder.node("a").database, [make_page(n, url=f"http://s{n}.example/", links=(link,))])
            db = collection.shards[0]
            assert isinstance(db, LocalShard)
            with closing(open_reader(db.folder.database)) as reader:
                again += db.index.update(reader) - 1
        assert again == 3  # at 1, 4 and 16 texts
        assert collection.search(SearchRequest.of("number16")).total == 1


def test_a_page_that_changed_is_found_by_its_new_words_only(tmp_path: Path) -> None:
    folder = build_collection(tmp_path / "crawl", [make_page(1, text="About zeppelins")], nodes=("a",))
    with Collection.open([folder.path]) as collection:
        add_pages(folder.node("a").database, [make_page(1, text="About submarines")])
        collection.refresh()
        assert collection.search(SearchRequest.of("zeppelins")).total == 0
        assert collection.search(SearchRequest.of("submarines")).total == 1
        add_pages(folder.node("a").database, [make_page(1, kept=False)])
        collection.refresh()
        assert collection.search(SearchRequest.of("")).total == 0


def test_near_duplicates_are_shown_once_unless_their_places_differ(tmp_path: Path) -> None:
    story = "The ferry leaves at noon and returns with the tide; tickets are sold at the pier, and dogs travel free. "
    pages = [
        make_page(n, url=f"http://ferry.example/{n}", text=f"{story * 4}Day {n}.", compared=True) for n in range(60)
    ]
    pages.append(
        make_page(99, text=f"{story * 4}Day 99.", compared=True, places=((4684888, 0.9),), published="2026-05-05")
    )
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as collection:
        result = collection.search(SearchRequest.of("ferry"))
        assert sorted((hit.place.name, hit.alike) for hit in result.hits if hit.place) == [
            ("Dallas", 0),
            ("Houston", 59),
        ]
        assert result.total == 61


def test_a_question_has_one_total_however_many_hits_are_asked_for(tmp_path: Path) -> None:
    story = "The ferry leaves at noon and returns with the tide; tickets are sold at the pier, and dogs travel free. "
    pages = [
        make_page(n, url=f"http://ferry.example/{n}", text=f"{story * 4}Day {n}.", compared=True) for n in range(60)
    ]
    pages += [make_page(100 + n, text=f"Ferry {n}", places=((4718097, 0.9),)) for n in range(5)]
    with Collection.open([build_collection(tmp_path / "crawl", pages).path]) as collection:
        request = SearchRequest.of("ferry")
        counted = {collection.search("ferry", limit=limit).total for limit in (1, 5, 50, 200)}
        assert counted == {65} == {collection.facets_of(request)["total"], collection.trend(request, "year").total}
        seen = collection.search("ferry", limit=50).hits
        assert len(seen) + sum(hit.alike for hit in seen) == 65
        assert [hit.rank for hit in seen] == list(range(1, len(seen) + 1))
        assert not collection.search("ferry", limit=50, offset=len(seen)).hits
        houston = collection.search("ferry in Houston", limit=10)
        assert houston.total == 60
        assert [(hit.rank, hit.relation) for hit in houston.hits] == [(1, "in"), *((n, "near") for n in range(2, 7))]
        assert not collection.search("ferry in Houston", limit=10, offset=10).hits


# -- Paging while a crawl goes on ------------------------------------------------------------------


def test_paging_is_stable_while_pages_are_added(tmp_path: Path) -> None:
    def rodeo(number: int, published: str) -> SamplePage:
        title = f"Rodeo {number} " + "rodeo " * (number % 7)
        return make_page(number, url=f"http://s{number}.example/", title=title, published=published)

    folder = build_collection(tmp_path / "crawl", [rodeo(n, "2026-05-05") for n in range(40)])
    with Collection.open([folder.path]) as collection:
        whole = [hit.url for hit in collection.search("rodeo", limit=40).hits]
        choices: list[dict[str, Any]] = [{}, {"sort": "time"}]
        for options in choices:
            expected = [hit.url for hit in collection.search("rodeo", limit=200, **options).hits]
            first = collection.search("rodeo", limit=10, **options)
            shown = [hit.url for hit in first.hits]
            for offset in range(10, len(expected), 10):
                new = 100 + offset + 50 * len(options)
                add_pages(folder.node("east").database, [rodeo(new, "2026-09-09")])  # would come first
                collection.refresh()
                answer = collection.search("rodeo", limit=10, offset=offset, as_of=first.as_of, **options)
                shown += [hit.url for hit in answer.hits]
                assert answer.as_of == first.as_of
            assert shown == expected
        assert set(whole) <= {hit.url for hit in collection.search("rodeo", limit=100).hits}
        assert collection.search("rodeo").total > 40


@pytest.mark.parametrize("text", ["x", "a:b", "a:1,", ":1", "a:9999999999999999999", "a:1" * 9999])
def test_a_state_that_no_answer_gave_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="as_of"):
        SearchRequest.of("x", as_of=text)


def test_crawls_without_a_name_are_called_as_their_folders(tmp_path: Path) -> None:
    floods, dams = (build_collection(tmp_path / name) for name in ("floods", "dams"))
    floods.job_file.write_text('seeds = ["http://127.0.0.1/"]', "utf-8")
    dams.job_file.write_text('seeds = ["http://127.0.0.1/"]\nname = "Dams of the world"', "utf-8")
    with Collection.open([floods.path, dams.path]) as opened:
        assert [crawl["name"] for crawl in opened.info()["crawls"]] == ["floods", "Dams of the world"]
