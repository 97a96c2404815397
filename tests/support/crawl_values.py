"""Values that cross rooms, made with sensible defaults."""

from datetime import UTC, datetime
from pathlib import Path

from fake_clock import FakeClock

from periplus.model import (
    Analysis,
    Fetched,
    Lease,
    Links,
    LonLat,
    NewUrl,
    Outcome,
    Place,
    RoutedLink,
    Score,
    WeightedPlace,
)
from periplus.settings import ArchiveSettings
from periplus.store.archive import page_records, payload_digest
from periplus.store.commit import NodeStore
from periplus.store.folder import NodeFolder
from periplus.urls import canonicalize, fingerprint

__all__ = ["analysis", "fetched", "lease", "new_url", "open_store", "place", "routed"]


def new_url(url: str, *, priority: float = 0.5, depth: int = 1, redirects: int = 0) -> NewUrl:
    """A URL on its way into a frontier."""
    parts = canonicalize(url)
    assert parts is not None
    return NewUrl(parts.href, parts.host, fingerprint(parts.href), priority, depth, redirects)


def lease(
    url: str, *, url_id: int = 1, depth: int = 0, redirects: int = 0, attempts: int = 0, sitemap: bool = False
) -> Lease:
    """A lease of a URL."""
    parts = canonicalize(url)
    assert parts is not None
    return Lease(url_id, parts.href, parts.host, depth, redirects, 0.5, attempts, sitemap)


def routed(url: str, node: str) -> RoutedLink:
    """A link that was assigned to a node."""
    new = new_url(url)
    return RoutedLink(new.url, new.host, new.fingerprint, node)


def fetched(
    url: str = "http://example.com/",
    body: bytes = b"<title>Example</title><p>Text",
    *,
    status: int = 200,
    content_type: str = "text/html; charset=utf-8",
    headers: tuple[tuple[str, str], ...] = (),
    truncated: bool = False,
) -> Fetched:
    """A response."""
    return Fetched(
        url=url,
        status=status,
        headers=(("Content-Type", content_type), *headers),
        body=body,
        content_type=content_type,
        fetched_at=datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
        seconds=0.1,
        address="127.0.0.1",
        truncated=truncated,
    )


def place(place_id: int, name: str = "Somewhere", ancestors: tuple[int, ...] = (), kind: str = "city") -> Place:
    """A gazetteer entry."""
    path = (*(f"P{ancestor}" for ancestor in ancestors), name)
    return Place(place_id, name, kind, "US", "OR", LonLat(1.0, 2.0), 1_000, path, ancestors)


def analysis(
    *links: RoutedLink,
    response: Fetched | None = None,
    outcome: Outcome = Outcome.KEPT,
    digest: int = 1,
    priority: float = 0.5,
    places: tuple[WeightedPlace, ...] = (),
    dropped: dict[str, int] | None = None,
) -> Analysis:
    """What the pure stages made of a response."""
    kept = outcome is Outcome.KEPT
    return Analysis(
        title="Title",
        description="",
        language="en",
        published=None,
        outcome=outcome,
        nofollow=False,
        score=Score(1.0, 1.0, kept),
        link_priority=priority,
        main_place=places[0].place.id if places else None,
        places=places,
        entities=(),
        links=Links.of(links),
        dropped=dropped or {},
        content_digest=digest,
        text=b"text" if kept else b"",
        mentions=b"mentions" if kept else b"",
        warc=page_records(response or fetched(), {}) if kept else (),
        payload=payload_digest((response or fetched()).body) if kept else "",
    )


def open_store(folder: Path, *, node: str = "main", nodes: tuple[str, ...] = ("main",)) -> NodeStore:
    """The store of a node in a folder."""
    return NodeStore(
        NodeFolder(node, folder / node), nodes, ArchiveSettings(), agent="Periplus/test", clock=FakeClock()
    )
