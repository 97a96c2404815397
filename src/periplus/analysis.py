"""The pure stages of the story: read ─▶ locate ─▶ judge ─▶ assign. Bytes in, values out.

`node.py` comes before (lease, fetch) and after (commit). This part runs in guarded worker processes, so the texts are
compressed and the WARC record is finished here: what comes back is ready to be written.
"""

import importlib
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

import msgspec
import xxhash
import zstandard

from periplus.content import Content, content_of, own_words
from periplus.fetch.sitemaps import read_sitemap
from periplus.frontier.likeness import likeness
from periplus.model import Analysis, Entity, Fetched, Link, Links, Located, Outcome, Page, Score, WeightedPlace
from periplus.pages import decode_html, read_page, searched_date
from periplus.places import Gazetteer, address_grammar, locate, main_place
from periplus.places.support import rounded
from periplus.settings import CrawlSettings, FetchSettings
from periplus.store.archive import page_records, payload_digest
from periplus.strategies import BlendStrategy, Known, Ownership, Strategy, choose
from periplus.strategies.weighing import Terms
from periplus.topics import (
    LinkParts,
    LinkScorer,
    Topic,
    View,
    best_parts,
    judge_list,
    judge_view,
    link_priority,
    packed_parts,
)
from periplus.urls import Checked, fingerprint, link_steps, url_rules

__all__ = [
    "Examined",
    "Lens",
    "analyse",
    "analysis_reader",
    "assign_links",
    "conclude",
    "examine",
    "judged",
    "worker_function",
    "written_analysis",
]

ANCHOR_CHARACTERS = 100
"""How much of what a link says is kept for the index."""

REMEMBERED_PLACES = 4_096

_ENCODER = msgspec.msgpack.Encoder()
_COMPRESSOR = zstandard.ZstdCompressor(1)  # 2 % more bytes than level 3 for little more than half the time


@dataclass(frozen=True, slots=True)
class Lens:
    """Everything the pure stages look at a page with."""

    gazetteer: Gazetteer
    topics: tuple[Topic, ...]
    strategy: Strategy
    ownership: Ownership
    crawl: CrawlSettings
    fetch: FetchSettings
    warc: bool
    countries: tuple[str, ...] = ()
    """Codes of the countries that the topics' places lie in; none if they are many."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A page that was read, located and judged; its links have no nodes yet."""

    page: Page
    located: Located
    content: Content
    scores: tuple[Score, ...]  # for each topic


def analyse(fetched: Fetched, lens: Lens) -> Analysis:
    """What a response is, where it is about, whether it is wanted and where its links go. No clock, network or disk."""
    if fetched.sitemap:
        return _analyse_sitemap(fetched, lens)
    return conclude(fetched, examine(fetched, lens), lens)


def examine(fetched: Fetched, lens: Lens) -> Examined:
    """The first three stages: read, locate, judge. They do not depend on the strategy."""
    page = read_page(fetched, max_links=lens.crawl.page_links, window_tokens=lens.crawl.anchor_window)
    located = locate(
        page.text,
        lens.gazetteer,
        url=page.url,
        hints=page.hints,
        candidates=False,
        outlined=False,
        about=lens.countries,
        furniture=page.furniture,
        language=page.language,
    )
    content = content_of(page, located)
    return Examined(
        page, located, content, judged(page, located, content, lens.topics, today=fetched.fetched_at.date())
    )


def judged(
    page: Page, located: Located, content: Content, topics: tuple[Topic, ...], today: date | None = None
) -> tuple[Score, ...]:
    """How relevant a page is to each topic, by what it says; a list of links also by what it says itself."""
    view = View(content.page, content.located)
    scores = [judge_view(view, topic, today) for topic in topics]
    wanted = any(score.relevant and topic.keywords for score, topic in zip(scores, topics, strict=True))
    own = own_words(page, located) if wanted else None
    if own is None:
        return tuple(scores)
    view = View(own.page, own.located)
    return tuple(judge_list(score, view, topic) for score, topic in zip(scores, topics, strict=True))


def conclude(fetched: Fetched, examined: Examined, lens: Lens) -> Analysis:
    """The last stage, assign, and everything as it is to be written."""
    page, located, content, scores = examined.page, examined.located, examined.content, examined.scores
    score = max(scores, key=lambda one: (one.relevant, link_priority(one)))
    links, said, dropped = assign_links(examined, lens, fetched.address)
    links = msgspec.structs.replace(links, steps=_steps(page, links.urls, lens.crawl.depth))

    outcome = Outcome.KEPT if lens.crawl.keep == "all" or score.relevant else Outcome.NOT_RELEVANT
    if page.noindex:
        outcome = Outcome.NOT_INDEXED
    elif not (page.title or page.text):
        outcome = Outcome.EMPTY
    if lens.crawl.follow == "relevant" and not any(one.relevant or one.leads for one in scores):
        dropped["not_followed"] += len(links)
        links, said = Links(), []
    kept = outcome is Outcome.KEPT
    text, stored = page.text.encode("utf-8", "replace"), content.stored_text.encode("utf-8", "replace")
    payload = payload_digest(fetched.body) if kept else ""
    main = main_place(content.located, content.page.text, page.title)
    return Analysis(
        title=page.title,
        description=page.description,
        language=page.language,
        published=_published(page, fetched) if kept else page.published,
        topics=tuple(topic.name for topic, one in zip(lens.topics, scores, strict=True) if one.relevant),
        outcome=outcome,
        nofollow=page.nofollow,
        score=score,
        link_priority=link_priority(score),
        main_place=main.id if main else None,
        places=located.footprint.places,
        entities=_entities(located, lens),
        links=links,
        anchors=_COMPRESSOR.compress("\n".join(said).encode("utf-8", "replace")),
        dropped=dict(dropped),
        content_digest=_digest(page.title, text),
        likeness=likeness(text),
        text=_COMPRESSOR.compress(stored) if kept else b"",
        mentions=_pack_mentions(content.located) if kept else b"",
        warc=page_records(fetched, _archived_facts(page), payload) if kept and lens.warc else (),
        payload=payload,
    )


def _steps(page: Page, urls: tuple[str, ...], depth: int) -> bytes:
    """How much deeper each link leads: not at all where the page says that its own content is (`store/versions.py`)."""
    steps = link_steps(page.url, urls, depth, [link.url for link in page.links])
    return bytes([0 if url == page.version_of else step for url, step in zip(urls, steps, strict=True)])


def _analyse_sitemap(fetched: Fetched, lens: Lens) -> Analysis:
    """A sitemap is a page without text: its links are judged and assigned by what their URLs say."""
    found = read_sitemap(fetched.body, fetched.url, max_bytes=lens.fetch.sitemap_bytes, max_urls=lens.crawl.host_pages)
    page = Page(fetched.url, "", "", tuple(Link(entry.url, "") for entry in found.entries), dropped=found.dropped)
    score = Score(0.0, 0.0, False)
    links, _, dropped = assign_links(_unread(page, (score,) * len(lens.topics)), lens, fetched.address)
    return Analysis(
        title="",
        description="",
        language="",
        published=None,
        outcome=Outcome.SITEMAP,
        nofollow=False,
        score=score,
        link_priority=link_priority(score),
        main_place=None,
        places=(),
        entities=(),
        links=links,
        dropped=dict(dropped),
        content_digest=0,
        sitemaps=found.sitemaps,
        lastmods=tuple((fingerprint(entry.url), entry.lastmod) for entry in found.entries if entry.lastmod),
    )


def _unread(page: Page, scores: tuple[Score, ...]) -> Examined:
    """A page of which there are only links."""
    return Examined(page, Located(), Content(page, Located()), scores)


def _published(page: Page, fetched: Fetched) -> date | None:
    """The day that a kept page was published, also where it has to be searched for."""
    if page.published is not None or not page.names_a_day:
        return page.published
    html = decode_html(fetched.body, fetched.content_type, fetched.url)
    return searched_date(html, fetched.url, fetched.fetched_at.date())


def _archived_facts(page: Page) -> dict[str, str]:
    """What the archive's metadata record says of a page."""
    return {"title": page.title, "language": page.language, "canonical": page.canonical or ""}


def assign_links(examined: Examined, lens: Lens, address: str) -> tuple[Links, list[str], Counter[str]]:
    """Send each link that passes the URL rules to its node, or count why it was dropped; what links say comes along."""
    page = examined.page
    dropped: Counter[str] = Counter(page.dropped)
    if page.nofollow:
        dropped["nofollow"] += len(page.links)
        return Links(), [], dropped
    links: list[Link] = []
    checked: list[Checked] = []
    check = url_rules(lens.crawl.url_length, lens.fetch.ports, lens.crawl.scope).check
    for url, link in _first_of_each(page.links).items():
        found = check(url)
        if found.reason:
            dropped[found.reason] += 1
        else:
            links.append(link)
            checked.append(found)
    nodes, evidence = _receivers(links, checked, examined, lens, Known(address=address))
    if lens.crawl.policy == "b":  # a row for each node of a link
        checked = [one for one, to in zip(checked, nodes, strict=True) for _ in to]
        links = [link for link, to in zip(links, nodes, strict=True) for _ in to]
    return (
        msgspec.structs.replace(
            _scored(links, checked, examined, lens.topics),
            nodes=tuple([node for to in nodes for node in to]),
            evidence=evidence,
        ),
        [link.anchor[:ANCHOR_CHARACTERS] for link in links],
        dropped,
    )


def _scored(links: list[Link], checked: list[Checked], examined: Examined, topics: tuple[Topic, ...]) -> Links:
    """The links without nodes, each with its priority for the topic it promises most to, and the parts of it."""
    page, located = examined.page, examined.located
    scorers = [LinkScorer(page, located, one, topic) for one, topic in zip(examined.scores, topics, strict=True)]
    parts, width = best_parts(scorers, links), len(LinkParts._fields)
    return Links(
        urls=tuple([link.url for link in links]),
        hosts=tuple([one.host for one in checked]),
        marks=array("q", [one.fingerprint for one in checked]).tobytes(),
        priorities=parts[width - 1 :: width].tobytes(),
        parts=packed_parts(parts),
        steps=b"\x01" * len(links),
        features=tuple(scorers[0].features(links)),
    )


def _receivers(
    links: list[Link], checked: list[Checked], examined: Examined, lens: Lens, known: Known
) -> tuple[list[tuple[str, ...]], tuple[Terms, ...]]:
    """The nodes that each link goes to, and what speaks for which where that is settled later."""
    page, located = examined.page, examined.located
    if type(lens.strategy) is BlendStrategy and lens.crawl.policy == "a":
        # What speaks for the nodes goes along; the node is settled where the hosts' memory is, in `Node`.
        evidence = tuple(lens.strategy.evidence(links, page, located, known))
        nodes: list[tuple[str, ...]] = [(lens.ownership.general_for(one.host),) for one in checked]
        return nodes, evidence if any(evidence) else ()
    claims = lens.strategy.route(links, page, located, known)
    if lens.crawl.policy == "a":
        return [(claimed[0].node,) for claimed in claims], ()
    return [tuple([one.node for one in choose(claimed, lens.crawl.policy)]) for claimed in claims], ()


def _first_of_each(links: tuple[Link, ...]) -> dict[str, Link]:
    """Links in document order, each URL once."""
    first: dict[str, Link] = {}
    for link in links:
        first.setdefault(link.url, link)
    return first


def _entities(located: Located, lens: Lens) -> tuple[Entity, ...]:
    """The page's addresses with the nodes that own their cities."""
    entities = []
    for address in located.addresses:
        owned = lens.ownership.owner(lens.gazetteer.place(address.place_id))
        entities.append(Entity(address.place_id, address.key, address.level, owned[0] if owned else None))
    return tuple(entities)


def _digest(title: str, text: bytes) -> int:
    digest = xxhash.xxh3_64_intdigest(title.encode("utf-8", "replace") + b"\n" + text)
    return digest - (1 << 64) if digest >= 1 << 63 else digest


def _pack_mentions(located: Located) -> bytes:
    rows = [
        (mention.start, mention.end, mention.place.id, rounded(mention.confidence, 3))
        for mention in located.mentions
        if mention.place is not None
    ]
    return _COMPRESSOR.compress(msgspec.json.encode(rows))


def worker_function(lens: Lens) -> Callable[[bytes], bytes]:
    """`analyse` between bytes, as worker processes speak; what it gives is read by `analysis_reader`."""
    _load_what_workers_share()
    decoder = msgspec.msgpack.Decoder(Fetched)
    return lambda job: written_analysis(analyse(decoder.decode(job), lens))


def _load_what_workers_share() -> None:
    """What takes long to load and not every page needs: before workers are forked, so that none loads it by itself."""
    importlib.import_module("htmldate")
    for capitals in (True, False):
        address_grammar.middle(capitals=capitals)


def written_analysis(found: Analysis) -> bytes:
    """What a worker gives for a page: values without their names.

    Places travel by their ids: with name and hierarchy they were most of it.
    """
    weights = [(one.place.id, one.weight) for one in found.places]
    return _ENCODER.encode((weights, msgspec.structs.replace(found, places=())))


def analysis_reader(gazetteer: Gazetteer) -> Callable[[bytes], Analysis]:
    """Reads what a worker gave (`written_analysis`)."""
    decoder = msgspec.msgpack.Decoder(tuple[list[tuple[int, float]], Analysis])
    place = lru_cache(REMEMBERED_PLACES)(gazetteer.place)

    def read(result: bytes) -> Analysis:
        weights, found = decoder.decode(result)
        places = tuple([WeightedPlace(place(place_id), weight) for place_id, weight in weights])
        return msgspec.structs.replace(found, places=places)

    return read
