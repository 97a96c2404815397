"""Speed of the strategies on pages of the miniature web with 60 links each; figures are of this run and machine.

    python scripts/bench_strategies.py [--targets us100|all:US] [--rounds 5]

A strategy routes every page once, so that it remembers no page (links of one are mostly those of the next, as in a
crawl). That is done in several rounds, each with a strategy that remembers nothing: of each page the least processor
time counts, since other processes only ever add to it, and of the pages the median.
"""

import argparse
import functools
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from periplus.miniweb.web import generate
from periplus.model import Fetched, Located, Page
from periplus.pages import read_page
from periplus.places import locate, open_gazetteer
from periplus.strategies import BlendStrategy, Ownership, Strategy, load_targets
from periplus.strategies.anchor import AnchorStrategy
from periplus.strategies.classifier import ClassifierStrategy, train
from periplus.strategies.content import ContentStrategy
from periplus.strategies.hash import HashStrategy
from periplus.strategies.names import NameTable
from periplus.strategies.url import UrlStrategy

PAGES = 200
LINKS = 60
GOALS = {"hash + url + anchor": 0.3, "content": 0.1, "classifier": 0.5}


def pages_of_sixty_links() -> list[Page]:
    """Pages of the miniature web; links of later pages fill each page up to 60."""
    web = generate(1)
    found: list[Page] = []
    for plan in web.blueprint.pages:
        response = web.page_response(plan, 1)
        if response.status == 200 and response.body:
            url = f"http://{web.blueprint.hosts[plan.host].name}{plan.path}"
            fetched = Fetched(url, 200, (), response.body, "text/html", datetime.now(UTC), 0.01, "127.0.0.1")
            found.append(read_page(fetched))
        if len(found) == PAGES:
            break
    links = [link for page in found for link in page.links]
    filled = []
    for i, page in enumerate(found):
        own = page.links[:LINKS]
        more = [msgspec.structs.replace(link, start=0, end=1) for link in links[i * 37 : i * 37 + LINKS - len(own)]]
        filled.append(replace(page, links=(*own, *more)))
    return [page for page in filled if len(page.links) == LINKS]


def milliseconds(make: Callable[[], Callable[[Page], object]], pages: list[Page], rounds: int) -> float:
    """Median over the pages of the least processor time that the work takes, which is made anew for each round."""
    least = [float("inf")] * len(pages)
    for _ in range(rounds):
        work = make()
        for i, page in enumerate(pages):
            started = time.process_time_ns()
            work(page)
            least[i] = min(least[i], time.process_time_ns() - started)
    return statistics.median(least) / 1e6


def _made(maker: Callable[[], Strategy], located: dict[str, Located]) -> Callable[[Page], object]:
    return routing(maker(), located)


def routing(strategy: Strategy, located: dict[str, Located]) -> Callable[[Page], object]:
    """What is measured: all links of a page at once."""
    return lambda page: strategy.route(page.links, page, located[page.url])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="us100")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    gazetteer = open_gazetteer()
    ownership = Ownership.of(load_targets(options.targets, Path(), gazetteer), gazetteer)
    geographic = [name for name in ownership.names if name not in ownership.general]
    pages = pages_of_sixty_links()
    model = train(((geographic[i % len(geographic)], page.text) for i, page in enumerate(pages)), ownership)
    started = time.process_time()
    table = NameTable(ownership, gazetteer)
    print(f"names of {options.targets} and all that competes with them: {time.process_time() - started:.2f} s")
    makers: dict[str, Callable[[], Strategy]] = {
        "hash": lambda: HashStrategy(ownership, gazetteer),
        "url": lambda: UrlStrategy(ownership, gazetteer, table),
        "anchor": lambda: AnchorStrategy(ownership, gazetteer, table),
        "content": lambda: ContentStrategy(ownership, gazetteer, table),
        "classifier": lambda: ClassifierStrategy(ownership, gazetteer, model),
        "blend": lambda: BlendStrategy(ownership, gazetteer, table=table),
    }
    located = {page.url: locate(page.text, gazetteer, candidates=False) for page in pages}
    nothing = dict.fromkeys(located, Located())
    took = {}
    for name, maker in makers.items():
        places = located if name in ("content", "blend") else nothing
        took[name] = milliseconds(functools.partial(_made, maker, places), pages, options.rounds)
    took["hash + url + anchor"] = took["hash"] + took["url"] + took["anchor"]
    load = os.getloadavg()[0]
    print(f"{len(pages)} pages of {LINKS} links, targets {options.targets}, {options.rounds} rounds, load {load:.1f}")
    for name, value in took.items():
        goal = f"  (goal {GOALS[name]})" if name in GOALS else ""
        print(f"  {name:20} {value:.3f} ms a page{goal}")


if __name__ == "__main__":
    main()
