"""Known vulnerabilities of the locked versions, by pip-audit.

Installs pip-audit beside the environment if it is not there. Where the index or the service of vulnerabilities cannot
be reached, or knows none of our packages, it says NOT RUN and ends with 0: it is no test of the network. A
vulnerability ends it with 1.
"""

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNREACHABLE = (
    "ConnectionError",
    "Connection refused",
    "Failed to establish",
    "Name or service",
    "No matching",
    "Max retries",
)


def command(folder: Path) -> list[str] | None:
    """pip-audit, installed or to be had; None if it is not to be had."""
    found = shutil.which("pip-audit", path=str(Path(sys.executable).parent))
    if found:
        return [found]
    venv.create(folder / "tools", with_pip=True)
    python = folder / "tools" / "bin" / "python"
    got = subprocess.run([python, "-m", "pip", "install", "--quiet", "pip-audit"], capture_output=True, check=False)
    return [str(python), "-m", "pip_audit"] if got.returncode == 0 else None


def main() -> int:
    """Audit the lock."""
    with tempfile.TemporaryDirectory() as name:
        audit = command(Path(name))
        if audit is None:
            sys.stdout.write("NOT RUN: pip-audit is not installed and cannot be had here.\n")
            return 0
        options = [
            "--requirement",
            str(ROOT / "requirements.lock"),
            "--no-deps",
            "--disable-pip",
            "--progress-spinner=off",
        ]
        done = subprocess.run([*audit, *options], capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    if done.returncode and any(word in told for word in UNREACHABLE):
        sys.stdout.write("NOT RUN: the service of known vulnerabilities cannot be reached from here.\n")
        return 0
    skipped = told.count("could not be audited")
    locked = sum("==" in line for line in (ROOT / "requirements.lock").read_text("utf-8").splitlines())
    if skipped > 0.9 * locked:
        sys.stdout.write(
            f"NOT RUN: the service that answers here knows hardly any of the {locked} packages ({skipped} unknown).\n"
        )
        return 0
    sys.stdout.write(told)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
