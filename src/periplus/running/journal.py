"""The structured log: one JSON object a line, bounded on disk, written from any thread, never a reason to stop."""

import json
import os
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

__all__ = ["Journal"]


class Journal:
    """Appends events to `path` (None: nowhere). When the file is full it becomes `*.1.jsonl` and a new one begins.

    A line that cannot be written (the disk is full) is counted in `lost` and forgotten.
    """

    def __init__(self, path: Path | None, max_bytes: int, now: Callable[[], datetime], *, pages: bool = False) -> None:
        self.pages = pages
        """Whether the end of every lease is wanted as well."""
        self.lost = 0
        self._path = path
        self._max_bytes = max_bytes
        self._now = now
        self._turn = threading.Lock()
        self._descriptor: int | None = None
        self._size = 0

    def write(self, event: str, **facts: object) -> None:
        """Add a line: the time, the event and its facts."""
        if self._path is None:
            return
        stamp = self._now().isoformat(timespec="milliseconds")
        data = json.dumps({"time": stamp, "event": event, **facts}, default=str).encode("ascii") + b"\n"
        with self._turn:
            try:
                self._append(self._path, data)
            except OSError:
                self.lost += 1
                self._let_go()

    def close(self) -> None:
        """Let the file go."""
        with self._turn:
            self._let_go()

    def _append(self, path: Path, data: bytes) -> None:
        if self._descriptor is not None and self._size + len(data) > self._max_bytes:
            self._let_go()
            path.replace(path.with_suffix(f".1{path.suffix}"))
        if self._descriptor is None:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._size = os.fstat(self._descriptor).st_size
            if self._size and os.pread(self._descriptor, 1, self._size - 1) != b"\n":
                data = b"\n" + data  # the last line was torn by a crash or a full disk: it stays alone
        self._size += os.write(self._descriptor, data)

    def _let_go(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
