"""The "when" of a question: dates in its words ("in 2024", "since May 2025", "summer 2021", "2019-2021")."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from periplus.errors import QueryError
from periplus.index import EVER, DayRange
from periplus.search.request import parse_day
from periplus.search.words import Operator, Word

__all__ = ["DateWords", "days_of_operators", "find_date_words", "intersect"]

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH_NUMBERS = {form: n for n, name in enumerate(_MONTHS, 1) for form in (name, name[:3])} | {"sept": 9}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month that a season begins with, north of the equator; it is called by the year that it ends in."""

_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)
_ISO = re.compile(r"(?:19|20)\d\d-\d{1,2}(?:-\d{1,2})?", re.ASCII)
_YEARS = re.compile(r"((?:19|20)\d\d)[-–—/]((?:19|20)\d\d)", re.ASCII)
_DECADE = re.compile(r"((?:19|20)\d0)['’]?s", re.ASCII)
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?", re.ASCII)
_RELATIONS = {
    "in": "in", "during": "in", "on": "in", "from": "in", "im": "in", "en": "in", "em": "in",
    "since": "since", "seit": "since", "depuis": "since", "desde": "since",
    "after": "after", "before": "before", "until": "until", "till": "until", "bis": "until",
}  # fmt: skip
_RANGES = {"from": ("to", "until", "till"), "between": ("and",)}
"""What stands before the first of two dates, and between them."""

_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_UNITS = ("week", "month", "year")
_LONGEST = 36_500
"""Days that "last" reaches back."""


class _Span(NamedTuple):
    """Days that words mean, where the words go on, and whether they are a date even if nothing before them says so."""

    first: date
    last: date
    end: int
    sure: bool = True


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
    reader = _Reader(words, today, south)
    for start in range(len(words)):
        found = _between(reader, start) or _bounded(reader, start)
        if found:
            return found
        try:
            span = reader.span(start)
        except QueryError:  # 2025-13 is a number of something
            continue
        if span and span.sure:
            return DateWords(start, span.end, DayRange(span.first, span.last))
    return None


def _between(reader: "_Reader", start: int) -> DateWords | None:
    """`from 2019 to 2021`, `between May 2020 and July 2021`."""
    joints = _RANGES.get(reader.text(start))
    first = reader.span(start + 1) if joints else None
    if first is None or joints is None or reader.text(first.end) not in joints:
        return None
    last = reader.span(first.end + 1)
    return DateWords(start, last.end, DayRange(first.first, last.last)) if last and first.first <= last.last else None


def _bounded(reader: "_Reader", start: int) -> DateWords | None:
    """`since 2019`, `since 2019 until 2021`."""
    found = _related(reader, start)
    more = _related(reader, found.end) if found else None
    if found is None or more is None:
        return found
    since, until = found.days.since, more.days.until
    if since is None or until is None or found.days.until or more.days.since or since > until:
        return found
    return DateWords(start, more.end, DayRange(since, until))


def _related(reader: "_Reader", start: int) -> DateWords | None:
    """`since 2019`, `in the 1990s`."""
    relation = _RELATIONS.get(reader.text(start))
    span = reader.span(start + 1 + (reader.text(start + 1) == "the")) if relation else None
    return DateWords(start, span.end, _days(relation, span)) if relation and span else None


def _days(relation: str, span: _Span) -> DayRange:
    if relation == "in":
        return DayRange(span.first, span.last)
    if relation == "since":
        return DayRange(since=span.first)
    if relation == "until":
        return DayRange(until=span.last)
    if relation == "after":
        return DayRange(since=span.last + timedelta(days=1))
    return DayRange(until=span.first - timedelta(days=1))


class _Reader:
    """Reads dates off the words of a question."""

    def __init__(self, words: Sequence[Word], today: date, south: bool) -> None:
        self._texts = ["" if word.quoted or word.excluded or word.alternative else word.text.lower() for word in words]
        self._today = today
        self._south = south

    def text(self, at: int) -> str:
        """A word in small letters, nothing behind the last."""
        return self._texts[at] if at < len(self._texts) else ""

    def span(self, at: int) -> _Span | None:
        """The date that begins at a word. Raises QueryError for days that are in no calendar."""
        return self._in_digits(at) or self._with_month(at) or self._season(at) or self._by_today(at)

    def _in_digits(self, at: int) -> _Span | None:
        """`2024`, `2024-05`, `2024-05-17`, `2019-2021`, `1990s`."""
        text = self.text(at)
        if _YEAR.fullmatch(text) or _ISO.fullmatch(text):
            return _Span(parse_day(text, "date"), parse_day(text, "date", last=True), at + 1, sure="-" in text)
        if (years := _YEARS.fullmatch(text)) and years[1] <= years[2]:
            return _Span(date(int(years[1]), 1, 1), date(int(years[2]), 12, 31), at + 1)
        if decade := _DECADE.fullmatch(text):
            return _Span(date(int(decade[1]), 1, 1), date(int(decade[1]) + 9, 12, 31), at + 1, sure=False)
        return None

    def _with_month(self, at: int) -> _Span | None:
        """`May 2024`, `17 May 2024`, `May 17, 2024`."""
        for day_at, month_at, year_at in ((-1, at, at + 1), (at, at + 1, at + 2), (at + 1, at, at + 2)):
            month = _MONTH_NUMBERS.get(self.text(month_at))
            day = _DAY.fullmatch(self.text(day_at)) if day_at >= 0 else None
            if month and _YEAR.fullmatch(self.text(year_at)) and (day or day_at < 0):
                text = f"{self.text(year_at)}-{month:02d}" + (f"-{day[1]}" if day else "")
                return _Span(parse_day(text, "date"), parse_day(text, "date", last=True), year_at + 1)
        return None

    def _season(self, at: int) -> _Span | None:
        """`summer 2021`, `summer of 2021`."""
        year_at = at + 1 + (self.text(at + 1) == "of")
        if self.text(at) not in _SEASONS or not _YEAR.fullmatch(self.text(year_at)):
            return None
        return _Span(*self._season_of(self.text(at), int(self.text(year_at))), year_at + 1)

    def _season_of(self, name: str, year: int) -> tuple[date, date]:
        month = (_SEASONS[name] + (5 if self._south else -1)) % 12 + 1
        first = date(year - (month == 12), month, 1)
        return first, parse_day(f"{year}-{(month + 1) % 12 + 1:02d}", "date", last=True)

    def _by_today(self, at: int) -> _Span | None:
        """`last year`, `this month`, `last 3 weeks`, `last March`, `last summer`."""
        which, what = self.text(at), self.text(at + 1)
        if which in ("last", "past") and what.isascii() and what.isdecimal():
            unit = _UNIT_DAYS.get(self.text(at + 2).removesuffix("s"))
            days = min(int(what[:5]) * unit, _LONGEST) if unit else 0
            return _Span(self._today - timedelta(days=days), self._today, at + 3) if unit else None
        if which == "this" and what in _UNITS:
            return _Span(*_around(self._today, what), at + 2)
        if which == "last" and what in _UNITS:
            return _Span(*_around(_around(self._today, what)[0] - timedelta(days=1), what), at + 2)
        return self._latest(what, at + 2) if which == "last" else None

    def _latest(self, name: str, end: int) -> _Span | None:
        """The month or season of that name that ended last."""
        for year in (self._today.year, self._today.year - 1):
            if name in _SEASONS:
                first, last = self._season_of(name, year)
            elif name in _MONTH_NUMBERS:
                first, last = _around(date(year, _MONTH_NUMBERS[name], 1), "month")
            else:
                return None
            if last < self._today:
                return _Span(first, last, end)
        return None


def _around(day: date, unit: str) -> tuple[date, date]:
    """The first and last day of the week, month or year that a day is in."""
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=6)
    span = f"{day.year}-{day.month}" if unit == "month" else f"{day.year}"
    return parse_day(span, "date"), parse_day(span, "date", last=True)


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
