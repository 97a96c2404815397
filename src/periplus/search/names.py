"""Other names of places ("Lisboa", "LA", "St. Paul") from the gazetteer, opened when first needed."""

import re
import threading
from collections.abc import Sequence

import numpy as np

from periplus.errors import EnvironmentFailure
from periplus.model import LonLat, Place
from periplus.places import Gazetteer, open_gazetteer
from periplus.search.atlas import ZipCode

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

    def zip_code(self, code: str) -> ZipCode | None:
        """The towns of a US ZIP code and its point."""
        if not re.fullmatch(r"\d{5}", code, re.ASCII):
            return None
        with self._turn:
            gazetteer = self._open()
        if gazetteer is None:
            return None
        arrays, number = gazetteer.arrays, int(code)
        at = int(np.searchsorted(arrays["zip"], number))
        if at >= len(arrays["zip"]) or int(arrays["zip"][at]) != number:
            return None
        rows = arrays["zip_row"][int(arrays["zip_at"][at]) : int(arrays["zip_at"][at + 1])]
        places = dict.fromkeys(int(arrays["id"][row]) for row in rows.tolist() if row >= 0)
        lon, lat = (float(value) for value in arrays["zip_point"][at])
        try:
            return ZipCode(tuple(places), LonLat(lon, lat))
        except ValueError:  # some codes have no point
            return None

    def gazetteer(self) -> Gazetteer:
        """The gazetteer itself. GazetteerMissing where there is none."""
        with self._turn:
            return self._open() or open_gazetteer()

    def _open(self) -> Gazetteer | None:
        """The gazetteer, opened when first asked for; None where there is none."""
        if self._gazetteer is None and not self._failed:
            try:
                self._gazetteer = open_gazetteer()
            except EnvironmentFailure:
                self._failed = True
        return self._gazetteer

    def _look_up(self, name: str, limit: int) -> tuple[Place, ...]:
        gazetteer = self._open()
        return tuple(gazetteer.find(name, limit=limit)) if gazetteer else ()
