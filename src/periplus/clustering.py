"""The commands `cluster status`, `stop`, `pause` and `resume`, and what `crawl --cluster` does.

What it does is to submit a job and to follow it.
"""

import asyncio
import contextlib
import json
import tomllib
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import msgspec
import typer
from rich.live import Live
from rich.table import Table

from periplus import __version__
from periplus.cluster import Board, CrawlRecord, NodeRecord
from periplus.cluster.addresses import cluster_settings
from periplus.cluster.control import (
    ask_all,
    crawl_there,
    crawls_there,
    order,
    other_version,
    read_crawl,
    read_nodes,
    submit,
)
from periplus.cluster.members import GONE
from periplus.errors import EnvironmentFailure
from periplus.exchange.connection import Temporary, connected, crawl_key, give_way, jetstream, temporary_errors
from periplus.job import Prepared, job_toml
from periplus.printing import Console
from periplus.settings import ClusterSettings, Job, job_from_dict
from periplus.store.summary import NodeSummary, Summary, together

__all__ = [
    "cluster_app",
    "cluster_settings",
    "followed",
    "job_text",
    "on_board",
    "status_line",
    "status_table",
    "submitted_job",
]

FOLLOW_SECONDS = 0.5
SILENT = 3
"""Heartbeats for which a follower waits for the last words of nodes that do not answer."""
ClusterOption = Annotated[
    str,
    typer.Option(
        "--cluster",
        envvar="PERIPLUS_CLUSTER",
        help="NATS servers (nats://HOST:4222, several with commas), or a TOML file with a \\[cluster] table.",
    ),
]
NameOption = Annotated[str, typer.Option("--crawl", help="Name of the crawl; not needed if there is only one.")]

cluster_app = typer.Typer(
    help="See and steer a crawl on several machines.\n\n"
    "Example: periplus cluster status --cluster nats://127.0.0.1:4222 --watch",
    no_args_is_help=True,
)


@contextlib.asynccontextmanager
async def on_board(settings: ClusterSettings, name: str, *, new: bool = False) -> AsyncIterator[tuple[Any, Board, str]]:
    """Connected, with the crawl's bucket open; gives the client, the board and the crawl's key.

    A crawl that is not there is an error (`crawl_there`), unless it may be a `new` one.
    """
    async with connected(settings, name="command") as client:
        key = crawl_key(name) if new else await crawl_there(client, settings.domain, name)
        board = Board(client, key, settings.domain)
        await board.open(settings.replicas)
        yield client, board, key


def job_text(prepared: Prepared) -> str:
    """The job as all machines must have it: without what each has for itself."""
    cluster = prepared.job.cluster
    shared = ClusterSettings(
        replicas=cluster.replicas,
        heartbeat_seconds=cluster.heartbeat_seconds,
        linger_seconds=cluster.linger_seconds,
        slice_seconds=cluster.slice_seconds,
        stream_bytes=cluster.stream_bytes,
    )
    seeds = [url for url, _ in prepared.seeds]
    job = msgspec.structs.replace(
        prepared.job, out=".", seeds=seeds, targets="", cluster=shared, run=Job().run, nodes=prepared.job.nodes
    )
    return job_toml(job)


async def submitted_job(settings: ClusterSettings, name: str) -> Job:
    """The job that somebody has submitted; waits for it, and says so."""
    async with connected(settings, name="command") as client:
        said = False
        while True:
            with contextlib.suppress(Temporary):
                record = await _submitted(client, settings, name)
                if record is not None:
                    where = f"the job in the cluster{other_version(record, __version__)}"
                    return job_from_dict(tomllib.loads(record.job), where)
            if not said:
                what = f"the job {name!r}" if name else "a job"
                typer.echo(f"periplus: waits for {what}; `periplus crawl JOB.toml --cluster …` submits it", err=True)
                said = True
            give_way()
            await asyncio.sleep(FOLLOW_SECONDS)


async def _submitted(client: Any, settings: ClusterSettings, name: str) -> CrawlRecord | None:
    """The record of a crawl, or of the only one there is; None if it is not there yet. Nothing is made by looking."""
    found = await crawls_there(client, settings.domain)
    if not found or (name and crawl_key(name) not in found):
        return None
    board = Board(client, await crawl_there(client, settings.domain, name), settings.domain)
    await board.open(settings.replicas)
    return await read_crawl(board, __version__)


# -- Following -------------------------------------------------------------------------------------


async def followed(prepared: Prepared, show: Callable[[dict[str, Any]], None]) -> Summary:
    """Submit a job and follow it to its end; gives the summary of all nodes."""
    patience = SILENT * prepared.job.cluster.heartbeat_seconds / FOLLOW_SECONDS
    async with on_board(prepared.job.cluster, prepared.job.name, new=True) as (client, board, key):
        record = await submit(board, job_text(prepared), prepared.nodes, __version__)
        if record.state != "running":
            await order(client, board, key, "running", "")
        while True:
            with contextlib.suppress(Temporary):
                status = await _status(client, board, key)
                show(status)
                if status["state"] in ("ended", "stopping") and not any(n["alive"] for n in status["nodes"].values()):
                    records = await read_nodes(board, prepared.nodes)
                    if patience <= 0 or all(record.state in GONE for record in records.values()):
                        return together([_summary(record) for record in records.values()], status["reason"])
                    patience -= 1  # one that was killed never says what it came to
            give_way()
            await asyncio.sleep(FOLLOW_SECONDS)


def _summary(record: NodeRecord) -> Summary:
    """What a node said when it left; of one that did not, what its last heartbeat said."""
    with contextlib.suppress(msgspec.ValidationError):
        return msgspec.convert(record.summary, Summary)
    node = NodeSummary(record.pages, record.kept, record.sent, 0)
    return Summary(record.pages, record.kept, record.pages, record.queued, 0.0, 0.0, {}, "", {record.node: node})


async def _status(client: Any, board: Board, key: str) -> dict[str, Any]:
    """Who runs what, how far it is, and what waits where."""
    from nats.js.errors import NotFoundError  # noqa: PLC0415

    crawl = await read_crawl(board, __version__)
    if crawl is None:
        raise EnvironmentFailure(f"{board.bucket}: no job was submitted yet")
    records, reports = await read_nodes(board, crawl.nodes), await ask_all(client, key, crawl.nodes)
    js, stream = jetstream(client, board.domain, 2), f"periplus-{key}"
    nodes: dict[str, Any] = {}
    for name in crawl.nodes:
        record, report, lag = records.get(name), reports.get(name), 0
        with contextlib.suppress(NotFoundError):
            async with temporary_errors(stream):
                info = await js.consumer_info(stream, f"node-{name}")
                lag = (info.num_pending or 0) + (info.num_ack_pending or 0)
        nodes[name] = {
            "alive": report is not None,
            "machine": record.machine.partition("/")[0] if record else "",
            "pid": record.pid if record else 0,
            "epoch": record.epoch if record else 0,
            "version": record.version if record else "",
            "pages": report.pages if report else record.pages if record else 0,
            "queued": report.queued if report else record.queued if record else 0,
            "rate": record.rate if record and report else 0.0,
            "unconfirmed": report.outbox if report else record.outbox if record else 0,
            "lag": lag,
            "refused": record.refused if record else 0,
            "waits": report.waits if report else "",
        }
    return {"crawl": key, "state": crawl.state, "reason": crawl.reason, "nodes": nodes}


def status_table(status: dict[str, Any]) -> Table:
    """The status for people."""
    title = f"{status['crawl']}: {status['state']}" + (f" ({status['reason']})" if status["reason"] else "")
    columns = ("node", "runs on", "epoch", "pages", "queued", "pages/s", "unconfirmed", "lag")
    table = Table(*columns, title=title, title_justify="left", box=None)
    for name, node in status["nodes"].items():
        where = f"{node['machine']}:{node['pid']}" if node["alive"] else "nobody" if node["epoch"] else "nobody yet"
        numbers = [f"{node[key]:,}" for key in ("epoch", "pages", "queued", "rate", "unconfirmed", "lag")]
        table.add_row(name, where, *numbers)
    table.caption, table.caption_justify = "\n".join(_waiting(status)), "left"
    return table


def _waiting(status: dict[str, Any]) -> list[str]:
    """What nodes wait for, each reason once with those who have it."""
    reasons: dict[str, list[str]] = {}
    for name, node in status["nodes"].items():
        if node["waits"]:
            reasons.setdefault(node["waits"], []).append(name)
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def status_line(status: dict[str, Any]) -> str:
    """The same in one line without numbers: how the crawl stands, and whom it waits for."""
    stands = f"{status['crawl']}: {status['state']}" + (f" ({status['reason']})" if status["reason"] else "")
    absent = [name for name, node in status["nodes"].items() if not node["alive"]]
    if status["state"] == "running" and not absent:
        return "; ".join([stands, *_waiting(status)])
    if status["state"] != "running":
        return stands
    return f"{stands}, but nobody runs {', '.join(absent)}; start what is missing with `periplus node NAME --cluster …`"


# -- Commands --------------------------------------------------------------------------------------


@cluster_app.command()
def status(
    *,
    cluster: ClusterOption = "",
    crawl: NameOption = "",
    watch: Annotated[bool, typer.Option("--watch", help="Keep showing it until interrupted.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as one line of JSON.")] = False,
) -> None:
    """Who runs which node, how fast, what waits, and what lags behind.

    Example: periplus cluster status --cluster nats://127.0.0.1:4222 --watch
    """
    asyncio.run(_shown(cluster_settings(cluster), crawl, watch=watch, as_json=as_json))


async def _shown(settings: ClusterSettings, crawl: str, *, watch: bool, as_json: bool) -> None:
    console = Console(highlight=False)
    async with on_board(settings, crawl) as (client, board, key):
        if as_json:
            typer.echo(json.dumps(await _status(client, board, key)))
        elif not watch:
            console.print(status_table(await _status(client, board, key)))
        else:
            with Live(console=console, auto_refresh=False) as live:
                while True:
                    with contextlib.suppress(Temporary):
                        live.update(status_table(await _status(client, board, key)), refresh=True)
                    give_way()
                    await asyncio.sleep(1.0)


def _ordered(cluster: str, crawl: str, state: str, reason: str) -> None:
    """Give an order and say who has heard it; a crawl that has ended stays so until its nodes are started again."""

    async def go() -> str:
        async with on_board(cluster_settings(cluster), crawl) as (client, board, key):
            found = await read_crawl(board, __version__)
            if found is None:
                raise EnvironmentFailure(f"{board.bucket}: no job was submitted yet")
            there = sorted(await ask_all(client, key, found.nodes))
            if found.state == "ended" and not there:
                return f"{key} has ended already ({found.reason}); to go on with it, start its nodes again"
            await order(client, board, key, state, reason)
            return f"{key}: {state}; {'told ' + ', '.join(there) if there else 'nobody runs a node of it now'}"

    typer.echo(asyncio.run(go()))


@cluster_app.command()
def stop(*, cluster: ClusterOption = "", crawl: NameOption = "") -> None:
    """Stop a crawl on all machines; what is under way is finished, and starting the nodes again resumes it.

    Example: periplus cluster stop --cluster nats://127.0.0.1:4222
    """
    _ordered(cluster, crawl, "stopping", "stopped by `periplus cluster stop`")


@cluster_app.command()
def pause(*, cluster: ClusterOption = "", crawl: NameOption = "") -> None:
    """Let all nodes pause: they stay, but ask no host.

    Example: periplus cluster pause --cluster nats://127.0.0.1:4222
    """
    _ordered(cluster, crawl, "paused", "")


@cluster_app.command()
def resume(*, cluster: ClusterOption = "", crawl: NameOption = "") -> None:
    """Let a crawl that was paused or stopped go on.

    Example: periplus cluster resume --cluster nats://127.0.0.1:4222
    """
    _ordered(cluster, crawl, "running", "")
