"""Dates that a text names: days, months and years, in digits or with the months' names of some languages. Pure."""

import calendar
import re
from datetime import date
from typing import NamedTuple

__all__ = ["DaySpan", "named_dates"]

MAX_DATES = 200
MAX_CHARS = 200_000
FIRST_YEAR, LAST_YEAR = 1500, 2199

_MONTHS: dict[str, int] = {}
for _names in (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sept oct nov dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
):
    _MONTHS.update({name: number for number, name in enumerate(_names.split(), start=1)})

_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    r"\b(?:"
    r"(?P<iy>\d{4})-(?P<im>\d{1,2})-(?P<id>\d{1,2})"
    rf"|(?P<dd>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)? ?(?:de |of )?(?P<dm>{_NAMES})\.?,?(?: de| del)? (?P<dy>\d{{4}})"
    rf"|(?P<mm>{_NAMES})\.? (?P<md>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<my>\d{{4}})"
    rf"|(?P<om>{_NAMES})\.?,?(?: de| del)? (?P<oy>\d{{4}})"
    r"|(?P<cy>\d{4})年(?:(?P<cm>\d{1,2})月(?:(?P<cd>\d{1,2})日)?)?"
    r"|(?P<y>(?:1[5-9]|20|21)\d\d)"
    r")(?!\d)",
    re.IGNORECASE,
)


class DaySpan(NamedTuple):
    """A day, a month or a year, by its first and last day."""

    first: date
    last: date


def named_dates(text: str) -> tuple[DaySpan, ...]:
    """The dates that a text names, in order; nonsense such as 31 June is left out. Bounded."""
    found = []
    for match in _DATE.finditer(text, 0, MAX_CHARS):
        part = match.groupdict()
        year = part["iy"] or part["dy"] or part["my"] or part["oy"] or part["cy"] or part["y"]
        month = part["im"] or part["dm"] or part["mm"] or part["om"] or part["cm"]
        day = part["id"] or part["dd"] or part["md"] or part["cd"]
        span = _span(year, month, day)
        if span is not None:
            found.append(span)
            if len(found) >= MAX_DATES:
                break
    return tuple(found)


def _span(year: str, month: str | None, day: str | None) -> DaySpan | None:
    y = int(year)
    if not FIRST_YEAR <= y <= LAST_YEAR:
        return None
    if month is None:
        return DaySpan(date(y, 1, 1), date(y, 12, 31))
    m = int(month) if month.isdigit() else _MONTHS[month.lower()]
    if not 1 <= m <= 12:
        return None
    last = calendar.monthrange(y, m)[1]
    if day is None:
        return DaySpan(date(y, m, 1), date(y, m, last))
    d = int(day)
    return DaySpan(date(y, m, d), date(y, m, d)) if 1 <= d <= last else None
