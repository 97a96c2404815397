"""Nodes on machines of their own ask each other how near a site is, and the nearest one fetches it.

Probes go through NATS; the network between nodes and hosts is emulated, so every node answers from its own row of a
table. Delegations are in the key-value store, where all machines find them.
"""

import asyncio
import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import tomli_w
from cluster_runs import ClusterRun, double_fetches, pages_of
from command_line import MiniwebProcess, miniweb, periplus
from emulated_network import EmulatedNetwork
from nats_server import nats_server

from periplus.cluster import Board
from periplus.cluster.delegations import SharedDelegations
from periplus.exchange.connection import connected
from periplus.network.memory import Delegation
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")

THREE = ("ashburn", "frankfurt", "tokyo")


async def remembered(server: str, crawl: str) -> list[Delegation]:
    async with connected(ClusterSettings(servers=[server]), name="test") as client:
        board = Board(client, crawl)
        await board.open(1)
        return await SharedDelegations(board).delegations()


def nearest_job(web: MiniwebProcess, folder: Path, strategy: str) -> tuple[Path, EmulatedNetwork]:
    """The job of three nodes round the world, and their network."""
    data: dict[str, Any] = tomllib.loads(web.job.read_text("utf-8"))
    port = int(next(iter(data["crawl"]["resolve"].values())).rpartition(":")[2])
    truth = web.truth.read_text("utf-8").splitlines()
    network = EmulatedNetwork(tuple(sorted({urlsplit(json.loads(line)["url"]).netloc for line in truth})))
    network.write(folder / "trips.csv")
    nodes: dict[str, Any] = network.nodes()
    crawl = data["crawl"] | {"strategy": strategy, "pages": 0, "retry_seconds": 0.1, "workers": 1}
    job = {
        "name": "near",
        "out": "crawl",
        "seeds": data["seeds"],
        "nodes": {name: nodes[name] for name in THREE},
        "crawl": crawl | {"resolve": network.resolve(port)},
        "network": {"round_trips": str(folder / "trips.csv"), "emulate": True, "places": "url"},
        "cluster": {"linger_seconds": 0.2},
    }
    if strategy == "place+nearest":
        job["nodes"]["ashburn"]["places"] = job["nodes"]["tokyo"]["places"] = ["United States"]
    file = folder / f"{strategy}.toml"
    file.write_text(tomli_w.dumps(job), "utf-8")
    return file, network


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniwebProcess]:
    size = ["--hosts", 60, "--pages", 300, "--slow", 0.0, "--host", "0.0.0.0"]
    with miniweb(tmp_path_factory.mktemp("web"), *size) as served:
        yield served


@pytest.fixture(scope="module")
def alone(web: MiniwebProcess, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What one process finds."""
    folder = tmp_path_factory.mktemp("alone")
    job, _ = nearest_job(web, folder, "nearest")
    done = periplus("crawl", job, "--out", folder / "crawl", "--json")
    assert done.code == 0, done.err
    return set(pages_of(folder / "crawl"))


@pytest.mark.parametrize("strategy", ["nearest", "place+nearest"])
def test_the_nearest_machine_fetches(web: MiniwebProcess, alone: set[str], tmp_path: Path, strategy: str) -> None:
    before = len(web.requests())
    job, network = nearest_job(web, tmp_path, strategy)
    with nats_server() as server, ClusterRun(job, server.url, tmp_path / "crawl") as run:
        run.start(THREE)
        run.finish()
        log = web.requests()[before:]
        decided = asyncio.run(remembered(server.url, "near"))
    assert set(pages_of(tmp_path / "crawl")) == alone
    assert double_fetches(log) == {}
    fetched = {urlsplit(url).netloc: node for node in THREE for url in pages_of(tmp_path / "crawl" / "nodes" / node)}
    among = ("ashburn", "tokyo") if strategy == "place+nearest" else THREE
    near = Counter(
        network.ms(host, node) <= 1.1 * min(network.ms(host, one) for one in among) + 5
        for host, node in fetched.items()
        if node in among
    )
    assert near[True] >= 0.8 * near.total() > 20, near
    assert {one.node for one in decided} <= set(THREE)
    assert len({(one.group, one.subnet) for one in decided}) == len(decided) > 10
    assert not (tmp_path / "crawl" / "delegations.db").exists()
