"""Results in Python and in notebooks: as a table that shows itself, as GeoJSON, and as a GeoDataFrame."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from periplus.errors import EnvironmentFailure
from periplus.wording import counted

if TYPE_CHECKING:
    from periplus.search.results import Hit, SearchResult
    from periplus.search.snippets import Mark

__all__ = ["to_geojson", "to_geopandas", "to_html"]


def _row(hit: "Hit") -> dict[str, Any]:
    place = hit.place
    return {
        "rank": hit.rank,
        "title": hit.title,
        "url": hit.url,
        "snippet": hit.snippet,
        "score": hit.score,
        "published": hit.published,
        "fetched": hit.fetched,
        "language": hit.language,
        "topics": list(hit.topics),
        "place_id": place.id if place else None,
        "place": place.label if place else None,
        "country": place.country if place else None,
        "path": " > ".join(place.path) if place else None,
        "relation": hit.relation,
        "reason": hit.reason,
    }


def to_geojson(hits: "Sequence[Hit]") -> dict[str, Any]:
    """The hits as a FeatureCollection (RFC 7946), each at the point of its main place."""
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": [hit.place.point.lon, hit.place.point.lat]}
                if hit.place and hit.place.point
                else None,
                "properties": _row(hit),
            }
            for hit in hits
        ],
    }


def to_geopandas(hits: "Sequence[Hit]") -> Any:
    """The hits as a GeoDataFrame in WGS 84. Needs GeoPandas, which the extra `geo` brings."""
    try:
        import geopandas  # noqa: PLC0415  # an extra
        from shapely import Point  # noqa: PLC0415
    except ImportError:
        raise EnvironmentFailure("to_geopandas needs GeoPandas; install it with: pip install 'periplus[geo]'") from None
    points = [
        Point(hit.place.point.lon, hit.place.point.lat) if hit.place and hit.place.point else None for hit in hits
    ]
    columns = list(_row(hits[0])) if hits else list(_EMPTY)
    rows = [_row(hit) for hit in hits]
    table = {column: [row[column] for row in rows] for column in columns}
    return geopandas.GeoDataFrame(table, geometry=points, crs="EPSG:4326")


_EMPTY = ("rank", "title", "url", "snippet", "score", "published", "fetched", "language", "topics", "place_id", "place",
          "country", "path", "relation", "reason")  # fmt: skip


def to_html(result: "SearchResult") -> str:
    """A table for notebooks. Everything that was crawled is escaped; links lead to http and https only."""
    head = [f"<b>{counted(result.total, 'page')}</b>", escape(result.understood.reading)]
    if result.did_you_mean:
        head.append(f"did you mean: {escape(result.did_you_mean)}")
    rows = "".join(
        f"<tr><td>{hit.rank}</td><td>{_link(hit)}<br>{_marked(hit.snippet, hit.marks)}</td>"
        f"<td>{escape(hit.place.label) if hit.place else ''}{_small(hit.reason)}</td>"
        f"<td>{escape(hit.published or '')}</td><td>{hit.score:.3f}</td></tr>"
        for hit in result.hits
    )
    titles = "".join(f"<th>{title}</th>" for title in ("", "page", "place", "published", "score"))
    return f"<p>{' · '.join(head)}</p><table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"


def _link(hit: "Hit") -> str:
    title = escape(hit.title or hit.url)
    try:
        safe = urlsplit(hit.url).scheme in ("http", "https")
    except ValueError:
        safe = False
    return f'<a href="{escape(hit.url)}" rel="noopener noreferrer nofollow">{title}</a>' if safe else title


def _small(text: str) -> str:
    return f"<br><small>{escape(text)}</small>" if text else ""


def _marked(text: str, marks: "Sequence[Mark]") -> str:
    parts, at = [], 0
    for mark in marks:
        parts += [escape(text[at : mark.start]), f"<b>{escape(text[mark.start : mark.end])}</b>"]
        at = mark.end
    return "".join([*parts, escape(text[at:])])
