"""The full-text index of one node: kept up to date from `node.db`, asked with `IndexQuery`.

How far it has read is a document of the index itself, written in the same commit as the pages. After kill -9
the index is exactly at its last commit and says so: nothing is lost and nothing is there twice.
"""

import fcntl
import json
import re
import shutil
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from tantivy import Index, IndexWriter, Query, Searcher

from periplus.errors import EnvironmentFailure, FolderInUse
from periplus.index.analysis import ANALYSIS_VERSION, TOKENIZER, WORDS, final_analyzer, prepare, word_analyzer
from periplus.index.anchors import Anchors, discard_anchors, may_be_damaged
from periplus.index.query import IndexQuery, compile_query
from periplus.index.ranking import RankedPage, Ranking, ranking
from periplus.index.reading import Change, Cursor, last_revision, read_again, read_changes, read_kept, read_places
from periplus.index.recent import RecentLinks
from periplus.index.schema import CURSOR_KEY, IndexedPlace, build_schema, cursor_document, page_document, page_key
from periplus.index.troubles import index_errors
from periplus.index.view import View, can_be_written
from periplus.store.database import storage_errors

__all__ = ["MOST_HITS", "NodeIndex"]

HEAP_BYTES = 128_000_000
"""Memory of the writer before it writes a segment."""

COMMIT_CHARACTERS = 60_000_000
COMMIT_PAGES = 20_000
"""Text and pages of a commit. Every commit is a segment with a dictionary of its own, which is merged with others: the
more share one, the less is merged and the smaller is the whole. More would be read again when the process dies while
indexing (these are some six seconds), and would not fit into the writer's memory."""

AGAIN_PAGES = 1_000
"""Pages that are indexed again at once, since many more links speak of them."""

MANY_SEGMENTS, FEW_PAGES = 4, 1_000
"""An index of so few pages in so many segments is written anew when a crawl ends: that takes a second at most, and a
quarter of it goes, since every segment has a dictionary of its own."""

BATCH_PAGES = 200
"""Pages read from the database at once."""

LIKENESS_CHARACTERS = 20_000
"""How much of a text is looked at for pages like it."""

EARLIER_STATES = 24
"""States of the index that are kept so that somebody who pages through results sees the same ones."""

MOST_HITS = 10_000
"""Hits that a question can ask for; tantivy reserves memory for all of them and aborts if there is none."""


_SEGMENT_FILE = re.compile(r"[0-9a-f]{32}\..+")


class NodeIndex:
    """One node's index. Any thread may ask; updates take turns."""

    def __init__(self, path: Path, index: Index, view: View | None = None) -> None:
        self._path = path
        self._view = view
        self._index = index
        self._schema = index.schema
        self._turn = threading.Lock()
        self._places: dict[int, IndexedPlace] = {}
        self._links_read: dict[str, int] | None = None
        self._recent_links = RecentLinks()
        self._earlier: OrderedDict[int, Searcher] = OrderedDict()
        self._last_page = 0  # the highest number of a page that may stand in the index
        self._adopt()

    @classmethod
    def open(cls, path: Path, *, create: bool = True) -> "NodeIndex":
        """Open the index in `path`. With `create`, one that is missing or of another version is made anew, empty.

        Without it, a missing one is an EnvironmentFailure that says how it comes to be. One that cannot be written to
        is read as it is.
        """
        exists = (path / "meta.json").is_file()
        if not exists and not create:
            raise EnvironmentFailure(f"{path}: no index yet; it is built while crawling and by opening the collection")
        with storage_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        with index_errors(path):
            view = None if can_be_written(path) else View(path)
            if exists and not _same_schema(view.path if view else path):
                if view or not create:
                    raise EnvironmentFailure(f"{path}: index of another version; it is rebuilt by the next crawl")
                shutil.rmtree(path)
                path.mkdir(parents=True)
            index = Index(build_schema(), path=str(view.path if view else path))
            index.register_tokenizer(TOKENIZER, final_analyzer())
            index.register_tokenizer(WORDS, word_analyzer())
            index.config_reader("manual")
            return cls(path, index, view)

    # -- Keeping up ------------------------------------------------------------------------------

    def update(
        self,
        db: sqlite3.Connection,
        progress: Callable[[int], None] | None = None,
        *,
        latest: Mapping[str, int] | None = None,
        again: bool = True,
    ) -> int:
        """Bring the index up to the node's last revision; returns how many rows were read.

        Costs one look at the databases when nothing is new; `latest` spares it: the last revisions of all nodes of the
        crawl, whose links are read as well. `again`: also pages that many more links speak of by now. `progress` gets
        the count after each commit. What is written meanwhile is left for the next time: a crawl may be faster than we
        are, and a page that is indexed later is indexed with more links. Raises FolderInUse if another process (or
        thread) writes this index now. What cannot be written to is only looked at again.
        """
        if self._view is not None:
            self.refresh()
            return 0
        with index_errors(self._path):
            if last_revision(db) == self._cursor.revision and not (again and self._has_new_links(latest)):
                return 0  # links alone change no page before it is indexed again

        def work(writer: IndexWriter, anchors: Anchors) -> int:
            self._adopt()
            if last_revision(db) < self._cursor.revision:  # the database was replaced by another one
                self._clear(writer, anchors)
            return self._catch_up(db, writer, anchors, progress, again=again)

        if not self._turn.acquire(blocking=False):
            raise FolderInUse(f"{self._path}: another thread is writing this index; try again later")
        try:
            return self._write(work)
        finally:
            self._turn.release()

    def rebuild(self, db: sqlite3.Connection, progress: Callable[[int], None] | None = None) -> int:
        """Forget everything and read the node from its first page; returns how many rows were read."""

        def work(writer: IndexWriter, anchors: Anchors) -> int:
            self._clear(writer, anchors)
            return self._catch_up(db, writer, anchors, progress)

        with self._turn:
            return self._write(work, sweeps=True)

    def gather(self, db: sqlite3.Connection) -> None:
        """Write a small index anew, in one commit, if it lies in many segments; for the end of a crawl."""
        segments = self._meta()["segments"]
        if len(segments) < MANY_SEGMENTS or sum(segment["max_doc"] for segment in segments) > FEW_PAGES:
            return

        def work(writer: IndexWriter, anchors: Anchors) -> int:
            writer.delete_all_documents()
            cursor = Cursor()
            while changes := read_changes(db, cursor, BATCH_PAGES):
                anchors.note_indexed(self._add(db, writer, anchors, changes))
                cursor = changes[-1].cursor
            self._commit(writer, cursor)
            return 0

        with self._turn:
            self._write(work, sweeps=True)

    def _write(self, work: Callable[[IndexWriter, Anchors], int], *, sweeps: bool = False) -> int:
        """What `work` gives, for who holds the turn; once more without the texts of links if those cannot be read.

        `sweeps`: what was there before leaves the disk as well.
        """
        with index_errors(self._path):
            try:
                with self._writer() as writer, self._anchors() as anchors:
                    done = work(writer, anchors)
            except sqlite3.DatabaseError as error:
                if not may_be_damaged(error):
                    raise
                with self._writer() as writer:
                    discard_anchors(self._path)
                    with self._anchors() as anchors:
                        done = work(writer, anchors)
            if sweeps:
                with self._writer():  # writes nothing
                    pass
        return done

    def _has_new_links(self, latest: Mapping[str, int] | None) -> bool:
        if latest is not None and latest == self._links_read:
            return False
        try:
            with self._anchors() as anchors:
                return anchors.is_behind(latest)
        except sqlite3.DatabaseError as error:
            if may_be_damaged(error):
                return True  # whoever writes makes them anew
            raise

    def refresh(self) -> bool:
        """See what another process has committed since; whether there was anything."""
        before = self._cursor
        with index_errors(self._path):
            self._adopt()
        return self._cursor != before

    @contextmanager
    def _anchors(self) -> Iterator[Anchors]:
        with closing(Anchors(self._path, self._recent_links)) as anchors:
            try:
                yield anchors
            except BaseException:
                self._recent_links.clear()  # what was added may have been taken back
                raise

    @contextmanager
    def _writer(self) -> Iterator[IndexWriter]:
        writer = self._index.writer(heap_size=HEAP_BYTES, num_threads=1)
        self._sweep()
        try:
            yield writer
        finally:
            writer.wait_merging_threads()
            self._adopt()

    def _sweep(self) -> None:
        """Delete files that the last commit does not name; for who holds the writer's lock.

        A process that was killed leaves some, and so do processes that write in turn: tantivy deletes only files that
        it remembers itself. Its second lock keeps readers from opening a commit meanwhile.
        """
        for leftover in self._path.glob(".tmp*"):
            leftover.unlink(missing_ok=True)
        with (self._path / ".tantivy-meta.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            named = {segment["segment_id"].replace("-", "") for segment in self._meta()["segments"]}
            for file in self._path.glob("*.*"):
                if _SEGMENT_FILE.fullmatch(file.name) and file.name.partition(".")[0] not in named:
                    file.unlink(missing_ok=True)

    def _clear(self, writer: IndexWriter, anchors: Anchors) -> None:
        writer.delete_all_documents()
        anchors.clear()
        self._cursor = Cursor()
        self._places.clear()

    def _catch_up(
        self,
        db: sqlite3.Connection,
        writer: IndexWriter,
        anchors: Anchors,
        progress: Callable[[int], None] | None,
        *,
        again: bool = True,
    ) -> int:
        if anchors.is_new() and self._cursor != Cursor():
            anchors.begin_with(read_kept(db, self._cursor))
        self._links_read = anchors.take_up()
        done = uncommitted = characters = 0
        cursor, last = self._cursor, last_revision(db)
        while changes := read_changes(db, cursor, BATCH_PAGES, last):
            anchors.note_indexed(self._add(db, writer, anchors, changes))
            cursor = changes[-1].cursor
            done += len(changes)
            uncommitted += len(changes)
            characters += sum(len(change.page.text) for change in changes if change.page)
            if uncommitted >= COMMIT_PAGES or characters >= COMMIT_CHARACTERS:
                self._commit(writer, cursor)
                uncommitted = characters = 0
                if progress:
                    progress(done)
        if uncommitted or cursor == Cursor():
            self._commit(writer, cursor)
        return done + self._index_again(db, writer, anchors) if again else done

    def _index_again(self, db: sqlite3.Connection, writer: IndexWriter, anchors: Anchors) -> int:
        """Pages that many more links speak of than when they were indexed."""
        done = 0
        while pages := anchors.outgrown(AGAIN_PAGES):
            indexed = self._add(db, writer, anchors, read_again(db, pages))
            self._commit(writer, self._cursor)
            anchors.note_indexed(indexed)
            anchors.forget(set(pages) - {page for _, page, _ in indexed})
            done += len(pages)
        return done

    def _add(
        self, db: sqlite3.Connection, writer: IndexWriter, anchors: Anchors, changes: Sequence[Change]
    ) -> list[tuple[int, int, int]]:
        """Hand pages to the writer; gives fingerprint, number and how many texts of links, of each that is kept."""
        pages = [change.page for change in changes if change.page]
        missing = {place for page in pages for place in (*page.places, page.main_place) if place is not None}
        self._places |= read_places(db, missing - self._places.keys())
        texts = anchors.texts(page.fingerprint for page in pages)
        for change in changes:
            if change.cursor.page_id <= self._last_page:  # numbers only grow: a higher one is new
                writer.delete_documents_by_term("key", page_key(change.cursor.page_id))
            if page := change.page:
                self._last_page = max(self._last_page, page.id)
                writer.add_document(page_document(page, self._places, texts.get(page.fingerprint, ())))
        return [(page.fingerprint, page.id, len(texts.get(page.fingerprint, ()))) for page in pages]

    def _commit(self, writer: IndexWriter, cursor: Cursor) -> None:
        writer.delete_documents_by_term("key", CURSOR_KEY)
        writer.add_document(cursor_document(cursor.revision, cursor.page_id))
        writer.commit()
        self._cursor = cursor

    def _adopt(self) -> None:
        """Look at the last commit and read what it says about itself."""
        if self._view is not None:
            self._view.look()
        self._index.reload()
        searcher = self._searcher = self._index.searcher()
        answer = self._searcher.aggregate(
            Query.all_query(),
            {
                "revision": {"max": {"field": "cursor_revision"}},
                "page": {"max": {"field": f"cursor_page_{ANALYSIS_VERSION}"}},
                "last": {"max": {"field": "page"}},
                "languages": {"terms": {"field": "language", "size": 100}},
            },
        )
        revision, page = answer["revision"]["value"], answer["page"]["value"]
        self._cursor = Cursor() if revision is None else Cursor(int(revision), int(page))
        self._last_page = int(answer["last"]["value"] or 0)
        self._stamp = int(self._meta()["opstamp"])
        self._earlier[self._stamp] = searcher
        if len(self._earlier) > EARLIER_STATES:
            self._earlier.popitem(last=False)
        self._languages = frozenset(bucket["key"] for bucket in answer["languages"]["buckets"])

    def _meta(self) -> Any:
        """What tantivy says about its last commit."""
        return json.loads((self._path / "meta.json").read_bytes())

    # -- Asking ----------------------------------------------------------------------------------

    @property
    def languages(self) -> frozenset[str]:
        """Languages of the indexed pages, as two-letter codes."""
        return self._languages

    @property
    def revision(self) -> int:
        """The node's revision up to which the index has read; -1 when it is empty."""
        return self._cursor.revision

    @property
    def stamp(self) -> int:
        """A number that grows with every commit."""
        return self._stamp

    def tally(self) -> tuple[int, int]:
        """How many pages the index holds and the sum of their numbers: what `verify` compares with the database."""
        answer = self._searcher.aggregate(Query.all_query(), {"pages": {"stats": {"field": "page"}}})["pages"]
        return int(answer["count"]), int(answer["sum"] or 0)

    def count(self, query: IndexQuery) -> int:
        """How many pages answer the question."""
        return int(cast("Any", self._searcher.search(self._compile(query), 1)).count)

    def top(self, query: IndexQuery, most: int, *, by_time: bool = False, stamp: int | None = None) -> Ranking:
        """The best `most` pages by text score, or the newest ones; undated pages come last.

        `stamp`: as the index was then, if this process still remembers that.
        """
        if not 1 <= most <= MOST_HITS:
            raise ValueError(f"{most} hits asked for; between 1 and {MOST_HITS} are possible")
        searcher = self._searcher if stamp is None else self._earlier.get(stamp, self._searcher)
        return ranking(searcher, self._compile(query), most, by_time=by_time)

    def counts(self, query: IndexQuery, fields: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """How many of the pages that answer have each value of the fields, the most frequent first.

        `fields` says how many values of each are wanted.
        """
        wanted = {field: {"terms": {"field": field, "size": most}} for field, most in fields.items()}
        answer = self._searcher.aggregate(self._compile(query), wanted)
        return {
            field: {str(bucket["key"]): bucket["doc_count"] for bucket in answer[field]["buckets"]} for field in fields
        }

    def numbers(self, query: IndexQuery, field: str, most: int) -> dict[int, int]:
        """The same for one field of whole numbers: `day`, `month`, `place`, `main_place`."""
        answer = self._searcher.aggregate(self._compile(query), {"n": {"terms": {"field": field, "size": most}}})
        return {int(bucket["key"]): bucket["doc_count"] for bucket in answer["n"]["buckets"]}

    def words(self, prefix: str, most: int | None = None) -> list[tuple[str, int]]:
        """Whole words of titles and descriptions that begin so, lower-case, with how many pages have them."""
        return [(str(word), int(count)) for word, count in self._searcher.terms_with_prefix("word", prefix, limit=most)]

    def similar(self, title: str, text: str, language: str, most: int) -> list[RankedPage]:
        """Pages that share the most telling words with this text, the page it is of included."""
        fields = {"title": [prepare(title, language)], "text": [prepare(text[:LIKENESS_CHARACTERS], language)]}
        # Frequencies count replaced pages too, and a word in more pages than there are makes tantivy panic.
        most_pages = max(2, self._searcher.num_docs)
        query = Query.more_like_this_document_fields_query(
            self._schema,
            fields,
            min_doc_frequency=2,
            max_doc_frequency=most_pages,
            max_query_terms=20,
            min_word_length=4,
        )
        return list(ranking(self._searcher, query, most).hits)

    def _compile(self, query: IndexQuery) -> Query:
        return compile_query(query, self._schema, self._languages)


def _same_schema(path: Path) -> bool:
    try:
        Index(build_schema(), path=str(path))
    except ValueError as error:
        if "schema does not match" in str(error):
            return False
        raise
    return True
