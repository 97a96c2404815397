"""Wrong files, wrong folders, a busy port, no room: one clear line, the right exit code, nothing lost."""

import contextlib
import json
import os
import re
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import MiniwebProcess, miniweb, periplus, start

from periplus.fetch.transport import user_agent

JOB = 'name = "x"\nout = "crawl"\nseeds = ["http://127.0.0.1:8080/"]\n[crawl]\nallow_private = ["127.0.0.0/8"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[crawl]\npagess = 3\n", ["crawl.pagess", "crawl.pages"]),
        ("[crawl]\npages = 'many'\n", ["crawl.pages", "expected int"]),
        ("[crawl\n", ["not valid TOML"]),
        ("\x00\x01", ["not valid TOML"]),
        ("[crawl]\nstrategy = 'hsh'\n", ["crawl.strategy", "'hash'"]),
        ("[crawl]\npolicy = 'c'\n", ["crawl.policy", "no 'c'", "choose one of a, b"]),
        ("[run]\nlog = 'event'\n", ["run.log", "did you mean 'events'"]),
        ("[topics.floods]\njudge = 'x'\n", ["topics.floods.judge", "default, paper, one-vector"]),
        ("[nodes.east]\nplaces = 'Boston, MA'\n", ["nodes.east.places: expected a list"]),
        ("crawl = 3\n", ["crawl: expected a table, got int"]),
        ("[topic]\nkeywords = { flood = 7 }\n", ["topic.keywords", "flood"]),
        ("[fetch]\nproxy = 'nonsense'\n", ["fetch.proxy", "http://127.0.0.1:3128"]),
        ("[fetch]\nproxy = 'socks5://127.0.0.1:1'\n", ["fetch.proxy", "HTTP proxy"]),
        ("[run]\nmetrics_host = '999.1.1.1'\n", ["run.metrics_host", "'999.1.1.1' is not an address"]),
        ("[crawl.revisit]\nmin_hours = 10.0\nmax_hours = 2.0\n", ["crawl.revisit.min_hours 10", "max_hours 2"]),
        ("seeds = ['http://127.0.0.1:8080/']\n", ["out"]),
        ("out = 'c'\n", ["seeds"]),
        ("out = 'c'\nseeds = ['no-such-file.txt']\n", ["no-such-file.txt"]),
        ("out = 'c'\nseeds = ['ftp://127.0.0.1/']\n", ["ftp://127.0.0.1/"]),
        ("out = 'c'\nseeds = ['https://example.org/']\n", ["contact"]),
        ("out = 'c'\nseeds = ['http://127.0.0.1:25/']\n", ["127.0.0.1:25", "fetch.ports lists 25"]),
        *(
            (f"out = 'c'\nseeds = ['http://127.0.0.1:8080/']\n[crawl]\n{key} = {value}\n", [f"crawl.{key}", value])
            for key in ("delay_seconds", "retry_seconds", "ip_delay_seconds")
            for value in ("inf", "1e+308")
        ),
        ("out = 'c'\nseeds = ['http://127.0.0.1:8080/']\n[fetch]\ntotal_seconds = inf\n", ["fetch.total_seconds"]),
        *(
            (f"out = 'c'\nseeds = ['https://example.org/']\ncontact = {json.dumps(contact)}\n", ["contact", "e-mail"])
            for contact in (
                " ",
                "me",
                "me@",
                "a b@example.org",
                "a@example.org\r\nX: y",
                "a@b.org)",
                "ftp://b.org/",
                "ü@b.org",
            )
        ),
        ("out = 'c'\nseeds = ['http://127.0.0.1:6379/']\n", ["127.0.0.1:6379", "a port"]),
        ("out = 'c'\nseeds = ['http://127.0.0.1:8080/']\n[topic]\nplaces = { Springfield = 1 }\n", ["Springfield, "]),
        ("out = 'c'\nseeds = ['http://127.0.0.1:8080/']\n[topic]\nplaces = { Houstn = 1 }\n", ["Houston"]),
        ("out = 'c'\nseeds = ['http://127.0.0.1:8080/']\n[nodes.a]\nplaces = ['Boston, MA']\n", ["nodes.general"]),
        ("out = 'c'\nseeds = ['http://127.0.0.1:8080/']\ntargets = 'us1000'\n", ["us1000", "us100"]),
        (
            "out = 'c'\nseeds = ['http://127.0.0.1:8080/']\n[nodes.a]\nplaces = ['Boston, MA']\n"
            "[nodes.b]\nplaces = ['Boston, MA']\n[nodes.general]\n",
            ["'a'", "nodes.b", "Boston"],
        ),
        (
            "out = 'c'\nseeds = ['http://127.0.0.1:8080/']\n[crawl]\nstrategy = 'nearest'\n[nodes.a]\n[nodes.b]\n",
            ["nearest", "network.round_trips"],
        ),
        (
            "out = 'c'\nseeds = ['https://example.org/']\ncontact = 'a@example.org'\n[crawl]\nobey_robots = false\n",
            ["obey_robots"],
        ),
    ],
)
def test_wrong_job_file(tmp_path: Path, text: str, words: list[str]) -> None:
    job = tmp_path / "job.toml"
    job.write_text(text, "utf-8")
    periplus("crawl", job).assert_one_line_error(2, *words)
    assert not (tmp_path / "c").exists(), "nothing is made for a job that cannot run"


@pytest.mark.parametrize("command", [("crawl",), ("tasks", "add", "--tasks", "tasks")])
@pytest.mark.parametrize("out", ["", " "])
def test_an_empty_name_is_no_folder(tmp_path: Path, command: tuple[str, ...], out: str) -> None:
    job = tmp_path / "job.toml"
    job.write_text(JOB, "utf-8")
    periplus(*command, job, "--out", out, cwd=tmp_path).assert_one_line_error(2, "--out: an empty name")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--strategy", "zzz"), ["crawl.strategy: no 'zzz'", "choose one of hash, "]),
        (("--pages", "-3"), ["crawl.pages"]),
        (("--keyword", "flood=7"), ["topic.keywords", "flood"]),
    ],
)
def test_a_wrong_option_is_not_blamed_on_the_job_file(
    tmp_path: Path, option: tuple[str, str], words: list[str]
) -> None:
    job = tmp_path / "job.toml"
    job.write_text(JOB, "utf-8")
    done = periplus("crawl", job, *option)
    done.assert_one_line_error(2, "command line: ", *words)
    assert "job.toml" not in done.err


def test_progress_that_is_a_folder(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(JOB, "utf-8")
    periplus("crawl", job, "--progress", tmp_path).assert_one_line_error(2, str(tmp_path), "is a folder, not a file")
    assert not (tmp_path / "crawl").exists()


def test_a_question_that_the_command_line_takes_apart_is_told_how_to_stay_whole(tmp_path: Path) -> None:
    periplus("search", tmp_path, "-pizza").assert_one_line_error(2, "-p", "stands behind --")
    periplus("search", tmp_path, "pizza", "oven").assert_one_line_error(2, "oven", "several words need quotes")


@pytest.mark.parametrize(
    "command",
    [
        ("serve", "--crawl", "x", "--no-tasks", "x"),
        ("serve", "--no-tasks", "--crawls", "3", "x"),
        ("record", "x.warc", "--pages", "3", "-o", "x.wacz"),
        ("compare", "x.wacz", "--seeds", "s.txt", "--draws", "3"),
        ("simulate", "x", "--web-pages", "30"),
        ("nodes", "plan", "--crawl", "x", "--nodes", "2"),
        ("tasks", "add", "--zone", "Europe/Lisbon", "job.toml"),
        ("score", "--html", "--jsonl", "topic.toml"),
        ("crawl", "--progress", "x.json", "--out", "c", "--cluster", "nats://127.0.0.1:1"),
    ],
    ids=" ".join,
)
def test_options_that_do_nothing_are_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    option = next(part for part in command if part.startswith("--") and part not in ("--no-tasks", "--seeds"))
    periplus(*command, cwd=tmp_path).assert_one_line_error(2, f"{option} ")
    assert not list(tmp_path.iterdir())


def test_missing_job_file(tmp_path: Path) -> None:
    periplus("crawl", tmp_path / "none.toml").assert_one_line_error(2, "none.toml", "no such file")


def test_wrong_option_says_so_in_usage() -> None:
    done = periplus("crawl", "--pagess", "3")
    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", [("search", "x"), ("evaluate",), ("trend", "x"), ("serve",)])
def test_folder_that_is_not_a_crawl(tmp_path: Path, command: tuple[str, ...]) -> None:
    name, *rest = command
    periplus(name, tmp_path, *rest).assert_one_line_error(2, str(tmp_path), "not a crawl")
    periplus(name, tmp_path / "none", *rest).assert_one_line_error(2, "none", "no such folder")


@pytest.mark.parametrize("command", [("record", "none"), ("compare", "none.wacz")])
def test_recorded_web_that_is_not_there(tmp_path: Path, command: tuple[str, str]) -> None:
    name, web = command
    periplus(name, tmp_path / web, "-o", tmp_path / "out").assert_one_line_error(2, web, "no such file")
    assert not any(tmp_path.iterdir())


def test_a_file_that_is_no_recorded_web(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("no archive", "utf-8")
    done = periplus("record", tmp_path / "s.txt", "-o", tmp_path / "n.wacz")
    done.assert_one_line_error(2, "s.txt", "no response in it", "WARC")
    assert not (tmp_path / "n.wacz").exists()


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ("[crawl]\nreplay = 'none.wacz'\n", 2, ["none.wacz", "no such file"]),
        ("[crawl]\nreplay = 'job.toml'\n", 2, ["crawl.replay", "no response in it"]),
        ("[archive]\ndisk_reserve_bytes = 900000000000000000\n", 4, ["free", "archive.disk_reserve_bytes"]),
    ],
)
def test_a_crawl_that_cannot_begin_leaves_no_folder(tmp_path: Path, more: str, code: int, words: list[str]) -> None:
    job = tmp_path / "job.toml"
    job.write_text(f"out = 'crawl'\nseeds = ['http://127.0.0.1:8080/']\n{more}", "utf-8")
    periplus("crawl", job).assert_one_line_error(code, *words)
    assert [path.name for path in tmp_path.iterdir()] == ["job.toml"]


def test_out_that_is_a_file(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(JOB, "utf-8")
    (tmp_path / "crawl").write_text("I am a file", "utf-8")
    for arguments in (("crawl", job), ("crawl", job, "--out", tmp_path / "crawl" / "inside")):
        periplus(*arguments).assert_one_line_error(2, f"{tmp_path / 'crawl'} is a file, not a folder")


@pytest.mark.parametrize(
    "command",
    [
        ("search", "FILE", "x"),
        ("verify", "FILE"),
        ("export", "FILE", "--to", "csv", "-o", "out.csv"),
        ("tasks", "list", "--tasks", "FILE"),
        ("compare", "FILE", "-o", "FILE"),
        ("miniweb", "generate", "-o", "FILE"),
    ],
)
def test_a_file_where_a_folder_is_needed(tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "file"
    file.write_text("I am a file", "utf-8")
    arguments = [str(file) if part == "FILE" else part for part in command]
    periplus(*arguments).assert_one_line_error(2, f"{file} is a file, not a folder")


def test_unreachable_seed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    job = tmp_path / "job.toml"  # the port is free again: nobody listens there
    job.write_text(JOB.replace("8080", str(port)) + f"[fetch]\nports = [{port}]\n", "utf-8")
    done = periplus("crawl", job)
    done.assert_one_line_error(4, f"no seed could be reached (http://127.0.0.1:{port}/robots.txt: Connection refused)")
    assert "queued" in done.err


@pytest.fixture
def web(tmp_path: Path) -> Iterator[MiniwebProcess]:
    with miniweb(tmp_path, "--hosts", 60, "--pages", 300) as served:
        yield served


def test_a_disk_without_room_pauses_the_crawl_and_loses_nothing(web: MiniwebProcess, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    first = periplus("crawl", web.job, "--out", folder, "--pages", 30, "--json")
    assert first.code == 3
    text = web.job.read_text("utf-8")
    full = tmp_path / "full.toml"
    full.write_text(text + "\n[archive]\ndisk_reserve_bytes = 1000000000000000\n", "utf-8")
    periplus("crawl", full, "--out", folder, "--pages", 60).assert_one_line_error(4, "MiB free", "same command")
    again = periplus("crawl", web.job, "--out", folder, "--pages", 60, "--json")
    assert (again.code, again.json["pages"]) == (3, 60)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk takes root")
def test_a_disk_that_fills_up_during_the_crawl(web: MiniwebProcess, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        job = job_on_small_disk(web, tmp_path, wait_minutes=0.0)
        full = periplus("crawl", job, "--out", disk / "crawl", "--pages", 2000)
        full.assert_one_line_error(4, "no room left")
        enlarge(disk)
        again = periplus("crawl", job, "--out", disk / "crawl", "--pages", 150, "--json")
        assert (again.code, again.json["pages"]) == (3, 150), again.err
        assert periplus("verify", disk / "crawl").code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk takes root")
def test_a_crawl_without_room_waits_and_goes_on_when_there_is_some(web: MiniwebProcess, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        job = job_on_small_disk(web, tmp_path, wait_minutes=60.0)
        process = start("crawl", job, "--out", disk / "crawl", "--pages", 250, "--json", "--metrics", 0)
        try:
            wait_until_paused(process, disk / "crawl" / "log.jsonl")
            enlarge(disk)
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
        assert process.returncode == 3, err
        assert json.loads(out)["pages"] == 250
        assert periplus("verify", disk / "crawl").code == 0


@contextlib.contextmanager
def small_disk(disk: Path) -> Iterator[Path]:
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)


def job_on_small_disk(web: MiniwebProcess, folder: Path, *, wait_minutes: float) -> Path:
    job = folder / "small.toml"
    tables = f"\n[archive]\ndisk_reserve_bytes = 0\n[run]\ndisk_wait_minutes = {wait_minutes}\n"
    job.write_text(web.job.read_text("utf-8") + tables, "utf-8")
    return job


def wait_until_paused(process: "subprocess.Popen[str]", log: Path) -> None:
    """The log cannot be relied on when its own disk is full; the metrics can."""
    port = None
    while True:
        assert process.poll() is None, process.communicate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
        if port is None and log.exists() and log.read_text("utf-8").endswith("\n"):
            port = json.loads(log.read_text("utf-8").splitlines()[0])["metrics_port"]
        if port is not None:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                if b"\nperiplus_paused 1\n" in answer.read():
                    return


def test_a_second_process_on_one_folder_is_refused(web: MiniwebProcess, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    slow = tmp_path / "slow.toml"
    slow.write_text(web.job.read_text("utf-8").replace("delay_seconds = 0.0", "delay_seconds = 5.0"), "utf-8")
    first = start("crawl", slow, "--out", folder, "--json")
    try:
        while not (folder / "crawl.toml").exists():
            assert first.poll() is None
        periplus("crawl", slow, "--out", folder).assert_one_line_error(4, str(first.pid), "crawling here")
    finally:
        first.terminate()  # drains and ends by itself
        first.communicate(timeout=60)
    assert first.returncode == 130


def test_busy_ports(web: MiniwebProcess, tmp_path: Path) -> None:
    periplus("crawl", web.job, "--out", tmp_path / "crawl", "--pages", 5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        periplus("serve", tmp_path / "crawl", "--port", port).assert_one_line_error(4, str(port))
        periplus("miniweb", "serve", "--port", port).assert_one_line_error(4, str(port))


def test_other_nodes_cannot_resume_a_crawl(web: MiniwebProcess, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    periplus("crawl", web.job, "--out", folder, "--pages", 5)
    other = tmp_path / "other.toml"
    other.write_text(web.job.read_text("utf-8").replace('targets = "us100"', ""), "utf-8")
    periplus("crawl", other, "--out", folder).assert_one_line_error(2, "other nodes")


def test_a_crawl_without_contact_is_refused_beyond_loopback(tmp_path: Path) -> None:
    """Nobody crawls without a name (Z5), and the product token is one that robots.txt can name."""
    job = tmp_path / "job.toml"
    job.write_text('seeds = ["http://example.com/"]\n', "utf-8")
    periplus("crawl", job, "--out", tmp_path / "crawl").assert_one_line_error(2, "contact", "example.com")
    assert not (tmp_path / "crawl").exists()
    assert re.fullmatch(
        r"[A-Za-z_-]+/[0-9.]+ \(\+mailto:me@example\.org\)", user_agent("0.1.0", "mailto:me@example.org")
    )
