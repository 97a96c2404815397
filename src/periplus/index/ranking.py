"""The first hits of a question, as tantivy has them."""

from dataclasses import dataclass
from typing import Any, cast

from tantivy import Order, Query, Searcher

__all__ = ["RankedPage", "Ranking", "ranking"]


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A hit: the page's number in `node.db`, its text score (0 where sorted by time) and its day, if it has one."""

    page: int
    score: float
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The first hits of a question and how many there are in all."""

    total: int
    hits: tuple[RankedPage, ...]


def ranking(searcher: Searcher, query: Query, most: int, *, by_time: bool = False) -> Ranking:
    """The best `most` hits of a query by text score, or the newest ones."""
    if by_time:
        result = searcher.search(query, most, order_by_field="day", order=Order.Desc)
    else:
        result = searcher.search(query, most)
    addresses = [address for _, address in result.hits]
    pages = searcher.fast_field_values("page", addresses) if addresses else []
    days = searcher.fast_field_values("day", addresses) if addresses else []
    scores = [0.0 if by_time else float(score) for score, _ in result.hits]
    hits = tuple(
        RankedPage(int(page), score, None if day is None else int(day))
        for page, score, day in zip(pages, scores, days, strict=True)
        if page is not None
    )
    return Ranking(int(cast("Any", result).count), hits)
