"""What the anchors and URLs of links say to a topic, by themselves: the links of one page are mostly those of the next.

Remembered for each language, bounded. What a link says is what both halves say, except where a keyword may begin in
one and end in the other: then they are read together. Pure.
"""

from collections.abc import Sequence
from itertools import combinations

from periplus.model import EARTH_RADIUS_KM, Link, Place
from periplus.topics.lexicon import Lexicon
from periplus.topics.link_parts import UrlSaid
from periplus.topics.place_table import PlaceTable
from periplus.topics.url_names import UrlNames, slug_words

__all__ = ["NOTHING_SAID", "LinkWords", "spatial_correlation"]

HALF_CIRCUMFERENCE_KM = EARTH_RADIUS_KM * 3.141592653589793
MAX_ENTITIES = 12
REMEMBERED = 50_000
"""Anchors, and URLs, of which is remembered what they say before it begins anew."""

EVIDENCE = 0.7
"""What a keyword of weight 1 is evidence for."""

TOGETHER = (-1,)
"""Stands for the keywords of a text that has to be read together with the other half of its link."""

NOTHING_SAID = UrlSaid((), (), (0, 0, 0.0))


def spatial_correlation(places: Sequence[Place]) -> float:
    """1 − mean pairwise distance of distinct places, normalised to 0..1; 1 for one place, 0 for none."""
    distinct = list({place.id: place for place in places}.values())[:MAX_ENTITIES]
    if len(distinct) < 2:
        return float(len(distinct))
    far = [a.point.distance_km(b.point) / HALF_CIRCUMFERENCE_KM for a, b in combinations(distinct, 2)]
    return max(0.0, 1.0 - sum(far) / len(far))


class LinkWords:
    """Keywords and places in links, as a topic has them in one language."""

    def __init__(
        self, lexicon: Lexicon, keywords: Sequence[tuple[str, float]], names: UrlNames, table: PlaceTable
    ) -> None:
        self._lexicon = lexicon
        self._weights = [weight for _, weight in keywords]
        self._names = names
        self._table = table
        self._urls: dict[str, UrlSaid] = {}
        self._anchors: dict[str, tuple[int, ...]] = {}
        self._worded: dict[tuple[int, ...], float] = {}

    def urls(self, links: Sequence[Link]) -> list[UrlSaid]:
        """What the URLs of links say."""
        known = self._urls
        return [known.get(link.url) or self._learn_url(link.url) for link in links]

    def worded(self, links: Sequence[Link], urls: Sequence[UrlSaid]) -> list[float]:
        """The evidence of keywords in each link, 0..1."""
        known, found = self._anchors, []
        for link, url in zip(links, urls, strict=True):
            said = known.get(link.anchor)
            if said is None:
                said = self._learn_anchor(link.anchor)
            numbers = said + url.keywords
            found.append(self._evidence(numbers, link.anchor, url) if numbers else 0.0)
        return found

    def places(self, named: Sequence[Place]) -> tuple[int, int, float]:
        """Of places: how many there are, how many lie in targets, and their spatial correlation."""
        worth = self._table.worth
        return len(named), sum(worth(place).is_target for place in named), spatial_correlation(named)

    def _learn_url(self, url: str) -> UrlSaid:
        if len(self._urls) >= REMEMBERED:
            self._urls.clear()
        words = slug_words(url)
        said = UrlSaid(words, self._keywords(" ".join(words)), self.places(self._names.in_words(words)))
        self._urls[url] = said
        return said

    def _learn_anchor(self, anchor: str) -> tuple[int, ...]:
        if len(self._anchors) >= REMEMBERED:
            self._anchors.clear()
        said = self._anchors[anchor] = self._keywords(anchor)
        return said

    def _keywords(self, text: str) -> tuple[int, ...]:
        """The numbers of a text's keywords, in its order."""
        alone = self._lexicon.alone(text)
        return TOGETHER if alone is None else alone

    def _evidence(self, numbers: tuple[int, ...], anchor: str, url: UrlSaid) -> float:
        """Keywords add up as independent evidence."""
        if -1 in numbers:
            return self._added_up(self._lexicon.present_in(f"{anchor} {' '.join(url.words)}"))
        known = self._worded.get(numbers)
        if known is None:
            if len(self._worded) >= REMEMBERED:
                self._worded.clear()
            known = self._worded[numbers] = self._added_up(set(numbers))
        return known

    def _added_up(self, numbers: set[int]) -> float:
        miss = 1.0
        for number in numbers:
            miss *= 1.0 - EVIDENCE * self._weights[number]
        return 1.0 - miss
