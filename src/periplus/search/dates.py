"""Dates read off the words of a question: day, month, quarter, season, year or decade, by the calendar or by today."""

import re
from collections.abc import Collection, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from periplus.errors import QueryError
from periplus.index import fold
from periplus.search.calendar_words import (
    BEFORE_AGES,
    FILLERS,
    LAST_WORDS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    PARTS,
    PAST_WORDS,
    SEASONS,
    TIMES_OF_DAY,
    TODAYS,
    UNITS,
    WEEKDAYS,
)
from periplus.search.request import parse_day
from periplus.search.words import Word

__all__ = ["DateReader", "Span"]

_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)
_ISO = re.compile(r"(?:19|20)\d\d-\d{1,2}(?:-\d{1,2})?", re.ASCII)
_YEARS = re.compile(r"((?:19|20)\d\d)[-–—/]((?:19|20)?\d\d)", re.ASCII)
_DECADE = re.compile(r"((?:19|20)?\d0)['’]?s", re.ASCII)
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er)?", re.ASCII)
_NUMERIC = re.compile(r"(?:(\d{1,2})([./]))?(\d{1,2})[./]((?:19|20)\d\d)", re.ASCII)
_YEAR_FIRST = re.compile(r"((?:19|20)\d\d)/(\d{1,2})/(\d{1,2})", re.ASCII)
_QUARTER = re.compile(r"([qh])([1-4])(?:[/-]((?:19|20)\d\d))?", re.ASCII)
_TWO_MONTHS = re.compile(r"([a-z]+)[-–—/]([a-z]+)", re.ASCII)

_DECADES = {"sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_LONGEST = 36_500
"""Days that "last" reaches back."""

_NEEDS_YEAR = frozenset({"mars", "marco", "mar", "jan", "jun"})
"""Months that alone are other words or names."""

_NEEDS_RELATION = frozenset({"mars", "marco"})
"""Months that even with a year may be something else: "mission to mars 2026"."""


class Span(NamedTuple):
    """Days that words mean, where the words go on, and whether they are a date even if nothing before them says so."""

    first: date
    last: date
    end: int
    sure: bool = True
    apart: tuple[date, date] | None = None  # days between two dates, neither's


class DateReader:
    """Reads dates off the words of a question; `south` of the equator summer is in January."""

    def __init__(self, words: Sequence[Word], today: date, south: bool) -> None:
        self._typed = ["" if word.quoted or word.excluded or word.alternative else word.text for word in words]
        self._texts = [fold(text).removeprefix("l'").removeprefix("l’") for text in self._typed]
        self._today = today
        self._south = south

    def text(self, at: int) -> str:
        """A word in small letters without accents, nothing behind the last."""
        return self._texts[at] if at < len(self._texts) else ""

    def span(self, at: int) -> Span | None:
        """The date that begins at a word. Raises QueryError for days that are in no calendar."""
        return (
            self._part_of_year(at)
            or self._in_digits(at)
            or self._with_month(at)
            or self._season(at)
            or self._by_today(at)
            or self._ago(at)
        )

    def plain_span(self, at: int) -> Span | None:
        """The same; None also for days that are in no calendar."""
        try:
            return self.span(at)
        except QueryError:
            return None

    def span_after(self, at: int) -> Span | None:
        """The date behind a word like "since", which may lack its year: that which began last."""
        while self.text(at) in FILLERS:
            at += 1
        return self.span(at) or self._without_year(at)

    def joined(self, at: int, joints: Collection[str]) -> Span | None:
        """Two dates with a word between them; the first may have the year of the second: `May to July 2021`."""
        first, month = self.plain_span(at), MONTHS.get(self.text(at))
        end = first.end if first else at + 1
        last = self.plain_span(end + 1) if (first or month) and self.text(end) in joints else None
        if last is None:
            return None
        if first is None and month is not None:
            first = Span(*_around(date(last.last.year - (month > last.last.month), month, 1), "month"), end)
        begins = first.first if first else last.first
        gap = (first.last + timedelta(days=1), last.first - timedelta(days=1)) if first else (last.first, begins)
        apart = gap if gap[0] <= gap[1] else None
        return Span(begins, last.last, last.end, apart=apart) if begins <= last.last else None

    def _in_digits(self, at: int) -> Span | None:
        """`2024`, `2024-05`, `17.05.2024`, `2019-2021`, `2019/20`, `1990s`."""
        text = self.text(at)
        if years := self._years(at):
            return years
        if _YEAR.fullmatch(text) or _ISO.fullmatch(text):
            return Span(parse_day(text, "date"), parse_day(text, "date", last=True), at + 1, sure="-" in text)
        if decade := _DECADE.fullmatch(text):
            first = int(decade[1]) if len(decade[1]) == 4 else _century(int(decade[1]))
            return Span(date(first, 1, 1), date(first + 9, 12, 31), at + 1, sure=False)
        if match := _YEAR_FIRST.fullmatch(text):
            return _one_day(f"{match[1]}-{match[2]}-{match[3]}", at + 1)
        return _numeric(text, at + 1)

    def _years(self, at: int) -> Span | None:
        """`2019-2021`, `2019/20`; `2011-12` is a month."""
        match = _YEARS.fullmatch(self.text(at))
        if match is None:
            return None
        first, last = int(match[1]), int(match[2])
        if len(match[2]) == 2:
            is_month = 1 <= last <= 12 and "/" not in match[0]
            if is_month or last != (first + 1) % 100:
                return None
            last = first + 1
        return Span(date(first, 1, 1), date(last, 12, 31), at + 1) if first <= last else None

    def _year_at(self, at: int) -> int | None:
        """Where the year stands that belongs to the words before: here, or behind "of"."""
        at += self.text(at) in FILLERS
        return at if _YEAR.fullmatch(self.text(at)) else None

    def _with_month(self, at: int) -> Span | None:
        """`May 2024`, `17 May 2024`, `17 de mayo de 2024`, `May 17, 2024`, `May-July 2024`."""
        year_at = self._year_at(at + 1)
        if (two := _TWO_MONTHS.fullmatch(self.text(at))) and year_at and two[1] in MONTHS and two[2] in MONTHS:
            year, (first, last) = self.text(year_at), (MONTHS[two[1]], MONTHS[two[2]])
            begins = date(int(year) - (first > last), first, 1)
            return Span(begins, parse_day(f"{year}-{last:02d}", "date", last=True), year_at + 1)
        for day_at, month_at in ((-1, at), (at, at + 1 + (self.text(at + 1) in FILLERS)), (at + 1, at)):
            month = MONTHS.get(self.text(month_at))
            day = _DAY.fullmatch(self.text(day_at)) if day_at >= 0 else None
            year_at = self._year_at(max(month_at, day_at) + 1)
            if month and year_at and (day or day_at < 0):
                text = f"{self.text(year_at)}-{month:02d}" + (f"-{day[1]}" if day else "")
                sure = self.text(month_at) not in _NEEDS_RELATION
                return Span(parse_day(text, "date"), parse_day(text, "date", last=True), year_at + 1, sure)
        return None

    def _without_year(self, at: int) -> Span | None:
        """`March`, `17 May`, `May 17`: the last that has begun; `the nineties`."""
        text = self.text(at)
        if decade := _DECADES.get(text):
            return Span(date(decade, 1, 1), date(decade + 9, 12, 31), at + 1)
        if text in TODAYS:
            return self._day_ago(TODAYS[text], at + 1)
        for day_at, month_at in ((at, at + 1), (at + 1, at), (-1, at)):
            name = self.text(month_at)
            day = _DAY.fullmatch(self.text(day_at)) if day_at >= 0 else None
            if name not in MONTHS or name in _NEEDS_YEAR or not (day or day_at < 0):
                continue
            for year in (self._today.year, self._today.year - 1):
                text = f"{year}-{MONTHS[name]:02d}" + (f"-{day[1]}" if day else "")
                first = parse_day(text, "date")
                if first <= self._today:
                    return Span(first, parse_day(text, "date", last=True), max(day_at, month_at) + 1)
        return None

    def _season(self, at: int) -> Span | None:
        """`summer 2021`, `summer of 2021`, `winter 2020/21`."""
        if self.text(at) not in SEASONS:
            return None
        year_at = self._year_at(at + 1)
        both = self._years(at + 1)
        if year_at is None and (both is None or both.last.year != both.first.year + 1):
            return None
        year = int(self.text(year_at)) if year_at else both.last.year if both else 0
        return Span(*self._season_of(self.text(at), year), (year_at or at + 1) + 1)

    def _season_of(self, name: str, year: int) -> tuple[date, date]:
        month = (SEASONS[name] + (5 if self._south else -1)) % 12 + 1
        first = date(year - (month == 12), month, 1)
        return first, parse_day(f"{year}-{(month + 1) % 12 + 1:02d}", "date", last=True)

    def _part_of_year(self, at: int) -> Span | None:
        """`Q3 2021`, `2021 Q3`, `third quarter of 2021`, `first half of 2021`, `early 2021`, `end of 2021`."""
        text, following = self.text(at), self.text(at + 1)
        if _YEAR.fullmatch(text) and (match := _QUARTER.fullmatch(following)) and not match[3]:
            return _quarter(match[1], int(match[2]), text, at + 2)
        if match := _QUARTER.fullmatch(text):
            year_at = self._year_at(at + 1)
            year = match[3] or (self.text(year_at) if year_at else "")
            return _quarter(match[1], int(match[2]), year, at + 1 if match[3] else (year_at or at) + 1)
        if text in ORDINALS and following in ("quarter", "half") and (year_at := self._year_at(at + 2)):
            return _quarter(following[0], ORDINALS[text], self.text(year_at), year_at + 1)
        months, year_at = PARTS.get(text.removesuffix("-")), self._year_at(at + 1)
        if text.startswith("mid-") and _YEAR.fullmatch(text[4:]):
            return _months(PARTS["mid"], text[4:], at + 1)
        if months is None or year_at is None or (text in ("beginning", "start", "end") and year_at == at + 1):
            return None
        return _months(months, self.text(year_at), year_at + 1)

    def _by_today(self, at: int) -> Span | None:
        """`yesterday`, `last year`, `this month`, `last 3 weeks`, `past year`, `last March`, `el año pasado`."""
        which, what = self.text(at), self.text(at + 1)
        if which in TODAYS and self._typed[at].islower():  # "USA Today" is a name
            return self._day_ago(TODAYS[which], at + 1)
        unit = UNITS.get(self.text(at + 2))
        if which in PAST_WORDS and unit and (count := _number(what)):
            return self._days_back(count * _UNIT_DAYS[unit], at + 3)
        unit = UNITS.get(what)
        if which == "past" and unit:
            return self._days_back(_UNIT_DAYS[unit], at + 2)
        if (which, what) == ("last", "night"):
            return self._days_back(1, at + 2)
        if which == "this" and what in TIMES_OF_DAY:
            return self._day_ago(0, at + 2)
        if which == "this":
            return Span(*_around(self._today, unit), at + 2) if unit and unit != "day" else self._latest(what, at + 2)
        if which in LAST_WORDS:
            return self._last(what, at + 2)
        return self._last(which, at + 2) if what in LAST_WORDS - {"last"} else None

    def _last(self, name: str, end: int) -> Span | None:
        """The week, month, year, season or day of the week before this one."""
        unit = UNITS.get(name)
        if unit and unit != "day":
            return Span(*_around(_around(self._today, unit)[0] - timedelta(days=1), unit), end)
        if name in WEEKDAYS:
            return self._day_ago((self._today.weekday() - WEEKDAYS[name] - 1) % 7 + 1, end)
        if name == "weekend":
            sunday = self._today - timedelta(days=self._today.weekday() + 1)
            return Span(sunday - timedelta(days=1), sunday, end)
        return self._latest(name, end, over=True)

    def _latest(self, name: str, end: int, *, over: bool = False) -> Span | None:
        """The month or season of that name that began last, or that is `over`."""
        for year in (self._today.year + 1, self._today.year, self._today.year - 1):
            if name in SEASONS:
                first, last = self._season_of(name, year)
            elif name in MONTHS:
                first, last = _around(date(year, MONTHS[name], 1), "month")
            else:
                return None
            if (last < self._today) if over else (first <= self._today):
                return Span(first, last, end)
        return None

    def _ago(self, at: int) -> Span | None:
        """`3 days ago`, `two weeks ago`: that day, or the week, month or year it was in."""
        behind = self.text(at) in BEFORE_AGES
        at += behind
        count, unit = _number(self.text(at)), UNITS.get(self.text(at + 1))
        if not count or not unit or (not behind and self.text(at + 2) != "ago"):
            return None
        found = self._days_back(count * _UNIT_DAYS[unit], at + 2 + (not behind))
        days = (found.first, found.first) if unit == "day" else _around(found.first, unit)
        return Span(*days, found.end)

    def _days_back(self, days: int, end: int) -> Span:
        return Span(self._today - timedelta(days=min(days, _LONGEST)), self._today, end)

    def _day_ago(self, days: int, end: int) -> Span:
        day = self._today - timedelta(days=days)
        return Span(day, day, end)


def _number(text: str) -> int:
    """`3`, `three`; 0 for what is none."""
    return int(text[:5]) if text.isascii() and text.isdecimal() else NUMBERS.get(text, 0)


def _century(decade: int) -> int:
    """The year that "the 90s" begin with."""
    return (1900 if decade >= 30 else 2000) + decade


def _one_day(text: str, end: int) -> Span:
    day = parse_day(text, "date")
    return Span(day, day, end)


def _numeric(text: str, end: int) -> Span | None:
    """`17.05.2024`, `05/2024`; `5/17/2024` only where it is plain which number is the month."""
    match = _NUMERIC.fullmatch(text)
    if match is None:
        return None
    one, dot, two, year = match.groups()
    if one is None:
        months = f"{year}-{two}"
        return Span(parse_day(months, "date"), parse_day(months, "date", last=True), end) if "/" in text else None
    if dot == "/" and int(two) > 12:
        one, two = two, one
    elif dot == "/" and int(one) <= 12 and one != two:
        return None
    return _one_day(f"{year}-{two}-{one}", end)


def _quarter(kind: str, number: int, year: str, end: int) -> Span | None:
    """A quarter (q) or half (h) of a year."""
    length = 3 if kind == "q" else 6
    if not year or number * length > 12:
        return None
    return _months(((number - 1) * length + 1, number * length), year, end)


def _months(months: tuple[int, int], year: str, end: int) -> Span:
    return Span(date(int(year), months[0], 1), parse_day(f"{year}-{months[1]:02d}", "date", last=True), end)


def _around(day: date, unit: str) -> tuple[date, date]:
    """The first and last day of the week, month or year that a day is in."""
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=6)
    span = f"{day.year}-{day.month}" if unit == "month" else f"{day.year}"
    return parse_day(span, "date"), parse_day(span, "date", last=True)
