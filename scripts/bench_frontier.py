"""How the frontier behaves as it grows: URLs in, URLs out, bytes a URL, at 10^5, 10^6 and 10^7 known URLs.

    python scripts/bench_frontier.py [--sizes 1e5,1e6,1e7] [--hosts 2000] [--json] [--write]

Everything a crawl does with a URL between two pages is done here as a crawl does it, with the same batches: rules and
budgets, seen-set, transaction, queue, turns of hosts, leases, completion. Only fetching and reading are left out. At
each size the same work is measured: three times 10,000 URLs in and 10,000 out, by processor time.
On a shared machine processor time stretches, so each measurement stands between two of a fixed piece of work and is
corrected by them (`machine` says how much slower than at its best the machine was).
`--write` puts the table into docs/performance.md.
"""

import argparse
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from doc_tables import markdown, put_between

from periplus.clock import SystemClock
from periplus.frontier import Intake, Schedule, UrlQueue
from periplus.model import Analysis, Lease, Links, Outcome, RoutedLink, Score
from periplus.settings import ArchiveSettings, CrawlSettings, FetchSettings
from periplus.store.commit import Batch, Completion, NodeStore
from periplus.store.database import open_reader
from periplus.store.folder import NodeFolder
from periplus.urls import fingerprint

DOC = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
NODE = "bench"
LINKS = 40
PAGES = 25  # pages in a batch: what 50 ms bring at 500 pages a second
WINDOW = 10_000
WINDOWS = 3
NEAR = 0.8  # share of a page's links that lead to its own host
KNOWN = 0.5  # share of links that are known already

LETTERS = str.maketrans("01", "ae")
WORDS = ("city", "river", "market", "history", "school", "weather", "theatre", "station", "harbour", "museum")


def resident() -> int:
    """Bytes of memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


class Bench:
    """A node's frontier, filled with made-up pages."""

    def __init__(self, folder: Path, hosts: int) -> None:
        self._random = random.Random(20061)
        self._hosts = [f"www.{WORDS[n % 10]}-{n}.example" for n in range(hosts)]
        self._counts = [0] * hosts
        self.folder = folder
        self.now = time.time()
        self._crawl = CrawlSettings(host_pages=10**9, pattern_pages=10**9)
        self.open()
        self.sequence = 0

    def open(self) -> None:
        """Open the database and take up what it holds."""
        self.store = NodeStore(
            NodeFolder(NODE, self.folder), [NODE], ArchiveSettings(), agent="bench", clock=SystemClock()
        )
        self.queue = UrlQueue(open_reader(self.store.folder.database))
        self.intake = Intake([NODE], self._crawl, FetchSettings())
        self.schedule = Schedule([NODE], delay_seconds=0.0)

    def close(self) -> None:
        """Let the database go."""
        self.queue.close()
        self.store.close()

    def resume(self) -> None:
        """Take up what is on disk, as a crawl does that begins again."""
        rows = self.store.db.execute(
            "SELECT url.url, host.name, url.fingerprint FROM url JOIN host ON host.id = url.host_id"
        )
        for url, host, mark in rows:
            self.intake.remember(NODE, host, url, mark)
        for host in self.queue.load(self.now):
            self.schedule.want(host, NODE, 0.0)

    def grow(self, urls: int) -> None:
        """Pages arrive until so many further URLs are known."""
        goal = self.intake.seen() + urls
        while self.intake.seen() < goal:
            batch = Batch()
            for lease, analysis in self._pages(PAGES):
                accepted = self.intake.accept(NODE, lease, analysis)
                batch.seeds.extend(accepted.mine)
            for lease, host_id in self.store.commit(batch).queued:
                self.queue.push(lease, host_id)
                self.schedule.want(lease.host, NODE, 0.0)

    def drain(self, urls: int) -> None:
        """So many URLs are leased in turn over hosts and completed."""
        left = urls
        while left:
            batch = Batch()
            while len(batch.completions) < PAGES * 10 and left:
                turn = self.schedule.take(0.0)
                if turn is None:
                    raise SystemExit("the frontier is empty: nothing to measure")
                lease = self.queue.lease(turn.host, self.now)
                self.schedule.no_longer_wanted(turn.host, NODE)
                if self.queue.next_due(turn.host, self.now) is not None:
                    self.schedule.want(turn.host, NODE, 0.0)
                self.schedule.give_back(turn, 0.0, asked=True)
                if lease is None:
                    continue
                batch.completions.append(Completion(lease, Outcome.HTTP_ERROR))
                left -= 1
            committed = self.store.commit(batch)
            for done in batch.completions:
                self.queue.finished(done.lease)
            if committed.swept:
                self.queue.swept()

    def _pages(self, count: int) -> Iterator[tuple[Lease, Analysis]]:
        score = Score(0.5, 0.5, True)
        for _ in range(count):
            numbers = self._random
            host = numbers.randrange(len(self._hosts))
            worth = numbers.random()
            links = []
            for _ in range(LINKS):
                target = host if numbers.random() < NEAR else numbers.randrange(len(self._hosts))
                if numbers.random() < KNOWN and self._counts[target]:
                    number = numbers.randrange(self._counts[target])
                else:
                    number = self._counts[target]
                    self._counts[target] += 1
                name = self._hosts[target]
                word = WORDS[number % 7]
                # Half of the URLs are counted through, half have a name of their own: the budgets remember each.
                title = str(number) if number % 2 else f"{number:b}".translate(LETTERS)
                url = f"http://{name}/{word}/{number % 12}/some-page-about-{word}-{title}.html"
                links.append(RoutedLink(url, name, fingerprint(url), NODE, worth * (0.8 + 0.2 * numbers.random())))
            lease = Lease(0, f"http://{self._hosts[host]}/", self._hosts[host], 1, 0, 0.5, 0)
            yield (
                lease,
                Analysis(
                    "", "", "", None, Outcome.NOT_RELEVANT, False, score, 0.5, None, (), (), Links.of(links), {}, 0
                ),
            )


class Stopwatch:
    """Processor time, corrected by how fast the machine is at that moment."""

    def __init__(self) -> None:
        self.best = min(self._yardstick() for _ in range(10))
        self.machine = 1.0

    def seconds(self, work: Callable[[int], None], count: int) -> float:
        """The time of `work(count)` on the machine at its best."""
        before = self._yardstick()
        started = time.process_time()
        work(count)
        spent = time.process_time() - started
        slow = (before + self._yardstick()) / 2
        self.best = min(self.best, slow)
        self.machine = slow / self.best
        return spent / self.machine

    def _yardstick(self) -> float:
        """Objects, strings, dictionaries and copies of memory: what the frontier is made of."""
        started = time.process_time()
        block = bytes(4096)
        for _ in range(40):
            table = {f"http://example.org/{number}": (number, str(number)) for number in range(1_000)}
            b"".join(block for _ in range(200))
            sorted(table, key=lambda url: -len(url))
        return time.process_time() - started


def measure(bench: Bench, watch: Stopwatch, size: int, empty: int) -> dict[str, float]:
    """Grow to `size`, then measure the same work as at every other size."""
    bench.grow(max(1, size - bench.intake.seen() - WINDOWS * WINDOW))
    rounds = [(watch.seconds(bench.grow, WINDOW), watch.seconds(bench.drain, WINDOW)) for _ in range(WINDOWS)]
    into, out = (statistics.median(column) for column in zip(*rounds, strict=True))
    known = bench.intake.seen()
    disk = sum(path.stat().st_size for path in bench.folder.rglob("*") if path.is_file())
    return {
        "urls": known,
        "in_per_second": round(WINDOW / into),
        "out_per_second": round(WINDOW / out),
        "microseconds_per_url": round((into + out) / WINDOW * 1e6, 2),
        "memory_bytes_per_url": round((resident() - empty) / known, 1),
        "machine": round(watch.machine, 2),
        "disk_bytes_per_url": round(disk / known, 1),
    }


def shown(rows: list[dict[str, float]]) -> str:
    """The table for the docs."""
    head = ["known URLs", "in a second", "out a second", "µs a URL", "against the first", "bytes of memory", "of disk"]
    named = ("urls", "in_per_second", "out_per_second", "microseconds_per_url")
    table: list[list[str]] = [head]
    for row in rows:
        change = row["microseconds_per_url"] / rows[0]["microseconds_per_url"] - 1
        sizes = (row["memory_bytes_per_url"], row["disk_bytes_per_url"])
        table.append([*(f"{row[name]:,}" for name in named), f"{change:+.0%}", *map(str, sizes)])
    resumed = rows[-1]["resume_seconds_per_million"]
    return f"{markdown(table)}\n\nTaking up the largest takes {resumed} s for a million URLs."


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1e5,1e6,1e7", help="known URLs at which it is measured")
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument("--folder", help="where the database goes (default: a temporary folder)")
    given = parser.parse_args()
    sizes = sorted(int(float(size)) for size in given.sizes.split(","))
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        empty = resident()
        bench = Bench(Path(name), given.hosts)
        watch = Stopwatch()
        rows = [measure(bench, watch, size, empty) for size in sizes]
        bench.close()
        bench.open()
        resumed = watch.seconds(lambda _: bench.resume(), 0)
        rows[-1]["resume_seconds_per_million"] = round(resumed / bench.intake.seen() * 1e6, 2)
        bench.close()
    if given.write:
        put_between(DOC, "bench_frontier", shown(rows))
    if given.json:
        sys.stdout.write(json.dumps({"hosts": given.hosts, "load": os.getloadavg()[0], "sizes": rows}) + "\n")
        return
    for row in rows:
        sys.stdout.write("  ".join(f"{name} {value:,}" for name, value in row.items()) + "\n")


if __name__ == "__main__":
    main()
