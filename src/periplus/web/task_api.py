"""The part of the API that is about saved crawls: `/api/tasks`, questions, places, learning and judging."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from periplus.errors import QueryError
from periplus.model import LonLat
from periplus.web.bodies import Judgement, NewQuestion, NewTask, Samples, WishBody
from periplus.web.desk import Missing, TaskDesk
from periplus.web.events import MOST_STREAMS, Streams
from periplus.web.guard import error_response
from periplus.web.parameters import flag, given, number_in_path, one, whole
from periplus.web.shelf import Shelf

__all__ = ["TaskApi"]


class TaskApi:
    """The answers of a desk of tasks."""

    def __init__(self, desk: TaskDesk, shelf: Shelf, streams: Streams) -> None:
        self._desk = desk
        self._shelf = shelf
        self._streams = streams

    def answers(self) -> dict[str, Callable[[Request], Any]]:
        """By the name of the operation."""
        return {
            "tasks": lambda _: self._desk.tasks(),
            "add_task": self.add,
            "check_task": self.check,
            "events": self.events,
            "task": lambda request: self._desk.task(number_in_path(request, "task")),
            "remove_task": self.remove,
            "wish": self.wish,
            "add_question": self.ask,
            "remove_question": lambda request: self._desk.forget_question(number_in_path(request, "question")),
            "feed": self.feed,
            "places": self.places,
            "learn": self.learn,
            "judge": self.judge,
        }

    def add(self, request: Request) -> dict[str, Any]:
        """Save a crawl."""
        form: NewTask = request.state.body
        return self._desk.add(form)

    def check(self, request: Request) -> dict[str, Any]:
        """What is wrong with a form."""
        form: NewTask = request.state.body
        return self._desk.check(form)

    def wish(self, request: Request) -> dict[str, Any]:
        """Start, pause, resume, stop."""
        body: WishBody = request.state.body
        return self._desk.wish(number_in_path(request, "task"), body)

    def remove(self, request: Request) -> dict[str, Any]:
        """Remove a task."""
        return self._desk.remove(number_in_path(request, "task"), erase=flag(request, "erase"))

    def ask(self, request: Request) -> dict[str, Any]:
        """Save a question."""
        body: NewQuestion = request.state.body
        return self._desk.ask(number_in_path(request, "task"), body)

    def feed(self, request: Request) -> str:
        """A question's feed."""
        form = given(request, "form", "atom")
        if form not in ("atom", "rss"):
            raise QueryError(f"form {form[:40]!r} is not possible; choose atom or rss")
        return self._desk.feed(number_in_path(request, "question"), form, str(request.base_url))

    def places(self, request: Request) -> dict[str, Any]:
        """Places by name, or at a point."""
        text, near = one(request, "q") or "", one(request, "near")
        if len(text) > 200:
            raise QueryError(f"q is {len(text):,} characters long; at most 200 are possible")
        return self._desk.places(text, _point(near) if near else None)

    def learn(self, request: Request) -> dict[str, Any]:
        """A topic from samples."""
        body: Samples = request.state.body
        return self._desk.lessons.learn(body)

    def judge(self, request: Request) -> dict[str, Any]:
        """Teach a topic."""
        body: Judgement = request.state.body
        found = self._desk.lessons.judge(body, self._shelf.collection)
        if found is None:
            raise Missing(f"no page {body.page} in node {body.node[:60]!r}")
        return found

    def events(self, request: Request) -> Response:
        """How tasks stand, as they change."""
        task = None if one(request, "task") is None else whole(request, "task", 0)
        if task is not None:
            self._desk.task(task)  # 404 now, rather than a stream that says so
        if self._streams.open >= MOST_STREAMS:
            return error_response(503, f"{MOST_STREAMS} live views are open already; close one")

        def state() -> dict[str, Any]:
            return self._desk.tasks() | {"task": None if task is None else self._desk.task(task)}

        return self._streams.response(state)


def _point(text: str) -> LonLat:
    parts = text.split(",")
    try:
        lat, lon = (float(part) for part in parts)
        return LonLat(lon, lat)
    except ValueError:
        raise QueryError(f"near {text[:60]!r} cannot be read; write LAT,LON, for example 38.72,-9.14") from None
