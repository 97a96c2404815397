"""The web server on a free port of loopback, in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from periplus.search import Collection
from periplus.web.server import build_app, listen, server_config

__all__ = ["running_server"]


@contextmanager
def running_server(
    folder: Path, *, token: str | None = None, rate: float = 0.0, origins: tuple[str, ...] = ()
) -> Iterator[str]:
    """Serve a crawl; gives the address, without a slash at the end."""
    listener = listen("127.0.0.1", 0)
    hosts = frozenset({"127.0.0.1", "localhost"})
    app = build_app(Collection.open([folder]), hosts=hosts, token=token, rate=rate, origins=frozenset(origins))
    server = uvicorn.Server(server_config(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
