"""A reader who leaves, and signals before anything has begun: no traceback, nothing half made, the right exit code."""

import errno
import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
from command_line import PERIPLUS, SECONDS
from sample_collection import PAGES, build_collection

PLACES = "The mayor of Lisbon, Portugal, spoke in Paris, Texas."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_collection(tmp_path_factory.mktemp("pipes") / "crawl").path


def unread(*arguments: object, both: bool = False) -> tuple[int, str]:
    """Run a command whose output nobody reads from the beginning on; its exit code and what it complains about."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [PERIPLUS, *map(str, arguments)],
            input=PLACES,
            stdout=writer,
            stderr=writer if both else subprocess.PIPE,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr or ""


@pytest.mark.parametrize(
    "command",
    [
        ("--help",),
        ("search", "DIR", "pizza in Lisbon"),
        ("search", "DIR", "pizza", "--json"),
        ("trend", "DIR", "pizza"),
        ("trend", "DIR", "pizza", "--json"),
        ("index", "info", "DIR"),
        ("evaluate", "DIR"),
        ("config", "--explain"),
        ("config",),
        ("gazetteer", "lookup", "Paris"),
        ("gazetteer", "info"),
        ("places", "-"),
        ("places", "-", "--json"),
    ],
    ids=" ".join,
)
def test_a_reader_who_left_is_no_error(folder: Path, command: tuple[str, ...]) -> None:
    assert unread(*(folder if part == "DIR" else part for part in command)) == (0, "")


def test_errors_keep_their_code_where_nobody_reads(tmp_path: Path) -> None:
    assert unread("search", tmp_path, "pizza", both=True)[0] == 2
    crawl = build_collection(tmp_path / "crawl", PAGES[:3], nodes=("a",))
    with closing(sqlite3.connect(crawl.node("a").database)) as db, db:
        db.execute("UPDATE progress SET state = 9")
    assert unread("verify", crawl.path)[0] == 4, "damage stays damage"


def test_what_the_output_cannot_write_is_replaced(folder: Path) -> None:
    done = subprocess.run(
        [PERIPLUS, "search", folder, b"pizza in Lisbon \xff", "--json"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["query"]["what"] == "pizza"


def interrupted(number: int, ready: Path, *arguments: object, path: Path | None = None) -> tuple[int, str, str]:
    """Start a command and send it a signal once it has said that it is ready; how it ends, and what it says."""
    found = [str(path or ""), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [PERIPLUS, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, found))},
    )
    try:
        ends = time.monotonic() + SECONDS
        while not is_read(ready) and process.poll() is None and time.monotonic() < ends:
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    return process.returncode, out, err


def is_read(pipe: Path) -> bool:
    """Whether somebody waits for what comes out of a pipe."""
    try:
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return False
        raise
    WRITERS.append(writer)  # kept open: a reader that sees the end would go on
    return True


WRITERS: list[int] = []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("module", "command"),
    [("typer", "crawl"), ("uvloop", "crawl"), ("typer", "serve"), ("uvicorn", "serve")],
)
def test_a_signal_while_modules_are_imported_ends_it_quietly(
    tmp_path: Path, folder: Path, number: int, module: str, command: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / f"{module}.py").write_text(f"open({str(pipe)!r}).read()\n")  # for ever: nobody writes
    assert interrupted(number, pipe, command, folder, path=tmp_path) == (130, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [("crawl",), ("serve", "--port", "0", "--task-defaults")], ids=" ".join)
def test_a_signal_before_anything_has_begun_leaves_nothing_behind(
    tmp_path: Path, number: int, command: tuple[str, ...]
) -> None:
    pipe, home = tmp_path / "job.toml", tmp_path / "tasks"
    os.mkfifo(pipe)
    options = ("--out", tmp_path / "crawl") if command[0] == "crawl" else ("--tasks", home)
    assert interrupted(number, pipe, *command, pipe, *options) == (130, "", "")
    assert not (tmp_path / "crawl").exists()
