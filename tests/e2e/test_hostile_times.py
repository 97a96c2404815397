"""Hosts that are silent or throttled, and clocks that jump, under a whole crawl in virtual time."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from virtual_crawl import PoliteWeb, Reply, crawl_job, live, too_early

from periplus.errors import TooSlow

FINE, BAD, EACH = 12, 100, 100


class UnevenWeb(PoliteWeb):
    """A dozen hosts that answer; the others are silent until the deadline, or refuse for a while."""

    refusals = 0.0
    bad: Reply

    def address(self, host: str) -> str:
        return f"203.0.{int(host[1:4]) // 250 + 114}.{int(host[1:4]) % 250}"

    def answer(self, url: str, host: str) -> Reply:
        return super().answer(url, host) if int(host[1:4]) < FINE else self.bad

    def crawl_delay(self, host: str) -> float:  # noqa: ARG002 - nobody asks for more
        return 0.0


SILENT = Reply(rest=1.0, seconds=30.0, error=TooSlow("no complete answer in 30 s"))
REFUSING = Reply(429, b"", 60.0, 0.1, (("Retry-After", "60"),))


def seconds_of_the_fine(folder: Path, monkeypatch: pytest.MonkeyPatch, bad: Reply | None) -> float:
    """How long the hosts that answer take, beside a hundred that do not."""
    web = UnevenWeb(EACH)
    web.bad = bad or SILENT
    hosts = range(FINE + (BAD if bad else 0))
    seeds = [f"http://h{number:03}.example/" for number in reversed(hosts)]  # the bad ones first
    life = live(folder, web, crawl_job(seeds), monkeypatch)
    assert life.summary is not None
    assert too_early(web, [], window=0.0) == ([], [])
    fine = [row for row in web.log if int(row.host[1:4]) < FINE]
    assert len({row.url for row in fine}) == FINE * (EACH + 3)
    return max(row.ended for row in fine)


@pytest.mark.parametrize(
    ("bad", "share"), [pytest.param(SILENT, 0.90, id="H3: silent"), pytest.param(REFUSING, 0.95, id="P8: refusing")]
)
def test_H3_P8_a_hundred_bad_hosts_do_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: Reply, share: float
) -> None:
    """With 64 connections; each silent host holds one for half a minute, again and again."""
    alone = seconds_of_the_fine(tmp_path / "alone", monkeypatch, None)
    beside = seconds_of_the_fine(tmp_path / "beside", monkeypatch, bad)
    assert alone / beside >= share


HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def jumps(*moments: tuple[float, timedelta]) -> Callable[[float], timedelta]:
    """From each moment on the wall clock is wrong by so much."""
    return lambda now: next((by for at, by in reversed(moments) if now >= at), timedelta())


CLOCKS = {
    "an hour back": jumps((30.0, -HOUR)),
    "a day on": jumps((30.0, DAY)),
    "summer time and back": jumps((20.0, HOUR), (60.0, timedelta())),
    "1970": jumps((30.0, timedelta(days=-20_000))),
    "a leap second": jumps((30.0, timedelta(seconds=-1))),
    "eight hours of sleep": jumps((30.0, timedelta(hours=8))),
    "ten years ahead, then put right": jumps((0.0, timedelta(days=3_650)), (50.0, timedelta())),
}
BRIDGED = ("an hour back", "summer time and back", "a leap second")
"""Time goes on from where it was noted last."""

LONGEST_WAIT = 300.0


@pytest.mark.parametrize("clock", CLOCKS)
def test_K6_a_clock_that_jumps_neither_hastens_nor_stops_a_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    """It jumps while the crawl runs; later the crawl is killed and started again under the clock as it is then."""
    web, now, kills = UnevenWeb(EACH), 0.0, list[float]()
    job = crawl_job([f"http://h{number:03}.example/" for number in range(FINE)])
    web.refusals = 0.01
    for kill_after in (FINE * EACH // 5, FINE * EACH // 3, 0):
        web.kill_after = kill_after
        life = live(tmp_path / "crawl", web, job, monkeypatch, start=now, jump=CLOCKS[clock])
        now = life.ended
        kills += [] if life.summary else [now]
    assert len(kills) == 2
    begins = sorted(row.begun for row in web.log)
    assert begins[-1] > 60.0, "it went on after every jump"
    assert max(b - a for a, b in itertools.pairwise(begins)) <= LONGEST_WAIT, "and nobody waited for long"
    # Who starts anew under a clock that is ahead, or that was wrong by years, cannot know of a refusal how much of its
    # time is left; the usual rest is kept all the same.
    found, _ = too_early(web, kills, window=0.5 if clock in BRIDGED else 25.0)
    assert found == []
