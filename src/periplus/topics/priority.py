"""Priority of links: how promising a URL is before it is fetched (papers B and C)."""

from periplus.model import Score

__all__ = ["link_priority"]


def link_priority(score: Score) -> float:
    """Priority of a page's links, 0..1: both relevances of the page count (paper C)."""
    return (score.keyword_relevance + score.place_relevance) / 2
