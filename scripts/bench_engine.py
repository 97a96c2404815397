"""`make bench`, the engine: Periplus, Scrapy (tuned) and wget2 crawl the same site one after the other.

Periplus does everything it does in a real crawl (places, relevance, archive, index, durable frontier); Scrapy extracts
title and links and keeps nothing; wget2 downloads and follows links. Then Periplus once more, politely: one request a
second and host, from the front pages of all of them, so that the ceiling is the number of hosts. BENCH_ENGINE_PAGES
sets the size of the site. Only the ratios within one run mean anything. Where the machine is not always as fast,
`--rounds 3` has them crawl in turn so often: the table is of each crawler's middle run, and ratios are the middle ones
of all rounds. Rates are up to the last page that a crawler was given. Periplus's are of the whole run, index included;
"midway" is without start and end, by the server's log. `--write` puts the table into docs/performance.md.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_processes import Watch
from bench_site import ADDRESSES, Site, address, served
from doc_tables import markdown, put_between
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PERIPLUS = Path(sys.executable).parent / "periplus"
PEERS = ROOT / ".venv-peers"
SCRAPY = "scrapy>=2.13,<3"
CONNECTIONS = 64
DOC = ROOT / "docs" / "performance.md"

SPIDER = """
import scrapy
from scrapy.crawler import CrawlerProcess
import sys

class Spider(scrapy.Spider):
    name = "bench"
    start_urls = [sys.argv[1]]
    pages = 0

    def parse(self, response):
        Spider.pages += 1
        response.css("title::text").get()
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, callback=self.parse)

process = CrawlerProcess({
    "CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "DOWNLOAD_DELAY": 0, "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False, "RETRY_ENABLED": False, "REDIRECT_ENABLED": False, "TELNETCONSOLE_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False, "LOG_LEVEL": "ERROR", "LOGSTATS_INTERVAL": 0, "DEPTH_STATS": False,
    "REFERER_ENABLED": False, "REACTOR_THREADPOOL_MAXSIZE": 20, "DNSCACHE_ENABLED": True,
})
process.crawl(Spider)
process.start()
print(Spider.pages)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What one crawler did."""

    name: str
    pages: int
    seconds: float
    cpu_seconds: float
    memory_mb: float
    idle_seconds: float = 0.0
    """How long it went on after its last page."""

    midway_rate: float = 0.0
    """Pages a second by the server's log, without the first and the last tenth of them: no start, no end."""

    @property
    def rate(self) -> float:
        """Pages a second, up to the last of them."""
        return self.pages / (self.seconds - self.idle_seconds)


def usual_environment() -> dict[str, str]:
    """The environment without what keeps Python from remembering compiled modules: no user starts it so each time."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(name: str, command: Sequence[str | Path], site: Site, folder: Path) -> tuple[Run, str]:
    """Run a crawler to its end; pages are counted in the server's own log."""
    site.log.write_text("")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.time()
    process = subprocess.Popen(
        command, cwd=folder, env=usual_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    watch = Watch(process.pid)
    out, _ = process.communicate()
    seconds = time.time() - started
    watch.close()
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = max(watch.cpu_seconds, waited.ru_utime + waited.ru_stime - before.ru_utime - before.ru_stime)
    answered = site.answered()
    idle = started + seconds - max(answered, default=started)
    memory = max(watch.kilobytes, default=0) / 1024
    return Run(name, len(answered), seconds, cpu, memory, idle, midway_rate(answered)), out


def midway_rate(answered: Sequence[float]) -> float:
    """Pages a second between the first and the last tenth of them."""
    times = sorted(answered)
    first, last = len(times) // 10, len(times) - 1 - len(times) // 10
    return (last - first) / (times[last] - times[first]) if last > first and times[last] > times[first] else 0.0


def periplus(site: Site, folder: Path, *, delay: float = 0.0, seeds: Sequence[str] = (), name: str = "Periplus") -> Run:
    """A crawl with everything on."""
    job = folder / "job.toml"
    job.write_text(
        f'seeds = {json.dumps(seeds or [site.seed])}\ntargets = "us100"\n'
        '[topic]\nname = "bench"\nkeywords = {school = 1.0, restaurant = 1.0, river = 0.5}\n'
        'places = {"United States" = 1.0}\n'
        f'[crawl]\nstrategy = "url"\nkeep = "all"\ndelay_seconds = {delay}\n'
        f'connections = {ADDRESSES if delay else CONNECTIONS}\nallow_private = ["127.0.0.0/8"]\n'
        f"[fetch]\nports = [{site.port}]\n",
        "utf-8",
    )
    run, out = measure(name, [PERIPLUS, "crawl", job, "--out", folder / name, "--json"], site, folder)
    summary = json.loads(out.splitlines()[-1])
    shutil.rmtree(folder / name)
    return Run(name, summary["pages"], run.seconds, run.cpu_seconds, run.memory_mb, midway_rate=run.midway_rate)


def scrapy(site: Site, folder: Path) -> Run | None:
    """Scrapy with everything off that costs time, in a virtual environment of its own."""
    if not (PEERS / "bin" / "scrapy").exists():
        subprocess.run([sys.executable, "-m", "venv", PEERS], check=True)
        if subprocess.run([PEERS / "bin" / "pip", "install", "--quiet", SCRAPY], check=False).returncode:
            return None
    (folder / "spider.py").write_text(SPIDER, "utf-8")
    return measure("Scrapy, tuned", [PEERS / "bin" / "python", "spider.py", site.seed], site, folder)[0]


def wget2(site: Site, folder: Path) -> Run | None:
    """wget2, download only."""
    if shutil.which("wget2") is None:
        return None
    hosts = ",".join(address(n) for n in range(ADDRESSES))
    (folder / "wget").mkdir()
    command = [
        "wget2", "--quiet", "--recursive", "--level=0", "--span-hosts", f"--domains={hosts}", "--no-robots",
        f"--max-threads={CONNECTIONS}", "--directory-prefix=wget", "--no-check-certificate", site.seed,
    ]  # fmt: skip
    run = measure("wget2", command, site, folder)[0]
    shutil.rmtree(folder / "wget")
    return run


def polite(site: Site, folder: Path) -> Run:
    """A crawl at one request a second and host, of all hosts from the beginning: the ceiling is their number."""
    return periplus(site, folder, delay=1.0, seeds=site.urls()[:ADDRESSES], name="Periplus, polite")


CRAWLERS: dict[str, Callable[[Site, Path], Run | None]] = {
    "periplus": periplus, "scrapy": scrapy, "wget2": wget2, "polite": polite,
}  # fmt: skip


def middle(runs: list[Run | None]) -> Run | None:
    """The run whose rate is the median of its crawler's."""
    ran = sorted([run for run in runs if run and run.pages], key=lambda run: run.rate)
    return ran[len(ran) // 2] if ran else None


def ratio(ours: list[Run | None], theirs: list[Run | None]) -> str:
    """How many times as fast Periplus is: the median of all rounds, with the least and the most of several."""
    found = sorted(a.rate / b.rate for a, b in zip(ours, theirs, strict=True) if a and b and b.pages)
    if not found:
        return ""
    spread = f" ({found[0]:.2f} to {found[-1]:.2f})" if len(found) > 1 else ""
    return f"{statistics.median(found):.2f}×{spread}"


def rows(rounds: dict[str, list[Run | None]]) -> list[list[str]]:
    """The table, its head first."""
    heads = ["CPU ms/page", "cores busy", "memory MB", "then idle s", "Periplus is"]
    found = [["crawler", "pages", "pages/s", "midway", *heads]]
    for crawler, runs in rounds.items():
        run = middle(runs)
        if run is None:
            found.append([crawler, "did not run" if any(runs) else "not installed", *[""] * 7])
            continue
        busy = run.cpu_seconds / (run.seconds - run.idle_seconds)
        cpu = (f"{run.cpu_seconds / run.pages * 1000:.2f}", f"{busy:.2f}", f"{run.memory_mb:.0f}")
        idle = f"{run.idle_seconds:.0f}" if run.idle_seconds >= 1 else ""
        than = ratio(rounds.get("periplus", []), runs) if crawler in ("scrapy", "wget2") else ""
        found.append([run.name, f"{run.pages:,}", f"{run.rate:.0f}", f"{run.midway_rate:.0f}", *cpu, idle, than])
    return found


def main() -> None:
    """Compare the crawlers and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawlers", nargs="*", default=list(CRAWLERS), help=f"some of {', '.join(CRAWLERS)}; or all")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    pages = int(os.environ.get("BENCH_ENGINE_PAGES", "20000"))
    runs: dict[str, list[Run | None]] = {name: [] for name in options.crawlers}
    with tempfile.TemporaryDirectory(prefix="periplus-bench-") as name, served(Path(name), pages) as site:
        for _ in range(options.rounds):
            for crawler, done in runs.items():
                done.append(CRAWLERS[crawler](site, Path(name)))
    found = rows(runs)
    table = Table(*found[0], title_justify="left", box=None)
    for row in found[1:]:
        table.add_row(*row)
    Console(highlight=False, width=120).print(table)
    if options.write:
        in_turn = f", medians of {options.rounds} rounds in turn" if options.rounds > 1 else ""
        site_said = f"{pages:,} pages on {ADDRESSES} addresses, {os.cpu_count()} cores{in_turn}:"
        put_between(DOC, "bench_engine", f"{site_said}\n\n{markdown(found)}")


if __name__ == "__main__":
    main()
