"""What is let in where nodes run on several machines and `overlap = "forbid"`: every URL has a home.

The home of a URL is the node that the hash of its host names. Whoever finds a link sends it there, with the node that
the strategy chose; the home lets the first one through and keeps all later ones back. It also keeps the host's
budget. So no two nodes ever fetch a URL, without a table that all of them would have to share. A link whose home is
the finder itself costs nothing more; the others travel up to twice. What a pattern of URLs may bring is up to the node
that fetches them: it sees whether its pages have texts of their own (`urls/traps.py`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import xxhash

from periplus.frontier.intake import Accepted, Intake
from periplus.frontier.seen import SeenSet
from periplus.model import Analysis, Lease, NewUrl, Parcel
from periplus.settings import CrawlSettings, FetchSettings
from periplus.urls import canonicalize, fingerprint

__all__ = ["HomeIntake", "home_of"]

LET_THROUGH = ""
"""For whom a URL is that its home has let through already: for the node that has it."""


def home_of(host: str, nodes: Sequence[str]) -> str:
    """The home of a host's URLs, the same on every machine; with `hash-host` the node that they are for anyway."""
    return nodes[xxhash.xxh3_64_intdigest(host.encode("utf-8", "surrogatepass")) % len(nodes)]


class HomeIntake(Intake):
    """Seen-sets by node: what it has sent to homes, let through as one, or accepted. Belongs to the event loop."""

    def __init__(self, nodes: Iterable[str], crawl: CrawlSettings, fetch: FetchSettings) -> None:
        self._names = tuple(sorted(nodes))
        super().__init__(self._names, crawl, fetch)
        self._seen = {node: SeenSet() for node in self._names}
        self._accepted = {node: SeenSet() for node in self._names}

    def remember(self, node: str, host: str, url: str, url_fingerprint: int) -> None:
        """Take up a URL that is in a node's database."""
        if self._accepted[node].add(url_fingerprint):
            self._budget.spend_pattern(url)
        self.remember_passed(node, host, url, url_fingerprint)

    def remember_passed(self, node: str, host: str, url: str, url_fingerprint: int) -> None:  # noqa: ARG002  as above
        """Take up a URL that the node has let through, or has sent to its home."""
        if self._seen[node].add(url_fingerprint) and home_of(host, self._names) == node:
            self._budget.spend_host(host)

    remember_sent = remember_passed

    def seen(self) -> int:
        """Distinct URLs accepted by the nodes of this process."""
        return sum(len(accepted) for accepted in self._accepted.values())

    def accept(self, node: str, lease: Lease, analysis: Analysis, worths: Sequence[float] | None = None) -> Accepted:
        """Let the links of a page in, or count why not, or send them to their homes."""
        links, dropped = analysis.links, Counter(analysis.dropped)
        mine: list[NewUrl] = []
        others: list[Parcel] = []
        beyond: list[Parcel] = []
        unknown = self._seen[node].missing(links.keys)  # most are known
        if len(unknown) < len(links):
            dropped["seen"] += len(links) - len(unknown)
        marks, worths = links.fingerprints, worths or links.worths(analysis.link_priority)
        for at in unknown:
            url, receiver = self._new_url(links, at, marks[at], lease.depth, worths[at]), links.nodes[at]
            if url.depth > self._crawl.depth:
                dropped["depth"] += 1
                beyond.append(Parcel(receiver, url))
                continue
            reason, parcel = self._let_through(node, url, receiver, listed=lease.sitemap)
            if reason:
                dropped[reason] += 1
                if self._may_join_later(reason, url):
                    beyond.append(Parcel(receiver, url))
            elif parcel is None:
                mine.append(url)
            else:
                others.append(parcel)
        return Accepted(tuple(mine), tuple(others), dict(dropped), tuple(beyond))

    def _let_through(
        self, node: str, url: NewUrl, target: str, *, listed: bool = False
    ) -> tuple[str | None, Parcel | None]:
        """A URL at a node: a reason against it, or the parcel that it goes on in; neither if it is the node's own."""
        home = home_of(url.host, self._names)
        if home != node:
            known = not self._seen[node].add(url.fingerprint)
            return ("seen", None) if known else (None, Parcel(home, url, target))
        if url.fingerprint in self._seen[node]:
            return "seen", None
        reason = None if url.sitemap else self._refusal_at_home(url, listed=listed, own=target == node)
        if reason:
            return reason, None
        self._seen[node].add(url.fingerprint)
        if target != node:
            return None, Parcel(target, url)
        self._accepted[node].add(url.fingerprint)
        return None, None

    def _refusal_at_home(self, url: NewUrl, *, listed: bool, own: bool) -> str | None:
        return self._budget.refusal(url.host, url.url, listed=listed) if own else self._budget.host_refusal(url.host)

    def _take_in(self, node: str, url: NewUrl) -> str | None:
        """A URL that its home has let through: a reason against it, or it is the node's own."""
        self._seen[node].add(url.fingerprint)
        if url.fingerprint in self._accepted[node]:
            return "seen"
        reason = None if url.sitemap else self._budget.pattern_refusal(url.url)
        if reason is None:
            self._accepted[node].add(url.fingerprint)
        return reason

    def accept_after_all(self, node: str, parcel: Parcel) -> Parcel | None:
        """Let a URL in that was set aside; None if its pattern has earned nothing, or it has come in another way."""
        if parcel.receiver == LET_THROUGH:
            return None if self._take_in(node, parcel.url) else Parcel(node, parcel.url)
        reason, onward = self._let_through(node, parcel.url, parcel.receiver)
        return None if reason else onward or parcel

    def _own(self, node: str, accepted: Accepted) -> Accepted:
        """New URLs that a node has come upon, for itself or another, once their homes have let them through."""
        mine, others, dropped = [], [], Counter(accepted.dropped)
        for found in (*(Parcel(node, url) for url in accepted.mine), *accepted.others):
            reason, parcel = self._let_through(node, found.url, found.receiver)
            if reason:
                dropped[reason] += 1
            elif parcel is None:
                mine.append(found.url)
            else:
                others.append(parcel)
        return Accepted(tuple(mine), tuple(others), dict(dropped), accepted.beyond)

    def accept_redirect(self, node: str, lease: Lease, target: str, receiver: str | None = None) -> Accepted:
        """Let the target of a redirect in: as a new URL, of this node or the receiver, by way of its home."""
        return self._own(node, self._redirected(node, lease, target, receiver))

    def accept_sitemaps(self, node: str, depth: int, nesting: int, urls: Iterable[str]) -> Accepted:
        """Let sitemaps in that robots.txt or another sitemap names, by way of their home."""
        return self._own(node, self._named_sitemaps(node, depth, nesting, urls))

    def accept_seed(self, node: str, raw: str) -> NewUrl | None:
        """Let a seed in; None if it is known already. Every home has the same seeds, so none need be asked."""
        url = canonicalize(raw)
        if url is None or fingerprint(url.href) in self._accepted[node]:
            return None
        self.remember(node, url.host, url.href, fingerprint(url.href))
        return NewUrl(url.href, url.host, fingerprint(url.href), 1.0, 0)

    def know_seed(self, node: str, raw: str) -> None:
        """A seed of any node, told to the nodes of this process: its home is not to let it through again."""
        url = canonicalize(raw)
        if url is not None and home_of(url.host, self._names) == node:
            self.remember_passed(node, url.host, url.href, fingerprint(url.href))

    def receive(self, node: str, urls: tuple[NewUrl, ...], targets: Sequence[str] = ()) -> Accepted:
        """Links from another node: the node's own new ones, what it lets through as their home, and why not others."""
        mine: list[NewUrl] = []
        onward: list[Parcel] = []
        beyond: list[Parcel] = []
        dropped: Counter[str] = Counter()
        for url, target in zip(urls, targets or [LET_THROUGH] * len(urls), strict=True):
            reason, parcel = self._received(node, url, target)
            if reason:
                dropped[reason] += 1
                if self._may_join_later(reason, url):
                    beyond.append(Parcel(target, url))
            elif parcel is None:
                mine.append(url)
            else:
                onward.append(parcel)
        return Accepted(tuple(mine), tuple(onward), dict(dropped), tuple(beyond))

    def _received(self, node: str, url: NewUrl, target: str) -> tuple[str | None, Parcel | None]:
        """A URL from another node, as `_let_through` says."""
        if target == LET_THROUGH:
            return self._take_in(node, url), None
        if home_of(url.host, self._names) != node or target not in self._accepted:
            return "not_home", None
        return self._let_through(node, url, target)
