"""A page's geography in a few weighted places: what its mentions, addresses and own hints add up to."""

from collections.abc import Iterable
from typing import Final

from periplus.model import Address, Footprint, Mention, Place, WeightedPlace
from periplus.places.gazetteer import Gazetteer

__all__ = ["footprint_of"]

MAX_PLACES: Final = 32
ADDRESS_WEIGHT: Final = 2.0
ADJECTIVAL_WEIGHT: Final = 0.5
HINT_WEIGHT: Final = 2.0


def footprint_of(
    mentions: Iterable[Mention], addresses: Iterable[Address], hinted: Iterable[Place], gazetteer: Gazetteer
) -> Footprint:
    """Weigh the places of a page; weights sum to 1 over all places found, the heaviest are kept."""
    weight: dict[int, float] = {}
    places: dict[int, Place] = {}

    def add(place: Place, amount: float) -> None:
        places[place.id] = place
        weight[place.id] = weight.get(place.id, 0.0) + amount

    for mention in mentions:
        if mention.place is not None:
            add(mention.place, mention.confidence * (ADJECTIVAL_WEIGHT if mention.adjectival else 1.0))
    for address in addresses:
        add(gazetteer.place(address.place_id), ADDRESS_WEIGHT)
    for place in hinted:
        add(place, HINT_WEIGHT)
    total = sum(weight.values())
    if total <= 0.0:
        return Footprint()
    order = sorted(weight, key=lambda i: (-weight[i], i))[:MAX_PLACES]
    return Footprint(tuple(WeightedPlace(places[i], weight[i] / total) for i in order))
