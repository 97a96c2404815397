"""The command `crawl`."""

import asyncio
import contextlib
import dataclasses
import gc
import json
import os
import signal
import stat
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
import uvloop
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from periplus.clock import SystemClock
from periplus.clustering import ClusterOption, cluster_settings, followed, status_line, status_table
from periplus.crawl import INTERRUPTED as INTERRUPTION
from periplus.crawl import Crawl
from periplus.errors import ConfigError, EnvironmentFailure
from periplus.job import Prepared, prepare
from periplus.memory import keep_memory_together
from periplus.options import named_folder, refuse
from periplus.places import Gazetteer, open_gazetteer
from periplus.printing import Console, say
from periplus.reaching import check_reaching
from periplus.rebuilding import check_alone
from periplus.relocation import relocate_crawl
from periplus.running import Progress as CrawlProgress
from periplus.running import ProgressFile
from periplus.settings import Job, job_from_dict, load_job
from periplus.store.summary import Summary
from periplus.urls.filters import DROP_REASONS
from periplus.wording import counted

__all__ = [
    "calm_collector",
    "crawl",
    "exit_code",
    "given_gazetteer",
    "given_job",
    "show_summary",
    "supervised",
]

STOPPED_BY_LIMIT = 3
INTERRUPTED = 130
MOST_ERRORS_SHOWN = 3
EMPTY = "frontier empty"
COLLECT_AFTER = (50_000, 20, 50)
"""Objects after which the collector of cycles runs: a page makes thousands of them and hardly a cycle."""


def crawl(
    context: typer.Context,
    job: Annotated[
        Path | None, typer.Argument(metavar="JOB.toml", help="The job file, or the folder of a crawl to resume.")
    ] = None,
    *,
    seed: Annotated[list[str] | None, typer.Option("--seed", help="A URL to begin with; may be repeated.")] = None,
    place: Annotated[
        list[str] | None, typer.Option("--place", help="A place of the topic; NAME or NAME=weight.")
    ] = None,
    keyword: Annotated[
        list[str] | None, typer.Option("--keyword", help="A word or phrase; WORD or WORD=weight.")
    ] = None,
    out: Annotated[str | None, typer.Option("--out", metavar="<path>", help="Folder of the crawl.")] = None,
    contact: Annotated[str | None, typer.Option("--contact", help="URL or e-mail address for the user agent.")] = None,
    pages: Annotated[int | None, typer.Option("--pages", help="Stop when the crawl has this many pages.")] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="Stop this run after so long.")] = None,
    strategy: Annotated[str | None, typer.Option("--strategy", help="What decides which node gets a link.")] = None,
    keep: Annotated[str | None, typer.Option("--keep", help="Which pages are stored: relevant, or all.")] = None,
    policy: Annotated[str | None, typer.Option("--policy", help="a: the most probable node; b: every one.")] = None,
    metrics: Annotated[
        int | None, typer.Option("--metrics", metavar="PORT", help="Serve Prometheus metrics on this loopback port.")
    ] = None,
    log: Annotated[str | None, typer.Option("--log", help="What log.jsonl holds: off, events, or pages.")] = None,
    cluster: ClusterOption = "",
    progress: Annotated[
        Path | None, typer.Option("--progress", metavar="FILE", help="Keep a file with the progress as JSON.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON.")] = False,
) -> None:
    """Crawl, or go on with a crawl that was stopped: the same command resumes it.

    With --cluster the job is handed to the nodes of a cluster (`periplus node`) and followed to its end.

    Example: periplus crawl job.toml --pages 10000
    """
    given, base = given_job(job)
    data = _overridden(given, seed or [], place or [], keyword or [])
    for table, key, value in (
        ("", "out", str(folder.absolute()) if (folder := named_folder(out)) else None),
        ("", "contact", contact),
        ("crawl", "pages", pages),
        ("crawl", "minutes", minutes),
        ("crawl", "strategy", strategy),
        ("crawl", "keep", keep),
        ("crawl", "policy", policy),
        ("run", "metrics_port", metrics),
        ("run", "log", log),
    ):
        if value is not None:
            (data.setdefault(table, {}) if table else data)[key] = value
    settings = job_from_dict(data, "command line")  # the file's own mistakes were told when it was read
    if cluster:
        raise typer.Exit(_follow(context, settings, base, cluster, as_json=as_json))
    summary = run_crawl(prepare(settings, base, given_gazetteer(quiet=as_json)), quiet=as_json, progress=progress)
    _tell(summary, as_json=as_json)
    raise typer.Exit(exit_code(summary))


def _tell(summary: Summary, *, as_json: bool) -> None:
    """Print what a crawl came to."""
    if as_json:
        say(json.dumps(dataclasses.asdict(summary), ensure_ascii=False))
    else:
        show_summary(summary)


def _follow(context: typer.Context, job: Job, base: Path, cluster: str, *, as_json: bool) -> int:
    """Hand a job to a cluster and follow it; the exit code is that of a crawl."""
    refuse(context, "progress", because="is for a crawl here; `periplus cluster status` shows one of a cluster")
    job = msgspec.structs.replace(job, cluster=cluster_settings(cluster, job.cluster), out=job.out or ".")
    prepared = prepare(job, base, given_gazetteer(quiet=as_json))
    console, said = Console(stderr=True), ""
    with Live(console=console, auto_refresh=False) if console.is_terminal else contextlib.nullcontext() as live:

        def show(now: dict[str, Any]) -> None:
            nonlocal said
            if live:
                live.update(status_table(now), refresh=True)
            elif (line := status_line(now)) != said:  # a log hears only what has changed
                said = line
                print(f"periplus: {line}", file=sys.stderr)

        summary = asyncio.run(followed(prepared, show))
    _tell(summary, as_json=as_json)
    return exit_code(summary)


def given_job(path: Path | None) -> tuple[Job, Path]:
    """The job file (or the one in a crawl's folder), and the folder that its paths are relative to."""
    if path is None:
        return Job(), Path.cwd()
    file = path / "crawl.toml" if path.is_dir() and (path / "crawl.toml").exists() else path
    return load_job(file), file.absolute().parent


def _overridden(job: Job, seeds: list[str], places: list[str], keywords: list[str]) -> dict[str, Any]:
    """The job as data, with what the command line adds to seeds and topic."""
    data: dict[str, Any] = _without_none(msgspec.to_builtins(job, builtin_types=(date,)))
    data["seeds"] = [*data["seeds"], *seeds]
    data["topic"]["places"] = data["topic"]["places"] | dict(_weighted("--place", text) for text in places)
    data["topic"]["keywords"] = data["topic"]["keywords"] | dict(_weighted("--keyword", text) for text in keywords)
    return data


def _weighted(option: str, text: str) -> tuple[str, float]:
    """`WORD=0.5` or `WORD`, which weighs 1."""
    name, equals, weight = text.rpartition("=")
    if not equals:
        return text, 1.0
    try:
        return name, float(weight)
    except ValueError:
        raise ConfigError(f"{option}: {text!r}: the weight behind = is not a number") from None


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in data.items()
        if value is not None
    }


def given_gazetteer(*, quiet: bool) -> Gazetteer:
    """The gazetteer; compiling it for the first time shows how far it is."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        return open_gazetteer()
    with Progress(TextColumn("{task.description}"), BarColumn(), console=console, transient=True) as bar:
        task = bar.add_task("Compiling the gazetteer", total=1.0, visible=False)
        return open_gazetteer(
            progress=lambda step, share: bar.update(task, description=step, completed=share, visible=True)
        )


def run_crawl(prepared: Prepared, *, quiet: bool, progress: Path | None = None) -> Summary:
    """Run a prepared job in this process, with a progress bar on a terminal, or a file that says how far it is."""
    console = Console(stderr=True)
    file = ProgressFile(progress) if progress is not None else None
    check_reaching(prepared.job, prepared.lens.ownership, prepared.lens.gazetteer, probed=False)
    prepared.folder.check_room(prepared.job.archive.disk_reserve_bytes)  # before anything is written
    with prepared.folder.locked():
        check_alone(prepared.folder)
        prepared.keep_job()
        keep_memory_together()
        calm_collector()
        if file is not None:
            summary = uvloop.run(supervised(Crawl(prepared, SystemClock(), file.write)))
        else:
            summary = _crawled(prepared, None if quiet or not console.is_terminal else console)
        if prepared.job.crawl.site_memory and summary.stop_reason != INTERRUPTION:
            relocate_crawl(prepared.folder, prepared.lens.gazetteer)
    return summary


def _crawled(prepared: Prepared, console: Console | None) -> Summary:
    if console is None:
        return uvloop.run(supervised(Crawl(prepared, SystemClock())))
    with _progress_bar(console) as bar:
        task = bar.add_task("Crawling", total=prepared.job.crawl.pages or None, detail="")

        def show(now: CrawlProgress) -> None:
            bar.update(task, completed=now.pages, detail=describe(now))

        return uvloop.run(supervised(Crawl(prepared, SystemClock(), show)))


def calm_collector() -> None:
    """Have cycles collected seldom, and the gazetteer not looked through for them: half of a crawl's time otherwise.

    The workers are forked afterwards and keep it so; what they share then stays shared.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def _progress_bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} pages"),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        console=console,
    )


def describe(now: CrawlProgress) -> str:
    """The numbers beside the bar: rate, queue, hosts, errors by kind, time left, or why it waits."""
    parts = [f"{now.rate:.0f} pages/s", f"{now.kept:,} kept", f"{now.queued:,} queued"]
    parts.append(f"{now.busy_hosts} of {counted(now.hosts, 'host')} busy")
    parts += [
        f"{name} {found.share:.0%}, lately {found.recent:.0%}"
        for name, found in now.harvest.items()
        if 0 < found.share < 1
    ]
    errors = list(now.errors.items())
    if errors:
        parts.append(", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in errors[:MOST_ERRORS_SHOWN]))
    if now.left_seconds is not None:
        parts.append(f"{timedelta(seconds=round(now.left_seconds))} left")
    if now.paused:
        parts.append(f"paused: {now.paused}")
    if now.waits:
        parts.append(f"waits {now.waits}")
    return " · ".join(parts)


async def supervised(crawl_to_run: Crawl) -> Summary:
    """The first signal lets the crawl finish what is under way, the second ends it at once; both lose nothing."""
    loop = asyncio.get_running_loop()
    running = asyncio.ensure_future(crawl_to_run.run())
    signals = 0

    def on_signal() -> None:
        nonlocal signals
        signals += 1
        if signals == 1:
            crawl_to_run.stop(INTERRUPTION)
            if sys.stderr.isatty():  # who looks on would take it for hanging, since hosts may be slow to answer
                print("Stopping: finishing what is under way; Ctrl-C again ends it at once.", file=sys.stderr)
        else:
            running.cancel()

    def on_hang_up() -> None:
        _let_go_of_the_terminal()
        on_signal()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        loop.add_signal_handler(signal.SIGHUP, on_hang_up)
    try:
        return await running
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _let_go_of_the_terminal() -> None:
    """It is gone, and who writes to it any more gets errors for it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        with contextlib.suppress(OSError):  # closed
            if stat.S_ISCHR(os.fstat(number).st_mode):  # one that is gone says no more that it was a terminal
                os.dup2(nowhere, number)
    os.close(nowhere)


def exit_code(summary: Summary) -> int:
    if summary.stop_reason == INTERRUPTION:
        return INTERRUPTED
    if summary.stop_reason.startswith("no seed"):
        raise EnvironmentFailure(f"{summary.stop_reason}; the seeds stay queued: run the same command again")
    return STOPPED_BY_LIMIT if summary.queued and not summary.stop_reason.startswith(EMPTY) else 0


def show_summary(summary: Summary) -> None:
    """The summary as tables for people."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"[bold]{counted(summary.pages, 'page')}[/], [bold]{summary.kept:,}[/] kept; "
        f"{counted(summary.seen, 'URL')} seen, "
        f"{summary.queued:,} queued; {summary.seconds:.1f} s, {summary.pages_per_second:.0f} pages/s"
    )
    dropped = _what_was_dropped(summary)
    empty = summary.stop_reason.startswith(EMPTY) and dropped  # then it has the same counts in fewer words
    console.print(f"Stopped: {EMPTY if empty else summary.stop_reason}{dropped}")
    outcomes = Table("outcome", "URLs", title="How leases ended", title_justify="left", box=None)
    for name, count in sorted(summary.outcomes.items(), key=lambda item: -item[1]):
        outcomes.add_row(name.replace("_", " "), f"{count:,}")
    _print_filled(console, outcomes)
    if summary.lacking:
        console.print(_what_was_lacking(summary))
    harvest = Table("topic", "pages", "harvest", "last 1,000 pages", title="Harvest", title_justify="left", box=None)
    shown = dict(summary.harvest)
    if len(shown) == 2:
        shown.pop("all", None)
    for name, found in shown.items():
        harvest.add_row(name, f"{found.pages:,}", f"{found.share:.1%}", f"{found.recent:.1%}")
    _print_filled(console, harvest)
    nodes = Table("node", "pages", "kept", "sent", "received", title="Nodes", title_justify="left", box=None)
    for column in nodes.columns[1:]:
        column.justify = "right"
    for name, node in summary.nodes.items():
        nodes.add_row(name, f"{node.pages:,}", f"{node.kept:,}", f"{node.sent:,}", f"{node.received:,}")
    console.print(nodes)


def _what_was_lacking(summary: Summary) -> str:
    """What pages had nothing of that were not kept: it says which part of the topic is too narrow."""
    pages = counted(summary.outcomes.get("not_relevant", 0), "page")
    parts = [
        f"{count:,} {'names' if count == 1 else 'name'} none of its {part}" for part, count in summary.lacking.items()
    ]
    return f"Of {pages} not relevant to the topic {' and '.join(parts)}. periplus why DIR URL says more of a page"


def _print_filled(console: Console, table: Table) -> None:
    """A table, unless it has nothing to say."""
    if table.row_count:
        console.print(table)


def _what_was_dropped(summary: Summary) -> str:
    """The main reasons for which links did not join the frontier; those known already are not worth a word."""
    reasons = sorted(((count, name) for name, count in summary.dropped.items() if name != "seen"), reverse=True)
    shown = "; ".join(f"{count:,} × {DROP_REASONS[name]}" for count, name in reasons[:3])
    return f". Links left out: {shown}" if shown else ""
