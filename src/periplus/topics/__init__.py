"""Room `topics`: what a crawl is about, and how relevant a page is to it. Between `places` and `strategies`."""

from periplus.topics.priority import LinkParts, LinkScorer, link_priority, packed_parts, unpacked_parts
from periplus.topics.relevance import judge
from periplus.topics.topic import Topic, make_topic

__all__ = [
    "LinkParts",
    "LinkScorer",
    "Topic",
    "judge",
    "link_priority",
    "make_topic",
    "packed_parts",
    "unpacked_parts",
]
