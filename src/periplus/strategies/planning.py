"""A balanced split of targets over nodes: by people, by time zone, or by the links a crawl has found."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

from periplus.errors import UsageError
from periplus.model import Place

__all__ = ["plan_nodes"]

Weight = Callable[[Place], float]
Lon = Callable[[Place], float]
"""Degrees east of where the map of the targets begins."""


def plan_nodes(
    targets: Sequence[Place], nodes: int, by: str, *, zone_of: Callable[[int], str], links: Mapping[int, int]
) -> list[list[Place]]:
    """`nodes` groups of targets that lie together and weigh about the same, from west to east.

    `by` is population, timezone (zones stay whole where there are enough of them) or links (`links` by place id).
    """
    if not 1 <= nodes <= len(targets):
        raise UsageError(f"--nodes {nodes}: give 1 to {len(targets)}, the number of targets")
    places = sorted(targets, key=lambda place: place.id)

    people = sum(place.population + 1 for place in places)

    def weight(place: Place) -> float:
        if by != "links":
            return float(place.population + 1)
        return links.get(place.id, 0) + (place.population + 1) / people  # what has no links weighs one together

    west = _west_end(places)

    def lon(place: Place) -> float:
        return (place.point.lon - west) % 360

    zoned = by == "timezone"
    groups = _by_zone(places, nodes, weight, zone_of, lon) if zoned else _cut(places, nodes, weight, lon)
    return sorted(groups, key=lambda group: (_middle(group, lon), group[0].id))


def _west_end(places: list[Place]) -> float:
    """The longitude at which a map of the places begins: behind the widest stretch without any, so that Fiji and Samoa
    lie together and not at its two ends."""
    lons = sorted({place.point.lon for place in places})
    gaps = [(east - west, east) for west, east in itertools.pairwise((*lons, lons[0] + 360))]
    return max(gaps)[1]


def _cut(places: list[Place], parts: int, weight: Weight, lon: Lon) -> list[list[Place]]:
    """Cut the map in two along its longer side, in proportion, until there are enough pieces."""
    if parts == 1:
        return [places]
    left_parts = parts // 2
    lons = [lon(place) for place in places]
    lats = [place.point.lat for place in places]
    wide = (max(lons) - min(lons)) * math.cos(math.radians(sum(lats) / len(lats))) >= max(lats) - min(lats)
    ordered = sorted(places, key=lambda p: (lon(p) if wide else p.point.lat, p.id))
    wanted = sum(map(weight, ordered)) * left_parts / parts
    total, at = 0.0, 0
    while at < len(ordered) and total + weight(ordered[at]) / 2 <= wanted:
        total += weight(ordered[at])
        at += 1
    at = min(max(at, left_parts), len(ordered) - (parts - left_parts))
    return _cut(ordered[:at], left_parts, weight, lon) + _cut(ordered[at:], parts - left_parts, weight, lon)


def _by_zone(
    places: list[Place], parts: int, weight: Weight, zone_of: Callable[[int], str], lon: Lon
) -> list[list[Place]]:
    """Whole time zones; neighbours are joined while there are too many, the heaviest is cut while there are too few."""
    zones: dict[str, list[Place]] = {}
    for place in places:
        zones.setdefault(zone_of(place.id), []).append(place)
    groups = sorted(zones.values(), key=lambda group: (_middle(group, lon), group[0].id))
    while len(groups) > parts:
        loads = [sum(map(weight, group)) for group in groups]
        at = min(range(len(groups) - 1), key=lambda i: (loads[i] + loads[i + 1], i))
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    while len(groups) < parts:
        able = [i for i, group in enumerate(groups) if len(group) > 1]
        at = max(able, key=lambda i: (sum(map(weight, groups[i])), -i))
        groups[at : at + 1] = _cut(groups[at], 2, weight, lon)
    return groups


def _middle(group: Sequence[Place], lon: Lon) -> float:
    return sum(map(lon, group)) / len(group)
