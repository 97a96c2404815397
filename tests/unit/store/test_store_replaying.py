"""A recorded web as a transport: the same answers, times and failures again."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fake_clock import FakeClock

from periplus.errors import ConnectionFailed, TooLarge
from periplus.model import Fetched
from periplus.settings import FetchSettings
from periplus.store.recorded import RecordedWeb
from periplus.store.replaying import RecordedTransport
from periplus.store.wacz import write_wacz

PAGE = Fetched(
    "http://a.test/", 200, (("Content-Type", "text/html"),), b"<p>Hello", "text/html",
    datetime(2026, 1, 2, tzinfo=UTC), 0.25, "192.0.2.1",
)  # fmt: skip
URLS = [f"http://a.test/{number}" for number in range(200)]


@pytest.fixture
def web(tmp_path: Path) -> RecordedWeb:
    error = replace(PAGE, url="http://a.test/broken", status=503, seconds=2.0)
    write_wacz([PAGE, error, *(replace(PAGE, url=url, seconds=0.0) for url in URLS)], tmp_path / "web.wacz")
    return RecordedWeb(tmp_path / "web.wacz")


def ask(transport: RecordedTransport, url: str, **options: object) -> Fetched:
    return asyncio.run(transport.get(url, **options))  # type: ignore[arg-type]  # options of `get` by name


def test_answers_are_those_recorded_and_the_rest_is_not_found(web: RecordedWeb) -> None:
    transport = RecordedTransport(web, FetchSettings(), FakeClock())
    found = ask(transport, PAGE.url)
    assert (found.status, found.body, found.content_type, found.address) == (200, b"<p>Hello", "text/html", "192.0.2.1")
    assert ask(transport, "http://a.test/broken").status == 503
    assert ask(transport, "http://elsewhere.test/").status == 404


@pytest.mark.parametrize(("latency", "expected"), [(-1.0, 0.25), (0.0, 0.0), (1.5, 1.5)])
def test_answers_take_their_recorded_time_or_what_is_set(web: RecordedWeb, latency: float, expected: float) -> None:
    clock = FakeClock()
    transport = RecordedTransport(web, FetchSettings(), clock, latency=latency)
    before = clock.monotonic()
    assert ask(transport, PAGE.url).seconds == expected
    assert clock.monotonic() - before == expected


def test_a_share_of_requests_fails_and_always_the_same_ones(web: RecordedWeb) -> None:
    def failed() -> list[str]:
        transport = RecordedTransport(web, FetchSettings(), FakeClock(), failures=0.3)
        lost = []
        for url in URLS:
            try:
                ask(transport, url)
            except ConnectionFailed:
                lost.append(url)
        return lost

    assert failed() == failed()
    assert 30 < len(failed()) < 90


def test_limits_hold_as_on_the_network(web: RecordedWeb) -> None:
    transport = RecordedTransport(web, FetchSettings(), FakeClock())
    with pytest.raises(TooLarge):
        ask(transport, PAGE.url, wire_bytes=3)
    cut = ask(transport, PAGE.url, wire_bytes=3, cut=True)
    assert (cut.body, cut.truncated) == (b"<p>", True)
