"""Opening a crawl's nodes: new ones are made, old ones take up exactly where the last run ended, however it ended."""

from periplus.exchange import LocalExchange
from periplus.fetch import RobotsRecord
from periplus.frontier import UrlQueue
from periplus.job import Prepared
from periplus.model import NewUrl
from periplus.node import Node, Shared
from periplus.store.commit import NodeStore
from periplus.store.database import open_reader
from periplus.urls import canonicalize, fingerprint

__all__ = ["open_nodes"]

MAX_REST_SECONDS = 86_400.0
"""Longest promised rest of a host that is believed after a restart: wall clocks jump."""


def open_nodes(prepared: Prepared, shared: Shared, exchange: LocalExchange) -> dict[str, Node]:
    """Open every node of the job with what its database holds."""
    nodes: dict[str, Node] = {}
    for name in prepared.nodes:
        folder = prepared.folder.node(name)
        store = NodeStore(folder, prepared.nodes, prepared.job.archive, agent=shared.agent, clock=shared.clock)
        store.revalues = shared.book is not None
        nodes[name] = Node(name, store, UrlQueue(open_reader(folder.database)), shared)
        _take_up(nodes[name], shared, prepared.job.crawl.delay_seconds)
    for node in nodes.values():
        _take_up_outbox(node, nodes, shared, exchange)
    return nodes


def _take_up(node: Node, shared: Shared, delay_seconds: float) -> None:
    """What the node knew: its URLs, contents, robots rules, accounts, promised rests, and its queue."""
    db = node.store.db
    now, monotonic = shared.clock.now().timestamp(), shared.clock.monotonic()
    for url, host, mark in db.execute(
        "SELECT url.url, host.name, url.fingerprint FROM url JOIN host ON host.id = url.host_id"
    ):
        shared.intake.remember(node.name, host, url, mark)
    for (digest,) in db.execute("SELECT content_digest FROM page WHERE kept = 1"):
        shared.intake.remember_digest(digest)
    for row in db.execute("SELECT origin, status, body, fetched_at, expires_at, failures FROM robots"):
        shared.robots.remember(RobotsRecord(*row))
    for (topic,) in db.execute("SELECT topic FROM page ORDER BY id"):
        shared.health.harvest.add(topic.splitlines())
    pages, kept = db.execute("SELECT count(*), ifnull(sum(kept), 0) FROM page").fetchone()
    shared.health.take_up(pages, kept, dict(db.execute("SELECT name, count FROM outcome").fetchall()))
    # A host that was asked just before a crash may have no row about it, so every known host rests once.
    for host, not_before in db.execute("SELECT name, not_before FROM host"):
        rest = max(min(not_before - now, MAX_REST_SECONDS), delay_seconds)
        shared.schedule.hold(host, monotonic + rest)
    for host in node.queue.load(now):
        shared.schedule.want(host, node.name, monotonic)


def _take_up_outbox(node: Node, nodes: dict[str, Node], shared: Shared, exchange: LocalExchange) -> None:
    """Offer links again that were not confirmed; what the receiver has committed is confirmed now."""
    rows = node.store.db.execute(
        "SELECT sequence, receiver, url, priority, depth, redirects FROM outbox ORDER BY sequence"
    ).fetchall()
    for sequence, receiver, url, priority, depth, redirects in rows:
        inbox = nodes[receiver].store.db.execute("SELECT sequence FROM inbox WHERE sender = ?", (node.name,)).fetchone()
        parts = canonicalize(url)
        if parts is None or (inbox is not None and inbox[0] >= sequence):
            exchange.confirm(node.name, receiver, sequence)
            continue
        mark = fingerprint(url)
        shared.intake.remember_sent(node.name, parts.host, url, mark)
        exchange.post(node.name, receiver, sequence, NewUrl(url, parts.host, mark, priority, depth, redirects))
