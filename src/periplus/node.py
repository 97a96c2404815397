"""The story of Periplus: the way of a page through the rooms.

    lease ─▶ fetch ─▶ read ─▶ locate ─▶ judge ─▶ assign ─▶ commit

A node owns places and has its own frontier, database, archive and index. `Node.take_turn` is one turn of one host,
from lease to commit. The four pure stages in the middle are `analyse` in `analysis.py`; they run in a guarded worker
process. `crawl.py` hosts the nodes of a job in one process and decides whose turn it is.
"""

from collections import Counter
from dataclasses import replace

import msgspec

from periplus.clock import TimeLimit
from periplus.errors import AddressBusy, BadContent, Blocked, KeptConnectionEnded, Quarantined
from periplus.exchange import sent_mark
from periplus.fetch import Answer
from periplus.fetch.robots import Allow, Disallow, RobotsDecision, TooSlow, Unreachable
from periplus.frontier import LEASE_SECONDS, Accepted, Earlier, Revisits, SeenSet, Turn, UrlQueue
from periplus.model import Analysis, Fetched, Lease, Outcome
from periplus.shared import Shared
from periplus.store.commit import Batch, Completion, NodeStore
from periplus.urls import CanonicalUrl, canonicalize, fingerprint

__all__ = ["Node"]


READ = frozenset({Outcome.NOT_MODIFIED, Outcome.SITEMAP, Outcome.GONE})
"""Outcomes, beside those of pages, that say how a URL is now."""

REFUSALS = {Disallow: Outcome.ROBOTS, TooSlow: Outcome.CRAWL_DELAY, Unreachable: Outcome.ROBOTS_UNREACHABLE}


class Node:
    """One node: a frontier, a database, and the turns that it takes."""

    def __init__(self, name: str, store: NodeStore, queue: UrlQueue, revisits: Revisits, shared: Shared) -> None:
        self.name = name
        self.store = store
        self.queue = queue
        self.revisits = revisits
        self.batch = Batch()
        self._shared = shared
        self._encoder = msgspec.msgpack.Encoder()
        self._lease_limit = TimeLimit(LEASE_SECONDS)
        self.sent = SeenSet()
        """What this node has sent to which other, where the nodes do not share what they have seen."""

    def take_batch(self) -> Batch:
        """Hand over what is to be committed; a new batch begins."""
        batch, self.batch = self.batch, Batch()
        return batch

    def close(self) -> None:
        """Let database and archive go."""
        self.queue.close()
        self.store.close()

    async def take_turn(self, turn: Turn) -> None:
        """One turn of one host: at most one request, and one URL on its whole way."""
        lease = self.queue.lease(turn.host, self._now())
        url = canonicalize(lease.url) if lease else None
        if lease is None or url is None:
            self._end_turn(turn, asked=False)
            return
        try:
            with self._lease_limit.begun():
                await self._visit(turn, lease, url)
        except TimeoutError:  # nothing may hold a lease for ever
            self._commit(Completion(lease, Outcome.TOO_SLOW))
            if self._shared.schedule.is_busy(turn):
                self._end_turn(turn, asked=True)

    async def _visit(self, turn: Turn, lease: Lease, url: CanonicalUrl) -> None:
        decision = self._shared.robots.decide(url, self._now())
        if decision is None and self._shared.robots_share is not None:
            decision = await self._ask_others(url)
        if decision is None:  # robots.txt first; it costs the host's turn like any request
            try:
                await self._learn_robots(url, lease)
            except AddressBusy as busy:
                self._come_back(turn, lease, busy.seconds)
                return
            except Blocked as error:
                self._keep_out(turn, lease, error)
                return
            except KeptConnectionEnded:
                self._ask_again(turn, lease)
                return
            self.queue.put_back(lease)
            learnt = self._shared.robots.decide(url, self._now())
            self._end_turn(turn, asked=True, rest_seconds=learnt.delay_seconds if isinstance(learnt, Allow) else 0.0)
        elif isinstance(decision, Allow):
            await self._fetch(turn, lease, decision)
        else:
            self._refuse(turn, lease, decision)

    async def _fetch(self, turn: Turn, lease: Lease, decision: Allow) -> None:
        """Ask for the URL; what comes back is read, or the lease ends here."""
        earlier = self._earlier(lease)
        reaching = self._shared.reaching
        if reaching is not None:
            await reaching.travel(self.name, lease.host)
        answer = await self._shared.fetcher.fetch(lease, earlier.conditions if earlier else {})
        if reaching is not None and answer.fetched is not None:
            await reaching.fetched(self.name, lease.host)
        self._shared.health.answered |= answer.fetched is not None
        if answer.not_yet_seconds:
            self._come_back(turn, lease, answer.not_yet_seconds)
            return
        if answer.ask_again:
            self._ask_again(turn, lease, decision.delay_seconds)
            return
        self._end_turn(turn, asked=True, rest_seconds=max(decision.delay_seconds, answer.host_wait_seconds))
        if answer.outcome is None and answer.fetched is not None:
            await self._read(lease, answer.fetched, earlier)
        else:
            self._fail(lease, answer)

    def _earlier(self, lease: Lease) -> Earlier | None:
        """What the last visit left, if there was one.

        A duplicate whose original has left the collection is read as if it had changed, since nothing stands for it.
        """
        earlier = self.revisits.earlier(lease.url_id) if lease.visits else None
        if earlier is None or earlier.digest is None or earlier.outcome != Outcome.DUPLICATE:
            return earlier
        is_kept = self._shared.intake.is_kept(earlier.digest)
        return earlier if is_kept else Earlier(interval_seconds=earlier.interval_seconds)

    def _keep_out(self, turn: Turn, lease: Lease, error: Blocked) -> None:
        """The address guard refuses the host. While nobody has answered the settings may be wrong: it stays queued."""
        if self._shared.health.answered:
            self._commit(Completion(lease, Outcome.BLOCKED), reason=str(error))
            self._end_turn(turn, asked=False)
        else:
            self._shared.health.last_failure = f"{lease.url}: {error}"
            self._come_back(turn, lease, self._shared.crawl.retry_seconds)

    def _come_back(self, turn: Turn, lease: Lease, seconds: float) -> None:
        """Not now: the host's address is busy with other hosts, or out of bounds. No request was sent."""
        self.queue.put_back(lease)
        self._shared.schedule.hold(turn.host, self._shared.clock.monotonic() + seconds)
        self._end_turn(turn, asked=False)

    def _ask_again(self, turn: Turn, lease: Lease, rest_seconds: float = 0.0) -> None:
        """The server had closed the connection. The request may have reached it, so the next one waits its turn."""
        self.queue.put_back(lease)
        self._end_turn(turn, asked=True, rest_seconds=rest_seconds)

    async def _ask_others(self, url: CanonicalUrl) -> RobotsDecision | None:
        """What robots.txt says, if another machine has read it."""
        share = self._shared.robots_share
        told = await share.look(url.origin) if share is not None else None
        record = self._shared.robots.hear(told, self._now()) if told is not None else None
        if record is None:
            return None
        self.batch.robots.append(record)
        return self._shared.robots.decide(url, self._now())

    async def _learn_robots(self, url: CanonicalUrl, lease: Lease) -> None:
        origin = url.origin
        if self._shared.reaching is not None:
            await self._shared.reaching.travel(self.name, lease.host)
        record = await self._shared.robots.learn(origin, self._now())
        self.batch.robots.append(record)
        if self._shared.robots_share is not None:
            await self._shared.robots_share.tell(record)
        named = self._shared.robots.sitemaps(origin) if self._shared.crawl.sitemaps != "off" else []
        if self._shared.crawl.sitemaps == "probe" and record.status != "unreachable":
            named = [*named, f"{origin}/sitemap.xml"]
        sitemaps = self._shared.intake.accept_sitemaps(self.name, lease.depth, 0, named)
        self.batch.seeds.extend(sitemaps.mine)
        self.batch.nearer.extend(sitemaps.others)
        if record.status == "unreachable":
            self._shared.health.last_failure = f"{origin}/robots.txt: {self._shared.robots.last_failure}"
            self._shared.journal.write("robots unreachable", origin=origin, reason=self._shared.robots.last_failure)
        else:
            self._shared.health.answered = True

    async def _read(self, lease: Lease, fetched: Fetched, earlier: Earlier | None) -> None:
        """Read, locate, judge and assign in a worker; then commit."""
        async with self._shared.order.in_line(lease.host) as my_turn:
            try:
                analysis = self._shared.read_analysis(await self._shared.workers.run(self._encoder.encode(fetched)))
            except BadContent as error:
                self._commit(Completion(lease, Outcome.BAD_CONTENT), reason=str(error))
            except Quarantined as error:
                self._shared.journal.write("page quarantined", node=self.name, url=lease.url, reason=str(error))
                self._commit(Completion(lease, Outcome.QUARANTINED))
            else:
                await my_turn()
                sitemap = analysis.outcome is Outcome.SITEMAP
                if not sitemap and earlier is not None and earlier.digest == analysis.content_digest:
                    self._commit(Completion(lease, Outcome.NOT_MODIFIED, fetched=fetched))
                    return
                analysis = await self._settled(lease, analysis)
                if sitemap:
                    self._take_sitemap(lease, analysis)
                else:
                    self._accept(lease, fetched, analysis)

    def _take_sitemap(self, lease: Lease, analysis: Analysis) -> None:
        """A sitemap: its URLs pass every rule as links do; pages that it says have changed are due again."""
        gate = self._shared.intake
        links = self._without_repeats(gate.accept(self.name, lease, analysis))
        further = gate.accept_sitemaps(self.name, lease.depth, lease.redirects + 1, analysis.sitemaps)
        self._commit(
            Completion(
                lease,
                Outcome.SITEMAP,
                new_urls=(*links.mine, *further.mine),
                parcels=(*links.others, *further.others),
                beyond=links.beyond,
                dropped=dict(Counter(links.dropped) + Counter(further.dropped)),
                lastmods=analysis.lastmods if self.revisits.on else (),
            )
        )

    def _accept(self, lease: Lease, fetched: Fetched, analysis: Analysis) -> None:
        """A page that was read: let its links in and commit everything it brought."""
        outcome = self._shared.intake.outcome_of(analysis)
        group = self._shared.intake.group_of(lease.host, lease.url, analysis.likeness)
        if self._shared.registered is not None:
            analysis = msgspec.structs.replace(analysis, links=self._shared.registered.value(analysis.links))
        worths = self._worths(lease, analysis)
        accepted = self._without_repeats(self._shared.intake.accept(self.name, lease, analysis, worths))
        self._commit(
            Completion(
                lease,
                outcome,
                fetched=fetched,
                analysis=analysis,
                topic="\n".join(analysis.topics),
                group=group,
                new_urls=accepted.mine,
                parcels=accepted.others,
                beyond=accepted.beyond,
                dropped=accepted.dropped,
            )
        )

    async def _settled(self, lease: Lease, analysis: Analysis) -> Analysis:
        """Learn what the page says of its host, then settle its links by all that is known of theirs."""
        settling, reaching = self._shared.settling, self._shared.reaching
        if settling.learns:
            if not lease.sitemap:
                settling.learn_page(lease.url, lease.host, analysis)
            analysis = msgspec.structs.replace(analysis, links=settling.settle(analysis.links, self.name, lease.host))
        if reaching is not None:
            analysis = msgspec.structs.replace(analysis, links=await reaching.settle(analysis.links))
        return analysis

    def _worths(self, lease: Lease, analysis: Analysis) -> list[float] | None:
        """Learn from how the page was judged, then value its links by all that is known of them."""
        book = self._shared.book
        if book is None:
            return None
        score = analysis.score
        relevance = score.keyword_relevance * score.place_relevance * score.time_relevance
        book.learn(fingerprint(lease.url), relevance)
        return book.value(analysis.links, relevance)

    def _without_repeats(self, accepted: Accepted) -> Accepted:
        """What this node has sent to the same node before is not sent again; with a shared seen-set nothing is."""
        if self._shared.crawl.overlap == "forbid":
            return accepted
        others = tuple(p for p in accepted.others if self.sent.add(sent_mark(p.receiver, p.url.fingerprint)))
        repeats = len(accepted.others) - len(others)
        dropped = accepted.dropped | {"sent_before": repeats} if repeats else accepted.dropped
        return replace(accepted, others=others, dropped=dropped)

    def _fail(self, lease: Lease, answer: Answer) -> None:
        """An answer that is not a page: a redirect, a refusal, an error."""
        outcome = answer.outcome or Outcome.BAD_CONTENT
        if answer.fetched is None:
            self._shared.health.last_failure = f"{lease.url}: {answer.detail}"
        if answer.redirect is not None:
            target = canonicalize(answer.redirect)
            receiver = self._shared.settling.redirected(target.href, target.host, self.name) if target else None
            gate = self._shared.intake
            if lease.sitemap:  # it is one where it is now, too
                accepted = gate.accept_sitemaps(self.name, lease.depth, lease.redirects + 1, [answer.redirect])
            else:
                accepted = self._without_repeats(gate.accept_redirect(self.name, lease, answer.redirect, receiver))
            outcome = Outcome.TOO_MANY_REDIRECTS if "redirects" in accepted.dropped else outcome
            outcome = Outcome.GONE if lease.visits else outcome  # what was a page leads elsewhere now
            self._commit(
                Completion(
                    lease,
                    outcome,
                    new_urls=accepted.mine,
                    parcels=accepted.others,
                    beyond=accepted.beyond,
                    redirect=fingerprint(answer.redirect),
                    dropped=accepted.dropped,
                )
            )
        elif outcome is Outcome.RETRY:
            self._commit(Completion(lease, outcome, retry_at=self._now() + answer.retry_seconds), reason=answer.detail)
        else:
            if lease.visits and answer.fetched is not None and answer.fetched.status in (404, 410):
                outcome = Outcome.GONE
            self._commit(Completion(lease, outcome, fetched=answer.fetched), reason=answer.detail)

    def _refuse(self, turn: Turn, lease: Lease, decision: Disallow | TooSlow | Unreachable) -> None:
        """robots.txt does not allow the URL, or not now. No request was sent."""
        if isinstance(decision, Unreachable) and not decision.given_up:
            self.queue.put_back(lease)
            wait = max(0.0, decision.retry_at - self._now())
            self._shared.schedule.hold(turn.host, self._shared.clock.monotonic() + wait)
        else:
            self._commit(Completion(lease, REFUSALS[type(decision)]))
        self._end_turn(turn, asked=False)

    def _commit(self, done: Completion, *, reason: str = "") -> None:
        """Put the end of a lease into the batch that the writer commits next, with the host's next turn.

        `reason`: what went wrong, for the log.
        """
        if not self.queue.holds(done.lease):
            return  # it was ended before (`frontier/state.py`, rule 5)
        self.queue.end(done.lease)
        if done.outcome is not Outcome.RETRY:
            self._shared.settling.ended(self.name)
        now = self._now()
        rest = self._shared.schedule.ready_at(done.lease.host) - self._shared.clock.monotonic()
        read = done.analysis is not None or done.outcome in READ
        earlier = self.revisits.earlier(done.lease.url_id) if done.lease.visits else None
        replaced = done.analysis is not None or done.outcome is Outcome.GONE
        if replaced and earlier is not None and earlier.digest is not None and earlier.outcome == Outcome.KEPT:
            self._shared.intake.forget_digest(earlier.digest)
        self.batch.completions.append(
            msgspec.structs.replace(
                done,
                host_not_before=now + max(0.0, rest),
                revisit=self.revisits.after(done.outcome, earlier, now),
                visited_at=now if read else 0.0,
            )
        )
        self._shared.health.count(done)
        if self._shared.journal.pages:
            seconds = round(done.fetched.seconds, 3) if done.fetched else None
            told = {"outcome": done.outcome, "seconds": seconds} | ({"reason": reason} if reason else {})
            self._shared.journal.write("lease ended", node=self.name, url=done.lease.url, **told)

    def _end_turn(self, turn: Turn, *, asked: bool, rest_seconds: float = 0.0) -> None:
        """Give the host back and say when this node wants it again."""
        schedule, now = self._shared.schedule, self._shared.clock.monotonic()
        due = self.queue.next_due(turn.host, self._now())
        schedule.no_longer_wanted(turn.host, self.name)
        if due is not None:
            schedule.want(turn.host, self.name, now + max(0.0, due - self._now()))
        schedule.give_back(turn, now, asked=asked, extra_seconds=rest_seconds)

    def _now(self) -> float:
        """Unix time."""
        return self._shared.unix()
