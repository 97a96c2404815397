"""A crawl that asks where domains are registered, over a web and an RDAP service on loopback."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from command_line import periplus

PAGES = {
    "start.example": '<a href="http://near.example/">more</a> <a href="http://far.example/">more</a>',
    "near.example": "Flood in Houston, Texas.",
    "far.example": "Flood in Berlin, Germany.",
}
CITIES = {"start.example": ("Houston", "US"), "near.example": ("Houston", "US"), "far.example": ("Berlin", "DE")}


JOB = """
out = "crawl"
seeds = ["http://start.example/", "http://far.example/"]

[topic]
keywords = { flood = 1.0 }
places = { Texas = 1.0 }

[crawl]
delay_seconds = 0
allow_private = ["127.0.0.0/8"]
keep = "all"
rdap = "http://rdap.example"
seed_correlation = 0.5
resolve = { "*.example" = "127.0.0.1:PORT" }
"""


class Handler(BaseHTTPRequestHandler):
    """Pages by host; `rdap.example` knows where their domains are registered."""

    asked: list[str]

    def do_GET(self) -> None:
        host = (self.headers["Host"] or "").partition(":")[0]
        if host == "rdap.example":
            domain = self.path.rpartition("/")[2]
            self.asked.append(domain)
            city, code = CITIES[domain]
            address = ["adr", {"cc": code}, "text", ["", "", "", city, "", "", ""]]
            entity = {"roles": ["administrative"], "vcardArray": ["vcard", [address]]}
            self._send(200, "application/rdap+json", json.dumps({"entities": [entity]}))
        elif self.path == "/" and host in PAGES:
            text = f"<!doctype html><html lang=en><title>Floods</title><p>Floods in Texas. {PAGES[host]}</p>"
            self._send(200, "text/html", text)
        else:
            self._send(404, "text/plain", "")

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def web() -> Iterator[tuple[int, list[str]]]:
    """The port, and the domains that are asked for."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Handler,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_registrations_are_asked_once_and_count_for_links_and_seeds(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    with web() as (port, asked):
        job.write_text(JOB.replace("PORT", str(port)), "utf-8")
        periplus("crawl", job)
        first = sorted(asked)
        periplus("crawl", job)
    assert sorted(set(first)) == first, "each domain once"
    assert set(first) >= {"start.example", "far.example"}, "those of the seeds before the crawl begins"
    assert sorted(asked) == first, "and never again"
    rows = [json.loads(line) for line in (tmp_path / "crawl" / "registrations.jsonl").read_text("utf-8").splitlines()]
    assert ["start.example", "Houston", "", "US"] in rows
    found = periplus("why", tmp_path / "crawl", "http://far.example/", "--json").json
    assert found["parents"][0]["parts"]["spatial"] == 1.0, "its registration is the only place it names"


def test_a_crawl_that_is_left_without_seeds_says_so(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text('out = "crawl"\nseeds = ["http://127.0.0.1/"]\n[crawl]\nseed_correlation = 0.5\n', "utf-8")
    periplus("crawl", job).assert_one_line_error(2, "no seed is left")


def test_what_is_no_url_is_no_service(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text('out = "crawl"\nseeds = ["http://127.0.0.1/"]\n[crawl]\nrdap = "rdap.org"\n', "utf-8")
    periplus("crawl", job).assert_one_line_error(
        2, "crawl.rdap: 'rdap.org' is neither an http(s) URL nor whois:// and a server's name"
    )
