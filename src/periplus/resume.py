"""Opening a crawl's nodes: new ones are made, old ones take up exactly where the last run ended, however it ended."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from periplus.exchange import Exchange, sent_mark
from periplus.fetch import RobotsRecord
from periplus.frontier import Revisits, UrlQueue
from periplus.job import Prepared
from periplus.model import NewUrl, Parcel
from periplus.node import Node
from periplus.shared import Shared
from periplus.store.commit import NodeStore
from periplus.store.database import open_reader
from periplus.store.revisits import begin_revisits
from periplus.strategies import Told
from periplus.urls import canonicalize, fingerprint

__all__ = ["open_node", "open_nodes", "outbox_rows", "rest_hosts"]

MAX_REST_SECONDS = 86_400.0
"""Longest promised rest of a host that is believed after a restart: what is longer was noted under a wrong clock."""


def open_nodes(prepared: Prepared, shared: Shared, exchange: Exchange) -> dict[str, Node]:
    """Open every node of the job with what its database holds."""
    nodes = {name: open_node(name, prepared, shared, sharers=len(prepared.nodes)) for name in prepared.nodes}
    rest_hosts(nodes.values(), shared)
    _set_inboxes_back(nodes)
    for node in nodes.values():
        _take_up_outbox(node, nodes, shared, exchange)
    return nodes


def open_node(name: str, prepared: Prepared, shared: Shared, *, sharers: int = 1) -> Node:
    """Open one node with what its database holds; its hosts and its outbox come afterwards.

    `sharers`: how many nodes share the memory of the process.
    """
    folder, archive = prepared.folder.node(name), prepared.job.archive
    folder.check_whole()
    store = NodeStore(folder, prepared.nodes, archive, agent=shared.agent, clock=shared.clock, sharers=sharers)
    reader, revisit = open_reader(folder.database), prepared.job.crawl.revisit
    if revisit.hours:
        begin_revisits(store.db, revisit.hours * 3600.0)
    store.urls.revalues = shared.book is not None
    node = Node(name, store, UrlQueue(reader, name, sharers=sharers), Revisits(revisit, reader), shared)
    _take_up(node, shared)
    if shared.crawl.overlap == "allow":
        _take_up_sent(node, shared)
    if shared.settling.learns:
        _take_up_hosts(node, shared)
    return node


def rest_hosts(nodes: Iterable[Node], shared: Shared) -> None:
    """Let all hosts of nodes that were opened rest once."""
    delays = shared.robots.delays()
    for node in nodes:
        _let_hosts_rest(node, shared, delays)


def outbox_rows(node: Node) -> Iterator[tuple[int, Parcel]]:
    """What waits in a node's outbox, oldest first."""
    rows = node.store.db.execute(
        "SELECT sequence, receiver, url, priority, depth, redirects, sitemap, target FROM outbox ORDER BY sequence"
    ).fetchall()
    for sequence, receiver, url, priority, depth, redirects, sitemap, target in rows:
        parts = canonicalize(url)
        if parts is not None:
            new = NewUrl(url, parts.host, fingerprint(url), priority, depth, redirects, bool(sitemap))
            yield sequence, Parcel(receiver, new, target)


def _take_up_sent(node: Node, shared: Shared) -> None:
    """What the node has sent to others, and the decisions behind that."""
    names = dict(node.store.db.execute("SELECT id, name FROM node_name").fetchall())
    rows = node.store.db.execute(
        "SELECT l.fingerprints, l.nodes, l.steps, p.depth FROM link l JOIN page p ON p.id = l.page_id"
    )
    for marks, nodes, steps, depth in rows:
        deep = np.frombuffer(steps, "u1") if steps else itertools.repeat(1)
        for mark, number, step in zip(np.frombuffer(marks, "<i8"), np.frombuffer(nodes, "<u2"), deep, strict=False):
            if depth + step <= shared.crawl.depth:
                node.sent.add(sent_mark(names[int(number)], int(mark)))
                shared.settling.remember(int(mark), names[int(number)])


def _take_up_hosts(node: Node, shared: Shared) -> None:
    """What the pages of hosts turned out to be about."""
    rows = node.store.db.execute(
        "SELECT p.id, p.url, h.name, f.place_id, f.weight FROM page p JOIN url u ON u.id = p.url_id "
        "JOIN host h ON h.id = u.host_id LEFT JOIN page_place f ON f.page_id = p.id ORDER BY p.id"
    )
    owners = node.store.db.execute(
        "SELECT DISTINCT page_id, owner FROM entity WHERE owner IS NOT NULL ORDER BY page_id"
    )
    addressed = {
        page: frozenset(owner for _, owner in group)
        for page, group in itertools.groupby(owners, key=lambda row: row[0])
    }
    for (page, url, host), group in itertools.groupby(rows, key=lambda row: row[:3]):
        places = tuple((place, weight) for *_, place, weight in group if place is not None)
        shared.settling.learn(url, host, Told(places, addressed.get(page, frozenset())))


def _take_up(node: Node, shared: Shared) -> None:
    """What the node knew: its URLs, contents, robots rules, accounts, and its queue."""
    db = node.store.db
    now, monotonic = shared.unix(), shared.clock.monotonic()
    for url, host, mark in db.execute(
        "SELECT url.url, host.name, url.fingerprint FROM url JOIN host ON host.id = url.host_id"
    ):
        shared.intake.remember(node.name, host, url, mark)
    for (host,) in db.execute("SELECT host.name FROM url JOIN host ON host.id = url.host_id WHERE url.sitemap = 1"):
        shared.intake.remember_sitemap(host)
    for (digest,) in db.execute("SELECT content_digest FROM page WHERE kept = 1"):
        shared.intake.remember_digest(digest)
    for host, url, likeness in db.execute(
        "SELECT host.name, url.url, l.likeness FROM page_likeness l JOIN page ON page.id = l.page_id "
        "JOIN url ON url.id = page.url_id JOIN host ON host.id = url.host_id ORDER BY page.id"
    ):
        shared.intake.group_of(host, url, likeness)
    for row in db.execute("SELECT origin, status, body, fetched_at, expires_at, failures FROM robots"):
        record = RobotsRecord(*row)
        if record.fetched_at <= now + MAX_REST_SECONDS:  # else it was read under a wrong clock, and would never expire
            shared.robots.remember(record)
    for (topic,) in db.execute("SELECT topic FROM page ORDER BY id"):
        shared.health.harvest.add(topic.splitlines())
    pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
    outcomes = dict(db.execute("SELECT name, count FROM outcome").fetchall())
    dropped = dict(db.execute("SELECT reason, count FROM dropped").fetchall())
    shared.health.take_up(pages, kept, outcomes, dropped)
    for host in node.queue.load(now):
        shared.schedule.want(host, node.name, monotonic)


def _let_hosts_rest(node: Node, shared: Shared, delays: dict[str, float]) -> None:
    """Promised rests still count; and a host that was asked just before a crash may have no row about it.

    So every known host rests once, for as long as it or its address does between two requests.
    """
    now, monotonic = shared.unix(), shared.clock.monotonic()
    least = max(shared.crawl.delay_seconds, shared.crawl.ip_delay_seconds if shared.crawl.delay_seconds else 0.0)
    for host, not_before in node.store.db.execute("SELECT name, not_before FROM host"):
        promised = not_before - now if not_before <= now + MAX_REST_SECONDS else 0.0
        rest = max(promised, least, delays.get(host, 0.0))
        shared.schedule.hold(host, monotonic + rest)


def _set_inboxes_back(nodes: dict[str, Node]) -> None:
    """A sender whose last commits went with the power counts on from before: its next links are no repetitions."""
    for name, sender in nodes.items():
        last = sender.store.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").fetchone() or (0,)
        for node in nodes.values():
            node.store.db.execute("UPDATE inbox SET sequence = ?1 WHERE sender = ?2 AND sequence > ?1", (last[0], name))


def _take_up_outbox(node: Node, nodes: dict[str, Node], shared: Shared, exchange: Exchange) -> None:
    """Offer links again that were not confirmed; what the receiver has committed is confirmed now."""
    for sequence, parcel in outbox_rows(node):
        receiver, url = parcel.receiver, parcel.url
        inbox = nodes[receiver].store.db.execute("SELECT sequence FROM inbox WHERE sender = ?", (node.name,)).fetchone()
        if inbox is not None and inbox[0] >= sequence:
            exchange.confirm(node.name, receiver, sequence)
            continue
        shared.intake.remember_sent(node.name, url.host, url.url, url.fingerprint)
        exchange.post(node.name, receiver, sequence, url)
