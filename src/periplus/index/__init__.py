"""index: full text, place hierarchy, coordinates and time of a node's kept pages, on tantivy.

Previous stage: `store` committed pages; next: `search` asks. The index holds nothing that `node.db` does not,
so it may be deleted at any time. Everything tantivy lives in this room; others pass `IndexQuery` values.
"""

from periplus.index.analysis import fold, forms, is_stop_word, prepare, stemmer_of, word_spans
from periplus.index.node_index import NodeIndex
from periplus.index.query import IndexQuery, TextUnit
from periplus.index.ranges import EVER, DayRange, day_number, day_of
from periplus.index.ranking import RankedPage, Ranking
from periplus.index.reading import unpack_mentions, unpack_text

__all__ = [
    "EVER",
    "DayRange",
    "IndexQuery",
    "NodeIndex",
    "RankedPage",
    "Ranking",
    "TextUnit",
    "day_number",
    "day_of",
    "fold",
    "forms",
    "is_stop_word",
    "prepare",
    "stemmer_of",
    "unpack_mentions",
    "unpack_text",
    "word_spans",
]
