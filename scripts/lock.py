"""Write requirements.lock: exact versions with hashes, for every platform, naming no registry."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Exact versions with hashes. Written by `make lock` from pyproject.toml; do not edit.\n"
BUILDERS = ("cython>=3.1", "editables>=0.5", "hatchling>=1.27", "setuptools>=77", "")


def main() -> None:
    """Resolve with uv (a tool for this step only, so it is not a dependency) and keep what pip needs."""
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv"], check=True)
    out = subprocess.run(
        [
            sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes",
            "--no-emit-index-url", "--no-header", "--no-annotate", "--python-version", "3.11", "--extra", "dev",
            "--extra", "geo", "--extra", "postgis", "--extra", "cluster",
            "--extra", "nats-server", "pyproject.toml", "-",
        ],
        cwd=ROOT, check=True, capture_output=True, text=True, input="\n".join(BUILDERS),
    ).stdout  # fmt: skip
    if "://" in out:
        raise SystemExit("the lock would name an address")
    (ROOT / "requirements.lock").write_text(HEADER + out)


if __name__ == "__main__":
    main()
