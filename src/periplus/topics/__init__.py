"""Room `topics`: what a crawl is about, and how relevant a page is to it. Between `places` and `strategies`."""

from periplus.topics.link_book import LinkBook, link_features
from periplus.topics.priority import LinkParts, LinkScorer, best_parts, link_priority, packed_parts, unpacked_parts
from periplus.topics.relevance import judge, judge_list, judge_view
from periplus.topics.topic import Topic, countries_of, make_topic, make_topics
from periplus.topics.view import View

__all__ = [
    "LinkBook",
    "LinkParts",
    "LinkScorer",
    "Topic",
    "View",
    "best_parts",
    "countries_of",
    "judge",
    "judge_list",
    "judge_view",
    "link_features",
    "link_priority",
    "make_topic",
    "make_topics",
    "packed_parts",
    "unpacked_parts",
]
