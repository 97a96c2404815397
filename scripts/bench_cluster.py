"""`make bench`, the cluster: two node processes on NATS beside two that have nothing to exchange.

The two nodes crawl one miniature web together; the two others a web of half the size each. Both are measured in turn,
several rounds, and the middle one of each counts. Two measures: pages a second by the web's own log, from the first
page asked for to the last, so that loading Python and gazetteer counts for neither; and the processor time of all
processes a page, start-up taken off by a crawl of one page of the same kind, since on a shared machine the clock
measures others as well. Then what the exchange costs: messages and bytes a link. BENCH_CLUSTER_PAGES sets the size,
BENCH_CLUSTER_ROUNDS the rounds.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from cluster_runs import cluster_job  # noqa: E402
from command_line import MiniwebProcess, miniweb, start  # noqa: E402
from nats_server import nats_server  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

PAGES = int(os.environ.get("BENCH_CLUSTER_PAGES", "4000"))
ROUNDS = int(os.environ.get("BENCH_CLUSTER_ROUNDS", "3"))


def job_of(web: MiniwebProcess, file: Path, nodes: tuple[str, ...], *, pages: int = 0) -> Path:
    """A job of these nodes, without a log of pages."""
    job = cluster_job(web, file, strategy="hash-host", name=file.stem, nodes=nodes)
    text = job.read_text("utf-8").replace('log = "pages"', 'log = "events"').replace("pages = 0", f"pages = {pages}")
    job.write_text(text, "utf-8")
    return job


@dataclass(frozen=True)
class Measured:
    """One run: its pages, processor seconds, seconds with start and end, and pages a second by the web's log."""

    pages: int
    cpu: float
    seconds: float
    rate: float


def measured(commands: list[tuple[object, ...]], webs: list[MiniwebProcess]) -> Measured:
    """Run commands beside each other."""
    before = [len(web.requests()) for web in webs]
    began, used = time.monotonic(), os.times()
    processes = [start(*command) for command in commands]
    pages = 0
    for process in processes:
        out, err = process.communicate(timeout=1800)
        if process.returncode not in (0, 3):
            raise SystemExit(err)
        pages += json.loads(out.splitlines()[-1])["pages"]
    seconds, after = time.monotonic() - began, os.times()
    asked = sorted(
        row["time"]
        for web, length in zip(webs, before, strict=True)
        for row in web.requests()[length:]
        if not row["path"].endswith("/robots.txt")
    )
    rate = (len(asked) - 1) / max(1e-3, asked[-1] - asked[0])
    return Measured(pages, sum(after[2:4]) - sum(used[2:4]), seconds, rate)


def traffic(folder: Path) -> dict[str, Any]:
    """What the nodes have sent, by their logs."""
    counts: dict[str, int] = {}
    for log in folder.glob("nodes/*/log.jsonl"):
        for line in log.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["event"] == "exchange":
                for key in ("messages_sent", "links_sent", "bytes_sent", "notes_sent"):
                    counts[key] = counts.get(key, 0) + row.get(key, 0)
    return counts


class Bench:
    """The webs, the server, and the two ways to crawl."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        size = ["--hosts", 120, "--slow", 0.0, "--prerender"]
        for name in ("whole", "left", "right"):
            (folder / name).mkdir()
        self.whole = stack.enter_context(miniweb(folder / "whole", *size, "--pages", PAGES))
        self.halves = [
            stack.enter_context(miniweb(folder / name, *size, "--pages", PAGES // 2, "--seed", seed))
            for name, seed in (("left", 2), ("right", 3))
        ]
        self.server = stack.enter_context(nats_server())

    def apart(self, name: str, pages: int = 0) -> Measured:
        """Two processes that have nothing to exchange."""
        jobs = [job_of(web, web.job.parent / f"{name}.toml", ("general",), pages=pages) for web in self.halves]
        return measured([("crawl", job, "--out", job.with_suffix(".out"), "--json") for job in jobs], self.halves)

    def together(self, name: str, pages: int = 0) -> Measured:
        """Two nodes on NATS."""
        job = job_of(self.whole, self._folder / f"{name}.toml", ("east", "general"), pages=pages)
        common = ("--cluster", self.server.url, "--job", job, "--out", self._folder / name, "--json")
        return measured([("node", node, *common) for node in ("east", "general")], [self.whole])


def main() -> None:
    """Measure and print."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        bench = Bench(folder, stack)
        ways = {"two that exchange nothing": bench.apart, "two nodes on NATS": bench.together}
        runs: dict[str, list[Measured]] = {name: [] for name in ways}
        empty = {name: way(f"empty-{number}", 1).cpu for number, (name, way) in enumerate(ways.items())}
        for number in range(ROUNDS):
            for name, way in ways.items():
                runs[name].append(way(f"round-{number}"))
        table = Table("", "pages", "pages/s", "processor ms/page", "seconds", title="Cluster", box=None)
        cost, rate = [], []
        for name, found in runs.items():
            rate.append(statistics.median(run.rate for run in found))
            cost.append(statistics.median((run.cpu - empty[name]) / run.pages * 1000 for run in found))
            seconds = statistics.median(run.seconds for run in found)
            table.add_row(name, f"{found[0].pages:,}", f"{rate[-1]:.0f}", f"{cost[-1]:.2f}", f"{seconds:.1f}")
        console = Console(highlight=False)
        console.print(table)
        console.print(
            f"Throughput of the cluster: {rate[1] / rate[0]:.0%} of the other by the clock, "
            f"{cost[0] / cost[1]:.0%} by processor time"
        )
        sent = traffic(folder / "round-0")
        links = max(1, sent.get("links_sent", 0))
        envelopes, notes = sent.get("messages_sent", 0), sent.get("notes_sent", 0)
        size = sent.get("bytes_sent", 0) / links
        console.print(
            f"{links:,} links in {envelopes:,} messages: {envelopes / links:.3f} messages and {size:.0f} bytes a link, "
            f"{(envelopes + notes) / links:.3f} with confirmations and hints; load {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
