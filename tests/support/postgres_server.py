"""A PostgreSQL server of its own for tests: Debian's programs, a folder that is thrown away, a Unix socket."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["postgres"]


@contextmanager
def postgres() -> Iterator[str]:
    """Run a server for the block; gives the folder of its socket, where user `postgres` may do everything."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
    if user:
        owner = pwd.getpwnam(user)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    data = folder / "data"
    groups: list[str] | None = [] if user else None
    try:
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            user=user,
            group=user,
            extra_groups=groups,
        )
        settings = ("listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=10")
        arguments = [word for setting in settings for word in ("-c", setting)]
        log = (folder / "log").open("wb")
        with log:
            server = subprocess.Popen(
                [programs / "postgres", "-D", data, *arguments],
                cwd=folder,
                stdout=log,
                stderr=log,
                user=user,
                group=user,
                extra_groups=groups,
            )
            try:
                _wait(programs / "pg_isready", folder, server)
                yield str(folder)
            finally:
                server.terminate()
                server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(is_ready: Path, folder: Path, server: "subprocess.Popen[bytes]") -> None:
    """Until the server answers; pg_isready itself waits up to a second each time."""
    for _ in range(600):
        if server.poll() is not None:
            raise AssertionError((folder / "log").read_text("utf-8", "replace"))
        done = subprocess.run([is_ready, "-q", "-h", folder, "-t", "1"], check=False)
        if done.returncode == 0:
            return
        try:
            server.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("PostgreSQL does not answer")
