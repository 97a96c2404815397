"""Shorter ways: a finished crawl holds what is within reach, whatever the order in which its pages came."""

import random
from collections import deque
from pathlib import Path

import pytest
from crawl_values import analysis, fetched, new_url, open_store, routed
from msgspec.structs import replace

from periplus.frontier import Intake
from periplus.model import Lease, Outcome, Parcel, RoutedLink
from periplus.settings import CrawlSettings, FetchSettings
from periplus.store.commit import Batch, Committed, Completion, NodeStore
from periplus.store.ways import WaysOfOneNode, within_reach
from periplus.urls import fingerprint

NODES = ("a", "b")
DEPTH, REDIRECTS = 4, 2
Web = dict[int, list[tuple[int, int]] | int]  # page -> links (target, steps), or the page that it redirects to


def url_of(page: int) -> str:
    return f"http://{'ab'[page % 2]}.com/{page}"


def random_web(seed: int, pages: int = 40) -> Web:
    chance = random.Random(seed)
    web: Web = {}
    for page in range(pages):
        near = [chance.randrange(max(0, page - 6), min(pages, page + 4)) for _ in range(chance.randrange(4))]
        links = [(target, chance.choice((0, 1, 1, 2))) for target in dict.fromkeys(near)]
        web[page] = near[0] if near and page and chance.random() < 0.25 else links
    return web


def reachable(web: Web) -> set[int]:
    """All pages within both limits, by looking at every way."""
    best: set[tuple[int, int, int]] = set()
    ways = deque([(0, 0, 0)])
    while ways:
        way = page, depth, hops = ways.popleft()
        if way in best or depth > DEPTH or hops > REDIRECTS:
            continue
        best.add(way)
        then = web[page]
        if isinstance(then, int):
            ways.append((then, depth, hops + 1))
        else:
            ways.extend((target, depth + steps, 0) for target, steps in then)
    return {page for page, _, _ in best}


class Crawl:
    """A crawl without a network: two nodes that finish their URLs in an order of chance."""

    def __init__(self, web: Web, folder: Path, seed: int) -> None:
        self.web = web
        self.chance = random.Random(seed)
        self.intake = Intake(NODES, CrawlSettings(depth=DEPTH), FetchSettings(redirects=REDIRECTS))
        self.stores = {name: open_store(folder, node=name, nodes=NODES) for name in NODES}
        self.waiting: list[tuple[str, Lease]] = []

    def run(self) -> set[str]:
        seed = self.intake.accept_seed("a", url_of(0))
        assert seed is not None
        self.commit("a", Batch(seeds=[seed]))
        while self.waiting or self.go_on():
            name, lease = self.waiting.pop(self.chance.randrange(len(self.waiting)))
            self.commit(name, Batch(completions=[self.finish(name, lease)]))
        rows = [row for store in self.stores.values() for row in store.db.execute("SELECT url FROM url")]
        for store in self.stores.values():
            store.close()
        return {url for (url,) in rows}

    def go_on(self) -> bool:
        databases = {name: store.db for name, store in self.stores.items()}
        for name, parcels in within_reach(databases, depth=DEPTH, redirects=REDIRECTS).items():
            let_in = [self.intake.accept_after_all(name, parcel) for parcel in parcels]
            self.commit(name, Batch(nearer=[parcel for parcel in let_in if parcel]))
        return bool(self.waiting)

    def finish(self, name: str, lease: Lease) -> Completion:
        then = self.web[int(lease.url.rpartition("/")[2])]
        if isinstance(then, int):
            target = url_of(then)
            redirected = self.intake.accept_redirect(name, lease, target)
            return Completion(
                lease,
                Outcome.REDIRECTED,
                new_urls=redirected.mine,
                beyond=redirected.beyond,
                redirect=fingerprint(target),
            )
        links = [replace(routed(url_of(page), NODES[page % 2]), steps=steps) for page, steps in then]
        page = analysis(*links, outcome=Outcome.NOT_RELEVANT)
        found = self.intake.accept(name, lease, page)
        return Completion(
            lease,
            Outcome.NOT_RELEVANT,
            fetched=fetched(lease.url),
            analysis=page,
            new_urls=found.mine,
            parcels=found.others,
            beyond=found.beyond,
        )

    def commit(self, name: str, batch: Batch) -> None:
        committed: Committed = self.stores[name].commit(batch)
        self.waiting += [(name, lease) for lease, _ in committed.queued]
        for _, parcel in committed.outbox:
            self.commit(parcel.receiver, Batch(seeds=[parcel.url]))


class ApartCrawl(Crawl):
    """The same, but each node sees only its own database, as on machines of their own, and tells what it finds."""

    def go_on(self) -> bool:
        limits = {"depth": DEPTH, "redirects": REDIRECTS}
        ways = {name: WaysOfOneNode(store.db, **limits) for name, store in self.stores.items()}
        told: dict[int, tuple[int, int]] | None = None
        while told is None or told:
            news: dict[int, tuple[int, int]] = {}
            for mine in ways.values():
                for mark, (depth, hops) in mine.shorten(told or {}).items():
                    known = news.get(mark, (depth, hops))
                    news[mark] = min(depth, known[0]), min(hops, known[1])
            told = news
        for name, mine in ways.items():
            let_in = [self.intake.accept_after_all(name, parcel) for parcel in mine.within_reach()]
            self.commit(name, Batch(nearer=[parcel for parcel in let_in if parcel]))
        return bool(self.waiting)


@pytest.mark.parametrize("seed", range(12))
def test_on_several_machines_the_same_is_within_reach(tmp_path: Path, seed: int) -> None:
    web = random_web(seed)
    expected = {url_of(page) for page in reachable(web)}
    for order in range(4):
        assert ApartCrawl(web, tmp_path / str(order), order).run() == expected


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_events_does_not_matter(tmp_path: Path, seed: int) -> None:
    web = random_web(seed)
    expected = {url_of(page) for page in reachable(web)}
    for order in range(4):
        assert Crawl(web, tmp_path / str(order), order).run() == expected


def test_a_long_way_first_and_a_short_one_later(tmp_path: Path) -> None:
    """0 → 1 → 2 → 3 → 4 → 5 is too long; 0 → 6 → 4 is not, and 5 is found through it though 4 was done already."""
    web: Web = {0: [(1, 1), (6, 1)], 1: [(2, 1)], 2: [(3, 1)], 3: [(4, 1)], 4: [(5, 1)], 5: [], 6: [(4, 1)]}
    assert all(Crawl(web, tmp_path / str(order), order).run() == {url_of(page) for page in web} for order in range(5))


def linked(store: NodeStore, target: RoutedLink, depth: int) -> None:
    """A page at a depth that links to the target."""
    seeds = store.commit(Batch(seeds=[new_url("http://a.com/page", depth=depth)]))
    lease = seeds.queued[0][0]
    far = Parcel("a", new_url(target.url, depth=depth + 1))
    page = analysis(target, outcome=Outcome.NOT_RELEVANT)
    done = Completion(lease, Outcome.NOT_RELEVANT, fetched=fetched(lease.url), analysis=page, beyond=(far,))
    store.commit(Batch(completions=[done]))


def test_what_stays_too_far_away_stays_out(tmp_path: Path) -> None:
    store = open_store(tmp_path, node="a", nodes=NODES)
    linked(store, routed("http://a.com/far", "a"), DEPTH)
    assert within_reach({"a": store.db}, depth=DEPTH, redirects=REDIRECTS) == {"a": []}
    (found,) = within_reach({"a": store.db}, depth=DEPTH + 1, redirects=REDIRECTS)["a"]
    assert (found.receiver, found.url.url, found.url.depth) == ("a", "http://a.com/far", DEPTH + 1)
    store.close()
