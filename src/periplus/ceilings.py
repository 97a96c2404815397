"""What a crawl of a recorded web can have at most, to stand beside what strategies have.

`reachable` bounds the geo-coverage of every crawl that downloads no page twice, whatever it knows and in whatever order
it goes. `knowing` adds the strategy TRUTH to a world: it is told what each link leads to and gives it to the node that
owns the page's place, under the same turns and order as the others. No crawler can do that; where another strategy has
more coverage, it has it from pages that it downloaded twice, or from nodes that fetch what belongs to others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from periplus.model import Assignment, Link, Located, Page
from periplus.replay import LEVELS, entities_of
from periplus.strategies import Ownership
from periplus.strategies.hash import host_of
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy
from periplus.world import World

__all__ = ["TRUTH", "knowing", "reachable", "truth_of"]

TRUTH = "truth"
MAX_REDIRECTS = 10

Truth = Mapping[str, str]
"""URL -> the node that owns the place of the page behind it; pages without an entity of a target are not in it."""


def truth_of(world: World, labels: Mapping[str, int] | None, level: str) -> Truth:
    """What every URL leads to, through redirects; of several owners of a page's entities the first by name."""
    owners = next(iter(world.lenses.values())).ownership
    truth = {}
    for url, fact in world.facts.items():
        end = page_behind(world, url) if fact.found is None else url
        found = {owner for owner, _ in entities_of(world.facts[end], owners, labels, LEVELS[level])} if end else ()
        if found:
            truth[url] = min(found)
    return truth


def page_behind(world: World, url: str) -> str | None:
    """The page that a URL ends at; None if it was not recorded."""
    for _ in range(MAX_REDIRECTS):
        fact = world.facts.get(url)
        if fact is None or fact.found is not None:
            return None if fact is None else url
        if fact.redirect is None:
            return None
        url = fact.redirect
    return None


def reachable(world: World, seeds: Sequence[str], pages: int, truth: Truth) -> float:
    """The most geo-coverage that any crawl from these seeds can have that downloads nothing twice.

    As many pages with an entity as links lead to, or as the budget of `pages` allows (0: all that links lead to).
    """
    waiting = [page for url in seeds if (page := page_behind(world, url))]
    seen = set(waiting)
    while waiting:
        for url in world.facts[waiting.pop()].urls:
            page = page_behind(world, url)
            if page is not None and page not in seen:
                seen.add(page)
                waiting.append(page)
    downloads = min(pages, len(seen)) if pages else len(seen)
    return min(1.0, sum(page in truth for page in seen) / downloads) if downloads else 0.0


def knowing(world: World, truth: Truth) -> World:
    """The world with one more strategy, TRUTH."""
    lens = next(iter(world.lenses.values()))
    strategy = _Truth(lens.ownership, truth)
    numbers = {name: number for number, name in enumerate(world.nodes)}
    routes = {
        url: (np.array([numbers[strategy.node_of(link)] for link in fact.urls], "<u2").tobytes(), ())
        for url, fact in world.facts.items()
    }
    return replace(
        world,
        lenses={**world.lenses, TRUTH: replace(lens, strategy=strategy)},
        routes={**world.routes, TRUTH: routes},
    )


class _Truth(Strategy):
    """Knows what every link leads to."""

    by_url_alone = True

    def __init__(self, ownership: Ownership, truth: Truth) -> None:
        self._ownership, self._truth = ownership, truth

    def node_of(self, url: str) -> str:
        """The node that owns what is behind a URL, else a general one."""
        return self._truth.get(url) or self._ownership.general_for(host_of(url))

    def route(
        self, links: Sequence[Link], _page: Page, _located: Located, _known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """One claim to each link."""
        return [(Assignment(self.node_of(link.url), None, TRUTH),) for link in links]
