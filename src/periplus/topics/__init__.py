"""Room `topics`: what a crawl is about, and how relevant a page is to it. Between `places` and `strategies`."""

from periplus.topics.priority import link_priority
from periplus.topics.relevance import judge
from periplus.topics.topic import Topic, make_topic

__all__ = ["Topic", "judge", "link_priority", "make_topic"]
