"""When the index of a running crawl is brought up to date."""

from collections import Counter
from dataclasses import replace

import pytest

from periplus.indexing import PAGES_WORTH_A_ROUND, pause_before
from periplus.running import Progress

FAST = Progress(10_000, 10_000, 90_000, 200, 200, 50.0, 10_000, 0, 200.0, None, "", Counter())


def test_a_round_waits_as_long_as_usual_while_there_is_much_to_fetch() -> None:
    assert pause_before(FAST, 60.0) == 60.0


@pytest.mark.parametrize(
    "ending",
    [replace(FAST, left_seconds=20.0, page_limit=14_000), replace(FAST, queued=4_000)],
    ids=["by its limit", "with its queue"],
)
def test_towards_the_end_of_a_crawl_rounds_come_sooner(ending: Progress) -> None:
    assert pause_before(ending, 60.0) == pytest.approx(5.0)


def test_a_round_is_not_made_for_a_few_pages() -> None:
    slow = replace(FAST, rate=1.0, queued=10)
    assert pause_before(slow, 60.0) == 60.0
    nearly_over = replace(FAST, left_seconds=0.1)
    assert pause_before(nearly_over, 60.0) * nearly_over.rate == pytest.approx(PAGES_WORTH_A_ROUND)


def test_a_crawl_that_waits_keeps_its_pace() -> None:
    assert pause_before(replace(FAST, rate=0.0, queued=0), 60.0) == 60.0
