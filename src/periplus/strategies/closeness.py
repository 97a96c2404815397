"""Which names stand closest to links: an inner loop of `anchor`, compiled where there is a C compiler (`.pxd`)."""

from collections.abc import Sequence

__all__ = ["closest"]


def closest(  # noqa: PLR0917  a function in C, where names of arguments cost time
    starts: list[int],
    ends: list[int],
    spans: Sequence[tuple[int, int]],
    words: list[int],
    window: int,
    side: int,
) -> list[list[tuple[int, int]]]:
    """For each span the names within `window` words, closest first: (distance, name); 0 is inside the span.

    Names stand at starts..ends, in order; `side` of them on each side of a span are looked at. `words` has how many
    words stand before each name's start, then before each name's end, then before each span's start and end.
    """
    size = len(starts)
    result = []
    at = 2 * size
    for start, end in spans:
        until, until_end = words[at], words[at + 1]
        at += 2
        first = _first_from(starts, size, start)
        near = []
        for n in range(max(0, first - side), min(first + side, size)):
            if ends[n] <= start:
                distance = 1 + until - words[size + n]
            elif starts[n] >= end:
                distance = 1 + words[n] - until_end
            else:
                distance = 0
            if distance <= window:
                near.append((distance, n))
        if len(near) > 1:
            near.sort()
        result.append(near)
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
