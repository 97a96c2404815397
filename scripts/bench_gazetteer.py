"""How long the gazetteer takes to compile, to open and to build from dumps, and how much memory each needs.

    python scripts/bench_gazetteer.py [--json] [--dump-rows 5000000] [--features]

Each step runs in a process of its own with a cache of its own; memory is the peak of that process. `--dump-rows` writes
a made-up allCountries of that many rows (in the real layout, with the real mix of feature classes and one bad row in
ten thousand), alternateNamesV2 and hierarchy beside it, and builds from them.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from periplus.places import Gazetteer, open_gazetteer

CLASSES = (("S", "HTL", 0.30), ("P", "PPL", 0.40), ("H", "STM", 0.15), ("T", "MT", 0.10), ("L", "PRK", 0.05))
"""Feature class, a code of it, its share of allCountries."""

STEPS = {
    "compile": "from periplus.places import open_gazetteer as o; o()",
    "open": "from periplus.places import open_gazetteer as o; o()",
    "locate": "from periplus.places import open_gazetteer as o, locate as l; l('Floods hit Sylhet, Bangladesh.', o())",
}


def measured(code: list[str], cache: Path) -> tuple[float, float, float]:
    """Wall and processor seconds and peak MB of a process."""
    program = (
        "import resource, runpy, sys, time; w, c = time.perf_counter(), time.process_time()\n"
        "exec(sys.argv[1])\n"
        "print(time.perf_counter() - w, time.process_time() - c,"
        " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *code], check=True, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PERIPLUS_CACHE": str(cache)},
    )  # fmt: skip
    wall, cpu, peak = (float(part) for part in done.stdout.split("\n")[-2].split())
    return wall, cpu, peak


def write_dumps(folder: Path, rows: int, gazetteer: Gazetteer) -> None:
    """Dumps of realistic shape: names and countries of real towns, most rows small, some with alternate names."""
    chance = random.Random(7)
    towns = [(p.name, p.country, p.admin1, p.point) for p in gazetteer.cities_of("US")[:5000]]
    towns += [
        (p.name, p.country, p.admin1, p.point) for c in ("FR", "DE", "IN", "CN") for p in gazetteer.cities_of(c)[:5000]
    ]
    shares = [share for _, _, share in CLASSES]
    kinds = chance.choices(CLASSES, shares, k=1 << 16)
    with (folder / "allCountries.txt").open("w", encoding="utf-8", newline="\n") as out:
        for n in range(rows):
            name, country, admin1, point = towns[n * 7919 % len(towns)]
            group, code, _ = kinds[n & 0xFFFF]
            people = int(chance.paretovariate(0.9) * 20) if group == "P" and n % 4 == 0 else 0
            others = f"{name} {n % 97},Alt{n}a,Alt{n}b" if n % 5 == 0 else ""
            lat, lon = point.lat + chance.uniform(-0.5, 0.5), point.lon + chance.uniform(-0.5, 0.5)
            if n % 10_000 == 9_999:
                out.write(f"{n}\tbroken row\n")
                continue
            fields = (
                20_000_000 + n, f"{name} {n % 9973}", name, others, f"{lat:.5f}", f"{lon:.5f}", group, code, country,
                "", admin1, "", "", "", people, "", 120, "Europe/Paris", "2024-01-01",
            )  # fmt: skip
            out.write("\t".join(map(str, fields)) + "\n")
    with (folder / "alternateNamesV2.txt").open("w", encoding="utf-8", newline="\n") as out:
        for n in range(rows):
            language = ("en", "de", "link", "ru", "", "post")[n % 6]
            out.write(f"{n}\t{20_000_000 + n * 3}\t{language}\tName{n} Of\t\t\t\t\t\t\n")
    with (folder / "hierarchy.txt").open("w", encoding="utf-8", newline="\n") as out:
        for n in range(rows // 20):
            out.write(f"6252001\t{20_000_000 + n * 11}\tADM\n")


def bench_dumps(rows: int, report: dict[str, float], *, features: bool) -> None:
    """Build from made-up dumps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_dumps(folder, rows, open_gazetteer())
        files = [folder / f"{f}.txt" for f in ("allCountries", "alternateNamesV2", "hierarchy")]
        report["dumps: rows"] = rows
        report["dumps: MB"] = round(sum(f.stat().st_size for f in files) / 1e6)
        code = (
            "from pathlib import Path; from periplus.places.cache import build_from\n"
            f"g = build_from([Path(p) for p in sys.argv[2:]], Path({str(folder / 'out.bin')!r}), features={features})\n"
            "print(dict(g.skipped))"
        )
        wall, cpu, peak = measured([code, *map(str, files)], folder / "cache")
        report |= {
            "dumps: wall seconds": round(wall, 1), "dumps: processor seconds": round(cpu, 1),
            "dumps: peak MB": round(peak), "dumps: file MB": round((folder / "out.bin").stat().st_size / 1e6),
        }  # fmt: skip
        started = time.perf_counter()
        report["dumps: places"] = len(open_gazetteer(folder / "out.bin"))
        report["dumps: open seconds"] = round(time.perf_counter() - started, 3)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--dump-rows", type=int, default=0, help="also build from a made-up allCountries of that size")
    parser.add_argument("--features", action="store_true", help="with the dumps' rivers, mountains and the like")
    options = parser.parse_args()
    report: dict[str, float] = {"load": round(os.getloadavg()[0], 1)}
    with tempfile.TemporaryDirectory() as cache:
        for step, code in STEPS.items():
            wall, cpu, peak = measured([code], Path(cache))
            report |= {
                f"{step}: wall seconds": round(wall, 2), f"{step}: processor seconds": round(cpu, 2),
                f"{step}: peak MB": round(peak),
            }  # fmt: skip
        report["file MB"] = round(sum(f.stat().st_size for f in Path(cache).glob("*.bin")) / 1e6)
    if options.dump_rows:
        bench_dumps(options.dump_rows, report, features=options.features)
    report["peak MB of this process"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    if options.json:
        print(json.dumps(report))
        return
    for name, value in report.items():
        print(f"{name:32} {value:,}")


if __name__ == "__main__":
    main()
