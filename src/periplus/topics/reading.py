"""A document as the default judge sees it: weighted stems, and places with their mass.

Made once a page from the text and what `places` found in it; learning and judging use the same form. Pure.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

import numpy as np

from periplus.model import Located, Place
from periplus.topics.tally import StemCounts, ints
from periplus.topics.words import content_counts, content_stems, pairs

__all__ = ["Reading", "count_content", "place_masses", "read_document", "site_country"]

TITLE_LENGTH = 160
"""Without a title of its own, a first line up to so many characters is taken for one."""

DATELINE = 40
"""Characters after the title line in which a place counts twice: "LONDON, Feb 26 -"."""

HOME_MASS = 2.0
"""Mass of a place that the page's metadata or address names as its home."""

GENERIC_TLDS = frozenset({"io", "co", "tv", "me", "ai", "fm", "ly", "cc", "to", "gg", "ws", "nu", "la", "eu"})


@dataclass(frozen=True, slots=True)
class Reading:
    """Stems with counts (title counted more), pairs of neighbours, their norm, and the places."""

    stems: dict[str, int]
    pairs: dict[str, int]
    words: int
    places: dict[Place, float]
    country: str = ""  # ISO code of the site's top-level domain
    norm: float = field(init=False)  # length of the vector of 1 + log count over all stems

    def __post_init__(self) -> None:
        squared = sum((1.0 + math.log(count)) ** 2 for count in self.stems.values())
        object.__setattr__(self, "norm", math.sqrt(squared))


def read_document(
    text: str, located: Located, *, title: str = "", language: str = "", url: str = "", plain: bool = False
) -> Reading:
    """Read a text whose places are located (offsets of the mentions are offsets in `text`), with all its pairs.

    `plain`: words and places just counted, as the paper does.
    """
    if plain:
        return _read_plain(text, located, title, language)
    counts = count_content(text, located, title, language)
    return Reading(
        stems=counts.among(ints(np.ones(len(counts.names), np.uint8))),
        pairs=dict(pairs([counts.names[number] for number in counts.sequence])),
        words=counts.words,
        places=dict(place_masses(text, located, title)),
        country=site_country(url),
    )


def _read_plain(text: str, located: Located, title: str, language: str) -> Reading:
    sequence = content_stems(text, language, [(mention.start, mention.end) for mention in located.mentions])
    counts = Counter(stem for stem in (*sequence, *content_stems(title, language)) if stem)
    places = Counter(mention.place for mention in located.mentions if mention.place is not None)
    masses = {place: float(count) for place, count in places.items()}
    return Reading(dict(counts), dict(pairs(sequence)), len(sequence), masses)


def count_content(text: str, located: Located, title: str, language: str) -> StemCounts:
    """The stems of a text, place names left out, counted together with those of its title or first line."""
    spans = [(mention.start, mention.end) for mention in located.mentions]
    if title:
        return content_counts(text, spans, title, (), language)
    head = _first_line(text)
    return content_counts(text, spans, text[:head], [span for span in spans if span[1] <= head], language)


def _first_line(text: str) -> int:
    """Where the first line ends, if it is short enough for a title; else 0."""
    end = text.find("\n", 0, TITLE_LENGTH + 1)
    return max(0, end)


def place_masses(text: str, located: Located, title: str) -> Iterable[tuple[Place, float]]:
    """What each place weighs: its mentions, twice at the head or in the title; addresses; the page's home."""
    head = _first_line(text) + DATELINE
    places: dict[int, Place] = {}
    masses: dict[int, float] = {}  # by id: places are slower to look up
    in_title: set[str] = set()
    for mention in located.mentions:
        place = mention.place
        if place is None:
            continue
        mass = 2.0 if mention.start < head else 1.0
        if title and mention.text in title and mention.text not in in_title:
            in_title.add(mention.text)
            mass += 1.0
        known = place.id
        if known in masses:
            masses[known] += mass
        else:
            masses[known] = mass
            places[known] = place
    addressed = Counter([address.place_id for address in located.addresses]) if located.addresses else {}
    for weighted in located.footprint.places:
        place = weighted.place
        if place.id in addressed:
            masses[place.id] = masses.get(place.id, 0.0) + addressed[place.id]
        elif place.id not in masses:
            masses[place.id] = HOME_MASS  # in the footprint without a mention: named by metadata
        places[place.id] = place
    return zip(places.values(), masses.values(), strict=True)


@lru_cache(maxsize=4096)
def site_country(url: str) -> str:
    """The country of a URL's top-level domain; "" for generic ones."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    tld = host.rpartition(".")[2]
    if len(tld) != 2 or tld in GENERIC_TLDS or not tld.isalpha():
        return ""
    return "GB" if tld == "uk" else tld.upper()
