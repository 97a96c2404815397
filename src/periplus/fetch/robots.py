"""robots.txt by RFC 9309, failing closed: nothing of an origin is fetched before its robots.txt was read.

A decision is one of four values; there is no default that allows.

| robots.txt answers              | so it is      | and pages are                                  |
|---------------------------------|---------------|------------------------------------------------|
| 2xx                             | found         | allowed or not by its rules                    |
| 4xx but 408 and 429             | absent        | allowed (RFC 9309, 2.3.1.3)                    |
| 5xx, 408, 429, network, TLS     | unreachable   | not fetched; the last good rules still count   |
| a body that breaks off          | unreachable   | the same: what is missing may have forbidden   |
| gzip that nobody says it is     | found         | by the rules in it, unpacked as far as any     |
| bytes that are no text          | unreachable   | the same: who sends those has not allowed us   |
| more than `robots_bytes`        | found         | by the lines before that bound, packed or not  |
| 401, 403 with `robots_refused`  | unreachable   | the same, if the job says "deny"               |

An unreachable robots.txt is asked for again later and later, or when it says so itself (Retry-After). After the last
try the origin is given up, and asked once more when a good file would have expired. Good rules count for 30 days
beyond that (RFC 9309, 2.4), then nothing of the origin is fetched any more.
"""

import codecs
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace

from protego import Protego

from periplus.errors import AddressBusy, Blocked, ConnectionFailed, FetchError, KeptConnectionEnded
from periplus.fetch.decode import decode_part
from periplus.fetch.retries import FOR_NOW, retry_after_seconds, retry_wait
from periplus.fetch.transport import Transport
from periplus.model import Fetched
from periplus.settings import FetchSettings
from periplus.urls import CanonicalUrl, canonicalize

__all__ = ["Allow", "Disallow", "RobotsBook", "RobotsDecision", "RobotsRecord", "TooSlow", "Unreachable"]

PRODUCT = "Periplus"
MAX_CRAWL_DELAY_SECONDS = 300.0
MAX_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
NOWHERE = CanonicalUrl("", "", "", 0, "", "")
PARSED_AT_ONCE = 4_096
HOUR = 3600.0
OLD_RULES_SECONDS = 30 * 24 * HOUR

AGENT = re.compile(
    r"^([ \t]*user[ -]?agent(?:[ \t]*:[ \t]*|[ \t]+))([a-z_-]+)(?:[/ \t][^\n#]*)?", re.IGNORECASE | re.MULTILINE
)
"""`User-agent: Periplus/1.0 (+https://example.org)` means Periplus of any version, whoever runs it."""

GZIP = b"\x1f\x8b"
NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text has (WHATWG MIME Sniffing, binary data bytes)."""
LOOKED_AT = 1_445
"""So many first bytes tell text from anything else, for browsers too: a stray byte far below says nothing."""
ANY_GROUP = re.compile(rb"(?:^|[\r\n])[^\w\r\n]{0,8}user[ -]?agent\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Allow:
    """The URL may be fetched; the origin asks for `delay_seconds` between requests (0: does not say)."""

    delay_seconds: float


@dataclass(frozen=True, slots=True)
class Disallow:
    """The rules forbid the URL."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """robots.txt cannot be read: wait until `retry_at` (Unix time), or give the URL up if all tries are used."""

    retry_at: float
    given_up: bool


@dataclass(frozen=True, slots=True)
class TooSlow:
    """The origin asks for a longer delay than a crawl can wait."""


RobotsDecision = Allow | Disallow | Unreachable | TooSlow


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What an origin's robots.txt said, and until when (Unix time) that counts."""

    origin: str
    status: str  # found, absent, unreachable
    body: bytes
    fetched_at: float
    expires_at: float
    failures: int = 0


Detour = Callable[[str, str], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def _at_once(_host: str, _other: str) -> AsyncIterator[None]:
    """No wait before a redirect is followed."""
    yield


class RobotsBook:
    """The rules of all origins of the process. Asks the network only in `learn`.

    A redirect of robots.txt is followed inside `detour(host, other)`, which waits for the other host's turn.
    """

    def __init__(
        self,
        transport: Transport,
        fetch: FetchSettings,
        *,
        retries: int,
        retry_seconds: float,
        obey: bool = True,
        detour: Detour = _at_once,
    ) -> None:
        self._transport = transport
        self._hours = fetch.robots_hours
        self._max_bytes = fetch.robots_bytes
        self._refused = (401, 403) if fetch.robots_refused == "deny" else ()
        self._retries = retries
        self._retry_seconds = retry_seconds
        self._obey = obey
        self._detour = detour
        self.last_failure = ""
        self._records: dict[str, RobotsRecord] = {}
        self._parsed: OrderedDict[str, Protego] = OrderedDict()

    def remember(self, record: RobotsRecord) -> None:
        """Take up a record from the database; the newest of an origin counts."""
        known = self._records.get(record.origin)
        if known is None or known.fetched_at < record.fetched_at:
            self._records[record.origin] = record
            self._parsed.pop(record.origin, None)

    def hear(self, record: RobotsRecord, now: float) -> RobotsRecord | None:
        """Take up what another machine has read, if that has not expired; gives it as it is believed here.

        It is no newer than now by our own clock: one that is ahead would have us use it for longer than a file of ours.
        """
        if record.expires_at <= now:
            return None
        believed = replace(
            record,
            fetched_at=min(record.fetched_at, now),
            expires_at=min(record.expires_at, now + self._hours * HOUR),
        )
        self.remember(believed)
        return believed

    def decide(self, url: CanonicalUrl, now: float) -> RobotsDecision | None:
        """What the rules say about a URL; None if robots.txt has to be read first (`learn`)."""
        if not self._obey:
            return Allow(0.0)
        record = self._records.get(url.origin)
        if record is None:
            return None
        if record.expires_at <= now:
            return None
        if record.status == "unreachable":
            return Unreachable(record.expires_at, given_up=record.failures > self._retries)
        if record.status == "absent":
            return Allow(0.0)
        rules = self._rules(record)
        if not rules.can_fetch(url.href, PRODUCT):
            return Disallow()
        delay = _sane_delay(rules.crawl_delay(PRODUCT))
        return TooSlow() if delay > MAX_CRAWL_DELAY_SECONDS else Allow(delay)

    def delays(self) -> dict[str, float]:
        """The Crawl-delay of every host that states one, of its origins the longest."""
        found: dict[str, float] = {}
        for record in self._records.values():
            url = canonicalize(f"{record.origin}/")
            if url is not None and b"crawl-delay" in record.body.lower():
                delay = min(_sane_delay(self._rules(record).crawl_delay(PRODUCT)), MAX_CRAWL_DELAY_SECONDS)
                found[url.host] = max(found.get(url.host, 0.0), delay)
        return found

    def sitemaps(self, origin: str) -> list[str]:
        """The sitemaps that the origin's robots.txt names."""
        record = self._records.get(origin)
        if record is None or record.status != "found" or b"itemap" not in record.body.lower():
            return []
        found = (canonicalize(text, f"{origin}/") for text in self._rules(record).sitemaps)
        return list(dict.fromkeys(url.href for url in found if url is not None))

    async def learn(self, origin: str, now: float) -> RobotsRecord:
        """Read an origin's robots.txt. Takes the host's turn like any other request.

        Raises AddressBusy, KeptConnectionEnded, and Blocked where the origin itself is out of bounds: no time changes
        that.
        """
        known = self._records.get(origin)
        try:
            fetched = await self._get(f"{origin}/robots.txt")
            self.last_failure = f"HTTP {fetched.status}" if fetched else "redirects without end"
            if fetched is not None and 200 <= fetched.status < 300:
                fetched = self._unpacked(fetched)
        except (AddressBusy, Blocked, KeptConnectionEnded):
            raise  # nothing was learnt
        except FetchError as error:
            fetched = None
            self.last_failure = str(error).removeprefix(f"{origin}/robots.txt: ")
        record = self._record(origin, fetched, known, now)
        self._records[origin] = record
        self._parsed.pop(origin, None)
        return record

    async def _get(self, url: str) -> Fetched | None:
        """Follow up to five redirects, also to other hosts; the rules then count for the first origin."""
        fetched = await self._ask(url)
        host = (canonicalize(url) or NOWHERE).host
        for _ in range(MAX_REDIRECTS):
            if fetched.status not in REDIRECTS:
                return fetched
            target = canonicalize(fetched.location, url) if fetched.location else None
            if target is None:
                return None
            url = target.href
            try:
                async with self._detour(host, target.host):
                    fetched = await self._ask(url)
            except Blocked as error:
                raise ConnectionFailed(str(error)) from error  # the origin may lead elsewhere another time
        return fetched if fetched.status not in REDIRECTS else None

    async def _ask(self, url: str) -> Fetched:
        return await self._transport.get(url, wire_bytes=self._max_bytes, cut=True)

    def _record(self, origin: str, fetched: Fetched | None, known: RobotsRecord | None, now: float) -> RobotsRecord:
        expires_at = now + self._hours * HOUR
        if fetched is not None and 200 <= fetched.status < 300:
            if self._broke_off(fetched):
                self.last_failure, fetched = "the file broke off", None
            elif not _is_text(self._readable(fetched)):
                self.last_failure, fetched = "the file is no text", None
        if fetched is not None and fetched.status in self._refused:
            fetched = None
        if fetched is not None and 200 <= fetched.status < 300:
            return RobotsRecord(origin, "found", self._readable(fetched), now, expires_at)
        if fetched is not None and 400 <= fetched.status < 500 and fetched.status not in FOR_NOW:
            return RobotsRecord(origin, "absent", b"", now, expires_at)
        failures = known.failures + 1 if known else 1
        stated = retry_after_seconds(fetched.header("Retry-After"), fetched.fetched_at) if fetched else 0.0
        answered = now + (fetched.seconds if fetched else 0.0)  # Retry-After counts from the answer
        retry_at = answered + max(stated, retry_wait(self._retry_seconds, failures - 1))
        if known is not None and known.status != "unreachable" and now - known.fetched_at <= OLD_RULES_SECONDS:
            return replace(known, expires_at=retry_at, failures=failures)  # the last good rules still count
        if failures > self._retries:
            retry_at = max(retry_at, expires_at)
        return RobotsRecord(origin, "unreachable", b"", now, retry_at, failures)

    def _unpacked(self, fetched: Fetched) -> Fetched:
        """The file, unpacked where it lies on the server in gzip and goes out as it lies there. Raises BadContent."""
        if not fetched.body.startswith(GZIP):
            return fetched
        body, whole = decode_part(fetched.body, "gzip", self._max_bytes, cut=True)
        return replace(fetched, body=body, truncated=fetched.truncated or not whole)

    def _readable(self, fetched: Fetched) -> bytes:
        """The file in UTF-8, up to our bound: a line that is cut there could mean more than it did ("Allow: /")."""
        body = fetched.body[: self._max_bytes]
        if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            body = body.decode("utf-16", "replace").encode()
        return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1] if fetched.truncated else body

    def _broke_off(self, fetched: Fetched) -> bool:
        """Whether less came than the server meant to send, or no line of it ended before our own bound."""
        if not fetched.truncated:
            return False
        return len(fetched.body) < self._max_bytes or not (b"\n" in fetched.body or b"\r" in fetched.body)

    def _rules(self, record: RobotsRecord) -> Protego:
        rules = self._parsed.get(record.origin)
        if rules is None:
            # utf-8-sig: with a byte order mark left in, the first group would vanish.
            text = record.body.decode("utf-8-sig", "replace").replace("\0", "")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
            rules = Protego.parse(AGENT.sub(_named, text))
            self._parsed[record.origin] = rules
            if len(self._parsed) > PARSED_AT_ONCE:
                self._parsed.popitem(last=False)
        return rules


def _is_text(body: bytes) -> bool:
    """Whether a file can be a robots.txt: without the bytes that no text has or, whatever it has, with a group."""
    return NO_TEXT.search(body, 0, LOOKED_AT) is None or ANY_GROUP.search(body.replace(b"\0", b"")) is not None


def _named(line: re.Match[str]) -> str:
    """A group's agent without its version. Part of our name is somebody else's, which the library does not see."""
    start, name = line.groups()
    return f"{start}{name}" if name.lower() == PRODUCT.lower() else f"{start}not-{name}"


def _sane_delay(delay: float | None) -> float:
    """A Crawl-delay as a number; nonsense (negative, NaN) counts as not said."""
    return float(delay) if delay is not None and delay > 0 else 0.0
