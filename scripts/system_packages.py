"""Install the programs that integration tests talk to, where that is ours to do: as root on Debian.

    python scripts/system_packages.py [NAME...]

Elsewhere it says which ones are missing; the tests that need them are then skipped, and counted in the last lines.
`make setup` names those that compile the geoparser's inner loops, which then run some forty times as fast.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = {
    "gcc": ("gcc", ["gcc", "libc6-dev"]),
    "python headers": (f"{sysconfig.get_paths()['include']}/Python.h", ["python3-dev"]),
    "nginx": ("nginx", ["nginx-light"]),
    "nats-server": ("nats-server", ["nats-server"]),
    "postgresql": ("/usr/lib/postgresql/*/bin/postgres", ["postgresql"]),
    "postgis": ("/usr/share/postgresql/*/extension/postgis.control", ["postgresql-postgis"]),
    "chromium": ("chromium", ["chromium", "fonts-dejavu-core"]),
}
"""Program: the command or file that shows it is there, and Debian's packages for it."""

POLICY = Path("/usr/sbin/policy-rc.d")


def is_present(sign: str) -> bool:
    """Whether a program is installed: a command on the path, or a file by pattern."""
    if sign.startswith("/"):
        return any(Path("/").glob(sign.lstrip("/")))
    beside = Path(sys.executable).parent / sign  # brought by pip
    return beside.exists() or shutil.which(sign) is not None or Path("/usr/sbin", sign).exists()


@contextlib.contextmanager
def no_services() -> Iterator[None]:
    """Keep Debian from starting the servers it installs: tests start their own, on free ports."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def install(packages: list[str]) -> bool:
    """Install Debian packages; False if that did not work."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    quiet = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"]
    with no_services():
        subprocess.run([*quiet, "update"], env=environment, check=False, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            [*quiet, "install", "-y", "--no-install-recommends", *packages],
            env=environment,
            check=False,
            stdout=subprocess.DEVNULL,
        )
    return done.returncode == 0


def main() -> None:
    """Install what is missing, or name it."""
    wanted = sys.argv[1:] or list(PROGRAMS)
    missing = {name: PROGRAMS[name][1] for name in wanted if not is_present(PROGRAMS[name][0])}
    if not missing:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Installing {', '.join(missing)} …", flush=True)
        for packages in missing.values():
            install(packages)
        missing = {name: packages for name, packages in missing.items() if not is_present(PROGRAMS[name][0])}
    if missing:
        lacking = " ".join(package for packages in missing.values() for package in packages)
        print(f"Missing: {', '.join(missing)}. Tests that need them are skipped. On Debian: apt-get install {lacking}")


if __name__ == "__main__":
    main()
