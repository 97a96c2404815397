"""Host memory: what places the pages of a host turned out to be about, as a prior for its next page."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from periplus.model import Located

__all__ = ["HostPrior", "leave_one_out"]

_MAX_PLACES: Final = 64


@dataclass(frozen=True, slots=True)
class HostPrior:
    """Places of a host's pages with weights (place id, mentions). A value: `updated` gives a new one."""

    weights: tuple[tuple[int, float], ...] = ()
    pages: int = 0

    def updated(self, located: Located) -> "HostPrior":
        """The memory after one more page: each page counts once, spread over its places."""
        table = dict(self.weights)
        for item in located.footprint.places:
            table[item.place.id] = table.get(item.place.id, 0.0) + item.weight
        heaviest = sorted(table.items(), key=lambda pair: (-pair[1], pair[0]))[:_MAX_PLACES]
        return HostPrior(tuple(heaviest), self.pages + 1)


def leave_one_out(documents: Sequence[tuple[str, str]], parse: Callable[[str, str], Located]) -> dict[int, HostPrior]:
    """For every (text, URL) what the other documents of its host were about; documents without a host have none."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, (_, url) in enumerate(documents):
        host = host_of(url)
        if host:
            groups[host].append(i)
    priors: dict[int, HostPrior] = {}
    for members in groups.values():
        if len(members) < 2:
            continue
        located = {i: parse(*documents[i]) for i in members}
        everything: dict[int, float] = defaultdict(float)
        for found in located.values():
            for item in found.footprint.places:
                everything[item.place.id] += item.weight
        for i in members:
            own = {item.place.id: item.weight for item in located[i].footprint.places}
            rest = {p: w - own.get(p, 0.0) for p, w in everything.items()}
            kept = sorted(((p, w) for p, w in rest.items() if w > 1e-9), key=lambda pair: (-pair[1], pair[0]))
            priors[i] = HostPrior(tuple(kept[:_MAX_PLACES]), len(members) - 1)
    return priors


def host_of(url: str) -> str:
    """The host of a URL, "" if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
