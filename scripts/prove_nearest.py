"""How long the same pages take with nodes near their sites, and with nodes that know nothing of the network.

    python scripts/prove_nearest.py [--hosts 100] [--pages 800] [--connections 4] [--json]

The miniature web is served on loopback, each of its hosts at an address of its own; hosts and twelve nodes stand in
cities all over the world, and every request of a node waits two round trips of the way between them
(`network.emulate`). The same crawl runs under `hash-host` (random assignment), `nearest` with the method that learns,
and `nearest` with the paper's. Printed: seconds of real time, pages, what a host's round trip was on average, and at
best. `tests/e2e/test_nearest.py` does the same in virtual time.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomli_w

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from emulated_network import EmulatedNetwork  # noqa: E402 - found by the line above

PERIPLUS = Path(sys.executable).parent / "periplus"
RUNS = {
    "hash-host": ("hash-host", "learn"),
    "nearest, learning": ("nearest", "learn"),
    "nearest, hierarchy": ("nearest", "hierarchy"),
}


def served(folder: Path, options: argparse.Namespace) -> tuple[subprocess.Popen[str], int, dict[str, Any]]:
    """The miniature web on a free port of all loopback addresses, and the job that it writes."""
    job = folder / "web.toml"
    process = subprocess.Popen(
        [
            PERIPLUS,
            "miniweb",
            "serve",
            *("--host", "0.0.0.0"),  # noqa: S104 - all of 127.0.0.0/8, for as long as this runs
            *("--port", "0"),
            *("--hosts", str(options.hosts)),
            *("--pages", str(options.pages)),
            *("--slow", "0"),
            "--job",
            job,
            "--truth",
            folder / "truth.jsonl",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout or ():
        if "Ctrl-C" in line:
            break
    data = tomllib.loads(job.read_text("utf-8"))
    port = int(next(iter(data["crawl"]["resolve"].values())).rpartition(":")[2])
    return process, port, data


def crawled(folder: Path, job: dict[str, Any], strategy: str, method: str) -> dict[str, Any]:
    """One crawl; its summary, and which node had which host."""
    folder.mkdir()
    job = job | {"crawl": job["crawl"] | {"strategy": strategy}, "network": job["network"] | {"method": method}}
    (folder / "job.toml").write_text(tomli_w.dumps(job), "utf-8")
    done = subprocess.run(
        [PERIPLUS, "crawl", folder / "job.toml", "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    summary: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return summary | {"asked": dict(_asked(folder / "crawl")), "probes": _probes(folder / "crawl")}


def _asked(folder: Path) -> list[tuple[str, str]]:
    found = []
    for path in folder.glob("nodes/*/node.db"):
        with sqlite3.connect(path) as db:
            found += [(urlsplit(url).netloc, path.parent.name) for (url,) in db.execute("SELECT url FROM page")]
        db.close()
    return found


def _probes(folder: Path) -> int:
    with sqlite3.connect(folder / "delegations.db") as db:
        count = int(db.execute("SELECT count(*) FROM measurement").fetchone()[0])
    db.close()
    return count


def main() -> None:
    """Serve, crawl three times, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--pages", type=int, default=800)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process, port, data = served(folder, options)
        try:
            truth = (folder / "truth.jsonl").read_text("utf-8").splitlines()
            hosts = sorted({urlsplit(json.loads(line)["url"]).netloc for line in truth})
            network = EmulatedNetwork(tuple(hosts))
            network.write(folder / "trips.csv")
            job = {
                "name": "nearest",
                "out": "crawl",
                "seeds": data["seeds"],
                "nodes": network.nodes(),
                "crawl": data["crawl"]
                | {"pages": 0, "connections": options.connections, "retry_seconds": 0.1, "workers": 2}
                | {"resolve": network.resolve(port)},
                "network": {"round_trips": str(folder / "trips.csv"), "emulate": True},
            }
            for title, (strategy, method) in RUNS.items():
                run = crawled(folder / title.replace(", ", "-"), job, strategy, method)
                asked: dict[str, str] = run["asked"]
                took = sum(network.ms(host, node) for host, node in asked.items()) / len(asked)
                results[title] = {
                    "seconds": round(run["seconds"], 1),
                    "pages": run["pages"],
                    "hosts": len(asked),
                    "round_trip_ms": round(took, 1),
                    "best_ms": round(network.best_ms(asked), 1),
                    "measured_round_trips": run["probes"],
                }
        finally:
            process.terminate()
            process.wait()
    slowest = results["hash-host"]["seconds"]
    for title, row in results.items():
        row["share_of_random"] = round(row["seconds"] / slowest, 3)
        if not options.json:
            print(f"{title:20}" + "  ".join(f"{key} {value:g}" for key, value in row.items()))
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
