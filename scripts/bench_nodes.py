"""What several nodes in one process cost, and how fast a recorded web answers (`make bench`).

    python scripts/bench_nodes.py [--pages 6000] [--rounds 3]

The same recorded web is crawled through the engine, without a network, by one node and by the paper's six, in turns;
processor time counts, of all processes of a crawl, less that of a crawl that stops after a few pages: what a crawl
needs to start (every process reads the names of a hundred cities) is said apart. Goal: six cost at most 10 % more.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_processes import Watch

from periplus.miniweb.web import generate
from periplus.store.recorded import RecordedWeb
from periplus.store.wacz import write_wacz

PERIPLUS = Path(sys.executable).parent / "periplus"
GOAL = 0.10
FEW = 60
LOOK_SECONDS = 0.02


def job(folder: Path, name: str, seeds: list[str], nodes: str, pages: int = 0) -> Path:
    """A job that crawls the recorded web without delays."""
    path = folder / f"{name}.toml"
    path.write_text(
        f"seeds = {json.dumps(seeds)}\n{nodes}\n[crawl]\nstrategy = 'url'\nkeep = 'all'\nreplay = 'web.wacz'\n"
        f"delay_seconds = 0.0\nworkers = 1\npages = {pages}\n",
        "utf-8",
    )
    return path


def processor_seconds(path: Path, out: Path) -> tuple[float, int]:
    """Processor time of a crawl with all its processes, and its pages."""
    process = subprocess.Popen(
        [PERIPLUS, "crawl", path, "--out", out, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    watch = Watch(process.pid, pause_seconds=LOOK_SECONDS, with_memory=False)
    said, failed = process.communicate()
    watch.close()
    if process.returncode not in (0, 3):  # 3: a page limit
        sys.exit(failed)
    return watch.cpu_seconds, json.loads(said.splitlines()[-1])["pages"]


def serving(web: RecordedWeb) -> float:
    """Answers a second of processor time, each URL by itself and in no order of the file."""
    urls = sorted((page.url for page in web.responses()), key=lambda url: url[::-1])
    web.get(urls[0])
    started = time.process_time()
    for url in urls:
        web.get(url)
    return len(urls) / (time.process_time() - started)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        web = generate(1, hosts=200, pages=options.pages)
        write_wacz(web.responses(), folder / "web.wacz")
        print(f"recorded web: {serving(RecordedWeb(folder / 'web.wacz')):,.0f} answers a processor-second (goal 1,000)")
        seeds = [f"http://{host.name}/" for host in web.blueprint.hosts]
        owners = {"one": "", "six": "targets = 'us100'"}
        best: dict[str, float] = {}
        for number in range(options.rounds):
            for kind, nodes in owners.items():
                few = job(folder, f"{kind}-few", seeds, nodes, FEW)
                start, read = processor_seconds(few, folder / f"{kind}-few-{number}")
                whole = job(folder, kind, seeds, nodes, options.pages)
                seconds, pages = processor_seconds(whole, folder / f"{kind}-{number}")
                a_page = (seconds - start) / max(1, pages - read)
                best[kind] = min(best.get(kind, float("inf")), a_page)
                print(
                    f"  {kind} node(s): {pages:,} pages, {a_page * 1_000:.2f} ms of processor a page, "
                    f"{start - read * a_page:.1f} s to start",
                    flush=True,
                )
    more = best["six"] / best["one"] - 1
    print(f"six nodes cost {more:+.1%} against one (goal {GOAL:+.0%}; load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
