"""A clock that tests move by hand."""

from datetime import UTC, datetime, timedelta

__all__ = ["FakeClock"]

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class FakeClock:
    """Time stands still until `advance`, or until somebody sleeps, which takes no real time."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        """The wall time, UTC."""
        return self._start + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._seconds

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.slept.append(seconds)
        self.advance(max(0.0, seconds))

    def advance(self, seconds: float) -> None:
        """Move on."""
        self._seconds += seconds
