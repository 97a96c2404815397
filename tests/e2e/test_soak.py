"""A short soak: four nodes, faults and kills; the long one is `make soak` (K9)."""

import json
import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).resolve().parents[2] / "scripts" / "soak.py"


def test_a_short_soak_loses_nothing_and_stays_flat() -> None:
    options = ["--minutes", "0.5", "--hosts", "100", "--kill-seconds", "7", "--delay", "0.3"]
    done = subprocess.run(
        [sys.executable, str(SOAK), *options], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout.strip(), done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["wrong"] == [], (figures, done.stderr[-2000:])
    assert figures["kills"] >= 1
    assert figures["faults"] >= 1
    assert figures["urls_finished"] >= 20, "it came forward"
