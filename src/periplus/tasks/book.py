"""The book of tasks: one SQLite file in WAL mode that commands, the web page and the service share.

Every method is one transaction, and every call opens its own connection for it: the book is asked seldom, by several
processes and threads, so none of them holds it.
"""

import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from periplus.errors import ConfigError, Corrupt, UsageError
from periplus.files import target_folder
from periplus.settings import job_from_dict
from periplus.store.database import storage_errors
from periplus.tasks.records import WISHES, FoundPage, Question, Run, Task
from periplus.tasks.schedule import Schedule

__all__ = ["TaskBook", "default_home"]

VERSION = 1
MOST_TASKS = 1_000
MOST_QUESTIONS = 100
MOST_RUNS_SHOWN = 100
LONGEST_QUESTION = 1_000
NAME = re.compile(r"[^\W_][\w .,'()&+-]{0,79}")

_TASK = "id, name, job, folder, schedule, zone, created, next_at, held, wish"
_RUN = (
    "id, task_id, cause, state, began, started, ended, pid, pid_born, page_limit, reason, pages, kept, queued, new, "
    "changed, gone, tries"
)
_QUESTION = "id, task_id, text, webhook, created, asked, trouble"


def default_home() -> Path:
    """PERIPLUS_TASKS, else the folder of data's `periplus/tasks`."""
    own = os.environ.get("PERIPLUS_TASKS")
    if own:
        return Path(own)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "periplus" / "tasks"


class TaskBook:
    """The tasks in a folder. Any thread and any process may write."""

    def __init__(self, home: Path, now: Callable[[], float] = time.time) -> None:
        self.home = home
        self.path = home / "tasks.db"
        self._now = now
        with storage_errors(self.path):
            target_folder(home).mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._open() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                schema = resources.files("periplus.tasks").joinpath("schema.sql").read_text("utf-8")
                db.executescript(f"{schema}; PRAGMA user_version = {VERSION};")
            elif version != VERSION:
                raise Corrupt(f"{self.path}: version {version}, this Periplus reads version {VERSION}")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection with a transaction begun: all of the block's changes or, with an error, none."""
        with storage_errors(self.path), closing(sqlite3.connect(self.path, isolation_level=None, timeout=10)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            if db.in_transaction:
                db.execute("COMMIT")

    # -- Tasks -------------------------------------------------------------------------------------

    def add(self, name: str, job: dict[str, Any], schedule: Schedule, folder: Path | None = None) -> Task:
        """Save a crawl. ConfigError in one line if the job or the name cannot be."""
        name = " ".join(name.split())
        if not NAME.fullmatch(name):
            raise ConfigError(f"name {name[:60]!r}: 1 to 80 letters, digits, spaces and . , ' ( ) & + -")
        job_from_dict(job, f"task {name}")
        now = self._now()
        due = schedule.next_after(_moment(now))
        with self._open() as db:
            if db.execute("SELECT count(*) FROM task").fetchone()[0] >= MOST_TASKS:
                raise ConfigError(f"there are {MOST_TASKS:,} tasks already; remove some")
            if db.execute("SELECT 1 FROM task WHERE name = ?", (name,)).fetchone():
                raise ConfigError(f"there is a task {name!r} already; choose another name")
            if folder and (
                other := db.execute("SELECT name FROM task WHERE folder = ?", (str(folder.absolute()),)).fetchone()
            ):
                raise ConfigError(f"task {other[0]!r} crawls into {folder} already; choose another folder (--out)")
            cursor = db.execute(
                "INSERT INTO task (name, job, folder, schedule, zone, created, next_at) VALUES (?, ?, '', ?, ?, ?, ?)",
                (name, json.dumps(job), str(schedule), schedule.zone, now, due.timestamp() if due else None),
            )
            identifier = int(cursor.lastrowid or 0)
            place = folder or self.home / "crawls" / f"{identifier}-{_slug(name)}"
            db.execute("UPDATE task SET folder = ? WHERE id = ?", (str(place.absolute()), identifier))
            return _task(db.execute(f"SELECT {_TASK} FROM task WHERE id = ?", (identifier,)).fetchone())

    def is_own(self, folder: Path) -> bool:
        """Whether a crawl's folder is one of those that are made for tasks; others were chosen by a person."""
        return folder.parent == self.home.absolute() / "crawls"

    def tasks(self) -> list[Task]:
        """All tasks, in the order they were added."""
        with self._open() as db:
            return [_task(row) for row in db.execute(f"SELECT {_TASK} FROM task ORDER BY id")]

    def task(self, key: int | str) -> Task:
        """The task of an id or a name. UsageError if there is none."""
        column = "id" if isinstance(key, int) else "name"
        with self._open() as db:
            row = db.execute(f"SELECT {_TASK} FROM task WHERE {column} = ?", (key,)).fetchone()
        if row is None:
            raise UsageError(f"no task {str(key)[:60]!r}; `periplus tasks list` names them")
        return _task(row)

    def change(self, task: Task, job: dict[str, Any], schedule: Schedule) -> Task:
        """Another job or schedule for a task; the next run takes them."""
        job_from_dict(job, f"task {task.name}")
        due = schedule.next_after(_moment(self._now())) if schedule != task.schedule else None
        with self._open() as db:
            db.execute(
                "UPDATE task SET job = ?, schedule = ?, zone = ? WHERE id = ?",
                (json.dumps(job), str(schedule), schedule.zone, task.id),
            )
            if schedule != task.schedule and not task.held:
                db.execute("UPDATE task SET next_at = ? WHERE id = ?", (due.timestamp() if due else None, task.id))
        return self.task(task.id)

    def wish(self, task: Task, wish: str) -> None:
        """Say what the service is to do with a task. UsageError if that makes no sense now."""
        if wish not in WISHES:
            raise UsageError(f"a task cannot be told to {wish[:40]!r}; choose {', '.join(WISHES)}")
        run = self.open_run(task.id)
        state = run.state if run else ""
        if wish == "pause" and state not in ("waiting", "running") and task.next_at is None:
            raise UsageError(f"task {task.name!r} does not run and has no schedule, so there is nothing to pause")
        if wish == "resume" and not task.held and state not in ("paused", "pausing"):
            raise UsageError(f"task {task.name!r} is not paused")
        if wish == "stop" and run is None:
            raise UsageError(f"task {task.name!r} does not run")
        with self._open() as db:
            db.execute("UPDATE task SET wish = ? WHERE id = ?", (wish, task.id))

    def settle_wish(self, task: Task) -> None:
        """The service has done what was wished, unless something else is wished by now."""
        with self._open() as db:
            db.execute("UPDATE task SET wish = '' WHERE id = ? AND wish = ?", (task.id, task.wish))

    def hold(self, task: Task, *, held: bool) -> None:
        """Take a task out of its schedule, or back into it."""
        due = None if held else task.schedule.next_after(_moment(self._now()))
        with self._open() as db:
            db.execute(
                "UPDATE task SET held = ?, next_at = ? WHERE id = ?",
                (int(held), due.timestamp() if due else None, task.id),
            )

    def set_next(self, task: Task, at: float | None) -> None:
        """When it is due next."""
        with self._open() as db:
            db.execute("UPDATE task SET next_at = ? WHERE id = ?", (at, task.id))

    def forget(self, task: Task) -> None:
        """Remove a task with its history and questions."""
        with self._open() as db:
            db.execute("DELETE FROM task WHERE id = ?", (task.id,))

    # -- Runs --------------------------------------------------------------------------------------

    def open_run(self, task_id: int) -> Run | None:
        """The run that has not ended, if there is one."""
        with self._open() as db:
            row = db.execute(f"SELECT {_RUN} FROM run WHERE task_id = ? AND ended IS NULL", (task_id,)).fetchone()
        return Run(*row) if row else None

    def open_runs(self) -> list[Run]:
        """All runs that have not ended, the oldest first."""
        with self._open() as db:
            return [Run(*row) for row in db.execute(f"SELECT {_RUN} FROM run WHERE ended IS NULL ORDER BY began, id")]

    def runs(self, task_id: int, most: int = MOST_RUNS_SHOWN) -> list[Run]:
        """The history of a task, the latest first."""
        with self._open() as db:
            rows = db.execute(f"SELECT {_RUN} FROM run WHERE task_id = ? ORDER BY id DESC LIMIT ?", (task_id, most))
            return [Run(*row) for row in rows]

    def begin_run(self, task: Task, cause: str, page_limit: int) -> Run | None:
        """A new run that waits for its turn; None if one is open already."""
        with self._open() as db:
            if db.execute("SELECT 1 FROM run WHERE task_id = ? AND ended IS NULL", (task.id,)).fetchone():
                return None
            cursor = db.execute(
                "INSERT INTO run (task_id, cause, state, began, page_limit) VALUES (?, ?, 'waiting', ?, ?)",
                (task.id, cause, self._now(), page_limit),
            )
            return Run(*db.execute(f"SELECT {_RUN} FROM run WHERE id = ?", (cursor.lastrowid,)).fetchone())

    def update_run(self, run: Run, **values: Any) -> Run:
        """Change columns of a run."""
        names = ", ".join(f"{name} = ?" for name in values)
        with self._open() as db:
            db.execute(f"UPDATE run SET {names} WHERE id = ?", (*values.values(), run.id))
            return Run(*db.execute(f"SELECT {_RUN} FROM run WHERE id = ?", (run.id,)).fetchone())

    # -- Questions ---------------------------------------------------------------------------------

    def add_question(self, task: Task, text: str, webhook: str = "") -> Question:
        """Save a question. Hits there are by now are not news."""
        if not text.strip() or len(text) > LONGEST_QUESTION:
            raise UsageError(f"a question has 1 to {LONGEST_QUESTION:,} characters; this has {len(text.strip()):,}")
        with self._open() as db:
            if db.execute("SELECT count(*) FROM question").fetchone()[0] >= MOST_QUESTIONS:
                raise UsageError(f"there are {MOST_QUESTIONS} saved questions already; remove some")
            cursor = db.execute(
                "INSERT INTO question (task_id, text, webhook, created) VALUES (?, ?, ?, ?)",
                (task.id, text.strip(), webhook, self._now()),
            )
            row = db.execute(f"SELECT {_QUESTION} FROM question WHERE id = ?", (cursor.lastrowid,)).fetchone()
            return Question(*row)

    def questions(self, task_id: int | None = None) -> list[Question]:
        """Saved questions, of one task or all."""
        with self._open() as db:
            rows = db.execute(f"SELECT {_QUESTION} FROM question WHERE ifnull(?1, task_id) = task_id", (task_id,))
            return [Question(*row) for row in rows]

    def question(self, question_id: int) -> Question:
        """A saved question. UsageError if there is none."""
        with self._open() as db:
            row = db.execute(f"SELECT {_QUESTION} FROM question WHERE id = ?", (question_id,)).fetchone()
        if row is None:
            raise UsageError(f"no saved question {question_id}")
        return Question(*row)

    def remove_question(self, question: Question) -> None:
        """Ask it no longer."""
        with self._open() as db:
            db.execute("DELETE FROM question WHERE id = ?", (question.id,))

    def note_hits(self, question: Question, pages: Sequence[FoundPage]) -> list[FoundPage]:
        """Remember what a question found; gives what is new. The first time nothing is."""
        fresh = question.asked is not None
        with self._open() as db:
            known = {row[0] for row in db.execute("SELECT url FROM hit WHERE question_id = ?", (question.id,))}
            new = [page for page in pages if page.url not in known]
            db.executemany(
                "INSERT OR IGNORE INTO hit VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(question.id, p.url, p.title, p.snippet, p.place, p.found, int(fresh), int(not fresh)) for p in new],
            )
            db.execute("UPDATE question SET asked = ? WHERE id = ?", (self._now(), question.id))
        return new if fresh else []

    def fresh_hits(self, question: Question, most: int, *, untold: bool = False) -> list[FoundPage]:
        """What is new since the question was saved, the latest first; `untold`: only what the webhook does not know."""
        with self._open() as db:
            rows = db.execute(
                "SELECT url, title, snippet, place, found FROM hit WHERE question_id = ? AND fresh = 1 "
                f"{'AND told = 0' if untold else ''} ORDER BY found DESC, url LIMIT ?",
                (question.id, most),
            )
            return [FoundPage(*row) for row in rows]

    def told(self, question: Question, pages: Sequence[FoundPage], trouble: str = "") -> None:
        """The webhook knows these pages now; or, with `trouble`, why it was not reached."""
        with self._open() as db:
            db.execute("UPDATE question SET trouble = ? WHERE id = ?", (trouble, question.id))
            if not trouble:
                db.executemany(
                    "UPDATE hit SET told = 1 WHERE question_id = ? AND url = ?",
                    [(question.id, page.url) for page in pages],
                )


def _task(row: Sequence[Any]) -> Task:
    identifier, name, job, folder, schedule, zone, created, next_at, held, wish = row
    return Task(
        identifier, name, job, Path(folder), Schedule.of(schedule, zone), created, next_at, bool(held), wish
    )  # fmt: skip


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "task"
