"""How much one visitor may ask, and what was asked: the rate limit and the counts for /api/metrics."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from periplus.running.metrics import Sample, exposition

__all__ = ["RateLimit", "RequestCounts"]

MOST_VISITORS = 10_000
"""Visitors remembered; the one that was away longest is forgotten first."""


@dataclass(slots=True)
class RateLimit:
    """A bucket of tokens for each visitor: `rate` requests a second in the long run, twice as many at once."""

    rate: float
    clock: Callable[[], float] = time.monotonic
    _visitors: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)  # tokens, and when

    def wait(self, visitor: str) -> float:
        """0 if the request may go on, else the seconds after which it may."""
        if self.rate <= 0:
            return 0.0
        now = self.clock()
        tokens, before = self._visitors.pop(visitor, (2 * self.rate, now))
        tokens = min(2 * self.rate, tokens + (now - before) * self.rate)
        allowed = tokens >= 1
        self._visitors[visitor] = (tokens - 1 if allowed else tokens, now)
        if len(self._visitors) > MOST_VISITORS:
            self._visitors.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self.rate


@dataclass(slots=True)
class RequestCounts:
    """Requests by operation and status, and how long they took."""

    requests: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)

    def add(self, operation: str, status: int, seconds: float) -> None:
        """One more."""
        self.requests[operation] += 1
        self.statuses[str(status)] += 1
        self.seconds[operation] += seconds  # type: ignore[assignment]  # a counter of floats adds up as well

    def exposition(self, pages: int, places: int) -> str:
        """In Prometheus' text form, with the size of the collection."""
        seconds = {name: float(value) for name, value in self.seconds.items()}
        return exposition(
            [
                Sample("http_requests_total", "counter", "Requests by operation.", dict(self.requests), "operation"),
                Sample("http_responses_total", "counter", "Responses by status.", dict(self.statuses), "status"),
                Sample("http_request_seconds_total", "counter", "Seconds spent answering.", seconds, "operation"),
                Sample.single("search_pages", "gauge", "Pages that can be found.", pages),
                Sample.single("search_places", "gauge", "Places that pages are about.", places),
            ]
        )
