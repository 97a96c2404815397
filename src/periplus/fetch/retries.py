"""When to ask again: waits that grow, and what servers themselves say (Retry-After)."""

import email.utils
import random
from collections import OrderedDict
from datetime import UTC, datetime

from periplus.urls import outline

__all__ = ["FOR_NOW", "REFUSED", "Refusals", "Silence", "Throttling", "retry_after_seconds", "retry_wait"]

FOR_NOW = frozenset({408, 429})
"""Refusals (4xx) that say nothing about a URL: too many requests, and a connection that was idle for too long, which
some servers say on it when they close it."""

REFUSED = frozenset({401, 403})
"""Refusals of a URL or, from a firewall that has shut us out, of everything."""

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


RESTS_IN_VAIN = 4
"""So many rests without another answer after them, and nothing is expected of a host that refuses."""

KINDS_OF_A_HOST, REMEMBERED_HOSTS = 16, 20_000


class Refusals:
    """Hosts that refuse one URL after the other: each rests longer each time, and any other answer forgets it.

    A firewall that has shut us out may let us in again, and is not to be asked for each URL at full pace. Of URLs that
    differ in numbers and values only one counts, unless the host has given others of them: to the members' pages of a
    forum nobody is let in, and that says nothing about the rest of it.
    """

    def __init__(self, first_seconds: float, most_refusals: int) -> None:
        """After `most_refusals` in a row a host rests; 0: none ever does."""
        self._first_seconds = first_seconds
        self._most = most_refusals
        self._in_a_row: dict[str, int] = {}
        self._kinds: dict[str, set[int]] = {}
        self._given: OrderedDict[str, set[int]] = OrderedDict()

    def rest(self, host: str, url: str) -> float:
        """A URL was refused: how long its host is left alone; 0 while it may be the URL alone."""
        _, kind, dimensions = outline(url)
        kinds = self._kinds.setdefault(host, set())
        count = self._in_a_row.get(host, 0)
        if not dimensions or count >= self._most or kind not in kinds or kind in self._given.get(host, ()):
            count = self._in_a_row[host] = count + 1
        if dimensions and len(kinds) < self._most:
            kinds.add(kind)
        return retry_wait(self._first_seconds, count - self._most) if 0 < self._most <= count else 0.0

    def given(self, host: str, url: str) -> None:
        """The host has answered something else."""
        self._in_a_row.pop(host, None)
        self._kinds.pop(host, None)
        _, kind, dimensions = outline(url)
        if not dimensions:
            return
        kinds = self._given.setdefault(host, set())
        self._given.move_to_end(host)
        if len(kinds) < KINDS_OF_A_HOST:
            kinds.add(kind)
        if len(self._given) > REMEMBERED_HOSTS:
            self._given.popitem(last=False)

    def is_closed(self, host: str) -> bool:
        """Whether nothing is expected of the host any more."""
        return 0 < self._most <= self._in_a_row.get(host, 0) - RESTS_IN_VAIN
