"""The values of the book of tasks: tasks, their runs, saved questions and what these found."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from periplus.settings import Job, job_from_dict
from periplus.tasks.schedule import Schedule

__all__ = ["ENDED", "RUN_STATES", "WISHES", "FoundPage", "Question", "Run", "Task"]

RUN_STATES = ("waiting", "running", "pausing", "paused", "stopping", "done", "limit", "stopped", "failed")
"""waiting for room in the budget; running; asked to pause; paused; asked to stop; and the four ways to end:
nothing left to do, a limit, stopped by a person, failed."""

ENDED = frozenset({"done", "limit", "stopped", "failed"})
WISHES = ("start", "pause", "resume", "stop", "remove", "erase")


@dataclass(frozen=True, slots=True)
class Task:
    """A saved crawl."""

    id: int
    name: str
    job_json: str
    folder: Path
    schedule: Schedule
    created: float
    next_at: float | None
    held: bool
    wish: str

    @property
    def job(self) -> Job:
        """Its settings."""
        return job_from_dict(self.job_data, f"task {self.name}")

    @property
    def job_data(self) -> dict[str, Any]:
        """Its settings as they were given."""
        data: dict[str, Any] = json.loads(self.job_json)
        return data


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a task, over all processes that it took."""

    id: int
    task_id: int
    cause: str
    state: str
    began: float
    started: float | None
    ended: float | None
    pid: int | None
    pid_born: int | None
    page_limit: int
    reason: str
    pages: int
    kept: int
    queued: int
    new: int
    changed: int
    gone: int
    tries: int

    def to_json(self) -> dict[str, Any]:
        """For people: without what concerns processes."""
        names = (
            "id", "cause", "state", "began", "started", "ended", "reason", "pages", "kept", "queued", "new", "changed",
            "gone",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that a saved question found."""

    url: str
    title: str
    snippet: str
    place: str
    found: float

    def to_json(self) -> dict[str, Any]:
        """For the webhook and the API."""
        return {"url": self.url, "title": self.title, "snippet": self.snippet, "place": self.place, "found": self.found}


@dataclass(frozen=True, slots=True)
class Question:
    """A saved question over a task's pages."""

    id: int
    task_id: int
    text: str
    webhook: str
    created: float
    asked: float | None
    trouble: str

    def to_json(self) -> dict[str, Any]:
        """For people."""
        names = ("id", "task_id", "text", "webhook", "created", "asked", "trouble")
        return {name: getattr(self, name) for name in names}
