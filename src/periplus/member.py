"""A crawl's process in a cluster: it runs one node of the job, and those of machines that were lost.

The way of a page is the same as on one machine (`node.py`, `crawl.py`). What differs: links travel through NATS, URLs
have homes, hosts that others want are asked in slices of time, and the end is found out together.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from periplus import __version__
from periplus.clock import Clock
from periplus.cluster import Board, CrawlRecord, HostLeases, Membership, NodeRecord, Report, is_over
from periplus.cluster.control import ask_all, order
from periplus.cluster.delegations import SharedDelegations
from periplus.cluster.members import GONE
from periplus.cluster.probing import NatsProber, answer_probes
from periplus.cluster.robots import SharedRobots
from periplus.crawl import INTERRUPTED, Crawl
from periplus.errors import EnvironmentFailure, FolderInUse
from periplus.exchange.connection import Temporary, connected, crawl_key, give_way, said_by, temporary_errors
from periplus.exchange.nats import DONE, HUNGRY, NatsExchange
from periplus.fetch import Transport
from periplus.frontier import HomeIntake, Intake, home_of
from periplus.job import Prepared
from periplus.model import Parcel
from periplus.network.memory import DelegationStore
from periplus.network.probes import ProbeDesk, Prober
from periplus.node import Node
from periplus.reaching import make_desk
from periplus.rebuilding import join_node
from periplus.report import Reporter
from periplus.running import Progress
from periplus.search.answering import AnswerDesk
from periplus.shared import RobotsShare, Shared
from periplus.shortening import NodeReach, reach_together
from periplus.store.summary import Summary, summarize
from periplus.store.ways import WaysOfOneNode
from periplus.strategies.hash import host_of
from periplus.wording import counted

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["MemberCrawl"]

TELL_SECONDS = 0.1
LOOK_FOR_END_SECONDS = 0.5
FEW = 64
"""URLs in a node's queue with which it waits for more."""


class MemberCrawl(Crawl):
    """Runs one node of a job in a cluster. Like any `Crawl` it is made outside the event loop and runs once."""

    def __init__(
        self, prepared: Prepared, clock: Clock, name: str, on_progress: Callable[[Progress], None] | None = None
    ) -> None:
        self._name = name
        super().__init__(prepared, clock, on_progress)
        self._key = crawl_key(prepared.job.name)
        self._names = tuple(sorted(prepared.nodes))
        self._locks = contextlib.ExitStack()
        self._generations: dict[str, str] = {}
        self._joining = False
        self._desk: ProbeDesk | None = None
        self._reaches: dict[str, NodeReach] = {}
        self._trouble = ""  # what NATS said when it did not take a heartbeat
        self._order = ""  # not known before the first heartbeat: it may be to pause
        self._waited_for = ""
        self._rate = 0.0
        self._somebody_done = asyncio.Event()

    async def run(self) -> Summary:
        """Crawl until the whole cluster is done, a limit is reached, or somebody stops it."""
        settings = self._job.cluster
        async with connected(settings, name=self._name, on_event=self._note) as client:
            self._client: Client = client
            self._board = Board(client, self._key, settings.domain)
            await self._board.open(settings.replicas)
            self._net = NatsExchange(client, self._key, settings, self._note)
            self._net.on_done = self._somebody_done.set
            self._exchange = self._net
            await self._net.open_stream()
            self._answers = AnswerDesk(client, self._key)
            self._members = Membership(
                self._board,
                self._names,
                self._clock,
                settings.heartbeat_seconds,
                version=__version__,
                folder=self._prepared.folder.path.absolute(),
            )
            with self._locks:
                last: dict[str, dict[str, object]] = {}
                try:
                    summary = await super().run()
                    last = {name: {"summary": asdict(self._summary_of(name, summary))} for name in self._nodes}
                    return summary
                finally:
                    last = {name: self._figures(name) | last.get(name, {}) for name in self._nodes}
                    await self._answers.close()
                    await self._net.close()
                    with contextlib.suppress(EnvironmentFailure):
                        await self._members.leave(last, state=self._state_at_the_end())

    def _state_at_the_end(self) -> str:
        """Whether others are to wait for the nodes of this process: not for one that has failed."""
        if self._order in ("stopping", "ended"):
            return "ended"
        return "stopped" if self._stop_reason == INTERRUPTED else "left"

    def _summary_of(self, name: str, run: Summary) -> Summary:
        """The summary of one node of this process, for who follows the crawl from elsewhere."""
        if len(run.nodes) == 1:
            return run
        pages = round(run.pages_per_second * run.seconds * run.nodes[name].pages / max(run.pages, 1))
        return summarize(self._prepared.folder, run.stop_reason, run.seconds, pages, {name})

    def _log_file(self) -> Path:
        """One for each process: those of one machine share the crawl's folder."""
        folder = self._prepared.folder.node(self._name).path
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "log.jsonl"

    def _note(self, event: str) -> None:
        if event == "NATS back":
            self._members.lost_sight()
        self._journal.write(event)

    def _make_intake(self) -> Intake:
        crawl, fetch = self._job.crawl, self._job.fetch
        return (HomeIntake if crawl.overlap == "forbid" else Intake)(self._prepared.nodes, crawl, fetch)

    def _prober(self, transport: Transport) -> Prober | None:
        """Every node measures from where it is and answers the others; in an emulated network from its table."""
        network = self._job.network
        if not network.round_trips:
            self._desk = make_desk(network, transport, self._clock)
        return NatsProber(self._client, self._key, network.probe_seconds)

    def _delegations(self) -> DelegationStore:
        return SharedDelegations(self._board)

    async def _settled(self, seeds: list[tuple[str, str]], _shared: Shared) -> list[tuple[str, str]]:
        """As they are: other nodes may not be there yet to say how near they are."""
        return seeds

    def _is_ours_alone(self, host: str) -> bool:
        return self._leases.asked_by_us_alone(host)  # the leases are made after what asks for them

    def _robots_share(self) -> RobotsShare:
        return SharedRobots(self._board, self._is_ours_alone)

    # -- Joining and taking over -------------------------------------------------------------------

    async def _open(self, shared: Shared) -> None:
        self._leases = HostLeases(
            self._client,
            self._board,
            self._key,
            schedule=shared.schedule,
            clock=self._clock,
            slice_seconds=self._job.cluster.slice_seconds,
            hosted=lambda node: node in self._nodes or node == self._name,
        )
        shared.schedule.on_want = self._leases.want
        self._locks.enter_context(self._prepared.folder.node(self._name).locked())
        before = await self._members.claim(self._name, holds_folder=True)
        await self._run_node(self._name, before, shared)

    async def _run_node(self, name: str, before: NodeRecord | None, shared: Shared) -> None:
        """Open a node that is ours and let it take part; no turns meanwhile, since its hosts are known before it is."""
        self._joining = True
        await self._leases.listen(name)
        node, self._generations[name] = await join_node(name, before, self._prepared, shared, self._net)
        self._nodes[name] = node
        self._joining = False
        await self._client.subscribe(f"periplus.{self._key}.report.{name}", cb=self._on_question)
        self._reaches[name] = NodeReach(
            node,
            self._writer,
            depth=self._job.crawl.depth,
            redirects=self._job.fetch.redirects,
            join=lambda node, found: self._join_nearer(node, found, shared),
        )
        await self._client.subscribe(f"periplus.{self._key}.ways.{name}", cb=self._on_ways)
        if self._desk is not None:
            await answer_probes(self._client, self._key, name, self._desk.probe)
        elif shared.reaching is not None and shared.reaching.table is not None:
            await answer_probes(self._client, self._key, name, partial(shared.reaching.table.probe, name))
        await self._answers.add(self._prepared.folder.node(name))
        await self._beat(name)
        self._journal.write("node opened", node=name, epoch=self._members.epoch(name), taken_over=before is not None)

    def _plant(self, seeds: Iterable[tuple[str, str]], shared: Shared) -> None:
        """The seeds of this process's nodes; homes hear of all of them.

        Each goes to the node that the job's own text names, which is the same on all machines; measured round trips are
        not.
        """
        kept = {url for url, _ in seeds}
        self._seeds = tuple(
            (url, node if node in self._names else home_of(host_of(url), self._names))
            for url, node in self._prepared.seeds
            if url in kept
        )
        for name in list(self._nodes):
            self._plant_in(name, self._seeds, shared)

    def _plant_in(self, name: str, seeds: Iterable[tuple[str, str]], shared: Shared) -> None:
        for url, node in seeds:
            if node == name and (seed := shared.intake.accept_seed(name, url)) is not None:
                self._nodes[name].batch.seeds.append(seed)
            if isinstance(shared.intake, HomeIntake):
                shared.intake.know_seed(name, url)

    async def _take_over(self, name: str, shared: Shared) -> None:
        """Run a node whose process is silent: in its own folder if that is here, else out of the stream."""
        with contextlib.ExitStack() as lock:
            try:
                lock.enter_context(self._prepared.folder.node(name).locked())
            except FolderInUse:
                return  # it lives, though it is silent
            before = await self._members.take_over(name)
            if before is None:
                return  # somebody was faster
            self._locks.push(lock.pop_all())
        self._journal.write("node taken over", node=name, of=before.machine, epoch=before.epoch + 1)
        try:
            await self._run_node(name, before, shared)
        except (
            Temporary
        ) as error:  # half opened, and nobody else may have it: the next process begins from what is there
            raise EnvironmentFailure(f"node {name} could not be taken over ({error}); start this one again") from error
        self._plant_in(name, self._seeds, shared)

    # -- What goes on beside the turns -------------------------------------------------------------

    def _background(self, shared: Shared, reporter: Reporter) -> list[Coroutine[Any, Any, None]]:
        return [
            *super()._background(shared, reporter),
            self._keep_telling(shared),
            self._keep_beating(reporter),
            self._keep_taking_over(shared),
            self._keep_looking_for_the_end(),
            self._leases.watch(),
        ]

    async def _keep_telling(self, shared: Shared) -> None:
        """Acknowledge what was committed; and forget what was learnt about links of nodes elsewhere."""
        while True:
            await self._net.tell()
            if shared.book is not None:
                for name in self._names:
                    if name not in self._nodes:
                        shared.book.take_changed(name)
            give_way()
            await self._clock.sleep(TELL_SECONDS)

    async def _keep_beating(self, reporter: Reporter) -> None:
        control = await self._client.subscribe(f"periplus.{self._key}.control", cb=self._on_control)
        try:
            while True:
                try:
                    await self._heartbeat(reporter)
                    self._trouble = ""
                except Temporary as error:
                    self._members.lost_sight()
                    self._trouble = said_by(error)
                await self._look_for_streams()
                self._say_what_it_waits_for()
                give_way()
                await self._clock.sleep(self._members.heartbeat_seconds / 2)
        finally:
            with contextlib.suppress(Temporary):
                async with temporary_errors("control"):
                    await control.unsubscribe()

    async def _heartbeat(self, reporter: Reporter) -> None:
        self._rate = reporter.progress().rate
        for name in self._members.mine:
            await self._beat(name)
        await self._members.look()
        for name, record in self._members.records.items():
            self._net.heard(name, record.inbox)
        await self._obey()

    async def _keep_taking_over(self, shared: Shared) -> None:
        """Run what is left behind; beside the heartbeats, since it may take longer than nodes may be silent."""
        while True:
            with contextlib.suppress(Temporary):
                for name in [] if self._stop_reason else self._members.orphans():
                    await self._take_over(name, shared)
            give_way()
            await self._clock.sleep(self._members.heartbeat_seconds / 2)

    async def _look_for_streams(self) -> None:
        """End if NATS has forgotten the crawl: nobody will hear of its nodes again before they are started anew."""
        if self._net.is_stuck or not self._members.may_work:
            with contextlib.suppress(Temporary):
                await self._board.check_there(self._net.stream)

    async def _beat(self, name: str) -> None:
        """Show that a node lives; one that is being opened has no figures yet."""
        await self._members.beat(name, **(self._figures(name) if name in self._nodes else {}))

    def _figures(self, name: str) -> dict[str, object]:
        """How it goes with a node, for its record."""
        node, counts = self._nodes[name], self._net.counts
        return {
            "generation": self._generations[name],
            "inbox": self._net.committed(name),
            "pages": node.store.pages,
            "queued": node.queue.size,
            "outbox": self._net.outstanding(name),
            "rate": round(self._rate, 1),
            "sent": counts["links sent"],
            "refused": counts["refused"],
        }

    async def _on_control(self, _message: "Msg") -> None:
        with contextlib.suppress(Temporary):
            await self._obey()

    async def _obey(self) -> None:
        """Do what the crawl's record says."""
        found = await self._board.get("crawl", CrawlRecord, tries=1)
        if found is None:
            return
        self._order = found[0].state
        if self._order in ("stopping", "ended"):
            self.stop(found[0].reason)
        self._happened.set()

    async def _dispatch(self, shared: Shared, group: asyncio.TaskGroup) -> None:
        await super()._dispatch(shared, group)
        counts = {name.replace(" ", "_"): count for name, count in self._net.counts.items()}
        self._journal.write(
            "exchange", **counts, hosts_noted=self._leases.created, hosts_passed_on=self._leases.passed_on
        )

    # -- Turns and deliveries ----------------------------------------------------------------------

    def _waits_for(self) -> str:
        if self._order == "paused":
            return "`periplus cluster pause` was given; `periplus cluster resume` lets it go on"
        if not self._members.may_work:
            said = f"refuses heartbeats ({self._trouble})" if self._trouble else "does not answer"
            return f"NATS {said}; the crawl goes on when it does"
        if self._net.trouble:
            return f"NATS takes no more links ({self._net.trouble}); give it room, or raise cluster.stream_bytes"
        if (absent := self._members.unclaimed) and self._can_do_nothing():
            return f"nobody runs {', '.join(absent)}; start what is missing with `periplus node NAME`"
        return ""

    def _can_do_nothing(self) -> bool:
        """Whether nothing is left to do here, or only at hosts that another node has."""
        nothing_left = all(self._is_idle(name) for name in self._nodes)
        return nothing_left or (not self._turns and self._leases.are_elsewhere)

    def _say_what_it_waits_for(self) -> None:
        """The log hears of it when that changes."""
        before, self._waited_for = self._waited_for, self._waits_for()
        if self._waited_for != before:
            self._journal.write("waits" if self._waited_for else "goes on", reason=self._waited_for)

    def _may_begin(self, shared: Shared) -> bool:
        return (
            self._order == "running"
            and not self._joining
            and self._members.may_work
            and not self._net.is_full
            and super()._may_begin(shared)
        )

    async def _commit(self, shared: Shared, *, everything: bool = True) -> None:
        await super()._commit(shared, everything=everything)
        if not self._turns and not any(node.queue.size or node.batch for node in self._nodes.values()):
            self._net.hurry()
        for name, node in list(self._nodes.items()):
            done = not self._net.outstanding(name) and self._is_idle(name)
            await self._net.say_hunger(name, DONE if done else HUNGRY if node.queue.size < FEW else 0)

    # -- The end -----------------------------------------------------------------------------------

    def _is_over(self, _shared: Shared) -> bool:
        """Only when the cluster says so: nothing left here means nothing."""
        busy = self._turns or self._writing or any(node.batch for node in self._nodes.values())
        return bool(self._stop_reason) and not busy

    def _is_idle(self, name: str) -> bool:
        node = self._nodes[name]
        return not (
            self._turns
            or self._writing
            or node.batch
            or node.queue.size
            or self._net.waiting
            or (self._job.crawl.revisit.hours and not self._next_revisits)
        )

    def _report(self, name: str) -> Report:
        node, idle = self._nodes[name], self._is_idle(name)
        return Report(
            name,
            self._members.member,
            self._members.epoch(name),
            idle=idle,
            outbox=self._net.outstanding(name),
            activity=node.store.commits,
            pages=node.store.pages,
            queued=node.queue.size,
            beyond=idle and WaysOfOneNode.has_any(node.store.db),
            waits=self._waits_for(),
        )

    def _join_nearer(self, node: Node, found: list[Parcel], shared: Shared) -> int:
        """URLs to which a shorter way has appeared; how many are new."""
        accepted = [shared.intake.accept_after_all(node.name, parcel) for parcel in found]
        node.batch.nearer += [parcel for parcel in accepted if parcel is not None]
        return sum(parcel is not None for parcel in accepted)

    async def _on_ways(self, message: "Msg") -> None:
        name = message.subject.rpartition(".")[2]
        if name in self._nodes:
            answer = await self._reaches[name].answer(message.data)
            with contextlib.suppress(Temporary):
                async with temporary_errors(name):
                    await message.respond(answer)

    async def _on_question(self, message: "Msg") -> None:
        name = message.subject.rpartition(".")[2]
        if name in self._nodes:
            with contextlib.suppress(Temporary):
                async with temporary_errors(name):
                    await message.respond(msgspec.msgpack.encode(self._report(name)))

    async def _keep_looking_for_the_end(self) -> None:
        """Whoever runs the first node that is run finds out whether it is over, and tells the others."""
        while True:
            give_way()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_FOR_END_SECONDS):
                    await self._somebody_done.wait()
            self._somebody_done.clear()
            if self._order != "running" or not self._runs_the_first():
                continue
            with contextlib.suppress(Temporary):
                reason = await self._reason_to_end()
                if reason:
                    await order(self._client, self._board, self._key, "ended", reason)
                    await self._obey()

    def _runs_the_first(self) -> bool:
        """Whether this process is the one that looks; nodes that are not run now do not count."""
        others = {name for name, record in self._members.records.items() if record.state not in GONE}
        return next((name for name in self._names if name in self._nodes or name in others), "") in self._nodes

    async def _reason_to_end(self) -> str:
        first = await self._ask()
        limit, pages = self._job.crawl.pages, sum(report.pages for report in first.values())
        if limit and pages >= limit:
            return f"page limit: {counted(pages, 'page')}"
        if self._names[0] not in self._nodes:
            return ""  # with all nodes there, only one process finds out that nothing is left
        if set(first) != set(self._names) or not all(report.idle for report in first.values()):
            return ""
        for name in self._names:
            if await self._net.pending(name):
                return ""
        second = await self._ask()
        if not is_over(self._names, first, second):
            return ""
        if any(report.beyond for report in second.values()) and await reach_together(
            self._client, self._key, self._names
        ):
            return ""
        return "frontier empty"

    async def _ask(self) -> dict[str, Report]:
        """The reports of those who run the nodes by right."""
        reports = await ask_all(self._client, self._key, self._names)
        owners = {name: record.member for name, record in self._members.records.items()}
        return {name: report for name, report in reports.items() if owners.get(name) == report.member}
