"""Prove what the cluster promises, at full size, with real processes: kills, partitions, lost folders, lost servers.

    python scripts/prove_cluster.py [NAME...] [--hosts 120 --pages 1500 --delay 0 --outage 600]

The miniature web's own log is the judge: which pages were fetched, how often, and how politely. Every case ends with
the pages that one machine finds. `tests/e2e/test_cluster.py` has the same in small.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from cluster_runs import NODES, ClusterRun, cluster_job, double_fetches, impolite, pages_of
from command_line import MiniwebProcess, miniweb, periplus
from nats_server import nats_cluster, nats_server
from tcp_proxy import proxy

CLUSTER = "heartbeat_seconds = {heartbeat}\nlinger_seconds = 0.2\nslice_seconds = 0.5"


class Proof:
    """One web, what one machine finds in it, and the cases."""

    def __init__(self, web: MiniwebProcess, folder: Path, options: argparse.Namespace) -> None:
        self.web = web
        self.folder = folder
        self.delay: float = options.delay
        self.outage: float = options.outage
        job = self.job("one", 5.0, "hash")
        done = periplus("crawl", job, "--out", folder / "one" / "crawl", "--json")
        if done.code:
            raise SystemExit(done.err)
        self.pages = set(pages_of(folder / "one" / "crawl"))

    def job(self, name: str, heartbeat: float, strategy: str, extra: str = "") -> Path:
        """A job for a case."""
        (self.folder / name).mkdir(exist_ok=True)
        text = CLUSTER.format(heartbeat=heartbeat) + extra
        file = self.folder / name / "job.toml"
        return cluster_job(self.web, file, strategy=strategy, cluster=text, name=name, delay=self.delay)

    def wait(self, share: float, before: int) -> None:
        """Until so much of the web was asked for."""
        deadline = time.monotonic() + 600
        while len(self.web.requests()) - before < share * len(self.pages):
            if time.monotonic() > deadline:
                raise SystemExit("the nodes do not crawl")
            time.sleep(0.1)

    def judge(self, name: str, run: ClusterRun, before: int, seconds: float) -> dict[str, Any]:
        """What the log says of a case."""
        run.finish(1800)
        log = self.web.requests()[before:]
        found = set(pages_of(self.folder / name / "crawl"))
        return {
            "case": name,
            "pages": len(found),
            "lost": len(self.pages - found),
            "extra": len(found - self.pages),
            "fetched_twice": sum(count - 1 for count in double_fetches(log).values()),
            "completed_and_fetched_again": len(run.completed_again(self.web)),
            "impolite": len(impolite(log, self.delay)),
            "examples": neighbours(log, self.delay)[:5],
            "seconds": round(time.monotonic() - seconds, 1),
        }


def neighbours(log: list[dict[str, Any]], delay: float) -> list[list[Any]]:
    """Requests that came too soon, each with the one before it at the same host."""
    last: dict[str, dict[str, Any]] = {}
    found: list[list[Any]] = []
    for row in log:
        before = last.get(row["host"])
        if before is not None and (row["time"] - before["time"] < delay * 0.98 or row["in_flight"] > 1):
            gap = round(row["time"] - before["time"], 3)
            found.append([row["host"], before["path"], before["status"], row["path"], gap, row["in_flight"]])
        last[row["host"]] = row
    return found


def undisturbed(proof: Proof, name: str, strategy: str = "hash") -> dict[str, Any]:
    """Four processes, one server."""
    with nats_server() as server:
        before, began = len(proof.web.requests()), time.monotonic()
        run = ClusterRun(proof.job(name, 2.0, strategy), server.url, proof.folder / name / "crawl")
        run.start()
        return proof.judge(name, run, before, began)


def by_place(proof: Proof, name: str) -> dict[str, Any]:
    """The same with links assigned by the places they name."""
    return undisturbed(proof, name, "url")


def shallow(proof: Proof, name: str) -> dict[str, Any]:
    """A low limit on links from a seed, so that many URLs are within reach by the shortest way only."""
    with nats_server() as server:
        job = proof.job(name, 5.0, "hash")
        job.write_text(job.read_text("utf-8").replace("[crawl]\n", "[crawl]\ndepth = 4\n"), "utf-8")
        done = periplus("crawl", job, "--out", proof.folder / "shallow-one", "--json")
        before, began = len(proof.web.requests()), time.monotonic()
        run = ClusterRun(job, server.url, proof.folder / name / "crawl")
        run.start()
        result = proof.judge(name, run, before, began)
        expected, found = set(pages_of(proof.folder / "shallow-one")), set(pages_of(proof.folder / name / "crawl"))
        return result | {"lost": len(expected - found), "extra": len(found - expected), "alone": done.json["pages"]}


def unruly(proof: Proof, name: str) -> dict[str, Any]:
    """One delivery in five comes twice, another one in five late, behind those that were sent after it."""
    with nats_server() as server:
        before, began = len(proof.web.requests()), time.monotonic()
        job, folder = proof.job(name, 5.0, "hash"), proof.folder / name / "crawl"
        run = ClusterRun(job, server.url, folder, unruly=True)
        run.start()
        result = proof.judge(name, run, before, began)
        traffic = run.traffic()
        return result | {key: traffic[key] for key in ("messages_received", "made_twice", "made_late", "repeated")}


def nodes_killed(proof: Proof, name: str) -> dict[str, Any]:
    """kill -9 of each node in turn, each started again at once."""
    with nats_server() as server:
        before, began = len(proof.web.requests()), time.monotonic()
        run = ClusterRun(proof.job(name, 10.0, "hash"), server.url, proof.folder / name / "crawl")
        run.start()
        for number, node in enumerate(NODES, 1):
            proof.wait(0.15 * number, before)
            run.kill(node, proof.web)
            run.start([node])
        return proof.judge(name, run, before, began)


def node_lost(proof: Proof, name: str) -> dict[str, Any]:
    """A node dies for good; another takes its folder over."""
    with nats_server() as server:
        before, began = len(proof.web.requests()), time.monotonic()
        run = ClusterRun(proof.job(name, 2.0, "hash"), server.url, proof.folder / name / "crawl")
        run.start()
        proof.wait(0.4, before)
        run.kill("south", proof.web)
        return proof.judge(name, run, before, began)


def folder_lost(proof: Proof, name: str) -> dict[str, Any]:
    """A machine is lost with its disk; another rebuilds its node from the stream. Its pages are fetched again."""
    with nats_server() as server:
        before, began = len(proof.web.requests()), time.monotonic()
        run = ClusterRun(proof.job(name, 2.0, "hash"), server.url, proof.folder / name / "crawl", apart=True)
        run.start()
        proof.wait(0.4, before)
        run.kill("south", proof.web)
        had = len(pages_of(run.out("south")))
        shutil.rmtree(run.out("south"))
        return proof.judge(name, run, before, began) | {"pages_of_the_lost_disk": had}


def server_killed(proof: Proof, name: str) -> dict[str, Any]:
    """kill -9 of one of three NATS servers, with copies on all three."""
    with nats_cluster() as servers:
        before, began = len(proof.web.requests()), time.monotonic()
        job = proof.job(name, 10.0, "hash", "\nreplicas = 3")
        run = ClusterRun(job, ",".join(server.url for server in servers), proof.folder / name / "crawl")
        run.start()
        proof.wait(0.3, before)
        servers[0].kill()
        time.sleep(10)
        servers[0].start()
        return proof.judge(name, run, before, began)


def partition(proof: Proof, name: str, seconds: float = 30.0) -> dict[str, Any]:
    """One node sees nothing of the others for 30 s, less than it takes for it to be given up."""
    with nats_server() as server, proxy(server.port) as wire:
        before, began = len(proof.web.requests()), time.monotonic()
        run = ClusterRun(proof.job(name, 15.0, "hash"), server.url, proof.folder / name / "crawl")
        run.start([node for node in NODES if node != "west"])
        run.start(["west"], wire.url)
        proof.wait(0.3, before)
        wire.cut()
        time.sleep(seconds)
        wire.heal()
        return proof.judge(name, run, before, began)


def halves(proof: Proof, name: str, heartbeat: float) -> dict[str, Any]:
    """Two nodes see nothing of the server and the other two for `--outage` seconds; each half has its own folders."""
    cut_off = ("south", "west")
    with nats_server() as server, proxy(server.port) as wire:
        before, began = len(proof.web.requests()), time.monotonic()
        job = proof.job(name, heartbeat, "hash")
        run = ClusterRun(job, server.url, proof.folder / name / "crawl", apart=True)
        run.start([node for node in NODES if node not in cut_off])
        run.start(cut_off, wire.url)
        proof.wait(0.3, before)
        wire.cut()
        had, cut = {node: len(pages_of(run.out(node))) for node in cut_off}, len(proof.web.requests())
        time.sleep(proof.outage)
        healed, meanwhile = time.monotonic(), len(proof.web.requests()) - cut
        wire.heal()
        given_up = run.given_up(cut_off)
        result = proof.judge(name, run, before, began)
        drained = round(time.monotonic() - healed, 1)
    figures = {"outage": proof.outage, "requests_meanwhile": meanwhile, "drained_in": drained, "had": had}
    return result | figures | {"taken_over": given_up}


def halves_taken_over(proof: Proof, name: str) -> dict[str, Any]:
    """A partition in halves, long enough that the half with the server takes over the nodes of the other."""
    return halves(proof, name, proof.outage / 60)


def halves_kept(proof: Proof, name: str) -> dict[str, Any]:
    """A partition in halves in which nobody is given up."""
    return halves(proof, name, proof.outage / 2)


CASES: dict[str, Callable[[Proof, str], dict[str, Any]]] = {
    "undisturbed": undisturbed,
    "by-place": by_place,
    "shallow": shallow,
    "unruly": unruly,
    "nodes-killed": nodes_killed,
    "node-lost": node_lost,
    "folder-lost": folder_lost,
    "server-killed": server_killed,
    "partition": partition,
    "halves-taken-over": halves_taken_over,
    "halves-kept": halves_kept,
}
AGAIN = ("folder-lost", "halves-taken-over")
"""Cases in which what a lost folder had is fetched again."""
ONCE = ("undisturbed", "by-place", "unruly", "partition", "halves-kept")
"""Cases in which nothing is fetched twice."""


def main() -> None:
    """Run the cases that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--hosts", type=int, default=120)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--outage", type=float, default=600.0, help="seconds of a partition in halves")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="prove-")))
        web = stack.enter_context(miniweb(folder, "--hosts", options.hosts, "--pages", options.pages, "--slow", 0.05))
        proof = Proof(web, folder, options)
        failed = False
        for name in options.cases:
            result = CASES[name](proof, name)
            print(json.dumps(result), flush=True)
            failed |= bool(result["lost"] or result["extra"] or result["impolite"])
            failed |= bool(result["completed_and_fetched_again"]) and name not in AGAIN
            failed |= bool(result["fetched_twice"]) and name in ONCE
            failed |= result.get("drained_in", 0.0) > 2 * options.outage
    sys.exit(failed)


if __name__ == "__main__":
    main()
