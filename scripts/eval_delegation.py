"""Measure the methods of delegation on the round trips in the folder that PERIPLUS_DATA names (network/).

    PERIPLUS_DATA=/path/to/unpacked/data python scripts/eval_delegation.py [--json] [--check] [--draws N] [--first SEED]

12 crawlers drawn, 65 % of the sites to warm up, means over the draws (seeds 0, 1, … or from --first on): 123 servers
with coordinates, and PlanetLab (490 hosts, a quarter of the draws) without. `--check` leaves out the trade-off curve
and fails below the floors of the learning method, which are for the default seeds.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from periplus.network import Host, RoundTrips, read_round_trips, split
from periplus.network.commands import CURVE, METHODS, WARMUP_SHARE, Methods

CRAWLERS = 12
SHOWN = ("optimal_share", "near_optimal_share", "probes_per_site", "mean_excess_ms", "p95_excess_ms")
AT_LEAST = {
    "servers": {"optimal_share": 0.90, "near_optimal_share": 0.94},
    "planetlab": {"optimal_share": 0.78, "near_optimal_share": 0.89},
}
AT_MOST = {
    "servers": {"probes_per_site": 1.5, "mean_excess_ms": 3.0},
    "planetlab": {"probes_per_site": 4.1, "mean_excess_ms": 4.0},
}


def planetlab(path: Path) -> RoundTrips:
    """One slice of PlanetLab: a square of numbers, 0 where nothing was measured."""
    square = np.loadtxt(path)
    hosts = {str(i): Host(str(i)) for i in range(len(square))}
    measured = {(str(i), str(j)): float(square[i, j]) for i, j in np.argwhere(square > 0) if i != j}
    return RoundTrips(hosts, hosts, measured, 0)


def tables(folder: Path) -> Iterator[tuple[str, RoundTrips, int]]:
    """Name, table and the share of the draws (1/n) that it is measured with, being slower."""
    servers = folder / "round-trips" / "servers123.csv"
    if servers.is_file():
        yield "servers", read_round_trips(servers), 1
    slices = folder / "netlatency-planetlab-seattle" / "PlanetLab" / "PlanetLabData_1"
    if slices.is_file():
        yield "planetlab", planetlab(slices), 4


def mean_figures(trips: RoundTrips, name: str, confidence: float | None, seeds: range) -> dict[str, float]:
    """Means over the draws."""
    rows = []
    for seed in seeds:
        table = split(trips, CRAWLERS, seed)
        methods = Methods(table, int(WARMUP_SHARE * len(table.sites)), confidence=confidence, seed=seed)
        rows.append(methods.replayed(name))
    return {key: round(float(np.mean([row[key] for row in rows])), 3) for key in SHOWN}


def missed(results: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    """What the learning method misses."""
    wrong = []
    for table, found in results.items():
        learnt = found["learn"]
        wrong += [f"{table}: {k} {learnt[k]} < {v}" for k, v in AT_LEAST.get(table, {}).items() if learnt[k] < v]
        wrong += [f"{table}: {k} {learnt[k]} > {v}" for k, v in AT_MOST.get(table, {}).items() if learnt[k] > v]
    return wrong


def main() -> None:
    """Measure, print, and check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="no curve; fail below the floors")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    options = parser.parse_args()
    folder = Path(os.environ.get("PERIPLUS_DATA", ".")) / "network"
    results: dict[str, dict[str, dict[str, float]]] = {}
    for table, trips, slower in tables(folder):
        draws = max(1, options.draws // slower)
        seeds = range(options.first, options.first + draws)
        found = {name: mean_figures(trips, name, None, seeds) for name in METHODS}
        if not options.check:
            found |= {f"learn {c:.2f}": mean_figures(trips, "learn", c, seeds) for c in CURVE}
        results[table] = found
        if not options.json:
            print(f"{table}: {draws} draws")
            print(f"  {'method':12}" + "".join(f"{name:>20}" for name in SHOWN))
            for name, row in found.items():
                print(f"  {name:12}" + "".join(f"{row[key]:20.3f}" for key in SHOWN))
    if not results:
        print(f"NOT MEASURED: no round trips in {folder}")
        return
    if options.json:
        print(json.dumps(results))
    wrong = missed(results)
    for line in wrong:
        print(f"BELOW THE FLOOR: {line}", file=sys.stderr)
    sys.exit(1 if options.check and wrong else 0)


if __name__ == "__main__":
    main()
