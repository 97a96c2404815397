"""A crawl: the process that hosts the nodes of a job.

It gives turns to nodes until the frontier is empty or a limit is reached, commits what they bring in batches,
carries links between them, has the indexes kept up to date and says why it stopped. The way of a single page is in
`node.py`; what nodes use together is made by `equipment.py`; what is on disk already is taken up by `resume.py`; how it
is going is said by `report.py`.
"""

import asyncio
import itertools
import os
import sqlite3
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from periplus import __version__
from periplus.analysis import worker_function
from periplus.clock import Clock
from periplus.equipment import equipped
from periplus.errors import ConfigError, DiskFull, PeriplusError
from periplus.exchange import BATCH_LINKS, Exchange, LocalExchange, Shipment
from periplus.fetch import Transport
from periplus.frontier import Intake, Turn
from periplus.indexing import Indexing
from periplus.job import Prepared
from periplus.model import Outcome
from periplus.network.memory import DelegationStore
from periplus.network.probes import Prober
from periplus.node import Node
from periplus.pages import Workers
from periplus.registering import kept_seeds
from periplus.report import Reporter
from periplus.resume import open_nodes
from periplus.running import (
    DiskRoom,
    Journal,
    Pace,
    Progress,
    Watchdog,
    cause_of,
    exposition,
    serve_metrics,
    why_empty,
    why_silent,
)
from periplus.shared import Health, RobotsShare, Shared
from periplus.store.commit import Batch, Committed, Delivery
from periplus.store.summary import Summary, summarize
from periplus.store.versions import leave_out_versions
from periplus.store.ways import within_reach
from periplus.wording import counted

__all__ = ["Crawl"]

COMMIT_SECONDS = 0.05
PATIENT_ROUNDS, MANY_COMPLETIONS = 4, 16
"""While there is enough to fetch, one node of several commits in every so many rounds only, or when it has so much: a
transaction costs nearly the same for one page and for ten."""
REVALUE_SECONDS, MOST_REVALUE_SECONDS, REVALUE_REST = 0.5, 5.0, 20.0
"""Between two rounds in which queued URLs get their new priorities: the first, and so many times what the last round
took, up to the second. Every URL changes a row somewhere in the queue; many at once share the pages of the database
that are written, and what has changed twice is written once."""
PROGRESS_SECONDS = 0.5
REVISIT_SECONDS = 5.0
DISK_CHECKS = 10  # one in so many progress ticks
MAX_UNCOMMITTED = 1_000
MAX_UNDELIVERED = 50_000
"""Links on their way from node to node that are held in memory; with more, no further page is fetched before some were
taken up."""
SLOW_SECONDS = 5.0
"""Who waits for an answer longer than this no longer counts against `crawl.connections`, so that silent hosts do not
hold up the others. As many may wait beside as there are connections."""
INTERRUPTED = "interrupted"
"""The stop reason of a signal: whoever waits for room on the disk then stops waiting."""


P = ParamSpec("P")
T = TypeVar("T")


class Crawl:
    """Runs one job. Make it outside the event loop, since it forks its workers; then `await run()` once."""

    def __init__(self, prepared: Prepared, clock: Clock, on_progress: Callable[[Progress], None] | None = None) -> None:
        self._prepared = prepared
        self._job = prepared.job
        self._clock = clock
        self._on_progress = on_progress
        run = self._job.run
        count = self._job.crawl.workers or os.cpu_count() or 1
        self._workers = Workers(
            worker_function(prepared.lens),
            count,
            cpu_seconds=run.page_cpu_seconds,
            memory_bytes=run.page_memory_bytes,
        )
        self._journal = Journal(
            self._log_file() if run.log != "off" else None, run.log_bytes, clock.now, pages=run.log == "pages"
        )
        reserve = self._job.archive.disk_reserve_bytes
        self._room = DiskRoom(prepared.folder, reserve, run.disk_wait_minutes, clock, self._journal)
        self._watchdog = Watchdog(run.watchdog_seconds, self._journal)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="periplus-writer")
        self._exchange: Exchange = LocalExchange()
        self._nodes: dict[str, Node] = {}
        self._indexing = Indexing(self._nodes, self._written, clock, self._journal)
        self._turns: dict[asyncio.Task[None], tuple[float, Turn]] = {}  # the oldest first
        self._writing = False
        self._happened = asyncio.Event()
        self._stop_reason = ""
        self._pages_before = 0
        self._next_revisits = 0.0
        self._revaluing = Pace(REVALUE_SECONDS, MOST_REVALUE_SECONDS, REVALUE_REST)

    def _log_file(self) -> Path:
        return self._prepared.folder.log_file

    def stop(self, reason: str) -> None:
        """Take no further turns; what is under way is finished and committed."""
        if not self._stop_reason:
            self._journal.write("stopping", reason=reason)
        self._stop_reason = self._stop_reason or reason
        self._happened.set()

    async def run(self) -> Summary:
        """Crawl until the frontier is empty, a limit is reached or `stop` is called."""
        started = self._clock.monotonic()
        health = Health()
        try:
            async with self._shared(health) as shared, self._watchdog:
                await self._workers.start()
                self._indexing.start()
                await self._open(shared)
                self._pages_before = health.pages
                await self._plant_seeds(shared)
                await self._crawl(shared, self._reporter(shared, started))
        except (BaseExceptionGroup, PeriplusError, sqlite3.DatabaseError, OSError) as error:
            cause = cause_of(error, self._prepared.folder.path)
            if cause is None:
                raise
            self._journal.write("failed", reason=str(cause))
            raise cause from None
        finally:
            await self._workers.close()
            self._writer.shutdown()
            self._indexing.close()
            for node in self._nodes.values():
                node.close()
            self._journal.close()
        seconds = self._clock.monotonic() - started
        pages = health.pages - self._pages_before
        return summarize(self._prepared.folder, self._stop_reason, seconds, pages, set(self._nodes))

    async def _open(self, shared: Shared) -> None:
        """Open the nodes of this process."""
        self._nodes.update(open_nodes(self._prepared, shared, self._exchange))

    def _make_intake(self) -> Intake:
        return Intake(self._prepared.nodes, self._job.crawl, self._job.fetch)

    def _reporter(self, shared: Shared, started: float) -> Reporter:
        return Reporter(
            shared,
            self._nodes,
            self._exchange,
            self._room,
            self._watchdog,
            started=started,
            pages_before=self._pages_before,
            minutes_limit=self._job.crawl.minutes,
            on_progress=self._on_progress,
            waits_for=self._waits_for,
        )

    def _waits_for(self) -> str:
        """What keeps the crawl waiting besides its hosts and the disk, for people; empty: nothing."""
        return ""

    def _shared(self, health: Health) -> AbstractAsyncContextManager[Shared]:
        """Everything that all nodes of the process use."""
        return equipped(
            self._prepared,
            self._clock,
            workers=self._workers,
            intake=self._make_intake(),
            health=health,
            journal=self._journal,
            robots_share=self._robots_share(),
            prober=self._prober,
            delegations=self._delegations(),
        )

    def _prober(self, _transport: Transport) -> Prober | None:
        """Who measures round trips: in one process nobody, a table stands in."""
        return None

    def _delegations(self) -> DelegationStore | None:
        """Where delegations are kept, if not in the crawl's folder."""
        return None

    def _robots_share(self) -> RobotsShare | None:
        return None

    async def _plant_seeds(self, shared: Shared) -> None:
        least, seeds = self._job.crawl.seed_correlation, self._prepared.seeds
        kept = await kept_seeds(seeds, least, self._prepared.lens.gazetteer, shared.registered)
        if len(kept) < len(seeds):
            self._journal.write("seeds_left_out", kept=len(kept), left_out=len(seeds) - len(kept))
        if not kept:
            raise ConfigError(f"no seed is left: none has places nearer together than crawl.seed_correlation {least:g}")
        self._plant(await self._settled(kept, shared), shared)

    async def _settled(self, seeds: list[tuple[str, str]], shared: Shared) -> list[tuple[str, str]]:
        """The seeds, each with the node that is near it where the network decides."""
        return seeds if shared.reaching is None else await shared.reaching.seeds(seeds)

    def _plant(self, seeds: Iterable[tuple[str, str]], shared: Shared) -> None:
        for url, node in seeds:
            seed = shared.intake.accept_seed(node, url)
            if seed is not None:
                self._nodes[node].batch.seeds.append(seed)

    # -- Turns -------------------------------------------------------------------------------------

    async def _crawl(self, shared: Shared, reporter: Reporter) -> None:
        run = self._job.run
        async with serve_metrics(run.metrics_host, run.metrics_port, lambda: exposition(reporter.samples())) as port:
            reporter.say_started(__version__, port)
            await self._commit(shared)
            async with asyncio.TaskGroup() as group:
                background = [group.create_task(work) for work in self._background(shared, reporter)]
                await self._dispatch(shared, group)
                for task in background:
                    task.cancel()
            self._revaluing.hurry()
            await self._commit(shared)  # what the last deliveries allow the senders to delete
            if self._stop_reason != INTERRUPTED:
                await self._written(self._writer, leave_out_versions, [node.store for node in self._nodes.values()])
            await self._indexing.bring_up_to_date(again=True)
            reporter.say_ended(self._stop_reason)

    def _background(self, shared: Shared, reporter: Reporter) -> list[Coroutine[Any, Any, None]]:
        """What goes on beside the turns, until the last of them has ended."""
        work = [self._keep_committing(shared), self._indexing.keep_up(reporter.progress), self._keep_watching(reporter)]
        if shared.registered is not None:
            work.append(shared.registered.run())
        return work

    async def _dispatch(self, shared: Shared, group: asyncio.TaskGroup) -> None:
        """Give turns until there is nothing left to do, or a reason to stop."""
        while True:
            self._happened.clear()
            while self._may_begin(shared) and (turn := shared.schedule.take(now := self._clock.monotonic())):
                task = group.create_task(self._nodes[turn.node].take_turn(turn))
                self._turns[task] = (now, turn)
                task.add_done_callback(self._turn_ended)
            if self._is_over(shared):
                if self._stop_reason or not await self._found_shorter_ways(shared):
                    self.stop(why_empty(shared.health.dropped, shared.health.outcomes))
                    return
            else:
                await self._wait(shared)

    async def _found_shorter_ways(self, shared: Shared) -> bool:
        """When nothing is left to do: whether URLs that seemed too far away are within reach after all."""
        stores = {name: node.store.db for name, node in self._nodes.items()}
        limits = {"depth": self._job.crawl.depth, "redirects": self._job.fetch.redirects}
        loop = asyncio.get_running_loop()
        for name, parcels in (await loop.run_in_executor(self._writer, lambda: within_reach(stores, **limits))).items():
            accepted = [shared.intake.accept_after_all(name, parcel) for parcel in parcels]
            self._nodes[name].batch.nearer += [parcel for parcel in accepted if parcel is not None]
        return any(node.batch for node in self._nodes.values())

    def _turn_ended(self, task: asyncio.Task[None]) -> None:
        del self._turns[task]
        self._happened.set()

    def _may_begin(self, shared: Shared) -> bool:
        """Whether another turn may begin: by stop, page limit, connections and what waits for the writer."""
        limit = self._job.crawl.pages
        return (
            not self._stop_reason
            and not self._room.paused
            and len(self._turns) - self._waiting_long(shared) < self._job.crawl.connections
            and (not limit or shared.health.pages + len(self._turns) < limit)
            and sum([len(node.batch.completions) for node in self._nodes.values()]) < MAX_UNCOMMITTED
            and self._exchange.waiting < MAX_UNDELIVERED
        )

    def _waiting_long(self, shared: Shared) -> int:
        """Turns whose host has not answered for long, as far as they need not count."""
        if len(self._turns) < self._job.crawl.connections:
            return 0
        since = self._clock.monotonic() - SLOW_SECONDS
        slow = itertools.takewhile(lambda begun: begun[0] < since, self._turns.values())
        return min(sum(shared.schedule.is_busy(turn) for _, turn in slow), self._job.crawl.connections)

    def _is_over(self, shared: Shared) -> bool:
        """Whether nothing is under way and there is a reason to end: a limit or, without one, nothing left to do."""
        if self._turns or self._writing or self._exchange.waiting or any(node.batch for node in self._nodes.values()):
            return False
        if self._job.crawl.revisit.hours and not self._next_revisits:
            return False
        health, limit = shared.health, self._job.crawl.pages
        if limit and health.pages >= limit:
            self.stop(f"page limit: {counted(health.pages, 'page')}")
        elif (next_at := shared.schedule.next_at()) is None:
            return True
        elif next_at <= self._clock.monotonic() + self._job.crawl.ip_delay_seconds:
            return bool(self._stop_reason)  # a host whose address was busy with another has not been tried yet
        elif not health.answered and health.last_failure:
            # Nothing has ever answered: say so now rather than after the last retry. The seeds stay queued.
            self.stop(f"no seed could be reached ({health.last_failure})")
        else:
            self._end_if_nobody_serves(shared)
        return bool(self._stop_reason)

    def _end_if_nobody_serves(self, shared: Shared) -> None:
        """Stop if nothing is left but URLs of hosts that do not answer any more, or refuse everything."""
        silent, closed = [], []
        for host in shared.schedule.wanted_hosts():
            if shared.fetcher.is_silent(host):
                silent.append(host)
            elif shared.fetcher.is_closed(host):
                closed.append(host)
            else:
                return
        if silent or closed:
            self.stop(why_silent(silent, closed, sum(node.queue.size for node in self._nodes.values())))

    async def _wait(self, shared: Shared) -> None:
        """Sleep until something happens or the next host's time has come."""
        next_at = shared.schedule.next_at() if self._may_begin(shared) else None
        pause = 1.0 if next_at is None else min(1.0, max(0.001, next_at - self._clock.monotonic()))
        timer = asyncio.get_running_loop().call_later(pause, self._happened.set)
        try:
            await self._happened.wait()
        finally:
            timer.cancel()

    # -- Commit and exchange -----------------------------------------------------------------------

    async def _keep_committing(self, shared: Shared) -> None:
        for number in itertools.count(1):
            await self._clock.sleep(COMMIT_SECONDS)
            await self._commit(shared, everything=number % PATIENT_ROUNDS == 0 or self._waits_for_links(shared))

    def _waits_for_links(self, shared: Shared) -> bool:
        """Whether more turns could be given if more was known: then what pages have brought is wanted at once."""
        if self._stop_reason or len(self._nodes) == 1:
            return True
        next_at = shared.schedule.next_at()
        idle = next_at is None or next_at > self._clock.monotonic()
        return idle and len(self._turns) < self._job.crawl.connections

    async def _commit(self, shared: Shared, *, everything: bool = True) -> None:
        """One round: each node's batch, with links from other nodes, in one transaction of its database.

        Without `everything` only nodes that have much, or for whom much has come.
        """
        due_until = self._revisits_due_until()
        revalues = everything and self._revaluing.is_due(self._clock.monotonic())
        for name, node in list(self._nodes.items()):
            has_much = (
                len(node.batch.completions) >= MANY_COMPLETIONS or self._exchange.waiting_for(name) >= BATCH_LINKS
            )
            if not (everything or due_until or has_much):
                continue
            self._writing = True
            batch = node.take_batch()
            batch.due_until = due_until
            batch.confirmed = self._exchange.confirmations(name)
            batch.revalued = shared.book.take_changed(name) if shared.book and revalues else []
            for shipment in self._exchange.collect(name):
                batch.deliveries.append(self._delivery(name, shipment, shared))
            if batch:
                began = self._clock.monotonic()
                committed = await self._written(self._writer, node.store.commit, batch)
                if batch.revalued:
                    now = self._clock.monotonic()
                    self._revaluing.took(now - began, now)
                self._apply(node, batch, committed, shared)
        self._writing = False
        self._happened.set()

    def _delivery(self, node: str, shipment: Shipment, shared: Shared) -> Delivery:
        """What of a shipment a node takes."""
        accepted, received = shared.intake.receive(node, shipment.urls, shipment.targets), len(shipment.urls)
        taken = len(accepted.mine) + len(accepted.others) + len(accepted.beyond)
        return Delivery(
            shipment.sender,
            shipment.sequence,
            accepted.mine,
            received,
            duplicate=received - taken,
            parcels=accepted.others,
            dropped=accepted.dropped,
            beyond=accepted.beyond,
        )

    def _revisits_due_until(self) -> float:
        """The time up to which revisits are due, now and then; 0 in between and where nothing is revisited."""
        now = self._clock.monotonic()
        if not self._job.crawl.revisit.hours or now < self._next_revisits:
            return 0.0
        self._next_revisits = now + REVISIT_SECONDS
        return self._clock.now().timestamp()

    async def _written(self, thread: ThreadPoolExecutor, write: Callable[P, T], *arguments: P.args, **_: P.kwargs) -> T:
        """What `write` gives, once there is room for it on the disk: it is tried again until there is."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                result = await loop.run_in_executor(thread, write, *arguments)
            except DiskFull as error:
                await self._room.wait(error, lambda: self._stop_reason == INTERRUPTED)
            else:
                self._room.wrote()
                return result

    def _apply(self, node: Node, batch: Batch, committed: Committed, shared: Shared) -> None:
        """What a commit means for the frontier and the exchange, once it is on disk."""
        now, monotonic = shared.unix(), self._clock.monotonic()
        for lease, host_id in committed.queued:
            node.queue.push(lease, host_id)
            shared.schedule.want(lease.host, node.name, monotonic)
        node.queue.all_pushed()
        for host, priority in committed.revalued.items():
            node.queue.revalue(host, priority)
        for done in batch.completions:
            if done.outcome is Outcome.RETRY:
                node.queue.retry(done.lease, done.retry_at)
                shared.schedule.want(done.lease.host, node.name, monotonic + max(0.0, done.retry_at - now))
            else:
                node.queue.finished(done.lease)
        if committed.swept:
            node.queue.swept()
        if any(done.lastmods for done in batch.completions):
            self._next_revisits = 0.0  # a sitemap says that pages have changed: look now what is due
        for sequence, parcel in committed.outbox:
            self._exchange.post(node.name, parcel.receiver, sequence, parcel.url, parcel.target)
        for delivery in batch.deliveries:
            self._exchange.confirm(delivery.sender, node.name, delivery.sequence)

    # -- Limits, progress -----------------------------------------------------------------------------

    async def _keep_watching(self, reporter: Reporter) -> None:
        """Progress, the time limit and the disk's reserve."""
        tick = 0
        while True:
            reporter.report()
            minutes = self._job.crawl.minutes
            if minutes and reporter.seconds >= minutes * 60:
                self.stop(f"time limit: {minutes:g} minutes")
            if tick % DISK_CHECKS == 0:
                self._room.look()
            tick += 1
            await self._clock.sleep(PROGRESS_SECONDS)
