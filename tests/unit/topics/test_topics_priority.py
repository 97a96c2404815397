"""Link priorities: paper B's measures by hand, and what makes a link go first."""

import math

import pytest

from periplus.model import Link, Located, Page
from periplus.places import Gazetteer, locate
from periplus.settings import TopicSettings
from periplus.topics import LinkScorer, best_parts, judge, link_features, make_topic, packed_parts, unpacked_parts
from periplus.topics.priority import spatial_correlation

TEXT = "Lagos and Abuja are cities of Nigeria. Berlin is in Germany. Nairobi is in Kenya."


@pytest.fixture(scope="module")
def scorer(gazetteer: Gazetteer) -> LinkScorer:
    page = Page("http://example.com/", "Cities", TEXT, (), "en")
    located = locate(TEXT, gazetteer)
    topic = make_topic(TopicSettings(keywords={"flood": 1.0}, places={"Africa": 1.0}), "t", gazetteer)
    return LinkScorer(page, located, judge(page, located, topic), topic)


def test_spatial_correlation_by_hand(gazetteer: Gazetteer) -> None:
    lagos, berlin = gazetteer.resolve("Lagos, Nigeria"), gazetteer.resolve("Berlin, Germany")
    assert spatial_correlation([]) == 0.0
    assert spatial_correlation([lagos]) == 1.0
    assert spatial_correlation([lagos, lagos]) == 1.0
    half = math.pi * 6371.0088
    assert spatial_correlation([lagos, berlin]) == pytest.approx(1 - lagos.point.distance_km(berlin.point) / half)


def test_location_focus_is_places_by_words(scorer: LinkScorer) -> None:
    parts = scorer.parts(Link("http://example.com/x", "Lagos", "trains to", "run daily"))
    assert parts.focus == pytest.approx(1 / 5)
    assert parts.spatial == 0.0
    assert parts.rank == pytest.approx(1 / 10)


def test_links_into_the_topic_go_first(scorer: LinkScorer) -> None:
    inside = scorer.parts(Link("http://example.com/floods-in-lagos", "Floods in Lagos"))
    silent = scorer.parts(Link("http://example.com/more", "More"))
    outside = scorer.parts(Link("http://example.com/berlin", "Berlin"))
    assert inside.spatial == 1.0
    assert inside.priority > silent.priority > outside.priority
    assert all(0.0 <= value <= 1.0 for value in inside)


def test_the_priority_follows_from_its_parts(scorer: LinkScorer) -> None:
    link = Link("http://example.com/floods-in-lagos", "Lagos")
    parts = scorer.parts(link)
    assert parts.anchor == 1.0
    words = 0.2 + 0.8 * (0.5 * parts.parent_keywords + 0.5 * parts.keywords)
    places = 0.5 * parts.parent_places + 0.5 * parts.places
    assert parts.priority == pytest.approx(parts.time * (0.75 + 0.25 * parts.anchor) * words * places)


def test_a_name_counts_where_it_stands_in_the_text(scorer: LinkScorer) -> None:
    start = TEXT.index("Nairobi")
    parts = scorer.parts(Link("http://example.com/x", "Nairobi is", "", "", start, start + len("Nairobi is")))
    assert parts.anchor == pytest.approx(len("Nairobi") / len("Nairobi is"))


def test_parts_survive_the_store(scorer: LinkScorer) -> None:
    parts = scorer.parts(Link("http://example.com/floods-in-lagos", "Floods in Lagos"))
    again = unpacked_parts(packed_parts(parts))
    assert again.priority == pytest.approx(parts.priority, abs=1 / 255)
    assert len(packed_parts(parts)) == len(parts)


def test_odd_links_do_no_harm(scorer: LinkScorer) -> None:
    for url in ("", "http://[bad", "http://example.com/" + "a" * 5000, "http://example.com/%ff%00"):
        assert 0.0 <= scorer.parts(Link(url, "")).priority <= 1.0


def test_a_phrase_may_begin_in_the_anchor_and_end_in_the_url(gazetteer: Gazetteer) -> None:
    topic = make_topic(TopicSettings(keywords={"water supply": 1.0, "dam": 1.0}), "job", gazetteer)
    page, located = Page("http://a.test/", "", "", ()), Located()
    both = LinkScorer(page, located, judge(page, located, topic), topic)
    said = [both.parts(Link(f"http://{url}", anchor)).keywords for anchor, url in (
        ("clean water", "supply.test/"), ("clean water", "other.test/"), ("the dam", "x.test/dam"), ("", "x.test/"),
    )]  # fmt: skip
    assert said == [pytest.approx(0.7), 0.0, pytest.approx(0.7), 0.0]


def test_all_links_at_once_are_scored_like_each(scorer: LinkScorer) -> None:
    links = [Link(f"http://{name}.test/", name) for name in ("houston", "paris", "x")] * 2
    parts = best_parts([scorer], links)
    assert [tuple(parts[at : at + 9]) for at in range(0, len(parts), 9)] == [scorer.parts(link) for link in links]
    assert scorer.features(links) == [link_features(link, "en") for link in links]
