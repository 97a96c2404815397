"""Which names stand closest to links: inner loops of `anchor`, compiled where there is a C compiler (`.pxd`)."""

from collections.abc import Callable, Sequence

from periplus.model import Link
from periplus.strategies.names import Candidate, Named
from periplus.strategies.protocol import Claims

__all__ = ["Near", "claims_near", "closest"]

Near = list[tuple[int, Named]]
"""Names around a link with their distance in words (0: in the link's text), the closest first."""


def closest(
    names: list[Named], links: Sequence[Link], before: Sequence[int], window: int, side: int
) -> list[Near | None]:
    """For each link the names within `window` words; None for a link that does not stand in the text.

    `names` stand in order; `side` of them on each side of a link are looked at, at the same distance the one before it
    comes first. `before` has for each offset how many words stand before it, up to the end of the text.
    """
    count, text_end = len(names), len(before) - 1
    starts = [name.start for name in names]
    ends = [name.end for name in names]
    result: list[Near | None] = []
    for link in links:
        start, end = link.start, link.end
        if start < 0 or end < start or end > text_end or text_end == 0:
            result.append(None)
            continue
        first = _first_from(starts, count, start)
        near = []
        for n in range(max(0, first - side), min(first + side, count)):
            distance = 0
            name_start, name_end = starts[n], ends[n]
            if name_end <= start:
                distance = 1 + before[start] - before[name_end]
            elif name_start >= end:
                distance = 1 + before[name_start] - before[end]
            if distance <= window:
                near.append((distance, n))
        if len(near) > 1:
            near.sort()
        result.append([(distance, names[n]) for distance, n in near])
    return result


def _first_from(starts: list[int], size: int, at: int) -> int:
    """The first name that does not start before `at`."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if starts[middle] < at:
            low = middle + 1
        else:
            high = middle
    return low


def claims_near(
    nearby: list[Near],
    nobody: list[Claims],
    known: dict[tuple[Candidate, ...], Claims],
    made: Callable[[tuple[Candidate, ...]], Claims],
) -> list[Claims]:
    """The claims to each link by the owned places around it (`known`, else `made`); else those of `nobody`."""
    done = []
    for n in range(len(nearby)):
        targets = []
        for _, named in nearby[n]:
            candidate = named.candidate
            if candidate.node is not None:
                targets.append(candidate)
        if not targets:
            done.append(nobody[n])
            continue
        owned = tuple(targets)
        claims = known.get(owned)
        done.append(made(owned) if claims is None else claims)
    return done
