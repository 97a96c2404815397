"""Speed of the strategies on pages of the miniature web with 60 links each; figures are of this run and machine.

    python scripts/bench_strategies.py [--targets us100|all:US]

Every page is routed once (no page twice, so that no cache of ours can help); the median of the pages counts.
"""

import argparse
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
from periplus.strategies import Ownership, Strategy, load_targets, make_strategy
from periplus.strategies.classifier import ClassifierStrategy, train

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


def milliseconds(work: Callable[[Page], object], pages: list[Page]) -> float:
    """Median processor time of `work` over the pages."""
    times = []
    for page in pages:
        started = time.process_time_ns()
        work(page)
        times.append(time.process_time_ns() - started)
    return statistics.median(times) / 1e6


def routing(strategy: Strategy, located: dict[str, Located]) -> Callable[[Page], object]:
    """What is measured: all links of a page at once."""
    return lambda page: strategy.route(page.links, page, located[page.url])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="us100")
    options = parser.parse_args()
    gazetteer = open_gazetteer()
    ownership = Ownership.of(load_targets(options.targets, Path(), gazetteer), gazetteer)
    strategies: dict[str, Strategy] = {}
    for name in ("hash", "url", "anchor", "content", "blend"):
        started = time.perf_counter()
        strategies[name] = make_strategy(name, ownership, gazetteer)
        print(f"{name:12} made in {time.perf_counter() - started:.2f} s")
    geographic = [name for name in ownership.names if name not in ownership.general]
    pages = pages_of_sixty_links()
    model = train(((geographic[i % len(geographic)], page.text) for i, page in enumerate(pages)), ownership)
    strategies["classifier"] = ClassifierStrategy(ownership, gazetteer, model)
    located = {page.url: locate(page.text, gazetteer, candidates=False) for page in pages}
    took = {}
    for name, strategy in strategies.items():
        places = {url: (found if name in ("content", "blend") else Located()) for url, found in located.items()}
        took[name] = milliseconds(routing(strategy, places), pages)
    took["hash + url + anchor"] = took["hash"] + took["url"] + took["anchor"]
    print(f"{len(pages)} pages of {LINKS} links, targets {options.targets}")
    for name, value in took.items():
        goal = f"  (goal {GOALS[name]})" if name in GOALS else ""
        print(f"  {name:20} {value:.3f} ms a page{goal}")


if __name__ == "__main__":
    main()
