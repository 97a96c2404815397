"""Strategies `nearest` and `place+nearest` in a running crawl: which node is near the site of a link.

The pure half of the strategies has run when a link comes here: its node is any node (`nearest`), or stands for all
nodes that own the link's place (`place+nearest`). Here the network decides among them (`network/nearest.py`). The
nodes of one process stand on one machine, so their round trips come from a table; in a cluster they are probed.
"""

import math
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from periplus.clock import Clock
from periplus.errors import ConfigError, EnvironmentFailure, PlaceError, UsageError
from periplus.fetch import Transport
from periplus.fetch.probe import icmp_allowed, round_trip_ms
from periplus.model import Links, RoutedLink
from periplus.network import Delegator, Hierarchy, Host, Learning, RoundTrips, read_round_trips
from periplus.network.memory import DelegationStore
from periplus.network.nearest import Aging, Locate, NearestNodes
from periplus.network.probes import ProbeDesk, Prober, TableProber, Target
from periplus.network.ranges import IpHierarchy
from periplus.places import Gazetteer
from periplus.settings import Job, NetworkSettings, NodeSettings
from periplus.strategies import Ownership
from periplus.strategies.address_places import AddressPlaces
from periplus.strategies.hash import host_of

__all__ = ["BY_NETWORK", "Reaching", "check_reaching", "make_desk", "make_reaching"]

BY_NETWORK: Final = ("nearest", "place+nearest")
"""Strategies that need a `Reaching`."""
TRIPS_A_REQUEST: Final = 2
"""Round trips that an emulated request takes: one for the connection, one for the answer."""


@dataclass(frozen=True, slots=True)
class Reaching:
    """Settles links by the network, and lets requests take as long as an emulated network would."""

    nearest: NearestNodes | None
    by_place: bool
    clock: Clock
    table: TableProber | None = None
    emulate: bool = False
    seen: MutableMapping[str, float] = field(default_factory=dict)
    """Round trips in ms that fetches have shown, by host (`Transport.round_trips`)."""

    async def settle(self, links: Links) -> Links:
        """The links, each with the node that is near its site among those it is for."""
        if self.nearest is None or not links:
            return links
        groups = links.nodes if self.by_place else ("",) * len(links)
        wanted = zip(links.hosts, groups, links.urls, strict=True)
        nodes = await self.nearest.nodes_for(wanted)
        near = tuple([nodes[host, group] for host, group in zip(links.hosts, groups, strict=True)])
        return msgspec.structs.replace(links, nodes=near)

    async def seeds(self, seeds: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """The seeds (URL, node), each with the node that is near it."""
        links = Links.of(RoutedLink(url, host_of(url), 0, node) for url, node in seeds)
        return list(zip(links.urls, (await self.settle(links)).nodes, strict=True))

    async def travel(self, node: str, host: str) -> None:
        """Wait as long as the way of a request from a node to a host and back takes in the emulated network."""
        ms = self.table.ms(node, Target(host, "")) if self.emulate and self.table is not None else None
        if ms is not None:
            await self.clock.sleep(TRIPS_A_REQUEST * ms / 1000.0)

    async def fetched(self, node: str, host: str) -> None:
        """A page was fetched: the round trip that showed itself is learnt."""
        ms = self.table.ms(node, Target(host, "")) if self.table is not None else self.seen.pop(host, None)
        if self.nearest is not None and ms is not None:
            await self.nearest.observed(node, host, ms)


def check_reaching(job: Job, ownership: Ownership, gazetteer: Gazetteer, *, probed: bool) -> None:
    """ConfigError for what `make_reaching` would refuse, before anything of the crawl is made.

    `probed`: the nodes measure round trips themselves, so that no table is needed.
    """
    settings, strategy = job.network, job.crawl.strategy
    if strategy not in BY_NETWORK and not settings.emulate:
        return
    if _trips(settings, ownership.names) is None and not (probed and not job.crawl.replay):
        otherwise = (
            "a recorded web (crawl.replay) cannot be probed"
            if job.crawl.replay
            else "or run the nodes on machines of their own (periplus node)"
        )
        raise ConfigError(
            f"crawl.strategy {strategy} needs the round trips of every node: name a table of them in "
            f"network.round_trips, {otherwise}"
        )
    hierarchy = _hierarchy(settings)
    for name in ownership.names:
        _node(name, job.nodes.get(name), hierarchy, gazetteer)
    _locator(job, gazetteer, {})


async def make_reaching(
    job: Job,
    ownership: Ownership,
    gazetteer: Gazetteer,
    *,
    transport: Transport,
    clock: Clock,
    store: DelegationStore,
    prober: Prober | None = None,
) -> Reaching | None:
    """What the job's strategy needs of the network, with what was learnt before; None if it needs nothing.

    `prober` asks the nodes of a cluster, the table of `network.round_trips` stands in where there is none. ConfigError
    in one line if there is neither, or as `check_reaching`.
    """
    settings, by_network = job.network, job.crawl.strategy in BY_NETWORK
    if not by_network and not settings.emulate:
        return None
    check_reaching(job, ownership, gazetteer, probed=prober is not None)
    trips = _trips(settings, ownership.names)
    table = TableProber(trips.ms, clock if settings.emulate else None) if trips is not None else None
    by_place = job.crawl.strategy == "place+nearest"
    asked = prober or table
    if asked is None or not by_network:
        return Reaching(None, by_place, clock, table, settings.emulate)
    hierarchy = _hierarchy(settings)
    nodes = {name: _node(name, job.nodes.get(name), hierarchy, gazetteer) for name in ownership.names}
    groups = ownership.sites if by_place else {}
    nearest = NearestNodes(
        nodes,
        {name: _method(settings, [nodes[one] for one in group]) for name, group in _groups(nodes, groups).items()},
        asked,
        store,
        clock,
        hierarchy=hierarchy,
        resolve=lambda url: _address(transport, url),
        aging=Aging(settings.age_days * 86_400.0, settings.drift, settings.drift_ms),
        groups=groups,
        locate=_locator(job, gazetteer, trips.sites if trips is not None else {}),
    )
    await nearest.take_up()
    return Reaching(nearest, by_place, clock, table, settings.emulate, transport.round_trips)


def make_desk(settings: NetworkSettings, transport: Transport, clock: Clock) -> ProbeDesk:
    """The desk that measures from this machine, for the node of a cluster that runs on it; `Prober`s ask such desks.

    EnvironmentFailure in one line if the job wants pings and the system lets us send none.
    """
    if settings.probe == "icmp" and not icmp_allowed():
        raise EnvironmentFailure(
            "network.probe icmp: this process may not send pings; widen net.ipv4.ping_group_range, or use tcp or head"
        )

    async def measure(url: str) -> float:
        return await round_trip_ms(transport, url, settings.probe, settings.probe_seconds, clock)

    return ProbeDesk(
        measure,
        clock,
        seconds=settings.probe_seconds,
        cache_seconds=3600.0 * settings.probe_hours,
        subnet_seconds=settings.subnet_seconds,
    )


def _groups(nodes: Mapping[str, Host], groups: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {"": tuple(sorted(nodes))} | {name: tuple(sorted(group)) for name, group in groups.items()}


def _method(settings: NetworkSettings, crawlers: list[Host]) -> Delegator:
    if settings.method == "hierarchy":
        return Hierarchy(crawlers, settings.threshold_ms)
    return Learning(crawlers, settings.confidence or None, settings.probes)


async def _address(transport: Transport, url: str) -> str:
    return (await transport.checked_address(url))[0]


def _hierarchy(settings: NetworkSettings) -> IpHierarchy:
    """The address ranges of the file that the job names; without one, prefixes."""
    if not settings.hierarchy:
        return IpHierarchy.empty(settings.widest)
    return IpHierarchy.open(Path(settings.hierarchy), settings.widest)


def _trips(settings: NetworkSettings, names: tuple[str, ...]) -> RoundTrips | None:
    """The table of round trips that the job names, if any."""
    if not settings.round_trips:
        return None
    try:
        trips = read_round_trips(Path(settings.round_trips))
    except UsageError as error:
        raise ConfigError(f"network.round_trips: {error}") from None
    missing = [name for name in names if name not in trips.crawlers]
    if missing:
        raise ConfigError(
            f"network.round_trips: {settings.round_trips} has no row whose crawler is node {missing[0]!r}"
        )
    return trips


def _node(name: str, settings: NodeSettings | None, hierarchy: IpHierarchy, gazetteer: Gazetteer) -> Host:
    """A node as a crawler: where its machine stands, and its own subnet."""
    host = Host(name, path=("world", f"node {name}"))
    if settings is None:
        return host
    if settings.address:
        subnet = hierarchy.subnet(settings.address)
        organisation = "" if subnet.organisation is None else str(subnet.organisation)
        host = replace(host, country=subnet.country, org=organisation, subnet=subnet.key, path=subnet.path)
    if settings.at:
        lat, lon = _point(f"nodes.{name}.at", settings.at, gazetteer)
        host = replace(host, lat=lat, lon=lon)
    return host


def _point(key: str, text: str, gazetteer: Gazetteer) -> tuple[float, float]:
    lat, comma, lon = text.partition(",")
    try:
        point = (float(lat), float(lon)) if comma else (math.nan, math.nan)
    except ValueError:
        point = (math.nan, math.nan)
    if not math.isnan(point[0]):
        if not (abs(point[0]) <= 90 and abs(point[1]) <= 180):
            raise ConfigError(f"{key}: {text!r} is no latitude and longitude")
        return point
    try:
        place = gazetteer.resolve(text)
    except PlaceError as error:
        raise ConfigError(f"{key}: {error}") from None
    return place.point.lat, place.point.lon


def _locator(job: Job, gazetteer: Gazetteer, sites: Mapping[str, Host]) -> Locate:
    """Where a site is: as the table says, else as the databases of addresses do."""
    databases = [Path(job.crawl.ip_database)] if job.crawl.ip_database else []
    feeds = [Path(feed) for feed in job.crawl.geofeeds]
    places = AddressPlaces(gazetteer, databases, feeds) if databases or feeds else None

    def locate(host: str, address: str) -> tuple[float, float] | None:
        site = sites.get(host)
        if site is not None and site.located:
            return site.lat, site.lon
        found = places.place_of(address) if places is not None else None
        return (found.place.point.lat, found.place.point.lon) if found is not None else None

    return locate
