"""When a task runs: every N hours, daily at a time, or by a cron line. A pure value over times."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from periplus.errors import ConfigError

__all__ = ["Schedule"]

LEAST_HOURS, MOST_HOURS = 0.01, 8_784.0
LONGEST_CRON = 200
_EVERY = re.compile(r"every (\d+(?:\.\d+)?) ?(h|hours?|m|minutes?|d|days?)", re.ASCII)
_DAILY = re.compile(r"daily(?: at)? (\d{1,2}):(\d{2})", re.ASCII)
_UNITS = {"m": 1 / 60, "h": 1.0, "d": 24.0}
FORMS = "write `every 6 hours`, `daily at 03:30`, `cron 0 3 * * 1-5`, or nothing for by hand"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a task is due. Times of day are those of `zone`, an IANA name; empty: UTC."""

    kind: Literal["hand", "every", "daily", "cron"] = "hand"
    hours: float = 0.0
    line: str = ""  # the five fields of cron; of a daily schedule too
    zone: str = ""

    @classmethod
    def of(cls, text: str, zone: str = "") -> "Schedule":
        """Read `every 6 hours`, `daily at 03:30`, `cron LINE` or nothing. ConfigError in one line."""
        _zone(zone)
        words = " ".join(text.split())
        if words.lower() in ("", "by hand", "hand"):
            return cls(zone=zone)
        if found := _EVERY.fullmatch(words.lower()):
            hours = float(found[1]) * _UNITS[found[2][0]]
            if not LEAST_HOURS <= hours <= MOST_HOURS:
                raise ConfigError(f"schedule {words!r}: not between a minute and a year")
            return cls("every", hours=hours, zone=zone)
        if found := _DAILY.fullmatch(words.lower()):
            if int(found[1]) > 23 or int(found[2]) > 59:
                raise ConfigError(f"schedule {words!r}: {found[1]}:{found[2]} is no time of day")
            return cls("daily", line=f"{int(found[2])} {int(found[1])} * * *", zone=zone)
        if words.lower().startswith("cron "):
            return cls("cron", line=_cron(words[5:]), zone=zone)
        raise ConfigError(f"schedule {words[:60]!r} cannot be read; {FORMS}")

    def __str__(self) -> str:
        if self.kind == "every":
            amount = self.hours if self.hours >= 1 else self.hours * 60
            return f"every {amount:g} {'hours' if self.hours >= 1 else 'minutes'}"
        if self.kind == "daily":
            minute, hour = self.line.split()[:2]
            return f"daily at {int(hour):02d}:{int(minute):02d}"
        return f"cron {self.line}" if self.kind == "cron" else ""

    def next_after(self, moment: datetime, begun: datetime | None = None) -> datetime | None:
        """The first time after `moment` that the task is due, in UTC; None if it is run by hand.

        `every` counts from `begun` (the run before), so that runs keep their distance; missed times are left out.
        """
        if self.kind == "hand":
            return None
        if self.kind == "every":
            step = timedelta(hours=self.hours)
            start = begun or moment
            passed = max(0, (moment - start) // step)
            return start + (passed + 1) * step
        local = moment.astimezone(_zone(self.zone))
        return next(CronSim(self.line, local)).astimezone(UTC)

    def least_hours(self, moment: datetime) -> float:
        """Hours between two runs, as short as they come within the next ones; 0 if run by hand."""
        if self.kind == "every":
            return self.hours
        times: list[datetime] = []
        at: datetime | None = moment
        while at is not None and len(times) < 8:
            at = self.next_after(at)
            if at is not None:
                times.append(at)
        gaps = [(after - before).total_seconds() / 3600 for before, after in pairwise(times)]
        return min(gaps, default=0.0)


def _zone(name: str) -> ZoneInfo:
    if not re.fullmatch(r"[A-Za-z0-9_+/-]{0,64}", name):
        raise ConfigError(f"time zone {name[:40]!r} is no name of one, such as Europe/Lisbon")
    try:
        return ZoneInfo(name or "UTC")
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ConfigError(f"time zone {name[:40]!r} is not known; write a name such as Europe/Lisbon") from None


def _cron(line: str) -> str:
    if len(line) > LONGEST_CRON or len(line.split()) != 5:
        raise ConfigError(f"schedule: {line[:60]!r} is no cron line; it has five fields, such as 0 3 * * 1-5")
    try:
        next(CronSim(line, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration) as error:
        raise ConfigError(f"schedule: cron line {line[:60]!r} never fits ({error or 'no such day'})") from None
    return line
