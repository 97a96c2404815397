"""The commands `periplus tasks …`: they write into the book; the service does it, or they do if there is none."""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table

from periplus.errors import EnvironmentFailure, FolderInUse, UsageError
from periplus.options import named_folder, refuse
from periplus.printing import Console, say
from periplus.search.names import GazetteerNames
from periplus.settings import load_job
from periplus.tasks.accounts import counts_of
from periplus.tasks.alerts import Alerts, Hooks, check_question, check_webhook, feed_paths
from periplus.tasks.book import TaskBook, default_home
from periplus.tasks.records import ENDED, Run, Task
from periplus.tasks.schedule import Schedule
from periplus.tasks.service import Budget, TaskService
from periplus.wording import counted

__all__ = ["make_service", "tasks_app"]

tasks_app = typer.Typer(
    help="Saved crawls with schedules; the web page shows and runs the same ones.", no_args_is_help=True
)

POLL_SECONDS = 0.2
STOPPED_BY_LIMIT = 3
Home = Annotated[
    Path | None,
    typer.Option("--tasks", metavar="DIR", help="Folder of the tasks; default: PERIPLUS_TASKS, or your data folder."),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The task's name.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Crawls = Annotated[int, typer.Option("--crawls", min=1, max=64, help="Crawls that run at once.")]
Workers = Annotated[int, typer.Option("--workers", min=0, max=256, help="Worker processes of all; 0: a core each.")]
HookRanges = Annotated[
    list[str] | None,
    typer.Option("--hook-private", metavar="CIDR", help="A range of private addresses that webhooks may lead to."),
]
HookPorts = Annotated[
    list[int] | None, typer.Option("--hook-port", help="A further port that webhooks may lead to.")
]  # fmt: skip


def make_service(
    home: Path | None,
    *,
    crawls: int = 2,
    workers: int = 0,
    ranges: list[str] | None = None,
    ports: list[int] | None = None,
    only: int | None = None,
) -> TaskService:
    """The service of a folder of tasks. FolderInUse if there is one already."""
    book = TaskBook(home or default_home())
    hooks = Hooks(tuple(ranges or ()), (*Hooks().ports, *(ports or ())))
    budget = Budget(crawls, workers) if workers else Budget(crawls)
    return TaskService(book, budget, alerts=Alerts(book, hooks, GazetteerNames()), only=only)


@tasks_app.command("add")
def add(
    context: typer.Context,
    job: Annotated[Path, typer.Argument(metavar="JOB.toml", help="A job file.", show_default=False)],
    *,
    name: Annotated[str, typer.Option("--name", help="The task's name; default: the job's.")] = "",
    schedule: Annotated[
        str, typer.Option("--schedule", help='"every 6 hours", "daily at 03:30" or "cron 0 3 * * 1-5"; none: by hand.')
    ] = "",
    zone: Annotated[str, typer.Option("--zone", help="Time zone of the schedule, as Europe/Lisbon; none: UTC.")] = "",
    out: Annotated[
        str | None, typer.Option("--out", metavar="<path>", help="Folder of the crawl; default: beside the tasks.")
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Save a crawl as a task. Example: periplus tasks add job.toml --schedule "daily at 03:30" """
    if not schedule:
        refuse(context, "zone", because="is the zone of --schedule; give that as well")
    settings = load_job(job)
    base = job.absolute().parent
    seeds = [seed if "://" in seed else str(base / seed) for seed in settings.seeds]
    data: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(settings, seeds=seeds, out=""))
    book = TaskBook(home or default_home())
    folder = named_folder(out) or (base / settings.out if settings.out else None)
    task = book.add(name or settings.name, data, Schedule.of(schedule, zone), folder)
    if as_json:
        typer.echo(json.dumps(_row(book, task)))
    else:
        due = f", due {_time(task.next_at)}" if task.next_at else ""
        typer.echo(f"{task.name}: saved{due}; it crawls into {task.folder}")


@tasks_app.command("list")
def list_tasks(home: Home = None, as_json: AsJson = False) -> None:
    """Show all tasks and how they stand. Example: periplus tasks list"""
    book = TaskBook(home or default_home())
    rows = [_row(book, task) for task in book.tasks()]
    if as_json:
        typer.echo(json.dumps({"tasks": rows}))
        return
    if not rows:
        typer.echo("no tasks yet; save one with `periplus tasks add JOB.toml`")
        return
    table = Table("task", "state", "schedule", "next", "pages", "kept", "new", "changed", "gone", box=None)
    for row in rows:
        run = row["runs"][0] if row["runs"] else {}
        figures = [f"{row[key]:,}" for key in ("pages", "kept")] + [str(run.get(k, "")) for k in _CHANGES]
        failed = row["state"] == "scheduled" and run.get("state") == "failed"
        state = "scheduled, last run failed" if failed else row["state"]
        table.add_row(row["name"], state, row["schedule"] or "by hand", _time(row["next_at"]), *figures)
    Console(highlight=False, width=None if sys.stdout.isatty() else 160).print(table)


@tasks_app.command("history")
def history(name: Name, home: Home = None, as_json: AsJson = False) -> None:
    """Show the runs of a task: what was new, changed and gone. Example: periplus tasks history floods"""
    book = TaskBook(home or default_home())
    runs = [run.to_json() for run in book.runs(book.task(name).id)]
    if as_json:
        typer.echo(json.dumps({"runs": runs}))
        return
    if not runs:
        typer.echo(f"{name}: not run yet; `periplus tasks run` does it now")
        return
    table = Table("began", "ended", "state", "cause", *_CHANGES, "why it ended", box=None)
    for run in runs:
        changes = [f"{run[key]:,}" for key in _CHANGES]
        table.add_row(_time(run["began"]), _time(run["ended"]), run["state"], run["cause"], *changes, run["reason"])
    Console(highlight=False, width=None if sys.stdout.isatty() else 160).print(table)


@tasks_app.command("run")
def run_task(name: Name, home: Home = None, as_json: AsJson = False) -> None:
    """Run a task now and wait for its end, with or without a service. Example: periplus tasks run floods"""
    book = TaskBook(home or default_home())
    task = book.task(name)
    latest = max((run.id for run in book.runs(task.id, 1)), default=0)
    open_run = book.open_run(task.id)
    book.wish(task, "resume" if open_run and open_run.state == "paused" else "start")
    with _served(home, only=task.id) as serve, _interruptible() as interrupted:
        run = _followed(book, task, open_run.id if open_run else latest + 1, interrupted, serve)
    if as_json:
        say(json.dumps(run.to_json()))
    else:
        say(
            f"{task.name}: {run.state} ({run.reason}); {run.kept:,} of {counted(run.pages, 'page')} kept; "
            f"{run.new:,} new, {run.changed:,} changed, {run.gone:,} gone"
        )
    if run.state == "failed":
        raise EnvironmentFailure(f"task {task.name}: {run.reason}")
    if run.state not in ENDED:
        raise KeyboardInterrupt
    raise typer.Exit(STOPPED_BY_LIMIT if run.state == "limit" and run.queued else 0)


@tasks_app.command("start")
def start(name: Name, home: Home = None) -> None:
    """Have the service run a task now, without waiting for its end. Example: periplus tasks start floods"""
    if not _wish(home, name, "start"):
        typer.echo("no service runs: it begins with the next `periplus serve` or `periplus tasks service`")


@tasks_app.command("pause")
def pause(name: Name, home: Home = None) -> None:
    """Pause a task: its run ends safely, and its schedule rests. Example: periplus tasks pause floods"""
    _wish(home, name, "pause")


@tasks_app.command("resume")
def resume(name: Name, home: Home = None) -> None:
    """Let a paused task go on. Example: periplus tasks resume floods"""
    _wish(home, name, "resume")


@tasks_app.command("stop")
def stop(name: Name, home: Home = None) -> None:
    """End the run of a task; its schedule goes on. Example: periplus tasks stop floods"""
    _wish(home, name, "stop")


@tasks_app.command("remove")
def remove(
    name: Name,
    *,
    erase: Annotated[bool, typer.Option("--erase", help="Delete what it crawled, too.")] = False,
    home: Home = None,
) -> None:
    """Remove a task with its history; what it crawled stays, unless --erase. Example: periplus tasks remove floods"""
    book = TaskBook(home or default_home())
    folder = book.task(name).folder
    _wish(home, name, "erase" if erase else "remove")
    if erase and not book.is_own(folder):
        typer.echo(f"{folder} stays: it was chosen for this task, and may hold more; delete it yourself")


@tasks_app.command("alert")
def alert(
    name: Name,
    question: Annotated[str, typer.Argument(help="A question as for `periplus search`.")],
    *,
    webhook: Annotated[str, typer.Option("--webhook", help="URL that is told new hits, as JSON by POST.")] = "",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Save a question: new hits go into feeds and to a webhook. Example: periplus tasks alert floods "dam failure" """
    book = TaskBook(home or default_home())
    saved = book.add_question(book.task(name), check_question(question), check_webhook(webhook))
    _tick(home)
    paths = {form: str(path) for form, path in feed_paths(book, saved).items()}
    if as_json:
        typer.echo(json.dumps(saved.to_json() | {"feeds": paths}))
    else:
        typer.echo(f"saved; feeds: {', '.join(paths.values())}")


@tasks_app.command("service")
def service(
    home: Home = None,
    crawls: Crawls = 2,
    workers: Workers = 0,
    hook_private: HookRanges = None,
    hook_port: HookPorts = None,
) -> None:
    """Run the tasks without the web page, until interrupted. Example: periplus tasks service --crawls 3"""
    served = make_service(home, crawls=crawls, workers=workers, ranges=hook_private, ports=hook_port)
    typer.echo(f"Serving the tasks in {served.book.home} — end with Ctrl-C")
    try:
        with _interruptible() as interrupted:
            served.start()
            interrupted.wait()
    finally:
        served.close()


# -- Between the commands and the service ------------------------------------------------------------

_CHANGES = ("new", "changed", "gone")


def _row(book: TaskBook, task: Task) -> dict[str, Any]:
    runs = book.runs(task.id, 10)
    counts = counts_of(task.folder)
    return {
        "id": task.id,
        "name": task.name,
        "state": state_of(task, runs[0] if runs else None),
        "schedule": str(task.schedule),
        "next_at": task.next_at,
        "folder": str(task.folder),
        **counts,
        "runs": [run.to_json() for run in runs],
    }


def state_of(task: Task, latest: Run | None) -> str:
    """How a task stands, in one word."""
    if latest is not None and latest.ended is None:
        return latest.state
    if task.held:
        return "paused"
    return "scheduled" if task.next_at is not None else (latest.state if latest else "new")


def _time(at: float | None) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC") if at else ""


def _wish(home: Path | None, name: str, wish: str) -> bool:
    """Say what a task is to do; whether a service runs that does it."""
    book = TaskBook(home or default_home())
    task = book.task(name)
    book.wish(task, wish)
    served = _tick(home)
    typer.echo(f"{task.name}: {wish}")
    return served


def _tick(home: Path | None) -> bool:
    """Where no service runs, do what is wished now and leave the crawls alone; whether one runs."""
    try:
        served = make_service(home)
    except FolderInUse:
        return True  # it sees the wish at its next look
    try:
        served.settle()
    finally:
        served.close(leave=True)
    return False


@contextmanager
def _served(home: Path | None, only: int) -> Iterator[Callable[[], None]]:
    """A service for one task while the block runs. Where there is one, what is given looks whether it has gone.

    The one that is there may be that of another `tasks run`, which does nothing for this task.
    """
    with ExitStack() as stack:
        mine: list[TaskService] = []

        def serve() -> None:
            if not mine:
                with suppress(FolderInUse):
                    mine.append(make_service(home, only=only))
                    stack.callback(mine[0].close)
                    mine[0].start()

        serve()
        yield serve


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets."""
    interrupted = threading.Event()
    before = {n: signal.signal(n, lambda *_: interrupted.set()) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _followed(book: TaskBook, task: Task, run_id: int, interrupted: threading.Event, serve: Callable[[], None]) -> Run:
    """The run once it has ended, was paused, or nobody wants to wait; `serve` is called now and then."""
    while True:
        serve()
        run = next((run for run in book.runs(task.id, 1) if run.id >= run_id), None)
        if run is not None and (run.state in ENDED or run.state == "paused" or interrupted.is_set()):
            return run
        if interrupted.is_set():
            raise UsageError(f"task {task.name!r} had not begun yet")
        time.sleep(POLL_SECONDS)
