"""A transport that answers from a recorded web: crawls of it go the same way as on the network, and nothing leaves.

Answers take as long as they took when they were recorded, or as long as is set; a share of requests may be made to
fail, which ones follows from the URL and how often it was asked, so that the same crawl fails the same way again. What
was not recorded is not found (404).
"""

import ipaddress
from collections import Counter
from collections.abc import Mapping

import xxhash

from periplus.clock import Clock
from periplus.errors import ConnectionFailed, TooLarge
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.model import Fetched
from periplus.settings import FetchSettings
from periplus.store.recorded import RecordedWeb
from periplus.strategies.hash import host_of

__all__ = ["RecordedTransport"]

PARTS = 1_000_000
UNIQUE_LOCAL = 0xFD << 120


class RecordedTransport(Transport):
    """Serves a recorded web. `latency` in seconds, below 0: as recorded; `failures` is the share of requests."""

    def __init__(
        self, web: RecordedWeb, settings: FetchSettings, clock: Clock, *, latency: float = 0.0, failures: float = 0.0
    ) -> None:
        guard = AddressGuard([], loopback_only=True)
        super().__init__(settings, Resolver({}, guard, clock), guard, clock, agent="Periplus/replay")
        self._web = web
        self._latency = latency
        self._failing = round(failures * PARTS)
        self._asked: Counter[int] = Counter()

    async def checked_address(self, url: str) -> tuple[str, int]:
        """The address that the URL's host had when it was recorded, for `nearest`; nobody may connect to it.

        A host without one stands in a subnet of its own: a table of round trips may know it by its name.
        """
        host = host_of(url)
        mark = xxhash.xxh3_64_intdigest(host.encode("utf-8", "surrogatepass"))
        alone = str(ipaddress.IPv6Address(UNIQUE_LOCAL | (mark % 2**40) << 80 | 1))
        return self._web.address(host) or alone, 0

    async def get(
        self, url: str, *, wire_bytes: int | None = None, cut: bool = False, headers: Mapping[str, str] | None = None
    ) -> Fetched:
        """The recorded answer of a canonical URL. Raises a FetchError."""
        found = self._web.get(url)
        seconds = self._latency if self._latency >= 0 else found.seconds if found else 0.0
        if seconds:
            await self._clock.sleep(seconds)
        if self._failing and self._fails(url):
            raise ConnectionFailed(f"{url}: made to fail by crawl.replay_failures")
        if found is None:
            return Fetched(url, 404, (), b"", "", self._clock.now(), seconds, "")
        limit = wire_bytes or self._settings.wire_bytes
        body, truncated = found.body, found.truncated
        if len(body) > limit:
            if not cut:
                raise TooLarge(f"{url}: more than {limit:,} bytes")
            body, truncated = body[:limit], True
        return Fetched(
            url, found.status, found.headers, body, found.content_type, self._clock.now(), seconds, found.address,
            truncated, request_headers=tuple((headers or {}).items()),
        )  # fmt: skip

    def _fails(self, url: str) -> bool:
        mark = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
        self._asked[mark] += 1
        return (
            xxhash.xxh3_64_intdigest(f"{self._asked[mark]} {url}".encode("utf-8", "surrogatepass")) % PARTS
            < self._failing
        )
