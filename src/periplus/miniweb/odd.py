"""What lies beside the pages: redirects, files, print versions, traps, dead ends.

Called by `web` for targets that are not pages of the plan. All of it is computed from the target alone, so the
traps are endless and cost nothing.
"""

import re
from calendar import month_name
from collections.abc import Callable
from dataclasses import dataclass, replace

from periplus.miniweb.blueprint import Blueprint, Host, PagePlan
from periplus.miniweb.rendering import html_page
from periplus.miniweb.response import Response

__all__ = ["TRAP_PREFIXES", "odd_response"]

TRAP_PREFIXES = ("/calendar/", "/deeper/", "/browse?")
"""Where the endless pages are; which of them a crawl meets depends on the order in which it goes."""

PageResponse = Callable[[PagePlan], Response]

_CALENDAR = re.compile(r"/calendar/(\d{1,6})/(\d{1,2})/(?:(\d{1,2}))?")
_FILE = re.compile(r"/(files|images)/[\w-]+\.(pdf|jpg)")
_STYLE = b"body{font-family:sans-serif;max-width:60em}table{border-collapse:collapse}td{padding:.2em}\n"
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)
_JPG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9")
_FACETS = {
    "color": ("red", "green", "blue", "black", "white"),
    "size": ("s", "m", "l", "xl"),
    "sort": ("price", "name", "new"),
    "page": ("1", "2", "3", "4", "5", "6"),
}


@dataclass(frozen=True, slots=True)
class _Visit:
    """A request for something that is no page of the plan."""

    blueprint: Blueprint
    host: Host
    target: str
    page_response: PageResponse


def odd_response(blueprint: Blueprint, host: Host, target: str, page_response: PageResponse) -> Response:
    """The answer to a target that is no page: one of the special places of the host, or 404."""
    visit = _Visit(blueprint, host, target, page_response)
    for prefix, answer in _PLACES:
        if target.startswith(prefix):
            return answer(visit) or not_found(target)
    return not_found(target)


def not_found(target: str) -> Response:
    """The 404 page."""
    shown = "".join(c if c.isalnum() or c in "/-._" else "?" for c in target[:80])
    return Response(
        404, html_page("Not found", f"<p>There is no page {shown} here.</p>").encode(), outcome="http_error"
    )


def _redirect(status: int, location: str, outcome: str = "redirected") -> Response:
    body = html_page("Moved", f'<p>See <a href="{location.replace("&", "&amp;")}">the new address</a>.</p>')
    return Response(status, body.encode(), outcome=outcome, location=location)


def _go(visit: _Visit) -> Response | None:
    number = visit.target.removeprefix("/go/")
    if not number.isdecimal() or len(number) > 9 or int(number) >= len(visit.blueprint.pages):
        return None
    index = int(number)
    return _redirect(302 if index % 2 else 301, visit.blueprint.url(visit.blueprint.pages[index]))


def _old(visit: _Visit) -> Response | None:
    path = visit.target.removeprefix("/old")
    return _redirect(301, path) if path in visit.blueprint.page_by_path[visit.host.index] else None


def _loop(visit: _Visit) -> Response | None:
    other = "/loop/b" if visit.target == "/loop/a" else "/loop/a"
    return _redirect(302, other, "too_many_redirects")


def _chain(visit: _Visit) -> Response | None:
    """`/chain/3` needs three more hops; chains longer than five are too many for most crawlers."""
    number = visit.target.removeprefix("/chain/")
    if not number.isdecimal() or len(number) > 4:
        return None
    left = int(number)
    if left == 0:
        return _redirect(301, "/")
    return _redirect(302, f"/chain/{left - 1}", "redirected" if left < 5 else "too_many_redirects")


def _file(visit: _Visit) -> Response | None:
    match = _FILE.fullmatch(visit.target)
    if match is None:
        return None
    if match[2] == "pdf":
        return Response(200, _PDF, "application/pdf", outcome="not_html")
    return Response(200, _JPG, "image/jpeg", outcome="not_html")


def _style(visit: _Visit) -> Response | None:
    return Response(200, _STYLE, "text/css", outcome="not_html") if visit.target == "/style.css" else None


def _calendar(visit: _Visit) -> Response | None:
    """Endless months, each with a page for every day."""
    match = _CALENDAR.fullmatch(visit.target)
    if match is None or visit.host.kind != "calendar" or not 1 <= int(match[2]) <= 12:
        return None
    year, month = int(match[1]), int(match[2])
    before = (year, month - 1) if month > 1 else (year - 1, 12)
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    links = [f'<a href="/calendar/{after[0]}/{after[1]}/">Next month</a>']
    if before[0] > 0:
        links.insert(0, f'<a href="/calendar/{before[0]}/{before[1]}/">Previous month</a>')
    if match[3] is None:
        links += [f'<a href="/calendar/{year}/{month}/{day}">{day}</a>' for day in range(1, 29)]
    title = f"{month_name[month]} {match[3] + ', ' if match[3] else ''}{year}"
    return Response(200, html_page(title, f"<p>No events. {' '.join(links)}</p>").encode(), outcome="trap")


def _deeper(visit: _Visit) -> Response | None:
    """A relative link that never ends: /deeper/deeper/deeper/…"""
    if visit.host.kind != "folders" or not visit.target.endswith("/"):
        return None
    depth = visit.target.count("/") - 1
    return Response(
        200, html_page(f"Folder {depth}", '<p><a href="deeper/">One deeper</a></p>').encode(), outcome="trap"
    )


def _browse(visit: _Visit) -> Response | None:
    """Facets in every order: few pages of content, thousands of addresses."""
    if not visit.host.has_facets:
        return None
    pairs = [pair for pair in visit.target.partition("?")[2].split("&") if pair]
    chosen = {pair.partition("=")[0] for pair in pairs}
    if len(pairs) > len(_FACETS) or not chosen <= _FACETS.keys():
        return None
    links = [
        f'<a href="/browse?{"&amp;".join([*pairs, f"{name}={value}"])}">{name} {value}</a>'
        for name, values in _FACETS.items()
        if name not in chosen
        for value in values
    ]
    body = f"<p>Items: {', '.join(pairs).replace('=', ' ')}. {' '.join(links)}</p>"
    return Response(200, html_page(f"Browse {visit.host.title}", body).encode(), outcome="trap")


def _print_version(visit: _Visit) -> Response | None:
    """The same text with another banner: a near-duplicate."""
    page = visit.blueprint.page_by_path[visit.host.index].get(visit.target.removeprefix("/print"))
    if page is None:
        return None
    original = visit.blueprint.pages[page]
    response = visit.page_response(original)
    if response.status != 200:
        return response
    body = response.body.replace(b"<h1>", b"<p>Printer friendly version</p><h1>", 1)
    return replace(response, body=body, duplicate_of=visit.blueprint.url(original), etag="")


def _same_as_home(visit: _Visit) -> Response | None:
    if not visit.host.count or visit.target != "/index.html":
        return None
    home = visit.blueprint.pages[visit.host.first]
    return replace(visit.page_response(home), outcome="duplicate", duplicate_of=visit.blueprint.url(home))


_PLACES = (
    ("/go/", _go),
    ("/old/", _old),
    ("/loop/", _loop),
    ("/chain/", _chain),
    ("/files/", _file),
    ("/images/", _file),
    ("/style.css", _style),
    ("/calendar/", _calendar),
    ("/deeper/", _deeper),
    ("/browse?", _browse),
    ("/print/", _print_version),
    ("/index.html", _same_as_home),
)
