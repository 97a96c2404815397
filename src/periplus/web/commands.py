"""The command `serve`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from periplus.cluster.addresses import cluster_settings
from periplus.options import refuse
from periplus.search.remote import ClusterLink
from periplus.settings import load_job
from periplus.tasks import TaskBook
from periplus.tasks.book import default_home
from periplus.tasks.commands import Crawls, HookPorts, HookRanges, Workers, make_service
from periplus.web.choices import Choices
from periplus.web.desk import TaskServing
from periplus.web.server import serve as run_server

__all__ = ["serve"]

OF_TASKS = ("home", "task_defaults", "crawls", "workers", "hook_private", "hook_port", "classifier", "ip_database")
"""Options of `serve` that are about saved crawls."""

Cluster = Annotated[
    str,
    typer.Option("--cluster", metavar="SERVERS", help="Show a crawl of a cluster: nats://HOST:4222, or a TOML file."),
]
CrawlName = Annotated[str, typer.Option("--crawl", help="With --cluster: its name; not needed if it is alone.")]
Compared = Annotated[
    list[Path] | None, typer.Option("--compare", metavar="DIR", help="A result of `periplus compare` to show.")
]
Models = Annotated[
    list[Path] | None,
    typer.Option(
        "--classifier", metavar="FILE", help="A model of `periplus classifier train` that new crawls may use."
    ),
]
Databases = Annotated[
    list[Path] | None,
    typer.Option("--ip-database", metavar="FILE", help="A city database (.mmdb) that new crawls may use."),
]
Tiles = Annotated[
    str, typer.Option("--tiles", metavar="URL", help="An online base map, as https://tiles.example/{z}/{x}/{y}.png.")
]


def serve(
    context: typer.Context,
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR…", help="Folders of crawls, beside those of tasks.")
    ] = None,
    *,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; others than loopback need --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0: any free one.")] = 8400,
    token: Annotated[str | None, typer.Option("--token", help="What visitors must know.", envvar="PERIPLUS_TOKEN")] = (
        None
    ),
    rate: Annotated[
        float, typer.Option("--rate", help="Requests a second that one visitor may make of the API; 0: any number.")
    ] = 50.0,
    cors: Annotated[
        list[str] | None,
        typer.Option("--cors", metavar="ORIGIN", help="A site whose pages may ask the API, as https://example.org."),
    ] = None,
    home: Annotated[
        Path | None, typer.Option("--tasks", metavar="DIR", help="Folder of saved crawls; default as `periplus tasks`.")
    ] = None,
    no_tasks: Annotated[bool, typer.Option("--no-tasks", help="Without saved crawls: the page can only read.")] = False,
    task_defaults: Annotated[
        Path | None,
        typer.Option("--task-defaults", metavar="JOB.toml", help="Settings of every new task: contact, \\[crawl], …"),
    ] = None,
    crawls: Crawls = 2,
    workers: Workers = 0,
    hook_private: HookRanges = None,
    hook_port: HookPorts = None,
    compare: Compared = None,
    tiles: Tiles = "",
    classifier: Models = None,
    ip_database: Databases = None,
    cluster: Cluster = "",
    crawl: CrawlName = "",
) -> None:
    """Serve the web page and the HTTP API.

    Example: periplus serve my-crawl --port 8400
    """
    _refuse_idle(context, cluster=bool(cluster), tasks=not no_tasks)
    tasks = None
    if not no_tasks:
        place = home or default_home()
        begin = partial(make_service, place, crawls=crawls, workers=workers, ranges=hook_private, ports=hook_port)
        tasks = TaskServing(
            TaskBook(place), begin, _defaults(task_defaults), Choices.of(classifier or [], ip_database or [])
        )
    run_server(
        folders or [], host, port, token,
        rate=rate,
        origins=cors or [],
        tasks=tasks,
        comparisons=compare or [],
        tiles=tiles,
        link=ClusterLink(cluster_settings(cluster), crawl) if cluster else None,
    )  # fmt: skip


def _refuse_idle(context: typer.Context, *, cluster: bool, tasks: bool) -> None:
    """UsageError for options that would do nothing without a cluster, or without tasks."""
    if not cluster:
        refuse(context, "crawl", because="is the name of a crawl of a cluster; give --cluster as well")
    if not tasks:
        refuse(context, *OF_TASKS, because="is for saved crawls; --no-tasks serves none")


def _defaults(path: Path | None) -> dict[str, Any]:
    """What a job file says, to be the beginning of every new task; no folder and no seeds."""
    if path is None:
        return {}
    given: dict[str, Any] = msgspec.to_builtins(load_job(path))
    return {key: value for key, value in given.items() if key not in ("name", "out", "seeds", "topic", "topics")}
