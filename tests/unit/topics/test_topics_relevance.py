"""Two-step relevance of paper C: hand-computed values, the table of R, keywords in many scripts, time."""

import math
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.errors import ConfigError
from periplus.model import Located, LonLat, Mention, Page, Place
from periplus.places import Gazetteer, open_gazetteer
from periplus.settings import TopicSettings
from periplus.topics import Topic, judge, link_priority, make_topic
from periplus.topics.keywords import count_keywords
from periplus.topics.relevance import relatedness


def spot(place_id: int, *ancestors: int) -> Place:
    return Place(place_id, f"P{place_id}", "city", "", "", LonLat(0, 0), 0, (), ancestors)


def page(text: str = "", title: str = "", language: str = "en", published: date | None = None) -> Page:
    return Page("http://example.com/", title, text, (), language=language, published=published)


def located(*counts: tuple[Place, int]) -> Located:
    mentions = [Mention(0, 1, "x", place, 1.0) for place, count in counts for _ in range(count)]
    return Located(mentions=(*mentions, Mention(0, 1, "unsettled", None, 0.1)))


# -- R(p_i, p_j) -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topic_place", "other", "expected"),
    [
        (spot(1), spot(1), 1.0),
        (spot(1), spot(9, 1), 0.6),  # inside, one level down
        (spot(1), spot(9, 1, 2), 0.4),
        (spot(1), spot(9, 1, 2, 3), 0.2),
        (spot(1), spot(9, 1, 2, 3, 4), 0.0),
        (spot(1), spot(9, 1, 2, 3, 4, 5), 0.0),
        (spot(1, 9), spot(9), 0.4),  # around, one level up
        (spot(1, 9, 2), spot(9), 0.2),
        (spot(1, 9, 2, 3), spot(9), 0.0),
        (spot(1, 7), spot(2, 7), 0.0),  # neighbours
        (spot(1), spot(2), 0.0),
    ],
)
def test_the_table_of_relatedness(topic_place: Place, other: Place, expected: float) -> None:
    assert relatedness(topic_place, other) == pytest.approx(expected)


# -- The worked example: the North Korea nuclear issue -------------------------------------------------

KEYWORDS = (
    ("nuclear test", 1.0),
    ("nuclear gallery", 0.29),
    ("resolution", 0.26),
    ("launch", 0.24),
    ("sanction", 0.21),
)
KOREA, SOUTH, AMERICA, JAPAN, CHINA = (spot(number, 100, 10) for number in (1, 2, 3, 4, 5))
PYONGYANG = spot(50, 100, 10, 1)
PLACES = ((KOREA, 1.0), (SOUTH, 0.34), (AMERICA, 0.2), (JAPAN, 0.07), (CHINA, 0.06))
TOPIC = Topic("nuclear", KEYWORDS, PLACES, 0.5, 0.5)


def test_the_worked_example_by_hand() -> None:
    text = (
        "North Korea announced a nuclear test. The nuclear tests led to a resolution and to sanctions. "
        "A resolution after the launch."
    )
    score = judge(page(text), located((KOREA, 3), (PYONGYANG, 2), (JAPAN, 1)), TOPIC)
    # counts: nuclear test 2, nuclear gallery 0, resolution 2, launch 1, sanction 1
    wanted, found = (1.0, 0.29, 0.26, 0.24, 0.21), (2, 0, 2, 1, 1)
    sim_k = sum(t * d for t, d in zip(wanted, found, strict=True))
    sim_k /= math.sqrt(sum(t * t for t in wanted)) * math.sqrt(sum(d * d for d in found))
    assert score.keyword_relevance == pytest.approx(sim_k)
    assert sim_k == pytest.approx((2 + 0.52 + 0.24 + 0.21) / (math.sqrt(1.2534) * math.sqrt(10)), abs=1e-9)
    # places: x = 3 + 0.6·2 for North Korea (Pyongyang lies directly in it here), 1 for Japan
    places = (1.0, 0.34, 0.2, 0.07, 0.06)
    x = (4.2, 0.0, 0.0, 1.0, 0.0)
    sim_p = sum(t * d for t, d in zip(places, x, strict=True))
    sim_p /= math.sqrt(sum(t * t for t in places)) * math.sqrt(sum(d * d for d in x))
    assert score.place_relevance == pytest.approx(sim_p)
    assert score.relevant
    assert score.keyword_evidence == {"nuclear test": 2, "resolution": 2, "launch": 1, "sanction": 1}
    assert score.place_evidence == pytest.approx({"P1": 4.2, "P4": 1.0})
    assert link_priority(score) == pytest.approx((sim_k + sim_p) / 2)


def test_both_steps_must_hold() -> None:
    on_topic = page("A nuclear test, another nuclear test.")
    assert judge(on_topic, located((KOREA, 2)), TOPIC).relevant
    assert not judge(on_topic, located((spot(77), 5)), TOPIC).relevant  # the right words, elsewhere
    assert not judge(page("Tourism and food."), located((KOREA, 2)), TOPIC).relevant  # the right place, other words
    assert not judge(page(""), Located(), TOPIC).relevant


def test_a_topic_may_leave_out_words_or_places() -> None:
    words_only = Topic("t", KEYWORDS, (), 0.5, 0.5)
    assert judge(page("nuclear test"), Located(), words_only).relevant
    assert judge(page("nuclear test"), Located(), words_only).place_relevance == 1.0
    places_only = Topic("t", (), PLACES, 0.5, 0.5)
    assert judge(page("anything"), located((KOREA, 1)), places_only).relevant
    assert not judge(page("anything"), Located(), places_only).relevant
    nothing = judge(page("anything"), Located(), Topic("t"))
    assert nothing.relevant
    assert link_priority(nothing) == 1.0


def test_places_in_and_around_the_topics_place_count_less_than_itself() -> None:
    topic = Topic("t", (), ((spot(1, 9), 1.0), (spot(2, 9), 0.5)), 0.5, 0.5)
    itself = judge(page(), located((spot(1, 9), 1)), topic).place_relevance
    around = judge(page(), located((spot(9), 1)), topic).place_relevance
    assert around > 0
    assert itself > 0
    assert judge(page(), located((spot(8), 4)), topic).place_relevance == 0.0


def test_the_title_counts() -> None:
    assert judge(page("", title="Nuclear test"), located((KOREA, 1)), TOPIC).relevant


@pytest.mark.parametrize(
    ("published", "relevant"),
    [(None, True), (date(2025, 1, 1), True), (date(2025, 12, 31), True), (date(2024, 12, 31), False),
     (date(2026, 1, 1), False)],
)  # fmt: skip
def test_the_time_span(published: date | None, relevant: bool) -> None:
    topic = Topic("t", (("flood", 1.0),), (), since=date(2025, 1, 1), until=date(2025, 12, 31))
    assert judge(page("flood", published=published), Located(), topic).relevant is relevant


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["flood", "dam", "river bank"]), st.floats(1e-6, 1.0)), max_size=3),
    st.text(alphabet="flod amrivebnk\n", max_size=80),
    st.lists(st.integers(1, 4), max_size=6),
)
def test_scores_are_numbers_between_nought_and_one(
    keywords: list[tuple[str, float]], text: str, mentioned: list[int]
) -> None:
    topic = Topic("t", tuple(dict(keywords).items()), ((spot(1), 1.0), (spot(2, 1), 1e-6)))
    score = judge(page(text), located(*((spot(number), 1) for number in mentioned)), topic)
    for value in (score.keyword_relevance, score.place_relevance, link_priority(score)):
        assert 0.0 <= value <= 1.0


# -- Keywords ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "keyword", "language", "count"),
    [
        ("flood floods flooding flooded", "flood", "en", 4),
        ("Flood FLOOD", "flood", "en", 2),
        ("floodlight", "flood", "en", 0),
        ("the river bank and river banks", "river bank", "en", 2),
        ("a bank by the river", "river bank", "en", 0),
        ("river-bank river_bank", "river bank", "en", 1),
        ("flood flood flood", "flood", "en", 3),
        ("flood flood flood flood", "flood flood", "en", 2),
        ("Überschwemmungen und Überschwemmung", "überschwemmung", "de", 2),
        ("inundaciones inundación", "inundación", "es", 2),
        ("наводнения наводнений", "наводнение", "ru", 2),
        ("洪水が起きた。洪水警報。", "洪水", "ja", 2),
        ("洪水 洪水", "洪水", "zh", 2),
        ("홍수가 났다", "홍수", "ko", 1),
        ("น้ำท่วมหนัก", "น้ำท่วม", "th", 1),
        ("flood", "flood", "xx", 1),
        ("flood", "flood", "", 1),
        ("", "flood", "en", 0),
        ("flood", "...", "en", 0),
        ("STRASSE", "straße", "de", 1),
    ],
)
def test_keywords_are_counted_by_stem_and_phrase(text: str, keyword: str, language: str, count: int) -> None:
    assert count_keywords(text, (keyword,), language) == [count]


def test_keywords_keep_their_order() -> None:
    assert count_keywords("dam dam flood", ("flood", "dam", "storm"), "en") == [1, 2, 0]
    assert count_keywords("dam", (), "en") == []


# -- Topics from a job ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gazetteer() -> Gazetteer:
    return open_gazetteer()


def test_a_topic_knows_its_places(gazetteer: Gazetteer) -> None:
    settings = TopicSettings(keywords={"nuclear test": 1.0}, places={"North Korea": 1.0, "Japan": 0.07}, threshold=0.4)
    topic = make_topic(settings, "job", gazetteer)
    assert topic.name == "job"
    assert [(place.name, weight) for place, weight in topic.places] == [("North Korea", 1.0), ("Japan", 0.07)]
    assert (topic.keyword_threshold, topic.place_threshold) == (0.4, 0.4)
    own = make_topic(TopicSettings(name="mine", keyword_threshold=0.1, place_threshold=0.2), "job", gazetteer)
    assert (own.name, own.keyword_threshold, own.place_threshold) == ("mine", 0.1, 0.2)


def test_an_unknown_place_is_an_error_of_the_job(gazetteer: Gazetteer) -> None:
    with pytest.raises(ConfigError, match=r"topic\.places: .*Portlandd"):
        make_topic(TopicSettings(places={"Portlandd": 1.0}), "job", gazetteer)


def test_real_places_are_related_as_the_hierarchy_says(gazetteer: Gazetteer) -> None:
    oregon, portland, usa = (gazetteer.resolve(name) for name in ("Oregon", "Portland, OR", "United States"))
    assert relatedness(oregon, portland) > 0
    assert relatedness(portland, oregon) > 0
    assert relatedness(oregon, portland) > relatedness(usa, portland)
    assert relatedness(portland, gazetteer.resolve("Portland, ME")) == 0.0
