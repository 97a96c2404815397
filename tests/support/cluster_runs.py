"""A crawl of the miniature web by several node processes on a NATS server of their own, from outside."""

import itertools
import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from command_line import PERIPLUS, MiniwebProcess, periplus, start

__all__ = ["NODES", "ClusterRun", "cluster_job", "double_fetches", "impolite", "pages_of"]

NODES = ("east", "general", "south", "west")
UNRULY = Path(__file__).with_name("unruly_node.py")
PLACES = {
    "east": ["New York, NY", "Boston, MA", "Philadelphia, PA", "Baltimore, MD", "Washington, DC"],
    "south": ["Houston, TX", "Dallas, TX", "Atlanta, GA", "Miami, FL", "New Orleans, LA"],
    "west": ["Los Angeles, CA", "San Francisco, CA", "Seattle, WA", "Portland, OR", "Denver, CO"],
    "general": [],
}


def cluster_job(
    web: MiniwebProcess,
    file: Path,
    *,
    strategy: str = "hash",
    crawl: str = "",
    cluster: str = "",
    name: str = "mini",
    nodes: Iterable[str] = NODES,
    delay: float = 0.0,
) -> Path:
    """A job of four nodes, or of those named, for a miniature web, written to `file`."""
    text = web.job.read_text("utf-8")
    text = re.sub(r"^targets = .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^name = .*$", f'name = "{name}"', text, flags=re.MULTILINE)
    text = re.sub(r"^strategy = .*$", f'strategy = "{strategy}"', text, flags=re.MULTILINE)
    text = re.sub(r"^pages = .*$", "pages = 0", text, flags=re.MULTILINE)
    text = re.sub(r"^retry_seconds = .*$", "retry_seconds = 0.1\nworkers = 1", text, flags=re.MULTILINE)
    text = text.replace("[crawl.resolve]", f"{crawl}\n[crawl.resolve]")
    text += f'\n[cluster]\n{cluster}\n[run]\nlog = "pages"\n'
    text = text.replace("delay_seconds = 0.0 ", f"delay_seconds = {delay} ")
    for node, places in PLACES.items():
        if node not in nodes:
            continue
        text += f"[nodes.{node}]\nplaces = {json.dumps(places)}\n"
    file.write_text(text, "utf-8")
    return file


class ClusterRun:
    """Node processes of one job; each may be killed and started again. At the end of the block none is left."""

    def __init__(self, job: Path, servers: str, folder: Path, *, apart: bool = False, unruly: bool = False) -> None:
        self._job = job
        self.servers = servers
        self.folder = folder
        self._apart = apart
        self._program = (sys.executable, UNRULY) if unruly else (PERIPLUS,)
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self.completed: list[tuple[int, set[str]]] = []
        """For each kill: how long the web's log was, and what the node had completed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def out(self, node: str) -> Path:
        """The crawl's folder of a node: one for all, or one each as on machines of their own."""
        return self.folder / node if self._apart else self.folder

    def start(self, nodes: Iterable[str] = NODES, servers: str = "") -> None:
        """Start the processes of nodes."""
        for node in nodes:
            self.processes[node] = start(
                "node",
                node,
                "--cluster",
                servers or self.servers,
                "--job",
                self._job,
                "--out",
                self.out(node),
                "--json",
                program=self._program,
            )

    def kill(self, node: str, web: MiniwebProcess, how: signal.Signals = signal.SIGKILL) -> int:
        """kill -9 of one process, or a milder signal; what it had completed must never be asked for again."""
        self.until_logged(node, "node opened")  # nobody takes over what was never there
        process = self.processes.pop(node)
        process.send_signal(how)
        code = process.wait(120)
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        self.completed.append((len(web.requests()), set(pages_of(self.out(node) / "nodes" / node))))
        return code

    def completed_again(self, web: MiniwebProcess) -> list[str]:
        """What was asked for again although a node had completed it before it was killed."""
        log = web.requests()
        return [
            url
            for length, pages in self.completed
            for row in log[length:]
            if (url := f"http://{row['host']}{row['path']}") in pages
        ]

    def wait(self, web: MiniwebProcess, requests: int, seconds: float = 120) -> None:
        """Until all nodes are there and the web was asked so often; on a busy machine one may be late."""
        for node in self.processes:
            self.until_logged(node, "node opened", seconds)
        deadline = time.monotonic() + seconds
        while len(web.requests()) < requests:
            assert time.monotonic() < deadline, self.status()
            assert all(process.poll() is None for process in self.processes.values()), self.status()
            time.sleep(0.05)

    def until_logged(self, node: str, event: str, seconds: float = 120) -> dict[str, Any]:
        """The first line of a node's log that tells of an event."""
        log, deadline = self.out(node) / "nodes" / node / "log.jsonl", time.monotonic() + seconds
        while True:
            lines = log.read_text("utf-8").rpartition("\n")[0].splitlines() if log.exists() else []  # whole ones
            found = next((row for line in lines if (row := json.loads(line))["event"] == event), None)
            if found is not None:
                return dict(found)
            assert time.monotonic() < deadline, f"{node} never says {event}: {lines[-3:]}"
            time.sleep(0.05)

    def until_status(self, words: str, seconds: float = 120) -> None:
        """Until `periplus cluster status` says something."""
        deadline = time.monotonic() + seconds
        while words not in json.dumps(status := self.status()):
            assert time.monotonic() < deadline, status
            time.sleep(0.2)

    def ended(self, node: str, seconds: float = 120) -> tuple[int, str]:
        """How a process ends by itself: its exit code and what it says."""
        process = self.processes[node]
        err = process.communicate(timeout=seconds)[1]
        del self.processes[node]
        return process.returncode, err

    def finish(self, seconds: float = 180) -> dict[str, dict[str, Any]]:
        """Wait for the end of all; gives their summaries."""
        summaries, deadline = {}, time.monotonic() + seconds
        try:
            while any(process.poll() is None for process in self.processes.values()):
                failed = [node for node, process in self.processes.items() if process.poll()]
                assert not failed, f"{failed} of {list(self.processes)}: {self.status()}\n{self._last_words()}"
                assert time.monotonic() < deadline, f"no end: {self.status()}\n{self._last_words()}"
                time.sleep(0.05)
            for node, process in self.processes.items():
                out, err = process.communicate()
                assert process.returncode == 0, f"{node}: {process.returncode} {err[-2000:]} {self.status()}"
                summaries[node] = json.loads(out.splitlines()[-1])
        finally:
            self.end()
        return summaries

    def given_up(self, nodes: Iterable[str], seconds: float = 60) -> list[str]:
        """Those whose processes end, within some time, since another has taken their node over."""
        gone, deadline = [], time.monotonic() + seconds
        waiting = set(nodes)
        while waiting and time.monotonic() < deadline:
            for node in [node for node in waiting if self.processes[node].poll() is not None]:
                waiting.discard(node)
                if self.processes[node].returncode == 4:
                    err = self.processes.pop(node).communicate()[1]
                    assert "was taken over" in err, err
                    gone.append(node)
            time.sleep(0.1)
        return sorted(gone)

    def _last_words(self) -> str:
        """The ends of the nodes' logs, and what the processes say when they are ended."""
        words = [f"{log.parent.name}: {log.read_text('utf-8')[-1500:]}" for log in self.folder.rglob("log.jsonl")]
        for node, process in self.processes.items():
            if process.poll() is None:
                process.send_signal(signal.SIGABRT)  # with PYTHONFAULTHANDLER it says what its threads do
            words.append(f"{node}: {process.communicate()[1][-3000:]} {process.returncode}")
        return "\n".join(words)

    def end(self) -> None:
        """Leave no process behind."""
        for process in self.processes.values():
            process.kill()
            process.communicate()
        self.processes.clear()

    def traffic(self) -> Counter[str]:
        """What all exchanges have counted, by the nodes' logs."""
        counts: Counter[str] = Counter()
        for log in self.folder.rglob("log.jsonl"):
            for line in log.read_text("utf-8").splitlines():
                row = json.loads(line)
                if row.pop("event") == "exchange":
                    counts.update({key: value for key, value in row.items() if isinstance(value, int)})
        return counts

    def status(self) -> Any:
        """What `periplus cluster status` says."""
        done = periplus("cluster", "status", "--cluster", self.servers, "--json")
        return done.json if done.code == 0 else done.err


def pages_of(folder: Path) -> dict[str, str]:
    """URL → outcome of every page in a crawl's folders."""
    pages: dict[str, str] = {}
    for path in folder.rglob("node.db"):
        db = sqlite3.connect(path)
        try:
            pages.update(db.execute("SELECT url, outcome FROM page").fetchall())
        finally:
            db.close()
    return pages


def double_fetches(requests: Sequence[dict[str, Any]]) -> dict[str, int]:
    """What was answered with a page more than once."""
    asked = Counter(f"{row['host']}{row['path']}" for row in requests if row["status"] == 200)
    return {url: count for url, count in asked.items() if count > 1 and not url.endswith("/robots.txt")}


def impolite(requests: Sequence[dict[str, Any]], delay: float) -> list[tuple[str, float]]:
    """Hosts that were asked by two at once (-1), or sooner after the last request than `delay`."""
    found: list[tuple[str, float]] = []
    by_host: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in requests:
        by_host[row["host"]].append(row)
    for host, rows in by_host.items():
        found += [(host, -1.0) for row in rows if row["in_flight"] > 1]
        times = sorted(row["time"] for row in rows)
        found += [(host, b - a) for a, b in itertools.pairwise(times) if b - a < delay * 0.98]
    return found
