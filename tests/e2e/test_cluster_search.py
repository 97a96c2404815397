"""One question over all machines of a cluster: processes with folders of their own, asked through a NATS server."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from command_line import periplus, start
from nats_server import NatsServer, nats_server
from sample_collection import build_collection

from periplus.search import Collection, SearchRequest, open_collection

pytestmark = pytest.mark.needs("nats-server")

JOB = """
name = "sample"
out = "."
seeds = ["http://127.0.0.1/"]
[topic]
name = "travel"
keywords = { pizza = 1.0 }
[crawl]
allow_private = ["127.0.0.0/8"]
[nodes.east]
places = ["Lisbon, Portugal"]
[nodes.general]
"""
NODES = ("east", "general")


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A finished crawl of two nodes: whole in one folder, and each node in a folder of its own, as on two machines."""
    root = tmp_path_factory.mktemp("machines")
    whole = build_collection(root / "whole", nodes=NODES)
    whole.job_file.write_text(JOB, "utf-8")
    for node in NODES:
        shutil.copytree(whole.path / "nodes" / node, root / node / "nodes" / node)
        shutil.copy(whole.job_file, root / node / "crawl.toml")
    return whole.path, root


@contextmanager
def answering(node: str, root: Path, server: NatsServer) -> Iterator[subprocess.Popen[str]]:
    """A process that answers for a node, until the block ends."""
    job, out = root / node / "crawl.toml", root / node
    process = start("node", node, "--answer", "--cluster", server.url, "--job", job, "--out", out)
    try:
        assert process.stderr is not None
        said = next((line for line in process.stderr if "answering" in line or "periplus:" in line), "nothing")
        assert "answering" in said, said
        yield process
    finally:
        process.kill()
        process.communicate()


def told(collection: Collection, text: str) -> list[tuple[str, str, float, str]]:
    """What an answer says: node, URL, score and snippet of each hit."""
    return [(hit.node, hit.url, round(hit.score, 6), hit.snippet) for hit in collection.search(text).hits]


QUESTIONS = (
    "pizza in Lisbon",
    "bayou",
    "Texas",
    "coffee near Portland",
    "since 2026",
    '"pizza restaurant" -oven',
    "東京",
)


def test_a_finished_cluster_answers_like_one_folder_and_says_who_is_missing(machines: tuple[Path, Path]) -> None:
    whole, root = machines
    with ExitStack() as stack:
        server = stack.enter_context(nats_server())
        processes = {node: stack.enter_context(answering(node, root, server)) for node in NODES}
        here = stack.enter_context(open_collection(whole))
        there = stack.enter_context(open_collection("sample", cluster=server.url))

        for question in QUESTIONS:
            assert told(there, question) == told(here, question), question
        assert there.info() == here.info()
        asked = SearchRequest.of("pizza")
        assert there.trend(asked, "month").to_json() == here.trend(asked, "month").to_json()
        assert there.suggest("pizza in lis").to_json() == here.suggest("pizza in lis").to_json()
        hit = here.search("pizza in Lisbon").hits[0]
        assert there.page(hit.node, hit.page, "pizza") == here.page(hit.node, hit.page, "pizza")
        assert there.search("pizza in Lisbon").nodes == ("east", "general")  # the owner of the place first

        command = periplus("search", "sample", "pizza in Lisbon", "--cluster", server.url, "--json")
        assert command.code == 0, command.err
        assert command.json["missing"] == []
        assert [hit["url"] for hit in command.json["hits"]] == [
            hit.url for hit in here.search("pizza in Lisbon", limit=10).hits
        ]

        processes["general"].kill()
        processes["general"].wait()
        part = there.search("pizza", seconds=10)
        assert part.missing == ("general",)
        assert part.nodes == ("east",)
        assert part.hits
        assert {hit.node for hit in part.hits} == {"east"}
        assert there.trend(asked, "month").missing == ("general",)
        command = periplus("search", "sample", "pizza in Lisbon", "--cluster", server.url)
        assert command.code == 0, command.err
        assert "without general: no answer from there" in " ".join(command.out.split())


def test_a_crawl_or_cluster_that_is_not_there_is_said_in_one_line(machines: tuple[Path, Path]) -> None:
    _, root = machines
    with nats_server() as server:
        periplus("search", "sample", "pizza", "--cluster", server.url).assert_one_line_error(4, "sample")
        with answering("east", root, server):
            periplus("search", "other", "pizza", "--cluster", server.url).assert_one_line_error(4, "other")
        job, out = root / "east" / "crawl.toml", root / "east"
        arguments = ("--answer", "--cluster", server.url, "--job", job, "--out", out)
        periplus("node", "general", *arguments).assert_one_line_error(2, "general", "--answer")
    periplus("search", "sample", "pizza", "--cluster", "nats://127.0.0.1:9").assert_one_line_error(4, "NATS")
