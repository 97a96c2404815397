"""What a page mentions, counted and scored: inner loops of `content`, compiled where there is a C compiler (`.pxd`)."""

from collections.abc import Callable, Sequence

from periplus.model import Mention, Place
from periplus.strategies.names import Candidate
from periplus.strategies.naming import in_region, region_after

__all__ = ["ALPHA", "BETA", "Bearers", "count", "probability", "score"]

ALPHA, BETA = 0.7, 0.5
"""The paper's."""

_REGIONS = frozenset({"admin1", "country", "continent", "world"})


def probability(  # noqa: PLR0917  a function in C, where names of arguments cost time
    pairs: float,
    cities: float,
    population_share: float,
    region_share: float,
    alpha: float,
    beta: float,
) -> float:
    """The formula for one city-state pair; not normalised, as in the paper."""
    return alpha * pairs + (1 - alpha) * (beta * population_share + (1 - beta) * region_share) * cities


class Bearers:
    """Who bears a name, with what of the formula depends on the name alone; made once for a name."""

    def __init__(self, candidates: tuple[Candidate, ...]) -> None:
        self.candidates = candidates
        weights = [candidate.weight for candidate in candidates]
        people = sum(weights)
        self.people = [weight / people for weight in weights]
        self.places = [candidate.place for candidate in candidates]
        self.ids = [candidate.place.id for candidate in candidates]
        self.regions = [_region(candidate.place) for candidate in candidates]
        self.distinct = tuple(dict.fromkeys(self.regions))


def count(  # noqa: PLR0917  a function in C, where names of arguments cost time
    mentions: Sequence[Mention],
    text: str,
    owned: dict[int, str],
    borne: dict[tuple[str, int], tuple[str, Bearers]],
    find: Callable[[str, Place], tuple[str, Bearers]],
    join: Callable[[Bearers, Bearers], Bearers],
) -> tuple[dict[int, int], dict[str, int], dict[int, int], dict[str, Bearers]]:
    """Cities with their state by place id, cities alone by glued name, regions alone by place id; and who bears each
    name (`borne`, else `find`; `join` puts those of one name together)."""
    pairs: dict[int, int] = {}
    cities: dict[str, int] = {}
    regions: dict[int, int] = {}
    bearers: dict[str, Bearers] = {}
    taken = -1  # regions up to here belong to a pair
    for mention in mentions:
        place = mention.place
        if place is None or mention.adjectival or mention.start < taken:
            continue
        place_id = place.id
        if place.kind in _REGIONS and place_id not in owned:
            regions[place_id] = regions.get(place_id, 0) + 1
            continue
        name, found = borne.get((mention.text, place_id)) or find(mention.text, place)
        known = bearers.get(name)
        if known is not found:
            bearers[name] = found if known is None else join(known, found)
        taken = mention.end
        comma = mention.text.find(",")
        end = taken if comma < 0 else mention.start + comma
        region = region_after(text, end)
        paired = in_region(found.candidates, region)
        if paired is None:
            cities[name] = cities.get(name, 0) + 1
        else:
            taken = max(taken, end + len(region) + 2)
            paired_id = paired.place.id
            pairs[paired_id] = pairs.get(paired_id, 0) + 1
    return pairs, cities, regions, bearers


def score(  # noqa: PLR0917  as `probability`
    pairs: dict[int, int],
    cities: dict[str, int],
    regions: dict[int, int],
    bearers: dict[str, Bearers],
    alpha: float,
    beta: float,
) -> list[tuple[float, Place]]:
    """The formula for everybody who bears a name that was counted; the best first."""
    scores: dict[int, float] = {}
    places: dict[int, Place] = {}
    for name, found in bearers.items():
        alone = cities.get(name, 0)
        named = 0
        for region in found.distinct if regions else ():
            named += regions.get(region, 0)
        for i in range(len(found.ids)):
            place_id = found.ids[i]
            share = regions.get(found.regions[i], 0) / named if named else 0.0
            with_state = pairs.get(place_id, 0) if pairs else 0
            value = probability(with_state, alone, found.people[i], share, alpha, beta)
            if value > scores.get(place_id, 0.0):
                scores[place_id] = value
                places[place_id] = found.places[i]
    ranked = sorted([(-value, -places[place_id].population, place_id) for place_id, value in scores.items()])
    return [(-value, places[place_id]) for value, _, place_id in ranked]


def _region(place: Place) -> int:
    """The first division of a city, else its country; 0 for none."""
    if place.kind in ("country", "continent", "world"):
        return 0
    around = len(place.ancestors)
    return place.ancestors[min(3, around - 1)] if around else 0
