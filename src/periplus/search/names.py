"""Other names of places ("Lisboa", "LA", "St. Paul") from the gazetteer, opened when first needed."""

import threading
from collections.abc import Sequence

from periplus.errors import EnvironmentFailure
from periplus.model import Place
from periplus.places import Gazetteer, open_gazetteer

__all__ = ["GazetteerNames"]

MOST_REMEMBERED = 10_000


class GazetteerNames:
    """`PlaceNames` over the compiled gazetteer. Without one, no place has other names. Any thread may ask."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._gazetteer: Gazetteer | None = None
        self._failed = False
        self._known: dict[tuple[str, int], tuple[Place, ...]] = {}

    def find(self, name: str, *, limit: int) -> Sequence[Place]:
        """Places that bear the name, best first."""
        with self._turn:
            found = self._known.get((name, limit))
            if found is None:
                found = self._look_up(name, limit)
                if len(self._known) >= MOST_REMEMBERED:
                    self._known.clear()
                self._known[name, limit] = found
            return found

    def _look_up(self, name: str, limit: int) -> tuple[Place, ...]:
        if self._gazetteer is None and not self._failed:
            try:
                self._gazetteer = open_gazetteer()
            except EnvironmentFailure:
                self._failed = True
        return tuple(self._gazetteer.find(name, limit=limit)) if self._gazetteer else ()
