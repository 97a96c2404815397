"""Time as a part of the topic: pages whose day lies outside its span are not relevant; unknown days are let through."""

from datetime import date, timedelta
from typing import Literal

import pytest

from periplus.model import Link, Located, Page
from periplus.places import Gazetteer
from periplus.settings import TopicSettings
from periplus.topics import LinkScorer, judge, make_topic
from periplus.topics.named_dates import named_dates


@pytest.mark.parametrize(
    ("published", "relevant"),
    [
        (date(2025, 12, 31), False),
        (date(2026, 1, 1), True),
        (date(2026, 6, 30), True),
        (date(2026, 7, 1), False),
        (None, True),
    ],
)
def test_since_and_until(gazetteer: Gazetteer, published: date | None, relevant: bool) -> None:
    settings = TopicSettings(keywords={"flood": 1.0}, since=date(2026, 1, 1), until=date(2026, 6, 30))
    topic = make_topic(settings, "floods", gazetteer)
    page = Page("http://a.test/", "Flood", "Flood after flood after flood.", (), language="en", published=published)
    assert judge(page, Located(), topic).relevant is relevant


def flood(text: str = "Flood after flood.", published: date | None = None) -> Page:
    return Page("http://a.test/", "Flood", text, (), "en", published=published)


@pytest.mark.parametrize(
    ("dates", "published", "text", "relevant"),
    [
        ("published", None, "The flood of 1953.", True),  # an unknown day is let through, whatever the text names
        ("published", date(2020, 1, 1), "The flood of March 2026.", False),
        ("named", date(2020, 1, 1), "The flood of March 2026.", True),
        ("named", date(2026, 3, 1), "The floods of 1953, 1954 and 1955.", False),
        ("either", date(2020, 1, 1), "The flood of March 2026.", False),
        ("either", None, "The flood of March 2026.", True),
        ("either", None, "The flood of 3 May 1953.", False),
        ("either", None, "The flood of 2026年3月.", True),
        ("either", None, "No day is named.", True),
    ],
)
def test_which_dates_count(
    gazetteer: Gazetteer,
    dates: Literal["published", "named", "either"],
    published: date | None,
    text: str,
    relevant: bool,
) -> None:
    settings = TopicSettings(keywords={"flood": 1.0}, since=date(2026, 1, 1), until=date(2026, 6, 30), dates=dates)
    assert (
        judge(flood(f"Flood, flood. {text}", published), Located(), make_topic(settings, "t", gazetteer)).relevant
        is relevant
    )


def test_age_halves_what_a_page_is_worth_and_can_drop_it(gazetteer: Gazetteer) -> None:
    settings = TopicSettings(keywords={"flood": 1.0}, half_life_days=30, time_threshold=0.2)
    topic, today = make_topic(settings, "t", gazetteer), date(2026, 5, 1)
    ages = {30: 0.5, 60: 0.25, 90: 0.125, 0: 1.0, -10: 1.0}
    for days, worth in ages.items():
        score = judge(flood(published=today - timedelta(days=days)), Located(), topic, today)
        assert score.time_relevance == pytest.approx(worth)
        assert score.relevant is (worth >= 0.2)
    assert judge(flood(), Located(), topic, today).time_relevance == pytest.approx(0.5), "of unknown age"


def test_age_is_counted_back_from_the_end_of_the_span(gazetteer: Gazetteer) -> None:
    settings = TopicSettings(keywords={"flood": 1.0}, half_life_days=10, until=date(2026, 1, 31))
    score = judge(
        flood(published=date(2026, 1, 21)), Located(), make_topic(settings, "t", gazetteer), date(2026, 12, 1)
    )
    assert score.time_relevance == pytest.approx(0.5)


def test_links_of_pages_out_of_time_wait_longer(gazetteer: Gazetteer) -> None:
    topic = make_topic(TopicSettings(keywords={"flood": 1.0}, half_life_days=30), "t", gazetteer)
    today = date(2026, 5, 1)
    worth = []
    for published in (today, today - timedelta(days=300)):
        page = flood(published=published)
        score = judge(page, Located(), topic, today)
        worth.append(LinkScorer(page, Located(), score, topic).parts(Link("http://a.test/next", "next")))
    assert worth[0].priority > worth[1].priority
    assert worth[0].time == 1.0
    assert worth[1].time == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 2026-03-04", date(2026, 3, 4), date(2026, 3, 4)),
        ("on 4 March 2026", date(2026, 3, 4), date(2026, 3, 4)),
        ("on March 4th, 2026", date(2026, 3, 4), date(2026, 3, 4)),
        ("im März 2026", date(2026, 3, 1), date(2026, 3, 31)),
        ("el 4 de marzo de 2026", date(2026, 3, 4), date(2026, 3, 4)),
        ("in 2026", date(2026, 1, 1), date(2026, 12, 31)),
    ],
)
def test_dates_named_in_texts(text: str, first: date, last: date) -> None:
    assert named_dates(text) == ((first, last),)


def test_nonsense_is_no_date() -> None:
    assert named_dates("2026-13-45, 31 June 2026, flight 3456, 10000") == ()
