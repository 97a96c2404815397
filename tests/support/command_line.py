"""Running `periplus` as a person does, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Finished", "MiniwebProcess", "miniweb", "periplus", "start"]

PERIPLUS = Path(sys.executable).parent / "periplus"
SECONDS = 120


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The last line of its output, which is JSON with --json."""
        value: dict[str, Any] = json.loads(self.out.strip().splitlines()[-1])
        return value

    def assert_one_line_error(self, code: int, *words: str) -> None:
        """It failed with one clear line that has the words in it, and no traceback."""
        assert self.code == code, (self.code, self.out, self.err)
        assert "Traceback" not in self.err + self.out
        assert len(self.err.strip().splitlines()) == 1, self.err
        for word in words:
            assert word in self.err, self.err


def start(
    *arguments: object, cwd: Path | None = None, program: Sequence[object] = (PERIPLUS,)
) -> subprocess.Popen[str]:
    """Start a command and do not wait for it."""
    return subprocess.Popen(
        [*map(str, program), *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )


def periplus(*arguments: object, cwd: Path | None = None) -> Finished:
    """Run a command to its end."""
    process = start(*arguments, cwd=cwd)
    try:
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    return Finished(process.returncode, out, err)


@dataclass(frozen=True)
class MiniwebProcess:
    """A miniature web that is being served."""

    job: Path
    truth: Path
    log: Path

    def requests(self) -> list[dict[str, Any]]:
        """What was asked of it so far, in order."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]


@contextmanager
def miniweb(folder: Path, *options: object) -> Iterator[MiniwebProcess]:
    """Serve a miniature web on a free port for as long as the block runs."""
    web = MiniwebProcess(folder / "job.toml", folder / "truth.jsonl", folder / "requests.jsonl")
    process = start(
        "miniweb", "serve", "--port", 0, "--job", web.job, "--truth", web.truth, "--log", web.log, *options
    )  # fmt: skip
    try:
        assert process.stdout is not None
        for line in process.stdout:  # it says how to stop it when it is ready
            if "Ctrl-C" in line:
                break
        yield web
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)
