"""Alerts: saved questions are asked anew, and what is new goes into feeds and to webhooks.

Webhooks are called through `fetch.Transport`, so they pass the address guard like every other request: addresses that
are not public are refused unless the person who runs the service opened their range.
"""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from periplus import __version__
from periplus.clock import Clock, SystemClock
from periplus.errors import FetchError, NotACrawl, NotHere, PeriplusError, UsageError
from periplus.export.files import whole_file
from periplus.export.selection import chosen_pages
from periplus.fetch import AddressGuard, Resolver, Transport
from periplus.fetch.transport import user_agent
from periplus.search import Collection, SearchRequest
from periplus.search.atlas import Atlas, PlaceNames
from periplus.search.question import understand
from periplus.settings import FetchSettings
from periplus.tasks.book import TaskBook
from periplus.tasks.feeds import atom_feed, rss_feed
from periplus.tasks.records import FoundPage, Question, Task
from periplus.urls import canonicalize

__all__ = ["Alerts", "Hooks", "check_question", "check_webhook", "feed_of", "feed_paths"]

MOST_HITS = 1_000
MOST_IN_FEED = 100
MOST_TOLD = 100
HOOK_SECONDS = 10.0
ANY_DAY = date(2000, 1, 1)
"""Whether a question can be asked does not depend on the day."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where webhooks may lead: public addresses on the usual ports, and what is opened here on purpose."""

    allow_private: tuple[str, ...] = ()
    ports: tuple[int, ...] = field(default_factory=lambda: FetchSettings().ports)


def check_webhook(url: str) -> str:
    """The webhook's address as it is called; empty for none. UsageError if it is not http or https."""
    if not url.strip():
        return ""
    found = canonicalize(url.strip()) if len(url) <= 2_000 else None
    if found is None:
        raise UsageError(f"webhook {url[:60]!r} is not an http(s) URL")
    return found.href


def check_question(text: str) -> str:
    """The question, if it can be asked; QueryError if not. A place or topic that is not there yet may come."""
    with contextlib.suppress(NotHere):
        understand(SearchRequest.of(text), Atlas(()), frozenset(), (), lambda _: 0, today=ANY_DAY)
    return text


def feed_paths(book: TaskBook, question: Question) -> dict[str, Path]:
    """Where a question's feeds lie."""
    return {form: book.home / "feeds" / f"{question.id}.{form}.xml" for form in ("atom", "rss")}


def feed_of(book: TaskBook, task: Task, question: Question, form: str, address: str = "") -> bytes:
    """A question's feed as it is now; `address`: the web page that shows the crawl, where one does."""
    pages = book.fresh_hits(question, MOST_IN_FEED)
    return (atom_feed if form == "atom" else rss_feed)(question, task.name, pages, address)


class Alerts:
    """Asks the saved questions of tasks. Belongs to the service's thread."""

    def __init__(
        self, book: TaskBook, hooks: Hooks | None = None, names: PlaceNames | None = None, clock: Clock | None = None
    ) -> None:
        self._book = book
        self._hooks = hooks or Hooks()
        self._names = names
        self._clock = clock or SystemClock()

    def ask(self, task: Task) -> None:
        """Ask all questions of a task, and tell whoever waits for news."""
        questions = self._book.questions(task.id)
        if not questions:
            return
        try:
            with Collection.open([task.folder], names=self._names) as collection:
                for question in questions:
                    self._ask_one(task, question, collection)
        except NotACrawl:  # it has no page yet, so all that comes is news
            for question in questions:
                self._book.note_hits(question, [])

    def _ask_one(self, task: Task, question: Question, collection: Collection) -> None:
        try:
            pages = self._found(question, collection)
        except NotHere:  # no page about the place or topic yet: those that come are news
            pages = []
        except UsageError as error:
            self._book.note_hits(question, [])  # or it would count as never asked, and be asked at every look
            self._book.told(question, [], f"the question cannot be asked: {error}")
            return
        self._book.note_hits(question, pages)
        self._write_feeds(task, question)
        if question.webhook:
            self._tell(task, question)

    def _found(self, question: Question, collection: Collection) -> list[FoundPage]:
        now = self._clock.now().timestamp()
        request = SearchRequest.of(question.text, sort="time")
        if collection.search(replace(request, limit=1)).relaxed:  # none has all words, so none is an answer
            return []
        hits = chosen_pages(collection, request)[:MOST_HITS]
        return [FoundPage(h.url, h.title, h.snippet, h.place.label if h.place else "", now) for h in hits]

    def _write_feeds(self, task: Task, question: Question) -> None:
        for form, path in feed_paths(self._book, question).items():
            with whole_file(path) as draft:
                draft.write_bytes(feed_of(self._book, task, question, form))

    def _tell(self, task: Task, question: Question) -> None:
        """Call the webhook with what it does not know. What it does not take is told again the next time."""
        pages = self._book.fresh_hits(question, MOST_TOLD, untold=True)
        if not pages:
            return
        body = {"task": task.name, "question": question.text, "new": [page.to_json() for page in pages]}
        try:
            status = asyncio.run(self._call(question.webhook, json.dumps(body).encode()))
            trouble = "" if 200 <= status < 300 else f"{question.webhook}: answered {status}"
        except (FetchError, PeriplusError) as error:
            trouble = str(error)
        self._book.told(question, pages, trouble)

    async def _call(self, url: str, body: bytes) -> int:
        guard = AddressGuard(list(self._hooks.allow_private))
        settings = FetchSettings(ports=self._hooks.ports, total_seconds=HOOK_SECONDS)
        resolver = Resolver({}, guard, self._clock)
        agent = user_agent(__version__, "")
        async with Transport(settings, resolver, guard, self._clock, agent=agent) as transport:
            return (await transport.post(url, body, content_type="application/json")).status
