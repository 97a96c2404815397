"""Links whose domains are registered somewhere: the place, and what it adds to a link's priority (paper B).

A registration is a location entity of every URL of its domain. Where the URL names a place itself, that one is nearer
and counts alone. Else the place of registration is the URL's only entity: its spatial correlation is 1, and whether it
lies in the topic's places counts a third in `places`, where anchor and URL are silent. Pure.
"""

from periplus.model import Place
from periplus.places import Gazetteer
from periplus.topics.link_parts import ANCHOR, OWN, PARENT, UNWORDED
from periplus.topics.priority import LinkParts
from periplus.topics.topic import Topic

__all__ = ["registered_parts", "registered_place"]

REGISTERED = 1 / 3


def registered_place(locality: str, region: str, country: str, gazetteer: Gazetteer) -> Place | None:
    """The place of a postal address by its parts, as exactly as it can be told; None if not at all."""
    home = _country(country, gazetteer)
    if country and home is None:
        return None
    code = home.country if home else None
    if locality and (home or region):
        towns = gazetteer.find(locality, country=code)
        inside = [town for town in towns if region.casefold() in _above(town)] if region else towns
        if inside or (towns and home):
            return (inside or towns)[0]
    if region and home:
        found = gazetteer.find(region, country=code, limit=1)
        return found[0] if found else home
    return home


def _country(name: str, gazetteer: Gazetteer) -> Place | None:
    if len(name) == 2:
        row = gazetteer.country_row(name.upper())
        return gazetteer.place_at(row) if row >= 0 else None
    found = gazetteer.find(name, limit=1) if name else []
    return found[0] if found and found[0].kind == "country" else None


def _above(place: Place) -> set[str]:
    """What a region of the place may be called."""
    return {place.admin1.casefold(), *(name.casefold() for name in place.path[:-1])}


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
