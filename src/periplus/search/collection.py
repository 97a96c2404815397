"""A collection: all nodes of one crawl or several, searched as one.

Previous stage: `index` keeps each node's pages; next: the commands and the web page show what comes out here.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from periplus.clock import Clock, SystemClock
from periplus.errors import NotACrawl, QueryError
from periplus.index import IndexQuery, TextUnit
from periplus.places import Gazetteer
from periplus.search.answerable import answerable
from periplus.search.answers import HitBuilder
from periplus.search.atlas import Atlas, PlaceNames
from periplus.search.counting import count_facets, count_numbers, count_words
from periplus.search.deadline import answer_within
from periplus.search.describe import describe, page_view
from periplus.search.details import evidence_of, links_of
from periplus.search.owners import in_order, owned_places
from periplus.search.question import Question, understand
from periplus.search.ranker import Found, Ranker
from periplus.search.related import nearby_pages, similar_pages
from periplus.search.request import MOST_RESULTS, Circle, SearchRequest
from periplus.search.results import MapPoint, SearchResult, Suggestions, Trend, Understood
from periplus.search.shard import LocalShard, PageRecord, Shard
from periplus.search.spelling import complete_places, complete_words, did_you_mean
from periplus.search.trend import bucket_days, bucket_months, check_every
from periplus.search.where import AROUND_KM, Where
from periplus.settings import Job
from periplus.store.folder import CrawlFolder
from periplus.topic_settings import TopicSettings
from periplus.wording import counted

if TYPE_CHECKING:  # what is asked of other machines takes a quarter of a second to import
    from periplus.search.remote import ClusterLink, RemoteShard

__all__ = ["Collection"]

LONGEST_TYPED = 100
"""Characters that are completed."""

MOST_PLACES = 65_000
MOST_TOPICS = 1_000
MOST_DAYS = 60_000
MOST_POINTS = 5_000


class Collection:
    """All nodes of the given crawls. Any thread may ask."""

    def __init__(
        self,
        folders: Sequence[CrawlFolder],
        shards: Sequence[Shard],
        names: PlaceNames | None,
        clock: Clock | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """`on_close` is called when the collection is closed."""
        self.folders = tuple(folders)
        self._on_close = on_close
        self.shards = tuple(shards)
        self._names = names
        self._clock = clock or SystemClock()
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
        clock: Clock | None = None,
        further: Sequence[Shard] = (),
    ) -> "Collection":
        """Open the crawls in these folders; their indexes are brought up to date first, unless told not to.

        `names`: a gazetteer for other names of places. `further`: nodes that are elsewhere, searched as well.
        Raises NotACrawl for a folder that holds none.
        """
        crawls = [CrawlFolder.existing(Path(folder)) for folder in folders]
        if not crawls:
            raise NotACrawl("no folder given; name the folder of a crawl")
        nodes = [(crawl, node) for crawl in crawls for node in crawl.nodes()]
        if not nodes:
            raise NotACrawl(f"{crawls[0].path}: this crawl has no pages yet; run `periplus crawl` first")
        plain = [node.name for _, node in nodes]
        shards = [
            LocalShard.open(
                node.name if plain.count(node.name) == 1 else f"{crawl.path.resolve().name}.{node.name}", node
            )
            for crawl, node in nodes
        ]
        if update:
            _update(shards, progress)
        return cls(crawls, [*shards, *further], names, clock)

    @classmethod
    def of_cluster(
        cls, link: "ClusterLink", *, names: PlaceNames | None = None, clock: Clock | None = None
    ) -> "Collection":
        """The nodes of a crawl on several machines, asked where they are; closing it closes the link."""
        shards = link.shards()
        _update(shards)
        return cls([], shards, names, clock, on_close=link.close)

    def close(self) -> None:
        """Close all databases."""
        for shard in self.shards:
            shard.close()
        if self._on_close is not None:
            self._on_close()

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(Path(shard.crawl).name for shard in self.shards))
        pages, nodes = counted(self.count(IndexQuery()), "page"), counted(len(self.shards), "node")
        return f"<Collection {names}: {pages} in {nodes}>"

    def _repr_html_(self) -> str:
        """How notebooks show it: the busiest places."""
        info = self.info()
        rows = "".join(
            f"<tr><td>{escape(place['label'])}</td><td>{place['main_pages']:,}</td></tr>"
            for place in info["top_places"]
        )
        head = f"{counted(info['pages'], 'page')} about {counted(info['places'], 'place')}"
        if info["first"]:
            head += f", {info['first']} to {info['last']}"
        return f"<p>{head}</p><table><thead><tr><th>place</th><th>pages</th></tr></thead><tbody>{rows}</tbody></table>"

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
        """Read the places anew, with how many pages name each and how many are mainly about each; and the topics."""
        pages: Counter[int] = Counter()
        mainly: Counter[int] = Counter()
        topics: set[str] = set()
        for shard in self.shards:
            counts = shard.index.counts(IndexQuery(), {"place_path": MOST_PLACES, "topic": MOST_TOPICS})
            for path, count in counts["place_path"].items():
                pages[int(path.rpartition("/")[2])] += count
            topics |= counts["topic"].keys() | _topics_of(shard.job())
            mainly.update(shard.index.numbers(IndexQuery(), "main_place", MOST_PLACES))
        rows = (row for shard in self.shards for row in shard.places())
        self._atlas = Atlas.from_rows(rows, pages, mainly, self._names)
        self._languages = frozenset[str]().union(*(shard.index.languages for shard in self.shards))
        self._topics = frozenset(topics)
        self._owned = owned_places(self.shards, self._atlas)

    @property
    def version(self) -> str:
        """Changes whenever an answer may change."""
        return " ".join(f"{shard.key}:{shard.index.stamp}" for shard in self.shards)

    @property
    def missing(self) -> tuple[str, ...]:
        """The nodes that say nothing now."""
        return self._missing()

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
        today, known = self._clock.now().date(), (self._languages, self._topics)
        return understand(request, self._atlas, *known, self._pages_with, today=today)

    def _asked(self, request: SearchRequest) -> tuple[Question, bool]:
        """What is asked of the nodes, and whether that is any of the words, since no page has all of them."""
        return answerable(request, self.understand, self.count)

    def _pages_with(self, text: str) -> int:
        return self.count(IndexQuery(required=((TextUnit(text),),)))

    def search(self, request: SearchRequest | str, *, seconds: float | None = None, **options: Any) -> SearchResult:
        """Answer a request. Raises QueryError, in one line, for what cannot be understood.

        A text is taken as `SearchRequest.of` takes it, with its `options` (place, near, since, limit …) and up to 100
        results.
        Nodes that own the place asked about are asked first; after `seconds` no further node is, and the answer says
        which are `missing`.
        """
        if isinstance(request, str):
            request = SearchRequest.of(request, **({"limit": 100} | options))
        if request.offset + request.limit > MOST_RESULTS:
            raise QueryError(f"offset + limit must be at most {MOST_RESULTS:,}; narrow the question instead")
        with answer_within(seconds):
            return self._answered(request, seconds)

    def _answered(self, request: SearchRequest, seconds: float | None) -> SearchResult:
        began = time.monotonic()
        question, relaxed = self._asked(request)
        shards = in_order(self.shards, question.where, self._owned)
        deadline = None if seconds is None else began + seconds
        ranker = Ranker(shards, self._atlas, request, self._clock.now().date(), deadline)
        total, ranked = ranker.ranked(question)
        builder = HitBuilder(question, self._atlas, self._languages, explain=request.explain)
        window = ranked[request.offset : request.offset + request.limit]
        hits = builder.hits(window, request.offset + 1, "in" if question.where else "")
        if not request.offset and len(ranked) < request.limit:
            around = self._neighbours(ranker, question, ranked)
            hits.extend(builder.hits(around, len(ranked) + 1, "near"))
        facets = count_facets(self.shards, question.query, self._atlas)
        missing = self._missing(ranker.missing)
        return SearchResult(
            understood=self._understood(request, question),
            total=total,
            hits=tuple(hits),
            facets=facets,
            seconds=time.monotonic() - began,
            relaxed=relaxed,
            did_you_mean=self._meant(request, question) if relaxed or not total else "",
            nodes=tuple(shard.key for shard in shards if shard.key not in missing),
            missing=missing,
            as_of=self._as_of(request),
        )

    def _missing(self, late: Sequence[str] = ()) -> tuple[str, ...]:
        """The nodes that an answer lacks: those that were not asked for want of time, and those that said nothing."""
        return tuple(shard.key for shard in self.shards if shard.key in late or shard.is_silent)

    def _as_of(self, request: SearchRequest) -> str:
        """The state that the answer is of: that which was asked for, else this moment's."""
        now = {shard.key: shard.index.stamp for shard in self.shards}
        return ",".join(f"{key}:{stamp}" for key, stamp in (now | dict(request.as_of)).items() if key in now)

    def _understood(self, request: SearchRequest, question: Question) -> Understood:
        query = question.query
        silent = tuple(site for site in query.sites if not self.count(IndexQuery(sites=(site,))))
        filters = query.topics, query.sites, query.excluded_sites, query.languages
        where, days = question.where, question.days
        return Understood(
            request.text, question.what_text, where, days, *filters, question.absent, silent, question.without
        )

    def _meant(self, request: SearchRequest, question: Question) -> str:
        words = [word for word in question.what if not word.excluded]
        return did_you_mean(request.text, words, self._atlas, self.words, self._pages_with)

    def _neighbours(self, ranker: Ranker, question: Question, found: Sequence[Found]) -> list[Found]:
        """Hits of places around the one asked for, to fill up a first page that has few; none for states and larger."""
        place = question.where.place if len(question.where.places) == 1 else None
        if place is None or place.point is None or place.kind not in ("city", "feature") or not question.query.required:
            return []
        circle = Circle(place.point, AROUND_KM)
        near = [other.id for other in self._atlas.within(circle) if not other.is_inside(place)]
        where = Where(circle=circle, beside=place)
        query = replace(question.query, paths=(), place_ids=tuple(near), focus=None)
        _, around = ranker.ranked(replace(question, query=query, where=where))
        known = {record.url for _, record in found}
        return [pair for pair in around if pair[1].url not in known][: ranker.request.limit - len(found)]

    def facets_of(self, request: SearchRequest) -> dict[str, Any]:
        """How the pages that answer are spread, without the pages."""
        question, relaxed = self._asked(request)
        facets = count_facets(self.shards, question.query, self._atlas)
        total = self.count(question.query)
        return {
            "query": self._understood(request, question).to_json(),
            "total": total,
            "facets": facets.to_json(),
            "relaxed": relaxed,
            "missing": list(self._missing()),
        }

    def trend(self, request: SearchRequest | str, every: str = "month", **options: Any) -> Trend:
        """How many pages answer, over time: by day, week, month or year. A text is taken as `search` takes it."""
        bucket = check_every(every)
        if isinstance(request, str):
            request = SearchRequest.of(request, **options)
        question, relaxed = self._asked(request)
        total = self.count(question.query)
        if bucket in ("month", "year"):
            buckets = bucket_months(count_numbers(self.shards, question.query, "month", MOST_DAYS), bucket)
        else:
            buckets = bucket_days(count_numbers(self.shards, question.query, "day", MOST_DAYS), bucket)
        dated = sum(one.count for one in buckets)
        undated = max(0, total - dated)
        return Trend(self._understood(request, question), bucket, total, undated, buckets, self._missing(), relaxed)

    def points(self, request: SearchRequest) -> list[MapPoint]:
        """The main places of the pages that answer, with their counts: what a map shows."""
        question, _ = self._asked(request)
        counts = count_numbers(self.shards, question.query, "main_place", MOST_POINTS)
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_POINTS]
        return [MapPoint(known, count) for key, count in ordered if (known := self._atlas.get(key)) and known.point]

    def words(self, prefix: str, most: int | None = None) -> list[tuple[str, int]]:
        """Words of titles and descriptions that begin so, with how many pages have them, the commonest first."""
        return count_words(self.shards, prefix, most)

    def suggest(self, typed: str, most: int = 8) -> Suggestions:
        """What a question that begins so may go on with: places of the collection, and words of its pages."""
        typed = typed[:LONGEST_TYPED]
        before, places = complete_places(typed, self._atlas, most)
        return Suggestions(before, tuple(places), tuple(complete_words(typed, self.words, most)))

    def page(self, node: str, page: int, text: str = "") -> dict[str, Any] | None:
        """A page with its text, places and scores, and marks for the words of `text`; None if there is none."""
        found = self._record(node, page)
        if found is None:
            return None
        question = self.understand(SearchRequest.of(text))
        return page_view(*found, question, self._atlas, self._languages) | self._related(*found)

    def related(self, node: str, page: int) -> dict[str, Any] | None:
        """Pages like a page, and pages about places near its own; None if there is no such page."""
        found = self._record(node, page)
        return self._related(*found) if found else None

    def details(self, node: str, page: int, gazetteer: Gazetteer) -> dict[str, Any] | None:
        """Why a page was kept, its links and their assignments; None if there is no such page."""
        found = self._record(node, page)
        if found is None:
            return None
        links = links_of(found[0], page, self.shards)
        archived = found[0].is_archived(page)
        return {"evidence": evidence_of(*found, gazetteer), "links": links, "archived": archived}

    def archive_record(self, node: str, page: int) -> bytes | None:
        """The page's WARC record; None if there is none."""
        found = self._record(node, page)
        return found[0].archive_record(page) if found else None

    def _record(self, node: str, page: int) -> tuple[Shard, PageRecord] | None:
        shard = self.shard(node)
        record = shard.records([page]).get(page) if shard else None
        return (shard, record) if shard and record else None

    def _related(self, shard: Shard, record: PageRecord) -> dict[str, Any]:
        return {
            "similar": similar_pages(self.shards, shard, record, self._atlas),
            "nearby": nearby_pages(self.shards, shard, record, self._atlas),
        }

    def info(self) -> dict[str, Any]:
        """What the collection holds: crawls, nodes and what they own, counts, dates, busiest places."""
        return describe(self.shards, self._atlas)

    def shard(self, key: str) -> Shard | None:
        """The node of that name."""
        return next((shard for shard in self.shards if shard.key == key), None)


def _update(shards: Sequence[Shard], progress: Callable[[int], None] | None = None) -> bool:
    """Bring the indexes of all nodes up to date; whether any changed. A node's links count for all of its crawl."""
    latest: dict[str, dict[str, int]] = {}
    here = [shard for shard in shards if isinstance(shard, LocalShard)]
    for shard in here:
        latest.setdefault(shard.crawl, {})[shard.name] = shard.last_revision()
    changed = [shard.update(progress, latest[shard.crawl]) for shard in here]
    changed += [cast("RemoteShard", shard).refresh() for shard in shards if not isinstance(shard, LocalShard)]
    return any(changed)


def _topics_of(job: Job) -> set[str]:
    """The topics that a job looks for, as the index spells them; no page need have been found yet."""
    main = [] if job.topics and job.topic == TopicSettings() else [job.topic.called(job.name)]
    return {name.casefold() for name in (*main, *job.topics)}
