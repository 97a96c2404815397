"""`make bench`: how long each stage takes and how fast a crawl is, on the miniature web of this machine.

Figures are of this run and this machine; only ratios within one run mean anything. BENCH_PAGES sets the size.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from periplus.analysis import analyse
from periplus.clock import SystemClock
from periplus.job import prepare
from periplus.miniweb.web import generate
from periplus.model import Fetched, Located, NewUrl
from periplus.pages import read_page
from periplus.places import locate, open_gazetteer
from periplus.settings import ArchiveSettings, job_from_dict
from periplus.store.archive import warc_record
from periplus.store.commit import Batch, NodeStore
from periplus.store.folder import NodeFolder
from periplus.topics import judge
from periplus.urls import fingerprint

PERIPLUS = Path(sys.executable).parent / "periplus"
SAMPLE = 400
FRONTIER_URLS = 100_000


def milliseconds_each(work: Callable[[Fetched], object], pages: list[Fetched]) -> float:
    """Mean processor time of `work` over the pages, after a first round that warms caches up."""
    for page in pages[:50]:
        work(page)
    started = time.process_time()
    for page in pages:
        work(page)
    return (time.process_time() - started) / len(pages) * 1000


def sample_pages() -> list[Fetched]:
    """Pages of the miniature web as they come from the network."""
    web = generate(1)
    step = max(1, len(web.blueprint.pages) // SAMPLE)
    found = []
    for page in web.blueprint.pages[::step]:
        response = web.page_response(page, 1)
        if response.status == 200 and response.body:
            url = f"http://{web.blueprint.hosts[page.host].name}{page.path}"
            found.append(Fetched(url, 200, (), response.body, "text/html", datetime.now(UTC), 0.01, "127.0.0.1"))
    return found


def stages(table: Table) -> None:
    """Each pure stage on its own, and all of them as a worker runs them."""
    pages = sample_pages()
    size = sum(len(page.body) for page in pages) / len(pages)
    with tempfile.TemporaryDirectory() as folder:
        job = job_from_dict({"out": folder, "seeds": ["http://127.0.0.1/"], "targets": "us100"}, "bench")
        lens = prepare(job, Path(folder), open_gazetteer()).lens
    read = {page.url: read_page(page) for page in pages}
    located = {url: locate(page.text, lens.gazetteer, candidates=False) for url, page in read.items()}
    rows: list[tuple[str, Callable[[Fetched], object]]] = [
        ("read", read_page),
        ("locate", lambda page: locate(read[page.url].text, lens.gazetteer, candidates=False)),
        ("judge", lambda page: judge(read[page.url], located[page.url], lens.topics[0])),
        ("assign", lambda page: [lens.strategy.claims(k, read[page.url], Located()) for k in read[page.url].links]),
        ("archive record", warc_record),
        ("all of it, as in a worker", lambda page: analyse(page, lens)),
    ]
    for name, work in rows:
        table.add_row(name, f"{milliseconds_each(work, pages):.2f} ms a page", f"pages of {size / 1024:.1f} KB")


def frontier(table: Table) -> None:
    """URLs into the frontier, in batches as a crawl commits them."""
    with tempfile.TemporaryDirectory() as folder:
        store = NodeStore(
            NodeFolder("bench", Path(folder)), ["bench"], ArchiveSettings(), agent="bench", clock=SystemClock()
        )
        urls = [(f"http://host{n % 200}.test/page/{n}", f"host{n % 200}.test") for n in range(FRONTIER_URLS)]
        started = time.perf_counter()
        for start in range(0, FRONTIER_URLS, 2_000):
            batch = Batch(seeds=[NewUrl(u, h, fingerprint(u), 0.5, 1) for u, h in urls[start : start + 2_000]])
            store.commit(batch)
        rate = FRONTIER_URLS / (time.perf_counter() - started)
        store.close()
    table.add_row("frontier, URLs in", f"{rate:,.0f} a second", f"{FRONTIER_URLS:,} URLs of 200 hosts")


def crawl(table: Table) -> None:
    """A whole crawl of the miniature web by six nodes, everything on, without politeness delays."""
    pages = int(os.environ.get("BENCH_PAGES", "3000"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = folder / "job.toml"
        server = subprocess.Popen(
            [PERIPLUS, "miniweb", "serve", "--port", "0", "--job", job], stdout=subprocess.PIPE, text=True
        )
        try:
            for line in server.stdout or []:  # it says how to stop it when it is ready
                if "Ctrl-C" in line:
                    break
            done = subprocess.run(
                [PERIPLUS, "crawl", job, "--out", folder / "crawl", "--pages", str(pages), "--json"],
                check=False, capture_output=True, text=True,
            )  # fmt: skip
        finally:
            server.terminate()
            server.wait()
    summary = json.loads(done.stdout.splitlines()[-1])
    table.add_row("crawl, six nodes", f"{summary['pages_per_second']} pages/s", f"{summary['pages']:,} pages, all on")


def main() -> None:
    """Run all benchmarks and print one table."""
    table = Table("what", "how fast", "on", title=f"{os.cpu_count()} cores", title_justify="left", box=None)
    stages(table)
    frontier(table)
    crawl(table)
    Console(highlight=False).print(table)
    subprocess.run([sys.executable, str(Path(__file__).with_name("bench_gazetteer.py"))], check=True)


if __name__ == "__main__":
    main()
