"""search: "what + where + when" over all nodes of a crawl, with ambiguity shown instead of hidden.

Previous stage: `index`; next: `web` and the commands. `Collection.open([folder]).search(SearchRequest.of("…"))`.
"""

from pathlib import Path

from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.collection import Collection
from periplus.search.names import GazetteerNames
from periplus.search.request import Circle, SearchRequest
from periplus.search.results import Facets, Hit, SearchResult, Trend

__all__ = [
    "Atlas",
    "Circle",
    "Collection",
    "Facets",
    "Hit",
    "KnownPlace",
    "SearchRequest",
    "SearchResult",
    "Trend",
    "open_collection",
]


def open_collection(*folders: Path | str) -> Collection:
    """Open one crawl, or several as one: `periplus.open("my-crawl").search("floods near Sylhet")`."""
    return Collection.open(folders, names=GazetteerNames())
