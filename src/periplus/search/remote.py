"""Nodes of a crawl on other machines, asked by NATS request and reply, as parts of a collection like any other.

Whoever does not answer in time is left alone for a while: its part of an answer is empty, and the answer says that it
is `missing`. A question's own deadline bounds every single request.
"""

import asyncio
import contextlib
import threading
import time
import tomllib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from periplus import __version__
from periplus.cluster.control import crawl_there, read_crawl
from periplus.cluster.records import Board, CrawlRecord
from periplus.errors import EnvironmentFailure, ExchangeError, PeriplusError
from periplus.exchange.connection import Temporary, connected, temporary_errors
from periplus.index import IndexQuery, RankedPage, Ranking
from periplus.search import wire
from periplus.search.answering import subject_of
from periplus.search.deadline import seconds_left
from periplus.search.shard import PackedLinks, PageRecord, PageText, PlaceRow
from periplus.settings import ClusterSettings, Job, job_from_dict

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["ClusterLink", "RemoteShard"]

ASK_SECONDS = 3.0
"""How long one request is waited for at most."""

ALONE_SECONDS = 5.0
"""How long a node that did not answer is not asked again."""

OPEN_SECONDS = 40.0
LIKENESS_CHARACTERS = 20_000

T = TypeVar("T")


class ClusterLink:
    """A connection to a cluster in a thread of its own, and the crawl that is asked about. Any thread may ask."""

    def __init__(self, settings: ClusterSettings, crawl: str = "") -> None:
        """Connect. EnvironmentFailure if nobody answers there, or if there is no such crawl."""
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._leave = asyncio.Event()
        opened: Future[tuple[Client, str, CrawlRecord]] = Future()
        self._thread = threading.Thread(target=self._run, args=(crawl, opened), name="cluster", daemon=True)
        self._thread.start()
        try:
            self._client, self.crawl, record = opened.result(OPEN_SECONDS)
        except TimeoutError:
            raise EnvironmentFailure("the cluster does not answer; try again") from None
        self.job: Job = job_from_dict(tomllib.loads(record.job), f"the job of {self.crawl}")
        self.nodes = record.nodes

    def _run(self, crawl: str, opened: "Future[tuple[Client, str, CrawlRecord]]") -> None:
        with contextlib.closing(self._loop):
            try:
                self._loop.run_until_complete(self._serve(crawl, opened))
            except PeriplusError as error:
                opened.set_exception(error)

    async def _serve(self, wanted: str, opened: "Future[tuple[Client, str, CrawlRecord]]") -> None:
        domain = self._settings.domain
        async with connected(self._settings, name="search") as client:
            crawl = await crawl_there(client, domain, wanted)
            board = Board(client, crawl, domain)
            await board.open(self._settings.replicas)
            record = await read_crawl(board, __version__)
            if record is None:
                raise EnvironmentFailure(f"{crawl}: there is no such crawl in this cluster")
            opened.set_result((client, crawl, record))
            await self._leave.wait()

    def close(self) -> None:
        """Disconnect."""
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join()

    def shards(self) -> list["RemoteShard"]:
        """All nodes of the crawl."""
        return [RemoteShard(self, name) for name in self.nodes]

    def ask(self, node: str, question: wire.Question, kind: type[T], seconds: float) -> T:
        """What a node answers. Raises Temporary if it does not in time, ExchangeError if it cannot."""
        work = self._asked(node, msgspec.structs.replace(question, seconds=seconds), kind)
        return self._wait(asyncio.wait_for(work, seconds), seconds)

    def _wait(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds + 1.0)
        except TimeoutError:
            raise Temporary(f"no answer in {seconds:.1f} s") from None
        except RuntimeError:  # the loop has ended
            work.close()
            raise Temporary("the connection to the cluster is closed") from None

    async def _asked(self, node: str, question: wire.Question, kind: type[T]) -> T:
        subject = subject_of(self.crawl, node)
        parts: list[wire.Answer] = []
        while not parts or len(parts) < parts[0].parts:
            data = msgspec.msgpack.encode(msgspec.structs.replace(question, part=len(parts)))
            async with temporary_errors(node):
                reply = await self._client.request(subject, data, timeout=question.seconds)
            part = wire.open_part(reply.data)
            if parts and part.digest != parts[0].digest:  # it has changed meanwhile: from the beginning
                parts = []
                continue
            parts.append(part)
        return wire.open_answer(parts, kind)


class RemoteIndex:
    """The index of a node on another machine."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask
        self.state = wire.State(0, ())

    @property
    def languages(self) -> frozenset[str]:
        """Languages of its pages."""
        return frozenset(self.state.languages)

    @property
    def stamp(self) -> int:
        """Grows with every commit, as last seen."""
        return self.state.stamp

    def count(self, query: IndexQuery) -> int:
        """How many pages answer."""
        found: int = self._ask(wire.AskCount(query=query), int, 0)
        return found

    def top(self, query: IndexQuery, most: int, *, by_time: bool = False, stamp: int | None = None) -> Ranking:
        """The best `most` pages, or the newest."""
        asked = wire.AskTop(query=query, most=most, by_time=by_time, stamp=stamp)
        found: Ranking = self._ask(asked, Ranking, Ranking(0, ()))
        return found

    def counts(self, query: IndexQuery, fields: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """How the pages that answer are spread over values of fields."""
        nothing: dict[str, dict[str, int]] = {name: {} for name in fields}
        asked = wire.AskCounts(query=query, fields=dict(fields))
        found: dict[str, dict[str, int]] = self._ask(asked, dict[str, dict[str, int]], nothing)
        return found

    def numbers(self, query: IndexQuery, field: str, most: int) -> dict[int, int]:
        """The same for a field of whole numbers."""
        asked = wire.AskNumbers(query=query, field=field, most=most)
        found: dict[int, int] = self._ask(asked, dict[int, int], {})
        return found

    def words(self, prefix: str, most: int | None = None) -> list[tuple[str, int]]:
        """Words that begin so."""
        found: list[tuple[str, int]] = self._ask(wire.AskWords(prefix=prefix, most=most), list[tuple[str, int]], [])
        return found

    def similar(self, title: str, text: str, language: str, most: int) -> list[RankedPage]:
        """Pages like this text."""
        short = text[:LIKENESS_CHARACTERS]
        asked = wire.AskSimilar(title=title[:1_000], text=short, language=language[:64], most=most)
        found: list[RankedPage] = self._ask(asked, list[RankedPage], [])
        return found


class RemoteShard:
    """A node of a crawl on another machine. Any thread may ask."""

    def __init__(self, link: ClusterLink, name: str) -> None:
        self.key = name
        self.name = name
        self.crawl = f"cluster:{link.crawl}"
        self._link = link
        self._alone_until = 0.0
        self._index = RemoteIndex(self._ask)

    @property
    def index(self) -> RemoteIndex:
        """Its index."""
        return self._index

    @property
    def is_silent(self) -> bool:
        """Whether it did not answer lately."""
        return time.monotonic() < self._alone_until

    def _ask(self, question: wire.Question, kind: Any, nothing: T) -> T:
        if self.is_silent:
            return nothing
        left = seconds_left()
        seconds = ASK_SECONDS if left is None else min(ASK_SECONDS, left)
        try:
            if seconds <= 0:
                raise Temporary("the time for the answer is over")
            found: T = self._link.ask(self.name, question, kind, seconds)
        except (Temporary, ExchangeError):
            self._alone_until = time.monotonic() + ALONE_SECONDS
            return nothing
        return found

    def refresh(self) -> bool:
        """See how its index stands; whether that has changed."""
        before = self._index.state
        self._index.state = self._ask(wire.AskState(), wire.State, before)
        return self._index.state != before

    def job(self) -> Job:
        """The job of its crawl."""
        return self._link.job

    def close(self) -> None:
        """Nothing to let go: the connection is that of all nodes."""

    def places(self) -> list[PlaceRow]:
        """All places that its pages name."""
        found: list[PlaceRow] = []
        while True:
            after = found[-1][0] if found else None
            rows: list[PlaceRow] = self._ask(wire.AskPlaces(after=after), list[PlaceRow], [])
            found += rows
            if len(rows) < wire.MOST_PLACES:
                return found

    def _of_pages(self, ask: Callable[..., wire.Question], values: Sequence[int], kind: Any, name: str) -> Any:
        found: dict[int, Any] = {}
        for start in range(0, len(values), wire.MOST_PAGES):
            question = ask(**{name: tuple(values[start : start + wire.MOST_PAGES])})
            nothing: dict[int, Any] = {}
            found |= self._ask(question, kind, nothing)
        return found

    def records(self, pages: Sequence[int]) -> dict[int, PageRecord]:
        """The kept ones among these pages."""
        found: dict[int, PageRecord] = self._of_pages(wire.AskRecords, pages, dict[int, PageRecord], "pages")
        return found

    def footprints(self, pages: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
        """The places of these pages with their weights."""
        kind = dict[int, list[tuple[int, float]]]
        found: dict[int, list[tuple[int, float]]] = self._of_pages(wire.AskFootprints, pages, kind, "pages")
        return found

    def texts(self, pages: Sequence[int]) -> dict[int, PageText]:
        """The texts of these pages with their mentions."""
        found: dict[int, PageText] = self._of_pages(wire.AskTexts, pages, dict[int, PageText], "pages")
        return found

    def urls(self, fingerprints: Sequence[int]) -> dict[int, tuple[str, str]]:
        """URLs that the node knows, with what became of them."""
        kind = dict[int, tuple[str, str]]
        found: dict[int, tuple[str, str]] = self._of_pages(wire.AskUrls, fingerprints, kind, "fingerprints")
        return found

    def links(self, page: int) -> PackedLinks | None:
        """The links of a page."""
        nothing: PackedLinks | None = None
        return self._ask(wire.AskLinks(page=page), PackedLinks | None, nothing)

    def is_archived(self, page: int) -> bool:
        """Whether the page has an archive record."""
        return self._ask(wire.AskArchived(page=page), bool, nothing=False)

    def archive_record(self, page: int) -> bytes | None:
        """The page's WARC record."""
        nothing: bytes | None = None
        return self._ask(wire.AskArchive(page=page), bytes | None, nothing)
