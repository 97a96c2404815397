"""Tasks as a person runs them: commands, a service in a process of its own, real crawls, and its sudden death."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from changing_site import HOME, HOST, Site, served
from command_line import periplus, start

from periplus.tasks import TaskBook
from periplus.tasks.processes import born

SECONDS = 60


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site({"/": HOME})
    for name in ("a", "b", "c"):
        made.page(f"/{name}", f"Floods number {name} were seen")
    with served(made) as running:
        yield running


def job(folder: Path, site: Site, *, delay: float = 0.0) -> Path:
    path = folder / "job.toml"
    path.write_text(
        f"""
name = "floods"
seeds = ["http://{HOST}/"]
[crawl]
keep = "all"
delay_seconds = {delay}
delay_factor = 0.0
allow_private = ["127.0.0.0/8"]
workers = 1
[crawl.revisit]
hours = 24
[crawl.resolve]
"{HOST}" = "127.0.0.1:{site.port}"
"""
    )
    return path


def tasks(home: Path, *arguments: object) -> dict[str, Any]:
    done = periplus("tasks", *arguments, "--tasks", home, "--json")
    assert done.code in (0, 3), (done.out, done.err)
    return done.json


def wait_for(ready: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while not (found := ready()):
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)
    return found


def feed_of(path: Path) -> ET.Element:
    return ET.fromstring(path.read_bytes())  # noqa: S314  # written by us


def state(home: Path) -> str:
    book = TaskBook(home)
    runs = book.runs(book.task("floods").id)
    return runs[0].state if runs else ""


@contextmanager
def service(home: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """`periplus tasks service`, once it serves."""
    process = start("tasks", "service", "--tasks", home, *arguments)
    try:
        assert process.stdout
        assert "Serving" in process.stdout.readline()
        yield process
    finally:
        process.terminate()
        process.communicate()


def test_runs_tell_what_was_new_changed_and_gone_and_questions_alert(site: Site, tmp_path: Path) -> None:
    home = tmp_path / "tasks"
    with hook() as (address, told):
        port = int(address.rpartition(":")[2])
        added = tasks(home, "add", job(tmp_path, site), "--schedule", "every 6 hours")
        assert (added["state"], added["schedule"]) == ("scheduled", "every 6 hours")
        first = tasks(home, "run", "floods")
        assert (first["state"], first["new"], first["changed"], first["gone"]) == ("done", 4, 0, 0)
        question = tasks(home, "alert", "floods", "droughts", "--webhook", f"{address}/told")
        feeds = {form: Path(path) for form, path in question["feeds"].items()}
        assert feed_of(feeds["atom"]).findall("{*}entry") == []

        site.page("/a", "Droughts are what it has now")
        del site.pages["/b"]
        folder = Path(tasks(home, "list")["tasks"][0]["folder"])
        with closing(sqlite3.connect(folder / "nodes/main/node.db")) as db, db:
            db.execute("UPDATE progress SET not_before = 0 WHERE state = 2")
        with service(home, "--hook-private", "127.0.0.0/8", "--hook-port", port) as serving:
            second = tasks(home, "run", "floods")
            assert (second["state"], second["new"], second["changed"], second["gone"]) == ("done", 0, 1, 1)
            wait_for(lambda: told)
        assert serving.returncode == 0
    assert [page["url"] for page in told[0]["new"]] == [f"http://{HOST}/a"]
    assert told[0]["question"] == "droughts"
    assert len(told) == 1, "what was told is not told again"
    (entry,) = feed_of(feeds["atom"]).findall("{*}entry")
    assert entry.findtext("{*}id") == f"http://{HOST}/a"
    (item,) = feed_of(feeds["rss"]).findall("channel/item")
    assert item.findtext("link") == f"http://{HOST}/a"


def test_a_crawl_outlives_its_service_and_the_next_one_takes_it_up(site: Site, tmp_path: Path) -> None:
    home = tmp_path / "tasks"
    for number in range(60):
        site.page(f"/n{number}", f"Floods number {number} were seen")
    site.pages["/"] = HOME + "".join(f'<a href="/n{number}">{number}</a> ' for number in range(60))
    tasks(home, "add", job(tmp_path, site, delay=0.4))
    begun = periplus("tasks", "start", "floods", "--tasks", home)
    assert (begun.code, "no service runs" in begun.out) == (0, True), begun.out
    assert state(home) == "waiting"
    with service(home) as first:
        book = TaskBook(home)
        assert "no service" not in periplus("tasks", "start", "floods", "--tasks", home).out
        wait_for(lambda: state(home) == "running" and len(site.asked) > 5)
        os.kill(first.pid, signal.SIGKILL)
    run = book.open_run(1)
    assert run
    assert run.pid
    assert os.getpgid(run.pid) == run.pid, "the crawl leads a group of its own, and goes on"
    with service(home):
        assert periplus("tasks", "pause", "floods", "--tasks", home).code == 0
        wait_for(lambda: state(home) == "paused")
        assert born(run.pid) is None
        asked = len(site.asked)
        assert periplus("tasks", "resume", "floods", "--tasks", home).code == 0
        wait_for(lambda: state(home) == "done")
    (done,) = book.runs(1)
    assert (done.pages, done.new) == (64, 64)
    pages = [path for path, _ in site.asked if path != "/robots.txt"]
    assert len(pages) == len(set(pages)), "nothing was fetched twice"
    assert len(site.asked) > asked


def test_two_tasks_are_run_at_once_and_both_end(site: Site, tmp_path: Path) -> None:
    """The service of the first command does nothing for the second, which waited for it for ever."""
    home, file = tmp_path / "tasks", job(tmp_path, site, delay=0.3)
    for name in ("one", "two"):
        tasks(home, "add", file, "--name", name)
    first = start("tasks", "run", "one", "--tasks", home)
    wait_for(lambda: TaskBook(home).open_runs())
    second = tasks(home, "run", "two")
    first.communicate(timeout=SECONDS)
    assert first.returncode == 0
    assert (second["state"], second["pages"]) == ("done", 4)


def test_people_are_told_what_there_is_and_what_stays(site: Site, tmp_path: Path) -> None:
    home, file, chosen = tmp_path / "tasks", job(tmp_path, site), tmp_path / "chosen"
    assert "periplus tasks add" in periplus("tasks", "list", "--tasks", home).out
    tasks(home, "add", file, "--out", chosen)
    assert "not run yet" in periplus("tasks", "history", "floods", "--tasks", home).out
    again = periplus("tasks", "add", file, "--name", "others", "--out", chosen, "--tasks", home)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "task 'floods' crawls into" in again.err
    chosen.mkdir()
    removed = periplus("tasks", "remove", "floods", "--erase", "--tasks", home).out
    assert f"{chosen} stays" in removed
    assert chosen.is_dir()


@contextmanager
def hook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A webhook on loopback; gives its address and the bodies that it was told."""
    told: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
