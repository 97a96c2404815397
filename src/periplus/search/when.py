"""The "when" of a question: dates in its words ("in 2024", "since May 2025", "summer 2021", "2019-2021")."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import takewhile

from periplus.errors import QueryError
from periplus.index import EVER, DayRange
from periplus.search.calendar_words import AND, FILLERS, RANGES, RELATIONS
from periplus.search.dates import DateReader, Span
from periplus.search.request import parse_day
from periplus.search.words import Operator, Word

__all__ = ["DateWords", "begins_date", "days_of_operators", "find_date_words", "intersect"]

_ONWARDS = ("onwards", "onward")


@dataclass(frozen=True, slots=True)
class DateWords:
    """Date words in a question, from word `start` to `end`, and the days they mean."""

    start: int
    end: int
    days: DayRange


def find_date_words(words: Sequence[Word], today: date, *, south: bool = False) -> DateWords | None:
    """The first date in the question; `south` of the equator summer is in January.

    A bare year or decade is a word, not a date: "world cup 2026".
    """
    reader = DateReader(words, today, south)
    for start in range(len(words)):
        found = _between(reader, start) or _onwards(reader, start) or _bounded(reader, start) or _alone(reader, start)
        if found is None:
            continue
        articles = takewhile(lambda at: reader.text(at) in FILLERS, range(start - 1, -1, -1))  # "el año pasado"
        return replace(found, start=min(articles, default=start))
    return None


def begins_date(words: Sequence[Word], at: int, today: date) -> bool:
    """Whether a month, season or day begins at a word: "March 2024", "spring 2025", "March"."""
    reader = DateReader(words, today, south=False)
    try:
        return not reader.text(at).isdecimal() and reader.span_after(at) is not None
    except QueryError:
        return False


def _alone(reader: DateReader, start: int) -> DateWords | None:
    """`May 2020`, `last year`."""
    span = reader.plain_span(start)  # 2025-13 is a number of something
    return DateWords(start, span.end, DayRange(span.first, span.last)) if span and span.sure else None


def _between(reader: DateReader, start: int) -> DateWords | None:
    """`from 2019 to 2021`, `between May and July 2021`, `2019 to 2021`."""
    opening = RANGES.get(reader.text(start))
    joints = opening or RANGES["from"]
    found = reader.joined(start + 1 if opening else start, joints)
    return DateWords(start, found.end, DayRange(found.first, found.last)) if found else None


def _bounded(reader: DateReader, start: int) -> DateWords | None:
    """`since 2019`, `since 2019 until 2021`."""
    found = _related(reader, start)
    more = _related(reader, found.end) if found else None
    if found is None or more is None:
        return found
    since, until = found.days.since, more.days.until
    if since is None or until is None or found.days.until or more.days.since or since > until:
        return found
    return DateWords(start, more.end, DayRange(since, until))


def _related(reader: DateReader, start: int) -> DateWords | None:
    """`since 2019`, `in the 1990s`, `since March`, `up to 2021`, `in 2025 and 2026`."""
    relation, at = RELATIONS.get(reader.text(start)), start + 1
    if (reader.text(start), reader.text(at)) == ("up", "to"):
        relation, at = "until", start + 2
    both = reader.joined(at, AND) if relation == "in" else None
    span = both or (reader.span_after(at) if relation else None)
    return DateWords(start, span.end, _days(relation, span)) if relation and span else None


def _onwards(reader: DateReader, start: int) -> DateWords | None:
    """`2019 onwards`, `from May 2020 onwards`."""
    span = reader.plain_span(start + (reader.text(start) == "from"))
    if span is None or reader.text(span.end) not in _ONWARDS:
        return None
    return DateWords(start, span.end + 1, DayRange(since=span.first))


def _days(relation: str, span: Span) -> DayRange:
    if relation == "in":
        return DayRange(span.first, span.last, span.apart)
    if relation == "since":
        return DayRange(since=span.first)
    if relation == "until":
        return DayRange(until=span.last)
    if relation == "after":
        return DayRange(since=span.last + timedelta(days=1))
    return DayRange(until=span.first - timedelta(days=1))


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
    apart = one.apart or other.apart
    if apart and until and until <= apart[1]:  # what is behind the gap does not count in any case
        until, apart = min(until, apart[0] - timedelta(days=1)), None
    elif apart and since and since >= apart[0]:
        since, apart = max(since, apart[1] + timedelta(days=1)), None
    if since and until and since > until:
        raise QueryError(f"no day is both after {since} and before {until}")
    return DayRange(since, until, apart)
