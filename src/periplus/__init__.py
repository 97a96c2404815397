"""Periplus: a geographically focused web crawler with a place-aware search engine.

from periplus import locate, open_gazetteer
locate("Floods hit Sylhet.", open_gazetteer()).mentions
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from periplus.places import locate, open_gazetteer

__version__ = "0.1.0"
__all__ = ["__version__", "locate", "open_gazetteer"]


def __getattr__(name: str) -> Any:
    """Bring the geoparser in when it is asked for, so that `import periplus` stays quick."""
    if name in ("locate", "open_gazetteer"):
        import periplus.places  # noqa: PLC0415

        return getattr(periplus.places, name)
    raise AttributeError(f"module 'periplus' has no attribute {name!r}")
