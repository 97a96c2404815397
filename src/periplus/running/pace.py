"""How often something is done that takes the longer the more there is of it."""

__all__ = ["Pace"]


class Pace:
    """Done now and then: after so many seconds, and later if the last time took long."""

    def __init__(self, least: float, most: float, rest: float) -> None:
        """`rest`: so many times what the last time took is waited besides; with it no more than `most` seconds."""
        self._least = least
        self._most = most
        self._rest = rest
        self._next = 0.0

    def is_due(self, now: float) -> bool:
        """Whether it is time again; if so, it counts as begun."""
        if now < self._next:
            return False
        self._next = now + self._least
        return True

    def took(self, seconds: float, now: float) -> None:
        """It took so long until now."""
        self._next = min(self._next + self._rest * seconds, now + self._most)

    def hurry(self) -> None:
        """The next time is now."""
        self._next = 0.0
