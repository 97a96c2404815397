"""Links whose domains are registered somewhere: the place, and what it adds to a link's priority (paper B).

A registration is a location entity of every URL of its domain. Where the URL names a place itself, that one is nearer
and counts alone. Else the place of registration is the URL's only entity: its spatial correlation is 1, and whether it
lies in the topic's places counts a third in `places`, where anchor and URL are silent. Pure.
"""

from periplus.errors import PlaceError
from periplus.model import Place
from periplus.places import Gazetteer
from periplus.topics.priority import ANCHOR, OWN, PARENT, UNWORDED, LinkParts
from periplus.topics.topic import Topic

__all__ = ["registered_parts", "registered_place"]

REGISTERED = 1 / 3


def registered_place(locality: str, region: str, country: str, gazetteer: Gazetteer) -> Place | None:
    """The place of a postal address by its parts, as exactly as it can be told; None if not at all."""
    for name in (locality, region):
        for outer in (region if name != region else "", country):
            if name and outer:
                try:
                    return gazetteer.resolve(f"{name}, {outer}")
                except PlaceError:
                    continue
    if len(country) == 2:
        row = gazetteer.country_row(country.upper())
        return gazetteer.place_at(row) if row >= 0 else None
    found = gazetteer.find(country, limit=1) if country else []
    return found[0] if found and found[0].kind == "country" else None


def registered_parts(parts: LinkParts, place: Place, topic: Topic) -> LinkParts:
    """The parts of a link's priority with the place that its domain is registered in."""
    if parts.spatial > 0.0:
        return parts
    places = parts.places
    if topic.places and parts.anchor == 0.0:
        places = (1.0 - REGISTERED) * places + REGISTERED * topic.table.worth(place).is_target
    worth = parts.time * (1.0 - ANCHOR + ANCHOR * parts.anchor)
    if topic.keywords:
        worth *= UNWORDED + (1.0 - UNWORDED) * (PARENT * parts.parent_keywords + OWN * parts.keywords)
    if topic.places:
        worth *= PARENT * parts.parent_places + OWN * places
    return parts._replace(spatial=1.0, places=places, priority=worth)
