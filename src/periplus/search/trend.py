"""Days folded into weeks, months or years."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Literal, get_args

from periplus.errors import QueryError
from periplus.index import day_number, day_of
from periplus.search.results import Bucket

__all__ = ["Every", "bucket_days", "bucket_months", "check_every"]

Every = Literal["day", "week", "month", "year"]

MOST_FILLED = 1_500
"""Empty buckets are filled in only if all of them are at most this many; one stray date must not make thousands."""


def check_every(text: str) -> Every:
    """The bucket's name, checked."""
    for every in get_args(Every):
        if text == every:
            return every  # type: ignore[no-any-return]  # get_args forgets that these are the literals
    raise QueryError(f"every {text[:40]!r} is not possible; choose day, week, month or year")


def start_of(day: date, every: Every) -> date:
    """The first day of the bucket that the day is in. Weeks begin on Monday."""
    if every == "week":
        return day - timedelta(days=day.weekday()) if day.toordinal() > 7 else day
    if every == "month":
        return day.replace(day=1)
    if every == "year":
        return day.replace(month=1, day=1)
    return day


def _next(start: date, every: Every) -> date:
    if every == "day":
        return start + timedelta(days=1)
    if every == "week":
        return start + timedelta(days=7)
    if every == "month":
        return date(start.year + start.month // 12, start.month % 12 + 1, 1)
    return date(start.year + 1, 1, 1)


def bucket_days(days: Mapping[int, int], every: Every) -> tuple[Bucket, ...]:
    """Counts by day number as buckets in order, with the empty ones between them."""
    counts: dict[date, int] = {}
    for number, count in days.items():
        start = start_of(day_of(number), every)
        counts[start] = counts.get(start, 0) + count
    if not counts:
        return ()
    starts = _filled(min(counts), max(counts), every) or sorted(counts)
    return tuple(Bucket(start.isoformat(), counts.get(start, 0)) for start in starts)


def bucket_months(months: Mapping[int, int], every: Every) -> tuple[Bucket, ...]:
    """Counts by month (year × 12 + month − 1) as buckets of months or years."""
    first_days: dict[int, int] = {}
    for month, count in months.items():
        if 12 <= month < 12 * 10_000:
            first_days[day_number(date(month // 12, month % 12 + 1, 1))] = count
    return bucket_days(first_days, every)


def _filled(first: date, last: date, every: Every) -> list[date]:
    """Every bucket from first to last; nothing if they would be too many."""
    starts = [first]
    while starts[-1] < last:
        if len(starts) >= MOST_FILLED:
            return []
        starts.append(_next(starts[-1], every))
    return starts
