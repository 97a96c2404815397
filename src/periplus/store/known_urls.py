"""The URLs of a node, inside the commit's transaction: what joins, how its leases end, what it is worth by now.

The row of a URL is written when it joins and not again (`schema.sql`): of many millions nearly each stands on a page of
the database by itself. What happens to it afterwards is a row of `progress`.
"""

import sqlite3
from array import array
from collections.abc import Iterable
from operator import itemgetter

from periplus.frontier import UrlState, state_after
from periplus.model import Lease, NewUrl
from periplus.store.batch import Completion
from periplus.store.rows import Rows
from periplus.urls import MarkCounter, registrable_domain

__all__ = ["KnownUrls", "mark_tried"]

NEXT_TRY = (
    "ON CONFLICT (id) DO UPDATE SET state = excluded.state, outcome = excluded.outcome, attempts = excluded.attempts, "
    "not_before = excluded.not_before, redirect = excluded.redirect"
)
"""What a further try changes of a URL to which something has happened before."""


class KnownUrls:
    """Numbers URLs and their hosts, and remembers of those that join what finds them when their priority changes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.revalues = False
        """Whether URLs that are queued may change their priority: in crawls with a topic."""
        self._hosts: dict[str, int] = dict(db.execute("SELECT name, id FROM host").fetchall())
        self._next: int = db.execute("SELECT ifnull(max(id), 0) + 1 FROM url").fetchone()[0]
        self._added = MarkCounter()  # by fingerprint the ids of URLs added in this run, where priorities may change
        self._added_from = self._next
        self._added_hosts = array("I")  # host ids of the URLs from there on
        self._host_names: dict[int, str] = {}
        self._before: tuple[int, list[str]] = (self._next, [])  # the next id, and hosts that are new since

    @property
    def hosts(self) -> int:
        """Hosts that the node knows."""
        return len(self._hosts)

    def begin(self) -> None:
        """A transaction begins, which may fail."""
        self._before = (self._next, [])

    def undo(self) -> None:
        """The transaction has failed: what it added is not known."""
        self._next, new_hosts = self._before
        del self._added_hosts[max(0, self._next - self._added_from) :]
        for host in new_hosts:
            del self._hosts[host]
        self.begin()

    def add(self, rows: Rows, urls: Iterable[NewUrl]) -> list[tuple[Lease, int]]:
        """URLs join the frontier; gives them with their hosts' rows."""
        queued, joined = [], []
        for new in urls:
            host_id = self.host_id(new.host)
            url_id, self._next = self._next, self._next + 1
            priority, depth, redirects = new.priority, new.depth, new.redirects
            joined.append((url_id, new.fingerprint, new.url, host_id, priority, depth, redirects, int(new.sitemap)))
            if self.revalues:
                self._added.put(new.fingerprint, url_id)
                self._added_hosts.append(host_id)
                self._host_names[host_id] = new.host
            queued.append((Lease(url_id, new.url, new.host, depth, redirects, priority, 0, new.sitemap), host_id))
        rows.insert_all("INTO url (id, fingerprint, url, host_id, priority, depth, redirects, sitemap)", joined)
        return queued

    def revalue(self, changed: Iterable[tuple[int, float]]) -> dict[str, float]:
        """Queued URLs, by fingerprint, get the priority that all their parents say; gives the best one by host."""
        added, hosts, since = self._added.count, self._added_hosts, self._added_from
        rows = [(priority, at, hosts[at - since]) for mark, priority in changed if (at := added(mark))]
        rows.sort(key=itemgetter(1))  # neighbours share a page of the database
        self._db.executemany(
            "INSERT INTO progress (priority, id, host_id) VALUES (?, ?, ?) "
            f"ON CONFLICT (id) DO UPDATE SET priority = excluded.priority WHERE state = {UrlState.QUEUED:d}",
            rows,
        )
        best: dict[str, float] = {}
        for priority, _, host_id in rows:
            host = self._host_names[host_id]
            best[host] = max(priority, best.get(host, priority))
        return best

    def host_id(self, host: str) -> int:
        """The number of a host, which may be new."""
        host_id = self._hosts.get(host)
        if host_id is None:
            row = (host, registrable_domain(host))
            host_id = self._db.execute("INSERT INTO host (name, domain) VALUES (?, ?)", row).lastrowid or 0
            self._hosts[host] = host_id
            self._before[1].append(host)
        return host_id


def mark_tried(rows: Rows, done: Completion, host_id: int) -> None:
    """The URL's lease ended without a visit: it is done, or is tried again later."""
    lease, state = done.lease, state_after(done.outcome)
    rows.insert(
        "INTO progress (id, state, outcome, attempts, not_before, redirect, host_id, priority)",
        (
            lease.url_id,
            int(state),
            done.outcome.value,
            lease.attempts + 1,
            done.retry_at,
            done.redirect,
            host_id,
            None if state is UrlState.QUEUED else lease.priority,  # what stays queued keeps the place that it has
        ),
        otherwise=NEXT_TRY,
    )
