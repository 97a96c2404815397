"""What is true about the miniature web, as JSON lines: the answer sheet for crawlers, parsers and geoparsers.

Made by the same rendering as the pages, so it cannot disagree with them. Between `rendering` and `web`.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from periplus.errors import EnvironmentFailure
from periplus.miniweb.blueprint import Blueprint, Business, Host, PagePlan
from periplus.miniweb.places import towns
from periplus.miniweb.rendering import Rendered, render
from periplus.miniweb.response import Response

__all__ = ["truth_rows", "write_truth"]

Respond = Callable[[str, str, int], Response]


def truth_rows(blueprint: Blueprint, respond: Respond) -> Iterator[dict[str, Any]]:
    """One row for each page of the plan, then each mirrored page, then each other URL that pages link to.

    Addresses with a session id or a tracking parameter have no row of their own: without it, they have.
    """
    known: set[str] = set()
    others: dict[str, None] = {}
    for page in blueprint.pages:
        rendered = render(blueprint, page)
        known.add(blueprint.url(page))
        others.update(dict.fromkeys(rendered.links))
        yield _page_row(blueprint, page, rendered)
    for row in _mirror_rows(blueprint):
        known.add(row["url"])
        others.update(dict.fromkeys(row["links"]))
        yield row
    yield from _other_rows(blueprint, [url for url in others if url not in known], known, respond)


def write_truth(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write the rows, one JSON object a line, and return how many there were."""
    count = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
                count += 1
    except OSError as error:
        raise EnvironmentFailure(f"{path}: {error.strerror}; choose another file") from None
    return count


def _page_row(blueprint: Blueprint, page: PagePlan, rendered: Rendered) -> dict[str, Any]:
    host = blueprint.hosts[page.host]
    status, outcome = expected(host, page)
    return {
        "url": blueprint.url(page),
        "host": host.name,
        "site": host.kind,
        "kind": page.kind,
        "topic": page.topic,
        "language": host.language,
        "charset": host.charset,
        "title": page.title,
        "places": _places(rendered.named),
        "addresses": [_address(business, with_zip) for business, with_zip in rendered.addresses],
        "links": rendered.links,
        "published": date.fromordinal(page.published).isoformat() if page.published else None,
        "duplicate_of": None,
        "status": status,
        "outcome": outcome,
        "quirk": page.quirk,
    }


def expected(host: Host, page: PagePlan) -> tuple[int, str]:
    """Status of the first request, and the outcome that a correct crawl with `keep = "all"` ends with."""
    if host.robots == "closed" or (host.robots == "folders" and page.quirk == "private"):
        return 200, "robots"
    if host.robots == "unreachable":
        return 200, "robots_unreachable"
    if page.quirk == "error":
        return 500, "server_error"
    status = {"flaky": 500, "busy": 429}.get(page.quirk, 200)
    return status, "not_indexed" if page.quirk == "noindex" else "kept"


def _places(named: dict[int, int]) -> list[dict[str, Any]]:
    """The towns by their share of mentions, most named first."""
    total = sum(named.values())
    ranked = sorted(named.items(), key=lambda item: (-item[1], item[0]))
    result = []
    for index, times in ranked:
        town = towns()[index]
        result.append(
            {
                "id": town.id,
                "name": town.name,
                "admin1": town.admin1,
                "country": town.country,
                "lat": town.lat,
                "lon": town.lon,
                "weight": round(times / total, 4),
            }
        )
    return result


def _address(business: Business, with_zip: bool) -> dict[str, str]:
    return {
        "street_number": business.street_number,
        "street": business.street,
        "city": business.town.name,
        "state": business.town.admin1,
        "zip": business.zip if with_zip else "",
    }


def _mirror_rows(blueprint: Blueprint) -> Iterator[dict[str, Any]]:
    for mirror in blueprint.hosts:
        if mirror.mirror_of < 0:
            continue
        original = blueprint.hosts[mirror.mirror_of]
        for page in blueprint.pages[original.first : original.first + original.count]:
            row = _page_row(blueprint, page, render(blueprint, page))
            if row["outcome"] != "kept":
                continue
            there = f"http://{original.name}/"
            row["duplicate_of"] = row["url"]
            row["url"] = f"http://{mirror.name}{page.path}"
            row["links"] = [
                link.replace(there, mirror.url, 1) if link.startswith(there) else link for link in row["links"]
            ]
            yield row | {"host": mirror.name, "site": mirror.kind, "outcome": "duplicate"}


def _other_rows(blueprint: Blueprint, urls: list[str], known: set[str], respond: Respond) -> Iterator[dict[str, Any]]:
    """Rows of the addresses that are no pages, and of where their redirects lead, hop by hop."""
    while urls:
        hops = []
        for url in urls:
            known.add(url)
            row = _other_row(blueprint, url, respond)
            if row is not None:
                hops += row["links"]
                yield row
        urls = [url for url in dict.fromkeys(hops) if url not in known]


def _other_row(blueprint: Blueprint, url: str, respond: Respond) -> dict[str, Any] | None:
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    if "jsessionid=" in target or "sid=" in parts.query or "utm_source=" in parts.query:
        return None
    host = blueprint.hosts[blueprint.host_by_name[parts.netloc]]
    response = respond(host.name, target, 0)
    closed = {"closed": "robots", "unreachable": "robots_unreachable"}.get(host.robots)
    private = host.robots == "folders" and target.startswith("/private/")
    return {
        "url": url,
        "host": host.name,
        "site": host.kind,
        "kind": "trap" if response.outcome == "trap" else "other",
        "topic": "",
        "language": host.language,
        "charset": host.charset,
        "title": "",
        "places": [],
        "addresses": [],
        "links": [urljoin(url, response.location)] if response.location else [],
        "published": None,
        "duplicate_of": response.duplicate_of or None,
        "status": response.status,
        "outcome": closed or ("robots" if private else response.outcome),
        "quirk": "",
    }
