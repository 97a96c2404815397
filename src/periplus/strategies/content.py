"""Strategy `content` of paper A: the page's most probable place decides where all its links go.

    pr((c,s)|p) = α·#((c,s),p) + (1−α)·[β·S(s|c) + (1−β)·S̃(s|p)]·#(c,p)

#((c,s),p) counts the city with its state ("Portland, OR"), #(c,p) the city alone; S(s|c) is the population of (c,s)
among all cities named c; S̃(s|p) are the mentions of the state alone among those of all states with a city c. Cities
that nobody owns compete: if one of them wins, the links go to a general node.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from periplus.model import Assignment, Link, Located, Mention, Page, Place
from periplus.places import Gazetteer
from periplus.strategies.general import general_claims
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

    pairs: dict[int, int]  # by place id
    cities: dict[str, int]  # by glued name
    regions: dict[int, int]  # by place id


def probability(
    pairs: int, cities: int, population_share: float, region_share: float, *, alpha: float = ALPHA, beta: float = BETA
) -> float:
    """The formula for one city-state pair; not normalised, as in the paper."""
    return alpha * pairs + (1 - alpha) * (beta * population_share + (1 - beta) * region_share) * cities


class Bearers:
    """Who bears a name, with what of the formula depends on the name alone; made once for a name."""

    __slots__ = ("candidates", "parts", "people", "regions")

    def __init__(self, candidates: tuple[Candidate, ...]) -> None:
        self.candidates = candidates
        weights = [candidate.weight for candidate in candidates]
        people = sum(weights)
        self.people = [weight / people for weight in weights]
        self.parts = [  # (place, its id, what one mention of the city alone is worth where no state is named)
            (candidate.place, candidate.place.id, probability(0, 1, share, 0.0))
            for candidate, share in zip(candidates, self.people, strict=True)
        ]
        self.regions = [_region(candidate.place) for candidate in candidates]


class ContentStrategy(Strategy):
    """Scores the places that a page names."""

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer, table: NameTable | None = None) -> None:
        self._ownership = ownership
        self._table = table or NameTable(ownership, gazetteer)
        self._borne: dict[tuple[str, int], tuple[str, Bearers]] = {}
        self._known: dict[tuple[Candidate, ...], Bearers] = {}

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
        return general_claims(self._ownership, links)

    def scores(self, page: Page, located: Located) -> list[tuple[float, Place]]:
        """Every place that the page may be about with its score, best first."""
        counts, bearers = self._count(page, located)
        scores: dict[int, float] = {}
        places: dict[int, Place] = {}
        pairs, regions = counts.pairs, counts.regions
        for name, found in bearers.items():
            cities = counts.cities.get(name, 0)
            named = sum([regions[region] for region in set(found.regions) if region in regions]) if regions else 0
            for i, (place, place_id, part) in enumerate(found.parts):
                if named:
                    share = regions.get(found.regions[i], 0) / named
                    score = probability(pairs.get(place_id, 0), cities, found.people[i], share)
                elif place_id in pairs:
                    score = ALPHA * pairs[place_id] + part * cities
                else:
                    score = part * cities
                if score > scores.get(place_id, 0.0):
                    scores[place_id], places[place_id] = score, place
        ranked = sorted((-score, -places[i].population, i) for i, score in scores.items())
        return [(-score, places[i]) for score, _, i in ranked]

    def _count(self, page: Page, located: Located) -> tuple[PageCounts, dict[str, Bearers]]:
        """Count the mentions, and collect who bears each name."""
        pairs: dict[int, int] = {}
        cities: dict[str, int] = {}
        regions: dict[int, int] = {}
        bearers: dict[str, Bearers] = {}
        taken = -1  # regions up to here belong to a pair
        owned, text, borne = self._ownership.owner_by_place, page.text, self._borne
        for mention in located.mentions[:MAX_MENTIONS]:
            place = mention.place
            if place is None or mention.adjectival or mention.start < taken:
                continue
            if place.kind in REGIONS and place.id not in owned:
                regions[place.id] = regions.get(place.id, 0) + 1
                continue
            name, found = borne.get((mention.text, place.id)) or self._bearers(mention.text, place)
            known = bearers.get(name)
            if known is not found:
                bearers[name] = found if known is None else self._joined(known, found)
            paired, taken = _pair(mention, text, found.candidates)
            if paired is None:
                cities[name] = cities.get(name, 0) + 1
            else:
                pairs[paired.place.id] = pairs.get(paired.place.id, 0) + 1
        return PageCounts(pairs, cities, regions), bearers

    def _bearers(self, text: str, place: Place) -> tuple[str, Bearers]:
        """The name in a mention, and who bears it, the place itself among them; remembered."""
        name = glue(text.partition(",")[0])
        candidates = self._table.candidates.get(name) or (self._table.candidate(place),)
        if all(candidate.place.id != place.id for candidate in candidates):
            candidates = (*candidates, self._table.candidate(place))
        if len(self._borne) >= MEMO_NAMES:
            self._borne.clear()
        self._borne[text, place.id] = found = (name, self._made(candidates))
        return found

    def _made(self, candidates: tuple[Candidate, ...]) -> Bearers:
        """The same object for the same places, however the name is written."""
        found = self._known.get(candidates)
        if found is None:
            if len(self._known) >= MEMO_NAMES:
                self._known.clear()
            found = self._known[candidates] = Bearers(candidates)
        return found

    def _joined(self, known: Bearers, more: Bearers) -> Bearers:
        ids = {candidate.place.id for candidate in known.candidates}
        new = tuple(candidate for candidate in more.candidates if candidate.place.id not in ids)
        return self._made((*known.candidates, *new)) if new else known


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
