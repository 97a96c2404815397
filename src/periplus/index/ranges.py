"""Days as numbers, so that time can be filtered, counted and sorted without a calendar in the index."""

from dataclasses import dataclass
from datetime import date, timedelta

__all__ = ["EVER", "DayRange", "day_number", "day_of"]

_EPOCH = date(1970, 1, 1)


def day_number(day: date) -> int:
    """Days since 1970-01-01; negative before."""
    return (day - _EPOCH).days


def day_of(number: int) -> date:
    """The day of a `day_number`."""
    return _EPOCH + timedelta(days=number)


@dataclass(frozen=True, slots=True)
class DayRange:
    """Days from `since` to `until`, both included; None is open. `apart`: the first and last day of a gap in them."""

    since: date | None = None
    until: date | None = None
    apart: tuple[date, date] | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None


EVER = DayRange()
"""No bound on either side."""
