"""The commit: everything that a batch of finished leases brought, in one transaction of the node's database.

Page, places, entities, links, outcome, new URLs, links for other nodes and the host's next turn stand or fall
together. The WARC record is written before, and the row names its offset. A batch that fails leaves nothing behind.
Runs in the one writer thread; everything else reads.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from periplus.clock import Clock
from periplus.fetch import RobotsRecord
from periplus.frontier import UrlState, state_after
from periplus.model import Analysis, Fetched, Lease, NewUrl, Outcome, Parcel, Place
from periplus.settings import ArchiveSettings
from periplus.store.archive import Archive
from periplus.store.database import open_writer, storage_errors
from periplus.store.folder import NodeFolder
from periplus.urls import fingerprint, registrable_domain

__all__ = ["Batch", "Committed", "Completion", "Delivery", "NodeStore"]


MAX_QUEUED_KNOWN = 500_000


@dataclass(frozen=True, slots=True)
class Completion:
    """How one lease ended."""

    lease: Lease
    outcome: Outcome
    host_not_before: float = 0.0  # Unix time, as is:
    retry_at: float = 0.0
    fetched: Fetched | None = None
    analysis: Analysis | None = None
    topic: str = ""
    new_urls: tuple[NewUrl, ...] = ()
    parcels: tuple[Parcel, ...] = ()
    beyond: tuple[Parcel, ...] = ()
    redirect: int | None = None  # fingerprint of the target
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delivery:
    """URLs from another node, up to and including `sequence` of its outbox."""

    sender: str
    sequence: int
    urls: tuple[NewUrl, ...]
    received: int
    duplicate: int = 0


@dataclass(slots=True)
class Batch:
    """What one transaction writes."""

    completions: list[Completion] = field(default_factory=list)
    seeds: list[NewUrl] = field(default_factory=list)
    nearer: list[Parcel] = field(default_factory=list)  # URLs from `beyond` to which a shorter way has appeared
    deliveries: list[Delivery] = field(default_factory=list)
    confirmed: dict[str, int] = field(default_factory=dict)  # receiver -> sequence that it has committed
    robots: list[RobotsRecord] = field(default_factory=list)
    revalued: list[tuple[int, float]] = field(default_factory=list)  # fingerprint, priority; of URLs known already

    def __bool__(self) -> bool:
        return bool(self.revalued) or bool(
            self.completions or self.seeds or self.nearer or self.deliveries or self.confirmed or self.robots
        )


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of a batch: URLs that joined the frontier, with their hosts' rows, and rows of the outbox."""

    queued: list[tuple[Lease, int]]
    outbox: list[tuple[int, Parcel]]
    revalued: list[Lease] = field(default_factory=list)  # queued URLs with their new priorities


class NodeStore:
    """The writer's side of a node's database and archive."""

    def __init__(
        self, folder: NodeFolder, nodes: Iterable[str], settings: ArchiveSettings, *, agent: str, clock: Clock
    ) -> None:
        self.folder = folder
        self.db = open_writer(folder.database, durability=settings.durability)
        self.archive = Archive(folder.archive, folder.name, settings.warc_bytes, agent=agent, clock=clock)
        self._hosts: dict[str, int] = dict(self.db.execute("SELECT name, id FROM host").fetchall())
        self._places: set[int] = {row[0] for row in self.db.execute("SELECT id FROM place")}
        self._node_ids = self._number_nodes(nodes)
        self.revalues = False
        """Whether URLs that are queued may change their priority: in crawls with a topic."""
        self._queued: dict[int, tuple[int, str]] = {}  # fingerprint -> id and host, of URLs added in this run
        self._next_url = self._next("url")
        self._next_page = self._next("page")
        self._revision: int = self.db.execute("SELECT ifnull(max(revision), 0) FROM page").fetchone()[0]
        last = self.db.execute(
            "SELECT warc_file, warc_offset + warc_length FROM page WHERE warc_file IS NOT NULL ORDER BY id DESC LIMIT 1"
        ).fetchone()
        self.archive.resume(*(last or (None, 0)))

    def close(self) -> None:
        """Let database and archive go."""
        self.archive.close()
        self.db.close()

    def commit(self, batch: Batch) -> Committed:
        """Write a batch: all of it or, with an error, nothing. After an error the store has to be opened anew."""
        with storage_errors(self.folder.database):
            self.db.execute("BEGIN IMMEDIATE")
            try:
                result = self._write(batch)
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise
        return result

    def _write(self, batch: Batch) -> Committed:
        queued: list[tuple[Lease, int]] = []
        outbox: list[tuple[int, Parcel]] = []
        self._add_urls(batch.seeds, queued)
        self._add_urls((parcel.url for parcel in batch.nearer if parcel.receiver == self.folder.name), queued)
        outbox.extend(self._send([parcel for parcel in batch.nearer if parcel.receiver != self.folder.name]))
        for delivery in batch.deliveries:
            self._add_urls(delivery.urls, queued)
            self._receive(delivery)
        outcomes: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        for completion in batch.completions:
            self._complete(completion)
            self._add_urls(completion.new_urls, queued)
            outbox.extend(self._send(completion.parcels))
            self._set_aside(completion.beyond)
            outcomes[completion.outcome] += 1
            dropped.update(completion.dropped)
        self._count("outcome", "name", outcomes)
        self._count("dropped", "reason", dropped)
        for receiver, sequence in batch.confirmed.items():
            self.db.execute("DELETE FROM outbox WHERE receiver = ? AND sequence <= ?", (receiver, sequence))
        for record in batch.robots:
            self.db.execute(
                "INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?)",
                (record.origin, record.status, record.body, record.fetched_at, record.expires_at, record.failures),
            )
        return Committed(queued, outbox, self._revalue(batch.revalued))

    # -- Frontier rows -----------------------------------------------------------------------------

    def _add_urls(self, urls: Iterable[NewUrl], queued: list[tuple[Lease, int]]) -> None:
        rows = []
        for new in urls:
            host_id = self._host_id(new.host)
            url_id, self._next_url = self._next_url, self._next_url + 1
            rows.append(
                (url_id, new.fingerprint, new.url, host_id, UrlState.QUEUED, new.priority, new.depth, new.redirects)
            )
            if self.revalues:
                if len(self._queued) >= MAX_QUEUED_KNOWN:
                    del self._queued[next(iter(self._queued))]
                self._queued[new.fingerprint] = (url_id, new.host)
            queued.append((Lease(url_id, new.url, new.host, new.depth, new.redirects, new.priority, 0), host_id))
        self.db.executemany(
            "INSERT INTO url (id, fingerprint, url, host_id, state, priority, depth, redirects) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def _revalue(self, changed: Iterable[tuple[int, float]]) -> list[Lease]:
        """Queued URLs get the priority that all their parents say; what is fetched already stays as it was."""
        leases = []
        for mark, priority in changed:
            url_id, host = self._queued.get(mark, (0, ""))
            row = self.db.execute(
                "UPDATE url SET priority = ? WHERE id = ? AND state = ? RETURNING url, depth, redirects, attempts",
                (priority, url_id, UrlState.QUEUED),
            ).fetchone()
            if row is not None:
                url, depth, redirects, attempts = row
                leases.append(Lease(url_id, url, host, depth, redirects, priority, attempts))
        return leases

    def _set_aside(self, beyond: Iterable[Parcel]) -> None:
        self.db.executemany(
            "INSERT OR IGNORE INTO beyond VALUES (?, ?, ?, ?, ?, ?)",
            [
                (far.url.fingerprint, far.url.url, far.receiver, far.url.priority, far.url.depth, far.url.redirects)
                for far in beyond
            ],
        )

    def _host_id(self, host: str) -> int:
        host_id = self._hosts.get(host)
        if host_id is None:
            cursor = self.db.execute("INSERT INTO host (name, domain) VALUES (?, ?)", (host, registrable_domain(host)))
            host_id = self._hosts[host] = cursor.lastrowid or 0
        return host_id

    def _complete(self, done: Completion) -> None:
        lease = done.lease
        self.db.execute(
            "UPDATE url SET state = ?, outcome = ?, attempts = ?, not_before = ?, redirect = ? WHERE id = ?",
            (state_after(done.outcome), done.outcome, lease.attempts + 1, done.retry_at, done.redirect, lease.url_id),
        )
        self.db.execute(
            "UPDATE host SET not_before = max(not_before, ?) WHERE id = ?",
            (done.host_not_before, self._host_id(lease.host)),
        )
        if done.analysis is not None and done.fetched is not None:
            self._queued.pop(fingerprint(lease.url), None)
            self._add_page(done, done.fetched, done.analysis)

    # -- Page rows ---------------------------------------------------------------------------------

    def _add_page(self, done: Completion, fetched: Fetched, found: Analysis) -> None:
        kept = done.outcome is Outcome.KEPT
        page_id, self._next_page = self._next_page, self._next_page + 1
        self._revision += 1
        warc: tuple[str | None, int | None, int | None] = (None, None, None)
        if kept and found.warc:
            warc = self.archive.append(found.warc)
        for weighted in found.places:
            self._add_place(weighted.place)
        self.db.execute(
            "INSERT INTO page VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                page_id,
                done.lease.url_id,
                fingerprint(done.lease.url),
                done.lease.url,
                registrable_domain(done.lease.host),
                done.outcome,
                kept,
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
        if kept:
            self.db.execute("INSERT INTO page_text VALUES (?, ?, ?)", (page_id, found.text, found.mentions))
        self._add_geography(page_id, found)
        self._add_links(page_id, found)

    def _add_geography(self, page_id: int, found: Analysis) -> None:
        self.db.executemany(
            "INSERT INTO page_place VALUES (?, ?, ?)",
            [(page_id, weighted.place.id, weighted.weight) for weighted in found.places],
        )
        self.db.executemany(
            "INSERT INTO entity VALUES (?, ?, ?, ?, ?)",
            [(page_id, entity.place_id, entity.key, entity.level, entity.owner) for entity in found.entities],
        )

    def _add_links(self, page_id: int, found: Analysis) -> None:
        if not found.links:
            return
        fingerprints = np.array([link.fingerprint for link in found.links], dtype="<i8")
        nodes = np.array([self._node_ids[link.node] for link in found.links], dtype="<u2")
        steps = bytes(link.steps for link in found.links)
        parts = b"".join(link.parts for link in found.links)
        self.db.execute(
            "INSERT INTO link (page_id, fingerprints, nodes, steps, parts) VALUES (?, ?, ?, ?, ?)",
            (page_id, fingerprints.tobytes(), nodes.tobytes(), steps if any(n != 1 for n in steps) else b"", parts),
        )

    def _add_place(self, place: Place) -> None:
        if place.id in self._places:
            return
        self._places.add(place.id)
        self.db.execute(
            "INSERT INTO place VALUES (?,?,?,?,?,?,?,?,?,?)",
            (
                place.id,
                place.name,
                place.kind,
                place.country,
                place.admin1,
                place.point.lon,
                place.point.lat,
                place.population,
                json.dumps(place.path, ensure_ascii=False),
                json.dumps(place.ancestors),
            ),
        )

    # -- Exchange rows and accounts ----------------------------------------------------------------

    def _send(self, parcels: Iterable[Parcel]) -> list[tuple[int, Parcel]]:
        sent = []
        for parcel in parcels:
            url = parcel.url
            cursor = self.db.execute(
                "INSERT INTO outbox (receiver, url, priority, depth, redirects) VALUES (?, ?, ?, ?, ?)",
                (parcel.receiver, url.url, url.priority, url.depth, url.redirects),
            )
            sent.append((cursor.lastrowid or 0, parcel))
        for receiver, count in Counter(parcel.receiver for parcel in parcels).items():
            self._traffic(receiver, sent=count)
        return sent

    def _receive(self, delivery: Delivery) -> None:
        self.db.execute("INSERT OR REPLACE INTO inbox VALUES (?, ?)", (delivery.sender, delivery.sequence))
        self._traffic(delivery.sender, received=delivery.received, duplicate=delivery.duplicate)

    def _traffic(self, peer: str, *, sent: int = 0, received: int = 0, duplicate: int = 0) -> None:
        self.db.execute(
            "INSERT INTO traffic VALUES (?, ?, ?, ?) ON CONFLICT (peer) DO UPDATE SET sent = sent + excluded.sent, "
            "received = received + excluded.received, duplicate = duplicate + excluded.duplicate",
            (peer, sent, received, duplicate),
        )

    def _count(self, table: str, column: str, counts: Counter[str]) -> None:
        self.db.executemany(
            f"INSERT INTO {table} VALUES (?, ?) ON CONFLICT ({column}) DO UPDATE SET count = count + excluded.count",
            list(counts.items()),
        )

    def _next(self, table: str) -> int:
        return int(self.db.execute(f"SELECT ifnull(max(id), 0) + 1 FROM {table}").fetchone()[0])

    def _number_nodes(self, nodes: Iterable[str]) -> dict[str, int]:
        """Number the job's nodes in the order of their names; the same in every database of the crawl."""
        self.db.executemany("INSERT OR IGNORE INTO node_name VALUES (?, ?)", list(enumerate(sorted(nodes))))
        return dict(self.db.execute("SELECT name, id FROM node_name").fetchall())
