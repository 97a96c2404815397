"""The web server on a free port of loopback, in a thread of the test."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from periplus.search import Collection
from periplus.search.names import GazetteerNames
from periplus.tasks import Budget, TaskBook, TaskService
from periplus.tasks.alerts import Alerts
from periplus.web.choices import Choices
from periplus.web.comparisons import Comparisons
from periplus.web.desk import TaskDesk
from periplus.web.server import build_app, listen, server_config
from periplus.web.shelf import Shelf

__all__ = ["running_server"]


@contextmanager
def running_server(
    folder: Path | None,
    *,
    token: str | None = None,
    rate: float = 0.0,
    origins: tuple[str, ...] = (),
    tasks: Path | None = None,
    defaults: dict[str, Any] | None = None,
    serve_tasks: bool = False,
    comparisons: Sequence[Path] = (),
    choices: Choices | None = None,
    tiles: str = "",
    port: int = 0,
) -> Iterator[str]:
    """Serve a crawl; gives the address, without a slash at the end. `serve_tasks`: its tasks do run.

    `port`: that of a server which has ended; any free one by default.
    """
    listener = listen("127.0.0.1", port)
    hosts = frozenset({"127.0.0.1", "localhost"})
    desk, service = None, None
    if tasks is not None:
        book = TaskBook(tasks)
        service = TaskService(book, Budget(2, 2), alerts=Alerts(book)) if serve_tasks else None
        desk = TaskDesk(book, service, GazetteerNames(), defaults, choices)
    opened = Collection.open([folder]) if folder else Collection([], [], None)
    shelf = Shelf([folder] if folder else [], None, desk.folders if desk else None, collection=opened)
    app = build_app(
        shelf,
        desk,
        Comparisons(comparisons),
        hosts=hosts,
        token=token,
        rate=rate,
        origins=frozenset(origins),
        tiles=tiles,
    )
    server = uvicorn.Server(server_config(app))
    app.state.streams.leaving = lambda: server.should_exit
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    if service is not None:
        service.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
        if service is not None:
            service.close()
