"""Real crawls by 1, 2 and 4 nodes beside what `periplus simulate` says of them (`make prove-simulation`).

    python scripts/prove_simulation.py [--hosts 60] [--pages 300] [--delay 8] [--latency 0.2] [--write]

A miniature web is recorded and crawled without a network (`crawl.replay`), each answer taking its time and each host
resting between requests, so that politeness is the bound as on the web. Once all of it is crawled by one node, which
gives the simulation its web; once a single page, which says how long starting and ending take; then with a page limit
by 1, 2 and 4 nodes. `--write` puts the table into
docs/simulation.md; it fails where an error is larger than 20 %.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from doc_tables import put_between

from periplus.evaluate.measures import gini
from periplus.evaluate.simulation import Machine, simulate
from periplus.evaluate.webgraph import of_crawl, owners_by
from periplus.miniweb.web import generate
from periplus.store.wacz import write_wacz

PERIPLUS = Path(sys.executable).parent / "periplus"
PAGE = Path(__file__).parents[1] / "docs/simulation.md"
MOST_ERROR = 0.20


def crawl(folder: Path, name: str, nodes: int, **crawl: float) -> dict[str, Any]:
    """One real crawl by so many nodes; its summary."""
    seeds = [f"http://{host}/" for host in json.loads((folder / "seeds.json").read_text("utf-8"))]
    settings = {"strategy": "hash", "keep": "all", "sitemaps": "off", "replay": "web.wacz"} | crawl
    lines = [
        f"seeds = {json.dumps(seeds)}",
        "[crawl]",
        *(f"{key} = {json.dumps(value)}" for key, value in settings.items()),
    ]
    lines += [f"[nodes.n{number}]" for number in range(nodes)]
    job = folder / f"{name}.toml"
    job.write_text("\n".join(lines) + "\n", "utf-8")
    done = subprocess.run(
        [PERIPLUS, "crawl", job, "--out", folder / name, "--json"], check=False, capture_output=True, text=True
    )
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def beside(real: dict[str, Any], said: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Measured and predicted, by what was predicted."""
    rows = real["nodes"].values()
    return {
        "pages a second": (real["pages"] / real["seconds"], said["pages_per_second"]),
        "URLs sent a page": (sum(row["sent"] for row in rows) / real["pages"], said["communication_overhead"]),
        "URLs waiting at the end": (real["queued"], said["queued"]),
        "largest node's share": (
            max(row["pages"] for row in rows) / real["pages"],
            max(row["pages"] for row in said["nodes"]) / said["pages"],
        ),
        "imbalance (Gini)": (gini([row["pages"] for row in rows]) or 0.0, said["balance_gini"] or 0.0),
    }


def main() -> None:
    """Crawl, simulate, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=60)
    parser.add_argument("--web-pages", type=int, default=900)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--delay", type=float, default=8.0)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines, worst = ["| nodes | | measured | predicted | error |", "|---|---|---|---|---|"], 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        web = generate(3, hosts=options.hosts, pages=options.web_pages)
        write_wacz(web.responses(), folder / "web.wacz")
        (folder / "seeds.json").write_text(json.dumps([host.name for host in web.blueprint.hosts[:5]]), "utf-8")
        crawl(folder, "whole", 1, delay_seconds=0.0)
        graph = of_crawl(folder / "whole")
        settings = {"delay_seconds": options.delay, "replay_latency": options.latency}
        single = crawl(folder, "single", 1, pages=1, **settings)
        # robots.txt, its rest, and the page are what the simulation has of this
        start = max(0.0, single["seconds"] - options.delay - 2 * options.latency)
        machine = Machine(delay=options.delay, start_seconds=start)
        lines.append(f"| 1 | seconds to start and end, from a crawl of one page | {start:.3f} | | |")
        print(lines[-1], flush=True)
        graph.latency[:] = options.latency
        for nodes in (1, 2, 4):
            real = crawl(folder, f"by{nodes}", nodes, pages=options.pages, **settings)
            said = simulate(graph, owners_by(graph, "hash", nodes), machine, nodes=nodes, pages=options.pages)
            for what, (measured, predicted) in beside(real, said).items():
                error = abs(predicted - measured) / measured if measured else abs(predicted)
                if what != "imbalance (Gini)":  # near 0 here, where a share of it says nothing
                    worst = max(worst, error)
                lines.append(f"| {nodes} | {what} | {measured:.3f} | {predicted:.3f} | {error:.1%} |")
                print(lines[-1], flush=True)
    print(f"largest error {worst:.1%}")
    if options.write:
        put_between(PAGE, "prove_simulation", "\n".join(lines))
    if worst > MOST_ERROR:
        sys.exit(f"an error is larger than {MOST_ERROR:.0%}")


if __name__ == "__main__":
    main()
