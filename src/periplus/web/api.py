"""The HTTP API: `/api/…`, one error shape."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
import xxhash
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from periplus import __version__
from periplus.errors import EnvironmentFailure, PeriplusError, QueryError, UsageError
from periplus.index import IndexQuery
from periplus.search import Collection
from periplus.search.names import GazetteerNames
from periplus.search.request import LONGEST_QUESTION
from periplus.web.bodies import Body, read_body, what_is_wrong
from periplus.web.comparisons import Comparisons
from periplus.web.desk import Missing, TaskDesk
from periplus.web.downloads import Download, can_export, export_results
from periplus.web.events import Streams
from periplus.web.guard import error_response
from periplus.web.jobs import job_states
from periplus.web.limits import RequestCounts
from periplus.web.openapi import OPERATIONS, TASK_OPERATIONS, Operation, document
from periplus.web.parameters import check_names, given, one, page_named, search_request
from periplus.web.shelf import Shelf
from periplus.web.task_api import TaskApi

__all__ = ["Api"]

Answer = Callable[[Request], Any]

AT_ONCE = 8
"""Questions answered at the same time; further ones wait."""

ANSWER_SECONDS = 10.0
"""After so long no further node is asked; the answer is marked as a part."""


class Api:
    """The answers of one collection."""

    def __init__(
        self,
        shelf: Shelf,
        desk: TaskDesk | None = None,
        comparisons: Comparisons | None = None,
        *,
        names: GazetteerNames | None = None,
        token: bool = False,
        tiles: str = "",
    ) -> None:
        """`desk`: saved crawls, where there are any. `names`: the gazetteer that explains pages."""
        self._shelf = shelf
        self._desk = desk
        self._comparisons = comparisons or Comparisons()
        self._names = names or GazetteerNames()
        self._tiles = tiles
        self._places = asyncio.Semaphore(AT_ONCE)
        self._document = document(token=token, tasks=desk is not None)
        self.counts = RequestCounts()
        self.streams = Streams()

    @property
    def _collection(self) -> Collection:
        return self._shelf.collection

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
            "details": self.details,
            "record": self.record,
            "export": self.export,
            "comparisons": lambda _: self._comparisons.names(),
            "comparison": self.comparison,
        }
        operations = list(OPERATIONS)
        if self._desk is not None:
            answers |= TaskApi(self._desk, self._shelf, self.streams).answers()
            operations += TASK_OPERATIONS
        routes = [
            Route(
                operation.path,
                self._endpoint(operation, answers[operation.name]),
                methods=["GET", "HEAD"] if operation.method == "GET" else [operation.method],
            )
            for operation in operations
        ]
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
        body = await _read(request, operation)
        if isinstance(body, Response):
            return body
        request.state.body = body
        async with self._places:
            try:
                check_names(operation, request)
                found = await run_in_threadpool(partial(answer, request))
            except UsageError as error:
                return error_response(404 if isinstance(error, Missing) else 400, str(error))
            except EnvironmentFailure as error:
                return error_response(503, str(error))
            except PeriplusError as error:
                return error_response(500, str(error))
        if self._collection.missing or (isinstance(found, dict) and found.get("missing")):
            headers = {"cache-control": "no-store"}  # a part of an answer must not be taken for the whole one later
        return _packed(found, headers, operation)

    def _etag(self, request: Request) -> str:
        """What the answer depends on: the state of the collection, the address, and this version of Periplus.

        Weak, since an answer also says how long it took.
        """
        state = f"{__version__} {self._collection.version} {request.url.path}?{request.url.query}"
        return f'W/"{xxhash.xxh3_128_hexdigest(state.encode("utf-8", "replace"))}"'

    def info(self, _: Request) -> dict[str, Any]:
        """What there is: crawls, nodes, counts."""
        return self._collection.info() | {
            "tasks": self._desk is not None,
            "comparisons": len(self._comparisons.names()["results"]),
            "tiles": self._tiles,
            "exports": can_export(self._collection),
        }

    def search(self, request: Request) -> dict[str, Any]:
        """Results with facets."""
        return self._collection.search(search_request(request), seconds=ANSWER_SECONDS).to_json()

    def trend(self, request: Request) -> dict[str, Any]:
        """Counts over time."""
        return self._collection.trend(search_request(request), given(request, "every", "month")).to_json()

    def facets(self, request: Request) -> dict[str, Any]:
        """Counts by place, topic, date, site and language."""
        return self._collection.facets_of(search_request(request))

    def points(self, request: Request) -> dict[str, Any]:
        """Main places of all pages that answer, for the map."""
        points = self._collection.points(search_request(request))
        return {"points": [point.to_json() for point in points]}

    def suggest(self, request: Request) -> dict[str, Any]:
        """What `q` may go on with: places and words."""
        typed = one(request, "q") or ""
        if len(typed) > LONGEST_QUESTION:
            raise QueryError(f"q is {len(typed):,} characters long; at most {LONGEST_QUESTION:,} are possible")
        return self._collection.suggest(typed).to_json()

    def page(self, request: Request) -> dict[str, Any]:
        """A page with its text, its places and why it was kept."""
        node, page = page_named(request)
        view = self._collection.page(node, page, one(request, "q") or "")
        if view is None:
            raise Missing(f"no page {page} in node {node[:60]!r}")
        return view

    def nearby(self, request: Request) -> dict[str, Any]:
        """Pages about places near a page's, and pages like it."""
        node, page = page_named(request)
        found = self._collection.related(node, page)
        if found is None:
            raise Missing(f"no page {page} in node {node[:60]!r}")
        return found

    def jobs(self, _: Request) -> dict[str, Any]:
        """The crawls and how far they are."""
        return job_states(self._collection.folders)

    def details(self, request: Request) -> dict[str, Any]:
        """Why a page was kept, its links and their assignments."""
        node, page = page_named(request)
        found = self._collection.details(node, page, self._names.gazetteer())
        if found is None:
            raise Missing(f"no page {page} in node {node[:60]!r}")
        return found

    def record(self, request: Request) -> Download:
        """A page's archive record."""
        node, page = page_named(request)
        data = self._collection.archive_record(node, page)
        if data is None:
            raise Missing(f"no archive record of page {page} in node {node[:60]!r}")
        return Download(data, "application/warc", f"page-{page}.warc.gz")

    def export(self, request: Request) -> Download:
        """The results of a question as a file."""
        return export_results(self._collection, search_request(request), given(request, "to", "csv"))

    def comparison(self, request: Request) -> dict[str, Any]:
        """A comparison of strategies."""
        found = self._comparisons.result(request.path_params["result"])
        if found is None:
            raise Missing(f"no comparison {request.path_params['result'][:60]!r}")
        return found

    def metrics(self, _: Request) -> str:
        """For Prometheus."""
        return self.counts.exposition(self._collection.count(IndexQuery()), len(self._collection.atlas))


def _packed(found: Any, headers: dict[str, str], operation: Operation) -> Response:
    """An answer as it is sent."""
    if isinstance(found, Response):
        return found
    if isinstance(found, Download):
        headers |= {"content-disposition": f'attachment; filename="{found.name}"', "content-type": found.media}
        return Response(found.data, headers=headers)
    if isinstance(found, str):
        return Response(found, headers=headers | {"content-type": operation.media})
    return JSONResponse(found, headers=headers)


async def _unknown(request: Request) -> Response:
    return error_response(404, f"no such address: {request.url.path[:200]}")


def _named_etags(request: Request) -> set[str]:
    return {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}


async def _read(request: Request, operation: Operation) -> Body | Response:
    """The body of a request that writes, bounded, as a value; or what is wrong with it."""
    if operation.body is None:
        return Body()
    size, pieces = 0, []
    async for piece in request.stream():
        size += len(piece)
        if size > operation.body_bytes:
            return error_response(413, f"more than {operation.body_bytes // 2**20} MiB were sent")
        pieces.append(piece)
    try:
        return read_body(b"".join(pieces), operation.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return error_response(400, f"the body cannot be read: {what_is_wrong(error)}"[:300])
