"""A crawl of two machines as a person runs it: submitted, watched, paused, resumed, stopped, and taken up again.

One of the nodes is behind a leaf node of NATS. Meanwhile somebody sends rubbish, and a second node comes under a name
that is taken. Both nodes want the same hosts, which have a delay, so turns at hosts are proved by the web's log.
"""

import asyncio
import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cluster_runs import cluster_job, double_fetches, impolite, pages_of
from command_line import PERIPLUS, MiniwebProcess, miniweb, periplus, start
from nats.js.errors import APIError
from nats_server import NatsServer, nats_leaf

from periplus import __version__
from periplus.cluster.control import ask_all, read_crawl
from periplus.clustering import on_board
from periplus.exchange.connection import connected
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")

DELAY = 0.4
PAIR = ("east", "general")
CLUSTER = "heartbeat_seconds = 10.0\nlinger_seconds = 0.2\nslice_seconds = 0.5"


class Machines:
    """Two node processes, one of them behind the leaf node, and who has submitted their job."""

    def __init__(self, folder: Path, web: MiniwebProcess, hub: NatsServer, leaf: NatsServer) -> None:
        self.folder, self.web, self.hub = folder, web, hub
        self.job = cluster_job(web, folder / "job.toml", cluster=CLUSTER, name="pair", nodes=PAIR, delay=DELAY)
        behind = folder / "leaf.toml"
        behind.write_text(f'[cluster]\nservers = ["{leaf.url}"]\ndomain = "hub"\n')
        self._ways = {"east": hub.url, "general": str(behind)}
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self.said: dict[str, str] = {}

    def summaries(self) -> dict[str, dict[str, Any]]:
        """What all said at their ends."""
        return {name: json.loads(said.splitlines()[-1]) for name, said in self.said.items()}

    def submit(self) -> None:
        self.processes["follower"] = start("crawl", self.job, "--cluster", self.hub.url, "--json")

    def start(self) -> None:
        """The nodes know nothing but where NATS is."""
        for node, way in self._ways.items():
            out = self.folder / node
            self.processes[node] = start("node", node, "--cluster", way, "--crawl", "pair", "--out", out, "--json")

    def ended(self) -> dict[str, int]:
        """The exit codes of all, once they have ended."""
        codes = {}
        for name, process in self.processes.items():
            self.said[name], err = process.communicate(timeout=120)
            assert "Traceback" not in err, err
            codes[name] = process.returncode
        self.processes.clear()
        return codes

    def cluster(self, *words: str) -> dict[str, Any]:
        done = periplus("cluster", *words, "--cluster", self.hub.url)
        assert done.code == 0, done.err
        return done.json if "--json" in words else {"said": done.out}

    def state(self) -> str:
        """The crawl's state, or nothing before it is there."""

        async def look() -> str:
            async with on_board(ClusterSettings(servers=[self.hub.url]), "pair", new=True) as (_, board, _key):
                record = await read_crawl(board, __version__)
                return record.state if record is not None else ""

        return asyncio.run(look())

    def alive(self) -> set[str]:
        """Nodes that answer."""

        async def ask() -> set[str]:
            async with connected(ClusterSettings(servers=[self.hub.url]), name="test") as client:
                return set(await ask_all(client, "pair", PAIR))

        return asyncio.run(ask())

    def until(self, what: str, is_so: Any) -> None:
        deadline = time.monotonic() + 90
        while not is_so():
            assert time.monotonic() < deadline, f"never: {what}"
            assert all(process.poll() is None for process in self.processes.values()), what
            time.sleep(0.05)


@contextmanager
def watched(machines: Machines) -> Iterator[int]:
    """`cluster status --watch` on a terminal; gives what it writes there."""
    ours, theirs = pty.openpty()
    heard = ["env", "--default-signal=INT"]  # who runs the tests in the background may have it ignored
    command = [*heard, str(PERIPLUS), "cluster", "status", "--watch", "--cluster", machines.hub.url]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"COLUMNS": "120"})
    os.close(theirs)
    try:
        yield ours
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)


async def rubbish(server: NatsServer) -> None:
    """What nobody of ours would send to node east."""
    settings = ClusterSettings(servers=[server.url])
    async with connected(settings, name="stranger") as client:
        js = client.jetstream()
        for data in (b"", b"\x80\x04\x95pickle", b"\x95\x01" + b"\xff" * 4000):
            await js.publish("periplus.pair.to.east", data)
        with pytest.raises(APIError, match="maximum"):
            await js.publish("periplus.pair.to.east", b"x" * 800_000)
        for subject in ("took.east", "hunger", "report.east", "ways.east", "host.east", "control"):
            await client.publish(f"periplus.pair.{subject}", b"\xc1\x00rubbish")
        await client.flush()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    (tmp_path / "web").mkdir()
    with miniweb(tmp_path / "web", "--hosts", 60, "--pages", 300, "--slow", 0.0) as web, nats_leaf() as (hub, leaf):
        running = Machines(tmp_path, web, hub, leaf)
        try:
            yield running
        finally:
            for process in running.processes.values():
                process.kill()
                process.communicate()


def test_a_crawl_is_submitted_watched_paused_resumed_stopped_and_taken_up(machines: Machines) -> None:
    web = machines.web
    machines.submit()
    machines.until("submitted", lambda: machines.state() == "running")
    assert "paused" in machines.cluster("pause")["said"]
    machines.start()
    machines.until("both there", lambda: machines.alive() == set(PAIR))

    asyncio.run(rubbish(machines.hub))
    taken = periplus("node", "east", "--cluster", machines.hub.url, "--crawl", "pair", "--out", machines.folder / "x")
    taken.assert_one_line_error(4, "east")
    with watched(machines) as screen:
        seen = ""
        while "general" not in seen:
            seen += os.read(screen, 65_536).decode("utf-8", "replace")
    assert "pair: paused" in seen
    assert web.requests() == [], "who pauses asks nobody"

    machines.cluster("resume")
    machines.until("crawling", lambda: len(web.requests()) > 60)
    machines.cluster("stop")
    assert machines.ended() == {"follower": 3, "east": 3, "general": 3}
    status = machines.cluster("status", "--json")
    assert (status["state"], status["nodes"]["east"]["refused"] >= 3) == ("stopping", True)
    before = len(pages_of(machines.folder))

    machines.submit()
    machines.start()
    assert machines.ended() == {"follower": 0, "east": 0, "general": 0}
    told = machines.summaries()
    for key in ("pages", "kept", "seen", "queued"):
        assert told["follower"][key] == told["east"][key] + told["general"][key]
    assert told["follower"]["nodes"] == told["east"]["nodes"] | told["general"]["nodes"]
    assert sum(told["follower"]["outcomes"].values()) == sum(
        sum(told[node]["outcomes"].values()) for node in ("east", "general")
    )
    assert told["follower"].keys() == told["east"].keys()
    assert told["follower"]["stop_reason"] == "frontier empty"
    log = web.requests()
    alone = cluster_job(web, machines.folder / "alone.toml", nodes=PAIR)
    assert periplus("crawl", alone, "--out", machines.folder / "alone", "--json").code == 0
    expected, found = set(pages_of(machines.folder / "alone")), set()
    for node in PAIR:
        found |= set(pages_of(machines.folder / node))
    assert found == expected
    assert len(found) > before
    assert impolite(log, DELAY) == []
    assert double_fetches(log) == {}
