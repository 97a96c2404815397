"""How long the hierarchy of addresses takes to build, how large it is, and how long a look-up takes.

    [PERIPLUS_DATA=/path/to/unpacked/data] python scripts/bench_network.py [--ranges 400000] [--json]

First a RIPE-style dump of so many ranges that is made up here (IPv4 and IPv6, nested, with organisations); then, where
PERIPLUS_DATA has them, the registries' statistics and the IP-to-AS tables in network/. Times are processor time.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from periplus.network.build import build_hierarchy
from periplus.network.ranges import IpHierarchy, address_text

LOOK_UPS = 5_000


def made_up(ranges: int) -> Iterator[str]:
    """Objects of a dump: allocations of a /16 or /32, in each of them subnets of organisations."""
    numbers = random.Random(1)
    organisations = max(1, ranges // 8)
    for number in range(organisations):
        yield f"organisation:   ORG-N{number}-RIPE\norg-name:       Network {number} Ltd\nsource:         RIPE\n\n"
    for number in range(ranges):
        owner = f"org:            ORG-N{numbers.randrange(organisations)}-RIPE\nsource:         RIPE\n\n"
        if number % 5 == 4:
            yield f"inet6num:       2a0{number % 10:x}:{number >> 16:x}:{number & 0xFFFF:x}::/48\ncountry: NL\n{owner}"
        else:
            first = (20 << 24) + (number << 8)
            last = first + (65_535 if number % 256 == 0 else 255)
            net = f"{address_text(0xFFFF << 32 | first)} - {address_text(0xFFFF << 32 | last)}"
            yield f"inetnum:        {net}\nnetname:        NET-{number}\ncountry:        DE\n{owner}"


def measured(files: list[Path], folder: Path) -> dict[str, float]:
    """Figures of one hierarchy."""
    started = time.process_time()
    built = build_hierarchy(files).hierarchy
    seconds = time.process_time() - started
    built.save(folder / "addresses.bin")
    opened = IpHierarchy.open(folder / "addresses.bin")
    numbers = random.Random(2)
    addresses = [address_text(0xFFFF << 32 | numbers.randrange(1 << 24, 223 << 24)) for _ in range(LOOK_UPS)]
    started = time.process_time()
    for address in addresses:
        opened.subnet(address)
    look_up = (time.process_time() - started) / LOOK_UPS
    return {
        "ranges": len(built),
        "organisations": built.organisations,
        "build_seconds": round(seconds, 2),
        "megabytes": round(built.nbytes / 1e6, 1),
        "lookup_microseconds": round(1e6 * look_up, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranges", type=int, default=400_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dump").write_text("".join(made_up(options.ranges)), "utf-8")
        results["RIPE-style dump"] = measured([folder / "dump"], folder)
        data = Path(os.environ.get("PERIPLUS_DATA", ".")) / "network"
        tables = sorted(data.glob("ip-location-db/asn*.csv.gz"))
        if tables:
            results["AS table"] = measured(tables, folder)
        files = [
            *data.glob("rir-*/delegated-*"),
            *data.glob("rir-*/data/delegated-*"),
            *data.glob("ip-location-db/*.gz"),
        ]
        if files:
            results["all files"] = measured(sorted(files), folder)
    if options.json:
        print(json.dumps(results))
        return
    for title, row in results.items():
        print(f"{title:16}" + "  ".join(f"{key} {value:,}" for key, value in row.items()))


if __name__ == "__main__":
    main()
