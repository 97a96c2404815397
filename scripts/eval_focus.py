"""Focused crawling on wikispeedia by region: recall of labelled pages after 5, 10 and 25 % of the pages, with plots.

Called by eval_topics.py. The crawl is simulated over the real link graph with the real judge, link scorer and link
book. A link stands where the title of its target first stands in the text; where it does not, its anchor is that title.
Seeds: four in the region, and an unrelated one.
"""

import heapq
import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from wikispeedia import Wiki, read_wiki

from periplus.evaluate.plots import line_plot
from periplus.model import Links, Located, RoutedLink
from periplus.places import Gazetteer
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
HELD_BACK = {
    "Asia": ("subject.Geography.Geography_of_Asia", {"Asia": 1.0}),
    "Europe": ("subject.Geography.European_Geography", {"Europe": 1.0}),
    "North America": ("subject.Geography.North_American_Geography", {"North America": 1.0}),
}
"""Regions that no constant was chosen by; their figures were seen while others were chosen."""

GEOGRAPHY = {
    "geography": 1.0, "island": 0.6, "river": 0.6, "mountain": 0.6, "coast": 0.6, "town": 0.6, "city": 0.6,
    "county": 0.6, "village": 0.6, "region": 0.5, "climate": 0.5, "population": 0.5, "capital": 0.5, "border": 0.5,
    "located": 0.4, "area": 0.4, "land": 0.3,
}  # fmt: skip
"""The labels are the encyclopedia's geography of a region, so this is what the topics are about; the same for all."""
UNRELATED = "Mathematics"
SHARES = (0.05, 0.10, 0.25)
CURVE = tuple(share / 100 for share in range(1, 26))
STYLE = (
    "<style>text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}</style>"
    '<rect width="100%" height="100%" fill="#fff"/>'
)
"""What a plot needs outside a report."""

WAYS = ("focused", "without learning", "Rank(u)", "breadth-first", "random")


@dataclass(frozen=True, slots=True)
class Visited:
    """How a page was judged, and its links as the worker hands them on."""

    relevance: float
    links: list[RoutedLink]


Visit = Callable[[str], Visited]
Crawl = list[str]
Curves = dict[str, list[float]]
"""Way → recall at the shares of CURVE."""


def focused(wiki: Wiki, topic: Topic) -> tuple[Visit, Visit]:
    """Judge and link scorer, as in a crawl; and the same with paper B's Rank(u) as the only priority."""
    known: dict[str, tuple[Visited, Visited]] = {}
    numbers = {name: number for number, name in enumerate(wiki.pages)}

    def visited(name: str) -> tuple[Visited, Visited]:
        if name not in known:
            page, located = wiki.pages[name], Located(wiki.mentions[name])
            score = judge(page, located, topic)
            scorer = LinkScorer(page, located, score, topic)
            by_scorer, by_rank = [], []
            for target, link in zip(wiki.links[name], wiki.anchors(name), strict=True):
                parts, features = scorer.parts(link), scorer.features([link])[0]
                by_scorer.append(RoutedLink(target, "", numbers[target], "", parts.priority, features=features))
                by_rank.append(RoutedLink(target, "", numbers[target], "", parts.rank))
            relevance = score.keyword_relevance * score.place_relevance
            known[name] = Visited(relevance, by_scorer), Visited(0.0, by_rank)
        return known[name]

    return (lambda name: visited(name)[0]), (lambda name: visited(name)[1])


def best_first(wiki: Wiki, visit: Visit, seed: str, limit: int, *, adaptive: bool) -> Crawl:
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
        for link, worth in zip(links, book.value(Links.of(links), page.relevance), strict=True):
            if link.url not in best:
                best[link.url] = worth
                heapq.heappush(heap, (-worth, order.setdefault(link.url, len(order)), link.url))
        for number, worth in book.take_changed(""):  # as the frontier learns of it
            best[names[number]] = worth
            heapq.heappush(heap, (-worth, order[names[number]], names[number]))
    return list(fetched)


def breadth_first(wiki: Wiki, seed: str, limit: int) -> Crawl:
    """Links in the order they are found."""
    order, queue = {seed: None}, deque([seed])
    while queue and len(order) < limit:
        for target in wiki.links[queue.popleft()]:
            if target not in order:
                order[target] = None
                queue.append(target)
    return list(order)[:limit]


def at_random(wiki: Wiki, seed: str, limit: int) -> Crawl:
    """Any known link next."""
    draw = random.Random(seed)
    fetched: Crawl = []
    waiting, known = [seed], {seed}
    while waiting and len(fetched) < limit:
        at = draw.randrange(len(waiting))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        name = waiting.pop()
        fetched.append(name)
        new = [target for target in wiki.links[name] if target not in known]
        known.update(new)
        waiting += new
    return fetched


def measure_region(
    wiki: Wiki, region: str, category: str, places: dict[str, float], gazetteer: Gazetteer
) -> dict[str, Curves]:
    """The recall of every way, from in-region seeds (the mean of four) and from the unrelated one."""
    labelled = {n for n, found in wiki.categories.items() if any(c.startswith(category) for c in found)}
    inside = random.Random(region).sample(sorted(n for n in labelled if len(wiki.links[n]) > 5), 4)
    by_scorer, by_rank = focused(wiki, make_topic(TopicSettings(keywords=GEOGRAPHY, places=places), region, gazetteer))
    limit = round(CURVE[-1] * len(wiki.pages))
    limits = [round(share * len(wiki.pages)) for share in CURVE]
    found: dict[str, Curves] = {}
    for label, seeds in (("in-region", inside), ("unrelated", [UNRELATED])):
        ways = {
            "focused": [best_first(wiki, by_scorer, seed, limit, adaptive=True) for seed in seeds],
            "without learning": [best_first(wiki, by_scorer, seed, limit, adaptive=False) for seed in seeds],
            "Rank(u)": [best_first(wiki, by_rank, seed, limit, adaptive=False) for seed in seeds],
            "breadth-first": [breadth_first(wiki, seed, limit) for seed in seeds],
            "random": [at_random(wiki, seed, limit) for seed in seeds],
        }
        found[label] = {
            way: [float(np.mean([len(labelled & set(c[:n])) / len(labelled) for c in crawls])) for n in limits]
            for way, crawls in ways.items()
        }
    return found


def show(region: str, found: Mapping[str, Curves]) -> None:
    """The table of one region."""
    for label, curves in found.items():
        for way, curve in curves.items():
            at = "  ".join(f"{curve[CURVE.index(share)]:.3f}" for share in SHARES)
            print(f"  {region:14} {label:10} {way:16} {at}")


def averaged(regions: list[dict[str, Curves]]) -> dict[str, Curves]:
    """The mean over regions."""
    return {
        label: {way: [float(value) for value in np.mean([one[label][way] for one in regions], axis=0)] for way in WAYS}
        for label in regions[0]
    }


def write_plots(folder: Path, found: Mapping[str, dict[str, Curves]]) -> None:
    """Recall over the share of pages, one file for each region and kind of seed."""
    folder.mkdir(parents=True, exist_ok=True)
    for region, by_seed in found.items():
        for label, curves in by_seed.items():
            lines = {
                way: [(0.0, 0.0), *((100 * x, y) for x, y in zip(CURVE, c, strict=True))] for way, c in curves.items()
            }
            name = f"focus-{region.lower().replace(' ', '-')}-{label}.svg"
            plot = line_plot(lines, "pages fetched, %", f"recall, {region}, {label} seeds")
            (folder / name).write_text(plot.replace(">", f">{STYLE}", 1) + "\n", "utf-8")


def measure_focus(folder: Path, gazetteer: Gazetteer, plots: Path | None = None) -> dict[str, float]:
    """Print the tables, write the plots; give the mean recalls at 10 %, and the worst loss against Rank(u)."""
    wiki = read_wiki(folder, gazetteer)
    print(f"Focused crawling, recall after {', '.join(f'{s:.0%}' for s in SHARES)} of {len(wiki.pages)} pages")
    found = {region: measure_region(wiki, region, *given, gazetteer) for region, given in REGIONS.items()}
    found["mean"] = averaged(list(found.values()))
    for region, by_seed in found.items():
        show(region, by_seed)
    if plots is not None:
        write_plots(plots, found)
    others = {region: measure_region(wiki, region, *given, gazetteer) for region, given in HELD_BACK.items()}
    print("Other regions; no constant was chosen by them, but their figures were seen meanwhile")
    for region, by_seed in (others | {"mean": averaged(list(others.values()))}).items():
        show(region, by_seed)
    at = CURVE.index(0.10)
    margins = [
        curves["focused"][CURVE.index(share)] - curves["Rank(u)"][CURVE.index(share)]
        for by_seed in (found | others).values()
        for curves in by_seed.values()
        for share in SHARES
    ]
    print(f"  focused less Rank(u), the worst of {len(margins)} comparisons: {min(margins):+.3f}")
    return {label: curves["focused"][at] for label, curves in found["mean"].items()} | {"margin": min(margins)}
