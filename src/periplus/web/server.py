"""The web server: the page's files and the API behind the guard, with collections that keep up with a crawl."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from periplus.errors import EnvironmentFailure, PeriplusError, PortTaken, UsageError
from periplus.search.names import GazetteerNames
from periplus.search.remote import ClusterLink
from periplus.tasks import TaskService
from periplus.web.api import Api
from periplus.web.comparisons import Comparisons
from periplus.web.desk import TaskDesk, TaskServing
from periplus.web.guard import Guard, error_response, is_loopback
from periplus.web.openapi import allowed_methods
from periplus.web.shelf import Shelf

__all__ = ["build_app", "listen", "serve", "server_config", "tile_origin"]

STATIC = Path(__file__).parent / "static"
LONGEST_HEAD = 2 * 2**20
"""Bytes of a request's first line and headers; what is longer is cut off by the server."""

REFRESH_SECONDS = 5.0
"""How often the server looks for pages that a running crawl has added."""


def build_app(
    shelf: Shelf,
    desk: TaskDesk | None = None,
    comparisons: Comparisons | None = None,
    *,
    hosts: frozenset[str],
    token: str | None = None,
    rate: float = 0.0,
    origins: frozenset[str] = frozenset(),
    tiles: str = "",
) -> Starlette:
    """The application over open collections; it closes them when it ends. The rest is as in `Api` and `Guard`.

    `app.state.streams.leaving` is to say when the server is about to end.
    """
    api = Api(shelf, desk, comparisons, token=token is not None, tiles=tiles)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        keeping_up = asyncio.create_task(_keep_up(shelf))
        try:
            yield
        finally:
            keeping_up.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping_up
            shelf.close()

    offered = {"tasks": desk is not None, "compare": comparisons is not None and bool(comparisons.names()["results"])}
    views = " ".join(name for name, is_there in offered.items() if is_there)
    routes: list[Route | Mount] = [*api.routes(), Route("/", partial(_index_page, views=views))]
    if (STATIC / "assets").is_dir():
        routes.append(Mount("/assets", StaticFiles(directory=STATIC / "assets")))
    methods = partial(allowed_methods, tasks=desk is not None)
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[
            Middleware(
                partial(
                    Guard,
                    hosts=hosts,
                    token=token,
                    rate=rate,
                    origins=origins,
                    methods=methods,
                    images=tile_origin(tiles),
                )
            ),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        exception_handlers={HTTPException: _http_error, Exception: _failure},
    )
    app.state.streams = api.streams
    return app


async def _keep_up(shelf: Shelf) -> None:
    await run_in_threadpool(shelf.collection.warm_up)
    while True:
        await asyncio.sleep(REFRESH_SECONDS)
        with contextlib.suppress(PeriplusError):  # said again when somebody asks
            await run_in_threadpool(shelf.sync)


async def _index_page(_: Request, views: str) -> Response:
    """The page, with the `views` that this server has beside searching: it shows its head before it has asked."""
    try:
        page = (STATIC / "index.html").read_text("utf-8")
    except FileNotFoundError:
        return error_response(503, "the web page is not built; run `make page`, or use /api/search")
    page = page.replace("<html ", f'<html data-views="{views}" ', 1)
    return HTMLResponse(page, headers={"cache-control": "no-cache"})


async def _http_error(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "failed"
    return error_response(status, str(detail))


async def _failure(_: Request, error: Exception) -> Response:
    return error_response(500, f"this should not happen, please report it: {type(error).__name__}")


def serve(
    folders: Sequence[Path],
    host: str = "127.0.0.1",
    port: int = 8400,
    token: str | None = None,
    *,
    rate: float = 50.0,
    origins: Sequence[str] = (),
    tasks: TaskServing | None = None,
    comparisons: Sequence[Path] = (),
    tiles: str = "",
    link: ClusterLink | None = None,
) -> None:
    """Serve until interrupted. Raises UsageError without a token off loopback, PortTaken for a busy port.

    `tasks`: saved crawls; without them, at least one folder is needed. `tiles`: an online base map's address.
    `link`: a cluster whose crawl is shown, too.
    """
    if not is_loopback(host) and not token:
        raise UsageError(f"--host {host} can be reached from elsewhere; give a --token, or leave the host away")
    if token is not None and len(token) < 8:
        raise UsageError("--token is too short to protect anything; use at least 8 characters")
    if not 0 <= rate <= 1e6:
        raise UsageError(f"--rate {rate} is not between 0 and 1,000,000")
    for origin in origins:
        if not re.fullmatch(r"https?://[a-z0-9.-]+(:\d{1,5})?|https?://\[[0-9a-f:]+\](:\d{1,5})?", origin):
            raise UsageError(f"--cors {origin[:60]!r} is no origin; write https://example.org, without a path")
    tile_origin(tiles)
    compared = Comparisons(comparisons)
    listener = listen(host, port)
    names = GazetteerNames()
    service: TaskService | None = None
    try:
        desk: TaskDesk | None = None
        if tasks is not None:
            service = tasks.service()
            desk = TaskDesk(tasks.book, service, names, tasks.defaults, tasks.choices)
        elif not folders and link is None:
            raise UsageError("no folder given; name the folder of a crawl, or leave --no-tasks away")
        shelf = Shelf(folders, names, desk.folders if desk else None, link=link)
        hosts = frozenset({"localhost", "127.0.0.1", "::1", host.lower()}) if is_loopback(host) else frozenset[str]()
        app = build_app(
            shelf, desk, compared, hosts=hosts, token=token, rate=rate, origins=frozenset(origins), tiles=tiles
        )
        if service is not None:
            service.start()
        shown = f"[{host}]" if ":" in host else host
        print(f"Periplus is at http://{shown}:{listener.getsockname()[1]}/ — end with Ctrl-C", flush=True)
        server = uvicorn.Server(server_config(app))
        app.state.streams.leaving = lambda: server.should_exit
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    finally:
        listener.close()
        if service is not None:
            service.close()


def tile_origin(template: str) -> str:
    """The origin of an online base map, which the content policy lets through; empty for none. UsageError if wrong.

    Without encryption only from this machine.
    """
    if not template:
        return ""
    origin = r"https://[a-z0-9.-]+(?::\d{1,5})?|http://(?:localhost|127\.0\.0\.1)(?::\d{1,5})?"
    found = re.match(rf"({origin})/[\w./{{}}?=&%-]*\Z", template)
    if found is None or not all(part in template for part in ("{z}", "{x}", "{y}")):
        raise UsageError(
            f"--tiles {template[:80]!r} is no tile address; write https://tiles.example/{{z}}/{{x}}/{{y}}.png"
        )
    return found[1]


def server_config(app: Starlette) -> uvicorn.Config:
    """How the server runs: quiet, and with room for an address of a megabyte, so that it gets our answer (400)."""
    return uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        date_header=False,
        access_log=False,
        h11_max_incomplete_event_size=LONGEST_HEAD,
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address. Raises PortTaken, or UsageError for what is no address."""
    if not 0 <= port <= 65_535:
        raise UsageError(f"--port {port} is not between 0 and 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        raise UsageError(f"--host {host}: no such address") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno in (98, 48):
            raise PortTaken(f"port {port} of {host} is taken; choose another with --port") from None
        raise EnvironmentFailure(f"{host}:{port}: {error.strerror}") from None
    return listener
