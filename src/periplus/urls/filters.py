"""The rules that keep a URL out of the frontier, as an ordered list of pure functions.

Each gives the reason in one word or None; the first reason counts. Reasons are counters in the crawl's
summary, so that nothing disappears unexplained.
"""

import re
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from periplus.urls.canonical import MAX_REMEMBERED_LENGTH, CanonicalUrl, canonicalize, fingerprint
from periplus.urls.scope import in_scope

__all__ = ["DROP_REASONS", "Checked", "UrlRules", "drop_reason", "url_rules"]

MAX_PATH_SEGMENTS = 20
MAX_SEGMENT_REPEATS = 2
MAX_QUERY_PARAMETERS = 10
MAX_REMEMBERED = 50_000
"""URLs of which is remembered what the rules say: at most about 20 MB, in practice half of it."""

NOT_READ = re.compile(
    r"\.(?:7z|aac|ai|apk|avi|avif|bin|bmp|bz2|class|css|csv|deb|dmg|docx?|eot|eps|epub|exe|flac|flv|gif|gz|ico|ics|iso|"
    r"jar|jpe?g|js|json|m4[av]|mid|mkv|mov|mp[34]|mpe?g|msi|od[pst]|og[gv]|opus|otf|pdf|png|pptx?|ps|psd|rar|rpm|rss|rtf|"
    r"svg|swf|tar|tgz|tiff?|torrent|ttf|wav|web[mp]|webmanifest|wm[av]|woff2?|xlsx?|xml|xz|zip|zst)$",
    re.IGNORECASE,
)
"""File kinds that are not HTML by their name."""


def _too_long(url: CanonicalUrl, max_length: int) -> str | None:
    return "too_long" if len(url.href) > max_length else None


def _file_kind(url: CanonicalUrl, _: int) -> str | None:
    end = url.path[-16:]
    return "file_kind" if "." in end and NOT_READ.search(end) else None


def _too_deep_path(url: CanonicalUrl, _: int) -> str | None:
    return "path_depth" if url.path.count("/") > MAX_PATH_SEGMENTS else None


def _repeating_path(url: CanonicalUrl, _: int) -> str | None:
    segments = [segment for segment in url.path.split("/") if segment]
    different = set(segments)
    if len(segments) - len(different) < MAX_SEGMENT_REPEATS:
        return None
    repeats = max(segments.count(segment) for segment in different)
    return "path_repeats" if repeats > MAX_SEGMENT_REPEATS else None


def _too_many_parameters(url: CanonicalUrl, _: int) -> str | None:
    return "query_parameters" if url.query.count("&") >= MAX_QUERY_PARAMETERS else None


RULES: tuple[Callable[[CanonicalUrl, int], str | None], ...] = (
    _too_long,
    _file_kind,
    _too_deep_path,
    _repeating_path,
    _too_many_parameters,
)

DROP_REASONS = {
    "not_http": "not an http(s) URL, or not a URL at all",
    "too_long": "longer than crawl.url_length",
    "file_kind": "a file kind that is not HTML",
    "path_depth": f"more than {MAX_PATH_SEGMENTS} path segments",
    "path_repeats": f"a path segment more than {MAX_SEGMENT_REPEATS} times",
    "query_parameters": f"more than {MAX_QUERY_PARAMETERS} query parameters",
    "scope": "outside crawl.scope",
    "port": "a port that neither fetch.ports lists nor a seed has",
    "depth": "farther from the seeds than crawl.depth",
    "redirects": "more redirects in a row than fetch.redirects",
    "host_quota": "the host has crawl.host_pages URLs already",
    "domain_quota": "the registrable domain has crawl.domain_hosts hosts already",
    "trap": "the host has as many URLs of this pattern as crawl.pattern_pages gives and its pages have earned",
    "nofollow": "the page asks that its links are not followed, or the link itself does",
    "not_followed": 'a link of a page that is not relevant, with crawl.follow = "relevant"',
    "page_links": "beyond crawl.page_links in one page",
    "sitemap_host": "listed in the sitemap of another site",
    "not_home": "in a cluster: sent to a node that is not its home",
    "sitemaps": "a sitemap too many of its host, or too far down in indexes of sitemaps",
    "sent_before": "sent to the same node before",
    "document": "no URL but a page of which a part was left out: too many tags, or too many attributes in one",
    "seen": "known already",
}
"""Every reason for which a URL does not join the frontier, with its meaning."""


def drop_reason(
    url: CanonicalUrl, *, max_length: int, ports: tuple[int, ...], scope: tuple[str, ...] = ()
) -> str | None:
    """Why this URL may not join the frontier, or None if it may."""
    if url.port not in ports:
        return "port"
    if scope and not in_scope(url, scope):
        return "scope"
    for rule in RULES:
        reason = rule(url, max_length)
        if reason:
            return reason
    return None


class Checked(NamedTuple):
    """What the rules of a crawl say of a canonical URL: its host and fingerprint, and why it may not join, if so."""

    host: str
    fingerprint: int
    reason: str


class UrlRules:
    """The rules of one crawl, with what they said lately: the links of one page are mostly those of the next."""

    def __init__(self, max_length: int, ports: tuple[int, ...], scope: tuple[str, ...]) -> None:
        self._max_length, self._ports, self._scope = max_length, ports, scope
        self._known: dict[str, Checked] = {}

    def check(self, href: str) -> Checked:
        """Whether a URL in canonical form may join the frontier."""
        known = self._known.get(href)
        return known if known is not None else self._learn(href)

    def _learn(self, href: str) -> Checked:
        url = canonicalize(href)
        if url is None:
            return Checked("", 0, "not_http")
        reason = drop_reason(url, max_length=self._max_length, ports=self._ports, scope=self._scope)
        found = Checked(sys.intern(url.host), fingerprint(href), reason or "")
        if len(href) <= MAX_REMEMBERED_LENGTH:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            self._known[href] = found
        return found


@lru_cache(maxsize=8)
def url_rules(max_length: int, ports: tuple[int, ...], scope: tuple[str, ...]) -> UrlRules:
    """The rules of a crawl with these settings."""
    return UrlRules(max_length, ports, scope)
