"""A small site on loopback that tests change between two crawls."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["HOME", "HOST", "Site", "served"]

HOST = "site.mini.test"
HOME = '<title>Home</title><p>Welcome to Houston, Texas.</p><a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a>'


@dataclass
class Site:
    """A small site that tests change between two crawls; a page has an ETag where `etags` names it.

    `refusals`: pages that are answered with such a status for now; 302 leads to where one is already.
    """

    pages: dict[str, str]
    etags: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)  # path and If-None-Match
    port: int = 0

    def page(self, name: str, text: str) -> None:
        self.pages[name] = f"<title>Page {name}</title><p>{text} in Houston, Texas, and more of it.</p>"

    def answer(self, path: str, match: str) -> tuple[int, str, bytes]:
        self.asked.append((path, match))
        if path in self.refusals:
            return self.refusals[path], "", b"not now"
        if path not in self.pages:
            return 404, "", b"no"
        etag = self.etags.get(path, "")
        return (304, etag, b"") if etag and etag == match else (200, etag, self.pages[path].encode())


@contextmanager
def served(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, etag, body = site.answer(self.path, self.headers.get("If-None-Match", ""))
            self.send_response(status)
            self.send_header("Content-Type", "text/xml" if self.path.endswith(".xml") else "text/html")
            if etag:
                self.send_header("ETag", etag)
            if status == 302:
                self.send_header("Location", self.path)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
