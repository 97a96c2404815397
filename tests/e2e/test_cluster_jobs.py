"""Which job a cluster runs: the same one on all machines, wherever their files are; and none is made by asking."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cluster_runs import pages_of
from command_line import Finished, periplus, start
from nats_server import NatsServer, nats_server

from periplus.model import Fetched
from periplus.store.wacz import write_wacz

pytestmark = pytest.mark.needs("nats-server")

PAGES = [f"http://guide.example/p{number}" for number in range(12)]
PAIR = ("east", "general")


def machine(folder: Path, pages: int = 0) -> Path:
    """The folder of a machine with a job file and what it names beside it; gives the job file."""
    folder.mkdir(exist_ok=True)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    links = " ".join(f'<a href="{url}">more</a>' for url in PAGES)
    responses = [
        Fetched(url, 200, (("Content-Type", "text/html"),), body, "text/html", moment, 0.01, "127.0.0.1")
        for url, body in ((url, f"<p>{url} {links}</p>".encode()) for url in PAGES)
    ]
    write_wacz(responses, folder / "web.wacz")
    job = folder / "job.toml"
    job.write_text(
        f'name = "guide"\nout = "crawl"\nseeds = ["{PAGES[0]}"]\n[nodes.east]\nplaces = ["Boston, MA"]\n'
        f'[nodes.general]\n[crawl]\npages = {pages}\nstrategy = "hash"\nkeep = "all"\nreplay = "web.wacz"\n'
        "delay_seconds = 0.0\nworkers = 1\n[cluster]\nlinger_seconds = 0.1\n",
        "utf-8",
    )
    return job


def run(server: NatsServer, jobs: dict[str, Path], *options: str) -> dict[str, Finished]:
    """Run a node of each job to its end, beside each other."""
    given = ("--cluster", server.url, "--json", *options)
    running = {node: start("node", node, "--job", job, *given) for node, job in jobs.items()}
    done = {}
    try:
        for node, process in running.items():
            out, err = process.communicate(timeout=120)
            done[node] = Finished(process.returncode, out, err)
    finally:
        for process in running.values():
            process.kill()
    return done


def test_machines_have_their_files_where_they_like_and_a_limit_may_be_raised(tmp_path: Path) -> None:
    with nats_server() as server:
        done = run(server, {node: machine(tmp_path / node, pages=4) for node in PAIR})
        assert {node: one.code for node, one in done.items()} == dict.fromkeys(PAIR, 3), done
        assert 4 <= len(pages_of(tmp_path)) < len(PAGES)
        status = periplus("cluster", "status", "--cluster", server.url, "--json").json
        assert (status["state"], status["reason"][:11]) == ("ended", "page limit:")

        other = machine(tmp_path / "other")
        other.write_text(other.read_text("utf-8").replace("Boston, MA", "Seattle, WA"), "utf-8")
        refused = periplus("node", "east", "--cluster", server.url, "--job", other)
        refused.assert_one_line_error(2, "was begun with other nodes")

        done = run(server, {node: machine(tmp_path / node) for node in PAIR})
        assert {node: one.code for node, one in done.items()} == dict.fromkeys(PAIR, 0), done
        status = periplus("cluster", "status", "--cluster", server.url, "--json").json
        for figure, expected in (("pages", len(PAGES)), ("queued", 0), ("unconfirmed", 0)):
            assert sum(node[figure] for node in status["nodes"].values()) == expected, (figure, status)
        stopped = periplus("cluster", "stop", "--cluster", server.url)
        assert (stopped.code, "guide has ended already (frontier empty" in stopped.out) == (0, True), stopped
        assert periplus("cluster", "status", "--cluster", server.url, "--json").json["state"] == "ended"
        nobody = periplus("search", "guide", "more", "--cluster", server.url)
        assert "Nobody has answered: start the nodes" in nobody.out
    assert set(pages_of(tmp_path)) == set(PAGES)


def test_a_crawl_that_has_ended_is_not_begun_anew_by_mistake(tmp_path: Path) -> None:
    with nats_server() as server:
        jobs = {node: machine(tmp_path / node) for node in PAIR}
        assert {one.code for one in run(server, jobs).values()} == {0}
        alone = periplus("crawl", tmp_path / "east" / "crawl")
        alone.assert_one_line_error(2, "a cluster's east", "periplus node east --cluster")

        moved = {"east": machine(tmp_path / "new"), "general": jobs["general"]}
        empty = periplus("node", "east", "--cluster", server.url, "--job", moved["east"])
        empty.assert_one_line_error(4, "nothing of node east is here", str(tmp_path / "east" / "crawl"), "--rebuild")
        assert not (tmp_path / "new" / "crawl").exists()
        assert periplus("cluster", "status", "--cluster", server.url, "--json").json["state"] == "ended"

        rebuilt = run(server, moved, "--rebuild")
        assert {node: one.code for node, one in rebuilt.items()} == dict.fromkeys(PAIR, 0), rebuilt
    assert pages_of(tmp_path / "new") == pages_of(tmp_path / "east")


def test_a_crawl_of_one_process_does_not_go_on_in_a_cluster(tmp_path: Path) -> None:
    job = machine(tmp_path / "m", pages=4)
    assert periplus("crawl", job).code == 3
    with nats_server() as server:
        node = periplus("node", "general", "--cluster", server.url, "--job", job)
    node.assert_one_line_error(2, "was crawled by one process", "--out")


def test_asking_about_a_crawl_that_is_not_there_makes_none(tmp_path: Path) -> None:
    with nats_server() as server:
        for order in ("status", "stop", "pause", "resume"):
            asked = periplus("cluster", order, "--crawl", "giude", "--cluster", server.url)
            asked.assert_one_line_error(4, "no crawl 'giude' is in this cluster")
        copies = machine(tmp_path / "copies")
        copies.write_text(copies.read_text("utf-8") + "replicas = 3\n", "utf-8")
        alone = periplus("node", "east", "--cluster", server.url, "--job", copies)
        alone.assert_one_line_error(2, "cluster.replicas = 3: this NATS server is alone")
        waiting = start("node", "east", "--cluster", server.url, "--crawl", "giude", "--out", tmp_path / "x")
        follower = start("crawl", machine(tmp_path / "m"), "--cluster", server.url)
        try:
            assert waiting.stderr is not None
            assert "waits for the job 'giude'" in waiting.stderr.readline()
            assert follower.stderr is not None
            said = follower.stderr.readline()
            assert re.search(r"guide: running, but nobody runs east, general; start .*periplus node NAME", said), said
            wrong = periplus("cluster", "stop", "--crawl", "giude", "--cluster", server.url)
            wrong.assert_one_line_error(4, "there is guide")
            assert periplus("cluster", "status", "--cluster", server.url).code == 0, "the only one needs no name"
        finally:
            for process in (waiting, follower):
                process.kill()
                process.communicate()


def test_files_of_a_job_lie_beside_it_also_those_for_nats(tmp_path: Path) -> None:
    with nats_server("authorization { token: t0ken }\n") as server:
        job = machine(tmp_path / "m")
        (tmp_path / "m" / "token").write_text("t0ken\n", "utf-8")
        given = f'[cluster]\nservers = ["{server.url}"]\ntoken_file = "token"\n'
        job.write_text(job.read_text("utf-8").replace("[cluster]\n", given), "utf-8")
        running = {node: start("node", node, "--job", job, "--json", cwd=tmp_path) for node in PAIR}
        try:
            for process in running.values():
                _, err = process.communicate(timeout=120)
                assert process.returncode == 0, err
        finally:
            for process in running.values():
                process.kill()
    assert set(pages_of(tmp_path)) == set(PAGES)
