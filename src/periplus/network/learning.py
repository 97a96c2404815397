"""Room network, replay of delegation: the method that learns, online, from its own probes and fetches only.

What is known about a site is a set of weighted draws of its round trips from all crawlers. The share of the draws in
which a crawler is the fastest is the probability P that it is the best. As long as the largest P is below the
confidence asked for, the likeliest winner that has not probed yet probes; its answer changes the draws. A site whose
winner is sure from the start costs no probe.

Two beliefs make the draws: `Field`, where all hosts have coordinates, and `Analogues`, where they do not.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from periplus.network.delegation import Asking, Probing
from periplus.network.matrix import Host, Matrix, great_circles, unit_vectors

__all__ = ["CONFIDENCE", "Analogues", "Field", "Learning"]

CONFIDENCE: Final = 0.82
"""P(best) that ends the probing of a site: fixed, or where the steering by probes begins."""
PROBES: Final = 1.45
"""What a site may cost in the long run, where its round trips can be foretold from its place."""
STEP, LEAST, MOST = 0.01, 0.5, 0.95
"""How much a probe too many or too few moves the confidence, and between what bounds."""
DRAWS: Final = 600
SEED: Final = 1
"""Of the draws: the same for every site, so that a replay repeats itself."""
OFFSET_MS: Final = 15.0
"""Times are compared as log(ms + this): routes differ by ratios, but a millisecond more is nothing to a city."""

Answers = Mapping[int, float]
Indices = NDArray[np.integer]
Pairs = tuple[Indices, Indices]
"""Sites and crawlers, by index."""


class Belief(Protocol):
    """What is known about the round trips of a site before and after some of them are measured."""

    def draws(self, site: Host, answers: Answers) -> tuple[Matrix, Matrix]:
        """Round trips of all crawlers on a scale that keeps their order, one draw a row, and the draws' weights."""

    def learn(self, site: Host, answers: Answers) -> None:
        """These round trips of the site were measured; nothing more will be."""


class Learning:
    """Probes the likeliest winner next and stops when it is sure enough.

    How sure is enough: `confidence`, or, without it, what keeps the cost of sites with coordinates near `probes` each:
    a network that is hard to foretell then costs quality, not probes. Sites without coordinates stop at CONFIDENCE.
    """

    def __init__(self, crawlers: Sequence[Host], confidence: float | None = None, probes: float = PROBES) -> None:
        self._field = Field(crawlers) if all(crawler.located for crawler in crawlers) else None
        self._analogues = Analogues(crawlers)
        self._confidence = CONFIDENCE if confidence is None else confidence
        self._steered = confidence is None
        self._probes = probes

    def delegate(self, site: Host, able: Sequence[int]) -> Asking:
        """The crawler that is the best with the largest probability, after the probes it took to be sure."""
        belief, probing = self._belief(site), Probing(able)
        steered = self._steered and belief is self._field
        enough = self._confidence if steered or not self._steered else CONFIDENCE
        while True:
            draws, weights = belief.draws(site, probing.answers)
            reaching = np.array([crawler for crawler in able if crawler not in probing.silent] or able)
            reachable = draws[:, reaching]
            chance = np.bincount(reachable.argmin(axis=1), weights, len(reaching))
            expected = weights @ reachable
            ranked = sorted(range(len(reaching)), key=lambda i: (-chance[i], expected[i]))
            waiting = [i for i in ranked if int(reaching[i]) not in probing.answers]
            best = int(reaching[ranked[0]])
            if chance[ranked[0]] >= enough or not waiting or best in probing.silent:
                if steered:
                    self._confidence = min(MOST, max(LEAST, enough + STEP * (self._probes - probing.asked)))
                return best
            yield from probing.ask(int(reaching[waiting[0]]))

    def learn(self, site: Host, answers: Answers) -> None:
        """Learn from the probes of this site and from the fetch."""
        if answers:
            self._belief(site).learn(site, answers)

    def _belief(self, site: Host) -> Belief:
        return self._field if self._field is not None and site.located else self._analogues


class Field:
    """A process over pairs of points on the globe; needs coordinates of all hosts.

    y = log(ms + o) has the mean log(o + a + b km) and the covariance, for (s, c) and (s', c'),
    w² [exp(-(|ss'| + |cc'|)/L) + exp(-(|sc'| + |cs'|)/L)]/2 + r² exp(-|ss'|/l) [c = c'] + e² exp(-|ss'|/l)
    + v² [c = c'] + n² [same pair]: long ways that are shared, in either direction, the crawler's routes to a region,
    the region's access, the crawler's access, and what is the pair's own. Past sites teach as in a Gaussian process;
    within a site it is Student's t, so that an answer that was not foretold makes the other times less certain.
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

    def __init__(self, crawlers: Sequence[Host]) -> None:
        self._crawlers = unit_vectors(crawlers)
        between = great_circles(self._crawlers, self._crawlers)
        self._long_crawlers = np.exp(-between / self.LONG_KM)
        self._all = np.arange(len(crawlers))
        self._normal = np.random.default_rng(SEED).standard_normal((DRAWS, len(crawlers)))
        self._points: list[Matrix] = []
        self._measured_site: list[int] = []
        self._measured_crawler: list[int] = []
        self._residuals: list[float] = []
        self._prior: tuple[Host, Matrix, Matrix] | None = None

    def draws(self, site: Host, answers: Answers) -> tuple[Matrix, Matrix]:
        """Draws of the process given all that was learnt and these answers, with equal weights."""
        if self._prior is None or self._prior[0] is not site:
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

    def learn(self, site: Host, answers: Answers) -> None:
        """Keep the measurements."""
        point = unit_vectors((site,))
        mean = self._mean(great_circles(point, self._crawlers)[0])
        self._points.append(point[0])
        for crawler, ms in answers.items():
            self._measured_site.append(len(self._points) - 1)
            self._measured_crawler.append(crawler)
            self._residuals.append(float(np.log(OFFSET_MS + ms) - mean[crawler]))
        self._prior = None

    def _mean(self, km: Matrix) -> Matrix:
        mean: Matrix = np.log(OFFSET_MS + self.BASE_MS + self.MS_PER_KM * km)
        return mean

    def _foretold(self, site: Host) -> tuple[Matrix, Matrix]:
        """Mean and covariance of the site's round trips from all crawlers."""
        point = unit_vectors((site,))
        ways = great_circles(point, self._crawlers)
        mean, here = self._mean(ways[0]), np.zeros(len(self._all), np.intp)
        long_ways, mine = np.exp(-ways / self.LONG_KM), (here, self._all)
        covariance = self._covariance(np.zeros((1, 1)), mine, mine, (long_ways, long_ways))
        covariance += self.OWN**2 * np.eye(len(self._all))
        if not self._points:
            return mean, covariance
        points = np.array(self._points)
        sites, crawlers = np.array(self._measured_site), np.array(self._measured_crawler)
        residuals, away = np.array(self._residuals), great_circles(point, points)
        if len(sites) > self.MOST_MEASUREMENTS:
            nearest = np.argsort(away[0, sites], kind="stable")[: self.MOST_MEASUREMENTS]
            sites, crawlers, residuals = sites[nearest], crawlers[nearest], residuals[nearest]
        used, sites = np.unique(sites, return_inverse=True)
        theirs, known = np.exp(-great_circles(points[used], self._crawlers) / self.LONG_KM), (sites, crawlers)
        among = self._covariance(great_circles(points[used], points[used]), known, known, (theirs, theirs))
        among += self.OWN**2 * np.eye(len(sites))
        across = self._covariance(away[:, used], mine, known, (long_ways, theirs))
        solved = np.linalg.solve(among, np.column_stack([residuals, across.T]))
        return mean + across @ solved[:, 0], covariance - across @ solved[:, 1:]

    def _covariance(self, km: Matrix, one: Pairs, other: Pairs, ways: tuple[Matrix, Matrix]) -> Matrix:
        """Between pairs of site and crawler, but for what is a pair's own.

        `km` is between the sites; `ways` are exp(-km/L) from the sites of each side to all crawlers.
        """
        (s, c), (s2, c2) = one, other
        same_crawler = c[:, None] == c2[None, :]
        near = np.exp(-km / self.REGION_KM)[np.ix_(s, s2)]
        along = np.exp(-km / self.LONG_KM)[np.ix_(s, s2)] * self._long_crawlers[np.ix_(c, c2)]
        back = ways[0][np.ix_(s, c2)] * ways[1][np.ix_(s2, c)].T
        total: Matrix = self.LONG**2 * (along + back) / 2
        total += near * (self.ROUTES**2 * same_crawler + self.ACCESS**2)
        total += self.CRAWLER**2 * same_crawler
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

    def __init__(self, crawlers: Sequence[Host]) -> None:
        count = len(crawlers)
        self._sites: list[Host] = []
        self._means = np.empty((0, count))
        self._spreads = np.empty((0, count))
        random = np.random.default_rng(SEED)
        self._noise = random.standard_t(self.FREEDOM, (DRAWS, count)) / np.sqrt(3.0)

    def draws(self, site: Host, answers: Answers) -> tuple[Matrix, Matrix]:
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

    def learn(self, site: Host, answers: Answers) -> None:
        """Keep the site as a hypothesis."""
        drawn, weights = self.draws(site, answers)
        mean = weights @ drawn
        spread = np.sqrt(weights @ (drawn - mean) ** 2)
        measured = np.isin(np.arange(drawn.shape[1]), list(answers))
        spread = np.where(measured, self.SPREAD, np.hypot(self.DOUBT * spread, self.SPREAD))
        self._sites.append(site)
        self._means = np.vstack([self._means, mean])
        self._spreads = np.vstack([self._spreads, spread])

    def _hypotheses(self, site: Host) -> tuple[Matrix, Matrix, Matrix]:
        """Means, spreads and weights; the first is "like none of them"."""
        share = len(self._sites) / (len(self._sites) + self.UNKNOWN_WEIGHT)
        centre = np.full((1, self._means.shape[1]), self.UNKNOWN_MEAN)
        if self._sites:
            centre = share * self._means.mean(axis=0, keepdims=True) + (1 - share) * centre
        squares = np.sum((self._means - centre) ** 2, axis=0, keepdims=True)
        prior = self.UNKNOWN_WEIGHT * self.UNKNOWN_SPREAD**2
        around = np.sqrt((squares + prior) / (len(self._sites) + self.UNKNOWN_WEIGHT))
        weights = [self.NONE_WEIGHT, *(self._likeness(site, other) for other in self._sites)]
        return np.vstack([centre, self._means]), np.vstack([around, self._spreads]), np.array(weights)

    def _likeness(self, a: Host, b: Host) -> float:
        for field, factor in self.LIKENESS:
            if getattr(a, field) and getattr(a, field) == getattr(b, field):
                return factor
        return 1.0
