"""The watchdog: a thread that notices when the event loop stands still, and says what it stands at."""

import asyncio
import sys
import threading
import time
import traceback

from periplus.running.journal import Journal

__all__ = ["Watchdog"]

BEATS = 4
"""Heartbeats in the time after which the loop counts as blocked."""

MOST_STACK_LINES = 40


class Watchdog:
    """Reports a loop that has not run for `seconds` (0: does not watch), once when noticed and once when it goes on.

    Use as an async context manager inside the loop.
    """

    def __init__(self, seconds: float, journal: Journal) -> None:
        self.blocks = 0
        """How often the loop was blocked."""
        self.longest_seconds = 0.0
        self._seconds = seconds
        self._journal = journal
        self._beat = time.monotonic()
        self._loop_thread = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._heart: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Watchdog":
        if self._seconds:
            self._loop_thread = threading.get_ident()
            self._beat = time.monotonic()
            self._heart = asyncio.create_task(self._keep_beating())
            self._thread = threading.Thread(target=self._watch, name="periplus-watchdog", daemon=True)
            self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        if self._heart is not None:
            self._heart.cancel()
        if self._thread is not None:
            self._thread.join()

    async def _keep_beating(self) -> None:
        while True:
            self._beat = time.monotonic()
            await asyncio.sleep(self._seconds / BEATS)

    def _watch(self) -> None:
        blocked_at: float | None = None
        while not self._ended.wait(self._seconds / BEATS):
            beat = self._beat
            silent = time.monotonic() - beat
            if blocked_at is not None and beat != blocked_at:
                self._journal.write("loop runs again", blocked_seconds=round(beat - blocked_at, 3))
                self.longest_seconds = max(self.longest_seconds, beat - blocked_at)
                blocked_at = None
            if silent > self._seconds:
                self.longest_seconds = max(self.longest_seconds, silent)
                if blocked_at is None:
                    blocked_at = beat
                    self._journal.write("loop blocked", seconds=round(silent, 3), stack=self._stack())
                    self.blocks += 1

    def _stack(self) -> list[str]:
        """Where the loop's thread is now, innermost last."""
        frame = sys._current_frames().get(self._loop_thread)
        if frame is None:
            return []
        return [
            f"{entry.filename}:{entry.lineno} {entry.name}"
            for entry in traceback.extract_stack(frame)[-MOST_STACK_LINES:]
        ]
