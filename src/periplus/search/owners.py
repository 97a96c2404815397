"""Which node to ask first: a question about a place goes to the nodes that own it.

A node owns the places that its table in the job names, everything inside them, and a share of what lies around them.
"""

from collections.abc import Mapping, Sequence

from periplus.errors import NotHere
from periplus.index import IndexQuery
from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.shard import Shard
from periplus.search.where import Where, named_place

__all__ = ["in_order", "owned_places"]

MOST_NAMES = 5_000
"""Names of a node's table that are looked up."""


def owned_places(shards: Sequence[Shard], atlas: Atlas) -> dict[str, list[KnownPlace]]:
    """The places of each node's table that the collection has pages about."""
    jobs = {shard.crawl: shard.job() for shard in shards}
    found: dict[str, list[KnownPlace]] = {}
    for shard in shards:
        table = jobs[shard.crawl].nodes.get(shard.name)
        names = table.places if table else []
        found[shard.key] = [place for name in names[:MOST_NAMES] if (place := _place(name, atlas))]
    return found


def _place(name: str, atlas: Atlas) -> KnownPlace | None:
    try:
        return named_place(name[:200], atlas, hint=False).place
    except NotHere:  # no page of the collection is about it
        return None


def in_order(shards: Sequence[Shard], where: Where, owned: Mapping[str, Sequence[KnownPlace]]) -> list[Shard]:
    """The nodes, owners of where the question asks first, then those with most pages about it."""
    if not where or len(shards) < 2:
        return list(shards)
    place = where.place or next(iter(where.candidates), None)
    if place is None:
        return list(shards)
    query = IndexQuery(paths=(place.id_path,))

    def rank(shard: Shard) -> tuple[bool, int, str]:
        owns = any(place.is_inside(own) or own.is_inside(place) for own in owned.get(shard.key, ()))
        return not owns, -shard.index.count(query), shard.key

    return sorted(shards, key=rank)
