"""Tests of promises at their full size, which take too long for `make test`; what they show goes to docs/operations.md.

    python scripts/prove_promises.py [--docs FILE] [NAME...]

Each is a test of the suite that takes its size from the environment and prints what it has shown (`PROOF …`).
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doc_tables import between, markdown, put_between

ROOT = Path(__file__).resolve().parent.parent
PROOFS = {
    "P1, P2, P7": ("tests/e2e/test_politeness_proof.py", "also_after_kills", {"PERIPLUS_PROOF_URLS": "2600"}),
    "P3": ("tests/unit/frontier/test_frontier_schedule.py", "random_schedules", {"PERIPLUS_SCHEDULES": "100000"}),
    "P3, machines": ("tests/unit/cluster/test_cluster_races.py", "P3_", {"PERIPLUS_RACES": "5000"}),
    "H5": ("tests/hostile/test_hostile_http.py", "H5_", {"PERIPLUS_PAIRS": "10000"}),
    "E1": ("tests/unit/exchange/test_exchange_envelope.py", "repeated_and_overtaking", {"PERIPLUS_DELIVERIES": "250"}),
    "E7": ("tests/unit/strategies/test_strategies_assignment.py", "every_machine", {"PERIPLUS_ASSIGNED": "50000"}),
    "K12": ("tests/e2e/test_endings.py", "K12_", {"PERIPLUS_ENDINGS": "1000"}),
}


def proved(name: str) -> dict[str, Any]:
    """Run one; whether it passed, what it said, and the processor time that it took."""
    file, test, sizes = PROOFS[name]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pytest", "-q", "-s", file, "-k", test]
    memory = {"TMPDIR": "/dev/shm"} if Path("/dev/shm").is_dir() else {}  # noqa: S108 - pytest makes folders of its own
    environment = os.environ | memory | sizes
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = re.findall(r"PROOF (.*)", done.stdout)
    passed = done.returncode == 0 and bool(said)
    return {"case": name, "passed": passed, "said": said, "seconds": round(spent), "output": done.stdout[-3000:]}


def note(page: Path, one: dict[str, Any]) -> None:
    """Write what was shown into the docs; rows of other cases stay as they are."""
    rows = dict(re.findall(r"^\| ([A-Z][^|]*) \| (.*) \|$", between(page, "proofs"), re.MULTILINE))
    rows[one["case"]] = f"{'; '.join(one['said'])} | {datetime.now(UTC):%Y-%m-%d} | {one['seconds']}"
    head = ("case", "shown by `make prove`", "last run", "processor seconds")
    kept = [(case, *rows[case].split(" | ")) for case in PROOFS if case in rows]
    put_between(page, "proofs", markdown([head, *kept]))


def main() -> int:
    """Prove all; the exit code says whether each passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(PROOFS))
    parser.add_argument("--docs", type=Path, help="page between whose marks what was shown is written")
    given = parser.parse_args()
    told = []
    for name in given.names:
        told.append(proved(name))
        sys.stdout.write(json.dumps({key: value for key, value in told[-1].items() if key != "output"}) + "\n")
        sys.stdout.flush()
        if not told[-1]["passed"]:
            sys.stderr.write(told[-1]["output"])
        elif given.docs:
            note(given.docs, told[-1])
    return 0 if all(one["passed"] for one in told) else 1


if __name__ == "__main__":
    sys.exit(main())
