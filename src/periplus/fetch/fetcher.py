"""One lease, one answer: either a response worth reading, or the outcome that ends the lease."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

import msgspec

from periplus.errors import (
    AddressBusy,
    BadContent,
    Blocked,
    ConnectionFailed,
    DnsError,
    FetchError,
    KeptConnectionEnded,
    TlsError,
    TooLarge,
    TooSlow,
)
from periplus.fetch.retries import (
    FOR_NOW,
    REFUSED,
    Refusals,
    Silence,
    Throttling,
    retry_after_seconds,
    retry_wait,
)
from periplus.fetch.transport import Transport
from periplus.model import Fetched, Lease, Outcome
from periplus.urls import canonicalize

__all__ = ["Answer", "Fetcher"]

MAX_SLOW_REST_SECONDS = 30.0
REDIRECTS = (301, 302, 303, 307, 308)
HTML_TYPES = ("text/html", "application/xhtml+xml")
NOT_HTML_BYTES = (
    *(b"%PDF-", b"%!PS-Adobe-", b"PK\x03\x04", b"\x1f\x8b\x08", b"Rar!\x1a\x07", b"7z\xbc\xaf\x27\x1c"),
    *(b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"OggS\x00", b"\x1aE\xdf\xa3", b"\x00\x00\x00"),
    *(b"\x7fELF", b"wOFF\x00", b"wOF2\x00", b"\x00\x01\x00\x00", b"\x00\x00\x01\x00", b"\xd0\xcf\x11\xe0"),
)
"""How documents, archives, pictures, sounds, films and fonts begin, whatever a server calls them."""

NO_TYPES = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|"
    rb"body|br|p)[\s>])",
    re.IGNORECASE,
)
"""How HTML begins where nobody says what it is (WHATWG MIME Sniffing, 7.1)."""

OUTCOMES: dict[type[FetchError], Outcome] = {
    Blocked: Outcome.BLOCKED,
    TooLarge: Outcome.TOO_LARGE,
    TooSlow: Outcome.TOO_SLOW,
    BadContent: Outcome.BAD_CONTENT,
    TlsError: Outcome.TLS_ERROR,
    DnsError: Outcome.DNS_ERROR,
    ConnectionFailed: Outcome.CONNECTION_FAILED,
}
NO_ANSWER = (Outcome.TOO_SLOW, Outcome.DNS_ERROR, Outcome.CONNECTION_FAILED)
WORTH_A_RETRY = (*NO_ANSWER, Outcome.SERVER_ERROR)


class Answer(msgspec.Struct, frozen=True):
    """What a lease came to. `outcome` None: `fetched` is HTML to be read."""

    outcome: Outcome | None
    fetched: Fetched | None = None
    redirect: str | None = None
    host_wait_seconds: float = 0.0
    """How long the host is to be left alone at least: it said so (429, 503, Retry-After), or it is slow."""
    retry_seconds: float = 0.0
    not_yet_seconds: float = 0.0
    """No request was sent: the address is busy with other hosts for so long."""
    ask_again: bool = False
    """The connection had been kept and the server had closed it: no failure of the URL, which a new one tells."""
    detail: str = ""


class Fetcher:
    """Fetches leases. Never raises for what a server does.

    With `delay_factor` a host rests so many times as long as it took to answer, up to half a minute.
    """

    def __init__(
        self,
        transport: Transport,
        now: Callable[[], datetime],
        *,
        retries: int,
        retry_seconds: float,
        delay_factor: float = 0.0,
        sitemap_bytes: int = 10 * 2**20,
        host_failures: int = 0,
    ) -> None:
        self._transport = transport
        self._now = now
        self._retries = retries
        self._retry_seconds = retry_seconds
        self._delay_factor = delay_factor
        self._sitemap_bytes = sitemap_bytes
        self._throttling = Throttling(retry_seconds)
        self._silence = Silence(retry_seconds, host_failures)
        self._refusals = Refusals(retry_seconds, host_failures)

    async def fetch(self, lease: Lease, conditions: Mapping[str, str] | None = None) -> Answer:
        """Ask for the lease's URL once; with `conditions` (request headers), for what is new about it."""
        limit = self._sitemap_bytes if lease.sitemap else None
        try:
            fetched = await self._transport.get(lease.url, wire_bytes=limit, cut=lease.sitemap, headers=conditions)
        except AddressBusy as busy:
            return Answer(None, not_yet_seconds=busy.seconds)
        except KeptConnectionEnded:
            return Answer(None, ask_again=True)
        except FetchError as error:
            outcome = OUTCOMES[type(error)]
            rest = self._silence.rest(lease.host) if outcome in NO_ANSWER else 0.0
            return self._failed(lease, outcome, str(error).removeprefix(f"{lease.url}: "), rest)
        self._silence.answered(lease.host)
        if fetched.status not in (429, 503):
            self._throttling.forget(lease.host)
        if fetched.status not in REFUSED | FOR_NOW and fetched.status < 500:
            self._refusals.given(lease.host, lease.url)
        rest = min(self._delay_factor * fetched.seconds, MAX_SLOW_REST_SECONDS)
        answer = self._answer(lease, fetched, conditional=bool(conditions))
        return answer if rest <= answer.host_wait_seconds else msgspec.structs.replace(answer, host_wait_seconds=rest)

    def is_silent(self, host: str) -> bool:
        """Whether the host has not answered for so long that nothing is expected of it any more."""
        return self._silence.is_silent(host)

    def is_closed(self, host: str) -> bool:
        """Whether the host has refused everything for so long that nothing is expected of it any more."""
        return self._refusals.is_closed(host)

    def _answer(self, lease: Lease, fetched: Fetched, *, conditional: bool) -> Answer:
        status = fetched.status
        if status in REDIRECTS:
            target = canonicalize(fetched.location, lease.url) if fetched.location else None
            if target is None:
                return Answer(Outcome.BAD_CONTENT, fetched, detail="redirect to nowhere")
            if target.href == lease.url:  # who asks without cookies, or without a session, is sent in circles
                return Answer(Outcome.TOO_MANY_REDIRECTS, fetched, detail="redirect to itself")
            return Answer(Outcome.REDIRECTED, fetched, redirect=target.href)
        if status == 304 and conditional:  # to any other question it is no answer
            return Answer(Outcome.NOT_MODIFIED, fetched)
        if status in FOR_NOW or status >= 500:
            wait = self._throttled(lease.host, fetched) if status in (429, 503) else 0.0
            return self._failed(lease, Outcome.SERVER_ERROR, f"HTTP {status}", wait)
        if status in REFUSED and (wait := self._refusals.rest(lease.host, lease.url)):
            wait = max(wait, retry_after_seconds(fetched.header("Retry-After"), self._now()))
            # Another URL next, since it may be this one after all. However often, a refusal ends none now.
            return Answer(Outcome.RETRY, host_wait_seconds=wait, retry_seconds=2 * wait, detail=f"HTTP {status}")
        if not 200 <= status < 300:
            return Answer(Outcome.HTTP_ERROR, fetched, detail=f"HTTP {status}")
        if lease.sitemap:
            return Answer(None, replace(fetched, sitemap=True))
        if not is_html(fetched):
            return Answer(Outcome.NOT_HTML, fetched, detail=fetched.content_type[:80])
        return Answer(None, fetched)

    def _throttled(self, host: str, fetched: Fetched) -> float:
        return self._throttling.wait(host, retry_after_seconds(fetched.header("Retry-After"), self._now()))

    def _failed(self, lease: Lease, outcome: Outcome, detail: str, host_wait: float = 0.0) -> Answer:
        if outcome not in WORTH_A_RETRY or lease.attempts >= self._retries:
            return Answer(outcome, host_wait_seconds=host_wait, detail=detail)
        wait = max(host_wait, retry_wait(self._retry_seconds, lease.attempts))
        return Answer(Outcome.RETRY, host_wait_seconds=host_wait, retry_seconds=wait, detail=detail)


def is_html(fetched: Fetched) -> bool:
    """Whether the response is HTML by its type and is not something else by its first bytes.

    Without a type, or with one that is none ("html", "charset=utf-8"), the first bytes decide.
    """
    kind = fetched.content_type.partition(";")[0].partition(",")[0].strip().lower()
    if fetched.body.startswith(NOT_HTML_BYTES):
        return False
    if kind in NO_TYPES or "/" not in kind:
        return HTML_START.match(fetched.body) is not None
    return kind in HTML_TYPES
