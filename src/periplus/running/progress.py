"""How far a crawl is: what a person sees while it runs, the time it still needs, and why it ended."""

import contextlib
import json
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from periplus.files import target_file
from periplus.model import Outcome
from periplus.store.summary import HarvestShare
from periplus.wording import counted

__all__ = ["Progress", "ProgressFile", "Rate", "errors_among", "time_left", "why_empty", "why_silent"]

WINDOW_SECONDS = 30.0
FINE = frozenset({Outcome.KEPT, Outcome.NOT_RELEVANT, Outcome.NOT_INDEXED, Outcome.EMPTY, Outcome.DUPLICATE,
                  Outcome.REDIRECTED, Outcome.NOT_MODIFIED, Outcome.SITEMAP})  # fmt: skip
PAGES = FINE - {Outcome.REDIRECTED, Outcome.SITEMAP}
REFUSED = {
    Outcome.ROBOTS: "robots",
    Outcome.CRAWL_DELAY: "crawl delay",
    Outcome.ROBOTS_UNREACHABLE: "unreachable robots",
    Outcome.BLOCKED: "address guard",
}
"""Leases that ended without a request, in the words of a stop reason."""

KNOWN_ALREADY = ("seen", "sent_before", "document")
MOST_REASONS = 4
EMPTY = "frontier empty"


def errors_among(outcomes: Counter[str]) -> dict[str, int]:
    """What did not end well, by kind, the most frequent first."""
    return {kind: count for kind, count in outcomes.most_common() if kind not in FINE and count}


@dataclass(frozen=True, slots=True)
class Progress:
    """What a person sees while the crawl runs."""

    pages: int
    kept: int
    queued: int
    busy_hosts: int
    hosts: int
    seconds: float
    pages_this_run: int
    page_limit: int
    rate: float
    """Pages a second, lately."""
    left_seconds: float | None
    """Until a limit is reached, at this rate; None without a limit or a rate."""
    paused: str
    outcomes: Counter[str]
    waits: str = ""
    """For which host, how long and since what failure, if nothing is under way and no host may be asked soon."""
    harvest: dict[str, HarvestShare] = field(default_factory=dict)

    @property
    def errors(self) -> dict[str, int]:
        """Leases that did not end well, by kind, the most frequent first."""
        return errors_among(self.outcomes)

    def to_json(self) -> dict[str, Any]:
        """For whoever watches from outside."""
        plain = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("outcomes", "harvest")
        }
        harvest = {name: asdict(found) for name, found in self.harvest.items()}
        return plain | {"outcomes": dict(self.outcomes), "errors": self.errors, "harvest": harvest}


class ProgressFile:
    """The latest progress as JSON in a file, for whoever watches the crawl from outside; whole or not at all."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError for what is no file, as a folder or a pipe."""
        self._path = target_file(path)
        self._draft = self._path.with_name(f"{self._path.name}.new")

    def write(self, now: Progress) -> None:
        """Replace what stands there. A disk without room is no reason to stop a crawl."""
        with contextlib.suppress(OSError):
            self._draft.write_text(json.dumps(now.to_json()), "utf-8")
            self._draft.replace(self._path)


class Rate:
    """Pages a second over the last half minute."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def at(self, now: float, pages: int) -> float:
        """Note how many pages there are by now; gives the rate."""
        self._points.append((now, pages))
        while len(self._points) > 2 and self._points[1][0] <= now - WINDOW_SECONDS:
            self._points.popleft()
        since, before = self._points[0]
        return (pages - before) / (now - since) if now > since else 0.0


def time_left(*, pages: int, page_limit: int, rate: float, seconds: float, minutes_limit: float) -> float | None:
    """Seconds until the first of the limits is reached; None if there is none, or no rate to go by."""
    ends = []
    if minutes_limit:
        ends.append(max(0.0, minutes_limit * 60 - seconds))
    if page_limit and rate > 0:
        ends.append(max(0.0, (page_limit - pages) / rate))
    return min(ends, default=None)


def why_empty(dropped: Counter[str], outcomes: Counter[str]) -> str:
    """The stop reason of a crawl that has nothing left: what kept it from going farther."""
    reasons = Counter(
        {name.replace("_", " "): count for name, count in dropped.items() if name not in KNOWN_ALREADY and count}
    )
    for outcome, words in REFUSED.items():
        if outcomes[outcome]:
            reasons[words] += outcomes[outcome]
    if not reasons:
        ends = [(kind, count) for kind, count in outcomes.most_common() if count and kind != Outcome.RETRY]
        told = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in ends)
        return f"{EMPTY}: no page was read ({told})" if told and not any(outcomes[page] for page in PAGES) else EMPTY
    (first, count), *others = reasons.most_common(MOST_REASONS)
    parts = [f"{counted(count, 'URL')} dropped by {first}", *(f"{count:,} by {name}" for name, count in others)]
    rest = reasons.total() - sum(count for _, count in reasons.most_common(MOST_REASONS))
    if rest:
        parts.append(f"{rest:,} for other reasons")
    return f"{EMPTY}: {', '.join(parts)}"


def why_silent(silent: Sequence[str], closed: Sequence[str], queued: int) -> str:
    """The stop reason of a crawl that has nothing left but URLs of hosts that do not answer, or refuse everything."""
    parts = [
        *([_of_hosts(silent, "does not answer any more", "do not answer any more")] if silent else []),
        *([_of_hosts(closed, "refuses everything", "refuse everything")] if closed else []),
    ]
    stay = "stays" if queued == 1 else "stay"
    return f"{', '.join(parts)}: {counted(queued, 'URL')} {stay} queued for the next run"


def _of_hosts(hosts: Sequence[str], one: str, many: str) -> str:
    """What hosts do, with the first of their names."""
    others = f" and {counted(len(hosts) - MOST_REASONS, 'other host')}" if len(hosts) > MOST_REASONS else ""
    return f"{', '.join(hosts[:MOST_REASONS])}{others} {one if len(hosts) == 1 else many}"
