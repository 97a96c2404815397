"""Places that a URL names: words of URLs, and the names that count for a topic, worked out once before the crawl. Pure.

For each of the topic's places these are its own names and those of the largest towns in it, as far as the name alone
means that place: "paris" in a URL says nothing for a topic about Texas.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Self
from urllib.parse import unquote

from periplus.model import Place
from periplus.places import Gazetteer

__all__ = ["UrlNames", "longest_names", "name_key", "slug_words"]

MAX_TOWNS = 200
"""For all places of a topic together."""

MIN_TOWN = 50_000
"""Smaller towns share their names with too much else."""

MIN_LETTERS = 4
"""Shorter words in URLs are rarely places."""

LONGEST_NAME = 4
MAX_SLUG = 400
MAX_SLUG_WORDS = 40
_WORD = re.compile(r"[^\W_]+")

Key = tuple[str, ...]


@lru_cache(maxsize=4096)
def slug_words(url: str) -> tuple[str, ...]:
    """The words of a URL: host without its top-level domain, and path."""
    _, _, rest = url.partition("://")
    host, _, path = rest[:MAX_SLUG].partition("/")
    path = path.partition("?")[0].partition("#")[0]
    if "%" in path:
        path = unquote(path)
    return tuple(_WORD.findall(f"{host.rpartition('.')[0]} {path}".casefold())[:MAX_SLUG_WORDS])


@lru_cache(maxsize=16_384)  # a page's places are mostly those of the next
def name_key(name: str) -> Key:
    """A name as the words of a URL may have it."""
    return tuple(_WORD.findall(name.casefold()))[:LONGEST_NAME]


def longest_names(words: Sequence[str], names: Mapping[Key, Place]) -> list[Place]:
    """The places that a row of words names, the longest names first."""
    found: list[Place] = []
    at = 0
    while at < len(words):
        step = 1
        for length in range(min(LONGEST_NAME, len(words) - at), 0, -1):
            place = names.get(tuple(words[at : at + length]))
            if place is not None:
                found.append(place)
                step = length
                break
        at += step
    return found


class UrlNames:
    """The names by which URLs may name a topic's places."""

    def __init__(self, names: Mapping[Key, Place]) -> None:
        self._names = names
        self._firsts = {key[0] for key in names}

    @classmethod
    def of(cls, places: Sequence[Place], gazetteer: Gazetteer) -> Self:
        """The names of places and of what lies in them."""
        names: dict[Key, Place] = {}
        for place in places:
            for inner in (place, *_towns(place, gazetteer)[: MAX_TOWNS // len(places)]):
                key = name_key(inner.name)
                if key not in names and sum(map(len, key)) >= MIN_LETTERS and _means(inner, gazetteer):
                    names[key] = inner
        return cls(names)

    def find(self, url: str) -> list[Place]:
        """The places that a URL names."""
        return self.in_words(slug_words(url)) if self._names and url else []

    def in_words(self, words: Sequence[str]) -> list[Place]:
        """The places that words of a URL name."""
        return [] if self._firsts.isdisjoint(words) else longest_names(words, self._names)


def _towns(place: Place, gazetteer: Gazetteer) -> list[Place]:
    """The largest towns in a country or a state; the countries of a continent."""
    if place.kind == "continent":
        return [gazetteer.place(child) for child in gazetteer.children(place.id)]
    if place.kind not in ("country", "admin1") or not place.country:
        return []
    division = place.admin1 if place.kind == "admin1" else None
    towns = gazetteer.cities_of(place.country, division, least=MIN_TOWN)
    return sorted(towns, key=lambda town: (-town.population, town.id))


@lru_cache(maxsize=10_000)
def _means(place: Place, gazetteer: Gazetteer) -> bool:
    """Whether the name alone means this place."""
    found = gazetteer.find(place.name, limit=1)
    return bool(found) and found[0].id == place.id
