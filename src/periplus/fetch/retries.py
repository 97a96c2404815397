"""When to ask again: waits that grow, and what servers themselves say (Retry-After)."""

import email.utils
import random
from datetime import UTC, datetime

__all__ = ["FOR_NOW", "Silence", "Throttling", "retry_after_seconds", "retry_wait"]

FOR_NOW = frozenset({408, 429})
"""Refusals (4xx) that say nothing about a URL: too many requests, and a connection that was idle for too long, which
some servers say on it when they close it."""

MAX_RETRY_SECONDS = 3600.0
MAX_RETRY_AFTER_SECONDS = 86_400.0
THROTTLE_GROWTH = 4.0
"""30 s, 2 min, 8 min, 32 min, 1 h: a host that answers nothing but 429 gets five requests in its first hour."""

JITTER = 0.1


def retry_wait(first_seconds: float, attempts: int, growth: float = 2.0) -> float:
    """Seconds before the next try: doubles each time, up to an hour."""
    return min(first_seconds * growth ** min(attempts, 64), MAX_RETRY_SECONDS)


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
        at = at.replace(tzinfo=UTC)  # one of the three forms of HTTP's dates has no zone, and means this one
    return min(max(0.0, (at - now).total_seconds()), MAX_RETRY_AFTER_SECONDS)


class Throttling:
    """How long each host that says "too much" (429, 503) is left alone; a good answer forgets it."""

    def __init__(self, first_seconds: float) -> None:
        self._first_seconds = first_seconds
        self._in_a_row: dict[str, int] = {}

    def wait(self, host: str, stated_seconds: float) -> float:
        """The host has refused once more: what it asks for or, where it does not say, longer each time."""
        count = self._in_a_row.get(host, 0)
        self._in_a_row[host] = count + 1
        own = retry_wait(self._first_seconds, count, THROTTLE_GROWTH)
        # Hosts that were refused together should not come back together.
        return stated_seconds or own * (1.0 + JITTER * random.random())

    def forget(self, host: str) -> None:
        """The host answers again."""
        self._in_a_row.pop(host, None)


FORGIVEN = 2
"""Failures in a row after which a host is left alone for longer and longer: one connection may be lost."""


class Silence:
    """Hosts that do not answer at all, page after page: each rests longer each time, and any answer forgets it.

    Else every URL of a site that has died would be asked for as often as there are tries, one after the other.
    """

    def __init__(self, first_seconds: float, most_failures: int) -> None:
        """After `most_failures` in a row a host counts as silent; 0: none ever does."""
        self._first_seconds = first_seconds
        self._most = most_failures
        self._in_a_row: dict[str, int] = {}

    def rest(self, host: str) -> float:
        """The host has not answered once more: how long it is left alone, whichever of its URLs comes next."""
        count = self._in_a_row[host] = self._in_a_row.get(host, 0) + 1
        return retry_wait(self._first_seconds, count - FORGIVEN - 1) if self._most and count > FORGIVEN else 0.0

    def answered(self, host: str) -> None:
        """Whatever the answer was."""
        self._in_a_row.pop(host, None)

    def is_silent(self, host: str) -> bool:
        """Whether nothing is expected of the host any more."""
        return 0 < self._most <= self._in_a_row.get(host, 0)
