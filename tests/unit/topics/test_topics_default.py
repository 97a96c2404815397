"""The default judge with topics written by hand: what a user expects of it."""

import pytest

from periplus.errors import ConfigError
from periplus.model import Page, Score
from periplus.places import Gazetteer, locate
from periplus.settings import TopicSettings, job_from_dict
from periplus.topics import judge, make_topic

FILLER = " ".join(["The committee discussed its annual report and then moved to other business."] * 30)
KOREA = TopicSettings(
    keywords={"nuclear test": 1.0, "nuclear gallery": 0.29, "resolution": 0.26, "launch": 0.24, "sanction": 0.21},
    places={"North Korea": 1.0, "South Korea": 0.34, "United States": 0.2, "Japan": 0.07, "China": 0.06},
)


def scored(settings: TopicSettings, text: str, gazetteer: Gazetteer, *, title: str = "", url: str = "") -> Score:
    page = Page(url, title, text, (), "en")
    return judge(page, locate(text, gazetteer, url=url), make_topic(settings, "t", gazetteer))


def test_a_page_about_topic_and_place_is_relevant(gazetteer: Gazetteer) -> None:
    text = (
        "North Korea carried out a nuclear test on Monday. The government in Pyongyang called the nuclear test a "
        "success. South Korea and Japan asked for sanctions, and the United States proposed a resolution."
    )
    score = scored(KOREA, text, gazetteer)
    assert score.relevant
    assert score.keyword_evidence["nuclear test"] == 2.0
    assert "North Korea" in score.place_evidence


def test_supporting_places_cannot_replace_the_target(gazetteer: Gazetteer) -> None:
    text = "The United States, China and Japan met in Washington. A nuclear test ban, a resolution and sanctions."
    score = scored(KOREA, text, gazetteer)
    assert score.place_relevance == 0.0
    assert not score.relevant


def test_one_city_in_a_long_text_is_not_a_page_about_its_country(gazetteer: Gazetteer) -> None:
    usa = TopicSettings(places={"United States": 1.0})
    assert not scored(usa, f"{FILLER} A member came from Chicago. {FILLER}", gazetteer).relevant
    about = "Chicago and Houston are growing, and so is Boston. Texas has a new law. The United States gained jobs."
    assert scored(usa, about, gazetteer).relevant


def test_most_keywords_of_many_make_a_page_relevant(gazetteer: Gazetteer) -> None:
    words = ("flood", "levee", "rainfall", "evacuation", "river", "dam", "storm", "rescue")
    topic = TopicSettings(keywords=dict.fromkeys(words, 1.0))
    most = f"{FILLER} flood {FILLER} rainfall evacuation {FILLER} river dam storm."
    assert scored(topic, most, gazetteer).relevant
    assert not scored(topic, f"{FILLER} The river. {FILLER}", gazetteer).relevant


BRIEF = (
    "SYLHET (Agency) - Heavy rain has caused a flood in low parts of Sylhet, the district office said on Tuesday. "
    "Schools stay closed until Thursday. Boats bring food and water to some two thousand families."
)


def test_a_brief_need_not_name_its_keyword_twice(gazetteer: Gazetteer) -> None:
    topic = TopicSettings(keywords={"flood": 1.0, "dam": 0.5}, places={"Sylhet": 1.0})
    assert scored(topic, BRIEF, gazetteer, title="Schools closed").relevant
    assert not scored(topic, f"{BRIEF} {FILLER}", gazetteer, title="Schools closed").relevant, "one word among many"
    assert not scored(topic, BRIEF.replace("flood", "traffic jam"), gazetteer, title="Schools closed").relevant
    lesser = TopicSettings(keywords={"flood": 0.5, "dam": 1.0}, places={"Sylhet": 1.0})
    assert not scored(lesser, BRIEF, gazetteer, title="Schools closed").relevant, "a lesser keyword is not enough"


def test_rivers_and_ranges_around_a_target_say_nothing_against_it(gazetteer: Gazetteer) -> None:
    lisbon = TopicSettings(places={"Lisbon, Portugal": 1.0})
    with_river = scored(lisbon, "The Tagus is wide in Lisbon. Ships on the Tagus wait for the Tagus bridge.", gazetteer)
    without = scored(lisbon, "The water is wide in Lisbon. Ships on the water wait for the high bridge.", gazetteer)
    assert with_river.place_relevance == pytest.approx(without.place_relevance)
    texas = TopicSettings(places={"Texas": 1.0})
    far, plain = (
        scored(texas, f"The {water} is wide. Houston is not there.", gazetteer) for water in ("Tagus", "water")
    )
    assert far.place_relevance < plain.place_relevance, "a river of another continent does"


def test_several_equal_places_count_together(gazetteer: Gazetteer) -> None:
    topic = TopicSettings(places={"Portugal": 1.0, "Spain": 1.0})
    assert scored(topic, "From Lisbon to Madrid: trains between Portugal and Spain.", gazetteer).relevant
    assert scored(topic, "Porto and Lisbon have new trams.", gazetteer).relevant
    assert not scored(topic, "Berlin, Munich and Hamburg have new trams, as Lisbon has.", gazetteer).relevant


def test_title_and_site_count(gazetteer: Gazetteer) -> None:
    topic = TopicSettings(keywords={"tram": 1.0}, places={"Portugal": 1.0})
    text = f"{FILLER} Lisbon. {FILLER}"
    plain = scored(topic, text, gazetteer)
    headed = scored(topic, text, gazetteer, title="Lisbon trams", url="http://example.pt/")
    assert headed.keyword_relevance > plain.keyword_relevance
    assert headed.place_relevance > plain.place_relevance


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Straßenbahnen in München und Köln. Deutschland baut aus.", "de"),
        ("Alemania: los tranvías de Múnich y de Colonia.", "es"),
        ("Les tramways de Munich et de Cologne, en Allemagne.", "fr"),
        ("ドイツのミュンヘンの路面電車", "ja"),
        ("Трамваи: Мюнхен, Германия", "ru"),
    ],
)
def test_a_place_counts_under_all_its_names(gazetteer: Gazetteer, text: str, language: str) -> None:
    topic = make_topic(TopicSettings(places={"Germany": 1.0}), "t", gazetteer)
    assert judge(Page("", "", text, (), language), locate(text, gazetteer), topic).relevant


@pytest.mark.parametrize(
    ("url", "counts"),
    [
        ("http://example.com/lisbon/trams", True),
        ("http://www.lisbon-trams.example/", True),
        ("http://example.pt/", True),
        ("http://example.com/portugal", True),
        ("http://example.com/", False),
        ("http://example.com/madrid/trams", False),
        ("http://example.com/lisbonne", False),
    ],
)
def test_a_place_in_the_url_is_the_pages_home(gazetteer: Gazetteer, url: str, counts: bool) -> None:
    topic = TopicSettings(places={"Portugal": 1.0})
    assert (scored(topic, FILLER, gazetteer, url=url).place_relevance > 0.0) is counts


def test_a_name_in_the_url_counts_only_for_the_place_that_it_means(gazetteer: Gazetteer) -> None:
    texas = TopicSettings(places={"Texas": 1.0})
    assert scored(texas, FILLER, gazetteer, url="http://example.com/houston").place_relevance > 0.0
    assert scored(texas, FILLER, gazetteer, url="http://example.com/paris").place_relevance == 0.0


def test_the_country_of_a_domain_is_not_the_town_in_it(gazetteer: Gazetteer) -> None:
    """A Portuguese site without a place name says nothing for Lisbon, an American one nothing for Texas."""
    for place, url in (("Lisbon", "http://example.pt/"), ("Texas", "http://example.us/")):
        assert scored(TopicSettings(places={place: 1.0}), FILLER, gazetteer, url=url).place_relevance == 0.0


def test_points_move_the_decision(gazetteer: Gazetteer) -> None:
    made = [
        make_topic(TopicSettings(keywords={"x": 1}, point=p), "t", gazetteer) for p in ("wide", "balanced", "strict")
    ]
    assert made[0].keyword_threshold < made[1].keyword_threshold < made[2].keyword_threshold
    assert made[0].place_threshold < made[1].place_threshold < made[2].place_threshold


def test_keywords_may_be_place_names_and_stop_words(gazetteer: Gazetteer) -> None:
    topic = TopicSettings(keywords={"Paris agreement": 1.0, "end of life": 0.5})
    score = scored(topic, "The Paris Agreement, and again the Paris agreement, on the end of life.", gazetteer)
    assert score.keyword_evidence == {"Paris agreement": 2.0, "end of life": 1.0}


@pytest.mark.parametrize("weight", [0.0, -1.0, 1.5, float("nan"), float("inf")])
def test_weights_out_of_range_are_refused(weight: float) -> None:
    with pytest.raises(ConfigError, match=r"topic\.keywords"):
        job_from_dict({"topic": {"keywords": {"x": weight}}}, "job.toml")


def test_unknown_and_ambiguous_places_are_refused_with_candidates(gazetteer: Gazetteer) -> None:
    with pytest.raises(ConfigError, match=r"topic\.places"):
        make_topic(TopicSettings(places={"Nowhereville Zzz": 1.0}), "t", gazetteer)
    with pytest.raises(ConfigError, match="Springfield"):
        make_topic(TopicSettings(places={"Springfield": 1.0}), "t", gazetteer)


def test_ten_thousand_keywords_work(gazetteer: Gazetteer) -> None:
    topic = TopicSettings(keywords={f"word{i}": 1.0 for i in range(10_000)})
    score = scored(topic, "word17 and word99 " + FILLER, gazetteer)
    assert set(score.keyword_evidence) == {"word17", "word99"}
    assert not score.relevant
