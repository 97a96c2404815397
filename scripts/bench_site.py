"""The site that crawlers are compared on: pages of about 49 KB on 200 loopback addresses, served by nginx.

Each page has about 15 KB of text from the miniature web, 60 links, and markup as real pages carry it. Every page can be
reached from the first page of the first address. Same numbers, same bytes.
"""

import contextlib
import itertools
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from periplus.miniweb.web import generate
from periplus.model import Fetched
from periplus.pages import read_page

ADDRESSES = 200
TEXT_BYTES = 15_000
PAGE_BYTES = 49_000
OWN_LINKS, OTHER_LINKS = 50, 10
MENU_LINKS = 20
NGINX = "/usr/sbin/nginx"


@dataclass(frozen=True, slots=True)
class Site:
    """A site that is being served."""

    port: int
    pages: int
    log: Path

    @property
    def seed(self) -> str:
        """Where a crawl begins."""
        return f"http://{address(0)}:{self.port}/0.html"

    def answered(self) -> list[float]:
        """When each page was given out, as the server wrote down: Unix times in order."""
        lines = self.log.read_text().splitlines()
        return [float(line.split()[0]) for line in lines if line.endswith('.html HTTP/1.1" 200')]

    def urls(self) -> list[str]:
        """All pages."""
        return [f"http://{address(n % ADDRESSES)}:{self.port}/{n // ADDRESSES}.html" for n in range(self.pages)]


def address(number: int) -> str:
    """One of the loopback addresses."""
    return f"127.0.7.{number + 1}"


def paragraphs() -> list[str]:
    """Texts of the miniature web, as the pages of the site are made of."""
    web = generate(3, pages=1_500, hosts=150)
    found: list[str] = []
    for page in web.blueprint.pages:
        response = web.page_response(page, 1)
        if response.status == 200 and response.body:
            read = read_page(
                Fetched("http://x/", 200, (), response.body, "text/html", datetime.now(UTC), 0.0, "127.0.0.1")
            )
            found.extend(line for line in read.text.splitlines() if len(line) > 200)
    return found


def write_pages(folder: Path, pages: int, port: int) -> None:
    """Write the pages, one folder an address."""
    texts = paragraphs()
    chance = random.Random(2006)
    each = -(-pages // ADDRESSES)
    for number in range(ADDRESSES):
        (folder / address(number)).mkdir(parents=True)
    for page in range(pages):
        host, place = page % ADDRESSES, page // ADDRESSES
        text: list[str] = []
        while sum(map(len, text)) < TEXT_BYTES:
            text.append(chance.choice(texts))
        own = [(place * 7 + step) % each for step in range(1, OWN_LINKS)] + [(place + 1) % each]
        links = [f"{target}.html" for target in own]
        others = [(host + 1) % ADDRESSES, *(chance.randrange(ADDRESSES) for _ in range(OTHER_LINKS - 1))]
        links += [f"http://{address(other)}:{port}/{chance.randrange(each)}.html" for other in others[1:]]
        links.append(f"http://{address(others[0])}:{port}/0.html")
        (folder / address(host) / f"{place}.html").write_text(_html(f"Page {page}", text, links), "utf-8")


def _html(title: str, text: list[str], links: list[str]) -> str:
    menu = "".join(
        f'<li class="nav-item level-2"><a class="nav-link" href="{link}" data-track="nav">More on this {n}</a></li>'
        for n, link in enumerate(links[:MENU_LINKS])
    )
    body = "".join(
        f'<section class="article-section"><p class="text lead" data-block="{n}">{part}</p>'
        f'<p class="more"><a href="{link}">Read on about it</a></p></section>'
        if link
        else f'<p class="text lead" data-block="{n}">{part}</p>'
        for n, (part, link) in enumerate(itertools.zip_longest(text, links[MENU_LINKS : MENU_LINKS + len(text)]))
    )
    rest = "".join(f'<a href="{link}">Related {n}</a> ' for n, link in enumerate(links[MENU_LINKS + len(text) :]))
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    page = f'<ul class="menu">{menu}</ul><main>{body}</main><footer>{rest}</footer>'
    room = max(0, PAGE_BYTES - len(head) - len(page) - 60)
    script = "window.settings={" + ",".join(f'"key{n}":[{n},{n * 7}]' for n in range(room // 18)) + "};"
    return f"{head}<script>{script[:room]}</script></head><body>{page}</body></html>"


@contextlib.contextmanager
def served(folder: Path, pages: int) -> Iterator[Site]:
    """Write the site into the folder and serve it on a free port until the block ends."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    root = folder / "site"
    write_pages(root, pages, port)
    log = folder / "access.log"
    servers = "\n".join(f"server {{ listen {address(n)}:{port}; root {root / address(n)}; }}" for n in range(ADDRESSES))
    (folder / "nginx.conf").write_text(
        f"{'user root; ' if os.geteuid() == 0 else ''}daemon off; worker_processes 1; pid {folder}/nginx.pid;\n"
        f"error_log {folder}/error.log;\n"
        "events { worker_connections 4096; }\n"
        f"http {{ types {{ text/html html; }} sendfile on; keepalive_requests 100000;\n"
        f"log_format times '$msec \"$request\" $status'; access_log {log} times;\n"
        f"{servers} }}\n",  # without a cache of open files, which on many machines would be more than it may have open
        "utf-8",
    )
    server = subprocess.Popen([NGINX, "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, server)
        yield Site(port, pages, log)
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(root)


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), contextlib.closing(socket.create_connection((address(0), port), 1)):
            return
        time.sleep(0.05)  # two hundred addresses take a moment
        if server.poll() is not None:
            raise SystemExit("bench: nginx did not start")
    raise SystemExit("bench: nginx does not answer")
