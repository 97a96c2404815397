"""When tasks are due."""

from datetime import UTC, datetime, timedelta

import pytest

from periplus.errors import ConfigError
from periplus.tasks.schedule import Schedule

MONDAY = datetime(2026, 11, 16, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("every 6 hours", MONDAY + timedelta(hours=6)),
        ("every 90m", MONDAY + timedelta(minutes=90)),
        ("every 2 days", MONDAY + timedelta(days=2)),
        ("daily at 03:30", datetime(2026, 11, 17, 3, 30, tzinfo=UTC)),
        ("daily 10:31", datetime(2026, 11, 16, 10, 31, tzinfo=UTC)),
        ("cron 0 3 * * 6", datetime(2026, 11, 21, 3, 0, tzinfo=UTC)),
        ("cron */15 * * * *", datetime(2026, 11, 16, 10, 45, tzinfo=UTC)),
    ],
)
def test_when_it_is_due_next(text: str, due: datetime) -> None:
    schedule = Schedule.of(text)
    assert schedule.next_after(MONDAY) == due
    assert Schedule.of(str(schedule)) == schedule, "what is written can be read again"


def test_by_hand_is_never_due() -> None:
    assert Schedule.of("").next_after(MONDAY) is None
    assert Schedule.of("by hand").least_hours(MONDAY) == 0.0


@pytest.mark.parametrize(
    "text",
    ["every 0 hours", "every 9999 days", "daily at 24:00", "daily at 3", "cron 61 * * * *", "cron * * *", "sometimes",
     "cron 0 0 31 2 *", "every -1 hours", "cron " + "1," * 200 + "2 * * * *"],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match="schedule") as caught:
        Schedule.of(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_times_of_day_are_those_of_the_zone_also_when_clocks_change() -> None:
    lisbon = Schedule.of("daily at 03:30", "Europe/Lisbon")
    before = datetime(2026, 10, 24, 12, tzinfo=UTC)  # summer time ends in the night
    first = lisbon.next_after(before)
    assert first == datetime(2026, 10, 25, 3, 30, tzinfo=UTC)
    summer = datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert lisbon.next_after(summer) == datetime(2026, 7, 2, 2, 30, tzinfo=UTC)
    for name in ("Europe/Atlantis", "../../etc/passwd", "/etc/localtime"):
        with pytest.raises(ConfigError, match="time zone"):
            Schedule.of("daily at 03:30", name)


def test_missed_times_are_left_out() -> None:
    schedule = Schedule.of("every 6 hours")
    last = MONDAY - timedelta(hours=27)
    assert schedule.next_after(MONDAY, last) == last + timedelta(hours=30)


def test_the_shortest_gap_of_a_cron_line() -> None:
    assert Schedule.of("cron 0 3,9 * * *").least_hours(MONDAY) == 6.0
    assert Schedule.of("every 5 hours").least_hours(MONDAY) == 5.0
