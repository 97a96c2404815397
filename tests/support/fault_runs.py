"""Crawls of a small site that die, or run out of disk, at the n-th change of a file; the server's log is the judge.

    python fault_runs.py kill --pages 40 --chains 8 --deaths 30     many deaths in each crawl, at chosen changes
    python fault_runs.py full --pages 20 --every 1                  no room at every n-th write, for a while; in pieces
                                                                    with --state FILE --minutes 30, going on from there
    python fault_runs.py full --error EIO                           the same, but the disk is broken, not full
    python fault_runs.py full --error EROFS --points 4 --count 1000000
                                                                    the file system becomes read-only and stays so
    python fault_runs.py copies --pages 12 --chains 20              starts from copies of one state
    python fault_runs.py chaos --pages 40 --chains 10               a site that fails in every way, at random

Starts itself again under `faultfs.so` (compiled from `faultfs.c`). Prints one JSON object a line; the last is the sum.
`kill_points.py` looks at every single change of one crawl, and at the loss of power.
"""

import argparse
import asyncio
import contextlib
import ctypes
import errno
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from periplus import crawl, indexing, verify
from periplus.commands import run_crawl
from periplus.errors import PeriplusError
from periplus.index import NodeIndex
from periplus.index.probe import Holding
from periplus.index.process import Indexes
from periplus.job import Prepared, prepare
from periplus.places import Gazetteer, open_gazetteer
from periplus.running import disk
from periplus.settings import job_from_dict
from periplus.store.folder import CrawlFolder

HERE = Path(__file__).resolve().parent
COUNT, KILL, FULL = 0, 1, 2
TOWNS = ("Houston, Texas", "Lisbon, Portugal", "Portland, Oregon", "Boston, Massachusetts")
HOSTS = 8
CRAWL_FAILED = 70
LARGEST_BATCH = 8
"""URLs that are under way at once, so the most that one transaction of a node can finish."""


def compile_faults(folder: Path) -> Path:
    """The library that is preloaded."""
    library = folder / "faultfs.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "faultfs.c"), "-ldl"], check=True)
    return library


# -- The site ----------------------------------------------------------------------------------------


def answer(host: str, path: str, pages: int) -> bytes:
    """The response for a URL of the site: pages that link to others, a redirect, a missing page, a copy."""
    web = host.partition(".")[2]
    number = int(path.removeprefix("/p/")) if path.startswith("/p/") and path[3:].isdecimal() else None
    if number is None or number >= pages or path == "/robots.txt":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    if number % 29 == 13:
        target = f"http://{host_of(number + 1, web)}/p/{(number + 1) % pages}"
        return f"HTTP/1.1 301 Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()
    shown = 7 if number % 31 == 17 else number  # a copy of another page
    links = "".join(
        f'<li><a href="http://{host_of(other, web)}/p/{other}">page {other}</a>'
        for other in {(number * 3 + 1) % pages, (number * 3 + 2) % pages, (number * 3 + 3) % pages, pages + number}
    )
    body = f"<title>Page {shown}</title><p>Page {shown} tells of {TOWNS[shown % 4]}.</p><ul>{links}</ul>".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def host_of(number: int, web: str = "site.test") -> str:
    return f"h{number % HOSTS}.{web}"


def chaos(host: str, path: str, tries: int, pages: int) -> bytes | None:
    """An answer of a site that fails in every way, differently at each try; None: it hangs up."""
    dice = random.Random(f"{host} {path} {tries}")  # the host's name has the number of the run in it
    good = answer(host, path, pages)
    kind = dice.choice(["good"] * 5 + ["none", "torn", "busy", "error", "garbage", "binary", "away", "loop", "empty"])
    location = {"away": "ftp://elsewhere.test/", "loop": f"http://{host}{path}"}.get(kind)
    if location:
        return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
    return {
        "good": good,
        "none": None,
        "torn": good[: len(good) // 2],
        "busy": b"HTTP/1.1 429 Slow\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n",
        "error": b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
        "garbage": b"HTTP/9 nonsense\r\n\r\n",
        "binary": b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 3\r\n\r\nPNG",
        "empty": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n",
    }[kind]


@contextlib.contextmanager
def site(folder: Path, pages: int) -> Iterator[tuple[int, Path]]:
    """Serve the site from a process of its own; gives its port and its log, one `host path time` a line."""
    log = folder / "requests.log"
    log.touch()
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    pid = os.fork()
    if pid == 0:
        try:
            serve(listener, log, pages)
        finally:
            os._exit(1)
    port = listener.getsockname()[1]
    listener.close()
    try:
        yield port, log
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def serve(listener: socket.socket, log: Path, pages: int) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
    tries: Counter[str] = Counter()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                path = head[0].split(" ")[1]
                host = next(line[5:].strip() for line in head if line.lower().startswith("host:"))
                os.write(descriptor, f"{host} {path} {time.monotonic():.6f}\n".encode())
                tries[host + path] += 1
                reply = answer(host, path, pages)
                if ".chaos" in host and path != "/robots.txt":  # else all seeds might be out of reach, which is an end
                    wrong = chaos(host, path, tries[host + path], pages)
                    if wrong is None or wrong != reply:
                        writer.write(wrong or b"")
                        break
                writer.write(reply)
                await writer.drain()
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(handle, sock=listener) as server:
            await server.serve_forever()

    asyncio.run(main())


# -- Crawls ------------------------------------------------------------------------------------------


@dataclass
class Bench:
    """Everything that is made once: the faults, the job and what an undisturbed crawl came to."""

    faults: ctypes.CDLL
    folder: Path
    port: int
    log: Path
    gazetteer: Gazetteer
    durability: str = "normal"

    def prepared(self, out: Path, web: str) -> Prepared:
        job = {
            "name": "faults",
            "out": str(out),
            "seeds": [f"http://{host_of(number, web)}/p/{number}" for number in (0, 1)],
            "crawl": {
                "strategy": "hash", "keep": "all", "delay_seconds": 0.0, "ip_delay_seconds": 0.0, "workers": 1,
                "connections": 8, "allow_private": ["127.0.0.0/8"], "retry_seconds": 0.02,
                "resolve": {"*.site.test": f"127.0.0.1:{self.port}"},
            },
            "fetch": {"tls_verify": False},  # nobody here speaks TLS, and loading certificates takes its time
            "archive": {"disk_reserve_bytes": 0, "warc_bytes": 2**20, "durability": self.durability},
            "run": {"log": "pages", "watchdog_seconds": 0.0},
            "nodes": {"a": {}, "b": {}},
        }  # fmt: skip
        return prepare(job_from_dict(job, "faults"), self.folder, self.gazetteer)

    def run(
        self, out: Path, mode: int, number: int, count: int = 0, *, web: str = "site.test", record: Path | None = None
    ) -> tuple[int, int]:
        """One crawl in a process of its own, armed; gives its exit status (negative: the signal) and its changes."""
        told, tells = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = CRAWL_FAILED
            try:
                os.close(told)
                if record is not None:
                    self.faults.fault_record(str(record).encode())
                self.faults.fault_arm(str(out).encode(), mode, ctypes.c_long(number), ctypes.c_long(count))
                status = self._crawl(self.prepared(out, web), tells)
            except BaseException:
                traceback.print_exc()
                raise
            finally:
                os._exit(status)
        os.close(tells)
        with os.fdopen(told, "rb") as stream:
            changes = int(stream.read() or b"0")
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), changes

    def _crawl(self, prepared: Prepared, tells: int) -> int:
        disk.RETRY_SECONDS = 0.02
        setattr(indexing, "IndexProcess", Indexes)  # noqa: B010 - in this process, whose changes are counted
        crawl.COMMIT_SECONDS = 0.01  # more commits, so more moments between them
        try:
            run_crawl(prepared, quiet=True)
        except PeriplusError as error:
            print(f"  {error} ({error.__cause__})", file=sys.stderr)
            return error.exit_code
        finally:
            os.write(tells, str(self.faults.fault_calls()).encode())
        return 0

    def requests(self) -> list[str]:
        """What the server was asked for so far."""
        return [url for url, _ in self.timed_requests()]

    def timed_requests(self) -> list[tuple[str, float]]:
        """What the server was asked for so far, and when."""
        rows = (line.split(" ") for line in self.log.read_text().splitlines())
        return [(f"http://{host}{path}", float(at)) for host, path, at in rows]


def done_urls(out: Path) -> dict[str, str]:
    """URL → outcome of everything that is finished, read from a copy, so that looking changes nothing."""
    done: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        for database in out.glob("nodes/*/node.db"):
            copy = Path(name) / database.parent.name
            copy.mkdir()
            for file in (database, Path(f"{database}-wal")):
                if file.exists():
                    shutil.copy(file, copy)
            with contextlib.closing(sqlite3.connect(copy / "node.db")) as db:
                try:
                    done.update(db.execute("SELECT url, outcome FROM known_url WHERE state = 1").fetchall())
                except sqlite3.OperationalError as error:
                    if "no such table" not in str(error):
                        raise
    return done


def look_into_index(path: Path) -> Holding:
    """What an index holds."""
    index = NodeIndex.open(path, create=False)
    return Holding(index.revision, *index.tally())


def judge(out: Path, whole: dict[str, str], *, had_room: bool = True) -> list[str]:
    """What is wrong with a crawl that was brought to its end. The log may lack lines for which there was no room."""
    wrong = []
    found = done_urls(out)
    if set(found) != set(whole):
        wrong.append(f"other URLs: {sorted(set(found) ^ set(whole))[:5]}")
    pages = {url for url, outcome in found.items() if outcome in ("kept", "duplicate")}
    if pages != {url for url, outcome in whole.items() if outcome in ("kept", "duplicate")}:
        wrong.append("other pages")
    setattr(verify, "probe", look_into_index)  # noqa: B010 - in this process: thousands of interpreters would take longer than the crawls
    report = verify.verify_crawl(CrawlFolder(out), repair=False)
    wrong += [f"{problem.part}: {problem.what} ({problem.example})" for problem in report.problems]
    lines = (out / "log.jsonl").read_text().split("\n") if (out / "log.jsonl").exists() else []
    if had_room and '"event": "ended"' not in "".join(lines[-2:]):
        wrong.append("the log does not say that the crawl ended")
    return wrong


def kill_chain(bench: Bench, out: Path, whole: dict[str, str], deaths: list[int]) -> tuple[int, list[str]]:
    """One crawl that dies again and again, each time at the n-th change since it was started; then it may finish."""
    wrong: list[str] = []
    died = 0
    for number in [*deaths, 0]:
        finished, before = set(done_urls(out)), len(bench.requests())
        status, _ = bench.run(out, KILL if number else COUNT, number)
        again = [url for url in bench.requests()[before:] if url in finished]
        wrong += [f"finished and asked for again: {url}" for url in again]
        died += status == -signal.SIGKILL
        if status not in (0, -signal.SIGKILL):
            wrong.append(f"ended with {status} at change {number}")
    return died, wrong + judge(out, whole)


def from_copies(bench: Bench, out: Path, whole: dict[str, str], number: int, times: int) -> list[str]:
    """A crawl that died at the n-th change, brought to its end again and again from copies of what it left."""
    status, _ = bench.run(out, KILL, number)
    wrong = [] if status == -signal.SIGKILL else [f"ended with {status}"]
    ends = []
    for _ in range(times):
        copy = out.with_name("copy")
        shutil.copytree(out, copy)
        status, _ = bench.run(copy, COUNT, 0)
        wrong += [] if status == 0 else [f"ended with {status}"]
        wrong += judge(copy, whole)
        ends.append(done_urls(copy))
        shutil.rmtree(copy)
    return wrong + [f"start {at} ended otherwise" for at, end in enumerate(ends) if set(end) != set(ends[0])]


def full_disk(bench: Bench, out: Path, whole: dict[str, str], number: int, count: int) -> list[str]:
    """One crawl that finds no room `count` times from the n-th change on; if it gives up, it is resumed."""
    status, _ = bench.run(out, FULL, number, count)
    wrong = [] if status in (0, 4) else [f"ended with {status}"]
    gave_up = status == 4
    if gave_up:
        finished, before = set(done_urls(out)), len(bench.requests())
        status, _ = bench.run(out, COUNT, 0)
        wrong += [f"finished and asked for again: {url}" for url in bench.requests()[before:] if url in finished]
        wrong += [] if status == 0 else [f"resuming ended with {status}"]
        print(json.dumps({"change": number, "gave_up": True}), flush=True)
    return wrong + judge(out, whole, had_room=gave_up)


def chaotic(bench: Bench, out: Path, number: int) -> list[str]:
    """A crawl of a site where everything fails now and then: it ends, and then nothing is left anywhere."""
    status, _ = bench.run(out, COUNT, 0, web=f"chaos{number}.site.test")
    wrong = [] if status == 0 else [f"ended with {status}"]
    leases: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for line in (out / "log.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "lease ended":
            leases[event["outcome"]] += 1
    for database in out.glob("nodes/*/node.db"):
        with contextlib.closing(sqlite3.connect(database)) as db:
            for table, condition in (("known_url", "state = 0"), ("outbox", "1")):
                left = db.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()[0]
                wrong += [f"{left} rows of {table} are left"] if left else []
            counted.update(dict(db.execute("SELECT name, count FROM outcome").fetchall()))
    if leases != counted:
        wrong.append(f"the outcomes do not add up to the leases: {counted - leases}, {leases - counted}")
    return wrong


# -- The command -------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kill", "full", "copies", "chaos"])
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--deaths", type=int, default=30)
    parser.add_argument("--within", type=int, default=150, help="changes within which each process dies")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--points", type=int, help="instead of --every: so many changes, evenly spread over the crawl")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--error", default="ENOSPC", choices=["ENOSPC", "EIO", "EROFS"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="where an enumeration is written down, to go on from there")
    parser.add_argument("--docs", type=Path, help="page between whose marks an enumeration writes its figures")
    parser.add_argument("--minutes", type=float, default=1e9, help="time after which an enumeration pauses")
    options = parser.parse_args()
    with faulty_bench(options.pages) as bench:
        bench.faults.fault_error(getattr(errno, options.error))
        raise SystemExit(run(bench, options))


@contextlib.contextmanager
def faulty_bench(pages: int) -> Iterator[Bench]:
    """Everything that a run needs, in memory; starts the program again with the faults loaded before all else."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a folder of our own in it, for speed
    with tempfile.TemporaryDirectory(prefix="periplus-faults-", dir=memory) as name:
        folder = Path(name)
        if "PERIPLUS_FAULTS" not in os.environ:
            library = compile_faults(folder)
            environment = os.environ | {"LD_PRELOAD": str(library), "PERIPLUS_FAULTS": str(library)}
            raise SystemExit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)
        with site(folder, pages) as (port, log):
            yield Bench(ctypes.CDLL(os.environ["PERIPLUS_FAULTS"]), folder, port, log, open_gazetteer())


def run(bench: Bench, options: argparse.Namespace) -> int:
    started = time.monotonic()
    status, changes = bench.run(bench.folder / "whole", COUNT, 0)
    whole = done_urls(bench.folder / "whole")
    wrong = [f"undisturbed: {text}" for text in judge(bench.folder / "whole", whole)]
    print(json.dumps({"undisturbed": status, "changes": changes, "urls": len(whole)}), flush=True)
    points = crawls = 0
    numbers = random.Random(options.seed)
    out = bench.folder / "crawl"
    if options.what == "copies":
        crawls, wrong = options.chains, wrong + from_copies(bench, out, whole, changes // 2, options.chains)
    elif options.what == "kill":
        for _ in range(options.chains):
            deaths = [numbers.randint(1, options.within) for _ in range(options.deaths)]
            died, found = kill_chain(bench, out, whole, deaths)
            points, crawls, wrong = points + died, crawls + 1, wrong + found
            shutil.rmtree(out)
    elif options.what == "chaos":
        for number in range(options.chains):
            found = chaotic(bench, out, number)
            crawls, wrong = crawls + 1, wrong + [f"run {number}: {text}" for text in found]
            shutil.rmtree(out)
    else:
        return enumerate_changes(bench, options, whole, changes, wrong)
    seconds = round(time.monotonic() - started, 1)
    print(json.dumps({"points": points, "crawls": crawls, "changes": changes, "wrong": wrong, "seconds": seconds}))
    return 1 if wrong or status else 0


def enumerate_changes(
    bench: Bench, options: argparse.Namespace, whole: dict[str, str], changes: int, wrong: list[str]
) -> int:
    """A crawl without room for every change, one after the other, going on where the last piece ended (--state)."""
    if options.points:
        options.every = -(-changes // options.points)
    known = json.loads(options.state.read_text()) if options.state and options.state.exists() else {}
    state = {"pages": options.pages, "every": options.every, "next": 1, "points": 0, "crawls": 0, "seconds": 0.0}
    state |= {"changes": changes, "wrong": wrong, **known}
    if (state["pages"], state["every"]) != (options.pages, options.every):
        raise SystemExit(f"{options.state} is of another enumeration: {state['pages']} pages, every {state['every']}.")
    out = bench.folder / "crawl"
    end = time.monotonic() + 60 * options.minutes
    while state["next"] <= state["changes"] and time.monotonic() < end:
        began, number = time.monotonic(), state["next"]
        found = full_disk(bench, out, whole, number, options.count)
        shutil.rmtree(out)
        state["wrong"] += [f"change {number}: {text}" for text in found]
        state |= {"next": number + options.every, "points": state["points"] + 1, "crawls": state["crawls"] + 1}
        state["seconds"] = round(state["seconds"] + time.monotonic() - began, 1)
        if options.state:
            options.state.write_text(json.dumps(state))
        if found or state["crawls"] % 50 == 0:
            print(json.dumps({"change": number, "of": state["changes"], "wrong": found}), flush=True)
    print(json.dumps(state))
    if options.docs:
        note(options.docs, options.what, state)
    return 1 if state["wrong"] else 0


def note(page: Path, what: str, state: dict[str, Any]) -> None:
    """Write how far an enumeration has come into a page, between its marks."""
    shown = {
        "last run": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load {os.getloadavg()[0]:.0f}",
        "pages of the crawl": state["pages"],
        "changes of its files": state["changes"],
        "looked at": f"every {state['every']}.; so far up to change {min(state['next'] - 1, state['changes'])}",
        "crawls without room": state["crawls"],
        "found wrong": len(state["wrong"]),
        "minutes": round(state["seconds"] / 60, 1),
    }
    write_table(page, what, "no room on the disk, by `make kill-all`", shown)


def write_table(page: Path, mark: str, title: str, shown: dict[str, Any]) -> None:
    """Put a table between its marks in a page."""
    rows = "".join(f"| {name} | {value} |\n" for name, value in shown.items())
    text = f"<!-- {mark} -->\n| {title} | |\n|---|---|\n{rows}<!-- /{mark} -->"
    marks = re.compile(rf"<!-- {mark} -->.*?<!-- /{mark} -->", re.DOTALL)
    page.write_text(marks.sub(lambda _: text, page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
