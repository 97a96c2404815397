"""One page, and the collection as a whole, as the web page shows them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from periplus.index import IndexQuery, day_of
from periplus.search.atlas import Atlas
from periplus.search.question import Question
from periplus.search.shard import PageRecord, Shard
from periplus.search.snippets import Mark, Marker, merge
from periplus.settings import Job

__all__ = ["describe", "page_view"]

TOP_PLACES = 12


def page_view(
    shard: Shard, record: PageRecord, question: Question, atlas: Atlas, languages: frozenset[str]
) -> dict[str, Any]:
    """A page's text with marks for its places and for the question's words, and why it was kept."""
    text, mentions = shard.texts([record.id]).get(record.id, ("", []))
    marker = Marker(question.words_looked_for, [], languages)
    marks = merge(
        marker.marks(text, record.language), (Mark(start, end, "where") for start, end, _, _ in mentions), len(text)
    )
    place_at = {start: place_id for start, _, place_id, _ in mentions}
    footprint = shard.footprints([record.id]).get(record.id, [])
    return {
        "node": shard.key,
        "page": record.id,
        "url": record.url,
        "title": record.title,
        "description": record.description,
        "language": record.language,
        "published": record.published,
        "fetched": record.fetched_at,
        "topics": record.topic.splitlines(),
        "keyword_relevance": record.keyword_relevance,
        "place_relevance": record.place_relevance,
        "depth": record.depth,
        "text": text,
        "marks": [[mark.start, mark.end, mark.kind, place_at.get(mark.start)] for mark in marks],
        "places": [
            place.to_json() | {"weight": round(weight, 4), "label": place.label}
            for place_id, weight in footprint
            if (place := atlas.get(place_id)) is not None
        ],
    }


def describe(shards: Sequence[Shard], atlas: Atlas) -> dict[str, Any]:
    """Crawls, nodes with what they own, counts, span of dates, busiest places."""
    days: dict[int, int] = {}
    crawls = dict.fromkeys(shard.crawl for shard in shards)
    for shard in shards:
        for day, count in shard.index.numbers(IndexQuery(), "day", 60_000).items():
            days[day] = days.get(day, 0) + count
    known = [place for place in atlas.all() if place.pages]
    busiest = sorted(
        (p for p in known if p.kind in ("city", "feature")), key=lambda p: (-p.main_pages, -p.pages, p.name)
    )
    return {
        "crawls": [_crawl([one for one in shards if one.crawl == crawl]) for crawl in crawls],
        "pages": sum(shard.index.count(IndexQuery()) for shard in shards),
        "places": sum(place.point is not None for place in known),
        "countries": sum(place.kind == "country" for place in known),
        "first": day_of(min(days)).isoformat() if days else None,
        "last": day_of(max(days)).isoformat() if days else None,
        "top_places": [place.to_json() | {"label": place.label} for place in busiest[:TOP_PLACES]],
    }


def _crawl(shards: Sequence[Shard]) -> dict[str, Any]:
    job = shards[0].job()
    nodes = [
        {
            "node": shard.key,
            "pages": shard.index.count(IndexQuery()),
            "places": job.nodes[shard.name].places if shard.name in job.nodes else [],
        }
        for shard in shards
    ]
    return {"name": _name(job, shards[0].crawl), "topic": job.topic.called(job.name), "nodes": nodes}


def _name(job: Job, crawl: str) -> str:
    """What a crawl is called: as its job says, else as its folder; else several would all be called "crawl"."""
    return job.name if job.name != Job().name else Path(crawl).resolve().name.removeprefix("cluster:")
