"""Bytes from outside give a result or a PeriplusError (C6, E6); HYPOTHESIS_PROFILE=nightly tries many more."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from effort import examples
from fuzz_targets import SEEDS, TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.errors import PeriplusError


@st.composite
def mutated(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A good input with pieces cut out, put in, doubled or replaced; or anything at all."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        piece = draw(st.binary(max_size=20) | st.just(data[start:end] * 3) | st.text(max_size=8).map(_encoded))
        data = data[:start] + piece + data[end:]
    return data


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def one_of(target: str, data: st.DataObject) -> None:
    """Draw an input for a target and feed it."""
    drawn = data.draw(mutated(SEEDS[target]) | st.binary(max_size=400))
    with contextlib.suppress(PeriplusError):
        TARGETS[target](drawn)


def test_a_target_that_there_is_not_is_refused_in_words() -> None:
    script = Path(__file__).resolve().parents[2] / "scripts" / "fuzz.py"
    done = subprocess.run([sys.executable, script, "rain"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no target 'rain'; choose from" in done.stderr
    assert "Traceback" not in done.stderr


FUZZED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
MOST = settings(FUZZED, max_examples=examples(200, 100_000))
"""Of pages and envelopes a hundred thousand are promised (C6, E6)."""


@pytest.mark.parametrize("target", [target for target in TARGETS if target not in ("page", "envelope")])
@FUZZED
@given(data=st.data())
def test_every_target_gives_a_result_or_our_error(target: str, data: st.DataObject) -> None:
    one_of(target, data)


@pytest.mark.parametrize("target", ["page", "envelope"])
@MOST
@given(data=st.data())
def test_C6_E6_any_page_and_any_envelope_gives_a_result_or_our_error(target: str, data: st.DataObject) -> None:
    one_of(target, data)


@pytest.mark.parametrize("target", TARGETS)
def test_the_seeds_of_every_target_are_good(target: str) -> None:
    """Else mutations of them would be refused at the door, and nothing behind it would be tried."""
    for data in SEEDS[target][:1]:
        TARGETS[target](data)
