"""What the registration of domains means for a crawl: seeds that are kept, and links that gain or lose by it."""

from collections.abc import Sequence

import msgspec

from periplus.fetch.registration import Registrant, Registrations
from periplus.model import Links, Place, RoutedLink
from periplus.places import Gazetteer, locate
from periplus.topics import Topic, packed_parts, unpacked_parts
from periplus.topics.priority import spatial_correlation
from periplus.topics.registered import registered_parts, registered_place
from periplus.topics.url_names import slug_words
from periplus.urls import canonicalize, registrable_domain

__all__ = ["RegisteredLinks", "kept_seeds"]


class RegisteredLinks:
    """Registrations as places; what was found is remembered."""

    def __init__(self, registrations: Registrations, gazetteer: Gazetteer, topics: Sequence[Topic]) -> None:
        self._registrations = registrations
        self._gazetteer = gazetteer
        self._topics = topics
        self._places: dict[Registrant, Place | None] = {}

    async def run(self) -> None:
        """Ask for what links want to know; ends when cancelled."""
        await self._registrations.run()

    async def place_of(self, host: str) -> Place | None:
        """Where a host's domain is registered; asks, if it is not known."""
        return self._place(await self._registrations.ask(registrable_domain(host)))

    def value(self, links: Links) -> Links:
        """Links with what is known of their domains by now; what is not known yet is asked for."""
        return Links.of(map(self._valued, links))

    def _valued(self, link: RoutedLink) -> RoutedLink:
        domain = registrable_domain(link.host)
        registrant = self._registrations.known(domain)
        if registrant is None:
            self._registrations.want(domain)
            return link
        place = self._place(registrant)
        if place is None or not link.parts:
            return link
        before = unpacked_parts(link.parts)
        parts = max((registered_parts(before, place, topic) for topic in self._topics), key=lambda p: p.priority)
        return msgspec.structs.replace(link, priority=parts.priority, parts=packed_parts(parts))

    def _place(self, registrant: Registrant | None) -> Place | None:
        if registrant is None:
            return None
        if registrant not in self._places:
            self._places[registrant] = registered_place(*registrant, self._gazetteer)
        return self._places[registrant]


async def kept_seeds(
    seeds: Sequence[tuple[str, str]], least: float, gazetteer: Gazetteer, registered: RegisteredLinks | None
) -> list[tuple[str, str]]:
    """The seeds whose location entities' spatial correlation is above `least` (paper B); all of them if that is 0.

    Entities are the places that the URL names and the place that its domain is registered in.
    """
    if not least:
        return list(seeds)
    kept = []
    for seed, node in seeds:
        words = " ".join(slug_words(seed)).title()
        places = [mention.place for mention in locate(words, gazetteer, candidates=False).mentions if mention.place]
        url = canonicalize(seed)
        home = await registered.place_of(url.host) if registered is not None and url is not None else None
        if spatial_correlation([*places, home] if home else places) > least:
            kept.append((seed, node))
    return kept
