"""The commit: everything that a batch of finished leases brought, in one transaction of the node's database.

Page, places, entities, links, outcome, new URLs, links for other nodes and the host's next turn stand or fall
together. The WARC record is written before, and the row names its offset. A batch that fails leaves nothing behind,
on disk or here, so that it can be tried again when the disk has room. Runs in the one writer thread; everything else
reads.
"""

import json
import sqlite3
import sys
from array import array
from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus

import msgspec

from periplus.clock import Clock
from periplus.model import Analysis, Fetched, Lease, Outcome, Parcel, Place
from periplus.settings import ArchiveSettings
from periplus.store.accounts import count, note_confirmed, note_passed, receive, send
from periplus.store.archive import Archive, Seen, page_records, payload_digest, revisit_record
from periplus.store.batch import Batch, Committed, Completion, Delivery
from periplus.store.database import open_writer, storage_errors
from periplus.store.folder import NodeFolder
from periplus.store.known_urls import KnownUrls, mark_tried
from periplus.store.queueing import enough_spent, sweep
from periplus.store.records import archived_payload, warc_time
from periplus.store.revisits import bring_forward, mark_gone, mark_visited, queue_due
from periplus.store.rows import Rows
from periplus.store.twins import give_way, worse_twin
from periplus.urls import fingerprint, registrable_domain

__all__ = ["ARCHIVE_END", "Batch", "Committed", "Completion", "Delivery", "NodeStore", "archive_end", "place_row"]

ARCHIVE_END = "archive_end"
"""Key in `meta`: file and offset behind the last committed WARC record."""

ArchivePlace = tuple[str | None, int | None, int | None]
NOWHERE: ArchivePlace = (None, None, None)
SEEN = "SELECT url, fetched_at, warc_file, warc_offset, warc_length FROM page"


class NodeStore:
    """The writer's side of a node's database and archive."""

    def __init__(
        self,
        folder: NodeFolder,
        nodes: Iterable[str],
        settings: ArchiveSettings,
        *,
        agent: str,
        clock: Clock,
        sharers: int = 1,
    ) -> None:
        """`sharers`: how many nodes share the memory of the process."""
        self.folder = folder
        self._survives_power_loss = settings.durability == "full"
        self.db = open_writer(folder.database, durability=settings.durability, sharers=sharers)
        self.archive = Archive(folder.archive, folder.name, settings.warc_bytes, agent=agent, clock=clock)
        self.commits = 0
        self._new_places: list[int] = []
        self._rows = Rows(self.db)
        try:
            with storage_errors(folder.database):
                self._take_up(nodes)
        except BaseException:
            self.db.close()
            raise

    def _take_up(self, nodes: Iterable[str]) -> None:
        """What an earlier run has left."""
        self.urls = KnownUrls(self.db)
        self._places: set[int] = {row[0] for row in self.db.execute("SELECT id FROM place")}
        self._node_ids = self._number_nodes(nodes)
        self.in_cluster = False
        self.is_home = False
        """Whether the node remembers what it let through as a URL's home: in a cluster that forbids overlap."""
        self._next_page: int = self.db.execute("SELECT ifnull(max(id), 0) + 1 FROM page").fetchone()[0]
        self._revision: int = self.db.execute("SELECT ifnull(max(revision), 0) FROM page").fetchone()[0]
        self.archive.resume(*archive_end(self.db))

    @property
    def pages(self) -> int:
        """Pages that the node has."""
        return self._next_page - 1

    @property
    def hosts(self) -> int:
        """Hosts that the node knows."""
        return self.urls.hosts

    def close(self) -> None:
        """Let database and archive go."""
        self.archive.close()
        self.db.close()

    def commit(self, batch: Batch) -> Committed:
        """Write a batch: all of it or, with an error, nothing; after an error the same batch may be tried again."""
        before = (self._next_page, self._revision, self.archive.end)
        self.urls.begin()
        self._new_places = []
        self._rows = Rows(self.db)
        with storage_errors(self.folder.database):
            try:
                self.db.execute("BEGIN IMMEDIATE")
                result = self._write(batch)
                self.db.execute("COMMIT")
                self.commits += 1
            except BaseException:
                self._undo(*before)
                raise
        return result

    def _undo(self, next_page: int, revision: int, end: tuple[str, int]) -> None:
        """Forget what a failed batch has left in memory and in the archive."""
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")
        self._next_page, self._revision = next_page, revision
        self.urls.undo()
        self._places.difference_update(self._new_places)
        self.archive.resume(*end)

    def _write(self, batch: Batch) -> Committed:
        outbox: list[tuple[int, Parcel]] = []
        dropped: Counter[str] = Counter()
        queued = self.urls.add(self._rows, batch.seeds)
        nearer = (parcel.url for parcel in batch.nearer if parcel.receiver == self.folder.name)
        queued.extend(self.urls.add(self._rows, nearer))
        outbox.extend(send(self.db, [parcel for parcel in batch.nearer if parcel.receiver != self.folder.name]))
        for delivery in batch.deliveries:
            queued.extend(self.urls.add(self._rows, delivery.urls))
            outbox.extend(send(self.db, delivery.parcels))
            self._set_aside(delivery.beyond)
            receive(self.db, delivery)
            dropped.update(delivery.dropped)
        outcomes: Counter[str] = Counter()
        for completion in batch.completions:
            self._complete(self._in_place_of_worse(completion))
            queued.extend(self.urls.add(self._rows, completion.new_urls))
            outbox.extend(send(self.db, completion.parcels))
            self._set_aside(completion.beyond)
            outcomes[completion.outcome] += 1
            for reason, number in completion.dropped.items():
                dropped[reason] += number
        self._rows.flush()
        swept = self._sweep(at_least=1 if batch.due_until else enough_spent(self.hosts))
        if batch.due_until:
            queued.extend(queue_due(self.db, batch.due_until))
        count(self.db, "outcome", "name", outcomes)
        count(self.db, "dropped", "reason", dropped)
        if self.is_home:
            note_passed(self.db, (parcel for _, parcel in outbox))
        note_confirmed(self.db, batch.confirmed, kept=self.in_cluster)
        for record in batch.robots:
            self.db.execute(
                "INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?)",
                (record.origin, record.status, record.body, record.fetched_at, record.expires_at, record.failures),
            )
        self._note_archive_end()
        return Committed(queued, outbox, self.urls.revalue(batch.revalued), swept)

    def _sweep(self, at_least: int) -> bool:
        """Whether what has ended was taken out of the queue: if there is enough of it.

        Before URLs come back to the queue all of it is: what is spent of them would be looked for one by one.
        """
        enough: bool = self.db.execute("SELECT ifnull(max(sequence), 0) >= ? FROM spent", (at_least,)).fetchone()[0]
        if enough:
            sweep(self.db)
        return bool(enough)

    def _note_archive_end(self) -> None:
        """What lies behind this in the archive does not count, should the process die before the next commit."""
        self.archive.flush()
        if self.archive.is_open:
            if self._survives_power_loss:
                self.archive.sync()
            file, offset = self.archive.end
            self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (ARCHIVE_END, f"{offset} {file}"))

    # -- Frontier rows -----------------------------------------------------------------------------

    def _set_aside(self, beyond: Iterable[Parcel]) -> None:
        self._rows.insert_all(
            "OR IGNORE INTO beyond",
            [
                (far.url.fingerprint, far.url.url, far.receiver, far.url.priority, far.url.depth, far.url.redirects)
                for far in beyond
            ],
        )

    def _complete(self, done: Completion) -> None:
        lease, host_id = done.lease, self.urls.host_id(done.lease.host)
        if done.visited_at or done.revisit:
            mark_visited(self._rows, done, host_id)
            self._note_change(done)
        else:
            mark_tried(self._rows, done, host_id)
        self._rows.update(
            "UPDATE host SET not_before = max(not_before, ?) WHERE id = ?", (done.host_not_before, host_id)
        )
        if done.analysis is not None and done.fetched is not None:
            self._add_page(done, done.fetched, done.analysis)
        elif done.outcome is Outcome.NOT_MODIFIED and done.fetched is not None:
            self._archive_unchanged(lease, done.fetched)
        if done.lastmods:
            self._rows.flush()
            bring_forward(self.db, done.lastmods)

    def _in_place_of_worse(self, done: Completion) -> Completion:
        """A duplicate with a better URL than the page it is one of takes its place; of each there are as many."""
        found = done.analysis
        if done.outcome is not Outcome.DUPLICATE or found is None:
            return done
        self._rows.flush()
        is_version = 0 in found.links.steps
        worse = worse_twin(self.db, done.lease.url, found.content_digest, is_version=is_version)
        if worse is None:
            return done
        self._revision += 1
        give_way(self.db, worse, self._revision)
        return msgspec.structs.replace(done, outcome=Outcome.KEPT)

    def _note_change(self, done: Completion) -> None:
        """What is new about the page of a URL that was read."""
        gone = done.outcome is Outcome.GONE and not done.lease.sitemap
        if gone or done.analysis is not None:
            what = "gone" if gone else "changed" if done.lease.visits else "new"
            self._rows.insert("INTO page_change", (done.lease.url_id, done.visited_at, what))
        if gone:
            self._revision += 1
            self._rows.flush()
            mark_gone(self.db, done.lease.url_id, self._revision)

    # -- Page rows ---------------------------------------------------------------------------------

    def _add_page(self, done: Completion, fetched: Fetched, found: Analysis) -> None:
        kept = done.outcome is Outcome.KEPT
        page_id = self._page_id(done.lease)
        self._revision += 1
        warc = self._archive_page(done, fetched, found)
        for weighted in found.places:
            if weighted.place.id not in self._places:
                self._add_place(weighted.place)
        self._rows.insert(
            "OR REPLACE INTO page",
            (
                page_id,
                done.lease.url_id,
                fingerprint(done.lease.url),
                done.lease.url,
                registrable_domain(done.lease.host),
                done.outcome.value,
                int(kept),
                self._revision,
                done.lease.depth,
                found.title,
                found.description,
                found.language,
                found.published.isoformat() if found.published else None,
                fetched.fetched_at.isoformat(timespec="seconds"),
                fetched.seconds,
                len(fetched.body),
                found.content_digest,
                found.score.keyword_relevance,
                found.score.place_relevance,
                done.topic,
                found.main_place,
                *warc,
                fetched.header("ETag"),
                fetched.header("Last-Modified"),
            ),
        )
        if done.group:
            self._rows.insert("OR REPLACE INTO page_likeness", (page_id, found.likeness, done.group))
        if kept:
            self._rows.insert("INTO page_text", (page_id, found.text, found.mentions))
        self._add_geography(page_id, found)
        self._add_links(page_id, found)

    def _page_id(self, lease: Lease) -> int:
        """A new number for a new page; a page that is read again keeps its own, and what it brought before goes."""
        row = None
        if lease.visits:
            self._rows.flush()
            row = self.db.execute("SELECT id FROM page WHERE url_id = ?", (lease.url_id,)).fetchone()
        if row is None:
            page_id, self._next_page = self._next_page, self._next_page + 1
            return page_id
        for table in ("page_text", "page_place", "entity", "link"):
            self.db.execute(f"DELETE FROM {table} WHERE page_id = ?", row)
        return int(row[0])

    def _archive_page(self, done: Completion, fetched: Fetched, found: Analysis) -> ArchivePlace:
        """Archive a kept page whole and a duplicate as a revisit, if its body is one that is archived already."""
        if not found.warc:
            return NOWHERE
        if done.outcome is Outcome.KEPT:
            return self.archive.append(*found.warc)
        if done.outcome is Outcome.DUPLICATE:
            self._rows.flush()
            row = self.db.execute(f"{SEEN} WHERE content_digest = ? AND kept = 1 LIMIT 1", (found.content_digest,))
            seen = self._seen(row.fetchone())
            if seen is not None and seen.payload_digest == found.payload:
                return self.archive.append(revisit_record(fetched, seen), *found.warc[1:])
        return NOWHERE

    def _archive_unchanged(self, lease: Lease, fetched: Fetched) -> None:
        """The page says what it said before: a revisit record, if there is a record to refer to.

        The text may be the same while the body is not; then the body is archived as it came.
        """
        self._rows.flush()
        seen = self._seen(self.db.execute(f"{SEEN} WHERE url_id = ?", (lease.url_id,)).fetchone())
        if seen is None:
            return
        same = fetched.status == HTTPStatus.NOT_MODIFIED or payload_digest(fetched.body) == seen.payload_digest
        response, *others = page_records(fetched, {})
        self.archive.append(revisit_record(fetched, seen) if same else response, *others)

    def _seen(self, row: tuple[str, str, str, int, int] | None) -> Seen | None:
        """The archived response that a row of `page` stands for."""
        if row is None or row[2] is None:
            return None
        url, fetched_at, file, offset, length = row
        self.archive.flush()  # it may be of this batch
        return Seen(url, warc_time(fetched_at), archived_payload(self.folder.archive / file, offset, length))

    def _add_geography(self, page_id: int, found: Analysis) -> None:
        self._rows.insert_all(
            "INTO page_place", [(page_id, weighted.place.id, weighted.weight) for weighted in found.places]
        )
        self._rows.insert_all(
            "INTO entity",
            [(page_id, entity.place_id, entity.key, entity.level, entity.owner) for entity in found.entities],
        )

    def _add_links(self, page_id: int, found: Analysis) -> None:
        if not found.links:
            return
        links = found.links
        self._rows.insert(
            "INTO link (page_id, fingerprints, nodes, steps, parts, anchors)",
            (
                *(page_id, _little_endian(array("q", links.marks)), self._packed_nodes(links.nodes)),
                *(links.steps if links.steps.strip(b"\x01") else b"", links.parts, found.anchors),
            ),
        )

    def _packed_nodes(self, nodes: tuple[str, ...]) -> bytes:
        """The numbers of the nodes that links were assigned to; mostly all to one."""
        if len(set(nodes)) == 1:
            return _little_endian(array("H", [self._node_ids[nodes[0]]]) * len(nodes))
        return _little_endian(array("H", [self._node_ids[node] for node in nodes]))

    def _add_place(self, place: Place) -> None:
        self._places.add(place.id)
        self._new_places.append(place.id)
        self._rows.insert("INTO place", place_row(place))

    def _number_nodes(self, nodes: Iterable[str]) -> dict[str, int]:
        """Number the job's nodes in the order of their names; the same in every database of the crawl."""
        self.db.executemany("INSERT OR IGNORE INTO node_name VALUES (?, ?)", list(enumerate(sorted(nodes))))
        return dict(self.db.execute("SELECT name, id FROM node_name").fetchall())


def _little_endian(numbers: "array[int]") -> bytes:
    """Numbers as the database has them."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def place_row(place: Place) -> tuple[int | float | str, ...]:
    """A place as the table `place` has it."""
    path, ancestors = json.dumps(place.path, ensure_ascii=False), json.dumps(place.ancestors)
    named = (place.id, place.name, place.kind, place.country, place.admin1)
    return (*named, place.point.lon, place.point.lat, place.population, path, ancestors)


def archive_end(db: sqlite3.Connection) -> tuple[str | None, int]:
    """Where the committed part of the archive ends: its last file (None: there is none) and the offset in it."""
    noted = db.execute("SELECT value FROM meta WHERE key = ?", (ARCHIVE_END,)).fetchone()
    if noted is not None:
        offset, _, file = noted[0].partition(" ")
        return file, int(offset)
    last = db.execute(  # written before the end was noted
        "SELECT warc_file, warc_offset + warc_length FROM page WHERE warc_file IS NOT NULL ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return last or (None, 0)
