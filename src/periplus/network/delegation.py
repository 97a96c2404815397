"""Room network, replay of delegation: what a method is, the simple methods, and the replay that measures one.

Paper D (Papapetrou, Samaras 2004): every site should be fetched by the crawler with the shortest round trip. A method
sees one site after the other, may ask crawlers to probe it (each probe is counted), and names a crawler; the fetch
by that crawler shows its round trip too, at no cost.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from periplus.network.matrix import Host, Matrix, Split, kilometres

__all__ = ["Asking", "BruteForce", "Delegator", "Geographic", "Probing", "Random", "Replayed", "decide", "replay"]

NEAR_RATIO = 1.10
NEAR_MS = 5.0
"""Near-optimal: within 10 % or 5 ms of the best crawler."""


Asking = Generator[int, float | None, int]
"""A decision under way: it yields the crawler that shall probe, is sent its round trip in ms (None: it had no answer in
time), and returns the crawler chosen."""


class Delegator(Protocol):
    """A method of delegation. Deterministic in the sites, their order and the answers.

    It knows nothing of how probes are made: a replay answers from a table, a crawl asks its nodes.
    """

    def delegate(self, site: Host, able: Sequence[int]) -> Asking:
        """Decide which of the crawlers `able`, by index, shall fetch the site; each is asked once at most."""

    def learn(self, site: Host, answers: Mapping[int, float]) -> None:
        """These round trips of the site are known now: those of its probes, and of the fetch by the crawler chosen."""


class Probing:
    """The answers to one decision: who answered what, and who has not answered at all."""

    def __init__(self, able: Sequence[int]) -> None:
        self.able: tuple[int, ...] = tuple(able)
        self.answers: dict[int, float] = {}
        self.silent: set[int] = set()

    @property
    def asked(self) -> int:
        """How many probes it took."""
        return len(self.answers) + len(self.silent)

    def ask(self, crawler: int) -> Generator[int, float | None, float]:
        """The round trip of a crawler in ms, infinite if it does not answer."""
        if crawler in self.silent:
            return math.inf
        if crawler not in self.answers:
            ms = yield crawler
            if ms is None:
                self.silent.add(crawler)
                return math.inf
            self.answers[crawler] = ms
        return self.answers[crawler]

    def fastest(self) -> int:
        """The fastest of the crawlers that have answered; the first of all if none has."""
        return min(self.answers, key=lambda crawler: (self.answers[crawler], crawler), default=self.able[0])


class BruteForce:
    """Every crawler probes, the fastest wins: the truth, at the highest cost."""

    def delegate(self, site: Host, able: Sequence[int]) -> Asking:  # noqa: ARG002 - of the protocol
        """All probe."""
        probing = Probing(able)
        for crawler in able:
            yield from probing.ask(crawler)
        return probing.fastest()

    def learn(self, site: Host, answers: Mapping[int, float]) -> None:
        """Learns nothing."""


class Random:
    """Any crawler, without a probe: what a hash of the host would do."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def delegate(self, site: Host, able: Sequence[int]) -> Asking:  # noqa: ARG002 - of the protocol
        """One of those that reach the site."""
        yield from ()
        return int(self._random.choice(able))

    def learn(self, site: Host, answers: Mapping[int, float]) -> None:
        """Learns nothing."""


class Geographic:
    """The crawler nearest by great circle, without a probe; crawlers without coordinates come last."""

    def __init__(self, crawlers: Sequence[Host]) -> None:
        self._crawlers = tuple(crawlers)

    def delegate(self, site: Host, able: Sequence[int]) -> Asking:
        """The nearest of those that reach the site."""
        yield from ()
        km = np.nan_to_num(kilometres((site,), self._crawlers)[0], nan=np.inf)
        return min(able, key=lambda crawler: (km[crawler], crawler))

    def learn(self, site: Host, answers: Mapping[int, float]) -> None:
        """Learns nothing."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a method did with the sites after the warm-up."""

    sites: int
    optimal: int
    near_optimal: int
    probes: int
    brute_force_probes: int
    warmup_sites: int
    warmup_probes: int
    mean_ms: float
    mean_excess_ms: float
    p95_excess_ms: float

    def as_dict(self) -> dict[str, float]:
        """As the command prints it."""
        return {
            "sites": self.sites,
            "optimal": self.optimal,
            "optimal_share": self.optimal / self.sites,
            "near_optimal": self.near_optimal,
            "near_optimal_share": self.near_optimal / self.sites,
            "probes": self.probes,
            "probes_per_site": self.probes / self.sites,
            "mean_ms": self.mean_ms,
            "mean_excess_ms": self.mean_excess_ms,
            "p95_excess_ms": self.p95_excess_ms,
            "brute_force_probes": self.brute_force_probes,
            "warmup_sites": self.warmup_sites,
            "warmup_probes": self.warmup_probes,
        }


def replay(split: Split, warmup: int, method: Delegator) -> Replayed:
    """All sites one after the other; those after the first `warmup` are measured. `warmup` < number of sites."""
    probes: list[int] = []
    chosen: list[float] = []
    for site, row in zip(split.sites, split.ms, strict=True):
        able = [int(i) for i in np.flatnonzero(~np.isnan(row))]
        answers: dict[int, float] = {}
        crawler = decide(method.delegate(site, able), row, answers)
        probes.append(len(answers))
        chosen.append(float(row[crawler]))
        method.learn(site, answers | {crawler: float(row[crawler])})
    return _measured(split.ms, warmup, probes, np.array(chosen))


def decide(asking: Asking, row: Matrix, answers: dict[int, float]) -> int:
    """The crawler that a decision comes to with the round trips of a row; what it asked for is added to `answers`."""
    ms: float | None = None
    while True:
        try:
            crawler = asking.send(ms)
        except StopIteration as end:
            return int(end.value)
        ms = answers[crawler] = float(row[crawler])


def _measured(ms: Matrix, warmup: int, probes: Sequence[int], chosen: Matrix) -> Replayed:
    best = np.nanmin(ms, axis=1)[warmup:]
    took = chosen[warmup:]
    excess = took - best
    near = (excess <= NEAR_MS) | (took <= NEAR_RATIO * best)
    return Replayed(
        sites=len(took),
        optimal=int((excess <= 0).sum()),
        near_optimal=int(near.sum()),
        probes=sum(probes[warmup:]),
        brute_force_probes=int((~np.isnan(ms[warmup:])).sum()),
        warmup_sites=warmup,
        warmup_probes=sum(probes[:warmup]),
        mean_ms=float(took.mean()),
        mean_excess_ms=float(excess.mean()),
        p95_excess_ms=float(np.percentile(excess, 95)),
    )
