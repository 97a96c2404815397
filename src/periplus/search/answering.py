"""A node answers other machines' questions about its pages (`wire`), by NATS request and reply."""

import asyncio
import contextlib
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from periplus.errors import ExchangeError, PeriplusError
from periplus.exchange.connection import Temporary, temporary_errors
from periplus.search import wire
from periplus.search.shard import LocalShard
from periplus.store.folder import NodeFolder

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

__all__ = ["AnswerDesk", "Answers", "subject_of"]

AT_ONCE = 4
MOST_WAITING = 256
MOST_KEPT = 16
"""Answers of several parts that are kept until somebody has taken all of them."""

FIELDS = frozenset({"place_path", "topic", "domain", "language", "month", "day", "place", "main_place"})
WORD_FIELDS = frozenset({"title", "description", "url_words", "anchor", "text"})
MOST_UNITS = 200
MOST_PLACE_IDS = 20_000


def subject_of(crawl: str, node: str) -> str:
    """Where questions to a node go."""
    return f"periplus.{crawl}.ask.{node}"


@dataclass(slots=True)
class Answers:
    """The answers of one node. Any thread may ask."""

    shard: LocalShard
    _kept: OrderedDict[bytes, list[wire.Answer]] = field(default_factory=OrderedDict)

    def answer(self, data: bytes, came: float) -> bytes | None:
        """The answer to a question that came then (monotonic), or why there is none; None if nobody waits any more."""
        try:
            question = wire.open_question(data)
            if time.monotonic() - came > question.seconds:
                return None
            parts = self._parts(question)
            if question.part >= len(parts):
                raise ExchangeError(f"the answer has {len(parts)} parts only")
            return wire.seal(parts[question.part])
        except PeriplusError as error:
            return wire.seal(wire.Answer("", 0, b"", str(error)))

    def _parts(self, question: Any) -> list[wire.Answer]:
        key = wire.identity(question)
        parts = self._kept.pop(key, None) if question.part else None
        if parts is None:
            parts = wire.in_parts(self._answer(question))
        if question.part + 1 < len(parts):
            self._kept[key] = parts
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return parts

    def _answer(self, question: Any) -> object:
        """What the shard says. The checks are for what types cannot say."""
        shard, index = self.shard, self.shard.index
        match question:
            case wire.AskState():
                index.refresh()
                return wire.State(index.stamp, tuple(sorted(index.languages)))
            case wire.AskPlaces(after=after):
                return shard.places_after(after, wire.MOST_PLACES)
            case wire.AskCount(query=query):
                return index.count(_checked(query))
            case wire.AskTop(query=query, most=most, by_time=by_time, stamp=stamp):
                return index.top(_checked(query), most, by_time=by_time, stamp=stamp)
            case wire.AskCounts(query=query, fields=fields):
                return index.counts(_checked(query), {_field(name): most for name, most in fields.items()})
            case wire.AskNumbers(query=query, field=name, most=most):
                return index.numbers(_checked(query), _field(name), most)
            case wire.AskWords(prefix=prefix, most=most):
                return index.words(prefix, most)
            case wire.AskSimilar(title=title, text=text, language=language, most=most):
                return index.similar(title, text, language, most)
            case _:
                return self._about_pages(question)

    def _about_pages(self, question: Any) -> object:
        shard = self.shard
        match question:
            case wire.AskRecords(pages=pages):
                return shard.records(pages)
            case wire.AskFootprints(pages=pages):
                return shard.footprints(pages)
            case wire.AskTexts(pages=pages):
                return shard.texts(pages)
            case wire.AskLinks(page=page):
                return shard.links(page)
            case wire.AskUrls(fingerprints=marks):
                return shard.urls(marks)
            case wire.AskArchived(page=page):
                return shard.is_archived(page)
            case wire.AskArchive(page=page):
                return shard.archive_record(page)
            case _:
                raise ExchangeError(f"{type(question).__name__} cannot be asked")


def _field(name: str) -> str:
    if name not in FIELDS:
        raise ExchangeError(f"the field {name!r} cannot be counted")
    return name


def _checked(query: Any) -> Any:
    """A question to the index, unless it is larger than any that a person's question becomes."""
    units = sum(map(len, query.required)) + len(query.optional) + len(query.excluded)
    texts = [unit.text for group in query.required for unit in group]
    texts += [unit.text for unit in (*query.optional, *query.excluded)]
    if units > MOST_UNITS or any(len(text) > 1_000 for text in texts) or len(query.place_ids or ()) > MOST_PLACE_IDS:
        raise ExchangeError("the question is too large")
    if not {name for name, _ in query.fields} <= WORD_FIELDS:
        raise ExchangeError("the question names a field that has no words")
    return query


class AnswerDesk:
    """Answers questions to the nodes of a crawl that this machine has. Belongs to the event loop.

    Processes that answer for the same node share its questions.
    """

    def __init__(self, client: "Client", crawl: str) -> None:
        self._client = client
        self._crawl = crawl
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._under_way: set[asyncio.Task[None]] = set()
        self._open: list[tuple[LocalShard, Subscription]] = []

    async def add(self, folder: NodeFolder) -> None:
        """Answer for this node from now on."""
        shard = LocalShard.open(folder.name, folder)
        answers = Answers(shard)

        async def on_question(message: "Msg") -> None:
            if len(self._under_way) < MOST_WAITING:  # else whoever asks is told so by the silence
                task = asyncio.create_task(self._reply(answers, message, time.monotonic()))
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)

        subject = subject_of(self._crawl, folder.name)
        async with temporary_errors(folder.name):
            self._open.append((shard, await self._client.subscribe(subject, queue="answers", cb=on_question)))

    async def _reply(self, answers: Answers, message: "Msg", came: float) -> None:
        async with self._turns:
            answer = await asyncio.to_thread(answers.answer, message.data, came)
        if answer is not None:
            with contextlib.suppress(Temporary):
                async with temporary_errors(answers.shard.name):
                    await message.respond(answer)

    async def close(self) -> None:
        """Take no further questions, finish those under way."""
        for _, subscription in self._open:
            with contextlib.suppress(Temporary):
                async with temporary_errors(self._crawl):
                    await subscription.unsubscribe()
        await asyncio.gather(*self._under_way)
        for shard, _ in self._open:
            shard.close()
        self._open.clear()
