"""Room network, replay of delegation: what a method is, the simple methods, and the replay that measures one.

Paper D (Papapetrou, Samaras 2004): every site should be fetched by the crawler with the shortest round trip. A method
sees one site after the other, may ask crawlers to probe it (each probe is counted), and names a crawler; the fetch
by that crawler shows its round trip too, at no cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from periplus.network.matrix import Matrix, Split, kilometres

__all__ = ["BruteForce", "Delegator", "Geographic", "Probing", "Random", "Replayed", "replay"]

NEAR_RATIO = 1.10
NEAR_MS = 5.0
"""Near-optimal: within 10 % or 5 ms of the best crawler."""


class Probing:
    """Asking crawlers for their round trip to one site; asking twice costs once.

    `able` are the crawlers that reach the site, by index.
    """

    def __init__(self, row: Matrix) -> None:
        self.able: tuple[int, ...] = tuple(int(i) for i in np.flatnonzero(~np.isnan(row)))
        self.answers: dict[int, float] = {}
        self._row = row

    def ask(self, crawler: int) -> float:
        """The round trip of a crawler in ms, measured now."""
        return self.answers.setdefault(crawler, float(self._row[crawler]))

    def fastest(self) -> int:
        """The fastest of the crawlers asked so far; there has to be one."""
        return min(self.answers, key=lambda crawler: (self.answers[crawler], crawler))


class Delegator(Protocol):
    """A method of delegation. Deterministic: the same sites in the same order get the same crawlers."""

    def delegate(self, site: int, probing: Probing) -> int:
        """The crawler, one of `probing.able`, that shall fetch the site; sites are indices of the split."""

    def fetched(self, site: int, crawler: int, ms: float) -> None:
        """The crawler chosen has fetched the site, and its round trip was this."""


class BruteForce:
    """Every crawler probes, the fastest wins: the truth, at the highest cost."""

    def delegate(self, site: int, probing: Probing) -> int:  # noqa: ARG002 - of the protocol
        """All probe."""
        for crawler in probing.able:
            probing.ask(crawler)
        return probing.fastest()

    def fetched(self, site: int, crawler: int, ms: float) -> None:
        """Learns nothing."""


class Random:
    """Any crawler, without a probe: what a hash of the host would do."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def delegate(self, site: int, probing: Probing) -> int:  # noqa: ARG002 - of the protocol
        """One of those that reach the site."""
        return int(self._random.choice(probing.able))

    def fetched(self, site: int, crawler: int, ms: float) -> None:
        """Learns nothing."""


class Geographic:
    """The crawler nearest by great circle, without a probe; crawlers without coordinates come last."""

    def __init__(self, split: Split) -> None:
        self._km = np.nan_to_num(kilometres(split.sites, split.crawlers), nan=np.inf)

    def delegate(self, site: int, probing: Probing) -> int:
        """The nearest of those that reach the site."""
        return min(probing.able, key=lambda crawler: (self._km[site, crawler], crawler))

    def fetched(self, site: int, crawler: int, ms: float) -> None:
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
    for site, row in enumerate(split.ms):
        probing = Probing(row)
        crawler = method.delegate(site, probing)
        method.fetched(site, crawler, float(row[crawler]))
        probes.append(len(probing.answers))
        chosen.append(float(row[crawler]))
    return _measured(split.ms, warmup, probes, np.array(chosen))


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
