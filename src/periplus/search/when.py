"""The "when" of a question: dates in its words ("in 2024", "since May 2025", "May 2025")."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from periplus.errors import QueryError
from periplus.index import EVER, DayRange
from periplus.search.request import parse_day
from periplus.search.words import Operator, Word

__all__ = ["DateWords", "days_of_operators", "find_date_words", "intersect"]

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_SPAN = re.compile(r"(?:19|20)\d\d(?:-\d{1,2}(?:-\d{1,2})?)?")
_STARTS = {"in": "in", "during": "in", "since": "since", "after": "after", "before": "before", "until": "until"}


@dataclass(frozen=True, slots=True)
class DateWords:
    """Date words in a question, from word `start` to `end`, and the days they mean."""

    start: int
    end: int
    days: DayRange


def find_date_words(words: Sequence[Word]) -> DateWords | None:
    """The first date in the question. A bare year is a word, not a date: "world cup 2026"."""
    for start, word in enumerate(words):
        if word.quoted or word.excluded or word.alternative:
            continue
        relation = _STARTS.get(word.text.lower())
        span = _span(words, start + 1) if relation else None
        if relation and span:
            return DateWords(start, span[1], _days(relation, span[0]))
        month = _span(words, start)
        if month and month[1] > start + 1:
            return DateWords(start, month[1], _days("in", month[0]))
    return None


def _span(words: Sequence[Word], start: int) -> tuple[str, int] | None:
    """`2024`, `2024-05`, `2024-05-17` or `May 2024` at this word, and where the words go on."""
    if start >= len(words):
        return None
    text = words[start].text.lower()
    if _SPAN.fullmatch(text):
        return text, start + 1
    number = next((n for n, name in enumerate(_MONTHS, 1) if text in (name, name[:3])), None)
    if number and start + 1 < len(words) and re.fullmatch(r"(?:19|20)\d\d", words[start + 1].text):
        return f"{words[start + 1].text}-{number:02d}", start + 2
    return None


def _days(relation: str, span: str) -> DayRange:
    first, last = parse_day(span, "date"), parse_day(span, "date", last=True)
    if relation == "in":
        return DayRange(first, last)
    if relation == "since":
        return DayRange(since=first)
    if relation == "until":
        return DayRange(until=last)
    return _beside(relation, first, last)


def _beside(relation: str, first: date, last: date) -> DayRange:
    """Strictly `after` or `before` the span."""
    if relation == "after":
        return DayRange(since=date.fromordinal(last.toordinal() + 1))
    return DayRange(until=date.fromordinal(first.toordinal() - 1))


def days_of_operators(operators: Sequence[Operator]) -> DayRange:
    """`after:2025` (that span included) and `before:2026-05` (not included)."""
    days = EVER
    for operator in operators:
        if operator.name == "after":
            days = intersect(days, DayRange(since=parse_day(operator.value, "after:")))
        elif operator.name == "before":
            first = parse_day(operator.value, "before:")
            days = intersect(days, DayRange(until=date.fromordinal(max(1, first.toordinal() - 1))))
    return days


def intersect(one: DayRange, other: DayRange) -> DayRange:
    """The days of both. Raises QueryError if there are none."""
    since = max((day for day in (one.since, other.since) if day), default=None)
    until = min((day for day in (one.until, other.until) if day), default=None)
    if since and until and since > until:
        raise QueryError(f"no day is both after {since} and before {until}")
    return DayRange(since, until)
