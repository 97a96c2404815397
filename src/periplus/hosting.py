"""The command `node`: a process of a crawl on several machines."""

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Annotated

import msgspec
import typer
import uvloop

from periplus import __version__
from periplus.attending import answer_from
from periplus.clock import SystemClock
from periplus.cluster.control import order, read_nodes, submit
from periplus.clustering import ClusterOption, cluster_settings, job_text, on_board, submitted_job
from periplus.commands import (
    calm_collector,
    exit_code,
    given_gazetteer,
    given_job,
    show_summary,
    supervised,
)
from periplus.crawl import INTERRUPTED
from periplus.errors import ConfigError
from periplus.job import Prepared, prepare
from periplus.member import MemberCrawl
from periplus.memory import keep_memory_together
from periplus.options import named_folder
from periplus.printing import say
from periplus.reaching import check_reaching
from periplus.rebuilding import check_folder
from periplus.settings import ClusterSettings, Job
from periplus.store.summary import Summary

__all__ = ["node"]


def node(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The node of the job that this process runs.")],
    *,
    cluster: ClusterOption = "",
    job: Annotated[
        Path | None, typer.Option("--job", metavar="JOB.toml", help="The job file; else the job that was submitted.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="<path>", help="Folder of the crawl on this machine.")
    ] = None,
    crawl: Annotated[str, typer.Option("--crawl", help="Without --job: name of the submitted crawl.")] = "",
    answer: Annotated[
        bool, typer.Option("--answer", help="Do not crawl: answer searches of what the node has, until interrupted.")
    ] = False,
    stay: Annotated[
        bool, typer.Option("--stay", help="When the crawl is done, go on answering searches, until interrupted.")
    ] = False,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="If the node was stopped elsewhere and its folder is lost: fetch its pages again."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON.")] = False,
) -> None:
    """Run one node of a crawl on several machines, until the whole crawl is done.

    Nodes on one machine may share the crawl's folder. A node that was killed takes up where it was. While it crawls,
    and with --answer or --stay afterwards, it answers `periplus search NAME … --cluster …`.

    Example: periplus node east --cluster nats://10.0.0.5:4222 --job job.toml
    """
    given, base = given_job(job)
    settings = cluster_settings(cluster, given.cluster)
    if job is None:
        given = asyncio.run(submitted_job(settings, crawl))
    mine = msgspec.structs.replace(
        given,
        cluster=_identity(settings, given),
        out=str(folder.absolute()) if (folder := named_folder(out)) else _folder(given, job),
    )
    prepared = prepare(mine, base, given_gazetteer(quiet=as_json))
    if name not in prepared.nodes:
        raise ConfigError(f"the job has no node {name!r}; it has {', '.join(prepared.nodes)}")
    if answer:
        answer_from(prepared, name)
        return
    summary = _hosted(prepared, name, rebuild=rebuild)
    if as_json:
        say(json.dumps(dataclasses.asdict(summary), ensure_ascii=False))
    else:
        show_summary(summary)
    if stay and summary.stop_reason != INTERRUPTED:
        answer_from(prepared, name)
    raise typer.Exit(exit_code(summary))


def _identity(settings: ClusterSettings, given: Job) -> ClusterSettings:
    """Where we connect and as whom, by the command line; what all nodes must agree on, by the job."""
    agreed = ("replicas", "heartbeat_seconds", "linger_seconds", "slice_seconds", "stream_bytes")
    return msgspec.structs.replace(settings, **{key: getattr(given.cluster, key) for key in agreed})


def _folder(given: Job, job: Path | None) -> str:
    return given.out if job is not None else str(Path.cwd() / given.name)


def _hosted(prepared: Prepared, name: str, *, rebuild: bool) -> Summary:
    check_reaching(prepared.job, prepared.lens.ownership, prepared.lens.gazetteer, probed=True)
    asyncio.run(
        _agreed(prepared, name, rebuild=rebuild)
    )  # before anything is made here: who finds no server leaves nothing behind
    prepared.folder.check_room(prepared.job.archive.disk_reserve_bytes)
    with prepared.folder.locked(together=True):
        prepared.keep_job()
        keep_memory_together()
        calm_collector()
        return uvloop.run(supervised(MemberCrawl(prepared, SystemClock(), name)))


async def _agreed(prepared: Prepared, name: str, *, rebuild: bool) -> None:
    """Submit the job, or see that it is the one that the others run; a crawl that was stopped goes on."""
    async with on_board(prepared.job.cluster, prepared.job.name, new=True) as (client, board, key):
        record = await submit(board, job_text(prepared), prepared.nodes, __version__)
        check_folder(prepared.folder.node(name), (await read_nodes(board, [name])).get(name), rebuild=rebuild)
        if record.state in ("stopping", "ended"):
            await order(client, board, key, "running", "")
