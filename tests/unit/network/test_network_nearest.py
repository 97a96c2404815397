"""Delegation in a crawl: subnets are remembered, looked at again when due, and found in a rebuilt hierarchy."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fake_clock import FakeClock

from periplus.errors import Corrupt, DnsError
from periplus.network import Hierarchy, Host, Learning
from periplus.network.build import build_hierarchy
from periplus.network.memory import Delegation, Measurement, SqliteDelegations
from periplus.network.nearest import Aging, NearestNodes
from periplus.network.probes import Target
from periplus.network.ranges import IpHierarchy

ADDRESSES = {"one.test": "5.0.1.1", "two.test": "5.0.1.2", "other.test": "6.0.0.1", "far.test": "7.7.7.7"}
DAY = 86_400.0


class Nodes:
    """Probes that are answered from a table by address and node, and counted."""

    def __init__(self, ms: dict[tuple[str, str], float]) -> None:
        self.ms = ms
        self.asked: Counter[tuple[str, str]] = Counter()

    async def probe(self, node: str, target: Target) -> float | None:
        self.asked[node, target.address] += 1
        await asyncio.sleep(0)
        return self.ms.get((target.address, node))


class Setting:
    """Two nodes, a file to remember in, and a clock."""

    def __init__(self, folder: Path, ms: dict[tuple[str, str], float]) -> None:
        self.store = SqliteDelegations(folder / "delegations.db")
        self.nodes = Nodes(dict(ms))
        self.clock = FakeClock()
        self.hierarchy = IpHierarchy.empty()

    def nearest(self, method: str = "hierarchy", **options: Any) -> NearestNodes:
        names = ("east", "west")
        hosts = {name: Host(name, path=("world", f"node {name}")) for name in names}
        groups = options.pop("groups", {})
        many: dict[str, tuple[str, ...]] = {"": names, **groups}
        methods = {
            name: Hierarchy([hosts[n] for n in group], 50)
            if method == "hierarchy"
            else Learning([hosts[n] for n in group])
            for name, group in many.items()
        }
        aging = Aging(30 * DAY, 2.0, 20.0)
        return NearestNodes(
            hosts, methods, self.nodes, self.store, self.clock, hierarchy=self.hierarchy, resolve=resolve, aging=aging,
            groups=groups,
        )  # fmt: skip


async def resolve(url: str) -> str:
    host = url.partition("://")[2].partition("/")[0]
    if host not in ADDRESSES:
        raise DnsError(f"{host}: no address")
    return ADDRESSES[host]


EAST_IS_NEAR = {
    ("5.0.1.1", "east"): 10.0,
    ("5.0.1.1", "west"): 90.0,
    ("5.0.1.2", "east"): 11.0,
    ("5.0.1.2", "west"): 91.0,
}


def story(tmp_path: Path, tell: Callable[[Setting], Awaitable[None]], ms: dict[tuple[str, str], float]) -> None:
    setting = Setting(tmp_path, ms)
    try:
        asyncio.run(tell(setting))  # type: ignore[arg-type]  # a coroutine function
    finally:
        setting.store.close()


@pytest.mark.parametrize("method", ["hierarchy", "learn"])
def test_a_subnet_is_decided_once_for_all_its_hosts(tmp_path: Path, method: str) -> None:
    async def tell(setting: Setting) -> None:
        nearest = setting.nearest(method)
        hosts = ["one.test", "two.test", "one.test"]
        assert await asyncio.gather(*(nearest.node_for(host) for host in hosts)) == ["east"] * 3
        assert nearest.counts["decisions"] == 1
        assert nearest.known("one.test") == "east"
        assert sum(setting.nodes.asked.values()) <= 2

    story(tmp_path, tell, EAST_IS_NEAR)


@pytest.mark.parametrize("method", ["hierarchy", "learn"])
def test_what_was_decided_is_known_to_the_next_run(tmp_path: Path, method: str) -> None:
    async def tell(setting: Setting) -> None:
        await setting.nearest(method).node_for("one.test")
        asked = sum(setting.nodes.asked.values())
        again = setting.nearest(method)
        await again.take_up()
        assert await again.node_for("two.test") == "east"
        assert sum(setting.nodes.asked.values()) == asked
        assert again.counts["decisions"] == 0

    story(tmp_path, tell, EAST_IS_NEAR)


def test_an_old_delegation_is_looked_at_again(tmp_path: Path) -> None:
    async def tell(setting: Setting) -> None:
        nearest = setting.nearest()
        assert await nearest.node_for("one.test") == "east"
        setting.nodes.ms |= {("5.0.1.1", "east"): 200.0, ("5.0.1.1", "west"): 20.0}
        assert await nearest.node_for("one.test") == "east"
        setting.clock.advance(31 * DAY)
        assert nearest.known("one.test") is None
        assert await nearest.node_for("one.test") == "west"
        assert nearest.counts["again"] == 1

    story(tmp_path, tell, EAST_IS_NEAR)


def test_a_node_that_has_become_slow_loses_the_subnet_but_not_for_one_slow_fetch(tmp_path: Path) -> None:
    async def tell(setting: Setting) -> None:
        nearest = setting.nearest()
        await nearest.node_for("one.test")
        setting.nodes.ms |= {("5.0.1.1", "east"): 200.0, ("5.0.1.1", "west"): 20.0}
        for ms in (200.0, 200.0, 12.0, 200.0, 25.0, 200.0):  # 25 ms is twice as long, but not 20 ms longer
            await nearest.observed("east", "one.test", ms)
            assert await nearest.node_for("one.test") == "east"
        await nearest.observed("west", "one.test", 500.0)  # not its business
        for _ in range(2):
            await nearest.observed("east", "one.test", 200.0)
        assert await nearest.node_for("one.test") == "west"
        assert [one.node for one in await setting.store.delegations()] == ["west"]

    story(tmp_path, tell, EAST_IS_NEAR)


def test_a_fetch_teaches_where_nobody_probed(tmp_path: Path) -> None:
    async def tell(setting: Setting) -> None:
        nearest = setting.nearest(groups={"east": ("east", "west")})
        await setting.store.keep(Delegation("", "5.0.1.0/24", "east", "one.test", "5.0.1.1", None, 1.0), [])
        setting.clock.advance(1)
        await nearest.take_up()
        nearest._aging = Aging(1e12, 2.0, 20.0)
        assert await nearest.node_for("one.test") == "east"
        await nearest.observed("east", "one.test", 15.0)
        assert [one.ms for one in await setting.store.measurements()] == [15.0]
        assert [one.ms for one in await setting.store.delegations()] == [15.0]
        assert sum(setting.nodes.asked.values()) == 0

    story(tmp_path, tell, EAST_IS_NEAR)


def test_a_rebuilt_hierarchy_keeps_what_was_learnt(tmp_path: Path) -> None:
    async def tell(setting: Setting) -> None:
        assert await setting.nearest().node_for("one.test") == "east"
        asked = sum(setting.nodes.asked.values())
        (tmp_path / "ranges").write_text("5.0.0.0/22,1,Somebody\n5.0.1.0/25,1,Somebody\n", "utf-8")
        setting.hierarchy = build_hierarchy([tmp_path / "ranges"]).hierarchy
        rebuilt = setting.nearest()
        await rebuilt.take_up()
        assert await rebuilt.node_for("two.test") == "east"
        assert sum(setting.nodes.asked.values()) == asked

    story(tmp_path, tell, EAST_IS_NEAR)


def test_groups_decide_for_themselves_and_one_node_alone_needs_no_probe(tmp_path: Path) -> None:
    async def tell(setting: Setting) -> None:
        nearest = setting.nearest(groups={"west": ("west",), "pair": ("east", "west")})
        assert await nearest.node_for("one.test", "west") == "west"
        assert sum(setting.nodes.asked.values()) == 0
        found = await nearest.nodes_for([("one.test", "west", ""), ("one.test", "pair", ""), ("one.test", "", "")])
        assert found == {("one.test", "west"): "west", ("one.test", "pair"): "east", ("one.test", ""): "east"}

    story(tmp_path, tell, EAST_IS_NEAR)


def test_a_host_without_an_address_goes_where_its_hash_says(tmp_path: Path) -> None:
    async def tell(setting: Setting) -> None:
        nearest = setting.nearest()
        found = {await nearest.node_for(f"h{number}.nowhere") for number in range(20)}
        assert found == {"east", "west"}
        assert await nearest.node_for("h1.nowhere") == await setting.nearest().node_for("h1.nowhere")
        assert await setting.store.delegations() == []

    story(tmp_path, tell, {})


@pytest.mark.parametrize("method", ["hierarchy", "learn"])
def test_nodes_that_do_not_answer_are_passed_over(tmp_path: Path, method: str) -> None:
    async def tell(setting: Setting) -> None:
        assert await setting.nearest(method).node_for("one.test") == "west"
        assert await setting.nearest(method).node_for("far.test") in ("east", "west")  # nobody answers

    story(tmp_path, tell, {("5.0.1.1", "west"): 1.0})


def test_delegations_of_nodes_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    async def tell(setting: Setting) -> None:
        measured = [Measurement("5.0.1.1", "gone", "one.test", 3.0, 1.0)]
        await setting.store.keep(Delegation("", "5.0.1.0/24", "gone", "one.test", "5.0.1.1", 3.0, 1.0), measured)
        nearest = setting.nearest()
        await nearest.take_up()
        assert await setting.store.delegations() == []
        assert await nearest.node_for("one.test") == "east"

    story(tmp_path, tell, EAST_IS_NEAR)


def test_a_broken_file_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "d.db").write_bytes(b"not a database, but long enough to look like a file" * 100)
    with pytest.raises(Corrupt, match=r"d\.db: delegations cannot be read"):
        SqliteDelegations(tmp_path / "d.db")
