"""Nodes of another Periplus: who would misunderstand the others is refused in one line that names both versions."""

import asyncio
import re
from collections.abc import Iterator

import msgspec
import pytest
from nats_server import NatsServer, nats_server

from periplus import __version__
from periplus.cluster import Board, CrawlRecord
from periplus.cluster.control import submit
from periplus.cluster.records import PROTOCOL
from periplus.clustering import on_board, submitted_job
from periplus.errors import ConfigError, EnvironmentFailure, PeriplusError
from periplus.settings import ClusterSettings

pytestmark = pytest.mark.needs("nats-server")

JOB = 'name = "mini"\n[crawl]\npages = 5\n'


class OlderRecord(msgspec.Struct):
    """What an older Periplus might have written: the job under another name."""

    version: str
    task: str


@pytest.fixture(scope="module")
def server() -> Iterator[NatsServer]:
    with nats_server() as running:
        yield running


def refusal(server: NatsServer, name: str, there: msgspec.Struct, *, job: str = "") -> PeriplusError:
    """How we are refused where that record is: with a job of ours, or when we ask for the one that is there."""

    async def try_it() -> None:
        settings = ClusterSettings(servers=[server.url])
        async with on_board(settings, name, new=True) as (_, board, _key):
            await put_there(board, there)
            if job:
                await submit(board, job, ("main",), __version__)
        await submitted_job(settings, name)

    with pytest.raises(PeriplusError) as refused:
        asyncio.run(asyncio.wait_for(try_it(), 60))
    assert "\n" not in str(refused.value)
    return refused.value


async def put_there(board: Board, record: msgspec.Struct) -> None:
    assert await board.create("crawl", record) is not None


@pytest.mark.parametrize("job", ["", JOB], ids=["asks", "submits"])
def test_another_protocol_is_refused(server: NatsServer, job: str) -> None:
    there = CrawlRecord(PROTOCOL + 1, "9.1", JOB, ("main",))
    error = refusal(server, f"protocol{bool(job)}", there, job=job)
    assert isinstance(error, EnvironmentFailure)
    assert re.search(rf"Periplus 9\.1 .*this is Periplus {re.escape(__version__)} .*same version", str(error))


@pytest.mark.parametrize("job", ["", JOB], ids=["asks", "submits"])
def test_a_record_that_cannot_be_read_names_both(server: NatsServer, job: str) -> None:
    error = refusal(server, f"record{bool(job)}", OlderRecord("0.0.1", JOB), job=job)
    assert isinstance(error, EnvironmentFailure)
    assert re.search(rf"another Periplus \(0\.0\.1\) than this, {re.escape(__version__)}", str(error)), error


@pytest.mark.parametrize(
    ("job", "words"),
    [("", "unknown key crawl.rhythm"), (JOB, "another job of this name")],
    ids=["asks", "submits"],
)
def test_a_job_with_settings_of_another_version_names_both(server: NatsServer, job: str, words: str) -> None:
    there = CrawlRecord(PROTOCOL, "9.1", JOB + "rhythm = 3\n", ("main",))
    error = refusal(server, f"settings{bool(job)}", there, job=job)
    assert isinstance(error, ConfigError)
    assert words in str(error)
    assert f"(submitted by Periplus 9.1, this is Periplus {__version__})" in str(error)
