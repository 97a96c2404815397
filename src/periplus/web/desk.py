"""The desk of tasks: what the web page asks and wishes of the service, over the same book as the commands."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from periplus.errors import FolderInUse, UsageError
from periplus.model import LonLat
from periplus.places import Gazetteer
from periplus.search.names import GazetteerNames
from periplus.store.folder import CrawlFolder
from periplus.tasks import Question, Run, Task, TaskBook, TaskService
from periplus.tasks.accounts import errors_of, live_progress, log_tail, node_rows, whereabouts
from periplus.tasks.alerts import check_question, check_webhook, feed_of, feed_paths
from periplus.tasks.commands import state_of
from periplus.tasks.schedule import Schedule
from periplus.tasks.service import progress_file
from periplus.web.bodies import NewQuestion, NewTask, WishBody
from periplus.web.choices import Choices
from periplus.web.forms import check_form, job_of_form, place_json, places_json
from periplus.web.lessons import Lessons

__all__ = ["Missing", "TaskDesk", "TaskServing"]

MOST_PLACES = 8
NODES_SECONDS = 3.0
"""Counting a node's pages takes a while in large crawls: it is done this often at most."""

MOST_SHOWN_SEEDS = 50
MOST_ABOUT = 6
"""Words and places that a task in the list is shown with."""


@dataclass(frozen=True, slots=True)
class TaskServing:
    """How tasks are served: their book, how to become their service, and settings that every new task gets."""

    book: TaskBook
    begin: Callable[[], TaskService]
    defaults: dict[str, Any] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)

    def service(self) -> TaskService | None:
        """The service; None if another process is it: then that one does what is wished here."""
        try:
            return self.begin()
        except FolderInUse:
            return None


class TaskDesk:
    """Answers about tasks. Any thread may ask."""

    def __init__(
        self,
        book: TaskBook,
        service: TaskService | None,
        names: GazetteerNames,
        defaults: dict[str, Any] | None = None,
        choices: Choices | None = None,
    ) -> None:
        """`service`: None if another process is the service. `defaults`: settings that every new task gets.

        `choices`: files that the form offers.
        """
        self._choices = choices or Choices()
        self.book = book
        self._service = service
        self._names = names
        self._defaults = defaults or {}
        self.lessons = Lessons(names.gazetteer, book)
        self._nodes: dict[int, tuple[float, list[dict[str, Any]]]] = {}
        self._stands: dict[tuple[int, str], LonLat] = {}  # of nodes without places; kept, so that they stand still

    @property
    def gazetteer(self) -> Gazetteer:
        """All places."""
        return self._names.gazetteer()

    def folders(self) -> list[Path]:
        """The crawls that have something to show."""
        return [task.folder for task in self.book.tasks() if any((task.folder / "nodes").glob("*/node.db"))]

    # -- Showing -----------------------------------------------------------------------------------

    def tasks(self) -> dict[str, Any]:
        """All tasks and what they may take of the machine."""
        budget = self._service.budget if self._service else None
        return {
            "tasks": [self._task(task) for task in self.book.tasks()],
            "budget": {"crawls": budget.crawls, "workers": budget.workers} if budget else None,
            "trouble": self._service.trouble if self._service else "",
            "contact": self._defaults.get("contact", ""),
            "files": self._choices.to_json(),
        }

    def _task(self, task: Task) -> dict[str, Any]:
        run = next(iter(self.book.runs(task.id, 1)), None)
        progress = live_progress(progress_file(self.book, task), run)
        return {
            "id": task.id,
            "name": task.name,
            "state": state_of(task, run),
            "schedule": str(task.schedule),
            "zone": task.schedule.zone,
            "next_at": task.next_at,
            "wish": task.wish,
            "crawl": task.folder.name,
            "about": self._about(task),
            "latest": run.to_json() if run else None,
            "page_limit": run.page_limit if run else 0,
            "progress": progress,
        }

    def task(self, task_id: int) -> dict[str, Any]:
        """One task with its job, its runs, its nodes, what did not work, the end of its log and its questions."""
        task = self._known(task_id)
        job = task.job
        runs = self.book.runs(task.id)
        shown = self._task(task)
        return shown | {
            "job": {
                "keywords": job.topic.keywords,
                "places": {self._label(name): weight for name, weight in job.topic.places.items()},
                "seeds": job.seeds[:MOST_SHOWN_SEEDS],
                "seed_count": len(job.seeds),
                "strategy": job.crawl.strategy,
                "keep": job.crawl.keep,
                "pages": job.crawl.pages,
                "minutes": job.crawl.minutes,
            },
            "runs": [run.to_json() for run in runs],
            "nodes": self._node_rows(task, runs[0] if runs else None),
            "errors": shown["progress"]["errors"] if shown["progress"] else errors_of(task.folder),
            "log": log_tail(task.folder),
            "questions": [self._question(question) for question in self.book.questions(task.id)],
        }

    def _about(self, task: Task) -> list[str]:
        """What a task looks for, in a few words."""
        try:
            topic = task.job.topic
        except UsageError:  # a job of another version: its run says what is wrong
            return []
        names = [*list(topic.places)[: MOST_ABOUT // 2], *topic.keywords][:MOST_ABOUT]
        return [self._label(name) if name in topic.places else name for name in names]

    def _label(self, name: str) -> str:
        if not name.lstrip("-").isdigit():
            return name
        found = self.gazetteer.find(name, limit=1)
        return str(place_json(found[0])["label"]) if found else name

    def _node_rows(self, task: Task, run: Run | None) -> list[dict[str, Any]]:
        """The nodes with their counts, their traffic and where they stand on the map."""
        at, rows = self._nodes.get(task.id, (0.0, []))
        fresh = NODES_SECONDS if run is not None and run.ended is None else 2 * NODES_SECONDS
        if time.monotonic() - at > fresh:
            points = self._node_points(task)
            for name in task.job.nodes.keys() - points.keys():
                points |= self._stand(task, name)
            rows = [row | points.get(row["node"], {"lat": None, "lon": None}) for row in node_rows(task.folder)]
            self._nodes[task.id] = (time.monotonic(), rows)
        return rows

    def _node_points(self, task: Task) -> dict[str, dict[str, Any]]:
        points: dict[str, dict[str, Any]] = {}
        for name, node in task.job.nodes.items():
            found = [place for text in node.places[:50] for place in self.gazetteer.find(text, limit=1)]
            if found:
                count = len(found)
                lat, lon = sum(p.point.lat for p in found) / count, sum(p.point.lon for p in found) / count
                points[name] = {"lat": round(lat, 4), "lon": round(lon, 4)}
        return points

    def _stand(self, task: Task, node: str) -> dict[str, dict[str, Any]]:
        """A node that owns no places stands among its first pages."""
        if (point := self._stands.get((task.id, node)) or whereabouts(task.folder, node)) is None:
            return {}
        self._stands[task.id, node] = point
        return {node: {"lat": round(point.lat, 4), "lon": round(point.lon, 4), "placeless": True}}

    def places(self, text: str, near: LonLat | None) -> dict[str, Any]:
        """Places by name with their other meanings, or the one nearest to a point of the map."""
        gazetteer = self.gazetteer
        if near is not None:
            row = gazetteer.nearest_row(near)
            found = [gazetteer.place_at(row)] if row >= 0 else []
            if found:
                found += [gazetteer.place(key) for key in reversed(found[0].ancestors[2:])]
        else:
            found = gazetteer.find(text, limit=MOST_PLACES) if text.strip() else []
        return {"places": places_json(found)}

    # -- Wishing -----------------------------------------------------------------------------------

    def check(self, form: NewTask) -> dict[str, Any]:
        """What is wrong with a form, as it is typed."""
        return check_form(form, self._defaults, self._choices, self.gazetteer)

    def add(self, form: NewTask) -> dict[str, Any]:
        """Save a task. UsageError with the first thing that is wrong."""
        found = self.check(form)
        if found["errors"]:
            raise UsageError(found["errors"][0]["text"])
        schedule = Schedule.of(form.schedule, form.zone)
        task = self.book.add(form.name, job_of_form(form, self._defaults, self._choices), schedule)
        self.lessons.take_over(form.memory, CrawlFolder(task.folder))
        return self._task(task)

    def wish(self, task_id: int, body: WishBody) -> dict[str, Any]:
        """Have the service do something with a task."""
        task = self._known(task_id)
        self.book.wish(task, body.wish)
        self._wake()
        return self._task(self.book.task(task.id))

    def remove(self, task_id: int, *, erase: bool) -> dict[str, Any]:
        """Remove a task; with `erase` what it crawled, too."""
        self.book.wish(self._known(task_id), "erase" if erase else "remove")
        self._wake()
        return {"ok": True}

    def ask(self, task_id: int, body: NewQuestion) -> dict[str, Any]:
        """Save a question."""
        saved = self.book.add_question(self._known(task_id), check_question(body.text), check_webhook(body.webhook))
        self._wake()
        return self._question(saved)

    def forget_question(self, question_id: int) -> dict[str, Any]:
        """Ask it no longer."""
        self.book.remove_question(self._known_question(question_id))
        return {"ok": True}

    def feed(self, question_id: int, form: str, address: str) -> str:
        """The feed of a question, for readers who find the page at `address`."""
        question = self._known_question(question_id)
        if not feed_paths(self.book, question)[form].exists():
            raise Missing("this question has not been asked yet")
        task = self.book.task(question.task_id)
        return feed_of(self.book, task, question, form, address).decode()

    def _question(self, question: Question) -> dict[str, Any]:
        return question.to_json() | {"fresh": len(self.book.fresh_hits(question, 100))}

    def _known(self, task_id: int) -> Task:
        try:
            return self.book.task(task_id)
        except UsageError:
            raise Missing(f"there is no crawl {task_id}: it was removed, or the address is wrong") from None

    def _known_question(self, question_id: int) -> Question:
        try:
            return self.book.question(question_id)
        except UsageError as error:
            raise Missing(str(error)) from None

    def _wake(self) -> None:
        if self._service is not None:
            self._service.wake()


class Missing(UsageError):
    """Asked for something that is not there: 404."""
