"""Which node to ask first: a question about a place goes to the nodes that own it.

A node owns the places that its table in the job names, everything inside them, and a share of what lies around them.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from periplus.errors import ConfigError, QueryError
from periplus.index import IndexQuery
from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.shard import Shard
from periplus.search.where import Where, named_place
from periplus.settings import load_job
from periplus.store.folder import CrawlFolder

__all__ = ["in_order", "owned_places"]

MOST_NAMES = 5_000
"""Names of a node's table that are looked up."""


def owned_places(folders: Sequence[CrawlFolder], shards: Sequence[Shard], atlas: Atlas) -> dict[str, list[KnownPlace]]:
    """The places of each node's table that the collection has pages about."""
    tables: dict[tuple[str, str], list[str]] = {}
    for folder in folders:
        with suppress(ConfigError):  # the crawl is there although its file is of another version
            for name, node in load_job(folder.job_file).nodes.items():
                tables[str(folder.path), name] = node.places
    found: dict[str, list[KnownPlace]] = {}
    for shard in shards:
        names = tables.get((str(shard.folder.path.parent.parent), shard.folder.name), [])
        found[shard.key] = [place for name in names[:MOST_NAMES] if (place := _place(name, atlas))]
    return found


def _place(name: str, atlas: Atlas) -> KnownPlace | None:
    try:
        return named_place(name[:200], atlas, hint=False).place
    except QueryError:  # no page of the collection is about it
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
