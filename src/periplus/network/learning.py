"""Room network, replay of delegation: the method that learns, online, from its own probes and fetches only.

What is known about a site is a set of weighted draws of its round trips from all crawlers. The share of the draws in
which a crawler is the fastest is the probability P that it is the best. As long as the largest P is below the
confidence asked for, the likeliest winner that has not probed yet probes; its answer changes the draws. A site whose
winner is sure from the start costs no probe.

Two beliefs make the draws: `Field`, where all hosts have coordinates, and `Analogues`, where they do not.
"""

from collections.abc import Mapping
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from periplus.network.delegation import Probing
from periplus.network.matrix import Host, Matrix, Split, kilometres

__all__ = ["CONFIDENCE", "Analogues", "Field", "Learning"]

CONFIDENCE: Final = 0.8
"""P(best) that ends the probing of a site."""
DRAWS: Final = 600
SEED: Final = 1
"""Of the draws: the same for every site, so that a replay repeats itself."""
OFFSET_MS: Final = 15.0
"""Times are compared as log(ms + this): routes differ by ratios, but a millisecond more is nothing to a city."""

Answers = Mapping[int, float]
Indices = NDArray[np.integer]


class Belief(Protocol):
    """What is known about the round trips of a site before and after some of them are measured."""

    def draws(self, site: int, answers: Answers) -> tuple[Matrix, Matrix]:
        """Round trips of all crawlers on a scale that keeps their order, one draw a row, and the draws' weights."""

    def learn(self, site: int, answers: Answers) -> None:
        """These round trips of the site were measured; nothing more will be."""


class Learning:
    """Probes the likeliest winner next and stops when it is sure enough."""

    def __init__(self, split: Split, confidence: float = CONFIDENCE) -> None:
        located = all(host.located for host in (*split.sites, *split.crawlers))
        self._belief: Belief = Field(split) if located else Analogues(split)
        self._confidence = confidence
        self._answers: dict[int, float] = {}

    def delegate(self, site: int, probing: Probing) -> int:
        """The crawler that is the best with the largest probability, after the probes it took to be sure."""
        able = np.array(probing.able)
        while True:
            draws, weights = self._belief.draws(site, probing.answers)
            reachable = draws[:, able]
            chance = np.bincount(reachable.argmin(axis=1), weights, len(able))
            expected = weights @ reachable
            ranked = sorted(range(len(able)), key=lambda i: (-chance[i], expected[i]))
            waiting = [i for i in ranked if int(able[i]) not in probing.answers]
            if chance[ranked[0]] >= self._confidence or not waiting:
                self._answers = dict(probing.answers)
                return int(able[ranked[0]])
            probing.ask(int(able[waiting[0]]))

    def fetched(self, site: int, crawler: int, ms: float) -> None:
        """Learn from the probes of this site and from the fetch."""
        self._belief.learn(site, self._answers | {crawler: ms})


class Field:
    """A process over pairs of points on the globe; needs coordinates of all hosts.

    y = log(ms + o) has the mean log(o + a + b km) and the covariance, for (s, c) and (s', c'),
    w² exp(-|ss'|/L) exp(-|cc'|/L) + r² exp(-|ss'|/l) [c = c'] + e² exp(-|ss'|/l) + v² [c = c'] + n² [same pair]:
    long ways that are shared, the crawler's routes to a region, the region's access, the crawler's access, and what is
    the pair's own. Past sites teach as in a Gaussian process; within a site it is Student's t, so that an answer that
    was not foretold makes the other crawlers' times less certain too.
    """

    BASE_MS = 10.0
    MS_PER_KM = 0.0196
    LONG_KM, LONG = 9000.0, 0.287
    REGION_KM, ROUTES, ACCESS = 500.0, 0.07, 0.08
    CRAWLER = 0.02
    OWN = 0.10
    FREEDOM = 6.0
    """Of Student's t."""
    MOST_MEASUREMENTS = 600
    """Those that lie nearest to the site are used; bounds the time of one delegation."""

    def __init__(self, split: Split) -> None:
        between_sites = kilometres(split.sites, split.sites)
        self._long_sites = np.exp(-between_sites / self.LONG_KM)
        self._near_sites = np.exp(-between_sites / self.REGION_KM)
        self._long_crawlers = np.exp(-kilometres(split.crawlers, split.crawlers) / self.LONG_KM)
        km = kilometres(split.sites, split.crawlers)
        self._mean: Matrix = np.log(OFFSET_MS + self.BASE_MS + self.MS_PER_KM * km)
        self._all = np.arange(len(split.crawlers))
        self._normal = np.random.default_rng(SEED).standard_normal((DRAWS, len(split.crawlers)))
        self._sites: list[int] = []
        self._crawlers: list[int] = []
        self._residuals: list[float] = []
        self._prior: tuple[int, Matrix, Matrix] | None = None

    def draws(self, site: int, answers: Answers) -> tuple[Matrix, Matrix]:
        """Draws of the process given all that was learnt and these answers, with equal weights."""
        if self._prior is None or self._prior[0] != site:
            self._prior = (site, *self._foretold(site))
        _, mean, covariance = self._prior
        known = np.array(sorted(answers), dtype=np.intp)
        open_ = np.setdiff1d(self._all, known)
        drawn = np.empty_like(self._normal)
        drawn[:, known] = values = np.log(OFFSET_MS + np.array([answers[int(c)] for c in known]))
        across = covariance[np.ix_(known, open_)]
        off = values - mean[known]
        solved = np.linalg.solve(covariance[np.ix_(known, known)], np.column_stack([off, across]))
        freedom = self.FREEDOM + len(known)
        surprise = (self.FREEDOM + off @ solved[:, 0]) / freedom
        rest = surprise * (covariance[np.ix_(open_, open_)] - across.T @ solved[:, 1:])
        root = np.linalg.cholesky(rest + 1e-9 * np.eye(len(open_)))
        tails = np.sqrt(freedom / np.random.default_rng(SEED).chisquare(freedom, (DRAWS, 1)))
        drawn[:, open_] = mean[open_] + across.T @ solved[:, 0] + tails * (self._normal[:, open_] @ root.T)
        return drawn, np.full(DRAWS, 1.0 / DRAWS)

    def learn(self, site: int, answers: Answers) -> None:
        """Keep the measurements."""
        for crawler, ms in answers.items():
            self._sites.append(site)
            self._crawlers.append(crawler)
            self._residuals.append(float(np.log(OFFSET_MS + ms) - self._mean[site, crawler]))
        self._prior = None

    def _foretold(self, site: int) -> tuple[Matrix, Matrix]:
        """Mean and covariance of the site's round trips from all crawlers."""
        here = np.full(len(self._all), site)
        mean, covariance = self._mean[site], self._covariance(here, self._all, here, self._all)
        if not self._sites:
            return mean, covariance
        sites, crawlers, residuals = np.array(self._sites), np.array(self._crawlers), np.array(self._residuals)
        if len(sites) > self.MOST_MEASUREMENTS:
            nearest = np.argsort(-self._long_sites[site, sites], kind="stable")[: self.MOST_MEASUREMENTS]
            sites, crawlers, residuals = sites[nearest], crawlers[nearest], residuals[nearest]
        among = self._covariance(sites, crawlers, sites, crawlers)
        across = self._covariance(here, self._all, sites, crawlers)
        solved = np.linalg.solve(among, np.column_stack([residuals, across.T]))
        return mean + across @ solved[:, 0], covariance - across @ solved[:, 1:]

    def _covariance(self, s: Indices, c: Indices, s2: Indices, c2: Indices) -> Matrix:
        same_crawler = c[:, None] == c2[None, :]
        same_pair = same_crawler & (s[:, None] == s2[None, :])
        near = self._near_sites[np.ix_(s, s2)]
        total: Matrix = self.LONG**2 * self._long_sites[np.ix_(s, s2)] * self._long_crawlers[np.ix_(c, c2)]
        total += near * (self.ROUTES**2 * same_crawler + self.ACCESS**2)
        total += self.CRAWLER**2 * same_crawler + self.OWN**2 * same_pair
        return total


class Analogues:
    """Known sites as hypotheses: the new site is like one of them, or like none; needs no coordinates.

    Every site leaves a vector of means and spreads: what was measured is exact, the rest is what was believed of it at
    the end. Answers weigh the hypotheses by the likelihood of Student's t; hosts of one subnet, organisation, city or
    country are likelier analogues.
    """

    SPREAD = 0.1
    """Of a measured round trip between analogues, on the scale of logarithms."""
    DOUBT = 1.2
    """Factor of the spread of what was not measured: beliefs shall not confirm themselves."""
    FREEDOM = 3.0
    UNKNOWN_MEAN, UNKNOWN_SPREAD = 4.5, 0.8
    """Of any round trip, before anything was measured: 90 ms, within a factor of two or so."""
    UNKNOWN_WEIGHT = 3.0
    """Sites that this is worth in the means of the crawlers."""
    NONE_WEIGHT = 1.0
    """Of "like none of them", where each known site has 1."""
    MOST_HYPOTHESES = 300
    LIKENESS = (("subnet", 16.0), ("org", 8.0), ("city", 4.0), ("country", 2.0))

    def __init__(self, split: Split) -> None:
        count = len(split.crawlers)
        self._hosts = split.sites
        self._sites: list[int] = []
        self._means = np.empty((0, count))
        self._spreads = np.empty((0, count))
        random = np.random.default_rng(SEED)
        self._noise = random.standard_t(self.FREEDOM, (DRAWS, count)) / np.sqrt(3.0)

    def draws(self, site: int, answers: Answers) -> tuple[Matrix, Matrix]:
        """Draws of every hypothesis, weighted by how well it explains the answers."""
        means, spreads, weights = self._hypotheses(site)
        known = np.array(sorted(answers), dtype=np.intp)
        values = np.log(OFFSET_MS + np.array([answers[int(c)] for c in known]))
        off = (values - means[:, known]) / spreads[:, known]
        fit = -np.log(spreads[:, known]) - (self.FREEDOM + 1) / 2 * np.log1p(off**2 / self.FREEDOM)
        score = np.log(weights) + fit.sum(axis=1)
        best = np.argsort(-score, kind="stable")[: self.MOST_HYPOTHESES]
        likelihood = np.exp(score[best] - score[best[0]])
        times = max(2, DRAWS // len(best))
        chosen = np.repeat(best, times)
        noise = np.resize(self._noise, (len(chosen), self._noise.shape[1]))
        drawn = means[chosen] + spreads[chosen] * noise
        drawn[:, known] = values
        return drawn, np.repeat(likelihood / likelihood.sum() / times, times)

    def learn(self, site: int, answers: Answers) -> None:
        """Keep the site as a hypothesis."""
        drawn, weights = self.draws(site, answers)
        mean = weights @ drawn
        spread = np.sqrt(weights @ (drawn - mean) ** 2)
        measured = np.isin(np.arange(drawn.shape[1]), list(answers))
        spread = np.where(measured, self.SPREAD, np.hypot(self.DOUBT * spread, self.SPREAD))
        self._sites.append(site)
        self._means = np.vstack([self._means, mean])
        self._spreads = np.vstack([self._spreads, spread])

    def _hypotheses(self, site: int) -> tuple[Matrix, Matrix, Matrix]:
        """Means, spreads and weights; the first is "like none of them"."""
        share = len(self._sites) / (len(self._sites) + self.UNKNOWN_WEIGHT)
        centre = np.full((1, self._means.shape[1]), self.UNKNOWN_MEAN)
        if self._sites:
            centre = share * self._means.mean(axis=0, keepdims=True) + (1 - share) * centre
        squares = np.sum((self._means - centre) ** 2, axis=0, keepdims=True)
        prior = self.UNKNOWN_WEIGHT * self.UNKNOWN_SPREAD**2
        around = np.sqrt((squares + prior) / (len(self._sites) + self.UNKNOWN_WEIGHT))
        weights = [self.NONE_WEIGHT, *(self._likeness(self._hosts[site], self._hosts[other]) for other in self._sites)]
        return np.vstack([centre, self._means]), np.vstack([around, self._spreads]), np.array(weights)

    def _likeness(self, a: Host, b: Host) -> float:
        for field, factor in self.LIKENESS:
            if getattr(a, field) and getattr(a, field) == getattr(b, field):
                return factor
        return 1.0
