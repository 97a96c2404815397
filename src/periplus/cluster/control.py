"""What people order and ask: submit a job, pause, stop, and how all nodes are."""

import asyncio
import contextlib
import tomllib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from periplus.cluster.ending import Report
from periplus.cluster.records import MAX_JOB_BYTES, PROTOCOL, Board, CrawlRecord, NodeRecord
from periplus.errors import ConfigError, EnvironmentFailure, UsageError
from periplus.exchange.connection import Temporary, crawl_key, jetstream, temporary_errors

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["ask_all", "crawl_there", "crawls_there", "order", "other_version", "read_crawl", "submit"]

ASK_SECONDS = 2.0
BUCKET = "KV_periplus-"
FILES = ("classifier_model", "geofeeds", "hierarchy", "ip_database", "places", "replay", "round_trips")
"""Keys of a job under which paths of files stand, among them those of polygons."""


async def submit(board: Board, job: str, nodes: tuple[str, ...], version: str) -> CrawlRecord:
    """Put the job where all nodes find it, or join the one that is there; ConfigError if that is another job.

    A crawl that was stopped or has ended goes on when its job is submitted again, also with other limits: only what
    its databases are split by must stay, as on one machine.
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
        if _agreed(record.job) == _agreed(job):
            return record
        if record.state not in ("stopping", "ended"):
            of = other_version(record, version)
            raise ConfigError(
                f"{board.bucket}: another job of this name runs in the cluster{of}; take the same job file or another "
                "`name`, or stop it first with `periplus cluster stop`"
            )
        if _split_by(record.job) != _split_by(job):
            raise ConfigError(
                f"{board.bucket}: was begun with other nodes or another crawl.overlap; take another `name`, or the job "
                "as it was"
            )
        await board.replace("crawl", replace(wanted, state=record.state, reason=record.reason), found[1], tries=30)


def _agreed(job: str) -> dict[str, Any]:
    """A job as far as machines must agree about it: each has the files that it names in a folder of its own."""

    def without_folders(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_folders(name, inside) for name, inside in value.items()}
        if isinstance(value, list):
            return [without_folders(key, one) for one in value]
        return value.rpartition("/")[2] if key in FILES and isinstance(value, str) else value

    found: dict[str, Any] = without_folders("", tomllib.loads(job))
    return found


def _split_by(job: str) -> tuple[Any, Any]:
    """What the databases of a crawl are split by: its nodes, and whether they share what they have seen."""
    agreed = _agreed(job)
    return agreed.get("nodes"), agreed.get("crawl", {}).get("overlap")


def other_version(record: CrawlRecord, version: str) -> str:
    """What is to be said where a job cannot be understood: empty if both are of one Periplus."""
    return "" if record.version == version else f" (submitted by Periplus {record.version}, this is Periplus {version})"


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


async def crawl_there(client: "Client", domain: str, name: str) -> str:
    """The key of a crawl in a cluster; without a name, of the only one there.

    EnvironmentFailure if it is not there, UsageError if there are several to choose from. Nothing is made by asking.
    """
    found = await crawls_there(client, domain)
    if not found or (name and crawl_key(name) not in found):
        wanted = f"no crawl {name!r}" if name else "no crawl"
        others = f"there is {', '.join(found)}" if found else "`periplus crawl JOB.toml --cluster …` submits one"
        raise EnvironmentFailure(f"{wanted} is in this cluster; {others}")
    if not name and len(found) > 1:
        raise UsageError(f"several crawls are in this cluster; say which: {', '.join(found)}")
    return crawl_key(name) if name else found[0]


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
