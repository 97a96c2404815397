"""How much a test may do: a guard against work that explodes, and how many examples a property is tried with."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import settings

__all__ = ["bounded_effort", "examples"]

PROCESSOR_SECONDS = 60.0


@contextmanager
def bounded_effort() -> Iterator[None]:
    """The block must not take more than a minute of processor time: quadratic and worse is noticed, slowness is not."""
    started = time.process_time()
    yield
    assert time.process_time() - started < PROCESSOR_SECONDS


def examples(count: int, nightly: int = 20_000) -> int:
    """So many examples with every run of the suite, and so many with `make properties`."""
    return nightly if settings.get_current_profile_name() == "nightly" else count
