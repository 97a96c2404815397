"""Time as the third part of a topic: the span since … until, the dates that count for it, and decay with age.

    published   1 inside the span, 0 outside; unknown days count as inside
    named       share of the dates named in the text that touch the span, scaled so that a third is enough for 0.5
    either      published where the page states its day, else named

With `half_life_days` a page's worth halves with every so many days of age, counted back from the day it was fetched
(or from `until`, if that is earlier); a page without a date counts as one half life old.
"""

from datetime import date

from periplus.topics.topic import Topic
from periplus.topics.view import View

__all__ = ["time_relevance"]

NAMED_HALF = 1 / 3
UNKNOWN_AGE = 0.5


def time_relevance(view: View, topic: Topic, today: date | None) -> float:
    """Relevance 0..1 of a page's time; 1 for topics that say nothing of time."""
    if topic.since is None and topic.until is None and not topic.half_life_days:
        return 1.0
    published = view.page.published
    if topic.dates == "named" or (topic.dates == "either" and published is None):
        inside, day = _by_named(view, topic), None
    else:
        inside, day = float(published is None or in_span(published, published, topic)), published
    return inside * _decay(day, topic, today) if inside else 0.0


def in_span(first: date, last: date, topic: Topic) -> bool:
    """Whether days touch the topic's span."""
    return not ((topic.since is not None and last < topic.since) or (topic.until is not None and first > topic.until))


def _by_named(view: View, topic: Topic) -> float:
    if topic.since is None and topic.until is None:
        return 1.0
    spans = view.named_dates
    if not spans:
        return 1.0
    share = sum(in_span(first, last, topic) for first, last in spans) / len(spans)
    return share * (1.0 + NAMED_HALF) / (share + NAMED_HALF)


def _decay(day: date | None, topic: Topic, today: date | None) -> float:
    if not topic.half_life_days:
        return 1.0
    now = min((d for d in (today, topic.until) if d is not None), default=None)
    if day is None or now is None:
        return UNKNOWN_AGE
    return float(0.5 ** (max(0, (now - day).days) / topic.half_life_days))
