"""A collection: all nodes of one crawl or several, searched as one.

Previous stage: `index` keeps each node's pages; next: the commands and the web page show what comes out here.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from periplus.errors import NotACrawl, QueryError
from periplus.index import IndexQuery, TextUnit
from periplus.search.alike import Shown
from periplus.search.answers import HitBuilder
from periplus.search.atlas import Atlas, PlaceNames
from periplus.search.describe import describe, page_view
from periplus.search.facets import place_tree
from periplus.search.question import Question, understand
from periplus.search.ranking import ANYWHERE, GeoScore, GeoScorer
from periplus.search.related import nearby_pages, similar_pages
from periplus.search.request import MOST_RESULTS, Circle, SearchRequest
from periplus.search.results import Facets, MapPoint, SearchResult, Suggestions, Trend, Understood
from periplus.search.shard import PageRecord, Shard
from periplus.search.spelling import complete_places, complete_words, did_you_mean
from periplus.search.trend import Every, bucket_days
from periplus.search.where import AROUND_KM, Where
from periplus.store.folder import CrawlFolder

__all__ = ["Candidate", "Collection"]

RERANKED = 300
"""Hits of each node whose geography is weighed; deeper ones keep the order of their text score."""

SPARE = 40
"""Hits looked at beyond those shown, in case some are the same page in two nodes."""

FACETS = {"place_path": 200, "topic": 20, "domain": 10, "language": 10}
"""Values of each facet that are counted."""

LONGEST_TYPED = 100
"""Characters that are completed."""

MOST_PLACES = 65_000
MOST_DAYS = 60_000
MOST_POINTS = 5_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hit on its way: where it is, and its score so far."""

    shard: Shard
    page: int
    text_score: float
    geo: GeoScore
    score: float
    deep: bool = False  # beyond those whose geography is weighed
    alike: int = 0  # near-duplicates that it stands for


Found = tuple[Candidate, PageRecord]
"""A hit with what it shows."""


class Collection:
    """All nodes of the given crawls. Any thread may ask."""

    def __init__(self, folders: Sequence[CrawlFolder], shards: Sequence[Shard], names: PlaceNames | None) -> None:
        self.folders = tuple(folders)
        self.shards = tuple(shards)
        self._names = names
        self._turn = threading.Lock()
        self._adopt()

    @classmethod
    def open(
        cls,
        folders: Iterable[Path | str],
        *,
        names: PlaceNames | None = None,
        update: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> "Collection":
        """Open the crawls in these folders; their indexes are brought up to date first, unless told not to.

        `names`: a gazetteer for other names of places. Raises NotACrawl for a folder that holds none.
        """
        crawls = [CrawlFolder.existing(Path(folder)) for folder in folders]
        if not crawls:
            raise NotACrawl("no folder given; name the folder of a crawl")
        nodes = [(crawl, node) for crawl in crawls for node in crawl.nodes()]
        if not nodes:
            raise NotACrawl(f"{crawls[0].path}: this crawl has no pages yet; run `periplus crawl` first")
        plain = [node.name for _, node in nodes]
        shards = [
            Shard.open(node.name if plain.count(node.name) == 1 else f"{crawl.path.resolve().name}.{node.name}", node)
            for crawl, node in nodes
        ]
        if update:
            _update(shards, progress)
        return cls(crawls, shards, names)

    def close(self) -> None:
        """Close all databases."""
        for shard in self.shards:
            shard.close()

    def __enter__(self) -> "Collection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def refresh(self) -> bool:
        """Take in what was crawled since; whether there was anything. Cheap when nothing is new."""
        with self._turn:
            changed = _update(self.shards)
            if changed:
                self._adopt()
            return changed

    def warm_up(self) -> None:
        """Do now what the first question would have to wait for: reading the gazetteer's names."""
        self._atlas.named("periplus")

    def _adopt(self) -> None:
        """Read the places anew, with how many pages name each and how many are mainly about each."""
        pages: Counter[int] = Counter()
        mainly: Counter[int] = Counter()
        for shard in self.shards:
            for path, count in shard.index.counts(IndexQuery(), {"place_path": MOST_PLACES})["place_path"].items():
                pages[int(path.rpartition("/")[2])] += count
            mainly.update(shard.index.numbers(IndexQuery(), "main_place", MOST_PLACES))
        rows = (row for shard in self.shards for row in shard.places())
        self._atlas = Atlas.from_rows(rows, pages, mainly, self._names)
        self._languages = frozenset[str]().union(*(shard.index.languages for shard in self.shards))

    @property
    def atlas(self) -> Atlas:
        """The places of the collection."""
        return self._atlas

    @property
    def languages(self) -> frozenset[str]:
        """Languages of the pages."""
        return self._languages

    def count(self, query: IndexQuery) -> int:
        """Pages that answer an index question, over all nodes."""
        return sum(shard.index.count(query) for shard in self.shards)

    # -- Asking ----------------------------------------------------------------------------------

    def understand(self, request: SearchRequest) -> Question:
        """What the request means in this collection."""
        return understand(request, self._atlas, self._languages, self._pages_with)

    def _pages_with(self, text: str) -> int:
        return self.count(IndexQuery(required=((TextUnit(text),),)))

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer a request. Raises QueryError, in one line, for what cannot be understood."""
        if request.offset + request.limit > MOST_RESULTS:
            raise QueryError(f"offset + limit must be at most {MOST_RESULTS:,}; narrow the question instead")
        began = time.perf_counter()
        question = self.understand(request)
        relaxed = False
        if len(question.query.required) > 1 and not self.count(question.query):
            question, relaxed = replace(question, query=question.query.relaxed()), True
        total, ranked = self._ranked(request, question)
        window = ranked[request.offset : request.offset + request.limit]
        builder = HitBuilder(question, self._atlas, self._languages, explain=request.explain)
        inside = "in" if question.where else ""
        hits = builder.hits(window, request.offset + 1, inside)
        if total < request.limit:
            around = self._neighbours(request, question, ranked)
            hits.extend(builder.hits(around, total + 1, "near"))
        meant = ""
        if relaxed or not total:
            words = [word for word in question.what if not word.excluded]
            meant = did_you_mean(request.text, words, self._atlas, self.words, self._pages_with)
        return SearchResult(
            understood=_understood(request, question),
            total=total,
            hits=tuple(hits),
            facets=self.facets(question.query),
            seconds=time.perf_counter() - began,
            relaxed=relaxed,
            did_you_mean=meant,
        )

    def _neighbours(self, request: SearchRequest, question: Question, found: Sequence[Found]) -> list[Found]:
        """Hits of places around the one asked for, to fill up a first page that has few; none for states and larger."""
        place = question.where.place
        if place is None or place.point is None or place.kind not in ("city", "feature") or not question.query.required:
            return []
        circle = Circle(place.point, AROUND_KM)
        near = [other.id for other in self._atlas.within(circle) if not other.is_inside(place)]
        where = Where(circle=circle)
        query = replace(question.query, paths=(), place_ids=tuple(near), focus=None)
        _, around = self._ranked(request, replace(question, query=query, where=where))
        known = {record.url for _, record in found}
        return [pair for pair in around if pair[1].url not in known][: request.limit - len(found)]

    def _ranked(self, request: SearchRequest, question: Question) -> tuple[int, list[Found]]:
        """All hits up to the end of the window, in order, each page once; and how many there are in all."""
        needed = request.offset + request.limit
        nothing_to_rank_by = not question.query.required and not question.query.paths and not question.query.place_ids
        by_time = request.sort == "time" or nothing_to_rank_by
        geo = GeoScorer(question.where, self._atlas) if question.where else None
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
        return (len(records) if total <= len(candidates) else total), records

    def _candidates(
        self, question: Question, geo: GeoScorer | None, wanted: int, *, by_time: bool
    ) -> tuple[int, list[Candidate]]:
        """The best hits of all nodes in order, `wanted` of them, and how many there are in all."""
        candidates: list[Candidate] = []
        total = 0
        for shard in self.shards:
            most = min(MOST_RESULTS, wanted if by_time or geo is None else max(RERANKED, wanted))
            ranking = shard.index.top(question.query, most, by_time=by_time)
            total += ranking.total
            scored = [(hit.page, hit.score if question.query.required else 1.0 + hit.score) for hit in ranking.hits]
            candidates.extend(self._weigh(shard, scored, geo))
        if not by_time:
            candidates.sort(key=lambda one: (one.deep, -one.score, one.shard.key, one.page))
            candidates = candidates[:wanted]
        return total, candidates

    def _weigh(self, shard: Shard, hits: Sequence[tuple[int, float]], geo: GeoScorer | None) -> list[Candidate]:
        """The hits of a node with their geography; `geo` is None where nothing geographic is asked."""
        if geo is None:
            return [Candidate(shard, page, score, ANYWHERE, score) for page, score in hits]
        footprints = shard.footprints([page for page, _ in hits[:RERANKED]])
        found = []
        for page, score in hits[:RERANKED]:
            weighed = geo.score(footprints.get(page, ()))
            found.append(Candidate(shard, page, score, weighed, score * weighed.value))
        found.extend(Candidate(shard, page, score, ANYWHERE, score, deep=True) for page, score in hits[RERANKED:])
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

    def facets(self, query: IndexQuery) -> Facets:
        """How the pages that answer are spread over places, topics, sites and languages."""
        totals: dict[str, dict[str, int]] = {field: {} for field in FACETS}
        for shard in self.shards:
            for field, counts in shard.index.counts(query, FACETS).items():
                for value, count in counts.items():
                    totals[field][value] = totals[field].get(value, 0) + count

        def top(field: str) -> tuple[tuple[str, int], ...]:
            ordered = sorted(totals[field].items(), key=lambda pair: (-pair[1], pair[0]))
            return tuple(ordered[: FACETS[field]])

        return Facets(
            places=place_tree(dict(top("place_path")), self._atlas),
            topics=top("topic"),
            sites=top("domain"),
            languages=top("language"),
        )

    def trend(self, request: SearchRequest, every: Every) -> Trend:
        """How many pages answer, over time."""
        question = self.understand(request)
        days: dict[int, int] = {}
        for shard in self.shards:
            for day, count in shard.index.numbers(question.query, "day", MOST_DAYS).items():
                days[day] = days.get(day, 0) + count
        total = self.count(question.query)
        buckets = bucket_days(days, every)
        dated = sum(bucket.count for bucket in buckets)
        return Trend(_understood(request, question), every, total, max(0, total - dated), buckets)

    def points(self, request: SearchRequest) -> list[MapPoint]:
        """The main places of the pages that answer, with their counts: what a map shows."""
        question = self.understand(request)
        counts: dict[int, int] = {}
        for shard in self.shards:
            for place, count in shard.index.numbers(question.query, "main_place", MOST_POINTS).items():
                counts[place] = counts.get(place, 0) + count
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_POINTS]
        return [MapPoint(known, count) for key, count in ordered if (known := self._atlas.get(key)) and known.point]

    def words(self, prefix: str, most: int | None = None) -> list[tuple[str, int]]:
        """Words of titles and descriptions that begin so, with how many pages have them, the commonest first."""
        counts: Counter[str] = Counter()
        for shard in self.shards:
            counts.update(dict(shard.index.words(prefix, most)))
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]

    def suggest(self, typed: str, most: int = 8) -> Suggestions:
        """What a question that begins so may go on with: places of the collection, and words of its pages."""
        typed = typed[:LONGEST_TYPED]
        before, places = complete_places(typed, self._atlas, most)
        return Suggestions(before, tuple(places), tuple(complete_words(typed, self.words, most)))

    def page(self, node: str, page: int, text: str = "") -> dict[str, Any] | None:
        """A page with its text, places and scores, and marks for the words of `text`; None if there is none."""
        shard = self.shard(node)
        record = shard.records([page]).get(page) if shard else None
        if shard is None or record is None:
            return None
        question = self.understand(SearchRequest.of(text))
        view = page_view(shard, record, question, self._atlas, self._languages)
        return view | {
            "similar": similar_pages(self.shards, shard, record, self._atlas),
            "nearby": nearby_pages(self.shards, shard, record, self._atlas),
        }

    def info(self) -> dict[str, Any]:
        """What the collection holds: crawls, nodes and what they own, counts, dates, busiest places."""
        return describe(self.folders, self.shards, self._atlas)

    def shard(self, key: str) -> Shard | None:
        """The node of that name."""
        return next((shard for shard in self.shards if shard.key == key), None)


def _update(shards: Sequence[Shard], progress: Callable[[int], None] | None = None) -> bool:
    """Bring the indexes of all nodes up to date; whether any changed. A node's links count for all of its crawl."""
    latest: dict[Path, dict[str, int]] = {}
    for shard in shards:
        latest.setdefault(shard.folder.path.parent, {})[shard.folder.name] = shard.last_revision()
    changed = [shard.update(progress, latest[shard.folder.path.parent]) for shard in shards]
    return any(changed)


def _understood(request: SearchRequest, question: Question) -> Understood:
    return Understood(request.text, question.what_text, question.where, question.days)
