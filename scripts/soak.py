"""A long crawl of a faulty web by four nodes that are killed again and again; the server's log and the databases judge.

    python scripts/soak.py [--minutes 60] [--hosts 2000] [--faults 0.05] [--kill-seconds 60] [--delay 1.0] [--docs FILE]

A server on loopback plays the hosts; so many of its answers are errors, torn, late, garbage or 429. `periplus crawl`
is killed (SIGKILL) about every so many seconds and started again; the last one is interrupted. Then: nothing that was
found is lost, no host was asked too early or twice at once, descriptors and memory stayed flat, and the outcomes add
up. The exit code says whether all of it holds; --docs writes the figures into a page.
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
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PERIPLUS = Path(sys.executable).parent / "periplus"
NODES = ("a", "b", "c", "d")
SUFFIX = "soak.test"
PAGES = 40  # of a host
CONNECTIONS = 64
MOST_DESCRIPTORS = 900
"""Connections in use and kept for later, files of four nodes: below what a process may have open by default."""
WARM_UP_SECONDS = 30.0
MARK = re.compile(r"<!-- soak -->.*?<!-- /soak -->", re.DOTALL)
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
                answer, rest = answered(host, path, fault, self.hosts)
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


def links_of(host: str, path: str, hosts: int) -> list[str]:
    """Where a page leads: worked out by the server that sends it, and by the judge."""
    number, page = int(host[1:].partition(".")[0]), int(path[1:] or 0)
    own = [f"http://{host}/{(page * 3 + n) % PAGES}" for n in (1, 2, 3)]
    return [*own, f"http://h{(number * 7 + page + 1) % hosts}.{SUFFIX}/{page % PAGES}"]


def answered(host: str, path: str, fault: str, hosts: int) -> tuple[bytes, float]:
    """The bytes of an answer, and how long the host wants to be left alone beyond its delay."""
    if path == "/robots.txt":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 0.0
    page = int(path[1:] or 0)
    links = " ".join(f'<a href="{link}">{link[-8:]}</a>' for link in links_of(host, path, hosts))
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


def process_figures(pid: int) -> tuple[int, int, int] | None:
    """Memory in bytes, descriptors and threads of a process."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
        descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return None
    memory, threads = re.search(r"VmRSS:\s*(\d+)", status), re.search(r"Threads:\s*(\d+)", status)
    return (1024 * int(memory[1]), descriptors, int(threads[1])) if memory and threads else None


async def live(command: list[str], log: Path, seconds: float, how: signal.Signals) -> dict[str, Any]:
    """One life of the crawl: how it ended, and what it took after its warm-up and at its end."""
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(*command, stdout=output, stderr=output)
    samples: list[tuple[int, int, int]] = []
    began = time.monotonic()
    while time.monotonic() - began < seconds and process.returncode is None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 1.0)
        figures = process_figures(process.pid)
        if figures and time.monotonic() - began > WARM_UP_SECONDS:
            samples.append(figures)
    if process.returncode is None:
        process.send_signal(how)
        await process.wait()
    return {"code": process.returncode, "seconds": time.monotonic() - began, "samples": samples}


async def soak(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Crawl, kill, resume; then look at what there is."""
    server = Server(given.hosts, given.faults)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1024)
    job = folder / "job.toml"
    job.write_text(job_text(listening.sockets[0].getsockname()[1], given), "utf-8")
    command = [str(PERIPLUS), "crawl", str(job), "--out", str(folder / "crawl"), "--json"]
    end, dice, lives = time.monotonic() + 60 * given.minutes, random.Random(given.seed), []
    kills: list[float] = []
    asked, finished, repeated = 0, set[str](), list[str]()
    while (left := end - time.monotonic()) > 0:
        seconds = dice.uniform(0.5, 1.5) * given.kill_seconds
        last = seconds + 10.0 > left
        lives.append(await live(command, folder / "out.txt", left if last else seconds, SIGNALS[last]))
        kills.append(time.monotonic())
        repeated += [url for url in server.since(asked) if url in finished]
        asked, finished = len(server.log), set(books(folder / "crawl")[1])
        if lives[-1]["code"] not in (0, 3, 130, -signal.SIGKILL):
            break
        if last or lives[-1]["code"] in (0, 3):
            break
    listening.close()
    figures = judged(folder / "crawl", server, lives, kills, given)
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
    lost = {link for url in read for link in links_of(*split(url), given.hosts)} - known
    good = Counter(f"http://{row.host}{row.path}" for row in server.log if not row.fault and row.path != "/robots.txt")
    again = sum(times - 1 for times in good.values())
    early = too_early(server.log, given.delay, kills)
    samples = [sample for one in lives for sample in one["samples"]]
    first, final = (samples[0], samples[-1]) if samples else ((0, 0, 0), (0, 0, 0))
    retries = outcomes.get("retry", 0)
    wrong = [f"{len(lost)} links of pages that were read are unknown: {sorted(lost)[:3]}"] if lost else []
    wrong += [f"{len(early)} requests came too early: {early[:3]}"] if early else []
    wrong += [f"{server.overlaps} requests came while the host was busy"] if server.overlaps else []
    wrong += [f"{again} pages were asked for again"] if again > CONNECTIONS * len(kills) else []
    wrong += [f"a process ended with {one['code']}" for one in lives if one["code"] not in (0, 3, 130, -9)]
    if sum(outcomes.values()) - retries != len(finished):
        wrong.append(f"outcomes do not add up: {sum(outcomes.values())} - {retries} != {len(finished)}")
    wrong += (
        [f"{max(s[1] for s in samples)} descriptors"]
        if samples and max(s[1] for s in samples) > MOST_DESCRIPTORS
        else []
    )
    allowed = 1.05 * first[0] + 400 * len(known)
    wrong += [f"memory grew from {first[0]} to {final[0]}"] if final[0] > allowed else []
    return {
        "when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "minutes": round(sum(o["seconds"] for o in lives) / 60, 1),
        "nodes": len(NODES), "hosts": given.hosts, "delay_seconds": given.delay,
        "requests": len(server.log), "faults": sum(bool(row.fault) for row in server.log),
        "kills": sum(one["code"] == -9 for one in lives), "urls_known": len(known), "urls_finished": len(finished),
        "links_lost": len(lost), "politeness_violations": len(early) + server.overlaps,
        "asked_again_after_kills": again,
        "memory_mb_after_warm_up": round(first[0] / 1e6), "memory_mb_at_the_end": round(final[0] / 1e6),
        "descriptors_after_warm_up": first[1], "descriptors_at_the_end": final[1],
        "threads_at_the_end": final[2], "load": round(os.getloadavg()[0], 1), "wrong": wrong,
    }  # fmt: skip


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
            done.update(db.execute("SELECT url, outcome FROM url WHERE state = 1").fetchall())
            outcomes.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
    return known, done, outcomes


def too_early(log: list[Asked], delay: float, kills: list[float]) -> list[str]:
    """Requests that came before the rest of the one before was over; a 429 just before a kill is not known."""
    by_host: dict[str, list[Asked]] = defaultdict(list)
    for row in sorted(log, key=lambda row: row.begun):
        by_host[row.host].append(row)
    found = []
    for rows in by_host.values():
        for one, other in itertools.pairwise(rows):
            unknown = any(one.begun <= kill <= one.ended + 5.0 for kill in kills)
            rest = delay if unknown else max(delay, one.rest)
            if other.begun < one.ended + rest:
                found.append(f"{one} then {other.path} {other.begun - one.ended:.3f} s later")
    return found


def table(figures: dict[str, Any]) -> str:
    """The figures as a table for the docs."""
    rows = [f"| {name.replace('_', ' ')} | {value} |" for name, value in figures.items() if name != "wrong"]
    return "\n".join(["<!-- soak -->", "| last run of `make soak` | |", "|---|---|", *rows, "<!-- /soak -->"])


def main() -> int:
    """Soak, print, and say by the exit code whether all held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--hosts", type=int, default=2_000)
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
    if given.docs and not figures["wrong"]:
        given.docs.write_text(MARK.sub(table(figures), given.docs.read_text("utf-8")), "utf-8")
    return 1 if figures["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
