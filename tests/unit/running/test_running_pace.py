"""What takes long is done seldom, but never as seldom as one likes."""

from periplus.running import Pace


def test_it_is_due_at_once_and_then_after_its_least_time() -> None:
    pace = Pace(least=0.5, most=5.0, rest=20.0)
    assert pace.is_due(100.0)
    assert not pace.is_due(100.4)
    assert pace.is_due(100.5)


def test_the_longer_it_took_the_later_it_is_due() -> None:
    pace = Pace(least=0.5, most=5.0, rest=20.0)
    assert pace.is_due(100.0)
    pace.took(0.1, now=100.1)
    assert not pace.is_due(102.4)
    assert pace.is_due(102.5)


def test_however_long_it_took_it_is_due_after_its_most_time() -> None:
    pace = Pace(least=0.5, most=5.0, rest=20.0)
    assert pace.is_due(100.0)
    pace.took(60.0, now=160.0)
    assert not pace.is_due(164.9)
    assert pace.is_due(165.0)


def test_who_is_in_a_hurry_does_not_wait() -> None:
    pace = Pace(least=0.5, most=5.0, rest=20.0)
    assert pace.is_due(100.0)
    pace.hurry()
    assert pace.is_due(100.0)
