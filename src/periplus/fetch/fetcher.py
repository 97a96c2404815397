"""One lease, one answer: either a response worth reading, or the outcome that ends the lease."""

import email.utils
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from periplus.errors import (
    BadContent,
    Blocked,
    ConnectionFailed,
    DnsError,
    FetchError,
    TlsError,
    TooLarge,
    TooSlow,
)
from periplus.fetch.transport import Transport
from periplus.model import Fetched, Lease, Outcome
from periplus.urls import canonicalize

__all__ = ["Answer", "Fetcher", "retry_wait"]

MAX_RETRY_SECONDS = 3600.0
MAX_RETRY_AFTER_SECONDS = 86_400.0
REDIRECTS = (301, 302, 303, 307, 308)
HTML_TYPES = ("text/html", "application/xhtml+xml")

OUTCOMES: dict[type[FetchError], Outcome] = {
    Blocked: Outcome.BLOCKED,
    TooLarge: Outcome.TOO_LARGE,
    TooSlow: Outcome.TOO_SLOW,
    BadContent: Outcome.BAD_CONTENT,
    TlsError: Outcome.TLS_ERROR,
    DnsError: Outcome.DNS_ERROR,
    ConnectionFailed: Outcome.CONNECTION_FAILED,
}
WORTH_A_RETRY = (Outcome.TOO_SLOW, Outcome.DNS_ERROR, Outcome.CONNECTION_FAILED, Outcome.SERVER_ERROR)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a lease came to. `outcome` None: `fetched` is HTML to be read."""

    outcome: Outcome | None
    fetched: Fetched | None = None
    redirect: str | None = None
    host_wait_seconds: float = 0.0
    """How long the host wants to be left alone (Retry-After)."""
    retry_seconds: float = 0.0
    detail: str = ""


class Fetcher:
    """Fetches leases. Never raises for what a server does."""

    def __init__(
        self, transport: Transport, now: Callable[[], datetime], *, retries: int, retry_seconds: float
    ) -> None:
        self._transport = transport
        self._now = now
        self._retries = retries
        self._retry_seconds = retry_seconds

    async def fetch(self, lease: Lease) -> Answer:
        """Ask for the lease's URL once."""
        try:
            fetched = await self._transport.get(lease.url)
        except FetchError as error:
            return self._failed(lease, OUTCOMES[type(error)], str(error))
        return self._answer(lease, fetched)

    def _answer(self, lease: Lease, fetched: Fetched) -> Answer:
        status = fetched.status
        if status in REDIRECTS:
            target = canonicalize(fetched.header("Location") or "", lease.url)
            if target is None:
                return Answer(Outcome.BAD_CONTENT, fetched, detail="redirect to nowhere")
            return Answer(Outcome.REDIRECTED, fetched, redirect=target.href)
        if status == 304:
            return Answer(Outcome.NOT_MODIFIED, fetched)
        if status == 429 or status >= 500:
            wait = retry_after_seconds(fetched.header("Retry-After"), self._now()) if status in (429, 503) else 0.0
            return self._failed(lease, Outcome.SERVER_ERROR, f"HTTP {status}", wait)
        if not 200 <= status < 300:
            return Answer(Outcome.HTTP_ERROR, fetched, detail=f"HTTP {status}")
        if not is_html(fetched):
            return Answer(Outcome.NOT_HTML, fetched, detail=fetched.content_type[:80])
        return Answer(None, fetched)

    def _failed(self, lease: Lease, outcome: Outcome, detail: str, host_wait: float = 0.0) -> Answer:
        if outcome not in WORTH_A_RETRY or lease.attempts >= self._retries:
            return Answer(outcome, host_wait_seconds=host_wait, detail=detail)
        wait = max(host_wait, retry_wait(self._retry_seconds, lease.attempts))
        return Answer(Outcome.RETRY, host_wait_seconds=host_wait, retry_seconds=wait, detail=detail)


def retry_wait(first_seconds: float, attempts: int) -> float:
    """Seconds before the next try: doubles each time, up to an hour."""
    return min(first_seconds * 2.0**attempts, MAX_RETRY_SECONDS)


def retry_after_seconds(value: str | None, now: datetime) -> float:
    """Retry-After as seconds from now, 0 if absent or nonsense, at most a day."""
    if not value:
        return 0.0
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_RETRY_AFTER_SECONDS)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    if at.tzinfo is None:
        return 0.0
    return min(max(0.0, (at - now).total_seconds()), MAX_RETRY_AFTER_SECONDS)


def is_html(fetched: Fetched) -> bool:
    """Whether the response is HTML by its type, or by its first bytes where it has no type."""
    kind = fetched.content_type.partition(";")[0].strip().lower()
    if kind:
        return kind in HTML_TYPES
    return (
        fetched.body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html", b"<head"))
    )
