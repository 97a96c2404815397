"""Strategy `content` of paper A: the page's most probable place decides where all its links go.

    pr((c,s)|p) = α·#((c,s),p) + (1−α)·[β·S(s|c) + (1−β)·S̃(s|p)]·#(c,p)

#((c,s),p) counts the city with its state ("Portland, OR"), #(c,p) the city alone; S(s|c) is the population of (c,s)
among all cities named c; S̃(s|p) are the mentions of the state alone among those of all states with a city c. Cities
that nobody owns compete: if one of them wins, the links go to a general node.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from periplus.model import Assignment, Link, Located, Mention, Page, Place
from periplus.places import Gazetteer
from periplus.strategies.hash import host_of
from periplus.strategies.names import Candidate, NameTable, glue
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy
from periplus.strategies.textnames import region_after

__all__ = ["ContentStrategy", "PageCounts", "probability"]

ALPHA = 0.7
BETA = 0.5
MAX_MENTIONS = 5_000
MEMO_NAMES = 50_000
REGIONS = frozenset({"admin1", "country", "continent", "world"})


@dataclass(frozen=True, slots=True)
class PageCounts:
    """What a page mentions, counted apart: cities with their state, cities alone by name, regions alone by id."""

    pairs: Counter[int]  # place id
    cities: Counter[str]  # glued name
    regions: Counter[int]  # place id


def probability(
    pairs: int, cities: int, population_share: float, region_share: float, *, alpha: float = ALPHA, beta: float = BETA
) -> float:
    """The formula for one city-state pair; not normalised, as in the paper."""
    return alpha * pairs + (1 - alpha) * (beta * population_share + (1 - beta) * region_share) * cities


class ContentStrategy(Strategy):
    """Scores the places that a page names."""

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer, table: NameTable | None = None) -> None:
        self._ownership = ownership
        self._table = table or NameTable(ownership, gazetteer)
        self._borne: dict[tuple[str, int], tuple[str, tuple[Candidate, ...]]] = {}

    def route(self, links: Sequence[Link], page: Page, located: Located, _known: Known = NOTHING_KNOWN) -> list[Claims]:
        """The same owners for all links: by the page's places, the most probable first; else a general node."""
        scores = self.scores(page, located)
        nodes: dict[str, Assignment] = {}
        for _, place in scores:
            owned = self._ownership.owner(place)
            if owned is None:
                if not nodes:
                    break  # the winner is nobody's
                continue
            nodes.setdefault(owned[0], Assignment(owned[0], place.id, "content"))
        if nodes:
            return [tuple(nodes.values())] * len(links)
        general_for = self._ownership.general_for
        return [(Assignment(general_for(host_of(link.url)), None, "no_place"),) for link in links]

    def scores(self, page: Page, located: Located) -> list[tuple[float, Place]]:
        """Every place that the page may be about with its score, best first."""
        counts, bearers = self._count(page, located)
        scores: dict[int, float] = {}
        places: dict[int, Place] = {}
        for name, candidates in bearers.items():
            weights = [candidate.weight for candidate in candidates]
            people, cities = sum(weights), counts.cities.get(name, 0)
            regions = [_region(candidate.place) for candidate in candidates] if counts.regions else []
            named = sum([counts.regions.get(region, 0) for region in set(regions)])
            for i, candidate in enumerate(candidates):
                place = candidate.place
                share = counts.regions.get(regions[i], 0) / named if named else 0.0
                score = probability(counts.pairs.get(place.id, 0), cities, weights[i] / people, share)
                if score > scores.get(place.id, 0.0):
                    scores[place.id], places[place.id] = score, place
        return sorted(
            ((score, places[i]) for i, score in scores.items()),
            key=lambda pair: (-pair[0], -pair[1].population, pair[1].id),
        )

    def _count(self, page: Page, located: Located) -> tuple[PageCounts, dict[str, tuple[Candidate, ...]]]:
        """Count the mentions, and collect who bears each name."""
        counts = PageCounts(Counter(), Counter(), Counter())
        bearers: dict[str, tuple[Candidate, ...]] = {}
        taken = -1  # regions up to here belong to a pair
        for mention in located.mentions[:MAX_MENTIONS]:
            place = mention.place
            if place is None or mention.adjectival or mention.start < taken:
                continue
            if place.kind in REGIONS and place.id not in self._ownership.owner_by_place:
                counts.regions[place.id] += 1
                continue
            name, candidates = self._borne.get((mention.text, place.id)) or self._bearers(mention.text, place)
            known = bearers.get(name)
            if known is not candidates:
                bearers[name] = candidates if known is None else _joined(known, candidates)
            paired, taken = _pair(mention, page.text, candidates)
            if paired is None:
                counts.cities[name] += 1
            else:
                counts.pairs[paired.place.id] += 1
        return counts, bearers

    def _bearers(self, text: str, place: Place) -> tuple[str, tuple[Candidate, ...]]:
        """The name in a mention, and who bears it, the place itself among them; remembered."""
        name = glue(text.partition(",")[0])
        candidates = self._table.candidates.get(name) or (self._table.candidate(place),)
        if all(candidate.place.id != place.id for candidate in candidates):
            candidates = (*candidates, self._table.candidate(place))
        if len(self._borne) >= MEMO_NAMES:
            self._borne.clear()
        self._borne[text, place.id] = found = (name, candidates)
        return found


def _pair(mention: Mention, text: str, candidates: tuple[Candidate, ...]) -> tuple[Candidate | None, int]:
    """The city-state pair that a mention begins, if it does, and where what belongs to it ends."""
    comma = mention.text.find(",")
    end = mention.end if comma < 0 else mention.start + comma
    region = region_after(text, end)
    if region:
        for candidate in candidates:
            if region in (candidate.division, candidate.division_name, candidate.country_name):
                return candidate, max(mention.end, end + len(region) + 2)
    return None, mention.end


def _region(place: Place) -> int:
    """The first division of a city, else its country; 0 for none."""
    if place.kind in ("country", "continent", "world"):
        return 0
    return place.ancestors[3] if len(place.ancestors) > 3 else place.ancestors[-1] if place.ancestors else 0


def _joined(known: tuple[Candidate, ...], more: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    ids = {candidate.place.id for candidate in known}
    return (*known, *(candidate for candidate in more if candidate.place.id not in ids))
