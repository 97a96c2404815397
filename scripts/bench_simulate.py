"""How long `periplus simulate` takes for a web of 10⁸ links, and how much memory (`make bench`).

    python scripts/bench_simulate.py [--pages 1000000] [--links 100] [--write]

`--write` puts the figures of this run into docs/simulation.md.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from doc_tables import put_between

PERIPLUS = Path(sys.executable).parent / "periplus"
PAGE = Path(__file__).parents[1] / "docs/simulation.md"


def main() -> None:
    """Run the command and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=100)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    shape = ["--web-pages", options.pages, "--web-links", options.links, "--web-hosts", options.pages // 50]
    command = ["simulate", *map(str, shape), "--nodes", "4", "--machines", "0"]
    started = time.monotonic()
    done = subprocess.run([PERIPLUS, *command, "--json"], check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    used, found = resource.getrusage(resource.RUSAGE_CHILDREN), json.loads(done.stdout)
    said = found["nodes"]["4"]
    text = (
        f"`periplus {' '.join(command)}`: {found['web']['links']:,} links, {said['pages']:,} pages crawled in "
        f"{said['seconds'] / 3600:,.1f} hours of the crawl's own time, {said['pages_per_second']:,.1f} pages a second, "
        f"{said['communication_overhead']:.3f} URLs sent a page. The simulation took "
        f"{used.ru_utime + used.ru_stime:,.0f} s of processor ({time.monotonic() - started:,.0f} s at a load of "
        f"{os.getloadavg()[0]:.0f} on {os.cpu_count()} cores) and {used.ru_maxrss / 2**20:.2f} GB."
    )
    print(text)
    if options.write:
        put_between(PAGE, "bench_simulate", text)


if __name__ == "__main__":
    main()
