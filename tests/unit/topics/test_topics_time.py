"""Time as a part of the topic: pages whose day lies outside its span are not relevant; unknown days are let through."""

from datetime import date

import pytest

from periplus.model import Located, Page
from periplus.places import Gazetteer
from periplus.settings import TopicSettings
from periplus.topics import judge, make_topic


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
