"""How well "what in where" is answered, against BM25 with the place's name as words: nDCG@10 and precision@10.

Two collections with known truth: the miniature web (topic and towns of every page; names that several towns bear are
counted apart) and, with PERIPLUS_DATA, Reuters articles (topic × country). BM25 is over title and text; BM25F has all
our fields with their weights and differs in nothing but geography. Constants of the ranking were chosen on seeds 1 and
2; nothing was chosen on seed 3 or on Reuters.
"""

import argparse
import json
import math
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from babel import Locale
from rich.console import Console
from rich.table import Table

from periplus.analysis import analyse
from periplus.clock import SystemClock
from periplus.index import IndexQuery, TextUnit
from periplus.job import prepare
from periplus.miniweb.places import Town, towns
from periplus.miniweb.rendering import render
from periplus.miniweb.web import generate
from periplus.model import Fetched, NewUrl, Outcome
from periplus.places import open_gazetteer
from periplus.search import Collection, SearchRequest
from periplus.search.names import GazetteerNames
from periplus.settings import ArchiveSettings, job_from_dict
from periplus.store.commit import Batch, Completion, NodeStore
from periplus.store.folder import CrawlFolder
from periplus.urls import canonicalize, fingerprint

DEPTH = 10
CLEARLY = 2.0
"""How many times more pages one of several towns must have to be meant by the bare name."""

FLOORS = {"miniweb": 0.20, "miniweb, ambiguous": 0.40, "reuters": 0.20}
"""Least relative gain in nDCG@10 that `--check` accepts; the goals are 0.20, 0.50 and 0.20."""

TOPICS = {
    "acq": "acquisition", "earn": "earnings", "crude": "oil", "trade": "trade", "grain": "grain", "wheat": "wheat",
    "interest": "interest rates", "ship": "shipping", "corn": "corn", "sugar": "sugar", "coffee": "coffee",
    "money-fx": "currency", "gold": "gold", "oilseed": "oilseeds", "veg-oil": "vegetable oil", "soybean": "soybeans",
    "livestock": "livestock", "cocoa": "cocoa", "rubber": "rubber", "copper": "copper", "cotton": "cotton",
    "iron-steel": "steel", "gnp": "economic growth", "cpi": "inflation", "jobs": "unemployed", "bop": "payments",
    "nat-gas": "natural gas", "rice": "rice", "tin": "tin", "coal": "coal", "aluminum": "aluminium", "zinc": "zinc",
    "money-supply": "money supply", "reserves": "reserves", "orange": "orange juice", "tea": "tea", "carcass": "beef",
}  # fmt: skip
"""What people would type for a Reuters topic."""

COUNTRIES = {"usa": "United States", "uk": "United Kingdom", "ussr": "Soviet Union", "uae": "United Arab Emirates"}


@dataclass(frozen=True, slots=True)
class Question:
    """What and where, in words; `gains` of the relevant pages by URL."""

    text: str
    words: tuple[str, ...]
    kind: str
    gains: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over questions."""

    ndcg: float
    precision: float
    questions: int


# -- Collections -----------------------------------------------------------------------------------


def build(pages: Iterable[Fetched], folder: Path) -> CrawlFolder:
    """A crawl of one node that keeps all of these pages, as if they had been fetched."""
    job = job_from_dict({"out": str(folder), "seeds": ["http://127.0.0.1/"], "crawl": {"keep": "all"}}, "eval")
    prepared = prepare(job, folder, open_gazetteer())
    prepared.keep_job()
    crawl = CrawlFolder(folder)
    (name,) = prepared.lens.ownership.names
    store = NodeStore(crawl.node(name), [name], ArchiveSettings(), agent="eval", clock=SystemClock())
    seen: set[str] = set()
    batch: list[Fetched] = []
    for page in pages:
        if page.url not in seen:
            seen.add(page.url)
            batch.append(page)
    for start in range(0, len(batch), 500):
        part = batch[start : start + 500]
        urls = [canonicalize(page.url) for page in part]
        seeds = [NewUrl(u.href, u.host, fingerprint(u.href), 0.5, 0) for u in urls if u]
        leases = [lease for lease, _ in store.commit(Batch(seeds=seeds)).queued]
        done = []
        for lease, page in zip(leases, part, strict=True):
            found = analyse(page, prepared.lens)
            if found.outcome is Outcome.KEPT:
                done.append(Completion(lease, Outcome.KEPT, fetched=page, analysis=found))
        store.commit(Batch(completions=done))
    store.close()
    return crawl


def miniweb_pages(seed: int) -> tuple[list[Fetched], list[Question]]:
    """The pages of a miniature web and the questions that its truth answers."""
    blueprint = (web := generate(seed)).blueprint
    pages: list[Fetched] = []
    relevant: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    about: Counter[int] = Counter()
    for page in blueprint.pages:
        response = web.page_response(page, 1)
        if response.status != 200 or not response.body:
            continue
        url = blueprint.url(page)
        pages.append(Fetched(url, 200, (), response.body, "text/html", datetime.now(UTC), 0.01, "127.0.0.1"))
        named = render(blueprint, page).named
        total = sum(named.values())
        for number, times in named.items():
            about[number] += 1
            if page.topic and times / total >= 0.25:
                relevant[page.topic, number][url] = 2.0 if times / total >= 0.5 else 1.0
    bearers: dict[str, list[int]] = defaultdict(list)
    for index in sorted(about):
        bearers[towns()[index].name].append(index)
    questions = []
    for (topic, index), gains in sorted(relevant.items()):
        town = towns()[index]
        if topic == "language" or not any(gain == 2.0 for gain in gains.values()):  # `language`: not in English
            continue
        shared = len(bearers[town.name]) > 1
        # Of towns with the same name, one that this web is clearly most about needs no more than its name: "pizza in
        # Lisbon" is in Portugal, unless the crawl is about the other one.
        rivals = [about[one] for one in bearers[town.name] if one != index]
        state = "" if all(about[index] >= CLEARLY * other for other in rivals) else _around(town)
        place = f"{town.name}, {state}" if state else town.name
        words = (topic, *town.name.split(), *state.split())
        questions.append(
            Question(f"{topic} in {place}", words, "miniweb, ambiguous" if shared else "miniweb", dict(gains))
        )
    return pages, questions


def _around(town: Town) -> str:
    """What people write behind a town's name: the state's code in the US, else the country."""
    return town.admin1 if town.country == "US" else territory(town.country)


def territory(code: str) -> str:
    """The English name of a country."""
    return str(Locale("en").territories.get(code, code))


def reuters_pages(file: Path) -> tuple[list[Fetched], list[Question]]:
    """Articles as pages, and a question for each topic and country with at least three of them."""
    pages: list[Fetched] = []
    relevant: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            url = f"http://news.test/{row['id']}"
            body = f"<title>{row['title']}</title><h1>{row['title']}</h1><p>{row['dateline']} {row['body']}</p>"
            html = f"<html><body>{body}</body></html>".encode()
            pages.append(Fetched(url, 200, (), html, "text/html; charset=utf-8", datetime.now(UTC), 0.01, "127.0.0.1"))
            for topic in row["topics"]:
                for place in row["places"]:
                    if topic in TOPICS:
                        relevant[topic, place][url] = 1.0
    questions = []
    for (topic, code), gains in sorted(relevant.items()):
        if len(gains) >= 3:
            country = COUNTRIES.get(code, code.replace("-", " ").title())
            words = (*TOPICS[topic].split(), *country.split())
            questions.append(Question(f"{TOPICS[topic]} in {country}", words, "reuters", gains))
    return pages, questions


# -- Measures --------------------------------------------------------------------------------------


def ours(collection: Collection, question: Question) -> list[str]:
    """URLs as search ranks them."""
    return [hit.url for hit in collection.search(SearchRequest.of(question.text, limit=DEPTH)).hits]


PLAIN = (("title", 1.0), ("text", 1.0))
FIELDED = IndexQuery().fields


def bm25(collection: Collection, question: Question, fields: tuple[tuple[str, float], ...]) -> list[str]:
    """URLs as BM25 over these fields ranks them, any of the words, the place's name among them."""
    required = tuple((TextUnit(word),) for word in question.words)
    query = IndexQuery(required=required, any_group=True, fields=fields)
    hits = [(hit.score, shard, hit.page) for shard in collection.shards for hit in shard.index.top(query, DEPTH).hits]
    best = sorted(hits, key=lambda hit: -hit[0])[:DEPTH]
    return [shard.records([page])[page].url for _, shard, page in best]


def ndcg(urls: Sequence[str], gains: Mapping[str, float]) -> float:
    """Normalised discounted cumulative gain."""
    found = sum(gains.get(url, 0.0) / math.log2(rank + 2) for rank, url in enumerate(urls[:DEPTH]))
    best = sorted(gains.values(), reverse=True)[:DEPTH]
    return found / sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best))


def measure(answers: Iterable[tuple[Sequence[str], Question]]) -> Quality:
    """Means of both measures; precision against as many pages as there are relevant ones, at most ten."""
    rows = [
        (
            ndcg(urls, question.gains),
            sum(url in question.gains for url in urls[:DEPTH]) / min(DEPTH, len(question.gains)),
        )
        for urls, question in answers
    ]
    count = max(1, len(rows))
    return Quality(sum(row[0] for row in rows) / count, sum(row[1] for row in rows) / count, len(rows))


def compared(crawl: CrawlFolder, questions: Sequence[Question]) -> Iterator[tuple[str, Quality, Quality, Quality]]:
    """Ours, plain BM25, and BM25 with our fields and weights, for each kind of question."""
    with Collection.open([crawl.path], names=GazetteerNames()) as collection:
        for kind in dict.fromkeys(question.kind for question in questions):
            asked = [question for question in questions if question.kind == kind]
            yield (
                kind,
                measure((ours(collection, question), question) for question in asked),
                measure((bm25(collection, question, PLAIN), question) for question in asked),
                measure((bm25(collection, question, FIELDED), question) for question in asked),
            )


def main() -> None:
    """Build, ask, print; with --check fail below the floors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a gain is below its floor")
    parser.add_argument("--seed", type=int, default=1, help="of the miniature web")
    parser.add_argument("--only", help="miniweb or reuters")
    parser.add_argument("--keep", type=Path, help="folder to build the collections in, and to find them in again")
    options = parser.parse_args()
    table = Table("questions", "n", "nDCG@10", "BM25", "gain", "BM25F", "P@10", "BM25", title="Search", box=None)
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        base = options.keep or Path(scratch)
        sources = {f"miniweb-{options.seed}": miniweb_pages(options.seed)}
        data = os.environ.get("PERIPLUS_DATA")
        file = Path(data or ".") / "topics" / "reuters-a.jsonl"
        if data and file.is_file():
            sources["reuters"] = reuters_pages(file)
        for name, (pages, questions) in sources.items():
            if options.only and not name.startswith(options.only):
                continue
            folder = base / name
            crawl = CrawlFolder(folder) if (folder / "crawl.toml").exists() else build(pages, folder)
            for kind, mine, other, fielded in compared(crawl, questions):
                gain = mine.ndcg / other.ndcg - 1
                table.add_row(
                    *(kind, f"{mine.questions:,}", f"{mine.ndcg:.3f}", f"{other.ndcg:.3f}", f"{gain:+.0%}"),
                    *(f"{fielded.ndcg:.3f}", f"{mine.precision:.3f}", f"{other.precision:.3f}"),
                )
                if gain < FLOORS[kind]:
                    failed.append(f"{kind}: {gain:+.1%} is below {FLOORS[kind]:+.0%}")
    Console(highlight=False).print(table)
    if options.check and failed:
        sys.exit("eval_search: " + "; ".join(failed))


if __name__ == "__main__":
    main()
