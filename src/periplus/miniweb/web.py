"""The miniature web as a function: (host, target) in, response out; no clock, no socket.

After `rendering`; `server` puts it on a port, `truth` writes down what is in it.
"""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from periplus.errors import UsageError
from periplus.miniweb.blueprint import Blueprint, Host, PagePlan
from periplus.miniweb.odd import odd_response
from periplus.miniweb.planning import make_blueprint
from periplus.miniweb.rendering import html_page, render
from periplus.miniweb.response import Response
from periplus.miniweb.truth import truth_rows, write_truth
from periplus.model import Fetched

__all__ = ["Miniweb", "generate"]

RECORDED = datetime(2026, 11, 1, tzinfo=UTC)
"""The day of the miniature web's news, for recordings of it."""

_SESSION_PATH = re.compile(r";jsessionid=[0-9A-F]+")
_IGNORED_PARAMETERS = re.compile(r"(?<=[?&])(?:sid|utm_\w+)=[^&]*(?:&|$)")


def generate(
    seed: int = 1,
    *,
    hosts: int = 320,
    pages: int = 5500,
    locality: float = 0.7,
    slow_seconds: float = 0.3,
) -> "Miniweb":
    """Plan a miniature web. The same arguments give the same bytes on every machine.

    `locality` (0..1) is how strongly pages about a town link to pages about the same town; `slow_seconds` is
    the delay of the slow pages. Raises UsageError for numbers that cannot work.
    """
    if not 0.0 <= locality <= 1.0:
        raise UsageError(f"miniweb: locality {locality} is not between 0 and 1")
    if not 0.0 <= slow_seconds <= 60.0:
        raise UsageError(f"miniweb: slow_seconds {slow_seconds} is not between 0 and 60")
    return Miniweb(make_blueprint(seed, hosts, pages, locality, slow_seconds))


@dataclass(frozen=True, slots=True)
class Miniweb:
    """A synthetic web with known truth. `respond` is all a server needs."""

    blueprint: Blueprint

    def seeds(self) -> list[str]:
        """Where a crawl begins: the directory, the regional portals, two newspapers and two subject sites."""
        hosts = self.blueprint.hosts
        chosen = [host for host in hosts if host.kind in ("directory", "portal")][:8]
        for kind in ("news", "topic"):
            chosen += [host for host in hosts if host.kind == kind][:2]
        return [host.url for host in chosen]

    def urls(self) -> Iterator[str]:
        """Every page of the plan, in order."""
        return (self.blueprint.url(page) for page in self.blueprint.pages)

    def responses(self) -> Iterator[Fetched]:
        """The answer to every address that robots.txt allows, without HTTP; flaky pages as they are the second time."""
        for row in self.truth():
            if row["outcome"].startswith("robots"):
                continue
            parts = urlsplit(row["url"])
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            response = self.respond(parts.netloc, target, visit=1)
            headers = {"Content-Type": response.content_type, "Location": response.location, "ETag": response.etag}
            headers["X-Robots-Tag"] = response.x_robots_tag
            yield Fetched(
                row["url"],
                response.status,
                tuple((name, value) for name, value in headers.items() if value),
                response.body,
                response.content_type,
                RECORDED,
                0.0,
                "127.0.0.1",
            )

    def truth(self) -> Iterator[dict[str, Any]]:
        """What is true about every page and every other address that a page links to; see docs/miniweb.md."""
        return truth_rows(self.blueprint, self.respond)

    def write_truth(self, path: Path) -> int:
        """Write the truth as JSON lines and return their number."""
        return write_truth(self.truth(), path)

    def respond(self, host_name: str, target: str, visit: int = 0) -> Response:
        """The answer to a GET of `target` (path and query) at `host_name`.

        `visit` is how often this URL was asked before: a flaky page fails the first time only.
        """
        blueprint = self.blueprint
        number = blueprint.host_by_name.get(host_name)
        if number is None:
            body = html_page("Misdirected request", f"<p>No site named {_safe(host_name)} is served here.</p>")
            return Response(421, body.encode(), outcome="http_error")
        host = blueprint.hosts[number]
        if host.mirror_of >= 0:
            return self._mirrored(host, target, visit)
        found = blueprint.page_by_path[number].get(target)
        if found is not None:
            return self.page_response(blueprint.pages[found], visit)
        return self._otherwise(host, target, visit)

    def is_flaky(self, host_name: str, target: str) -> bool:
        """Whether this URL fails on its first visit: with 500, or with 429 and Retry-After."""
        number = self.blueprint.host_by_name.get(host_name)
        index = None if number is None else self.blueprint.page_by_path[number].get(target)
        return index is not None and self.blueprint.pages[index].quirk in ("flaky", "busy")

    def page_response(self, page: PagePlan, visit: int = 0) -> Response:
        """The answer for a page of the plan, its quirk included."""
        blueprint = self.blueprint
        host = blueprint.hosts[page.host]
        if page.quirk == "error" or (page.quirk == "flaky" and visit == 0):
            sorry = html_page("Internal server error", "<p>Something broke. Please come back later.</p>")
            return Response(500, sorry.encode(), outcome="server_error" if page.quirk == "error" else "retry")
        if page.quirk == "busy" and visit == 0:
            sorry = html_page("Too many requests", "<p>Please wait a second.</p>")
            return Response(429, sorry.encode(), outcome="retry", retry_after="1")
        body = render(blueprint, page).html.encode(host.charset, "xmlcharrefreplace")
        content_type = "text/html" if host.charset_by == "meta" else f"text/html; charset={host.charset}"
        return Response(
            200,
            body,
            content_type,
            delay_seconds=blueprint.slow_seconds if page.quirk == "slow" else 0.0,
            outcome=_outcome(host, page),
            etag=f'"{blueprint.seed:x}-{page.index:x}"',
            x_robots_tag="noindex" if page.quirk == "noindex" and page.index % 2 else "",
        )

    def _mirrored(self, host: Host, target: str, visit: int) -> Response:
        if target == "/robots.txt":
            return self._robots(host)
        original = self.blueprint.hosts[host.mirror_of]
        response = self.respond(original.name, target, visit)
        if response.status == 200 and response.outcome == "kept":
            return replace(response, outcome="duplicate", duplicate_of=f"http://{original.name}{target}")
        return response

    def _otherwise(self, host: Host, target: str, visit: int) -> Response:
        """Everything that is not a page of the plan under its own address."""
        if target == "/robots.txt":
            return self._robots(host)
        if target in ("/sitemap.xml", "/sitemap.xml.gz") and host.sitemap:
            return self._sitemap(host, target)
        bare = _without_session(target)
        if bare != target:
            response = self.respond(host.name, bare, visit)
            if response.status == 200 and not response.duplicate_of:
                return replace(response, outcome="duplicate", duplicate_of=f"http://{host.name}{bare}")
            return response
        return odd_response(self.blueprint, host, target, lambda page: self.page_response(page, 1))

    def _robots(self, host: Host) -> Response:
        if host.robots == "none":
            return Response(404, b"no robots.txt here\n", "text/plain", outcome="http_error")
        if host.robots == "unreachable":
            return Response(503, b"overloaded\n", "text/plain", outcome="server_error")
        lines = ["# robots.txt of the miniature web", "User-agent: *"]
        if host.robots == "closed":
            lines.append("Disallow: /")
        elif host.robots == "folders":
            lines += ["Disallow: /private/", "Disallow: /search"]
            lines += ["Allow: /private/open-day.html"] if host.kind == "calendar" else []
        else:
            lines.append("Disallow:")
        if host.crawl_delay:
            lines.append(f"Crawl-delay: {host.crawl_delay:g}")
        if host.sitemap:
            lines.append(f"\nSitemap: http://{host.name}/sitemap.xml{'.gz' if host.sitemap == 'gzip' else ''}")
        return Response(200, ("\n".join(lines) + "\n").encode(), "text/plain; charset=utf-8", outcome="not_html")

    def _sitemap(self, host: Host, target: str) -> Response:
        pages = self.blueprint.pages[host.first : host.first + host.count]
        entries = "".join(
            f"<url><loc>{self.blueprint.url(page).replace('&', '&amp;')}</loc></url>\n"
            for page in pages
            if page.quirk != "private"
        )
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{entries}</urlset>\n"
        ).encode()
        if target.endswith(".gz"):
            return Response(200, gzip.compress(text, 6, mtime=0), "application/gzip", outcome="not_html")
        return Response(200, text, "application/xml", outcome="not_html")


def _outcome(host: Host, page: PagePlan) -> str:
    if host.robots == "closed" or (host.robots == "folders" and page.quirk == "private"):
        return "robots"
    if host.robots == "unreachable":
        return "robots_unreachable"
    return "not_indexed" if page.quirk == "noindex" else "kept"


def _without_session(target: str) -> str:
    path, question, query = target.partition("?")
    path = _SESSION_PATH.sub("", path)
    if not question:
        return path
    query = _IGNORED_PARAMETERS.sub("", f"?{query}")[1:].rstrip("&")
    return f"{path}?{query}" if query else path


def _safe(text: str) -> str:
    return "".join(c if c.isalnum() or c in ".-:" else "?" for c in text[:100])
