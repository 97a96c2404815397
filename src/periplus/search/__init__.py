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


def open_collection(*folders: Path | str, cluster: str = "") -> Collection:
    """Open one crawl, or several as one: `periplus.open("my-crawl").search("floods near Sylhet")`.

    With `cluster` (nats://HOST:4222, or a file with a [cluster] table) the machines of a cluster are asked; then the
    name of the crawl is given instead of a folder, or nothing if there is only one.
    """
    if cluster:
        from periplus.cluster.addresses import cluster_settings  # noqa: PLC0415  heavy
        from periplus.search.remote import ClusterLink  # noqa: PLC0415

        link = ClusterLink(cluster_settings(cluster), str(folders[0]) if folders else "")
        return Collection.of_cluster(link, names=GazetteerNames())
    return Collection.open(folders, names=GazetteerNames())
