"""A crawl by four processes on a real NATS server: the pages of one machine, each once, politely, whoever dies.

`scripts/prove_cluster.py` has more cases, at full size.
"""

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_runs import NODES, ClusterRun, cluster_job, double_fetches, impolite, pages_of
from command_line import MiniwebProcess, miniweb, periplus
from nats_server import NatsServer, free_port, nats_server
from tcp_proxy import proxy

pytestmark = pytest.mark.needs("nats-server")

CLUSTER = "heartbeat_seconds = {heartbeat}\nlinger_seconds = 0.2\nslice_seconds = 0.4"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniwebProcess]:
    with miniweb(tmp_path_factory.mktemp("web"), "--hosts", 60, "--pages", 300, "--slow", 0.05) as served:
        yield served


@pytest.fixture(scope="module")
def server() -> Iterator[NatsServer]:
    with nats_server() as running:
        yield running


@pytest.fixture(scope="module")
def alone(web: MiniwebProcess, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What one process finds."""
    folder = tmp_path_factory.mktemp("alone")
    done = periplus("crawl", cluster_job(web, folder / "job.toml"), "--out", folder / "crawl", "--json")
    assert done.code == 0, done.err
    return set(pages_of(folder / "crawl"))


def test_four_processes_find_what_one_does_and_ask_for_nothing_twice_whatever_is_delivered_how(
    web: MiniwebProcess, server: NatsServer, alone: set[str], tmp_path: Path
) -> None:
    before = len(web.requests())
    job = cluster_job(web, tmp_path / "job.toml", strategy="url", cluster=CLUSTER.format(heartbeat=10.0), name="four")
    with ClusterRun(job, server.url, tmp_path / "crawl", unruly=True) as run:
        run.start()
        summaries = run.finish()
    traffic = run.traffic()
    assert traffic["made_late"] > 5
    assert traffic["repeated"] >= traffic["made_twice"] > 5
    log = web.requests()[before:]
    assert set(pages_of(tmp_path / "crawl")) == alone
    assert double_fetches(log) == {}
    assert impolite(log, 0.0) == []
    assert {summary["stop_reason"] for summary in summaries.values()} == {"frontier empty"}
    assert sum(summary["queued"] for summary in summaries.values()) == 0
    status = run.status()
    assert (status["state"], set(status["nodes"])) == ("ended", set(NODES))
    assert not any(node["lag"] or node["alive"] for node in status["nodes"].values())


def test_a_node_that_dies_is_taken_over_and_one_that_is_cut_off_goes_on(
    web: MiniwebProcess, alone: set[str], tmp_path: Path
) -> None:
    before = len(web.requests())
    cluster = CLUSTER.format(heartbeat=3.0)
    job = cluster_job(web, tmp_path / "job.toml", cluster=cluster)
    with (
        nats_server() as server,
        proxy(server.port) as wire,
        ClusterRun(job, server.url, tmp_path / "crawl") as run,
    ):
        run.start(["east", "general", "south"])
        run.start(["west"], wire.url)
        run.wait(web, before + 80)
        run.kill("south", web)
        wire.cut()
        run.wait(web, before + 120)
        wire.heal()
        run.finish()
        status = run.status()
    assert set(pages_of(tmp_path / "crawl")) == alone
    assert run.completed_again(web) == []
    assert impolite(web.requests()[before:], 0.0) == []
    assert status["nodes"]["south"]["epoch"] == 2
    assert status["nodes"]["west"]["epoch"] == 1


def test_a_lost_disk_is_rebuilt_from_the_stream(web: MiniwebProcess, alone: set[str], tmp_path: Path) -> None:
    before = len(web.requests())
    cluster = CLUSTER.format(heartbeat=5.0)  # a busy machine must not make a living process look dead
    job = cluster_job(web, tmp_path / "job.toml", cluster=cluster)
    with nats_server() as server, ClusterRun(job, server.url, tmp_path / "crawl", apart=True) as run:
        run.start()
        run.wait(web, before + 100)
        run.kill("west", web)
        shutil.rmtree(run.out("west"))
        run.finish()
    assert set(pages_of(tmp_path / "crawl")) == alone
    assert impolite(web.requests()[before:], 0.0) == []


def test_a_node_that_nobody_has_started_is_named_and_waited_for(
    web: MiniwebProcess, server: NatsServer, alone: set[str], tmp_path: Path
) -> None:
    cluster, pair = CLUSTER.format(heartbeat=6.0), ("east", "general")
    job = cluster_job(web, tmp_path / "job.toml", cluster=cluster, name="late", nodes=pair)
    with ClusterRun(job, server.url, tmp_path / "crawl") as run:
        run.start(["east"])
        said = run.until_logged("east", "waits")
        assert said["reason"] == "nobody runs general; start what is missing with `periplus node NAME`"
        shown = periplus("cluster", "status", "--cluster", server.url, "--crawl", "late").out
        assert re.search(r"general +nobody yet", shown), shown
        run.start(["general"])
        run.finish()
    assert set(pages_of(tmp_path / "crawl")) == alone


def test_a_node_that_is_stopped_alone_is_waited_for_and_fetches_nothing_again(
    web: MiniwebProcess, server: NatsServer, alone: set[str], tmp_path: Path
) -> None:
    before, pair = len(web.requests()), ("east", "general")
    cluster = CLUSTER.format(heartbeat=6.0)
    job = cluster_job(web, tmp_path / "job.toml", cluster=cluster, name="stopped", nodes=pair, delay=0.02)
    with ClusterRun(job, server.url, tmp_path / "crawl", apart=True) as run:
        run.start(pair)
        run.wait(web, before + 40)
        assert run.kill("general", web, signal.SIGTERM) == 130
        said = run.until_logged("east", "waits")
        assert said["reason"] == "nobody runs general; start what is missing with `periplus node NAME`"
        elsewhere = ("--cluster", server.url, "--job", job, "--out", tmp_path / "elsewhere")
        refused = periplus("node", "general", *elsewhere)
        refused.assert_one_line_error(4, "nothing of node general is here", str(run.out("general")), "--rebuild")
        assert not (tmp_path / "elsewhere").exists()
        run.start(["general"])
        run.finish()
    assert set(pages_of(tmp_path / "crawl")) == alone
    assert run.completed_again(web) == []
    assert double_fetches(web.requests()[before:]) == {}


def test_without_a_server_it_says_how_to_start_one(web: MiniwebProcess, tmp_path: Path) -> None:
    address = f"nats://127.0.0.1:{free_port()}"
    done = periplus("cluster", "status", "--cluster", address)
    done.assert_one_line_error(4, address, "nats-server -js")
    job = cluster_job(web, tmp_path / "job.toml")
    done = periplus("node", "east", "--cluster", address, "--job", job, "--out", tmp_path / "crawl")
    done.assert_one_line_error(4, address, "nats-server -js")
    assert not (tmp_path / "crawl").exists()


def test_what_is_wrong_on_the_command_line(web: MiniwebProcess, server: NatsServer, tmp_path: Path) -> None:
    periplus("cluster", "status", "--cluster", "http://x").assert_one_line_error(2, "nats://")
    periplus("cluster", "status").assert_one_line_error(2, "--cluster")
    periplus("cluster", "status", "--cluster", server.url, "--crawl", "no").assert_one_line_error(
        4, "no crawl 'no' is in"
    )
    job = cluster_job(web, tmp_path / "job.toml")
    done = periplus("node", "nowhere", "--cluster", server.url, "--job", job, "--out", tmp_path / "crawl")
    done.assert_one_line_error(2, "nowhere", "east")


def test_wrong_credentials(tmp_path: Path) -> None:
    with nats_server('authorization { user: periplus, password: "right" }\n') as server:
        (tmp_path / "secret").write_text("wrong\n")
        identity = tmp_path / "cluster.toml"
        identity.write_text(f'[cluster]\nservers = ["{server.url}"]\nuser = "periplus"\npassword_file = "secret"\n')
        done = periplus("cluster", "status", "--cluster", identity)
        done.assert_one_line_error(4, "does not let us in")
        assert not re.search("wrong", done.err)
        (tmp_path / "secret").write_text("right\n")
        periplus("cluster", "status", "--cluster", identity).assert_one_line_error(4, "no crawl")
