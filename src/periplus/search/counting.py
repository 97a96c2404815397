"""Counts over all nodes: facets, days, main places, words."""

from collections import Counter
from collections.abc import Sequence

from periplus.index import IndexQuery
from periplus.search.atlas import Atlas
from periplus.search.facets import place_tree
from periplus.search.results import Facets
from periplus.search.shard import Shard

__all__ = ["count_facets", "count_numbers", "count_words"]

FACETS = {"place_path": 200, "topic": 20, "domain": 10, "language": 10, "month": 1_200}
"""Values of each facet that are shown, or counted to be shown."""

OF_EACH = {"place_path": 5_000, "topic": 1_000, "domain": 1_000, "language": 100, "month": 1_200}
"""Values that each of several nodes is asked for: what many have a little of may be among the first of all together."""


def count_facets(shards: Sequence[Shard], query: IndexQuery, atlas: Atlas) -> Facets:
    """How the pages that answer are spread over places, topics, years, sites and languages."""
    totals: dict[str, Counter[str]] = {field: Counter() for field in FACETS}
    asked = FACETS if len(shards) == 1 else OF_EACH
    for shard in shards:
        for field, counts in shard.index.counts(query, asked).items():
            totals[field].update(counts)

    def top(field: str) -> tuple[tuple[str, int], ...]:
        ordered = sorted(totals[field].items(), key=lambda pair: (-pair[1], pair[0]))
        return tuple(ordered[: FACETS[field]])

    years: Counter[int] = Counter()
    for month, count in totals["month"].items():
        years[int(float(month)) // 12] += count
    return Facets(
        places=place_tree(dict(top("place_path")), atlas),
        topics=top("topic"),
        dates=tuple((f"{year:04d}", count) for year, count in sorted(years.items(), reverse=True)),
        sites=top("domain"),
        languages=top("language"),
    )


def count_numbers(shards: Sequence[Shard], query: IndexQuery, field: str, most: int) -> dict[int, int]:
    """How many of the pages that answer have each value of a field of whole numbers."""
    counts: Counter[int] = Counter()
    for shard in shards:
        counts.update(shard.index.numbers(query, field, most))
    return dict(counts)


def count_words(shards: Sequence[Shard], prefix: str, most: int | None) -> list[tuple[str, int]]:
    """Words of titles and descriptions that begin so, with how many pages have them, the commonest first."""
    counts: Counter[str] = Counter()
    for shard in shards:
        counts.update(dict(shard.index.words(prefix, most)))
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
