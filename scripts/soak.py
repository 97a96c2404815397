"""A long crawl of a faulty web by four nodes that are killed again and again; the server's log and the databases judge.

    python scripts/soak.py [--minutes 60] [--hosts 2000] [--pages 700] [--faults 0.05] [--kill-seconds 60] [--delay 1.0]
                           [--docs FILE]

A server on loopback plays the hosts; so many of its answers are errors, torn, late, garbage or 429. `periplus crawl`
is killed (SIGKILL) about every so many seconds and started again. Its last life, the last 40 % of the time, is let
live, so that it can be seen whether memory and descriptors are flat: over the second half of that life. Then: nothing
that was found is lost, no host was asked too early or twice at once, nothing grows that should not, and the outcomes
add up. The exit code says whether all of it holds; --docs writes the figures into a page.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import re
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from doc_tables import markdown, put_between

from periplus.crawl import COMMIT_SECONDS, PATIENT_ROUNDS
from periplus.fetch.connections import MOST_KEPT

PERIPLUS = Path(sys.executable).parent / "periplus"
NODES = ("a", "b", "c", "d")
SUFFIX = "soak.test"
CONNECTIONS = 64
MOST_SOCKETS = MOST_KEPT + 2 * CONNECTIONS + 8
"""Kept for a next request; in use (the connector's own bound); name look-ups, pipes of the event loop and workers."""
MOST_FILES = 16 * len(NODES) + 24
"""A node's database for its writer, its queue and the indexer, each with its log and index of the log; its archive, its
index and their locks. Beside the nodes: log, lock, the gazetteer, the event loop."""
LAST_LIFE = 0.4
"""The part of the time in which nobody is killed."""
WARM_UP_SECONDS = 120.0
"""A last life that is shorter says nothing about growth; bounds hold all the same."""
MOST_GROWTH = 0.05
BYTES_PER_URL = 200
"""What a further known URL may cost in memory."""
START_SECONDS = 300.0
"""A crawl that has asked for nothing by then is stuck; on a busy machine it takes its time to start."""
WRITTEN_SECONDS = 5.0
"""A refusal (429) so shortly before a kill need not have been written down; how often it was not is counted."""
TOWNS = ("Houston, Texas", "Lisbon, Portugal", "Portland, Oregon", "Boston, Massachusetts")
FAULTS = ("error", "hangs up", "torn", "late", "garbage", "busy", "loop")


@dataclass
class Asked:
    """A request as the server saw it; `ended` is taken before the last byte is sent."""

    host: str
    path: str
    begun: float
    ended: float
    rest: float
    fault: str


@dataclass
class Server:
    """Plays all hosts. Every page links to three of its own host and one of another."""

    hosts: int
    pages: int  # of a host
    faults: float
    log: list[Asked] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)
    overlaps: int = 0
    tries: Counter[str] = field(default_factory=Counter)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept alive until a fault ends it."""
        with contextlib.closing(writer), contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                begun = time.monotonic()
                path = head.split(b" ", 2)[1].decode("latin-1")
                found = re.search(rb"^host: *([^\r:]*)", head, re.IGNORECASE | re.MULTILINE)
                host = found[1].decode("latin-1") if found else ""
                self.overlaps += self.open[host] > 0
                self.open[host] += 1
                fault = self._fault(host, path)
                if fault == "late":
                    await asyncio.sleep(1.0)
                answer, rest = answered(host, path, fault, (self.hosts, self.pages))
                self.log.append(Asked(host, path, begun, time.monotonic(), rest, fault))
                self.open[host] -= 1
                writer.write(answer)
                await writer.drain()
                if fault in ("hangs up", "torn", "garbage"):
                    break

    def since(self, number: int) -> list[str]:
        """The URLs that were asked for after the first so many requests."""
        return [f"http://{row.host}{row.path}" for row in self.log[number:]]

    def _fault(self, host: str, path: str) -> str:
        self.tries[host + path] += 1
        dice = random.Random(f"{host}{path}{self.tries[host + path]}")
        return dice.choice(FAULTS) if path != "/robots.txt" and dice.random() < self.faults else ""


def links_of(host: str, path: str, size: tuple[int, int]) -> list[str]:
    """Where a page leads: worked out by the server that sends it, and by the judge."""
    number, page = int(host[1:].partition(".")[0]), int(path[1:] or 0)
    hosts, pages = size
    own = [f"http://{host}/{(page * 3 + n) % pages}" for n in (1, 2, 3)]
    return [*own, f"http://h{(number * 7 + page + 1) % hosts}.{SUFFIX}/{page % pages}"]


def answered(host: str, path: str, fault: str, size: tuple[int, int]) -> tuple[bytes, float]:
    """The bytes of an answer, and how long the host wants to be left alone beyond its delay."""
    if path == "/robots.txt":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 0.0
    page = int(path[1:] or 0)
    links = " ".join(f'<a href="{link}">{link[-8:]}</a>' for link in links_of(host, path, size))
    body = f"<title>{host} {page}</title><p>{host} {page} tells of {TOWNS[page % 4]}.</p>{links}".encode()
    good = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    return {
        "error": (b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n", 0.0),
        "hangs up": (b"", 0.0),
        "torn": (good[: len(good) // 2], 0.0),
        "garbage": (b"HTTP/9 nonsense\r\n\r\n", 0.0),
        "busy": (b"HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n", 3.0),
        "loop": (f"HTTP/1.1 302 Found\r\nLocation: http://{host}{path}\r\nContent-Length: 0\r\n\r\n".encode(), 0.0),
    }.get(fault, (good, 0.0))


def job_text(port: int, given: argparse.Namespace) -> str:
    """The job: four nodes, every twentieth host a seed."""
    seeds = ", ".join(f'"http://h{n}.{SUFFIX}/0"' for n in range(0, given.hosts, 20))
    return f"""
seeds = [{seeds}]
[crawl]
strategy = "hash"
keep = "all"
workers = 1
connections = {CONNECTIONS}
delay_seconds = {given.delay}
delay_factor = 0.0
depth = 100000
retries = 5
retry_seconds = 1.0
host_pages = 1000
pattern_pages = 1000
allow_private = ["127.0.0.0/8"]
resolve = {{ "*.{SUFFIX}" = "127.0.0.1:{port}" }}
[fetch]
total_seconds = 20.0
[archive]
disk_reserve_bytes = 0
{"".join(f"[nodes.{name}]{chr(10)}" for name in NODES)}
"""


class Sample(NamedTuple):
    """What a process held at a moment."""

    seconds: float  # since its first request
    memory: int
    sockets: int
    files: int
    threads: int
    known: int  # URLs


def crawl_figures(pid: int) -> tuple[int, int, int, int] | None:
    """Memory in bytes, sockets, other descriptors and threads of a crawl and of the process that writes its indexes.

    Workers are left out: each is ended when it exceeds what a page may cost.
    """
    parts = [figures for one in (pid, *_indexers(pid)) if (figures := _process_figures(one)) is not None]
    if not parts:
        return None
    memory, sockets, files, threads = (sum(column) for column in zip(*parts, strict=True))
    return memory, sockets, files, threads


def _indexers(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):  # it has ended
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                with contextlib.suppress(OSError):
                    if b"periplus.index.process" in Path(f"/proc/{child}/cmdline").read_bytes():
                        found.append(int(child))
    return found


def _process_figures(pid: int) -> tuple[int, int, int, int] | None:
    sockets = files = 0
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                is_socket = str(descriptor.readlink()).startswith(("socket:", "pipe:"))
                sockets, files = sockets + is_socket, files + (not is_socket)
    except OSError:
        return None
    # What is its own: pages of mapped files (the index) are the system's to keep or to drop.
    memory, threads = re.search(r"RssAnon:\s*(\d+)", status), re.search(r"Threads:\s*(\d+)", status)
    return (1024 * int(memory[1]), sockets, files, int(threads[1])) if memory and threads else None


def known_urls(crawl: Path) -> int:
    """How many URLs the nodes know, by the last number given."""
    count = 0
    for path in crawl.glob("nodes/*/node.db"):
        with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(_reader(path)) as db:
            count += db.execute("SELECT ifnull(max(id), 0) FROM url").fetchone()[0]
    return count


def _reader(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)


async def live(command: list[str], folder: Path, seconds: float, how: signal.Signals, server: Server) -> dict[str, Any]:
    """One life of the crawl, of so many seconds from its first request on: how it ended, and what it held meanwhile."""
    with (folder / "out.txt").open("ab") as output:
        process = await asyncio.create_subprocess_exec(*command, stdout=output, stderr=output)
    samples: list[Sample] = []
    began, asked, first = time.monotonic(), len(server.log), 0.0
    while process.returncode is None:
        if time.monotonic() - (first or began) > (seconds if first else START_SECONDS):
            break
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 1.0)
        first = first or (time.monotonic() if len(server.log) > asked else 0.0)
        figures = crawl_figures(process.pid) if first else None
        if figures:
            samples.append(Sample(time.monotonic() - first, *figures, known_urls(folder / "crawl")))
    if process.returncode is None:
        process.send_signal(how)
        await process.wait()
    return {"code": process.returncode, "seconds": time.monotonic() - began, "samples": samples}


async def soak(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Crawl, kill, resume, let live; then look at what there is."""
    server = Server(given.hosts, given.pages, given.faults)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1024)
    job = folder / "job.toml"
    job.write_text(job_text(listening.sockets[0].getsockname()[1], given), "utf-8")
    command = [str(PERIPLUS), "crawl", str(job), "--out", str(folder / "crawl"), "--json"]
    began, dice, lives = time.monotonic(), random.Random(given.seed), []
    end = began + 60 * given.minutes
    kills: list[float] = []
    asked, finished, repeated = 0, set[str](), list[str]()
    while (left := end - time.monotonic()) > 0:
        seconds = dice.uniform(0.5, 1.5) * given.kill_seconds
        last = left - seconds < LAST_LIFE * 60 * given.minutes
        lives.append(await live(command, folder, left if last else seconds, SIGNALS[last], server))
        kills.append(time.monotonic())
        repeated += [url for url in server.since(asked) if url in finished]
        asked, finished = len(server.log), set(books(folder / "crawl")[1])
        if last or lives[-1]["code"] != -signal.SIGKILL:
            break
    listening.close()
    figures = judged(folder / "crawl", server, lives, kills, given)
    figures["kills_at_seconds"] = " ".join(f"{kill - began:.0f}" for kill in kills[: figures["kills"]])
    figures["wrong"] += [f"finished and asked for again: {repeated[:3]}"] if repeated else []
    return figures | {"output": (folder / "out.txt").read_text()[-2000:]}


SIGNALS = {False: signal.SIGKILL, True: signal.SIGINT}


def judged(
    crawl: Path, server: Server, lives: list[dict[str, Any]], kills: list[float], given: argparse.Namespace
) -> dict[str, Any]:
    """Figures, and under `wrong` everything that should not be."""
    known, done, outcomes = books(crawl)
    finished = {url for url, outcome in done.items() if outcome}
    torn = {f"http://{row.host}{row.path}" for row in server.log if row.fault == "torn"}  # half of it, and marked so
    read = [url for url, outcome in done.items() if outcome in ("kept", "duplicate") and url not in torn]
    lost = {link for url in read for link in links_of(*split(url), (given.hosts, given.pages))} - known
    good = Counter(f"http://{row.host}{row.path}" for row in server.log if not row.fault and row.path != "/robots.txt")
    again = sum(times - 1 for times in good.values())
    early, forgiven = too_early(server.log, given.delay, kills)
    retries = outcomes.get("retry", 0)
    wrong = [f"{len(lost)} links of pages that were read are unknown: {sorted(lost)[:3]}"] if lost else []
    wrong += [f"{len(early)} requests came too early: {early[:3]}"] if early else []
    wrong += [f"{server.overlaps} requests came while the host was busy"] if server.overlaps else []
    # What was under way, and what was read since the last commit: while one is written, the next gathers (decision 11).
    rate = len(server.log) / sum(one["seconds"] for one in lives)
    repeatable = CONNECTIONS + 2 * PATIENT_ROUNDS * COMMIT_SECONDS * rate
    wrong += [f"{again} pages were asked for again"] if again > repeatable * len(kills) else []
    wrong += [f"a process ended with {one['code']}" for one in lives if one["code"] not in (0, 3, 130, -9)]
    if sum(outcomes.values()) - retries != len(finished):
        wrong.append(f"outcomes do not add up: {sum(outcomes.values())} - {retries} != {len(finished)}")
    grown, growth = flatness(lives)
    return {
        "when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "minutes": round(sum(o["seconds"] for o in lives) / 60, 1),
        "nodes": len(NODES), "hosts": given.hosts, "delay_seconds": given.delay,
        "requests": len(server.log), "faults": sum(bool(row.fault) for row in server.log),
        "kills": sum(one["code"] == -9 for one in lives), "urls_known": len(known), "urls_finished": len(finished),
        "links_lost": len(lost), "politeness_violations": len(early) + server.overlaps,
        "refusals_that_a_kill_made_forgotten": forgiven, "asked_again_after_kills": again,
        **growth, "load": round(os.getloadavg()[0], 1), "wrong": wrong + grown,
    }  # fmt: skip


def flatness(lives: list[dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """What grew that should not, and the figures: bounds over all lives, growth over the second half of the last."""
    samples: list[Sample] = [sample for one in lives for sample in one["samples"]]
    last: list[Sample] = lives[-1]["samples"] if lives else []
    if len(last) < 8:
        long = bool(lives) and lives[-1]["seconds"] > WARM_UP_SECONDS
        return (["the last life asked for next to nothing"] if long else []), {}
    half = last[len(last) // 2 :]
    early, late = half[: len(half) // 2], half[len(half) // 2 :]
    sockets, files = max(s.sockets for s in samples), max(s.files for s in samples)
    begun, ended = _middle(early, "memory"), _middle(late, "memory")
    urls = _middle(late, "known") - _middle(early, "known")
    wrong = [f"{sockets} sockets, bound {MOST_SOCKETS}"] if sockets > MOST_SOCKETS else []
    wrong += [f"{files} other descriptors, bound {MOST_FILES}"] if files > MOST_FILES else []
    if last[-1].seconds > WARM_UP_SECONDS:
        if ended > (1 + MOST_GROWTH) * begun + BYTES_PER_URL * urls:
            wrong.append(f"memory grew from {begun} to {ended} with {urls} further URLs")
        for name in ("files", "threads"):
            if _middle(late, name) > _middle(early, name) + len(NODES):
                wrong.append(f"{name} grew in the last life: {[getattr(s, name) for s in half]}")
    return wrong, {
        "last_life_minutes": round(last[-1].seconds / 60, 1),
        "memory_mb_in_its_third_and_last_quarter": f"{begun / 1e6:.1f}, {ended / 1e6:.1f}",
        "urls_known_in_between": urls,
        "memory_mb_a_minute": round(60 * slope([(s.seconds, s.memory) for s in half]) / 1e6, 3),
        "sockets_at_most_and_bound": f"{sockets}, {MOST_SOCKETS}",
        "sockets_a_minute": round(60 * slope([(s.seconds, s.sockets) for s in half]), 2),
        "files_at_most_and_bound": f"{files}, {MOST_FILES}",
        "files_a_minute": round(60 * slope([(s.seconds, s.files) for s in half]), 2),
        "threads_at_most": max(s.threads for s in samples),
    }


def _middle(samples: list[Sample], name: str) -> int:
    return int(statistics.median(getattr(sample, name) for sample in samples))


def slope(points: list[tuple[float, float]]) -> float:
    """Of the straight line that lies nearest to the points."""
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def split(url: str) -> tuple[str, str]:
    """Host and path."""
    host, _, path = url.removeprefix("http://").partition("/")
    return host, f"/{path}"


def books(crawl: Path) -> tuple[set[str], dict[str, str], Counter[str]]:
    """All URLs that the nodes know or are sending, those that ended and how, and the counters of outcomes."""
    known: set[str] = set()
    done: dict[str, str] = {}
    outcomes: Counter[str] = Counter()
    for path in crawl.glob("nodes/*/node.db"):
        with contextlib.closing(sqlite3.connect(path)) as db:
            known.update(row[0] for row in db.execute("SELECT url FROM url"))
            known.update(row[0] for row in db.execute("SELECT url FROM outbox"))
            done.update(db.execute("SELECT url, outcome FROM known_url WHERE state = 1").fetchall())
            outcomes.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
    return known, done, outcomes


def too_early(log: list[Asked], delay: float, kills: list[float]) -> tuple[list[str], int]:
    """Requests that came before the rest of the one before was over, and how often only a kill excuses that.

    It excuses the forgetting of a refusal that came just before it; never that of the usual delay.
    """
    by_host: dict[str, list[Asked]] = defaultdict(list)
    for row in sorted(log, key=lambda row: row.begun):
        by_host[row.host].append(row)
    found, forgiven = [], 0
    for rows in by_host.values():
        for one, other in itertools.pairwise(rows):
            if other.begun >= one.ended + max(delay, one.rest):
                continue
            if other.begun >= one.ended + delay and any(
                one.begun <= kill <= one.ended + WRITTEN_SECONDS for kill in kills
            ):
                forgiven += 1
            else:
                found.append(f"{one} then {other.path} {other.begun - one.ended:.3f} s later")
    return found, forgiven


def table(figures: dict[str, Any]) -> str:
    """The figures as a table for the docs."""
    figures = figures | {"wrong": "; ".join(figures["wrong"]) or "nothing"}
    return markdown([("last run of `make soak`", ""), *((name.replace("_", " "), figures[name]) for name in figures)])


def main() -> int:
    """Soak, print, and say by the exit code whether all held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--hosts", type=int, default=2_000)
    parser.add_argument("--pages", type=int, default=700, help="of a host")
    parser.add_argument("--faults", type=float, default=0.05)
    parser.add_argument("--kill-seconds", type=float, default=60.0)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--docs", type=Path, help="page between whose soak marks the figures are written")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="periplus-soak-") as name:
        figures = asyncio.run(soak(Path(name), given))
    output = figures.pop("output")
    if figures["wrong"]:
        sys.stderr.write(output)
    sys.stdout.write(json.dumps(figures) + "\n")
    if given.docs:
        put_between(given.docs, "soak", table(figures))
    return 1 if figures["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
