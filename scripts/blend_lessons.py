"""Lessons for `blend`: what was known of each link of a recorded web when a crawl met it, and what it led to."""

import random
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np
import numpy.typing as npt

from periplus.strategies import BlendStrategy, HostPlaces, Ownership
from periplus.strategies.weighing import FEATURES, Features
from periplus.world import PageFacts, World

__all__ = ["Floats", "Lessons", "fit", "lessons_of", "surprise"]

Floats = npt.NDArray[np.float64]
MAX_LESSONS = 8_000
SEEDS = 20
DRAWS = 3


@dataclass(frozen=True, slots=True)
class Lessons:
    """Alternatives of all lessons one below the other: features, where each lesson begins, which was right."""

    rows: Floats
    begins: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]


def truth_of(fact: PageFacts, labels: Mapping[str, int] | None, ownership: Ownership) -> frozenset[str]:
    """The nodes that a page belongs to: by its label where there are labels, else by its addresses."""
    found = fact.found
    if found is None:
        return frozenset()
    if labels is not None:
        label = ownership.owner_by_place.get(labels.get(fact.url, -1))
        return frozenset({label} if label else ())
    return frozenset(entity.owner for entity in found.entities if entity.owner)


def lessons_of(world: World, labels: Mapping[str, int] | None) -> Lessons:
    """The lessons of a web: a few crawls breadth first, from the first page on."""
    rows: list[Floats] = []
    begins: list[int] = []
    right: list[int] = []
    for draw in range(DRAWS):
        for number, (features, truth) in enumerate(_met(world, labels, random.Random(draw))):
            if number >= MAX_LESSONS:
                break
            nodes = sorted(features, key=lambda node: (node is not None, node or ""))  # the general ones first
            answer = next((i for i, node in enumerate(nodes) if node in truth), 0)
            begins.append(len(rows))
            right.append(len(rows) + answer)
            for node in nodes:
                row = np.zeros(len(FEATURES))
                for feature, value in features[node].items():
                    row[feature] = value
                rows.append(row)
    return Lessons(np.array(rows), np.array(begins), np.array(right))


def _met(
    world: World, labels: Mapping[str, int] | None, chance: random.Random
) -> Iterator[tuple[Features, frozenset[str]]]:
    """The links of pages in the order of a crawl, each URL once: its features then, and the truth."""
    lens = world.lenses["blend"]
    strategy = cast("BlendStrategy", lens.strategy)
    hosts, seen = HostPlaces(), set(chance.sample(sorted(world.pages()), min(SEEDS, len(world.pages()))))
    queue = deque(sorted(seen))
    while queue:
        fact = world.facts[queue.popleft()]
        if fact.found is None:
            onward = fact.redirect
            if onward is not None and onward in world.facts and onward not in seen:
                seen.add(onward)
                queue.append(onward)
            continue
        addressed = {entity.owner for entity in fact.found.entities if entity.owner}
        hosts.learn(fact.host, [(one.place.id, one.weight) for one in fact.found.places], addressed)
        own = next(iter(sorted(truth_of(fact, labels, lens.ownership))), "")
        evidence = world.routes["blend"][fact.url][1] or ((),) * len(fact.urls)
        view = cache(hosts.view)  # as it is after this page
        for url, host, terms in zip(fact.urls, fact.hosts, evidence, strict=True):
            if url in seen or url not in world.facts:
                continue
            seen.add(url)
            queue.append(url)
            target = world.facts[url]
            if target.found is not None:
                features = strategy.features(terms, view(host), (own, host == fact.host))
                yield features, truth_of(target, labels, lens.ownership)


def fit(
    collections: list[Lessons], prior: Floats, free: Floats, *, steps: int = 400, rate: float = 0.05, pull: float = 2e-4
) -> Floats:
    """Weights that make what happened most probable, every collection counting the same; drawn to `prior` a little.

    Where `free` is 0 a weight stays as it is in `prior`.
    """
    weights, first, second = prior.copy(), np.zeros_like(prior), np.zeros_like(prior)
    for step in range(1, steps + 1):
        slope = pull * (weights - prior)
        for lessons in collections:
            slope += _slope(lessons, weights)[0] / len(collections)
        slope *= free
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights = weights - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def surprise(lessons: Lessons, weights: Floats) -> float:
    """The mean of -log of the probability that the weights gave to what happened."""
    return _slope(lessons, weights)[1]


def _slope(lessons: Lessons, weights: Floats) -> tuple[Floats, float]:
    """The slope of the mean surprise, and that surprise."""
    scores = lessons.rows @ weights
    sizes = np.diff(np.append(lessons.begins, len(scores)))
    scores -= np.repeat(np.maximum.reduceat(scores, lessons.begins), sizes)
    parts = np.exp(scores)
    chances = parts / np.repeat(np.add.reduceat(parts, lessons.begins), sizes)
    surprised = -float(np.mean(np.log(chances[lessons.right])))
    wrong = chances
    wrong[lessons.right] -= 1.0
    return lessons.rows.T @ wrong / len(lessons.begins), surprised
