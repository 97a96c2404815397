"""The hits of one question in order: every node is asked, geography and age are weighed, each page is there once."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from periplus.index import RankedPage, day_number
from periplus.search.alike import Shown
from periplus.search.atlas import Atlas
from periplus.search.question import Question
from periplus.search.ranking import ANYWHERE, GeoScore, GeoScorer, freshness
from periplus.search.request import MOST_RESULTS, SearchRequest
from periplus.search.shard import PageRecord, Shard

__all__ = ["Candidate", "Found", "Ranker"]

RERANKED = 300
"""Hits of each node whose geography and age are weighed; deeper ones keep the order of their text score."""

SPARE = 40
"""Hits looked at beyond those shown, in case some say the same."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hit on its way: where it is, and its score so far."""

    shard: Shard
    page: int
    text_score: float
    geo: GeoScore
    fresh: float
    score: float
    deep: bool = False  # beyond those whose geography is weighed
    alike: int = 0  # pages that say the same, which it stands for


Found = tuple[Candidate, PageRecord]
"""A hit with what it shows."""


@dataclass(slots=True)
class Ranker:
    """Ranks for one request. `shards` are asked in their order; after `deadline` (monotonic) no further one is."""

    shards: Sequence[Shard]
    atlas: Atlas
    request: SearchRequest
    today: date
    deadline: float | None = None
    missing: list[str] = field(default_factory=list)
    """Nodes that were not asked for want of time."""

    def ranked(self, question: Question) -> tuple[int, list[Found]]:
        """How many pages answer; and all hits up to the end of the window, in order, what says the same once."""
        request = self.request
        needed = request.offset + request.limit
        nothing_to_rank_by = not question.query.required and not question.query.paths and not question.query.place_ids
        by_time = request.sort == "time" or nothing_to_rank_by
        geo = GeoScorer(question.where, self.atlas) if question.where else None
        spare = SPARE
        while True:
            total, candidates = self._candidates(question, geo, needed + spare, by_time=by_time)
            records = self._unique(candidates)
            if len(records) >= needed or total <= len(candidates) or needed + spare >= MOST_RESULTS:
                break
            spare *= 4  # many near-duplicates: look deeper
        if by_time:
            # Stable, and by nothing else: what lies beyond the window must not change what is in it.
            records.sort(key=lambda pair: pair[1].published or "", reverse=True)
        return total, records

    def _candidates(
        self, question: Question, geo: GeoScorer | None, wanted: int, *, by_time: bool
    ) -> tuple[int, list[Candidate]]:
        """The best hits of all nodes in order, `wanted` of them, and how many there are in all."""
        candidates: list[Candidate] = []
        total = 0
        weighs = geo is not None or self.request.freshness > 0
        as_of = dict(self.request.as_of)
        most = min(MOST_RESULTS, wanted if by_time or not weighs else max(RERANKED, wanted))
        for asked, shard in enumerate(self.shards):
            if asked and self.deadline is not None and time.monotonic() > self.deadline:
                self.missing = [late.key for late in self.shards[asked:]]
                break
            ranking = shard.index.top(question.query, most, by_time=by_time, stamp=as_of.get(shard.key))
            total += ranking.total
            bonus = 0.0 if question.query.required else 1.0
            candidates.extend(self._weigh(shard, ranking.hits, geo, bonus))
        if not by_time:
            candidates.sort(key=lambda one: (one.deep, -one.score, one.shard.key, one.page))
            candidates = candidates[:wanted]
        return total, candidates

    def _weigh(self, shard: Shard, hits: Sequence[RankedPage], geo: GeoScorer | None, bonus: float) -> list[Candidate]:
        """The hits of a node with their geography and age; `geo` is None where nothing geographic is asked."""
        half_life = self.request.freshness
        if geo is None and not half_life:
            return [Candidate(shard, h.page, h.score + bonus, ANYWHERE, 1.0, h.score + bonus) for h in hits]
        near = hits[:RERANKED]
        footprints = shard.footprints([hit.page for hit in near]) if geo else {}
        today = day_number(self.today)
        found = []
        for hit in near:
            text = hit.score + bonus
            weighed = geo.score(footprints.get(hit.page, ())) if geo else ANYWHERE
            fresh = freshness(hit.day, today, half_life)
            found.append(Candidate(shard, hit.page, text, weighed, fresh, text * weighed.value * fresh))
        for hit in hits[RERANKED:]:
            text = hit.score + bonus
            found.append(Candidate(shard, hit.page, text, ANYWHERE, 1.0, text, deep=True))
        return found

    def _unique(self, candidates: Sequence[Candidate]) -> list[Found]:
        """The candidates with their records; what says the same is shown once, at its best."""
        by_shard: dict[str, list[int]] = {}
        for candidate in candidates:
            by_shard.setdefault(candidate.shard.key, []).append(candidate.page)
        records = {
            (shard.key, page): record
            for shard in self.shards
            for page, record in shard.records(by_shard.get(shard.key, [])).items()
        }
        shown = Shown()
        unique = []
        for candidate in candidates:
            record = records.get((candidate.shard.key, candidate.page))
            if record and shown.take(record):
                unique.append((candidate, record))
        return [
            (replace(one, alike=n) if n else one, record) for (one, record), n in zip(unique, shown.counts, strict=True)
        ]
