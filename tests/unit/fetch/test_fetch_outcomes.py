"""One lease, one answer: statuses, errors and retries become outcomes (reliability P5, P6, H10)."""

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from crawl_values import fetched, lease
from scripted_transport import ScriptedTransport

from periplus.errors import BadContent, Blocked, ConnectionFailed, DnsError, FetchError, TlsError, TooLarge, TooSlow
from periplus.fetch import Answer, Fetcher
from periplus.fetch.fetcher import is_html
from periplus.fetch.retries import retry_after_seconds, retry_wait
from periplus.model import Outcome
from periplus.urls import canonicalize

URL = "http://example.com/page"
HTML = {"Content-Type": "text/html"}
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def ask(
    answer: object,
    *,
    attempts: int = 0,
    retries: int = 3,
    seconds: float = 0.1,
    factor: float = 0.0,
    conditions: dict[str, str] | None = None,
) -> Answer:
    transport = ScriptedTransport()
    transport.answers[URL] = answer
    transport.seconds = seconds
    fetcher = Fetcher(transport, transport.clock.now, retries=retries, retry_seconds=30, delay_factor=factor)
    return asyncio.run(fetcher.fetch(lease(URL, attempts=attempts), conditions))


@pytest.mark.parametrize("status", [200, 201, 203, 206])
def test_a_page_has_no_outcome_yet(status: int) -> None:
    answer = ask((status, b"<p>", HTML))
    assert answer.outcome is None
    assert answer.fetched is not None


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ((200, b"%PDF", {"Content-Type": "application/pdf"}), Outcome.NOT_HTML),
        ((200, b"{}", {"Content-Type": "application/json"}), Outcome.NOT_HTML),
        ((200, b"\x00\x01", {}), Outcome.NOT_HTML),
        ((204, b"", {}), Outcome.NOT_HTML),
        ((304, b"", {}), Outcome.HTTP_ERROR),
        ((301, b"", {"Location": "/new"}), Outcome.REDIRECTED),
        ((302, b"", {"Location": URL, "Set-Cookie": "consent=1"}), Outcome.TOO_MANY_REDIRECTS),
        ((302, b"", {"Location": "/page?PHPSESSID=0123456789abcdef#top"}), Outcome.TOO_MANY_REDIRECTS),
        ((302, b"", {}), Outcome.BAD_CONTENT),
        ((302, b"", {"Location": "javascript:alert(1)"}), Outcome.BAD_CONTENT),
        ((302, b"", {"Location": "file:///etc/passwd"}), Outcome.BAD_CONTENT),
        ((300, b"", {}), Outcome.HTTP_ERROR),
        ((400, b"", HTML), Outcome.HTTP_ERROR),
        ((403, b"", HTML), Outcome.HTTP_ERROR),
        ((404, b"", HTML), Outcome.HTTP_ERROR),
        ((410, b"", HTML), Outcome.HTTP_ERROR),
        ((451, b"", HTML), Outcome.HTTP_ERROR),
        ((408, b"", HTML), Outcome.RETRY),
        ((429, b"", HTML), Outcome.RETRY),
        ((500, b"", HTML), Outcome.RETRY),
        ((503, b"", HTML), Outcome.RETRY),
        ((999, b"", HTML), Outcome.RETRY),
        (Blocked("x"), Outcome.BLOCKED),
        (TooLarge("x"), Outcome.TOO_LARGE),
        (BadContent("x"), Outcome.BAD_CONTENT),
        (TlsError("x"), Outcome.TLS_ERROR),
        (TooSlow("x"), Outcome.RETRY),
        (DnsError("x"), Outcome.RETRY),
        (ConnectionFailed("x"), Outcome.RETRY),
    ],
)
def test_outcomes(answer: object, outcome: Outcome) -> None:
    assert ask(answer).outcome is outcome


def test_only_who_asks_whether_a_page_is_new_can_hear_that_it_is_not() -> None:
    assert ask((304, b"", {}), conditions={"If-None-Match": '"a"'}).outcome is Outcome.NOT_MODIFIED
    assert ask((304, b"", {})).outcome is Outcome.HTTP_ERROR


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ((429, b"", HTML), Outcome.SERVER_ERROR),
        ((500, b"", HTML), Outcome.SERVER_ERROR),
        (TooSlow("x"), Outcome.TOO_SLOW),
        (DnsError("x"), Outcome.DNS_ERROR),
        (ConnectionFailed("x"), Outcome.CONNECTION_FAILED),
    ],
)
def test_retries_end_in_the_real_outcome(answer: object, outcome: Outcome) -> None:
    assert ask(answer, attempts=2).outcome is Outcome.RETRY
    assert ask(answer, attempts=3).outcome is outcome


def test_a_redirect_is_resolved_against_its_page() -> None:
    for location, target in (
        ("/new", "http://example.com/new"),
        ("other?x=1#y", "http://example.com/other?x=1"),
        ("//b.example/", "http://b.example/"),
        ("https://example.com/page", "https://example.com/page"),
        ("http://b.example/ü ö", "http://b.example/%C3%BC%20%C3%B6"),
    ):
        assert ask((301, b"", {"Location": location})).redirect == target


def test_a_redirect_in_utf8_leads_where_browsers_go() -> None:
    for written in ("/café", "/日本?q=東", "http://bücher.example/x"):
        header = written.encode().decode("latin-1")  # as headers are read: byte by byte
        wanted = canonicalize(written, URL)
        assert wanted is not None
        assert ask((301, b"", {"Location": header})).redirect == wanted.href


@pytest.mark.parametrize("headers", [{}, {"Location": ""}])
def test_a_redirect_that_does_not_say_where_is_bad_content(headers: dict[str, str]) -> None:
    assert ask((302, b"", headers)).outcome is Outcome.BAD_CONTENT


def test_retries_wait_longer_each_time() -> None:
    assert [ask((500, b"", {}), attempts=n).retry_seconds for n in range(3)] == [30.0, 60.0, 120.0]
    assert retry_wait(30.0, 10) == 3600.0
    assert retry_wait(30.0, 100_000) == 3600.0
    assert ask((500, b"", {})).host_wait_seconds == 0.0  # the page failed, not the host


@pytest.mark.parametrize("status", [429, 503])
def test_the_whole_host_waits_when_it_asks_for_it(status: int) -> None:
    answer = ask((status, b"", {"Retry-After": "120"}))
    assert answer.host_wait_seconds == 120.0
    assert answer.retry_seconds == 120.0
    assert ask((status, b"", {"Retry-After": "120"}), attempts=3).host_wait_seconds == 120.0


def test_a_host_that_only_says_too_much_is_asked_ever_less() -> None:
    transport = ScriptedTransport()
    transport.answers[URL] = (429, b"", {})
    fetcher = Fetcher(transport, transport.clock.now, retries=3, retry_seconds=30)
    at = [0.0]
    while at[-1] < 3_600:
        at.append(at[-1] + asyncio.run(fetcher.fetch(lease(URL))).host_wait_seconds)
    assert len(at) - 1 <= 5  # requests in the first hour
    assert all(30.0 <= later - earlier <= 3_960.0 for earlier, later in itertools.pairwise(at))


def test_a_good_answer_ends_the_throttling() -> None:
    transport = ScriptedTransport()
    fetcher = Fetcher(transport, transport.clock.now, retries=3, retry_seconds=30)
    waits = []
    for answer in ((503, b"", {}), (503, b"", {}), (200, b"", HTML), (503, b"", {})):
        transport.answers[URL] = answer
        waits.append(asyncio.run(fetcher.fetch(lease(URL))).host_wait_seconds)
    assert waits[1] > waits[0]
    assert waits[2] == 0.0
    assert waits[3] < waits[1]


def test_a_host_that_does_not_answer_rests_longer_and_longer_until_it_does() -> None:
    """Whichever of its URLs is asked for. A refusal is an answer: who says 404 is there."""
    transport = ScriptedTransport()
    fetcher = Fetcher(transport, transport.clock.now, retries=3, retry_seconds=30, host_failures=5)
    waits = []
    for error in (ConnectionFailed("no"), TooSlow("no"), DnsError("no"), ConnectionFailed("no"), TooSlow("no")):
        assert not fetcher.is_silent("example.com")
        transport.answers[URL] = error
        waits.append(asyncio.run(fetcher.fetch(lease(URL))).host_wait_seconds)
    assert waits == [0.0, 0.0, 30.0, 60.0, 120.0]
    assert fetcher.is_silent("example.com")
    transport.answers[URL] = (404, b"", HTML)
    assert asyncio.run(fetcher.fetch(lease(URL))).outcome is Outcome.HTTP_ERROR
    assert not fetcher.is_silent("example.com")


def test_a_slow_host_rests_longer() -> None:
    assert ask((200, b"", HTML), seconds=2.0, factor=5.0).host_wait_seconds == 10.0
    assert ask((200, b"", HTML), seconds=5.0, factor=5.0).host_wait_seconds == 25.0
    assert ask((200, b"", HTML), seconds=20.0, factor=5.0).host_wait_seconds == 30.0
    assert ask((404, b"", HTML), seconds=2.0, factor=5.0).host_wait_seconds == 10.0
    assert ask((200, b"", HTML), seconds=2.0).host_wait_seconds == 0.0
    assert ask((503, b"", {"Retry-After": "60"}), seconds=2.0, factor=5.0).host_wait_seconds == 60.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0.0),
        ("", 0.0),
        ("0", 0.0),
        ("120", 120.0),
        (" 120 ", 120.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("soon", 0.0),
        ("٣", 0.0),
        ("315360000", 86_400.0),
        ("9" * 400, 86_400.0),
        (format_datetime(NOW + timedelta(minutes=10), usegmt=True), 600.0),
        (format_datetime(NOW - timedelta(minutes=10), usegmt=True), 0.0),
        (format_datetime(NOW + timedelta(days=3650), usegmt=True), 86_400.0),
        ("Sun, 01 Mar 2026 13:00:00", 3_600.0),
        ("Sun Mar  1 13:00:00 2026", 3_600.0),  # the oldest of the three forms of HTTP's dates
        ("Sun, 99 Foo 2026 13:00:00 GMT", 0.0),
        ("\x00" * 50, 0.0),
    ],
)
def test_retry_after(value: str | None, seconds: float) -> None:
    assert retry_after_seconds(value, NOW) == seconds


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("text/html", b"", True),
        ("TEXT/HTML; charset=utf-8", b"", True),
        ("application/xhtml+xml", b"", True),
        ("text/plain", b"<html>", False),
        ("", b"<!DOCTYPE html><p>", True),
        ("", b"\xef\xbb\xbf  \n<HTML>", True),
        ("", b"<head>", True),
        ("", b"<!-- made by hand --><!doctype html>", True),
        ("", b"<h1>Not Found", True),
        ("", b"<h1x>", False),
        ("", b"plain <p> text", False),
        ("unknown/unknown", b"<title>x</title>", True),
        ("text/html, text/html; charset=utf-8", b"", True),
        ("", b"%PDF-1.4", False),
        ("", b"", False),
        (";", b"<html>", True),
        ("html", b"<!DOCTYPE html>", True),
        ("charset=utf-8", b"<html>", True),
        ("html", b'{"a": 1}', False),
        ("text/html", b"%PDF-1.7 and so on", False),
        ("text/html", b"PK\x03\x04\x14", False),
        ("text/html", b"\x89PNG\r\n\x1a\n", False),
        ("text/html", b"\x00\x00\x00\x18ftypmp42", False),
        ("text/html", b"PK is short for Pakistan", True),
        ("text/html", b"\x00<\x00h", True),
    ],
)
def test_html_by_type_or_by_its_first_bytes(kind: str, body: bytes, expected: bool) -> None:
    assert is_html(fetched(URL, body, content_type=kind)) is expected


def test_every_error_of_the_transport_has_an_outcome() -> None:
    for error in (Blocked, TooLarge, TooSlow, BadContent, TlsError, DnsError, ConnectionFailed):
        assert issubclass(error, FetchError)
        assert isinstance(ask(error("x"), retries=0).outcome, Outcome)
