"""What links have said lately, in short, so that only what is new is made into text and written.

Most links of a page say what those of another have said: menus, lists of neighbours. A link is known by a 64-bit key of
where it leads and what it says, which is looked up before anything is made of it. At most 4 MB.
Plain Python; compiled where there is a C compiler (`recent.pxd`).
"""

from collections.abc import MutableSequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

__all__ = ["RecentLinks", "numbers"]

# The names below have C types in recent.pxd.
_BASE, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_LINE = 10
_SLOTS = 1 << 12
_MOST = 200_000  # links that are remembered before remembering begins anew

Numbers = MutableSequence[int]
"""Of targets 64-bit numbers, of nodes 16-bit ones: the data of an array, as Python and C both index it fast."""


class RecentLinks:
    """The links that were taken lately."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._slots, self._count = _SLOTS, 0
        self._keys = numbers(np.zeros(_SLOTS, np.uint64))

    def take(self, targets: Numbers, nodes: Numbers, number: int, texts: bytes) -> list[tuple[int, str]]:
        """Target and text of a page's links to the node with this number that say something and were not taken lately.

        `texts` has a line for each link. From now on they were taken.
        """
        if self._count >= _MOST:
            self.clear()
        found: list[tuple[int, str]] = []
        start, size = 0, len(texts)
        for at in range(min(len(targets), len(nodes))):
            key, end = _BASE ^ (targets[at] & _MASK), start
            while end < size and texts[end] != _LINE:
                key = ((key ^ texts[end]) * _PRIME) & _MASK
                end += 1
            if end > start and nodes[at] == number and self._add(key):
                found.append((targets[at], texts[start:end].decode("utf-8", "replace")))
            start = end + 1
        return found

    def _add(self, key: int) -> bool:
        """Whether a key was not there; now it is."""
        slot = self._slot(key)
        if self._keys[slot] == key:
            return False
        self._keys[slot] = key
        self._count += 1
        if 2 * self._count > self._slots:
            self._grow()
        return True

    def _slot(self, key: int) -> int:
        """Where a key stands or would stand."""
        slot = (key ^ (key >> 32)) & (self._slots - 1)
        while self._keys[slot] != 0 and self._keys[slot] != key:
            slot = (slot + 1) & (self._slots - 1)
        return slot

    def _grow(self) -> None:
        old, held = self._keys, self._slots
        self._slots = 2 * held
        self._keys = numbers(np.zeros(self._slots, np.uint64))
        for slot in range(held):
            if old[slot] != 0:
                self._keys[self._slot(old[slot])] = old[slot]


def numbers(array: npt.NDArray[Any]) -> Numbers:
    """The data of an array."""
    return cast("Numbers", array.data)
