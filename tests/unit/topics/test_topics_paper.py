"""Paper C's rule against values worked out by hand, and the one-vector baseline."""

import math

import pytest

from periplus.model import Located, Mention, Page
from periplus.places import Gazetteer
from periplus.settings import RelatednessSettings, TopicSettings
from periplus.topics import Topic, judge, make_topic
from periplus.topics.keywords import count_keywords
from periplus.topics.relevance import cosine, one_vector, two_step

KEYWORDS = {"nuclear test": 1.0, "nuclear gallery": 0.29, "resolution": 0.26, "launch": 0.24, "sanction": 0.21}
PLACES = {"North Korea": 1.0, "South Korea": 0.34, "United States": 0.2, "Japan": 0.07, "China": 0.06}
NORM_K = math.sqrt(1 + 0.29**2 + 0.26**2 + 0.24**2 + 0.21**2)
NORM_P = math.sqrt(1 + 0.34**2 + 0.2**2 + 0.07**2 + 0.06**2)


@pytest.fixture(scope="module")
def topic(gazetteer: Gazetteer) -> Topic:
    return make_topic(TopicSettings(judge="paper", keywords=KEYWORDS, places=PLACES), "korea", gazetteer)


def mention(gazetteer: Gazetteer, name: str) -> Mention:
    return Mention(0, 0, name, gazetteer.resolve(name), 1.0)


def test_keyword_step_of_the_worked_example(topic: Topic) -> None:
    score = two_step([3, 0, 1, 0, 2], {}, topic)
    by_hand = (3 * 1 + 1 * 0.26 + 2 * 0.21) / (NORM_K * math.sqrt(9 + 1 + 4))
    assert score.keyword_relevance == pytest.approx(by_hand, abs=1e-12)
    assert by_hand == pytest.approx(0.8785, abs=5e-5)
    assert score.place_relevance == 0.0
    assert not score.relevant


def test_place_step_of_the_worked_example(topic: Topic, gazetteer: Gazetteer) -> None:
    pyongyang, seoul = gazetteer.resolve("Pyongyang"), gazetteer.resolve("Seoul, South Korea")
    north = gazetteer.resolve("North Korea")
    steps = [len(p.ancestors) - 2 for p in (pyongyang, seoul)]  # below their countries
    inside = {1: 0.6, 2: 0.4, 3: 0.2}
    score = two_step([1, 0, 0, 0, 0], {north.id: 2, pyongyang.id: 3, seoul.id: 1}, topic)
    x = [2 + 3 * inside[steps[0]], inside[steps[1]]]
    by_hand = (x[0] * 1 + x[1] * 0.34) / (NORM_P * math.hypot(*x))
    assert score.place_relevance == pytest.approx(by_hand, abs=1e-12)
    assert score.relevant


@pytest.mark.parametrize(
    ("name", "worth"),
    [("United States", 1.0), ("Texas", 0.6), ("Harris County, TX", 0.4), ("Houston, TX", 0.2), ("North America", 0.4),
     ("World", 0.2), ("Canada", 0.0), ("Paris, France", 0.0)],
)  # fmt: skip
def test_table_of_r(gazetteer: Gazetteer, name: str, worth: float) -> None:
    topic = make_topic(TopicSettings(judge="paper", places={"United States": 1.0}), "usa", gazetteer)
    place = gazetteer.resolve(name)
    assert dict(topic.related.get(place.id, ())).get(0, 0.0) == pytest.approx(worth)


def test_factors_of_r_can_be_set(gazetteer: Gazetteer) -> None:
    factors = RelatednessSettings(inside=(1.0, 1.0, 1.0), around=())
    topic = make_topic(TopicSettings(judge="paper", places={"Texas": 1.0}, relatedness=factors), "t", gazetteer)
    assert topic.related[gazetteer.resolve("Houston, TX").id] == ((0, 1.0),)
    assert gazetteer.resolve("United States").id not in topic.related


def test_thresholds_default_to_half_and_can_differ(gazetteer: Gazetteer) -> None:
    plain = make_topic(TopicSettings(judge="paper", keywords={"x": 1}), "t", gazetteer)
    assert (plain.keyword_threshold, plain.place_threshold) == (0.5, 0.5)
    both = TopicSettings(judge="paper", keywords={"x": 1}, threshold=0.4, place_threshold=0.2)
    set_apart = make_topic(both, "t", gazetteer)
    assert (set_apart.keyword_threshold, set_apart.place_threshold) == (0.4, 0.2)


def test_one_vector_is_one_cosine_without_relatedness(gazetteer: Gazetteer) -> None:
    settings = TopicSettings(judge="one-vector", keywords={"flood": 1.0}, places={"Texas": 0.5})
    topic = make_topic(settings, "t", gazetteer)
    assert topic.keyword_threshold == 0.65
    texas, houston = gazetteer.resolve("Texas").id, gazetteer.resolve("Houston, TX").id
    score = one_vector([2], {texas: 1, houston: 5}, topic)
    by_hand = (2 * 1.0 + 1 * 0.5) / (math.hypot(1.0, 0.5) * math.hypot(2, 1))
    assert score.keyword_relevance == score.place_relevance == pytest.approx(by_hand)


def test_parts_may_be_empty_and_nothing_is_nan(gazetteer: Gazetteer) -> None:
    for kind in ("paper", "one-vector", "default"):
        for settings in (
            TopicSettings(judge=kind),
            TopicSettings(judge=kind, keywords={"flood": 1.0}),
            TopicSettings(judge=kind, places={"Texas": 1.0}),
        ):
            score = judge(Page("", "", "", ()), Located(), make_topic(settings, "t", gazetteer))
            assert 0.0 <= score.keyword_relevance <= 1.0
            assert 0.0 <= score.place_relevance <= 1.0
    assert cosine([1.0], [0]) == 0.0
    assert cosine([], []) == 1.0


def test_judge_counts_stems_phrases_and_places(gazetteer: Gazetteer, topic: Topic) -> None:
    page = Page("", "Nuclear tests", "A nuclear test and new sanctions. Nuclear testing, launched.", (), "en")
    located = Located((mention(gazetteer, "North Korea"),))
    score = judge(page, located, topic)
    assert score.keyword_evidence == {"nuclear test": 3.0, "launch": 1.0, "sanction": 1.0}
    assert score.relevant


@pytest.mark.parametrize(
    ("text", "keyword", "language", "count"),
    [
        ("Die Häuser und das Haus", "Haus", "de", 2),
        ("inundaciones, inundación", "inundación", "es-MX", 2),
        ("北朝鮮の核実験と核実験場", "核実験", "ja", 2),
        ("핵실험을 했다", "핵실험", "ko", 1),
        ("crude oil, crude oils; crude. Oil", "crude oil", "en", 3),
        ("", "x", "en", 0),
    ],
)
def test_keywords_in_several_languages(text: str, keyword: str, language: str, count: int) -> None:
    assert count_keywords(text, (keyword,), language) == [count]
