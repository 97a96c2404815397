"""What all nodes of a crawl use together, made from its job: the way out, turns of hosts, robots, links under way."""

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import urlsplit

from periplus import __version__
from periplus.analysis import analysis_reader
from periplus.clock import Clock, steady
from periplus.fetch import AddressGuard, Fetcher, Resolver, RobotsBook, Transport
from periplus.fetch.registration import Registrations
from periplus.fetch.transport import user_agent
from periplus.frontier import Detours, HostOrder, Intake, Schedule
from periplus.job import Prepared
from periplus.network.memory import DelegationStore, SqliteDelegations
from periplus.network.probes import Prober
from periplus.pages import Workers
from periplus.reaching import BY_NETWORK, Reaching, make_reaching
from periplus.registering import RegisteredLinks
from periplus.running import Journal
from periplus.shared import Health, RobotsShare, Shared
from periplus.store.recorded import RecordedWeb
from periplus.store.replaying import RecordedTransport
from periplus.store.revisits import latest_visit
from periplus.strategies import Settling
from periplus.topics import LinkBook

__all__ = ["equipped"]


@contextlib.asynccontextmanager
async def equipped(
    prepared: Prepared,
    clock: Clock,
    *,
    workers: Workers,
    intake: Intake,
    health: Health,
    journal: Journal,
    robots_share: RobotsShare | None,
    prober: Callable[[Transport], Prober | None],
    delegations: DelegationStore | None,
) -> AsyncIterator[Shared]:
    """Everything that all nodes of the process use; connections are closed at the end."""
    crawl, fetch = prepared.job.crawl, prepared.job.fetch
    aimless = all(topic.is_empty for topic in prepared.lens.topics)
    schedule = Schedule(
        list(prepared.nodes), delay_seconds=crawl.delay_seconds, ip_delay_seconds=crawl.ip_delay_seconds
    )
    agent = user_agent(__version__, prepared.job.contact)
    detour = Detours(schedule, clock).visit
    retries, retry_seconds = crawl.retries, crawl.retry_seconds
    async with (
        _transport(prepared, schedule, clock, agent) as transport,
        _reaching(prepared, transport, clock, prober, delegations) as reaching,
    ):
        yield Shared(
            clock=clock,
            unix=steady(clock, latest_visit(prepared.folder)),
            schedule=schedule,
            robots=RobotsBook(
                transport, fetch, retries=retries, retry_seconds=retry_seconds, obey=crawl.obey_robots, detour=detour
            ),
            fetcher=Fetcher(
                transport,
                clock.now,
                retries=retries,
                retry_seconds=retry_seconds,
                delay_factor=crawl.delay_factor if crawl.delay_seconds else 0.0,
                sitemap_bytes=fetch.sitemap_bytes,
                host_failures=crawl.host_failures,
            ),
            workers=workers,
            read_analysis=analysis_reader(prepared.lens.gazetteer),
            intake=intake,
            order=HostOrder(),
            health=health,
            agent=agent,
            settling=Settling(prepared.lens.strategy, policy=crawl.policy, overlap=crawl.overlap, orders=aimless),
            crawl=crawl,
            journal=journal,
            book=None if aimless else LinkBook(adaptive=crawl.adaptive),
            robots_share=robots_share,
            registered=_registered(prepared, transport, schedule, clock) if crawl.rdap else None,
            reaching=reaching,
        )


def _transport(prepared: Prepared, schedule: Schedule, clock: Clock, agent: str) -> Transport:
    """The one way out, with the guard of the job and the turns of its addresses."""
    job = prepared.job
    crawl, fetch = job.crawl, job.fetch
    if crawl.replay:
        web = RecordedWeb(Path(crawl.replay))
        return RecordedTransport(web, fetch, clock, latency=crawl.replay_latency, failures=crawl.replay_failures)
    guard = AddressGuard(crawl.allow_private, loopback_only=prepared.loopback_only)

    def address_wait(host: str, address: str) -> float:
        return 0.0 if guard.is_opened(address) else schedule.connect_wait(host, address, clock.monotonic())

    proxy = urlsplit(fetch.proxy).hostname or ""
    resolver = Resolver(crawl.resolve, guard, clock, address_wait, trusted=proxy, name_servers=fetch.name_servers)
    watch = crawl.strategy in BY_NETWORK and not job.network.round_trips
    return Transport(fetch, resolver, guard, clock, agent=agent, connections=crawl.connections, watch=watch)


@contextlib.asynccontextmanager
async def _reaching(
    prepared: Prepared,
    transport: Transport,
    clock: Clock,
    prober: Callable[[Transport], Prober | None],
    delegations: DelegationStore | None,
) -> AsyncIterator[Reaching | None]:
    """What the strategy needs of the network; what it learns of it is kept in the crawl's folder, or as given."""
    if prepared.job.crawl.strategy not in BY_NETWORK and not prepared.job.network.emulate:
        yield None
        return
    lens, folder = prepared.lens, prepared.folder.path
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        store = delegations or stack.enter_context(contextlib.closing(SqliteDelegations(folder / "delegations.db")))
        yield await make_reaching(
            prepared.job,
            lens.ownership,
            lens.gazetteer,
            transport=transport,
            clock=clock,
            store=store,
            prober=prober(transport),
        )


def _registered(prepared: Prepared, transport: Transport, schedule: Schedule, clock: Clock) -> RegisteredLinks:
    """Where domains are registered, asked of the job's service and kept in the crawl's folder."""
    kept, visit = prepared.folder.path / "registrations.jsonl", Detours(schedule, clock).visit
    registrations = Registrations(transport.get, prepared.job.crawl.rdap, kept, visit, transport.converse)
    return RegisteredLinks(registrations, prepared.lens.gazetteer, prepared.lens.topics)
