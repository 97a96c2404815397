"""What the web page shows of a single page beside its text: why it was kept, its links, its archive record."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from periplus.errors import PlaceError
from periplus.model import Page
from periplus.places import Gazetteer, locate
from periplus.search.shard import PageRecord, Shard
from periplus.topics import make_topics
from periplus.topics.relevance import judge

__all__ = ["evidence_of", "links_of"]

MOST_LINKS = 200
MOST_EVIDENCE = 20


def evidence_of(shard: Shard, record: PageRecord, gazetteer: Gazetteer) -> list[dict[str, Any]]:
    """By topic of the crawl's job: both relevances, what they must reach, and the words and places behind them.

    The page is judged anew from its stored text, so the numbers may differ a little from those of the crawl, which
    also knew the page's markup.
    """
    job = shard.job()
    try:
        topics = make_topics(job.topic, job.topics, job.name, gazetteer)
    except PlaceError:  # the gazetteer is another one than the crawl's
        return []
    text, _ = shard.texts([record.id]).get(record.id, ("", []))
    page = Page(record.url, record.title, text, (), record.language)
    located = locate(text, gazetteer, url=record.url, candidates=False, language=record.language)
    rows = []
    for topic in topics:
        if topic.is_empty:
            continue
        score = judge(page, located, topic)
        rows.append(
            {
                "topic": topic.name,
                "relevant": score.relevant,
                "keyword_relevance": round(score.keyword_relevance, 4),
                "keyword_threshold": topic.keyword_threshold,
                "place_relevance": round(score.place_relevance, 4),
                "place_threshold": topic.place_threshold,
                "keywords": _strongest(score.keyword_evidence),
                "places": _strongest(score.place_evidence),
            }
        )
    return rows


def _strongest(evidence: dict[str, float]) -> list[dict[str, Any]]:
    ordered = sorted(evidence.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"name": str(name), "value": round(value, 4)} for name, value in ordered[:MOST_EVIDENCE]]


def links_of(shard: Shard, page: int, shards: Sequence[Shard]) -> list[dict[str, Any]]:
    """A page's links with what they say, the node each was assigned to, and what became of it.

    `shards`: all nodes of the collection; those of the same crawl know the URLs.
    """
    packed = shard.links(page)
    if packed is None:
        return []
    marks = np.frombuffer(packed.fingerprints, dtype="<i8")[:MOST_LINKS].tolist()
    nodes = np.frombuffer(packed.nodes, dtype="<u2")[:MOST_LINKS].tolist()
    known: dict[int, tuple[str, str]] = {}
    for other in shards:
        if other.crawl == shard.crawl:
            known |= other.urls(marks)
    found = []
    for number, (mark, node) in enumerate(zip(marks, nodes, strict=False)):
        url, outcome = known.get(mark, ("", ""))
        found.append(
            {
                "url": url,
                "anchor": packed.anchors[number] if number < len(packed.anchors) else "",
                "node": packed.names.get(node, ""),
                "outcome": outcome,
            }
        )
    return found
