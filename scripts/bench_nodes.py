"""What several nodes in one process cost, and how fast a recorded web answers (`make bench`).

    python scripts/bench_nodes.py [--pages 1500] [--rounds 3]

The same recorded web is crawled through the engine, without a network, by one node and by the paper's six, in turns;
processor time counts, of all processes of a crawl, and the best round of each. Goal: six cost at most 10 % more.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from periplus.miniweb.web import generate
from periplus.store.recorded import RecordedWeb
from periplus.store.wacz import write_wacz

PERIPLUS = Path(sys.executable).parent / "periplus"
GOAL = 0.10


def job(folder: Path, name: str, seeds: list[str], nodes: str) -> Path:
    """A job that crawls the recorded web without delays."""
    path = folder / f"{name}.toml"
    path.write_text(
        f"seeds = {json.dumps(seeds)}\n{nodes}\n[crawl]\nstrategy = 'url'\nkeep = 'all'\nreplay = 'web.wacz'\n"
        "delay_seconds = 0.0\nworkers = 1\n",
        "utf-8",
    )
    return path


def processor_seconds(path: Path, out: Path) -> tuple[float, int]:
    """Processor time of a crawl with all its processes, and its pages."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [PERIPLUS, "crawl", path, "--out", out, "--json"], check=False, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(done.stdout.splitlines()[-1])["pages"]


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
    parser.add_argument("--pages", type=int, default=1_500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        web = generate(1, hosts=120, pages=options.pages)
        write_wacz(web.responses(), folder / "web.wacz")
        print(f"recorded web: {serving(RecordedWeb(folder / 'web.wacz')):,.0f} answers a processor-second (goal 1,000)")
        seeds = [f"http://{host.name}/" for host in web.blueprint.hosts]
        jobs = {"one": job(folder, "one", seeds, ""), "six": job(folder, "six", seeds, "targets = 'us100'")}
        best: dict[str, float] = {}
        for number in range(options.rounds):
            for kind, path in jobs.items():
                seconds, pages = processor_seconds(path, folder / f"{kind}-{number}")
                best[kind] = min(best.get(kind, float("inf")), seconds / max(1, pages))
                print(
                    f"  {kind} node(s): {pages:,} pages, {seconds / max(1, pages) * 1_000:.2f} ms of processor a page"
                )
    more = best["six"] / best["one"] - 1
    print(f"six nodes cost {more:+.1%} against one (goal {GOAL:+.0%}; load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
