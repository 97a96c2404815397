"""A crawl that is only played through: a recorded web, the real rules, no network, no clock.

The pages were read once for all strategies (`world`). The frontier's rules are those of a real crawl (its `Intake`);
nodes take turns, a page each, so that the same arguments give the same crawl. What a played crawl leaves out: limits of
time and politeness, robots.txt, and URLs beyond `crawl.depth` to which a shorter way appears later.
"""

import heapq
import itertools
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import xxhash

from periplus.evaluate.measures import NO_TARGET, geo_focus, mean_geo_focus
from periplus.evaluate.nodes import NodeData, NodeLinks, measured
from periplus.frontier import Accepted, Intake
from periplus.job import seed_node
from periplus.model import Analysis, Lease, Links, NewUrl, Outcome
from periplus.settings import CrawlSettings
from periplus.strategies import Ownership, Settling
from periplus.urls import canonicalize, fingerprint, registrable_domain
from periplus.world import Marks, PageFacts, World

__all__ = ["LEVELS", "ORDERS", "Played", "entities_of", "play"]

MAX_POINTS = 500

LEVELS = {"street": ("street",), "postal": ("street", "postal")}
"""Which addresses count as entities: with number and street, as in the paper, or those without as well."""

ORDERS = ("breadth", "best")
"""What a node takes first: the nearest to the seeds, as the paper's did, or what a crawl without a topic takes first,
links whose words name places."""

# -- Playing a crawl -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    """One node of a played crawl: its queue, and what it has read."""

    name: str
    queue: list[tuple[float, int, Lease]] = field(default_factory=list)
    pages: list[tuple[PageFacts, Outcome, Marks]] = field(default_factory=list)
    sent_marks: set[tuple[str, int]] = field(default_factory=set)
    sent: int = 0
    received: int = 0
    assigned_away: int = 0


@dataclass(frozen=True, slots=True)
class Played:
    """The end of a played crawl."""

    measures: dict[str, Any]
    order: list[tuple[str, str]]  # (node, page) as they were downloaded


def play(
    world: World,
    strategy: str,
    seeds: Sequence[str],
    *,
    pages: int = 0,
    labels: Mapping[str, int] | None = None,
    level: str = "street",
    order: str = "breadth",
    milestones: Sequence[int] = (),
) -> Played:
    """Crawl the recorded web from the seeds until `pages` were downloaded (0: all that can be reached).

    `labels` (page -> target) stand for the entities of a page where truth is known; `level` is which addresses count;
    `order` is one of ORDERS and the same for every strategy.
    """
    return _Play(world, strategy, labels, level, order).run(seeds, pages, milestones)


class _Play:
    def __init__(self, world: World, strategy: str, labels: Mapping[str, int] | None, level: str, order: str) -> None:
        self._world = world
        self._best_first = order == "best"
        self._lens = world.lenses[strategy]
        self._routes = world.routes[strategy]
        self._labels = labels
        self._levels = LEVELS[level]
        crawl: CrawlSettings = self._lens.crawl
        self._intake = Intake(world.nodes, crawl, self._lens.fetch)
        self._settling = Settling(self._lens.strategy, policy=crawl.policy, overlap=crawl.overlap)
        self._settling.present(world.nodes)
        self._nodes = {name: _Node(name) for name in world.nodes}
        self._order = itertools.count()
        self._downloads: list[tuple[str, str]] = []
        self._with_entity = self._own = 0

    def run(self, seeds: Sequence[str], pages: int, milestones: Sequence[int]) -> Played:
        for url, node in self._planted(seeds):
            seed = self._intake.accept_seed(node, url)
            if seed is not None:
                self._settling.remember(seed.fingerprint, node)
                self._push(node, seed)
        progress = []
        turns = itertools.cycle(self._nodes.values())
        while any(node.queue for node in self._nodes.values()) and (not pages or len(self._downloads) < pages):
            if self._take_turn(next(turns)) and len(self._downloads) in milestones:
                progress.append(self._snapshot())
        return Played(self._measures() | {"progress": progress}, self._downloads)

    def _planted(self, seeds: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Seeds with the nodes that they begin at: what the strategy says of a link without a page around it."""
        for seed in seeds:
            url = canonicalize(seed)
            if url is not None:
                yield url.href, seed_node(url, self._lens)

    def _take_turn(self, node: _Node) -> bool:
        """One download of one node, if it has any; URLs that were not recorded cost nothing."""
        while node.queue:
            lease = heapq.heappop(node.queue)[2]
            self._settling.ended(node.name)
            fact = self._world.facts.get(lease.url)
            if fact is None:
                continue
            if fact.redirect is not None:
                target = canonicalize(fact.redirect)
                receiver = self._settling.redirected(target.href, target.host, node.name) if target else None
                self._deliver(node, self._intake.accept_redirect(node.name, lease, fact.redirect, receiver))
            elif fact.found is not None:
                self._read(node, lease, fact, fact.found)
                return True
        return False

    def _read(self, node: _Node, lease: Lease, fact: PageFacts, found: Analysis) -> None:
        self._settling.learn_page(fact.url, lease.host, found)
        links = self._settling.settle(self._links(fact), node.name, lease.host)
        outcome = self._intake.outcome_of(found)
        node.pages.append((fact, outcome, np.frombuffer(links.marks, np.int64)))
        node.assigned_away += sum(receiver != node.name for receiver in links.nodes)
        self._downloads.append((node.name, fact.url))
        owners = {owner for owner, _ in entities_of(fact, self._lens.ownership, self._labels, self._levels)}
        self._with_entity += bool(owners)
        self._own += node.name in owners
        self._deliver(node, self._intake.accept(node.name, lease, msgspec.structs.replace(found, links=links)))

    def _links(self, fact: PageFacts) -> Links:
        numbers, evidence = self._routes[fact.url]
        worths = fact.priorities if self._best_first else [0.0] * len(fact.urls)
        return Links(
            urls=fact.urls,
            hosts=fact.hosts,
            marks=array("q", map(fingerprint, fact.urls)).tobytes(),
            nodes=tuple([self._world.nodes[number] for number in np.frombuffer(numbers, "<u2")]),
            priorities=array("d", worths).tobytes(),
            steps=fact.steps,
            evidence=tuple(evidence or ()),
        )

    def _deliver(self, node: _Node, accepted: Accepted) -> None:
        for url in accepted.mine:
            self._push(node.name, url)
        shared = self._lens.crawl.overlap == "forbid"
        for parcel in accepted.others:
            mark = (parcel.receiver, parcel.url.fingerprint)
            if not shared and mark in node.sent_marks:
                continue
            node.sent_marks.add(mark)
            node.sent += 1
            receiver = self._nodes[parcel.receiver]
            receiver.received += 1
            for url in self._intake.receive(receiver.name, (parcel.url,)).mine:
                self._push(receiver.name, url)

    def _push(self, node: str, url: NewUrl) -> None:
        number = next(self._order)
        lease = Lease(number, url.url, url.host, url.depth, url.redirects, url.priority, 0)
        heapq.heappush(self._nodes[node].queue, (-url.priority, number, lease))

    # -- Measures ----------------------------------------------------------------------------------

    def _measures(self) -> dict[str, Any]:
        nodes = [self._data(node) for node in self._nodes.values()]
        result = measured(nodes, [_links_of(node) for node in self._nodes.values()])
        away = sum(node.assigned_away for node in self._nodes.values())
        downloads = max(1, len(self._downloads))
        own = sum(int(np.count_nonzero(data.own)) for data in nodes)
        return result | {
            "own_target_pages": own,
            "own_target_pages_per_download": round(own / downloads, 6),
            "links_assigned_away_per_page": round(away / downloads, 6),
            "levels": {} if self._labels is not None else {level: self._at_level(level) for level in LEVELS},
            "where": self._where(),
        }

    def _at_level(self, level: str) -> dict[str, float | None]:
        """The measures that depend on which addresses count, for one level."""
        with_entity = own = 0
        focus: dict[str, float | None] = {}
        owning = self._lens.ownership.owning
        for node in self._nodes.values():
            counts, mine, _ = self._entities(node, LEVELS[level])
            with_entity += int(np.count_nonzero(counts))
            own += int(np.count_nonzero(mine))
            focus[node.name] = geo_focus(counts, mine) if node.name in owning else None
        downloads, mean = max(1, len(self._downloads)), mean_geo_focus(focus)
        return {
            "geo_coverage": round(with_entity / downloads, 6),
            "geo_focus": None if mean is None else round(mean, 6),
            "own_target_pages_per_download": round(own / downloads, 6),
        }

    def _where(self) -> list[list[Any]]:
        """Where the pages that each node read are about: longitude, latitude, node, pages; the most first."""
        counts: Counter[tuple[float, float, str]] = Counter()
        for node in self._nodes.values():
            for fact, _, _ in node.pages:
                places = fact.found.places if fact.found else ()
                main = next((w.place for w in places if fact.found and w.place.id == fact.found.main_place), None)
                if main is not None:
                    counts[round(main.point.lon, 3), round(main.point.lat, 3), node.name] += 1
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_POINTS]
        return [[*key, count] for key, count in ranked]

    def _snapshot(self) -> dict[str, Any]:
        """The two figures that are plotted over the crawl."""
        downloads = len(self._downloads)
        share = round(self._with_entity / downloads, 6)
        return {"pages": downloads, "geo_coverage": share, "own_target_pages": self._own}

    def _data(self, node: _Node) -> NodeData:
        owners = self._lens.ownership
        entities, own, keys = self._entities(node, self._levels)
        kept = np.array([outcome is Outcome.KEPT for _, outcome, _ in node.pages], dtype=bool)
        found = [fact.found for fact, _, _ in node.pages if fact.found is not None]
        kept_places = [
            weighted.place.id for page, keep in zip(found, kept, strict=True) if keep for weighted in page.places
        ]
        return NodeData(
            name=node.name,
            fingerprints=np.array([fingerprint(fact.url) for fact, _, _ in node.pages], dtype=np.int64),
            kept=kept,
            oriented=np.array([bool(page.places) for page in found], dtype=bool),
            targets=np.array([_target_of(fact, owners) for fact, _, _ in node.pages], dtype=np.int64),
            entities=entities,
            own=own,
            entity_keys=keys,
            domains=frozenset(registrable_domain(fact.host) for fact, _, _ in node.pages),
            places=frozenset(kept_places),
            place_rows=len(kept_places),
            sent=node.sent,
            received=node.received,
            owns_places=node.name in owners.owning,
        )

    def _entities(self, node: _Node, levels: tuple[str, ...]) -> tuple[Marks, Marks, Marks]:
        """Entities of targets on each page, those that are the node's own, and all their keys."""
        counts, own, keys = [], [], []
        owners = self._lens.ownership
        for fact, _, _ in node.pages:
            found = Counter[bool]()
            for owner, key in entities_of(fact, owners, self._labels, levels):
                found[owner == node.name] += 1
                keys.append(xxhash.xxh3_64_intdigest(key.encode()) - 2**63)
            counts.append(found.total())
            own.append(found[True])
        return np.array(counts, np.int64), np.array(own, np.int64), np.array(keys, np.int64)


def entities_of(
    fact: PageFacts, owners: Ownership, labels: Mapping[str, int] | None, levels: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """The entities of targets on a page: owner and key. Labels stand for them where there are any."""
    if labels is not None:
        place = labels.get(fact.url)
        owned = owners.owner_by_id(place) if place is not None else None
        if owned or (place is not None and not owners.owns_anything):
            yield owned[0] if owned else "", fact.url
        return
    for entity in fact.found.entities if fact.found else ():
        if entity.level in levels and (entity.owner is not None or not owners.owns_anything):
            yield entity.owner or "", entity.key


def _target_of(fact: PageFacts, owners: Ownership) -> int:
    main = fact.found.main_place if fact.found else None
    if main is None:
        return NO_TARGET
    return fact.targets.get(main, NO_TARGET) if owners.owns_anything else main


def _links_of(node: _Node) -> NodeLinks:
    found = [marks for _, _, marks in node.pages]
    if found:
        counts = np.array([len(marks) for marks in found], dtype=np.int64)
        yield np.arange(len(found)), counts, np.concatenate(found)
