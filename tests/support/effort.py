"""A guard against work that explodes: far above what is needed, so that a busy machine never decides a test."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["bounded_effort"]

PROCESSOR_SECONDS = 60.0


@contextmanager
def bounded_effort() -> Iterator[None]:
    """The block must not take more than a minute of processor time: quadratic and worse is noticed, slowness is not."""
    started = time.process_time()
    yield
    assert time.process_time() - started < PROCESSOR_SECONDS
