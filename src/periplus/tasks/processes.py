"""Crawls as processes: begun in a group of their own, known by pid and birth, ended by that id and no other way."""

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from periplus.store.database import storage_errors

__all__ = ["Child", "begin", "born"]

SECRETS = frozenset({"PERIPLUS_TOKEN"})
"""What the web page's process knows and a crawl need not."""

_PROGRAM = "from periplus.cli import main; main()"


@dataclass(slots=True)
class Child:
    """A running crawl; `process` is None if another service began it."""

    pid: int
    born: int
    process: subprocess.Popen[bytes] | None = None
    asked: bool = False  # to end: a second time would end it at once

    @property
    def running(self) -> bool:
        """Whether it is still the process it was. A child of ours that ended is buried."""
        if self.process is not None:
            return self.process.poll() is None
        return born(self.pid) == self.born

    @property
    def exit_code(self) -> int | None:
        """How it ended; None if it runs, or if another service's child cannot be asked."""
        return self.process.poll() if self.process is not None else None

    def ask_to_end(self) -> None:
        """Let the crawl finish what is under way and commit it."""
        if not self.asked:
            self.asked = True
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and its workers at once; nothing committed is lost."""
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)  # it leads its own group since it began

    def _signal(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)  # knows whether the number is still its child's
        elif self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def begin(arguments: list[str], out: Path) -> Child:
    """Begin `periplus ARGUMENTS` with its output in `out`."""
    with storage_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("wb") as file:
            process = subprocess.Popen(  # noqa: S603  # our own program; arguments are paths of the book
                [sys.executable, "-c", _PROGRAM, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if name not in SECRETS},
            )
    return Child(process.pid, born(process.pid) or 0, process)


def born(pid: int) -> int | None:
    """When a process began, in the kernel's ticks since the machine's start; None if there is none, or it is dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])
