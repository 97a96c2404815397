"""From one page to others: those with the same telling words, and those about places near by.

Paper B links the pages of its index to pages of near places, "spatially or in the hierarchy"; here the links are
worked out when a page is looked at, so they are never out of date.
"""

from collections.abc import Sequence
from typing import Any

from periplus.index import IndexQuery
from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.request import Circle
from periplus.search.shard import PageRecord, Shard

__all__ = ["nearby_pages", "similar_pages"]

SHOWN = 5
CIRCLES_KM = (25.0, 100.0, 400.0)
"""How far to look for near pages: the first circle that has enough."""

LOOKED_AT = 60
"""Near pages of each node that are compared by distance."""


def similar_pages(shards: Sequence[Shard], home: Shard, record: PageRecord, atlas: Atlas) -> list[dict[str, Any]]:
    """Pages like this one, the most alike first; copies of it are left out."""
    text, _ = home.texts([record.id]).get(record.id, ("", []))
    scored: list[tuple[float, Shard, int]] = []
    for shard in shards:
        alike = shard.index.similar(record.title, text, record.language, SHOWN + 3)
        scored.extend((hit.score, shard, hit.page) for hit in alike)
    scored.sort(key=lambda one: (-one[0], one[1].key, one[2]))
    found = []
    seen: set[str | int] = {record.url, record.content_digest}
    for _, shard, page in scored:
        other = shard.records([page]).get(page)
        if other and other.url not in seen and other.content_digest not in seen:
            seen |= {other.url, other.content_digest}
            found.append(_item(shard, other, atlas))
        if len(found) == SHOWN:
            break
    return found


def nearby_pages(shards: Sequence[Shard], home: Shard, record: PageRecord, atlas: Atlas) -> list[dict[str, Any]]:
    """Pages mainly about places near this page's main place, the nearest first, one for each place."""
    here = atlas.get(record.main_place) if record.main_place is not None else None
    if here is None or here.point is None:
        return []
    nearest: dict[int, tuple[float, dict[str, Any]]] = {}
    for km in CIRCLES_KM:
        places = {p.id: p for p in atlas.within(Circle(here.point, km)) if p.main_pages and p.id != here.id}
        query = IndexQuery(place_ids=tuple(places))
        for shard in shards:
            pages = [hit.page for hit in shard.index.top(query, LOOKED_AT).hits]
            for other in shard.records(pages).values():
                place = places.get(other.main_place) if other.main_place is not None else None
                if place is None or place.id in nearest or (shard is home and other.id == record.id):
                    continue
                distance = _distance(here, place)
                nearest[place.id] = distance, _item(shard, other, atlas) | {"km": round(distance, 1)}
        if len(nearest) >= SHOWN:
            break
    return [item for _, item in sorted(nearest.values(), key=lambda pair: (pair[0], pair[1]["url"]))[:SHOWN]]


def _distance(one: KnownPlace, other: KnownPlace) -> float:
    return one.point.distance_km(other.point) if one.point and other.point else 0.0


def _item(shard: Shard, record: PageRecord, atlas: Atlas) -> dict[str, Any]:
    place = atlas.get(record.main_place) if record.main_place is not None else None
    return {
        "node": shard.key,
        "page": record.id,
        "url": record.url,
        "title": record.title,
        "published": record.published,
        "place": place.label if place else None,
    }
