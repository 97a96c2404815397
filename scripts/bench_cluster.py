"""`make bench`, the cluster: two node processes on NATS beside two that have nothing to exchange.

The two nodes crawl one miniature web together; the two others a web of half the size each. What counts is the processor
time that a page costs (start-up is measured with an empty crawl and taken off), since on a shared machine the clock
measures the others as well. Then what the exchange costs: messages and bytes a link. BENCH_CLUSTER_PAGES sets the size.
"""

import json
import os
import re
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from cluster_runs import PLACES, cluster_job  # noqa: E402
from command_line import MiniwebProcess, miniweb, start  # noqa: E402
from nats_server import nats_server  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

PAGES = int(os.environ.get("BENCH_CLUSTER_PAGES", "4000"))


def job_of(web: MiniwebProcess, file: Path, nodes: tuple[str, ...], *, pages: int = 0) -> Path:
    """A job of these nodes, without a log of pages."""
    job = cluster_job(web, file, strategy="hash-host", name=file.stem)
    text = job.read_text("utf-8").replace('log = "pages"', 'log = "events"').replace("pages = 0", f"pages = {pages}")
    for node in PLACES.keys() - set(nodes):
        text = re.sub(rf"\[nodes\.{node}\]\nplaces = .*\n", "", text)
    job.write_text(text, "utf-8")
    return job


def measured(commands: list[tuple[object, ...]]) -> tuple[int, float, float]:
    """Run commands beside each other: their pages, processor seconds and seconds."""
    began, before = time.monotonic(), os.times()
    processes = [start(*command) for command in commands]
    pages = 0
    for process in processes:
        out, err = process.communicate(timeout=1800)
        if process.returncode not in (0, 3):
            raise SystemExit(err)
        pages += json.loads(out.splitlines()[-1])["pages"]
    after = os.times()
    return pages, sum(after[2:4]) - sum(before[2:4]), time.monotonic() - began


def traffic(folder: Path) -> dict[str, Any]:
    """What the nodes have sent, by their logs."""
    counts: dict[str, int] = {}
    for log in folder.glob("nodes/*/log.jsonl"):
        for line in log.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["event"] == "exchange":
                for key in ("messages_sent", "links_sent", "bytes_sent"):
                    counts[key] = counts.get(key, 0) + row[key]
    return counts


def main() -> None:
    """Measure and print."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        for name in ("whole", "left", "right"):
            (folder / name).mkdir()
        size = ["--hosts", 120, "--slow", 0.0, "--prerender"]
        whole = stack.enter_context(miniweb(folder / "whole", *size, "--pages", PAGES))
        halves = [
            stack.enter_context(miniweb(folder / name, *size, "--pages", PAGES // 2, "--seed", seed))
            for name, seed in (("left", 2), ("right", 3))
        ]
        server = stack.enter_context(nats_server())
        apart = [job_of(web, web.job.parent / "apart.toml", ("general",)) for web in halves]
        empty = [job_of(web, web.job.parent / "empty.toml", ("general",), pages=1) for web in halves]
        together = job_of(whole, folder / "together.toml", ("east", "general"))
        _, idle, _ = measured([("crawl", job, "--out", job.with_suffix(".out"), "--json") for job in empty])
        rows = {
            "two that exchange nothing": measured(
                [("crawl", job, "--out", job.with_suffix(".out"), "--json") for job in apart]
            ),
            "two nodes on NATS": measured(
                [
                    ("node", node, "--cluster", server.url, "--job", together, "--out", folder / "together", "--json")
                    for node in ("east", "general")
                ]
            ),
        }
        table = Table("", "pages", "processor s", "ms/page", "seconds", title="Cluster", title_justify="left", box=None)
        cost = {}
        for name, (pages, cpu, seconds) in rows.items():
            cost[name] = (cpu - idle) / pages * 1000
            table.add_row(name, f"{pages:,}", f"{cpu:.1f}", f"{cost[name]:.2f}", f"{seconds:.1f}")
        console = Console(highlight=False)
        console.print(table)
        apart_cost, together_cost = cost.values()
        console.print(f"Throughput of the cluster by processor time: {apart_cost / together_cost:.0%} of the other")
        sent = traffic(folder / "together")
        links = max(1, sent.get("links_sent", 0))
        console.print(
            f"{links:,} links in {sent.get('messages_sent', 0):,} messages: {sent.get('messages_sent', 0) / links:.3f} "
            f"messages and {sent.get('bytes_sent', 0) / links:.0f} bytes a link; load {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
