"""What the long runs have reached beside what was aimed at, from the tables that they have written.

    python scripts/scoreboard.py [--docs docs/operations.md] [--hostile]

Nothing is run but, with --hostile, the tests of tests/hostile; without it their row stays as it is.
"""

import argparse
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from doc_tables import between, markdown, put_between

ROOT = Path(__file__).resolve().parent.parent
HEAD = ("figure", "aim", "reached", "by")
HOSTILE = "hostile tests"
Row = tuple[str, str, str, str]


def pairs(page: Path, mark: str) -> dict[str, str]:
    """The rows of a table of two columns."""
    return dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", between(page, mark), re.MULTILINE))


def numbers(page: Path, mark: str, columns: str) -> list[tuple[int, int]]:
    """Two numbers of each row of a table: how much was tried, and how much was found wrong."""
    rows = re.findall(columns, between(page, mark), re.MULTILINE)
    return [(int(tried.replace(",", "")), int(wrong)) for tried, wrong in rows]


def kills(page: Path) -> Row:
    """Deaths that were looked at."""
    found = [pairs(page, mark) for mark in ("kill-all-60", "kill-all-500")]
    points = sum(int(one["changes of its files"]) for one in found)
    points += sum(int(re.findall(r"middle of (\d+)", one["deaths looked at"])[0]) for one in found)
    wrong = sum(int(one["found wrong"]) for one in found)
    return "deaths of a crawl (K1, K2, E2)", "0 wrong in 5,000", f"{wrong} wrong in {points:,}", "`make kill-all`"


def polite(page: Path) -> Row:
    """Requests that were judged."""
    soak = pairs(page, "soak")
    proved = re.findall(r"([\d,]+) requests to \d+ hosts.*?(\d+) too early", between(page, "proofs"))
    tried = int(soak["requests"]) + sum(int(count.replace(",", "")) for count, _ in proved)
    wrong = int(soak["politeness violations"]) + sum(int(early) for _, early in proved)
    return "requests that were too early", "0 in 1,000,000", f"{wrong} in {tried:,}", "`make soak`, `make prove`"


def strange(page: Path) -> Row:
    """Inputs that gave neither a result nor our error."""
    fuzzed = numbers(page, "fuzz", r"^\| [a-z]+ \| ([\d,]+) \| (\d+) \|$")
    tried = numbers(page, "properties", r"^\| \w+ \| \d+ \| ([\d,]+) \| (\d+) \|")
    inputs, wrong = (sum(column) for column in zip(*fuzzed, *tried, strict=True))
    return (
        "inputs with neither a result nor our error",
        "0 in 1,000,000",
        f"{wrong} in {inputs:,}",
        "`make fuzz`, `make properties`",
    )


def sizes(page: Path) -> list[Row]:
    """Memory and throughput, from the sizing table."""
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \| `", between(page, "sizing"), re.MULTILINE))
    name, crawl = next((name, value) for name, value in rows.items() if name.startswith("memory of the crawl itself"))
    known = int(re.findall(r"with (\d+)", name)[0])
    further = float(rows["memory of a further known URL"].split()[0])
    memory = float(crawl.split()[0]) + (1_000_000 - known) * further / 1e6
    rate = rows["pages a second on two cores"]
    return [
        ("memory of a crawl with a million known URLs", "1 GiB", f"{memory:.0f} MB", "`make soak`, `make sizing`"),
        ("pages of 49 KB a second, everything on", "300 on four cores", f"{rate} on two cores", "`make bench`"),
    ]


def outcomes(page: Path) -> Row:
    """Whether the soak's accounts add up."""
    soak = pairs(page, "soak")
    said = (
        f"{soak['urls finished']} of {soak['urls known']} URLs ended, {soak['links lost']} lost; wrong: {soak['wrong']}"
    )
    return "leases = sum of their outcomes", "exactly", said, "`make soak`"


def hostile() -> Row:
    """Run the hostile tests; how many there are, and how long they took."""
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "tests/hostile"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = re.sub(r" in [\d.]+s.*", "", done.stdout.strip().rpartition("\n")[2])
    minutes = (time.monotonic() - began) / 60
    when = f"{datetime.now(UTC):%Y-%m-%d}"
    return HOSTILE, "all pass, 5 minutes", f"{last}, {minutes:.1f} minutes ({when})", "`make scoreboard`"


def board(page: Path, *, run: bool) -> str:
    """The table."""
    kept = re.findall(
        rf"^\| ({HOSTILE}) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", between(page, "scoreboard"), re.MULTILINE
    )
    first = [hostile()] if run else kept
    rows = [*first, kills(page), polite(page), strange(page), outcomes(page), *sizes(page)]
    return markdown([HEAD, *rows])


def main() -> None:
    """Write it, or print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--docs", type=Path, help="page between whose marks the table is written")
    parser.add_argument("--hostile", action="store_true", help="run the hostile tests as well")
    given = parser.parse_args()
    page = given.docs or ROOT / "docs" / "operations.md"
    text = board(page, run=given.hostile)
    if given.docs:
        put_between(page, "scoreboard", text)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
