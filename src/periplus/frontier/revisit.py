"""When a page is looked at again: soon if it changed, ever later if it did not.

A page that was read goes to WAITING (`state`) with the time of its next visit. The interval is halved when the page
had changed and grows by half when it had not, within bounds; a page that is gone is not asked for again. A sitemap that
says that a page changed after our last visit brings the next one forward (`store/revisits.py`).
"""

import sqlite3
from dataclasses import dataclass

from periplus.model import Outcome
from periplus.settings import RevisitSettings

__all__ = ["REVISITED", "Earlier", "Revisit", "Revisits"]

HOUR = 3600.0
SOONER = 0.5
LATER = 1.5

REVISITED = frozenset(
    {
        Outcome.KEPT,
        Outcome.NOT_RELEVANT,
        Outcome.NOT_INDEXED,
        Outcome.EMPTY,
        Outcome.DUPLICATE,
        Outcome.NOT_MODIFIED,
        Outcome.SITEMAP,
    }
)
"""Outcomes after which a URL is looked at again, where the crawl revisits at all."""

FAILED_FOR_NOW = frozenset(
    {
        Outcome.SERVER_ERROR,
        Outcome.TOO_SLOW,
        Outcome.DNS_ERROR,
        Outcome.CONNECTION_FAILED,
        Outcome.TLS_ERROR,
        Outcome.ROBOTS_UNREACHABLE,
        Outcome.ROBOTS,
        Outcome.CRAWL_DELAY,
        Outcome.BLOCKED,
        Outcome.HTTP_ERROR,
        Outcome.NOT_HTML,
        Outcome.TOO_LARGE,
        Outcome.BAD_CONTENT,
        Outcome.TOO_MANY_REDIRECTS,
        Outcome.QUARANTINED,
    }
)
"""Outcomes that do not say that a page is gone which was read before: it stays and is asked for another time."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the last visit to a page left: validators for a conditional request, its content, its interval."""

    etag: str = ""
    last_modified: str = ""
    digest: int | None = None
    interval_seconds: float = 0.0
    outcome: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        """Request headers that let a server answer "not modified"."""
        headers = {}
        if self.etag:
            headers["If-None-Match"] = self.etag
        if self.last_modified:
            headers["If-Modified-Since"] = self.last_modified
        return headers


@dataclass(frozen=True, slots=True)
class Revisit:
    """The next visit: the interval and, in Unix time, when it is over."""

    interval_seconds: float
    due_at: float


class Revisits:
    """The rules of revisiting, and a look at what earlier visits left."""

    def __init__(self, settings: RevisitSettings, reader: sqlite3.Connection) -> None:
        self._settings = settings
        self._reader = reader

    @property
    def on(self) -> bool:
        """Whether the crawl revisits pages."""
        return self._settings.hours > 0

    def earlier(self, url_id: int) -> Earlier:
        """What is known of a URL that was visited before."""
        row = self._reader.execute(
            "SELECT page.etag, page.last_modified, page.content_digest, progress.revisit_seconds, page.outcome "
            "FROM progress LEFT JOIN page ON page.url_id = progress.id WHERE progress.id = ?",
            (url_id,),
        ).fetchone()
        if row is None:
            return Earlier()
        return Earlier(_sendable(row[0]), _sendable(row[1]), row[2], row[3], row[4] or "")

    def after(self, outcome: Outcome, earlier: Earlier | None, now: float) -> Revisit | None:
        """The next visit to a URL whose visit ended with `outcome`; None if it is not visited again."""
        if not self.on:
            return None
        if outcome is Outcome.SITEMAP:  # it costs one request and says what has changed
            return self._next(0.0, now)
        if earlier is None:
            return self._next(self._settings.hours * HOUR, now) if outcome in REVISITED else None
        interval = earlier.interval_seconds or self._settings.hours * HOUR
        if outcome in FAILED_FOR_NOW:
            return self._next(interval, now)
        if outcome not in REVISITED:
            return None
        return self._next(interval * (LATER if outcome is Outcome.NOT_MODIFIED else SOONER), now)

    def _next(self, interval: float, now: float) -> Revisit:
        least, most = self._settings.min_hours * HOUR, self._settings.max_hours * HOUR
        interval = max(least, min(most, interval))
        return Revisit(interval, now + interval)


def _sendable(value: str | None) -> str:
    """A stored header value as it may be sent back: what is not plain text is not."""
    text = (value or "").strip()
    return text if len(text) <= 1_000 and text.isascii() and text.isprintable() else ""
