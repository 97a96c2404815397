"""Room on the disk: a crawl pauses when there is too little and goes on when there is enough again."""

from collections.abc import Callable

from periplus.clock import Clock
from periplus.errors import DiskFull
from periplus.running.journal import Journal
from periplus.store.folder import CrawlFolder

__all__ = ["DiskRoom"]

RETRY_SECONDS = 1.0


class DiskRoom:
    """Watches the disk of a crawl. `paused` says why no further request may begin; empty: there is room."""

    def __init__(
        self, folder: CrawlFolder, reserve_bytes: int, wait_minutes: float, clock: Clock, journal: Journal
    ) -> None:
        self.paused = ""
        self._folder = folder
        self._reserve_bytes = reserve_bytes
        self._wait_seconds = wait_minutes * 60
        self._clock = clock
        self._journal = journal
        self._since = 0.0
        self._failing = False

    def look(self) -> None:
        """Pause or go on by what is free now. DiskFull if the pause lasts longer than it may."""
        try:
            self._folder.check_room(self._reserve_bytes)
        except DiskFull as error:
            self._pause(error)
        else:
            if not self._failing:  # a write that found no room has to succeed first
                self._go_on()

    async def wait(self, error: DiskFull, has_to_end: Callable[[], bool]) -> None:
        """Wait after a write found no room, until it is worth another try; `error` again if it is not worth it."""
        self._failing = True
        self._pause(error)
        if has_to_end():
            raise error
        await self._clock.sleep(RETRY_SECONDS)

    def wrote(self) -> None:
        """A write succeeded; if one had found no room before, the pause ends as soon as the reserve is free."""
        if self._failing:
            self._failing = False
            self.look()

    def _pause(self, error: DiskFull) -> None:
        now = self._clock.monotonic()
        if not self.paused:
            self.paused = str(error).partition(";")[0]  # what it says to do is for who finds the crawl ended
            self._since = now
            self._journal.write("paused", reason=self.paused)
        if now - self._since >= self._wait_seconds:
            raise error

    def _go_on(self) -> None:
        if self.paused:
            self.paused = ""
            self._journal.write("goes on", paused_seconds=round(self._clock.monotonic() - self._since, 1))
