"""What links have said lately is remembered in little memory, and not for ever."""

import pytest

from periplus.index import anchors
from periplus.index.anchors import RecentLinks


def test_what_was_said_lately_is_taken_once() -> None:
    recent = RecentLinks()
    assert recent.take([(2, "b"), (1, "a"), (2, "b")]) == [(1, "a"), (2, "b")]
    assert recent.take([(1, "a"), (1, "other")]) == [(1, "other")]
    recent.clear()
    assert recent.take([(1, "a")]) == [(1, "a")]


def test_it_is_forgotten_before_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchors, "MOST_RECENT", 3)
    recent = RecentLinks()
    for number in range(4):
        assert recent.take([(number, "a")]) == [(number, "a")]
    assert recent.take([(0, "a")]) == [(0, "a")]
