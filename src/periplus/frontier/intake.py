"""What is let in: which links of a page join a frontier, and which pages are new.

The last checks before the commit, in the process and in order: depth, redirects, known already, budgets. With
`overlap = "forbid"` all nodes share one seen-set; with "allow" each has its own and asks it about its own links
only, as the paper's independent nodes do.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from periplus.frontier.likeness import Likenesses
from periplus.frontier.seen import SeenSet
from periplus.model import Analysis, Lease, Links, NewUrl, Outcome, Parcel
from periplus.settings import CrawlSettings, FetchSettings
from periplus.urls import CanonicalUrl, MarkCounter, TrapBudget, canonicalize, drop_reason, fingerprint, outline

__all__ = ["Accepted", "Intake"]

MAX_SITEMAPS = 50
"""Sitemaps of one host that are read."""

MAX_SITEMAP_NESTING = 3
"""An index in an index in an index: what is named farther down is not read."""

SITEMAP_PRIORITY = 1.0
"""A host's sitemaps come before its pages, since they say what there is and what changed."""

PUT_OFF = 1.0
"""What makes a URL come last: its pattern brings one near-duplicate after the other, or its folder is very full."""

SHORT = 2**32 - 1
"""As much of a pattern as a counter holds."""

DEPTH_COST = 0.001
"""Among links of equal worth, those nearer to the seeds go first."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What of a page's links goes on: this node's own URLs, parcels for others, and the rest by reason.

    `beyond` are links that are not let in as it seems now: a shorter way may still appear to what is too far away, and
    a pattern of URLs may still earn more than it was given.
    """

    mine: tuple[NewUrl, ...]
    others: tuple[Parcel, ...]
    dropped: dict[str, int]
    beyond: tuple[Parcel, ...] = ()


class Intake:
    """Seen-sets, budgets and content digests of all nodes of a process. Belongs to the event loop."""

    def __init__(self, nodes: Iterable[str], crawl: CrawlSettings, fetch: FetchSettings) -> None:
        self._crawl = crawl
        self._fetch = fetch
        self._shared = crawl.overlap == "forbid"
        everybody = SeenSet()
        self._seen = {node: everybody if self._shared else SeenSet() for node in nodes}
        self._budget = TrapBudget(crawl.host_pages, crawl.pattern_pages, crawl.prefix_pages, crawl.domain_hosts)
        self._digests = MarkCounter()  # 1 while a page of this content is kept
        self._sitemaps: dict[str, int] = {}
        self._likenesses = Likenesses(crawl.near_duplicates)
        self._texts = MarkCounter()  # of hosts, by likeness: what URLs the first page of each is one of, in short

    def remember(self, node: str, host: str, url: str, url_fingerprint: int) -> None:
        """Take up a URL that is in a database already."""
        if self._seen[node].add(url_fingerprint):
            self._budget.spend(host, url)

    def remember_sent(self, node: str, host: str, url: str, url_fingerprint: int) -> None:
        """Take up a URL that waits in a node's outbox. Independent nodes do not remember what they send."""
        if self._shared:
            self.remember(node, host, url, url_fingerprint)

    def remember_digest(self, digest: int) -> None:
        """Take up the content of a page that is stored already."""
        self._digests.put(digest, 1)

    def forget_digest(self, digest: int) -> None:
        """The page of this content has another one now, or is gone."""
        self._digests.put(digest, 0)

    def is_kept(self, digest: int) -> bool:
        """Whether a page of this content is kept."""
        return self._digests[digest] > 0

    def group_of(self, host: str, url: str, likeness: int) -> int:
        """The group of near-duplicates that a page of the host belongs to; pages come in the host's order."""
        group = self._likenesses.take(host, url, likeness)
        if likeness:  # of a text too short to compare nothing is known
            self._learn_text(fingerprint(host), url, likeness, group)
        return group

    def _learn_text(self, host: int, url: str, likeness: int, group: int) -> None:
        """What the text of a page means for the budget of its pattern.

        That it is the text of a page of another pattern means nothing: forums lead to the end of a thread by the number
        of a post too.
        """
        pattern = outline(url)[1] & SHORT or 1
        first = self._texts[likeness ^ host] or self._texts[group ^ host]
        if not first or first == pattern:
            self._budget.learn(url, is_new=not first)
        if not self._texts[likeness ^ host]:
            self._texts.put(likeness ^ host, first or pattern)

    def outcome_of(self, analysis: Analysis) -> Outcome:
        """The page's outcome, once it is known whether its content is stored already."""
        if analysis.outcome is not Outcome.KEPT:
            return analysis.outcome
        if self.is_kept(analysis.content_digest):
            return Outcome.DUPLICATE
        self.remember_digest(analysis.content_digest)
        return Outcome.KEPT

    def accept(self, node: str, lease: Lease, analysis: Analysis, worths: Sequence[float] | None = None) -> Accepted:
        """Let the links of a page in, or count why not; `worths` are their priorities, if not those they came with."""
        links, dropped = analysis.links, dict(analysis.dropped)
        mine: list[NewUrl] = []
        others: list[Parcel] = []
        beyond: list[Parcel] = []
        unknown = self._unknown(node, links)
        marks, worths = links.fingerprints, worths or links.worths(analysis.link_priority)
        for at in unknown:
            url, receiver = self._new_url(links, at, marks[at], lease.depth, worths[at]), links.nodes[at]
            reason = "depth" if url.depth > self._crawl.depth else None
            reason = reason or self._refusal(node, url, receiver, listed=lease.sitemap)
            if reason:
                dropped[reason] = dropped.get(reason, 0) + 1
                if self._may_join_later(reason, url):
                    beyond.append(Parcel(receiver, url))
            elif receiver == node:
                mine.append(url)
            else:
                others.append(Parcel(receiver, url))
        if len(unknown) < len(links):
            dropped["seen"] = dropped.get("seen", 0) + len(links) - len(unknown)
        return Accepted(tuple(mine), tuple(others), dropped, tuple(beyond))

    def _may_join_later(self, reason: str, url: NewUrl) -> bool:
        """Whether a link that is not let in is set aside, to be looked at again when nothing else is left."""
        return reason == "depth" or (reason == "trap" and self._budget.may_wait(url.url))

    def _unknown(self, node: str, links: Links) -> list[int]:
        """The positions of links that are not known yet; what belongs to others is theirs to know, unless shared."""
        unknown = self._seen[node].missing(links.keys)  # most are known
        if self._shared or len(unknown) == len(links):
            return unknown
        return sorted({*unknown, *(at for at, receiver in enumerate(links.nodes) if receiver != node)})

    def _new_url(self, links: Links, at: int, mark: int, depth: int, worth: float) -> NewUrl:
        """A link as it joins a frontier, with what it is worth there."""
        url, deeper = links.urls[at], depth + links.steps[at]
        if self._likenesses.is_put_off(url) or self._budget.is_crowded(url):
            worth -= PUT_OFF
        return NewUrl(url, links.hosts[at], mark, worth - deeper * DEPTH_COST, deeper)

    def accept_after_all(self, node: str, parcel: Parcel) -> Parcel | None:
        """Let a URL in that was set aside; None if its pattern has earned nothing, or it has come in another way."""
        return None if self._refusal(node, parcel.url, parcel.receiver) else parcel

    def accept_redirect(self, node: str, lease: Lease, target: str, receiver: str | None = None) -> Accepted:
        """Let the target of a redirect in: as a new URL, of this node or the receiver, so that it passes every rule."""
        accepted = self._redirected(node, lease, target, receiver)
        for parcel in (*(Parcel(node, new) for new in accepted.mine), *accepted.others):
            reason = self._refusal(node, parcel.url, parcel.receiver)
            return Accepted((), (), {reason: 1}) if reason else accepted
        return accepted

    def _redirected(self, node: str, lease: Lease, target: str, receiver: str | None) -> Accepted:
        """The target of a redirect by all rules that need no memory."""
        url = canonicalize(target)
        reason = (
            drop_reason(url, max_length=self._crawl.url_length, ports=self._fetch.ports, scope=self._crawl.scope)
            if url
            else "not_http"
        )
        if url is None or reason:
            return Accepted((), (), {reason or "not_http": 1})
        new = NewUrl(url.href, url.host, fingerprint(url.href), lease.priority, lease.depth, lease.redirects + 1)
        if new.redirects > self._fetch.redirects:
            return Accepted((), (), {"redirects": 1}, (Parcel(receiver or node, new),))
        return Accepted((new,), (), {}) if receiver in (None, node) else Accepted((), (Parcel(receiver, new),), {})

    def accept_sitemaps(self, node: str, depth: int, nesting: int, urls: Iterable[str]) -> Accepted:
        """Let sitemaps in that robots.txt or another sitemap names; a host has so many, and not too far down."""
        accepted = self._named_sitemaps(node, depth, nesting, urls)
        for new in accepted.mine:
            self._seen[node].add(new.fingerprint)
        return accepted

    def _named_sitemaps(self, node: str, depth: int, nesting: int, urls: Iterable[str]) -> Accepted:
        """Sitemaps that are new, each once."""
        dropped: Counter[str] = Counter()
        taken: dict[int, NewUrl] = {}
        for raw in urls:
            url = canonicalize(raw)
            reason = self._sitemap_refusal(node, url, nesting) if url else "not_http"
            reason = "seen" if url and not reason and fingerprint(url.href) in taken else reason
            if url is None or reason:
                dropped[reason or "not_http"] += 1
                continue
            self.remember_sitemap(url.host)
            mark = fingerprint(url.href)
            taken[mark] = NewUrl(url.href, url.host, mark, SITEMAP_PRIORITY, depth, nesting, sitemap=True)
        return Accepted(tuple(taken.values()), (), dict(dropped))

    def remember_sitemap(self, host: str) -> None:
        """Count a sitemap of the host."""
        self._sitemaps[host] = self._sitemaps.get(host, 0) + 1

    def _sitemap_refusal(self, node: str, url: CanonicalUrl, nesting: int) -> str | None:
        reason = drop_reason(url, max_length=self._crawl.url_length, ports=self._fetch.ports, scope=self._crawl.scope)
        if reason and reason != "file_kind":  # which they are, by their names
            return reason
        if nesting > MAX_SITEMAP_NESTING or self._sitemaps.get(url.host, 0) >= MAX_SITEMAPS:
            return "sitemaps"
        return "seen" if fingerprint(url.href) in self._seen[node] else None

    def accept_seed(self, node: str, raw: str) -> NewUrl | None:
        """Let a seed in; None if it is known already."""
        url = canonicalize(raw)
        new = NewUrl(url.href, url.host, fingerprint(url.href), 1.0, 0) if url else None
        return None if new is None or self._refusal(node, new, node) else new

    def receive(self, node: str, urls: tuple[NewUrl, ...], targets: Sequence[str] = ()) -> Accepted:  # noqa: ARG002  homes
        """Let links from another node in: all of them where nodes share what they have seen, else the new ones."""
        if self._shared:
            return Accepted(urls, (), {})
        reasons = [self._refusal(node, url, node) for url in urls]
        return Accepted(
            mine=tuple(url for url, reason in zip(urls, reasons, strict=True) if reason is None),
            others=(),
            dropped=dict(Counter(reason for reason in reasons if reason not in (None, "seen"))),
            beyond=tuple(
                Parcel(node, url)
                for url, reason in zip(urls, reasons, strict=True)
                if reason and self._may_join_later(reason, url)
            ),
        )

    def seen(self) -> int:
        """Distinct URLs accepted."""
        return sum(len(seen) for seen in {id(seen): seen for seen in self._seen.values()}.values())

    def _refusal(self, node: str, url: NewUrl, receiver: str, *, listed: bool = False) -> str | None:
        """Why a URL that this node has come upon may not join; None, and it is known from now on, if it may."""
        if not self._shared and receiver != node:
            return None  # the receiver decides
        seen = self._seen[node]
        if url.fingerprint in seen:
            return "seen"
        reason = self._budget.refusal(url.host, url.url, listed=listed)
        if reason is None:
            seen.add(url.fingerprint)
        return reason
