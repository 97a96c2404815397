"""Places: the gazetteer and the geoparser. Text in, places out; between `pages` and `topics` in the flow.

    gazetteer = open_gazetteer()
    located = locate("Floods hit Sylhet in Bangladesh.", gazetteer)
    located.mentions[0].place.path

Everything here is pure over the compiled gazetteer, which `open_gazetteer` maps from the user's cache.
"""

from periplus.places.addresses import find_addresses
from periplus.places.footprint import main_place
from periplus.places.gazetteer import Gazetteer, open_gazetteer
from periplus.places.glued import GluedNames, glue, words_of
from periplus.places.locate import locate
from periplus.places.memory import HostPrior
from periplus.places.relations import Related, Relation, RelationKind, related_set, relation, relevance

__all__ = [
    "Gazetteer",
    "GluedNames",
    "HostPrior",
    "Related",
    "Relation",
    "RelationKind",
    "find_addresses",
    "glue",
    "locate",
    "main_place",
    "open_gazetteer",
    "related_set",
    "relation",
    "relevance",
    "words_of",
]
