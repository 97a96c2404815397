"""The hostile server for tests: started, asked through the product in a process of its own, and its log read."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["HostileSite", "hostile_site"]

HERE = Path(__file__).resolve().parent
SECONDS = 240


@dataclass(frozen=True)
class HostileSite:
    """A hostile server that runs."""

    port: int
    path: Path

    def log(self) -> list[dict[str, Any]]:
        """Everything that it saw, in order."""
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]

    def requests(self, host: str = "") -> list[dict[str, Any]]:
        """The requests that came, or those for a host."""
        return [row for row in self.log() if row["event"] == "request" and host in ("", row["host"])]

    def paths(self, host: str) -> list[str]:
        """What a host was asked for, in order."""
        return [row["path"] for row in self.requests(host)]

    def visit(self, *urls: str, how: str = "apart", **settings: Any) -> list[dict[str, Any]]:
        """Ask for URLs, each in a process of its own or all `together`; what each came to and cost."""
        command = [sys.executable, str(HERE / "visitor.py"), str(self.port), json.dumps(settings), how, *urls]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
        return [json.loads(line) for line in done.stdout.splitlines()]


@contextlib.contextmanager
def hostile_site(folder: Path) -> Iterator[HostileSite]:
    """Run it on a free port."""
    log = folder / "hostile.jsonl"
    log.touch()
    process = subprocess.Popen([sys.executable, str(HERE / "hostile.py"), str(log)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield HostileSite(int(process.stdout.readline()), log)
    finally:
        process.kill()
        process.communicate()
