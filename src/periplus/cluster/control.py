"""What people order and ask: submit a job, pause, stop, and how all nodes are."""

import asyncio
import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from periplus.cluster.ending import Report
from periplus.cluster.records import MAX_JOB_BYTES, PROTOCOL, Board, CrawlRecord, NodeRecord
from periplus.errors import ConfigError, EnvironmentFailure, UsageError
from periplus.exchange.connection import Temporary, jetstream, temporary_errors

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["ask_all", "crawls_there", "only_crawl", "order", "read_crawl", "submit"]

ASK_SECONDS = 2.0
BUCKET = "KV_periplus-"


async def submit(board: Board, job: str, nodes: tuple[str, ...], version: str) -> CrawlRecord:
    """Put the job where all nodes find it, or join the one that is there; ConfigError if that is another job.

    A crawl that was stopped or has ended goes on when its job is submitted again.
    """
    if len(job.encode()) > MAX_JOB_BYTES:
        raise ConfigError(f"the job is larger than {MAX_JOB_BYTES // 1024} KiB; seeds may be given in fewer lines")
    wanted = CrawlRecord(PROTOCOL, version, job, nodes)
    while True:
        found = await board.get("crawl", CrawlRecord, tries=30)
        if found is None:
            if await board.create("crawl", wanted, tries=30) is not None:
                return wanted
            continue
        record = checked(found[0], version, board.bucket)
        if record.job != job:
            raise ConfigError(
                f"{board.bucket}: another job of this name is in the cluster; take another `name`, or the same job file"
            )
        return record


def checked(record: CrawlRecord, version: str, bucket: str) -> CrawlRecord:
    """The record, unless this Periplus would not understand the others."""
    if record.protocol != PROTOCOL:
        raise EnvironmentFailure(
            f"{bucket}: this crawl runs with Periplus {record.version} (protocol {record.protocol}), this is Periplus "
            f"{version} (protocol {PROTOCOL}); use the same version on all machines"
        )
    return record


async def read_crawl(board: Board, version: str) -> CrawlRecord | None:
    """The crawl's record, if there is one."""
    found = await board.get("crawl", CrawlRecord)
    return None if found is None else checked(found[0], version, board.bucket)


async def crawls_there(client: "Client", domain: str) -> list[str]:
    """The crawls of a cluster, by their keys."""
    async with temporary_errors("streams"):
        streams = await jetstream(client, domain, 5).streams_info()
    names = (str(info.config.name or "") for info in streams)
    return sorted(name.removeprefix(BUCKET) for name in names if name.startswith(BUCKET))


async def only_crawl(client: "Client", domain: str) -> str:
    """The one crawl of a cluster; EnvironmentFailure if there is none, UsageError if there are several."""
    found = await crawls_there(client, domain)
    if not found:
        raise EnvironmentFailure("no crawl is in this cluster; `periplus crawl JOB.toml --cluster …` submits one")
    if len(found) > 1:
        raise UsageError(f"several crawls are in this cluster; say which: {', '.join(found)}")
    return found[0]


async def order(client: "Client", board: Board, crawl: str, state: str, reason: str) -> CrawlRecord | None:
    """Tell all nodes to run, pause or stop; None if there is no such crawl."""
    changed = await board.change("crawl", CrawlRecord, lambda record: replace(record, state=state, reason=reason))
    with contextlib.suppress(Temporary):
        async with temporary_errors(board.bucket):
            await client.publish(f"periplus.{crawl}.control", b"")
            await client.flush(2)
    return changed


async def ask_all(client: "Client", crawl: str, nodes: Iterable[str]) -> dict[str, Report]:
    """How nodes are, as they say themselves; those that do not answer in time are missing."""
    from nats.errors import NoRespondersError  # noqa: PLC0415

    async def ask(node: str) -> Report | None:
        with contextlib.suppress(Temporary, NoRespondersError, msgspec.DecodeError, UnicodeDecodeError):
            async with temporary_errors(node):
                answer = await client.request(f"periplus.{crawl}.report.{node}", b"", timeout=ASK_SECONDS)
                return msgspec.msgpack.decode(answer.data, type=Report)
        return None

    reports = await asyncio.gather(*(ask(node) for node in nodes))
    return {report.node: report for report in reports if report is not None}


async def read_nodes(board: Board, nodes: Iterable[str]) -> dict[str, NodeRecord]:
    """The records of all nodes that were ever run."""
    found = {node: await board.get(f"node.{node}", NodeRecord) for node in nodes}
    return {node: entry[0] for node, entry in found.items() if entry is not None}
