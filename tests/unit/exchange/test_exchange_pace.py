"""When links leave for another machine: not alone unless somebody is idle, and never for more than they pay."""

import asyncio

from periplus.exchange.pace import EARNED, FIRST_CREDIT, FULL_ENVELOPE, Pace, Waiting

HOUR = 3600.0


def leaves(pace: Pace, line: Waiting) -> bool:
    """Whether what waits in a line leaves before its time is up."""

    async def go() -> bool:
        fresh = Waiting()  # events belong to the loop that first waits for them
        for old, new in ((line.some, fresh.some), (line.urgent, fresh.urgent)):
            if old.is_set():
                new.set()
        waiting = asyncio.create_task(pace.company(fresh))
        for _ in range(5):
            await asyncio.sleep(0)
        done = waiting.done()
        waiting.cancel()
        return done

    return asyncio.run(go())


def test_links_wait_for_company_until_the_envelope_is_full() -> None:
    pace = Pace(HOUR)
    line = pace.line("b")
    assert not leaves(pace, line)
    for length in range(1, FULL_ENVELOPE):
        pace.posted("b", line, length)
    assert not leaves(pace, line)
    pace.posted("b", line, FULL_ENVELOPE)
    assert leaves(pace, line)
    pace.sent("b", line, 0)
    assert not leaves(pace, line)


def test_who_is_hungry_is_sent_what_there_is_and_what_comes_next() -> None:
    pace = Pace(HOUR)
    line, other = pace.line("b"), pace.line("c")
    pace.posted("b", line, 1)
    pace.posted("c", other, 1)
    pace.hungry("b")
    assert (leaves(pace, line), leaves(pace, other)) == (True, False)
    pace.sent("b", line, 0)
    pace.posted("b", line, 1)
    assert not leaves(pace, line), "it was fed; it says so if that was not enough"
    pace.sent("b", line, 0)
    pace.hungry("b")
    pace.posted("b", line, 1)
    assert leaves(pace, line)


def test_hunger_makes_no_more_messages_than_links_pay_for() -> None:
    pace, messages = Pace(HOUR), 0
    line = pace.line("b")
    links, length = 2_000, 0
    for _ in range(links):
        length += 1
        pace.hungry("b")
        pace.posted("b", line, length)
        if line.urgent.is_set():
            pace.sent("b", line, 0)
            messages, length = messages + 1, 0
    assert links * EARNED * 0.9 <= messages <= links * EARNED + FIRST_CREDIT


def test_an_idle_sender_waits_for_nobody() -> None:
    pace = Pace(HOUR)
    line, empty = pace.line("b"), pace.line("c")
    pace.posted("b", line, 1)
    pace.hurry()
    assert (leaves(pace, line), leaves(pace, empty)) == (True, False)


def test_nothing_waits_longer_than_the_linger() -> None:
    pace = Pace(0.01)
    line = pace.line("b")
    pace.posted("b", line, 1)
    asyncio.run(asyncio.wait_for(pace.company(line), 20))
