"""Topics with several places on Reuters-21578: a topic in two countries, learnt from samples of both.

Used by eval_topics.py. For each topic the pairs of countries with 20 relevant articles or more each, at most three a
topic; relevant is what is about either. The same number of samples from each country, at most 15; tested with as many
relevant articles of each, and with the same topic elsewhere and other topics in both countries.
"""

import random
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from periplus.model import Place
from periplus.places import Gazetteer
from periplus.topics.reading import Reading
from periplus.topics.targets import find_targets

__all__ = ["CountryPair", "Drawn", "country_pairs", "draw_articles", "targets_by_rule"]

MOST_PAIRS = 3
MOST_SAMPLES = 15
MOST_TESTED = 75
MOST_NEGATIVE = 150
COUNTRIES = {
    "usa": "United States", "uk": "United Kingdom", "japan": "Japan", "west-germany": "Germany", "france": "France",
    "canada": "Canada", "australia": "Australia", "brazil": "Brazil", "china": "China", "italy": "Italy",
    "netherlands": "Netherlands", "switzerland": "Switzerland", "belgium": "Belgium", "new-zealand": "New Zealand",
    "ussr": "Russia", "taiwan": "Taiwan", "south-korea": "South Korea", "saudi-arabia": "Saudi Arabia",
    "iran": "Iran", "india": "India", "hong-kong": "Hong Kong", "sweden": "Sweden", "spain": "Spain",
}  # fmt: skip
"""The corpus's names of countries as the gazetteer has them: what a person who knows the answer would give."""

Labels = Sequence[tuple[frozenset[str], frozenset[str]]]
"""Topics and countries of each article."""


class CountryPair(NamedTuple):
    """A topic in two countries."""

    topic: str
    first: str
    second: str


class Drawn(NamedTuple):
    """Numbers of articles: samples, tested ones (relevant and not), and the rest."""

    samples: list[int]
    relevant: list[int]
    negative: list[int]
    rest: list[int]


def country_pairs(pairs: Iterable[tuple[str, str]]) -> list[CountryPair]:
    """Topic and two countries, in a fixed order, from pairs of topic and country with enough articles."""
    by_topic: dict[str, list[str]] = {}
    for topic, country in pairs:
        if country in COUNTRIES:
            by_topic.setdefault(topic, []).append(country)
    found: list[CountryPair] = []
    for topic, countries in sorted(by_topic.items()):
        possible = list(combinations(sorted(countries), 2))
        chosen = random.Random(topic).sample(possible, min(MOST_PAIRS, len(possible)))
        found += [CountryPair(topic, *two) for two in sorted(chosen)]
    return found


def draw_articles(labels: Labels, pair: CountryPair, seed: int) -> Drawn:
    """A random split of one pair of countries."""
    order = random.Random(f"{tuple(pair)} {seed}")
    wanted = {pair.first, pair.second}
    samples: list[int] = []
    relevant: list[int] = []
    for country in (pair.first, pair.second):
        own = [i for i, (topics, at) in enumerate(labels) if pair.topic in topics and at & wanted == {country}]
        own = order.sample(own, len(own))
        half = min(len(own) // 2, MOST_SAMPLES)
        samples += own[:half]
        relevant += own[half : half + MOST_TESTED]
    elsewhere = [i for i, (topics, at) in enumerate(labels) if pair.topic in topics and not wanted & at]
    others = [i for i, (topics, at) in enumerate(labels) if wanted & at and pair.topic not in topics]
    negative = [i for group in (elsewhere, others) for i in order.sample(group, min(MOST_NEGATIVE, len(group)))]
    used = {*samples, *relevant, *negative}
    rest = [i for i in range(len(labels)) if i not in used]
    return Drawn(order.sample(samples, len(samples)), relevant, negative, order.sample(rest, len(rest)))


def targets_by_rule(
    samples: Sequence[Reading], rest: Sequence[Reading], pair: CountryPair, gazetteer: Gazetteer
) -> dict[str, list[Place]]:
    """The targets: as learnt, only the strongest of them, and as a person who knows would give them."""
    found = find_targets(samples, rest, gazetteer.place)
    given = [gazetteer.resolve(COUNTRIES[country]) for country in (pair.first, pair.second)]
    return {"targets as learnt": found, "only the strongest target": found[:1], "targets given": given}
