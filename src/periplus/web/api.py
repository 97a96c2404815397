"""The HTTP API: `/api/…`, JSON only, read only, one error shape."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import xxhash
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from periplus import __version__
from periplus.errors import EnvironmentFailure, PeriplusError, QueryError, UsageError
from periplus.index import IndexQuery
from periplus.search import Collection, SearchRequest
from periplus.search.request import LONGEST_QUESTION
from periplus.search.trend import check_every
from periplus.web.guard import error_response
from periplus.web.jobs import job_states
from periplus.web.limits import RequestCounts
from periplus.web.openapi import OPERATIONS, Operation, document

__all__ = ["Api"]

Answer = Callable[[Request], Any]

AT_ONCE = 8
"""Questions answered at the same time; further ones wait."""

ANSWER_SECONDS = 10.0
"""After so long no further node is asked; the answer is marked as a part."""


class Api:
    """The answers of one collection."""

    def __init__(self, collection: Collection, *, token: bool = False) -> None:
        self._collection = collection
        self._places = asyncio.Semaphore(AT_ONCE)
        self._document = document(token=token)
        self.counts = RequestCounts()

    def routes(self) -> list[Route]:
        """All routes under /api."""
        answers: dict[str, Answer] = {
            "search": self.search,
            "trend": self.trend,
            "facets": self.facets,
            "points": self.points,
            "suggest": self.suggest,
            "page": self.page,
            "nearby": self.nearby,
            "info": self.info,
            "jobs": self.jobs,
            "metrics": self.metrics,
        }
        routes = [Route(operation.path, self._endpoint(operation, answers[operation.name])) for operation in OPERATIONS]
        return [*routes, Route("/api/openapi.json", self._openapi), Route("/api/{rest:path}", _unknown)]

    async def _openapi(self, _: Request) -> Response:
        return JSONResponse(self._document, headers={"cache-control": "no-cache"})

    def _endpoint(self, operation: Operation, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            began = time.perf_counter()
            response = await self._respond(operation, answer, request)
            self.counts.add(operation.name, response.status_code, time.perf_counter() - began)
            return response

        return endpoint

    async def _respond(self, operation: Operation, answer: Answer, request: Request) -> Response:
        headers = {"cache-control": "no-store"}
        if operation.cached:
            headers = {"cache-control": "private, no-cache", "etag": self._etag(request)}
            if headers["etag"] in _named_etags(request):
                return Response(status_code=304, headers=headers)
        async with self._places:
            try:
                _check_names(operation, request)
                found = await run_in_threadpool(partial(answer, request))
            except UsageError as error:
                return error_response(404 if isinstance(error, _Unknown) else 400, str(error))
            except EnvironmentFailure as error:
                return error_response(503, str(error))
            except PeriplusError as error:
                return error_response(500, str(error))
        if isinstance(found, str):
            return Response(found, headers=headers | {"content-type": operation.media})
        return JSONResponse(found, headers=headers)

    def _etag(self, request: Request) -> str:
        """What the answer depends on: the state of the collection, the address, and this version of Periplus.

        Weak, since an answer also says how long it took.
        """
        state = f"{__version__} {self._collection.version} {request.url.path}?{request.url.query}"
        return f'W/"{xxhash.xxh3_128_hexdigest(state.encode("utf-8", "replace"))}"'

    def info(self, _: Request) -> dict[str, Any]:
        """What there is: crawls, nodes, counts."""
        return self._collection.info()

    def search(self, request: Request) -> dict[str, Any]:
        """Results with facets."""
        return self._collection.search(_search_request(request), seconds=ANSWER_SECONDS).to_json()

    def trend(self, request: Request) -> dict[str, Any]:
        """Counts over time."""
        every = check_every(_given(request, "every", "month"))
        return self._collection.trend(_search_request(request), every).to_json()

    def facets(self, request: Request) -> dict[str, Any]:
        """Counts by place, topic, date, site and language."""
        return self._collection.facets_of(_search_request(request))

    def points(self, request: Request) -> dict[str, Any]:
        """Main places of all pages that answer, for the map."""
        points = self._collection.points(_search_request(request))
        return {"points": [point.to_json() for point in points]}

    def suggest(self, request: Request) -> dict[str, Any]:
        """What `q` may go on with: places and words."""
        typed = _one(request, "q") or ""
        if len(typed) > LONGEST_QUESTION:
            raise QueryError(f"q is {len(typed):,} characters long; at most {LONGEST_QUESTION:,} are possible")
        return self._collection.suggest(typed).to_json()

    def page(self, request: Request) -> dict[str, Any]:
        """A page with its text, its places and why it was kept."""
        node, page = _page_named(request)
        view = self._collection.page(node, page, _one(request, "q") or "") if page < 2**63 else None
        if view is None:
            raise _Unknown(f"no page {page} in node {node[:60]!r}")
        return view

    def nearby(self, request: Request) -> dict[str, Any]:
        """Pages about places near a page's, and pages like it."""
        node, page = _page_named(request)
        found = self._collection.related(node, page) if page < 2**63 else None
        if found is None:
            raise _Unknown(f"no page {page} in node {node[:60]!r}")
        return found

    def jobs(self, _: Request) -> dict[str, Any]:
        """The crawls and how far they are."""
        return job_states(self._collection.folders)

    def metrics(self, _: Request) -> str:
        """For Prometheus."""
        return self.counts.exposition(self._collection.count(IndexQuery()), len(self._collection.atlas))


class _Unknown(QueryError):
    """Asked for something that is not there: 404."""


async def _unknown(request: Request) -> Response:
    return error_response(404, f"no such address: {request.url.path[:200]}")


def _one(request: Request, name: str) -> str | None:
    values = request.query_params.getlist(name)
    if len(values) > 1:
        raise QueryError(f"{name} is given {len(values)} times; once is enough")
    return values[0] if values else None


def _given(request: Request, name: str, default: str) -> str:
    text = _one(request, name)
    return default if text is None else text


def _whole(request: Request, name: str, default: int) -> int:
    text = _one(request, name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise QueryError(f"{name} {text[:40]!r} is no whole number")
    return int(text)


def _check_names(operation: Operation, request: Request) -> None:
    """No parameter is overlooked in silence."""
    unknown = sorted(set(request.query_params.keys()) - operation.query_names)
    if unknown:
        possible = ", ".join(sorted(operation.query_names)) or "none"
        raise QueryError(f"unknown parameter {unknown[0][:40]!r}; possible are: {possible}")


def _page_named(request: Request) -> tuple[str, int]:
    text = request.path_params["page"]
    if not text.isascii() or not text.isdigit() or len(text) > 30:
        raise QueryError(f"page {text[:40]!r} is no whole number")
    return request.path_params["node"], int(text)


def _named_etags(request: Request) -> set[str]:
    return {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}


def _flag(request: Request, name: str) -> bool:
    text = _given(request, name, "0")
    if text not in ("0", "1", "true", "false"):
        raise QueryError(f"{name} {text[:40]!r} is not possible; write 1 or 0")
    return text in ("1", "true")


def _search_request(request: Request) -> SearchRequest:
    return SearchRequest.of(
        _one(request, "q") or "",
        place=_one(request, "place"),
        near=_one(request, "near"),
        bbox=_one(request, "bbox"),
        since=_one(request, "since"),
        until=_one(request, "until"),
        sort=_given(request, "sort", "relevance"),
        limit=_whole(request, "limit", 10),
        offset=_whole(request, "offset", 0),
        explain=_flag(request, "explain"),
        freshness=_whole(request, "freshness", 0),
        as_of=_one(request, "as_of"),
    )
