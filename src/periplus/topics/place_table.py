"""A topic's places ready for judging: what a mention of any place counts for, remembered by its id.

The first mention of a place walks up its ancestors once in the life of a process; every further one is a look-up.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from periplus.model import Place

__all__ = ["PlaceTable", "PlaceWorth"]

TARGET = 0.5
"""Places with at least this part of the largest weight are targets; the others only support a target."""

REMEMBERED = 200_000


class PlaceWorth(NamedTuple):
    """What a mention counts for: the topic's place it lies in (-1: none), its weight, and whether it counts at all."""

    position: int
    weight: float
    counts: bool = True

    @property
    def is_target(self) -> bool:
        """Whether the mention lies in a target."""
        return self.weight >= TARGET


ELSEWHERE = PlaceWorth(-1, 0.0)
AROUND = PlaceWorth(-1, 0.0, counts=False)


class PlaceTable:
    """The topic's places with weights, the largest made 1. `extents`: id → (position, part), where polygons say so."""

    def __init__(
        self, places: Sequence[tuple[Place, float]], extents: Mapping[int, tuple[int, float]] | None = None
    ) -> None:
        largest = max((weight for _, weight in places), default=1.0) or 1.0
        self.names = [place.name for place, _ in places]
        whole = [(position, place) for position, (place, _) in enumerate(places) if place.kind == "country"]
        self.countries = {place.country: position for position, place in reversed(whole)}
        self._weights = {place.id: (i, weight / largest) for i, (place, weight) in enumerate(places)}
        self._around = {above for place, _ in places for above in place.ancestors} - self._weights.keys()
        small = (place for place, _ in places if place.kind not in ("country", "continent"))
        self._around_small = {above for place in small for above in place.ancestors}
        self._scaled = [weight / largest for _, weight in places]
        self._extents = extents or {}
        self._known: dict[int, PlaceWorth] = {}

    def __bool__(self) -> bool:
        return bool(self.names)

    def worth(self, place: Place) -> PlaceWorth:
        """What a mention of the place counts for."""
        known = self._known.get(place.id)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[place.id] = self._work_out(place)
        return known

    def targets(self, places: Sequence[Place]) -> list[bool]:
        """Which mentions of places lie in targets."""
        known = self._known
        return [(known.get(place.id) or self.worth(place)).weight >= TARGET for place in places]

    def weight_of(self, position: int) -> float:
        """The weight of one of the topic's places, the largest being 1."""
        return self._scaled[position]

    def _crosses(self, place: Place) -> bool:
        """Whether the place is a river, a range or a sea of what lies around a town or state that may lie on it."""
        return place.kind == "feature" and bool(place.ancestors) and place.ancestors[-1] in self._around_small

    def _work_out(self, place: Place) -> PlaceWorth:
        if place.id in self._around or self._crosses(place):
            return AROUND
        position, weight = -1, 0.0
        for one in (place.id, *place.ancestors):
            if one in self._weights and self._weights[one][1] > weight:
                position, weight = self._weights[one]
            if one in self._extents:
                inside, part = self._extents[one]
                if part * self._scaled[inside] > weight:
                    position, weight = inside, part * self._scaled[inside]
        return PlaceWorth(position, weight) if position >= 0 else ELSEWHERE
