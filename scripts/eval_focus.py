"""Focused crawling on wikispeedia by region: recall of labelled pages after 5, 10 and 25 % of the pages.

Called by eval_topics.py. The crawl is simulated over the real link graph with the real judge and link scorer; a link's
anchor is the title of its target, as the encyclopedia shows it. Seeds: four in the region, and an unrelated one.
"""

import heapq
import json
import os
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from periplus.model import Link, Located, Mention, Page, RoutedLink
from periplus.places import Gazetteer, locate
from periplus.settings import TopicSettings
from periplus.topics import LinkBook, LinkScorer, Topic, judge, make_topic

REGIONS = {
    "Africa": ("subject.Geography.African_Geography", {"Africa": 1.0}),
    "Oceania": ("subject.Geography.Geography_of_Oceania_Australasia", {"Oceania": 1.0}),
    "Great Britain": (
        "subject.Geography.Geography_of_Great_Britain",
        {"United Kingdom": 1.0, "Isle of Man": 1.0, "Jersey": 1.0, "Guernsey": 1.0},
    ),
}
GEOGRAPHY = {
    "geography": 1.0, "island": 0.6, "river": 0.6, "mountain": 0.6, "coast": 0.6, "town": 0.6, "city": 0.6,
    "county": 0.6, "village": 0.6, "region": 0.5, "climate": 0.5, "population": 0.5, "capital": 0.5, "border": 0.5,
    "located": 0.4, "area": 0.4, "land": 0.3,
}  # fmt: skip
"""The labels are the encyclopedia's geography of a region, so this is what the topics are about; the same for all."""
UNRELATED = "Mathematics"
SHARES = (0.05, 0.10, 0.25)
TEXT_CHARS = 3000


@dataclass(frozen=True, slots=True)
class Wiki:
    """Articles with their places, links and categories."""

    pages: dict[str, Page]
    mentions: dict[str, tuple[Mention, ...]]  # of the text
    titles: dict[str, tuple[Mention, ...]]  # of the title
    links: dict[str, list[str]]
    categories: dict[str, set[str]]


def read_wiki(folder: Path, gazetteer: Gazetteer) -> Wiki:
    """The corpus; located articles come from the file that PERIPLUS_LOCATED_WIKI names, if it does."""
    cache = os.environ.get("PERIPLUS_LOCATED_WIKI")
    known = {row[0]: row[1:] for row in map(json.loads, Path(cache).read_text("utf-8").splitlines())} if cache else {}
    pages, mentions, titles = {}, {}, {}
    for file in sorted((folder / "plaintext_articles").glob("*.txt")):
        name = file.stem
        title = unquote(name).replace("_", " ")
        text = file.read_text("utf-8", "replace").replace("#copyright", "")[:TEXT_CHARS].strip()
        pages[name] = Page(f"http://encyclopedia.test/{name}", title, text, (), "en")
        found = known.get(name) or [_packed(part, gazetteer) for part in (title, text)]
        titles[name], mentions[name] = (
            _unpacked(rows, part, gazetteer) for rows, part in zip(found, (title, text), strict=True)
        )
    links: dict[str, list[str]] = {name: [] for name in pages}
    for source, target in _rows(folder / "links.tsv"):
        if source in pages and target in pages:
            links[source].append(target)
    categories: dict[str, set[str]] = {name: set() for name in pages}
    for name, category in _rows(folder / "categories.tsv"):
        if name in categories:
            categories[name].add(category)
    return Wiki(pages, mentions, titles, links, categories)


def _rows(path: Path) -> list[tuple[str, str]]:
    lines = (line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return [(a, b) for a, _, b in (line.partition("\t") for line in lines)]


def _packed(text: str, gazetteer: Gazetteer) -> list[list[float]]:
    found = locate(text, gazetteer, candidates=False).mentions
    return [[m.start, m.end, m.place.id, m.confidence, m.adjectival] for m in found if m.place]


def _unpacked(rows: list[list[float]], text: str, gazetteer: Gazetteer) -> tuple[Mention, ...]:
    return tuple(
        Mention(int(a), int(b), text[int(a) : int(b)], gazetteer.place(int(i)), sure, adjectival=bool(adjectival))
        for a, b, i, sure, adjectival in rows
    )


@dataclass(frozen=True, slots=True)
class Visited:
    """How a page was judged, and its links as the worker hands them on."""

    relevance: float
    links: list[RoutedLink]


Visit = Callable[[str], Visited]


def focused(wiki: Wiki, topic: Topic) -> Visit:
    """Judge and link scorer, as in a crawl."""
    known: dict[str, Visited] = {}
    numbers = {name: number for number, name in enumerate(wiki.pages)}

    def visit(name: str) -> Visited:
        if name not in known:
            page, targets = wiki.pages[name], wiki.links[name]
            anchors = tuple(mention for target in targets for mention in wiki.titles[target])
            score = judge(page, Located(wiki.mentions[name]), topic)
            scorer = LinkScorer(page, Located((*wiki.mentions[name], *anchors)), score, topic)
            routed = []
            for target in targets:
                link = Link(wiki.pages[target].url, wiki.pages[target].title)
                worth = scorer.parts(link).priority
                routed.append(RoutedLink(target, "", numbers[target], "", worth, features=scorer.features(link)))
            known[name] = Visited(score.keyword_relevance * score.place_relevance, routed)
        return known[name]

    return visit


def best_first(wiki: Wiki, visit: Visit, seed: str, limit: int, *, adaptive: bool) -> list[str]:
    """A crawl that fetches the URL that is worth most by its book next."""
    numbers = {name: number for number, name in enumerate(wiki.pages)}
    names = list(numbers)
    book, heap = LinkBook(adaptive=adaptive), [(-1.0, 0, seed)]
    fetched: dict[str, None] = {}
    best, order = {seed: 1.0}, {seed: 0}
    while heap and len(fetched) < limit:
        priority, _, name = heapq.heappop(heap)
        if name in fetched or -priority != best[name]:
            continue
        fetched[name] = None
        page = visit(name)
        book.learn(numbers[name], page.relevance)
        links = [link for link in page.links if link.url not in fetched]
        for link, worth in zip(links, book.value(links), strict=True):
            if link.url not in best:
                best[link.url] = worth
                heapq.heappush(heap, (-worth, order.setdefault(link.url, len(order)), link.url))
        for number, worth in book.take_changed(""):  # as the frontier learns of it
            best[names[number]] = worth
            heapq.heappush(heap, (-worth, order[names[number]], names[number]))
    return list(fetched)


def breadth_first(wiki: Wiki, seed: str, limit: int) -> list[str]:
    """Links in the order they are found."""
    order, queue = {seed: None}, deque([seed])
    while queue and len(order) < limit:
        for target in wiki.links[queue.popleft()]:
            if target not in order:
                order[target] = None
                queue.append(target)
    return list(order)[:limit]


def at_random(wiki: Wiki, seed: str, limit: int) -> list[str]:
    """Any known link next."""
    draw = random.Random(seed)
    fetched: list[str] = []
    waiting, known = [seed], {seed}
    while waiting and len(fetched) < limit:
        at = draw.randrange(len(waiting))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        name = waiting.pop()
        fetched.append(name)
        new = [target for target in dict.fromkeys(wiki.links[name]) if target not in known]
        known.update(new)
        waiting += new
    return fetched


def measure_focus(folder: Path, gazetteer: Gazetteer) -> dict[str, float]:
    """Print the table; give the mean recall at 10 % of the focused crawl, from in-region and unrelated seeds."""
    wiki = read_wiki(folder, gazetteer)
    limits = [round(share * len(wiki.pages)) for share in SHARES]
    print(f"Focused crawling, recall after {', '.join(f'{s:.0%}' for s in SHARES)} of {len(wiki.pages)} pages")
    at_ten: dict[str, list[float]] = {}
    for region, (category, places) in REGIONS.items():
        labelled = {n for n, found in wiki.categories.items() if any(c.startswith(category) for c in found)}
        inside = random.Random(region).sample(sorted(n for n in labelled if len(wiki.links[n]) > 5), 4)
        visit = focused(wiki, make_topic(TopicSettings(keywords=GEOGRAPHY, places=places), region, gazetteer))
        for label, seeds in (("in-region", inside), ("unrelated", [UNRELATED])):
            ways = {
                "focused": [best_first(wiki, visit, seed, limits[-1], adaptive=True) for seed in seeds],
                "without learning": [best_first(wiki, visit, seed, limits[-1], adaptive=False) for seed in seeds],
                "breadth-first": [breadth_first(wiki, seed, limits[-1]) for seed in seeds],
                "random": [at_random(wiki, seed, limits[-1]) for seed in seeds],
            }
            for way, crawls in ways.items():
                recall = [np.mean([len(labelled & set(c[:limit])) / len(labelled) for c in crawls]) for limit in limits]
                print(f"  {region:14} {label:10} {way:14} " + "  ".join(f"{r:.3f}" for r in recall))
                at_ten.setdefault(f"{way}, {label}", []).append(float(recall[1]))
    means = {way: float(np.mean(values)) for way, values in at_ten.items()}
    print("  mean at 10 %: " + "; ".join(f"{way} {value:.3f}" for way, value in means.items()))
    return means
