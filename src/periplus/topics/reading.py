"""A document as the default judge sees it: weighted stems, and places with their mass.

Made once a page from the text and what `places` found in it; learning and judging use the same form. Pure.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from periplus.model import Located, Place
from periplus.topics.tally import cut
from periplus.topics.words import CHUNKS, Content, content_of, content_stems, pairs

__all__ = ["TITLE_BOOST", "Reading", "content_counts", "place_masses", "read_document", "site_country"]

TITLE_BOOST = 3
"""A word of the title counts this much more often."""

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

    @property
    def norm(self) -> float:
        """Length of the vector of 1 + log count over all stems."""
        return math.sqrt(sum(map(_SQUARED.__getitem__, self.stems.values())))


class _Squared(dict[int, float]):
    """(1 + log count)² by count."""

    def __missing__(self, count: int) -> float:
        found = (1.0 + math.log(count)) ** 2
        if count < 4096:
            self[count] = found
        return found


_SQUARED = _Squared()


def read_document(
    text: str, located: Located, *, title: str = "", language: str = "", url: str = "", plain: bool = False
) -> Reading:
    """Read a text whose places are located (offsets of the mentions are offsets in `text`), with all its pairs.

    `plain`: words and places just counted, as the paper does.
    """
    if plain:
        return _read_plain(text, located, title, language)
    content, counts = content_counts(text, located, title, language)
    return Reading(
        stems=counts,
        pairs=dict(pairs(content.sequence)),
        words=len(content),
        places=place_masses(text, located, title),
        country=site_country(url),
    )


def _read_plain(text: str, located: Located, title: str, language: str) -> Reading:
    sequence = content_stems(text, language, [(mention.start, mention.end) for mention in located.mentions])
    counts = Counter(stem for stem in (*sequence, *content_stems(title, language)) if stem)
    places = Counter(mention.place for mention in located.mentions if mention.place is not None)
    masses = {place: float(count) for place, count in places.items()}
    return Reading(dict(counts), dict(pairs(sequence)), len(sequence), masses)


def content_counts(text: str, located: Located, title: str, language: str) -> tuple[Content, dict[str, int]]:
    """The stems of a text, place names left out, and their counts with those of the title."""
    spans = [(mention.start, mention.end) for mention in located.mentions]
    content = content_of(cut(CHUNKS, text, spans), language)
    if title:
        titles = content_stems(title, language)
    else:
        head = _first_line(text)
        titles = content_stems(text[:head], language, [span for span in spans if span[1] <= head])
    counts = content.counts()
    for stem in titles:
        if stem:
            counts[stem] = counts.get(stem, 0) + TITLE_BOOST
    return content, counts


def _first_line(text: str) -> int:
    """Where the first line ends, if it is short enough for a title; else 0."""
    end = text.find("\n", 0, TITLE_LENGTH + 1)
    return max(0, end)


def place_masses(text: str, located: Located, title: str) -> dict[Place, float]:
    """What each place weighs: its mentions, twice at the head or in the title; addresses; the page's home."""
    head = _first_line(text) + DATELINE
    masses: dict[Place, float] = {}
    in_title: set[str] = set()
    for mention in located.mentions:
        if mention.place is None:
            continue
        mass = 2.0 if mention.start < head else 1.0
        if title and mention.text not in in_title and mention.text in title:
            in_title.add(mention.text)
            mass += 1.0
        masses[mention.place] = masses.get(mention.place, 0.0) + mass
    addressed = Counter(address.place_id for address in located.addresses)
    for weighted in located.footprint.places:
        place = weighted.place
        if place.id in addressed:
            masses[place] = masses.get(place, 0.0) + addressed[place.id]
        elif place not in masses:
            masses[place] = HOME_MASS  # in the footprint without a mention: named by metadata
    return masses


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
