"""The places of the hits as a tree with counts."""

from collections.abc import Mapping

from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.results import PlaceFacet

__all__ = ["place_tree"]

MOST_CHILDREN = 25
"""Places shown inside one place, those with most pages first."""


def place_tree(counts: Mapping[str, int], atlas: Atlas) -> tuple[PlaceFacet, ...]:
    """The tree of `/1/2/3` paths with their counts, without the world itself, which is around everything."""
    children: dict[str, list[tuple[str, int]]] = {}
    for path, count in counts.items():
        children.setdefault(path.rpartition("/")[0], []).append((path, count))

    def build(path: str) -> tuple[PlaceFacet, ...]:
        inner = sorted(children.get(path, ()), key=lambda pair: (-pair[1], pair[0]))[:MOST_CHILDREN]
        return tuple(
            PlaceFacet(place, count, build(inside)) for inside, count in inner if (place := _place(inside, atlas))
        )

    roots = build("")
    if len(roots) == 1 and roots[0].place.kind == "world":
        return roots[0].children
    return roots


def _place(path: str, atlas: Atlas) -> KnownPlace | None:
    return atlas.get(int(path.rpartition("/")[2]))
