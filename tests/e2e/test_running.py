"""A crawl as its operator meets it: signals, log, metrics, a second process, pages that break their readers."""

import contextlib
import json
import os
import pty
import random
import select
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from command_line import PERIPLUS, periplus, start
from crawl_values import fetched

from periplus.analysis import analyse
from periplus.job import prepare
from periplus.places import open_gazetteer
from periplus.settings import load_job

CITIES = ("Houston", "Paris", "Springfield", "Boston", "Reading", "Washington", "Orange", "Georgia")


def dense() -> str:
    """A page of places and addresses, no two alike, up to the most text that is read."""
    draw = random.Random(1)
    lines = [
        f"Floods hit {draw.choice(CITIES)}, Texas. {draw.randrange(9_999)} {draw.choice(CITIES)} Street, "
        f"{draw.choice(CITIES)}, IL {draw.randrange(10_000, 99_999)}."
        for _ in range(7_000)
    ]
    return "<p>" + "</p><p>".join(lines)


DENSE = dense()


class Site(ThreadingHTTPServer):
    """Forty pages; `/hang` answers when the test ends, `/dense` costs more time than this test allows.

    `/later` asks to be left alone for ten minutes.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Pages)
        self.asked: Counter[str] = Counter()
        self.released = threading.Event()
        self.port = self.server_address[1]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Pages(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        if self.path == "/hang":
            self.server.released.wait(300)
        if self.path == "/robots.txt":
            self._send(404, "")
        elif self.path == "/later":
            self._send(429, "", "Retry-After: 600")
        elif self.path == "/dense":
            self._send(200, DENSE)
        else:
            links = " ".join(f"<a href=/{number}>page {number}</a>" for number in range(40))
            self._send(200, f"<title>{self.path}</title><p>Page {self.path} of Houston, Texas.</p>{links}")

    def _send(self, status: int, text: str, *headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        for header in headers:
            self.send_header(*header.split(": "))
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """The test asks `asked`."""


@pytest.fixture
def site() -> Iterator[Site]:
    served = Site()
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        served.released.set()
        served.shutdown()
        thread.join()
        served.server_close()


def write_job(folder: Path, site: Site, *seeds: str, delay: float = 0.0, run: str = "") -> Path:
    job = folder / "job.toml"
    urls = ", ".join(f'"{site.address}{seed}"' for seed in seeds)
    job.write_text(
        f'out = "crawl"\nseeds = [{urls}]\n[crawl]\nkeep = "all"\ndelay_seconds = {delay}\ndelay_factor = 0.0\n'
        f'workers = 1\nallow_private = ["127.0.0.0/8"]\n[fetch]\nports = [80, {site.port}]\n'
        f'[archive]\ndisk_reserve_bytes = 0\n[run]\nlog = "pages"\n{run}\n',
        "utf-8",
    )
    return job


def events(folder: Path) -> list[dict[str, Any]]:
    path = folder / "crawl" / "log.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def wait_for(process: "subprocess.Popen[str]", folder: Path, event: str, count: int = 1) -> dict[str, Any]:
    """The first such event, once the log has `count` of them."""
    while True:
        found = [line for line in events(folder) if line["event"] == event]
        if len(found) >= count:
            return found[0]
        if process.poll() is not None:
            raise AssertionError(f"ended without {event!r}: {process.communicate()}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)


def finished(folder: Path) -> dict[str, str]:
    with contextlib.closing(sqlite3.connect(folder / "crawl" / "nodes" / "main" / "node.db")) as db:
        return dict(db.execute("SELECT url, outcome FROM known_url WHERE state = 1").fetchall())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["Ctrl-C", "SIGTERM", "SIGHUP"])
def test_the_first_interrupt_finishes_what_is_under_way(tmp_path: Path, site: Site, how: signal.Signals) -> None:
    job = write_job(tmp_path, site, "/", delay=0.05)
    process = start("crawl", job, "--json")
    wait_for(process, tmp_path, "lease ended", 3)
    process.send_signal(how)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert json.loads(out)["stop_reason"] == "interrupted"
    assert events(tmp_path)[-1]["event"] == "ended"
    asked = {path for path in site.asked if path != "/robots.txt"}
    assert {url.removeprefix(site.address) for url in finished(tmp_path)} == asked, "all that was asked is committed"
    assert periplus("crawl", job, "--json").code == 0
    assert max(count for path, count in site.asked.items() if path != "/robots.txt") == 1


def test_K7_an_interrupted_crawl_waits_for_an_answer_no_longer_than_a_request_may_take(
    tmp_path: Path, site: Site
) -> None:
    job = write_job(tmp_path, site, "/hang")
    job.write_text(job.read_text("utf-8").replace("[fetch]\n", "[fetch]\ntotal_seconds = 3.0\n"), "utf-8")
    process = start("crawl", job, "--json")
    while not site.asked["/hang"]:
        assert process.poll() is None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["stop_reason"] == "interrupted"
    assert not site.released.is_set(), "nobody had answered"
    (ended,) = [line for line in events(tmp_path) if line["event"] == "lease ended"]
    assert ended["outcome"] == "retry", "and the URL is asked for again another time"
    assert ended["reason"], "the log says what went wrong"


def test_a_crawl_that_waits_says_for_which_host_how_long_and_why(tmp_path: Path, site: Site) -> None:
    job = write_job(tmp_path, site, "/later", "/0")
    progress = tmp_path / "progress.json"
    process = start("crawl", job, "--json", "--progress", progress)
    waits = ""
    while not waits:
        assert process.poll() is None, process.communicate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
        waits = json.loads(progress.read_text("utf-8"))["waits"] if progress.exists() else ""
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)
    assert process.returncode == 130
    assert waits.startswith(("0:10:00 for 127.0.0.1", "0:09:"))
    assert waits.endswith(f"({site.address}/later: HTTP 429)")
    why = periplus("why", tmp_path / "crawl", f"{site.address}/later").out
    assert "waits: 1 try failed; it is tried again at " in why


def test_the_second_interrupt_ends_it_at_once_and_loses_nothing(tmp_path: Path, site: Site) -> None:
    job = write_job(tmp_path, site, "/hang")
    process = start("crawl", job, "--json")
    while not site.asked["/hang"]:
        assert process.poll() is None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
    process.send_signal(signal.SIGINT)
    wait_for(process, tmp_path, "stopping")
    assert process.poll() is None, "it waits for the answer"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "")
    assert not site.released.is_set()
    assert finished(tmp_path) == {}
    site.released.set()
    again = periplus("crawl", job, "--json")
    assert again.code == 0, again.err
    assert again.json["pages"] == 41
    assert periplus("verify", tmp_path / "crawl").code == 0


def test_who_interrupts_at_a_terminal_is_told_that_it_stops(tmp_path: Path, site: Site) -> None:
    job = write_job(tmp_path, site, "/hang")
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen([PERIPLUS, "crawl", job], stdin=theirs, stdout=theirs, stderr=theirs) as process:
            try:
                while not site.asked["/hang"]:
                    assert process.poll() is None
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=0.05)
                process.send_signal(signal.SIGTERM)
                shown = ""
                while "Ctrl-C again ends it at once" not in shown:
                    assert select.select([ours], [], [], 60)[0], shown
                    shown += os.read(ours, 65_536).decode("utf-8", "replace")
                site.released.set()
                threading.Thread(target=_drain, args=(ours,), daemon=True).start()
                assert process.wait(60) == 130
            finally:
                process.kill()
    finally:
        os.close(theirs)


def test_a_terminal_that_is_closed_ends_it_in_order(tmp_path: Path, site: Site) -> None:
    """All processes of the crawl are told, and nothing can be written to the terminal any more."""
    job = write_job(tmp_path, site, "/", delay=0.05)
    pid, terminal = pty.fork()
    if not pid:
        os.execv(PERIPLUS, [str(PERIPLUS), "crawl", str(job)])  # noqa: S606  nothing else gives it a terminal of its own
    threading.Thread(target=_drain_until, args=(terminal, closing := threading.Event()), daemon=True).start()
    try:
        while len([line for line in events(tmp_path) if line["event"] == "lease ended"]) < 3:
            assert os.waitpid(pid, os.WNOHANG) == (0, 0)
            closing.wait(0.05)
        closing.set()
        _, status = os.waitpid(pid, 0)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    assert os.waitstatus_to_exitcode(status) == 130
    assert [(line["event"], line.get("reason")) for line in events(tmp_path)][-1] == ("ended", "interrupted")
    assert periplus("verify", tmp_path / "crawl").code == 0


def _drain_until(terminal: int, closing: threading.Event) -> None:
    """Read what comes, then hang up."""
    while not closing.is_set():
        if select.select([terminal], [], [], 0.02)[0]:
            os.read(terminal, 65_536)
    os.close(terminal)


def _drain(terminal: int) -> None:
    """Read what comes, so that nobody waits for it to be read."""
    with contextlib.suppress(OSError):  # nobody writes any more
        while os.read(terminal, 65_536):
            pass
    os.close(terminal)


def test_a_second_process_refuses_and_names_the_first(tmp_path: Path, site: Site) -> None:
    job = write_job(tmp_path, site, "/hang")
    process = start("crawl", job, "--json")
    try:
        wait_for(process, tmp_path, "started")
        periplus("crawl", job).assert_one_line_error(4, f"process {process.pid} is crawling here")
        periplus("verify", tmp_path / "crawl").assert_one_line_error(4, str(process.pid))
    finally:
        process.kill()
        process.communicate()


def test_metrics_tell_how_it_goes(tmp_path: Path, site: Site) -> None:
    job = write_job(tmp_path, site, "/")
    text = job.read_text("utf-8").replace("seeds = [", 'seeds = ["http://slow.test/hang", ')
    job.write_text(f'{text}[crawl.resolve]\n"slow.test" = "127.0.0.1:{site.port}"\n', "utf-8")
    process = start("crawl", job, "--json", "--metrics", 0)
    try:
        port = wait_for(process, tmp_path, "started")["metrics_port"]
        wait_for(process, tmp_path, "lease ended", 41)  # all but the one that hangs
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    finally:
        process.kill()
        process.communicate()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values["periplus_pages_total"] == values['periplus_leases_total{outcome="kept"}'] == "41"
    assert values["periplus_hosts_busy"] == "1"
    assert values["periplus_paused"] == "0"
    assert float(values["periplus_resident_bytes"]) > 2**20


def test_a_taken_metrics_port_is_said_in_one_line(tmp_path: Path, site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        job = write_job(tmp_path, site, "/")
        periplus("crawl", job, "--metrics", port).assert_one_line_error(4, str(port), "take another port")


def seconds_to_read(job: Path, html: str) -> float:
    """The processor time that a page takes here and now: what is too much depends on the machine."""
    lens = prepare(load_job(job), job.parent, open_gazetteer()).lens
    page = fetched("http://127.0.0.1/", html.encode(), content_type="text/html")
    began = time.process_time()
    analyse(page, lens)
    return time.process_time() - began


def test_a_page_that_breaks_its_readers_is_set_aside(tmp_path: Path, site: Site) -> None:
    """It is allowed an eighth of the time that it takes, which is several times what any other page takes."""
    limit = seconds_to_read(write_job(tmp_path, site, "/"), DENSE) / 8
    job = write_job(tmp_path, site, "/", "/dense", run=f"page_cpu_seconds = {limit}")
    done = periplus("crawl", job, "--json")
    assert done.code == 0, done.err
    outcomes = {url.removeprefix(site.address): outcome for url, outcome in finished(tmp_path).items()}
    assert outcomes.pop("/dense") == "quarantined"
    assert set(outcomes.values()) == {"kept"}
    assert site.asked["/dense"] == 1, "it is not asked for again"
    (event,) = [line for line in events(tmp_path) if line["event"] == "page quarantined"]
    assert event["url"].endswith("/dense")


def test_too_little_room_at_the_start_is_said_in_one_line(tmp_path: Path, site: Site) -> None:
    job = write_job(tmp_path, site, "/")
    job.write_text(job.read_text("utf-8").replace("disk_reserve_bytes = 0", f"disk_reserve_bytes = {2**62}"), "utf-8")
    periplus("crawl", job).assert_one_line_error(4, "wanted as a reserve")
    assert not site.asked


def test_an_index_that_cannot_be_read_is_built_anew(tmp_path: Path, site: Site) -> None:
    job = write_job(tmp_path, site, "/")
    assert periplus("crawl", job, "--json").code == 0
    index = tmp_path / "crawl" / "nodes" / "main" / "index"
    (index / "meta.json").write_text("{", "utf-8")
    again = periplus("crawl", job, "--json")
    assert again.code == 0, again.err
    assert "index built anew" in [line["event"] for line in events(tmp_path)]
    assert periplus("verify", tmp_path / "crawl").code == 0
