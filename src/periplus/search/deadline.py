"""Until when an answer is waited for: set by whoever asks, looked at by whatever takes long on its behalf."""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

__all__ = ["answer_within", "seconds_left"]

_until: ContextVar[float | None] = ContextVar("until", default=None)


@contextlib.contextmanager
def answer_within(seconds: float | None) -> Iterator[None]:
    """In this block the answer is wanted within so many seconds; None: whenever it comes."""
    token = _until.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def seconds_left() -> float | None:
    """How long the answer is still waited for; None: however long it takes."""
    until = _until.get()
    return None if until is None else until - time.monotonic()
