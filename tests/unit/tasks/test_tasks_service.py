"""The service with processes that are played: budget, schedule, wishes, restarts, kills."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from periplus.errors import ConfigError, FolderInUse, UsageError
from periplus.tasks import Budget, Schedule, Task, TaskBook, TaskService
from periplus.tasks.processes import Child

JOB: dict[str, Any] = {"seeds": ["http://site.example/"], "contact": "x@example.org"}
SUMMARY = {"stop_reason": "frontier empty", "pages": 3, "queued": 0}
START = 1_800_000_000.0


@dataclass
class PlayedChild(Child):
    """A process that ends when the test says so."""

    code: int | None = None
    ended_with: int = 130

    @property
    def running(self) -> bool:
        return self.code is None

    @property
    def exit_code(self) -> int | None:
        return self.code

    def ask_to_end(self) -> None:
        self.asked = True
        self.code = self.ended_with

    def kill(self) -> None:
        self.code = -9 if self.code is None else self.code


@dataclass
class Stage:
    """A book, a clock that is moved by hand, and the processes that were begun."""

    home: Path
    now: float = START
    begun: list[tuple[list[str], PlayedChild]] = field(default_factory=list)
    services: list[TaskService] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.book = TaskBook(self.home, lambda: self.now)

    def service(self, budget: Budget | None = None) -> TaskService:
        made = TaskService(self.book, budget or Budget(2, 4), now=lambda: self.now, began=self._begin)
        self.services.append(made)
        return made

    def _begin(self, arguments: list[str], out: Path) -> Child:
        child = PlayedChild(10_000 + len(self.begun), 0)
        out.write_text(json.dumps(SUMMARY))
        self.begun.append((arguments, child))
        return child

    def add(self, name: str, schedule: str = "", **job: Any) -> Task:
        return self.book.add(name, JOB | job, Schedule.of(schedule))

    def end(self, number: int, code: int = 0) -> None:
        self.begun[number][1].code = code

    def states(self, task: Task) -> list[str]:
        return [run.state for run in self.book.runs(task.id)]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path / "tasks")
    yield made
    for service in made.services:
        service.close()


def test_a_wish_starts_a_run_and_its_end_is_written_down(stage: Stage) -> None:
    task, service = stage.add("floods"), stage.service()
    stage.book.wish(task, "start")
    service.tick()
    assert stage.states(task) == ["running"]
    arguments = stage.begun[0][0]
    assert arguments[0] == "crawl"
    assert str(task.folder) in arguments
    stage.now += 60
    stage.end(0)
    service.tick()
    (run,) = stage.book.runs(task.id)
    assert (run.state, run.reason, run.ended, run.pid) == ("done", "frontier empty", stage.now, None)


def test_the_budget_of_the_machine_is_kept(stage: Stage) -> None:
    tasks = [stage.add(f"task {number}") for number in range(3)]
    service = stage.service(Budget(2, 4))
    for task in tasks:
        stage.book.wish(task, "start")
    service.tick()
    assert [stage.states(task)[0] for task in tasks] == ["running", "running", "waiting"]
    stage.end(0)
    service.tick()
    assert [stage.states(task)[0] for task in tasks] == ["done", "running", "running"]
    assert len(stage.begun) == 3


def test_workers_are_shared_out(stage: Stage) -> None:
    wide = stage.add("wide", crawl={"workers": 99})
    other = stage.add("other")
    service = stage.service(Budget(3, 4))
    for task in (wide, other):
        stage.book.wish(task, "start")
    service.tick()
    text = (stage.home / "runs" / f"{wide.id}.toml").read_text()
    assert "workers = 4" in text
    assert stage.states(other) == ["waiting"], "the first took all workers there are"


def test_schedules_start_runs_and_do_not_overlap(stage: Stage) -> None:
    task, service = stage.add("nightly", "every 6 hours"), stage.service()
    service.tick()
    assert stage.begun == []
    stage.now += 6 * 3600 + 1
    service.tick()
    assert stage.states(task) == ["running"]
    assert stage.book.runs(task.id)[0].cause == "schedule"
    stage.now += 6 * 3600
    service.tick()
    assert stage.states(task) == ["running"], "it still runs, so it is not begun again"
    stage.end(0)
    service.tick()
    stage.now += 6 * 3600
    service.tick()
    assert stage.states(task) == ["running", "done"]


def test_missed_runs_are_caught_up_once(stage: Stage) -> None:
    task = stage.add("nightly", "every 6 hours")
    stage.now += 40 * 3600  # the machine was off
    service = stage.service()
    service.tick()
    stage.end(0)
    service.tick()
    service.tick()
    (run,) = stage.book.runs(task.id)
    assert (run.cause, run.state) == ("missed", "done")
    due = stage.book.task(task.id).next_at
    assert due == START + 42 * 3600, "the rhythm stays"


def test_a_scheduled_task_revisits_by_its_rhythm(stage: Stage) -> None:
    task, service = stage.add("nightly", "every 10 hours"), stage.service()
    stage.book.wish(task, "start")
    service.tick()
    text = (stage.home / "runs" / f"{task.id}.toml").read_text()
    assert "hours = 9.0" in text


def test_pause_resume_and_stop(stage: Stage) -> None:
    task, service = stage.add("floods", "every 6 hours"), stage.service()
    stage.book.wish(task, "start")
    service.tick()
    stage.book.wish(task, "pause")
    service.tick()
    service.tick()
    assert stage.states(task) == ["paused"]
    assert stage.begun[0][1].asked, "its process was asked to end, not killed"
    stage.now += 100 * 3600
    service.tick()
    assert len(stage.begun) == 1, "a paused task rests, whatever its schedule says"
    stage.book.wish(stage.book.task(task.id), "resume")
    service.tick()
    assert stage.states(task) == ["running"], "the same run goes on"
    stage.book.wish(stage.book.task(task.id), "stop")
    service.tick()
    service.tick()
    assert stage.states(task) == ["stopped"]
    assert stage.book.task(task.id).next_at is not None


def test_wishes_that_make_no_sense_are_refused(stage: Stage) -> None:
    task = stage.add("floods")
    for wish in ("pause", "resume", "stop", "dance"):
        with pytest.raises(UsageError):
            stage.book.wish(task, wish)
    with pytest.raises(UsageError, match="no task"):
        stage.book.task("droughts")
    with pytest.raises(ConfigError, match="already"):
        stage.add("floods")
    with pytest.raises(ConfigError, match="name"):
        stage.add("../floods")
    with pytest.raises(ConfigError, match="pages"):
        stage.add("many", crawl={"pages": "many"})


def test_tasks_survive_the_end_of_the_service(stage: Stage) -> None:
    task, service = stage.add("floods"), stage.service()
    stage.book.wish(task, "start")
    service.tick()
    service.close()
    stage.services.clear()
    assert stage.states(task) == ["waiting"], "its crawl was asked to end and goes on later"
    again = stage.service()
    again.tick()
    assert stage.states(task) == ["running"]
    (run,) = stage.book.runs(task.id)
    assert run.tries == 2


def test_a_service_that_was_killed_leaves_nothing_behind(stage: Stage) -> None:
    task, service = stage.add("floods"), stage.service()
    stage.book.wish(task, "start")
    service.tick()
    service.close(leave=True)  # the book says it runs, under a number that nobody has
    stage.services.clear()
    again = stage.service()
    assert stage.states(task) == ["waiting"]
    again.tick()
    assert stage.states(task) == ["running"]


def test_a_process_that_is_killed_is_tried_again_but_not_for_ever(stage: Stage) -> None:
    task, service = stage.add("floods"), stage.service()
    stage.book.wish(task, "start")
    for number in range(3):
        service.tick()
        stage.end(number, -9)
        service.tick()
    service.tick()
    (run,) = stage.book.runs(task.id)
    assert (run.state, run.reason) == ("failed", "its process was killed 3 times")
    assert len(stage.begun) == 3


def test_a_crawl_that_cannot_start_says_why(stage: Stage) -> None:
    task, service = stage.add("floods"), stage.service()
    stage.book.wish(task, "start")
    service.tick()
    (stage.home / "runs" / f"{task.id}.out").write_text("periplus: no seeds: set `seeds` in the job file\n")
    stage.end(0, 2)
    service.tick()
    (run,) = stage.book.runs(task.id)
    assert (run.state, run.reason) == ("failed", "no seeds: set `seeds` in the job file")


def test_removing_waits_for_the_process_and_spares_what_people_chose(stage: Stage, tmp_path: Path) -> None:
    own = stage.add("own")
    chosen = stage.book.add("chosen", JOB, Schedule.of(""), tmp_path / "mine")
    service = stage.service()
    for task in (own, chosen):
        task.folder.mkdir(parents=True)
        stage.book.wish(task, "start")
    service.tick()
    for task in (own, chosen):
        stage.book.wish(task, "erase")
    service.tick()
    service.tick()
    assert stage.book.tasks() == []
    assert all(child.asked for _, child in stage.begun)
    assert not own.folder.exists()
    assert chosen.folder.exists()
    assert stage.book.open_runs() == []


def test_one_service_at_a_time(stage: Stage) -> None:
    stage.service()
    with pytest.raises(FolderInUse, match="already"):
        stage.service()


def test_a_limit_counts_for_each_run(stage: Stage) -> None:
    task, service = stage.add("floods", crawl={"pages": 50}), stage.service()
    stage.book.wish(task, "start")
    service.tick()
    assert stage.book.runs(task.id)[0].page_limit == 50
    assert "pages = 50" in (stage.home / "runs" / f"{task.id}.toml").read_text()
