"""What the pages of hosts turned out to be about: the memory that `blend` learns from, kept by the process of a crawl.

Everything in it follows from committed rows (pages and their footprints), so it needs no table of its own: a crawl
that is resumed learns it again from its databases. Strategies see values of it (`HostView`) only.
"""

from collections.abc import Iterable

from periplus.strategies.protocol import HostView
from periplus.urls import registrable_domain

__all__ = ["HostPlaces"]

MAX_HOSTS = 200_000
MAX_PLACES = 32
SHOWN_PLACES = 8
ENOUGH_PAGES = 3
"""From so many pages on a host speaks for itself; before that its domain does."""


MAX_VIEWS = 10_000
NOTHING_SEEN = HostView()

ONE_PLACE = 0.5
"""A domain speaks for its hosts if one place has this share of it: a university's does, a provider's does not."""


class HostPlaces:
    """Shares of places by host and by registrable domain. Bounded; what comes after the bound is not learnt."""

    def __init__(self) -> None:
        self._weights: dict[str, dict[int, float]] = {}
        self._pages: dict[str, int] = {}
        self._addresses: dict[str, dict[str, int]] = {}
        self._views: dict[str, HostView] = {}  # until another page is learnt

    def learn(self, host: str, places: Iterable[tuple[int, float]], addressed: Iterable[str] = ()) -> None:
        """Take up one page of a host: its places with their shares, and the nodes in whose places it has addresses.

        A page without places counts as well.
        """
        found, nodes = list(places), set(addressed)
        for key in {host, registrable_domain(host) or host}:
            self._views.pop(key, None)
            weights = self._weights.get(key)
            if weights is None:
                if len(self._weights) >= MAX_HOSTS:
                    continue
                weights = self._weights[key] = {}
            self._pages[key] = self._pages.get(key, 0) + 1
            if nodes:
                counts = self._addresses.setdefault(key, {})
                counts.update((node, counts.get(node, 0) + 1) for node in nodes)
            for place_id, weight in found:
                weights[place_id] = weights.get(place_id, 0.0) + weight
            if len(weights) > 2 * MAX_PLACES:
                kept = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_PLACES]
                self._weights[key] = dict(kept)

    def view(self, host: str) -> HostView:
        """What is known of a host, or of its domain while the host has few pages.

        The same value while no other page is learnt.
        """
        own = self._view(host)
        if own.pages >= ENOUGH_PAGES:
            return own
        domain = self._view(registrable_domain(host) or host)
        total = sum(share for _, share in domain.places)
        return domain if total and domain.places[0][1] >= total * ONE_PLACE else own

    def _view(self, key: str) -> HostView:
        pages = self._pages.get(key, 0)
        if not pages:
            return NOTHING_SEEN
        view = self._views.get(key)
        if view is None:
            heaviest = sorted(self._weights[key].items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN_PLACES]
            addresses = sorted(self._addresses.get(key, {}).items())
            view = HostView(
                tuple((place_id, weight / pages) for place_id, weight in heaviest),
                pages,
                tuple((node, count / pages) for node, count in addresses),
            )
            if len(self._views) >= MAX_VIEWS:
                self._views.clear()
            self._views[key] = view
        return view
