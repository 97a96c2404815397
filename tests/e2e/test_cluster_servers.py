"""NATS servers that go wrong under a crawl: their storage is lost, their room ends, they take too little."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_runs import ClusterRun, cluster_job, pages_of
from command_line import MiniwebProcess, miniweb, periplus
from nats_server import nats_server

pytestmark = pytest.mark.needs("nats-server")

CLUSTER = "heartbeat_seconds = 5.0\nlinger_seconds = 0.2\n"
PAIR = ("east", "general")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniwebProcess]:
    with miniweb(tmp_path_factory.mktemp("web"), "--hosts", 60, "--pages", 300, "--slow", 0.05) as served:
        yield served


@pytest.fixture(scope="module")
def alone(web: MiniwebProcess, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What one process finds."""
    folder = tmp_path_factory.mktemp("alone")
    done = periplus("crawl", cluster_job(web, folder / "job.toml", nodes=PAIR), "--out", folder / "crawl", "--json")
    assert done.code == 0, done.err
    return set(pages_of(folder / "crawl"))


def test_nodes_that_nats_has_forgotten_say_so_and_end_and_lose_nothing(
    web: MiniwebProcess, alone: set[str], tmp_path: Path
) -> None:
    before = len(web.requests())
    job = cluster_job(web, tmp_path / "job.toml", cluster=CLUSTER, nodes=PAIR, delay=0.1)
    with nats_server() as server, ClusterRun(job, server.url, tmp_path / "crawl") as run:
        run.start(PAIR)
        run.wait(web, before + 60)
        server.kill()
        server.forget()
        server.start()
        for node in PAIR:
            code, err = run.ended(node)
            assert (code, err.count("\n")) == (4, 1), err
            assert "has this stream no longer" in err
        run.start(PAIR)
        run.finish()
    assert set(pages_of(tmp_path / "crawl")) == alone


def test_a_full_stream_is_told_and_goes_on_when_its_limit_is_raised(
    web: MiniwebProcess, alone: set[str], tmp_path: Path
) -> None:
    job = cluster_job(web, tmp_path / "job.toml", cluster=f"{CLUSTER}stream_bytes = 8000\n", nodes=PAIR)
    with nats_server() as server, ClusterRun(job, server.url, tmp_path / "crawl") as run:
        run.start(PAIR)
        run.until_status("takes no more links (maximum bytes exceeded)")
        shown = periplus("cluster", "status", "--cluster", server.url).out
        assert "raise cluster.stream_bytes" in " ".join(shown.split()), shown
        assert periplus("cluster", "stop", "--cluster", server.url).code == 0
        for node in PAIR:
            assert run.ended(node)[0] == 3
        job.write_text(job.read_text("utf-8").replace("stream_bytes = 8000", "stream_bytes = 8000000"), "utf-8")
        run.start(PAIR)
        run.finish()
    assert set(pages_of(tmp_path / "crawl")) == alone


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("max_payload: 4096\n", ("4,096 bytes", "max_payload")),
        ("accounts { A { users: [{user: u, password: p}], jetstream { max_streams: 1 } } }\nno_auth_user: u\n",
         ("does not make the stream", "maximum number of streams")),
    ],
)  # fmt: skip
def test_a_server_that_takes_too_little_is_refused_in_one_line(
    web: MiniwebProcess, tmp_path: Path, config: str, words: tuple[str, ...]
) -> None:
    job = cluster_job(web, tmp_path / "job.toml", nodes=PAIR)
    with nats_server(config) as server:
        done = periplus("node", "east", "--cluster", server.url, "--job", job, "--out", tmp_path / "crawl")
    done.assert_one_line_error(4, *words)
