"""How commands print where a reader may leave early: `periplus … | head`."""

import os
import sys
from typing import IO

from rich.console import Console as RichConsole

__all__ = ["Console", "nobody_reads", "say"]


class Console(RichConsole):
    """rich's console, for which a reader who has left is no error: the rest is printed nowhere, the command goes on."""

    def on_broken_pipe(self) -> None:
        """Go on quietly; rich would end the process with 1."""
        self.quiet = True
        nobody_reads(self.file)


def say(line: str) -> None:
    """Print a line, for commands whose exit code says more than whether somebody reads."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        nobody_reads(sys.stdout)


def nobody_reads(stream: IO[str]) -> None:
    """Have a stream lead nowhere, so that nothing that is printed or flushed later fails again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
