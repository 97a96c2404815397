"""Write requirements.lock and fuzz.lock: exact versions with hashes, for every platform, naming no registry."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Exact versions with hashes. Written by `make lock` from pyproject.toml; do not edit.\n"
FUZZ_HEADER = "# What `make fuzz` needs beside requirements.lock. Written by `make lock`; do not edit.\n"
BUILDERS = ("cython>=3.1", "editables>=0.5", "hatchling>=1.27", "setuptools>=77", "")
EXTRAS = ("dev", "geo", "postgis", "cluster", "nats-server")
FUZZERS = ("atheris==3.0.0", "")  # the last one for Python 3.11


def resolved(*sources: str, given: tuple[str, ...]) -> str:
    """What pip needs, resolved with uv (a tool for this step only, so it is not a dependency)."""
    out = subprocess.run(
        [
            sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes",
            "--no-emit-index-url", "--no-header", "--no-annotate", "--python-version", "3.11", *sources, "-",
        ],
        cwd=ROOT, check=True, capture_output=True, text=True, input="\n".join(given),
    ).stdout  # fmt: skip
    if "://" in out:
        raise SystemExit("the lock would name an address")
    return out


def main() -> None:
    """Write both; with an argument only the one that is named."""
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv"], check=True)
    wanted = sys.argv[1:] or ["requirements.lock", "fuzz.lock"]
    if "requirements.lock" in wanted:
        extras = [part for extra in EXTRAS for part in ("--extra", extra)]
        (ROOT / "requirements.lock").write_text(HEADER + resolved(*extras, "pyproject.toml", given=BUILDERS))
    if "fuzz.lock" in wanted:
        (ROOT / "fuzz.lock").write_text(FUZZ_HEADER + resolved(given=FUZZERS))


if __name__ == "__main__":
    main()
