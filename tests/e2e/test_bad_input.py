"""Wrong files, wrong folders, a busy port, no room: one clear line, the right exit code, nothing lost."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import MiniwebProcess, miniweb, periplus, start

JOB = 'name = "x"\nout = "crawl"\nseeds = ["http://127.0.0.1:8080/"]\n[crawl]\nallow_private = ["127.0.0.0/8"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[crawl]\npagess = 3\n", ["crawl.pagess", "crawl.pages"]),
        ("[crawl]\npages = 'many'\n", ["crawl.pages", "expected int"]),
        ("[crawl\n", ["not valid TOML"]),
        ("\x00\x01", ["not valid TOML"]),
        ("[crawl]\nstrategy = 'hsh'\n", ["crawl.strategy", "'hash'"]),
        ("[topic]\nkeywords = { flood = 7 }\n", ["topic.keywords", "flood"]),
        ("seeds = ['http://127.0.0.1:8080/']\n", ["out"]),
        ("out = 'c'\n", ["seeds"]),
        ("out = 'c'\nseeds = ['no-such-file.txt']\n", ["no-such-file.txt"]),
        ("out = 'c'\nseeds = ['ftp://127.0.0.1/']\n", ["ftp://127.0.0.1/"]),
        ("out = 'c'\nseeds = ['https://example.org/']\n", ["contact"]),
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


def test_out_that_is_a_file(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(JOB, "utf-8")
    (tmp_path / "crawl").write_text("I am a file", "utf-8")
    periplus("crawl", job).assert_one_line_error(4, "crawl")


def test_unreachable_seed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    job = tmp_path / "job.toml"  # the port is free again: nobody listens there
    job.write_text(JOB.replace("8080", str(port)) + f"[fetch]\nports = [{port}]\n", "utf-8")
    periplus("crawl", job).assert_one_line_error(4, "no seed could be reached", str(port), "queued")


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
    import subprocess

    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        job = tmp_path / "small.toml"
        job.write_text(web.job.read_text("utf-8") + "\n[archive]\ndisk_reserve_bytes = 0\n", "utf-8")
        full = periplus("crawl", job, "--out", disk / "crawl", "--pages", 2000)
        full.assert_one_line_error(4, "no room left")
        subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
        again = periplus("crawl", job, "--out", disk / "crawl", "--pages", 150, "--json")
        assert (again.code, again.json["pages"]) == (3, 150), again.err
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


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
