"""Periplus: a geographically focused web crawler with a place-aware search engine.

import periplus
periplus.open("my-crawl").search("floods near Sylhet").to_geopandas()
periplus.locate("Floods hit Sylhet.", periplus.open_gazetteer()).mentions
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from periplus.places import locate, open_gazetteer
    from periplus.search import open_collection as open  # noqa: A004  # as `periplus.open`, like gzip.open

__version__ = "0.1.0"
__all__ = ["__version__", "locate", "open", "open_gazetteer"]


def __getattr__(name: str) -> Any:
    """Bring the geoparser and search in when they are asked for, so that `import periplus` stays quick."""
    if name == "open":
        import periplus.search  # noqa: PLC0415

        return periplus.search.open_collection
    if name in ("locate", "open_gazetteer"):
        import periplus.places  # noqa: PLC0415

        return getattr(periplus.places, name)
    raise AttributeError(f"module 'periplus' has no attribute {name!r}")
