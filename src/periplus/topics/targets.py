"""Which places samples are about: candidates by country, and the targets of a topic that is learnt from them. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from periplus.model import Place
from periplus.topics.reading import Reading

__all__ = ["Candidate", "PlaceOf", "find_candidates", "find_targets", "share_in"]

MAX_TARGETS = 8
COVERED = 0.1
"""A sample with this share of mentions in a place is covered by it."""

NARROW = 0.9
"""A target is narrowed to a place inside it that holds this part of its share."""

EVERYWHERE = 0.3
"""Share of a place in other pages that halves its strength: a country that every page names is no topic's own."""

BACKGROUND = 300

PlaceOf = Callable[[int], Place]
"""The gazetteer's look-up by id."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that the samples may be about: its mean share of mentions, and in how many samples it is named.

    `strength` orders candidates: share · (part of the samples it covers)² / (its share in other pages + 0.3).
    """

    place: Place
    share: float
    samples: int
    strength: float = 0.0


def find_candidates(samples: Sequence[Reading], background: Sequence[Reading], place_of: PlaceOf) -> list[Candidate]:
    """Countries that the samples may be about, rolled up; the strongest first."""
    share, named, covered = _by_country(samples)
    common, _, _ = _by_country(background[:BACKGROUND])
    n = max(1, len(samples))
    strength = {i: share[i] * (covered[i] / n) ** 2 / (common.get(i, 0.0) + EVERYWHERE) for i in share}
    order = sorted(share, key=lambda i: (-strength[i], -share[i], i))
    return [Candidate(place_of(i), share[i], named[i], strength[i]) for i in order]


def _by_country(readings: Sequence[Reading]) -> tuple[dict[int, float], Counter[int], Counter[int]]:
    """Each country's mean share, the number of readings that name it, and of those that it covers."""
    share: dict[int, float] = defaultdict(float)
    named: Counter[int] = Counter()
    covered: Counter[int] = Counter()
    for reading in readings:
        own: dict[int, float] = defaultdict(float)
        for place, part in _shares(reading).items():
            above = place.id if place.kind == "country" else _country_id(place)
            if above is not None:
                own[above] += part
        for country, part in own.items():
            share[country] += part / len(readings)
            named[country] += 1
            covered[country] += part >= COVERED
    return share, named, covered


def _shares(reading: Reading) -> dict[Place, float]:
    """Each place's own share of the page's mentions; not rolled up."""
    total = sum(reading.places.values())
    return {place: mass / total for place, mass in reading.places.items()} if total else {}


def _country_id(place: Place) -> int | None:
    """The id of the country that a place lies in. The hierarchy is world, continent, country, …"""
    return place.ancestors[2] if len(place.ancestors) > 2 else None


def _narrowed(samples: Sequence[Reading], found: Candidate, place_of: PlaceOf) -> Place:
    """The deepest place below a candidate that holds nearly all of its share."""
    place = found.place
    while True:
        below: dict[int, float] = defaultdict(float)
        for reading in samples:
            for inner, part in _shares(reading).items():
                chain = (*inner.ancestors, inner.id)
                if place.id in chain[:-1]:
                    below[chain[chain.index(place.id) + 1]] += part / len(samples)
        best = max(below, key=lambda i: (below[i], -i), default=None)
        if best is None or below[best] < NARROW * found.share:
            return place
        place = place_of(best)


def find_targets(samples: Sequence[Reading], background: Sequence[Reading], place_of: PlaceOf) -> list[Place]:
    """The fewest places that cover the samples: the strongest first, then whatever the uncovered ones are about.

    A topic about one country gets one target, because nearly every sample names it; a topic about several gets each
    of them, because the samples that the first leaves uncovered agree on the next.
    """
    chosen: list[Place] = []
    left = [reading for reading in samples if reading.places]
    needed = max(2.0, 0.25 * len(left))
    for _ in range(MAX_TARGETS):
        best = next(iter(find_candidates(left, background, place_of)), None)
        if best is None or (chosen and (best.samples < needed or best.share * len(left) < 0.5 * needed)):
            break
        covered = [reading for reading in left if share_in(reading, best.place.id) >= COVERED]
        chosen.append(_narrowed(covered, best, place_of))
        left = [reading for reading in left if share_in(reading, best.place.id) < COVERED]
        if len(left) < needed:
            break
    return chosen


def share_in(reading: Reading, place_id: int) -> float:
    """The share of a page's mentions that lie in a place."""
    return sum(part for place, part in _shares(reading).items() if place_id in (place.id, *place.ancestors))
