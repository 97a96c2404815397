"""Tables of marks: a set and a counter that behave like Python's own, in a fraction of the memory."""

import random
from array import array
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from periplus.urls import MarkCounter, MarkSet

SIGNED = st.integers(min_value=-(2**63), max_value=2**63 - 1)
CROWDED = st.integers(min_value=0, max_value=400)  # no hash: all of them in one segment, most in one place


@given(st.lists(st.one_of(SIGNED, CROWDED), max_size=300))
def test_a_set_of_marks_is_a_set(marks: list[int]) -> None:
    table, known = MarkSet(), set[int]()
    for mark in marks:
        assert (mark in table) is (mark in known)
        assert table.add(mark) is (mark not in known)
        known.add(mark)
    assert len(table) == len(known)
    assert all(mark in table for mark in known)


@given(st.lists(st.one_of(SIGNED, CROWDED), max_size=300))
def test_a_counter_of_marks_is_a_counter(marks: list[int]) -> None:
    table, known = MarkCounter(), Counter[int]()
    for mark in marks:
        assert table[mark] == known[mark]
        known[mark] += 1
        assert table.add(mark) == known[mark]
    assert len(table) == len(known)


def test_many_marks_grow_every_segment() -> None:
    numbers = random.Random(5)
    marks = [numbers.getrandbits(64) - 2**63 for _ in range(100_000)]
    table = MarkSet()
    table.update(marks)
    table.update(marks[:1000])
    assert len(table) == len(set(marks))
    assert all(mark in table for mark in marks)
    assert not any(numbers.getrandbits(64) - 2**63 in table for _ in range(10_000))


def test_a_mark_costs_at_most_24_bytes() -> None:
    numbers = random.Random(6)
    table, counter = MarkSet(), MarkCounter()
    for _ in range(200_000):
        mark = numbers.getrandbits(64)
        table.add(mark)
        counter.add(mark)
    size = sum(8 * len(segment.marks) for segment in table.segments)
    both = sum(12 * len(segment.marks) for segment in counter.segments)
    assert size <= 17 * len(table)
    assert both <= 25 * len(counter)


def test_many_marks_are_looked_for_at_once() -> None:
    known = MarkSet()
    known.update([0, 5, -7, 1 << 62])
    marks = array("q", [5, 6, 0, -7, -8, 1 << 62])
    assert known.missing(memoryview(marks.tobytes()).cast("Q")) == [1, 4]
    assert MarkSet().missing(memoryview(b"").cast("Q")) == []
