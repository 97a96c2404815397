"""The service: starts what is due, within the machine's budget, and does what people wish of their tasks.

One process at a time is the service of a folder of tasks; a lock says so. Everything it decides goes by the book, so it
may die at any moment: the next one takes up the crawls that still run, resumes those that do not, and catches up once
on what was missed.
"""

import fcntl
import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import tomli_w

from periplus.errors import FolderInUse, PeriplusError, UsageError
from periplus.store.database import storage_errors
from periplus.tasks.accounts import counts_of, last_words, run_changes
from periplus.tasks.book import TaskBook
from periplus.tasks.processes import Child, begin
from periplus.tasks.records import Run, Task

__all__ = ["Budget", "TaskService", "progress_file"]

TICK_SECONDS = 0.5
CLOSE_SECONDS = 20.0
ASK_SECONDS = 60.0
MOST_TRIES = 3
LIMIT_REACHED, INTERRUPTED = 3, 130
REVISIT_SHARE = 0.9
"""Pages are due for a revisit a little before the next run, so that it finds them due."""


class Asking(Protocol):
    """What asks the saved questions: `alerts.Alerts`."""

    def ask(self, task: Task) -> None:
        """Ask all questions of a task, and tell whoever waits for news."""
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """What all crawls together may take of the machine."""

    crawls: int = 2
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)

    def share(self, wanted: int) -> int:
        """Worker processes of one crawl: those it wants, else its even share; never more than there are."""
        return max(1, min(wanted or self.workers // max(1, self.crawls), self.workers))


def progress_file(book: TaskBook, task: Task) -> Path:
    """Where the process of a task says how far it is."""
    return book.home / "runs" / f"{task.id}.progress.json"


class TaskService:
    """Runs the tasks of a book. `tick` does what is to be done now; `start` keeps ticking in a thread."""

    def __init__(
        self,
        book: TaskBook,
        budget: Budget | None = None,
        *,
        alerts: Asking | None = None,
        only: int | None = None,
        now: Callable[[], float] = time.time,
        began: Callable[[list[str], Path], Child] = begin,
    ) -> None:
        """`only`: serve this task alone. FolderInUse if another process is the service."""
        self.book = book
        self.budget = budget or Budget()
        self._alerts = alerts
        self._only = only
        self._now = now
        self._begin = began
        self._children: dict[int, Child] = {}  # by run
        self._workers: dict[int, int] = {}
        self._asked: dict[int, float] = {}
        self._wanted = threading.Event()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.trouble = ""
        """Why the last tick could not do its work, such as a full disk; empty if it could."""
        self._lock = _locked(book.home)
        self._take_up()

    # -- Living ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Keep ticking in a thread of its own."""
        self._thread = threading.Thread(target=self._keep_ticking, name="periplus-tasks", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Something is wished: look now."""
        self._wanted.set()

    def close(self, *, leave: bool = False) -> None:
        """End: crawls are asked to stop and will be resumed by the next service. `leave`: they go on by themselves."""
        self._over.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()
        if not leave:
            self._end_children()
        os.close(self._lock)

    def _keep_ticking(self) -> None:
        while not self._over.is_set():
            try:
                self.tick()
                self.trouble = ""
            except PeriplusError as error:  # the machine's trouble, such as a full disk: look again later
                self.trouble = str(error)
            self._wanted.wait(TICK_SECONDS)
            self._wanted.clear()

    def _take_up(self) -> None:
        """What the service before left: its crawls that still run are ours now, the others wait for their turn."""
        for run in self.book.open_runs():
            if run.pid is None or run.pid_born is None:
                continue
            child = Child(run.pid, run.pid_born)
            if child.running:
                self._children[run.id] = child
                self._workers[run.id] = 1
            elif run.state == "running":
                self.book.update_run(run, state="waiting", pid=None, pid_born=None)

    def _end_children(self) -> None:
        for child in self._children.values():
            child.ask_to_end()
        deadline = time.monotonic() + CLOSE_SECONDS
        for run in self.book.open_runs():
            if run.id not in self._children:
                continue
            child = self._children.pop(run.id)
            while child.running and time.monotonic() < deadline:
                time.sleep(0.05)
            child.kill()
            self._conclude(run, child, closing=True)

    # -- A tick ------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Do what is to be done now. Safe to call at any time, by one thread."""
        for task in self.book.tasks():
            if self._only is None or task.id == self._only:
                try:
                    self._look_after(task)
                except UsageError:  # its job cannot be read any more: a run says so, and others go on
                    self.book.begin_run(task, "hand", 0)
                    self.book.settle_wish(task)
        for run in self.book.open_runs():
            if self._bury(run):
                continue
            if run.state == "waiting" and (self._only is None or run.task_id == self._only):
                try:
                    self._start_if_room(run)
                except UsageError as error:
                    self.book.update_run(run, state="failed", ended=self._now(), reason=str(error))

    def settle(self) -> None:
        """Only do what people wish, and conclude what has ended; start nothing."""
        while any(task.wish for task in self.book.tasks()):
            for task in self.book.tasks():
                if task.wish:
                    self._fulfil(task)
            for run in self.book.open_runs():
                self._bury(run)
            if any(task.wish in ("remove", "erase") for task in self.book.tasks()):
                time.sleep(0.05)  # a process has to end first
        for task in self.book.tasks():
            if any(question.asked is None for question in self.book.questions(task.id)):
                self._ask(task)

    def _bury(self, run: Run) -> bool:
        """Conclude a run whose process has ended; whether it had."""
        child = self._children.get(run.id)
        if child is None or child.running:
            return False
        del self._children[run.id]
        self._workers.pop(run.id, None)
        self._conclude(run, child)
        return True

    def _look_after(self, task: Task) -> None:
        if task.wish:
            self._fulfil(task)
            return
        now = self._now()
        if task.next_at is not None and task.next_at <= now and not task.held:
            late = now - task.next_at > 60.0
            self.book.begin_run(task, "missed" if late else "schedule", self._page_limit(task))
            due = task.schedule.next_after(_moment(now), _moment(task.next_at))
            self.book.set_next(task, due.timestamp() if due else None)
        if self._alerts and self._is_time_to_ask(task, now):
            self._ask(task)

    def _is_time_to_ask(self, task: Task, now: float) -> bool:
        """While a crawl runs, now and then; and at once when a question is new, so that later hits are news."""
        questions = self.book.questions(task.id)
        if any(question.asked is None for question in questions):
            return True
        due = now - self._asked.get(task.id, 0.0) >= ASK_SECONDS
        return bool(questions) and due and self.book.open_run(task.id) is not None

    def _fulfil(self, task: Task) -> None:
        """Do what a person wishes of a task."""
        run = self.book.open_run(task.id)
        if task.wish == "start":
            self.book.begin_run(task, "hand", self._page_limit(task))
            if run is not None and run.state == "paused":
                self._resume(task, run)
        elif task.wish == "pause":
            self.book.hold(task, held=True)
            self._end_run(run, "pausing", "paused")
        elif task.wish == "resume":
            self._resume(task, run)
        elif task.wish == "stop":
            self._end_run(run, "stopping", "stopped")
        elif task.wish in ("remove", "erase") and not self._removed(task, run):
            return  # its process has to end first; the wish stays
        self.book.settle_wish(task)

    def _resume(self, task: Task, run: Run | None) -> None:
        self.book.hold(task, held=False)
        if run is not None and run.state in ("paused", "pausing"):
            self.book.update_run(run, state="running" if run.id in self._children else "waiting", tries=0)

    def _end_run(self, run: Run | None, asked: str, reached: str) -> None:
        """Ask the process of a run to end; a run without one is there at once."""
        if run is None:
            return
        child = self._children.get(run.id)
        if child is not None:
            self.book.update_run(run, state=asked)
            child.ask_to_end()
        elif reached == "stopped":
            self.book.update_run(run, state=reached, ended=self._now(), reason="stopped")
        else:
            self.book.update_run(run, state=reached)

    def _removed(self, task: Task, run: Run | None) -> bool:
        child = self._children.get(run.id) if run else None
        if child is not None and child.running:
            child.ask_to_end()
            return False
        if run is not None:
            self._children.pop(run.id, None)
            self._workers.pop(run.id, None)
        if task.wish == "erase" and self.book.is_own(task.folder):  # never a folder that a person chose
            with storage_errors(task.folder):
                shutil.rmtree(task.folder, ignore_errors=True)
        for path in (self.book.home / "runs").glob(f"{task.id}.*"):
            path.unlink(missing_ok=True)
        self.book.forget(task)
        return True

    # -- Processes ---------------------------------------------------------------------------------

    def _page_limit(self, task: Task) -> int:
        """The limit of a job is that of a run: pages of earlier runs do not count."""
        limit = task.job.crawl.pages
        return limit + counts_of(task.folder)["pages"] if limit else 0

    def _start_if_room(self, run: Run) -> None:
        task = self.book.task(run.task_id)
        workers = self.budget.share(task.job.crawl.workers)
        used = sum(self._workers.values())
        if self._children and (len(self._children) >= self.budget.crawls or used + workers > self.budget.workers):
            return
        job_file = self.book.home / "runs" / f"{task.id}.toml"
        out, progress = self.book.home / "runs" / f"{task.id}.out", progress_file(self.book, task)
        progress.unlink(missing_ok=True)
        with storage_errors(job_file):
            job_file.parent.mkdir(parents=True, exist_ok=True)
            job_file.write_text(tomli_w.dumps(self._job(task, run, workers)), "utf-8")
        arguments = ["crawl", str(job_file), "--out", str(task.folder), "--progress", str(progress), "--json"]
        child = self._begin(arguments, out)
        self._children[run.id], self._workers[run.id] = child, workers
        started = run.started or self._now()
        self.book.update_run(
            run, state="running", started=started, pid=child.pid, pid_born=child.born, tries=run.tries + 1
        )

    def _job(self, task: Task, run: Run, workers: int) -> dict[str, Any]:
        """The task's job as this run needs it: its limit, its share of the budget, and revisits by the schedule."""
        data = json.loads(task.job_json)
        crawl = data.setdefault("crawl", {})
        crawl["workers"] = workers
        if run.page_limit:
            crawl["pages"] = run.page_limit
        hours = task.schedule.least_hours(_moment(self._now())) * REVISIT_SHARE
        if hours and not crawl.get("revisit", {}).get("hours"):
            crawl["revisit"] = {"min_hours": min(1.0, hours), "max_hours": max(720.0, 10 * hours)} | crawl.get(
                "revisit", {}
            )
            crawl["revisit"]["hours"] = hours
        job: dict[str, Any] = _without_none(data)
        return job

    def _conclude(self, run: Run, child: Child, *, closing: bool = False) -> None:
        """The process of a run has ended: what that means for the run."""
        task = self.book.task(run.task_id)
        summary, last = last_words(self.book.home / "runs" / f"{task.id}.out")
        state, reason = _verdict(run, child.exit_code, summary, last)
        values: dict[str, Any] = {"pid": None, "pid_born": None, "state": state, "reason": reason}
        killed = (child.exit_code or 0) < 0
        if state == "waiting" and killed and not closing and run.tries >= MOST_TRIES:
            values |= {"state": "failed", "reason": f"its process was killed {run.tries} times"}
        if values["state"] in ("done", "limit", "stopped", "failed"):
            values["ended"] = self._now()
        values |= counts_of(task.folder) | run_changes(task.folder, run.started or run.began, None)
        self.book.update_run(run, **values)
        self._ask(task)

    def _ask(self, task: Task) -> None:
        self._asked[task.id] = self._now()
        if self._alerts is not None:
            self._alerts.ask(task)


def _verdict(run: Run, code: int | None, summary: dict[str, Any] | None, last: str) -> tuple[str, str]:
    """The state and the reason that a run is left with when its process has ended."""
    reason = str(summary["stop_reason"]) if summary else last.removeprefix("periplus: ")[:500]
    if run.state == "pausing":
        return "paused", ""
    if run.state == "stopping":
        return "stopped", "stopped"
    interrupted = code == INTERRUPTED or (summary is not None and summary["stop_reason"] == "interrupted")
    if interrupted or (code is not None and code < 0) or (code is None and summary is None):
        return "waiting", reason  # ended from outside, not by the crawl: it goes on later
    if code == LIMIT_REACHED or (code is None and summary and "limit" in reason):
        return "limit", reason
    return ("done" if code == 0 or summary is not None else "failed"), reason or "it ended without a word"


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _without_none(value: Any) -> Any:
    """TOML knows no null."""
    if isinstance(value, dict):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    return value


def _locked(home: Path) -> int:
    """Be the service of this folder; the operating system drops the lock when the process dies."""
    path = home / "service.lock"
    with storage_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(descriptor)
        raise FolderInUse(f"{home}: process {pid} serves these tasks already") from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor
