"""What a crawl and the node of a cluster make of the network: desks, nodes as crawlers, and what is refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from raw_server import http, serve

from periplus import reaching
from periplus.clock import SystemClock
from periplus.errors import ConfigError, EnvironmentFailure
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.model import Links, RoutedLink
from periplus.network.memory import SqliteDelegations
from periplus.network.probes import Target
from periplus.places import open_gazetteer
from periplus.reaching import make_desk, make_reaching
from periplus.settings import FetchSettings, Job, NetworkSettings, NodeSettings, job_from_dict
from periplus.strategies import Ownership


async def hello(_: str, writer: asyncio.StreamWriter) -> None:
    writer.write(http(b"", "Content-Type: text/html"))


def transport_to(port: int) -> Transport:
    guard, clock = AddressGuard(["127.0.0.0/8"]), SystemClock()
    table = {"near.test": f"127.0.1.1:{port}", "far.test": f"127.0.2.1:{port}", "*.test": f"127.0.0.1:{port}"}
    return Transport(FetchSettings(), Resolver(table, guard, clock), guard, clock, agent="Periplus/t")


def test_a_desk_measures_from_this_machine_and_remembers(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with serve(hello) as log, transport_to(log.port) as transport:
            desk = make_desk(NetworkSettings(probe="head"), transport, SystemClock())
            first = await desk.probe(Target("site.test", "127.0.0.1"))
            assert first is not None
            assert first == await desk.probe(Target("site.test", "127.0.0.1"))
            assert len(log.requests) == 1
            assert await desk.probe(Target("private.example", "10.0.0.1", url="http://10.0.0.1/")) is None
            assert desk.counts["Blocked"] == 1
            monkeypatch.setattr(reaching, "icmp_allowed", lambda: False)
            with pytest.raises(EnvironmentFailure, match="ping_group_range"):
                make_desk(NetworkSettings(probe="icmp"), transport, SystemClock())

    asyncio.run(run())


def job(folder: Path, strategy: str = "nearest", nodes: dict[str, Any] | None = None, **network: Any) -> Job:
    (folder / "trips.csv").write_text(
        "site,crawler,ms\nnear.test,east,10\nnear.test,west,90\nfar.test,east,300\nfar.test,west,40\n", "utf-8"
    )
    table = {"round_trips": str(folder / "trips.csv"), **network}
    return job_from_dict(
        {"crawl": {"strategy": strategy}, "nodes": nodes or {"east": {}, "west": {}}, "network": table}, "test"
    )


async def settled(folder: Path, job: Job, *links: RoutedLink) -> list[str]:
    ownership = Ownership.of(job.nodes, open_gazetteer(), several_sites=job.crawl.strategy == "place+nearest")
    store = SqliteDelegations(folder / "d.db")
    try:
        async with transport_to(8480) as transport:
            made = await make_reaching(
                job, ownership, open_gazetteer(), transport=transport, clock=SystemClock(), store=store
            )
            assert made is not None
            return [link.node for link in await made.settle(Links.of(links))]
    finally:
        store.close()


def link(host: str, node: str = "east") -> RoutedLink:
    return RoutedLink(f"http://{host}/", host, 1, node)


@pytest.mark.parametrize("method", ["learn", "hierarchy"])
def test_every_site_gets_the_node_that_is_near(tmp_path: Path, method: str) -> None:
    links = (link("near.test"), link("far.test"), link("near.test", "west"))
    assert asyncio.run(settled(tmp_path, job(tmp_path, method=method), *links)) == ["east", "west", "east"]


def test_the_place_decides_first(tmp_path: Path) -> None:
    nodes: dict[str, Any] = {name: {"places": ["Texas, United States"]} for name in ("east", "west")}
    made = job(tmp_path, "place+nearest", nodes | {"general": {}})
    text = (tmp_path / "trips.csv").read_text("utf-8") + "near.test,general,1\nfar.test,general,1\n"
    (tmp_path / "trips.csv").write_text(text, "utf-8")
    links = (link("near.test"), link("far.test"), link("near.test", "general"))
    assert asyncio.run(settled(tmp_path, made, *links)) == ["east", "west", "general"]


@pytest.mark.parametrize(
    ("nodes", "network", "message"),
    [
        ({}, {"round_trips": ""}, "needs the round trips of every node"),
        ({}, {"round_trips": "/nowhere/trips.csv"}, r"network\.round_trips: .*cannot be read"),
        ({"north": {}}, {}, "no row whose crawler is node 'north'"),
        ({"east": {"at": "95,0"}, "west": {}}, {}, r"nodes\.east\.at"),
        ({"east": {"at": "Xyzzyville"}, "west": {}}, {}, r"nodes\.east\.at"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    tmp_path: Path, nodes: dict[str, Any], network: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        asyncio.run(settled(tmp_path, job(tmp_path, nodes=nodes, **network), link("near.test")))
    assert "\n" not in str(caught.value)


def test_addresses_of_nodes_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"nodes\.x\.address: 'here' is not an address"):
        job_from_dict({"nodes": {"x": {"address": "here"}}}, "test")
    assert NodeSettings(address="192.0.2.1").address == "192.0.2.1"


def test_the_subnet_of_a_node_is_its_own(tmp_path: Path) -> None:
    nodes = {"east": {"address": "127.0.2.77", "at": "48.9,2.4"}, "west": {"at": "Tokyo, Japan"}}
    made = job(tmp_path, nodes=nodes, method="hierarchy")
    assert asyncio.run(settled(tmp_path, made, link("far.test"))) == ["east"], "whatever the table says"
