"""How much a test may do: a guard against work that explodes, and how many examples a property is tried with."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hypothesis import settings

__all__ = ["FOURFOLD", "bounded_effort", "examples", "least_seconds"]

FOURFOLD = 8.0
"""How much longer four times as much may take: linear is 4 and quadratic 16, and a busy machine blurs that."""

PROCESSOR_SECONDS = 60.0


@contextmanager
def bounded_effort() -> Iterator[None]:
    """The block must not take more than a minute of processor time: quadratic and worse is noticed, slowness is not."""
    started = time.process_time()
    yield
    assert time.process_time() - started < PROCESSOR_SECONDS


def least_seconds(work: Callable[[], object], *, rounds: int = 5) -> float:
    """The least processor time of some rounds: what others do on the machine makes a round longer, never shorter.

    Without the collector of garbage, which looks at what all tests before have left.
    """

    def once() -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    collects = gc.isenabled()
    gc.disable()
    try:
        return min(once() for _ in range(rounds))
    finally:
        if collects:
            gc.enable()


def examples(count: int, nightly: int = 20_000) -> int:
    """So many examples with every run of the suite, and so many with `make properties`."""
    return nightly if settings.get_current_profile_name() == "nightly" else count
