"""The HTTP API: `/api/…`, JSON only, read only, one error shape."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from periplus.errors import EnvironmentFailure, PeriplusError, QueryError, UsageError
from periplus.search import Collection, SearchRequest
from periplus.search.trend import check_every
from periplus.web.guard import error_response

__all__ = ["Api"]

Answer = Callable[[Request], Any]

AT_ONCE = 8
"""Questions answered at the same time; further ones wait."""


class Api:
    """The answers of one collection."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._places = asyncio.Semaphore(AT_ONCE)

    def routes(self) -> list[Route]:
        """All routes under /api."""
        table: dict[str, Answer] = {
            "/api/info": self.info,
            "/api/search": self.search,
            "/api/trend": self.trend,
            "/api/points": self.points,
            "/api/suggest": self.suggest,
            "/api/page/{node}/{page:int}": self.page,
        }
        routes = [Route(path, self._endpoint(answer)) for path, answer in table.items()]
        return [*routes, Route("/api/{rest:path}", _unknown)]

    def _endpoint(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            async with self._places:
                try:
                    found = await run_in_threadpool(partial(answer, request))
                except UsageError as error:
                    return error_response(404 if isinstance(error, _Unknown) else 400, str(error))
                except EnvironmentFailure as error:
                    return error_response(503, str(error))
                except PeriplusError as error:
                    return error_response(500, str(error))
            return JSONResponse(found, headers={"cache-control": "no-store"})

        return endpoint

    def info(self, _: Request) -> dict[str, Any]:
        """What there is: crawls, nodes, counts."""
        return self._collection.info()

    def search(self, request: Request) -> dict[str, Any]:
        """Results with facets."""
        return self._collection.search(_search_request(request)).to_json()

    def trend(self, request: Request) -> dict[str, Any]:
        """Counts over time."""
        every = check_every(_one(request, "every") or "month")
        return self._collection.trend(_search_request(request), every).to_json()

    def points(self, request: Request) -> dict[str, Any]:
        """Main places of all pages that answer, for the map."""
        points = self._collection.points(_search_request(request))
        return {"points": [point.to_json() for point in points]}

    def suggest(self, request: Request) -> dict[str, Any]:
        """What `q` may go on with: places and words."""
        return self._collection.suggest(_one(request, "q") or "").to_json()

    def page(self, request: Request) -> dict[str, Any]:
        """A page with its text, its places and why it was kept."""
        node, page = request.path_params["node"], request.path_params["page"]
        view = self._collection.page(node, page, _one(request, "q") or "") if page < 2**63 else None
        if view is None:
            raise _Unknown(f"no page {page} in node {node[:60]!r}")
        return view


class _Unknown(QueryError):
    """Asked for something that is not there: 404."""


async def _unknown(request: Request) -> Response:
    return error_response(404, f"no such address: {request.url.path[:200]}")


def _one(request: Request, name: str) -> str | None:
    values = request.query_params.getlist(name)
    if len(values) > 1:
        raise QueryError(f"{name} is given {len(values)} times; once is enough")
    return values[0] if values else None


def _whole(request: Request, name: str, default: int) -> int:
    text = _one(request, name)
    if text is None or text == "":
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise QueryError(f"{name} {text[:40]!r} is no whole number")
    return int(text)


_PARAMETERS = {"q", "place", "near", "bbox", "since", "until", "sort", "limit", "offset", "explain", "every"}


def _search_request(request: Request) -> SearchRequest:
    unknown = sorted(set(request.query_params.keys()) - _PARAMETERS)
    if unknown:
        raise QueryError(f"unknown parameter {unknown[0][:40]!r}; possible are {', '.join(sorted(_PARAMETERS))}")
    return SearchRequest.of(
        _one(request, "q") or "",
        place=_one(request, "place"),
        near=_one(request, "near"),
        bbox=_one(request, "bbox"),
        since=_one(request, "since"),
        until=_one(request, "until"),
        sort=_one(request, "sort") or "relevance",
        limit=_whole(request, "limit", 10),
        offset=_whole(request, "offset", 0),
        explain=_one(request, "explain") in ("1", "true"),
    )
