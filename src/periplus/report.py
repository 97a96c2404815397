"""How a crawl is going, for people (progress), for machines (metrics) and for later (the log)."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from periplus.exchange import Exchange
from periplus.node import Node
from periplus.running import DiskRoom, Progress, Rate, Sample, Watchdog, time_left
from periplus.shared import Shared
from periplus.urls import canonicalize

__all__ = ["Reporter"]

LOG_SECONDS = 60.0
LONG_SECONDS = 5.0
"""Who waits for so long with nothing under way is told what for."""


@dataclass(slots=True)
class Reporter:
    """Reads the numbers of a running crawl. Belongs to the event loop."""

    shared: Shared
    nodes: Mapping[str, Node]
    exchange: Exchange
    room: DiskRoom
    watchdog: Watchdog
    started: float
    pages_before: int
    minutes_limit: float
    on_progress: Callable[[Progress], None] | None = None
    waits_for: Callable[[], str] = str
    _rate: Rate = field(default_factory=Rate)
    _logged_at: float = 0.0

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return self.shared.clock.monotonic() - self.started

    def progress(self) -> Progress:
        """Where the crawl stands."""
        health, crawl = self.shared.health, self.shared.crawl
        seconds = self.seconds
        rate = self._rate.at(seconds, health.pages)
        return Progress(
            pages=health.pages,
            kept=health.kept,
            queued=self._queued(),
            busy_hosts=self.shared.schedule.busy,
            hosts=sum(node.store.hosts for node in self.nodes.values()),
            seconds=seconds,
            pages_this_run=health.pages - self.pages_before,
            page_limit=crawl.pages,
            rate=rate,
            left_seconds=time_left(
                pages=health.pages,
                page_limit=crawl.pages,
                rate=rate,
                seconds=seconds,
                minutes_limit=self.minutes_limit,
            ),
            paused=self.room.paused or self.waits_for(),
            outcomes=health.outcomes,
            waits=self._waits(),
            harvest=health.harvest.shares(),
        )

    def _waits(self) -> str:
        """The host that comes next, if that takes long and nothing else is under way; with what it failed at last."""
        schedule, failure = self.shared.schedule, self.shared.health.last_failure
        following = None if schedule.busy else schedule.next_host()
        seconds = following[1] - self.shared.clock.monotonic() if following else 0.0
        if following is None or seconds < LONG_SECONDS or schedule.next_at() == 0.0:
            return ""
        failed = canonicalize(failure.partition(": ")[0])
        since = f" ({failure})" if failed is not None and failed.host == following[0] else ""
        return f"{timedelta(seconds=round(seconds))} for {following[0]}{since}"

    def report(self) -> None:
        """Show the progress; once a minute it goes into the log as well."""
        now = self.progress()
        if self.on_progress is not None:
            self.on_progress(now)
        if self.seconds - self._logged_at >= LOG_SECONDS:
            self._logged_at = self.seconds
            self._log("progress", now)

    def say_started(self, version: str, metrics_port: int | None) -> None:
        """The first line of a run."""
        self.shared.journal.write(
            "started",
            version=version,
            pid=os.getpid(),
            nodes=sorted(self.nodes),
            pages=self.pages_before,
            queued=self._queued(),
            metrics_port=metrics_port,
        )

    def say_ended(self, reason: str) -> None:
        """The last line of a run that came to its end."""
        now = self.progress()
        if self.on_progress is not None:
            self.on_progress(now)
        self._log("ended", now, reason=reason)

    def _log(self, event: str, now: Progress, **facts: object) -> None:
        self.shared.journal.write(
            event,
            **facts,
            pages=now.pages,
            kept=now.kept,
            queued=now.queued,
            hosts=now.hosts,
            rate=round(now.rate, 1),
            seconds=round(now.seconds, 1),
            errors=now.errors,
            waits=now.waits,
            log_lines_lost=self.shared.journal.lost,
        )

    def _queued(self) -> int:
        return sum(node.queue.size for node in self.nodes.values()) + self.exchange.waiting

    def samples(self) -> list[Sample]:
        """Everything that `/metrics` tells."""
        health, one = self.shared.health, Sample.single
        uncommitted = sum(len(node.batch.completions) for node in self.nodes.values())
        return [
            one("pages_total", "counter", "Pages fetched and read.", health.pages),
            one("kept_total", "counter", "Pages stored and indexed.", health.kept),
            Sample("leases_total", "counter", "Leases by how they ended.", dict(health.outcomes), "outcome"),
            Sample("dropped_total", "counter", "URLs that did not join the frontier.", dict(health.dropped), "reason"),
            one("queued", "gauge", "URLs that wait to be fetched.", self._queued()),
            one("hosts_known", "gauge", "Hosts that the nodes know.", sum(n.store.hosts for n in self.nodes.values())),
            one("hosts_busy", "gauge", "Hosts with a request under way.", self.shared.schedule.busy),
            one("exchange_waiting", "gauge", "Links on their way between nodes.", self.exchange.waiting),
            one("uncommitted", "gauge", "Leases that ended and wait for the writer.", uncommitted),
            one("workers_lost_total", "counter", "Worker processes that died.", self.shared.workers.lost),
            one("loop_blocked_total", "counter", "Times that the event loop stood still.", self.watchdog.blocks),
            one(
                "loop_blocked_longest_seconds",
                "gauge",
                "Longest time that the event loop stood still.",
                self.watchdog.longest_seconds,
            ),
            one("paused", "gauge", "1 while the crawl waits for room on the disk.", float(bool(self.room.paused))),
            one("log_lines_lost_total", "counter", "Log lines that found no room.", self.shared.journal.lost),
            one("run_seconds", "gauge", "Seconds since this run began.", self.seconds),
            one("resident_bytes", "gauge", "Memory of the crawl's own process.", _resident_bytes()),
        ]


def _resident_bytes() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0
