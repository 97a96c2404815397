"""Every property of the suite with many more examples than `make test` tries; figures go to docs/operations.md.

    python scripts/prove_properties.py [--docs FILE] [--minutes 25] [ROOM...]

Runs the tests that Hypothesis drives, room after room, with its profile "nightly": 20,000 examples each, or what the
test names (`effort.examples`). Begins no further room after so many minutes; rooms that were not run keep their row.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doc_tables import between, markdown, put_between

ROOT = Path(__file__).resolve().parent.parent
HEAD = ("room", "properties", "examples", "found wrong", "last run of `make properties`", "processor seconds")
GENERATED = re.compile(r"generate phase.*?([\d,]+) passing, ([\d,]+) failing", re.DOTALL)
COUNTED = re.compile(r"(\d+) (passed|failed|error)")


def rooms() -> dict[str, list[str]]:
    """The files with properties, by their room: the folder that they lie in, or their own name."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if re.search(r"^@given\(", path.read_text("utf-8"), re.MULTILINE):
            room = path.parent.name if path.parent.name != "unit" else path.stem.removeprefix("test_")
            found[room].append(str(path.relative_to(ROOT)))
    return dict(found)


def proved(room: str, files: list[str]) -> dict[str, Any]:
    """Run the properties of a room; how many there are, how many examples were tried, and what was found wrong."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "--hypothesis-show-statistics", *files]
    environment = os.environ | {"HYPOTHESIS_PROFILE": "nightly"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    last = done.stdout.strip().rpartition("\n")[2]
    outcomes = {word: int(number) for number, word in COUNTED.findall(last)}
    examples = sum(int(passing.replace(",", "")) for passing, _ in GENERATED.findall(done.stdout))
    return {
        "room": room,
        "properties": sum(outcomes.values()),
        "examples": examples,
        "wrong": sum(outcomes.values()) - outcomes.get("passed", 0),
        "code": done.returncode,
        "seconds": round(spent),
        "output": done.stdout[-6000:] + done.stderr[-2000:],
    }


def note(page: Path, one: dict[str, Any]) -> None:
    """Write what was tried into the docs; rows of other rooms stay as they are."""
    rows = dict(re.findall(r"^\| ([a-z][^|]*) \| (\d.*) \|$", between(page, "properties"), re.MULTILINE))
    when = f"{datetime.now(UTC):%Y-%m-%d}"
    rows[one["room"]] = f"{one['properties']} | {one['examples']:,} | {one['wrong']} | {when} | {one['seconds']}"
    put_between(page, "properties", markdown([HEAD, *((room, *rows[room].split(" | ")) for room in sorted(rows))]))


def main() -> int:
    """Try all; the exit code says whether each held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = rooms()
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(known)}")
    parser.add_argument("--docs", type=Path, help="page between whose marks the figures are written")
    parser.add_argument("--minutes", type=float, default=25.0, help="after so many no further room is begun")
    given = parser.parse_args()
    if unknown := set(given.rooms) - set(known):
        parser.error(f"no properties in {', '.join(sorted(unknown))}")
    began, held = time.monotonic(), True
    for room in given.rooms or known:
        if time.monotonic() - began > 60 * given.minutes:
            sys.stdout.write(f"not begun: {room}\n")
            continue
        one = proved(room, known[room])
        output = one.pop("output")
        sys.stdout.write(json.dumps(one) + "\n")
        sys.stdout.flush()
        if one["code"]:
            held = False
            sys.stderr.write(output)
        if given.docs:
            note(given.docs, one)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
