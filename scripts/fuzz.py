"""Feed every parser of outside bytes with what breaks parsers, for as long as you like.

    python scripts/fuzz.py [--seconds 60] [--docs FILE] [TARGET...]

With atheris (`make fuzz` installs it) inputs are guided by what they reach, each target in a process of its own;
without it they are mutated blindly, under a bound of memory. An input that gives neither a result nor a PeriplusError
ends the run of its target and is written to fuzz-TARGET.
"""

import argparse
import contextlib
import importlib
import importlib.util
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doc_tables import markdown, put_between

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

# Only our own modules are watched: all of those that they import would take minutes to prepare.
with (
    importlib.import_module("atheris").instrument_imports(include=["periplus"])
    if sys.argv[1:2] == ["--atheris"]
    else contextlib.nullcontext()
):
    from fuzz_targets import SEEDS, TARGETS

    from periplus.errors import PeriplusError

MEMORY = 3 * 2**30
SLOW_SECONDS = 2.0
"""Processor time of one input, above which it is a finding."""

PIECES = [b"\0", b"\xff", b"<", b">", b"&#0;", b"\r\n", b"*", b"%", b"\xed\xa0\x80", b"[", b"{", b"9" * 50, b"A" * 300]


class Finding(Exception):
    """An input that gave neither a result nor our error, or took too long."""


def attempt(target: str, data: bytes) -> None:
    """One input."""
    began = time.process_time()
    with contextlib.suppress(PeriplusError):
        TARGETS[target](data)
    if time.process_time() - began > SLOW_SECONDS:
        raise Finding(f"took {time.process_time() - began:.1f} s of processor time")


def mutation(dice: random.Random, seeds: list[bytes]) -> bytes:
    """A good input, made worse."""
    data = bytearray(dice.choice(seeds))
    for _ in range(dice.randint(1, 8)):
        at = dice.randrange(len(data) + 1)
        end = min(len(data), at + dice.choice((0, 1, 4, 40)))
        other = dice.choice(seeds)
        cut = dice.randrange(len(other))
        data[at:end] = dice.choice(
            (dice.choice(PIECES), dice.randbytes(4), other[cut : cut + 30], bytes(data[at:end]) * 9)
        )
    return bytes(data[:100_000])


def blind(target: str, seconds: float, seed: int) -> dict[str, Any]:
    """Mutate for so long."""
    dice, count, end = random.Random(seed), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutation(dice, SEEDS[target])
        count += 1
        try:
            attempt(target, data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            Path(f"fuzz-{target}.bin").write_bytes(data)
            return {"target": target, "inputs": count, "finding": f"{type(error).__name__}: {error}"[:300]}
    return {"target": target, "inputs": count, "finding": ""}


def guided(target: str, seconds: float) -> dict[str, Any]:
    """Let atheris choose inputs by what they reach."""
    with tempfile.TemporaryDirectory() as name:
        corpus = Path(name) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(SEEDS[target]):
            (corpus / str(number)).write_bytes(seed)
        command = [sys.executable, __file__, "--atheris", target, str(corpus), f"-max_total_time={int(seconds)}"]
        command += [f"-artifact_prefix={Path.cwd()}/fuzz-{target}-", "-max_len=20000", "-print_final_stats=1"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+)", done.stderr)
    finding = "" if done.returncode == 0 else done.stderr[-600:]
    figures = {"target": target, "inputs": int(runs[1]) if runs else 0, "finding": finding}
    return figures | {"covered": int(covered[-1]) if covered else 0}


def run_atheris(target: str, arguments: list[str]) -> None:
    """Inside the process that atheris takes over."""
    atheris = importlib.import_module("atheris")

    atheris.Setup([sys.argv[0], *arguments], lambda data: attempt(target, data))
    atheris.Fuzz()


def main() -> int:
    """Fuzz all targets; the exit code says whether there was a finding."""
    if sys.argv[1:2] == ["--atheris"]:
        run_atheris(sys.argv[2], sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blind", action="store_true", help="do not use atheris")
    parser.add_argument("--docs", type=Path, help="page between whose fuzz marks the figures are written")
    given = parser.parse_args()
    if unknown := [target for target in given.targets if target not in TARGETS]:
        parser.error(f"no target {unknown[0]!r}; choose from {', '.join(TARGETS)}")
    by_atheris = not given.blind and importlib.util.find_spec("atheris") is not None
    resource.setrlimit(
        resource.RLIMIT_AS, (MEMORY, MEMORY) if not by_atheris else resource.getrlimit(resource.RLIMIT_AS)
    )
    told = []
    for target in given.targets:
        told.append(guided(target, given.seconds) if by_atheris else blind(target, given.seconds, given.seed))
        sys.stdout.write(json.dumps(told[-1]) + "\n")
        sys.stdout.flush()
    if given.docs:
        put_between(given.docs, "fuzz", table(told, by_atheris))
    return 1 if any(one["finding"] for one in told) else 0


def table(told: list[dict[str, Any]], by_atheris: bool) -> str:
    """The figures for the docs."""
    how = "guided by atheris" if by_atheris else "mutated blindly"
    when = f"{datetime.now(UTC):%Y-%m-%d}, {how}, load {os.getloadavg()[0]:.0f}"
    head = (f"last run of `make fuzz`, {when}", "inputs", "findings")
    return markdown([head, *((one["target"], f"{one['inputs']:,}", 1 if one["finding"] else 0) for one in told)])


if __name__ == "__main__":
    sys.exit(main())
