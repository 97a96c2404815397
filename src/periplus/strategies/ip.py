"""Strategy `ip` of paper A: the place of the address that a page came from decides where all its links go.

The database is one in MaxMind's format that the user has, with cities. Operators' geofeeds (RFC 8805) add to it or
stand in for it.
"""

from collections.abc import Sequence
from pathlib import Path

from periplus.errors import ConfigError
from periplus.model import Assignment, Link, Located, Page, Place
from periplus.places import Gazetteer
from periplus.strategies.address_places import AddressPlaces
from periplus.strategies.general import general_claims
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy

__all__ = ["IpStrategy"]


class IpStrategy(Strategy):
    """Looks addresses up in a database file. ConfigError in one line if there is none or it cannot be read."""

    def __init__(
        self,
        ownership: Ownership,
        gazetteer: Gazetteer,
        database: Path | None,
        geofeeds: Sequence[Path] = (),
        least: float = 0.0,
    ) -> None:
        if database is None and not geofeeds:
            raise ConfigError(
                "crawl.strategy ip needs crawl.ip_database: the path of a city database in MaxMind's format (.mmdb), "
                "or crawl.geofeeds"
            )
        self._places = AddressPlaces(gazetteer, [database] if database else [], geofeeds)
        self._ownership = ownership
        self._least = least
        if database is not None:
            self._refuse_useless(database)

    def route(
        self, links: Sequence[Link], _page: Page, _located: Located, known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """The owner of the address's place for all links; else a general node."""
        place = self.place_of(known.address)
        owned = self._ownership.owner(place) if place else None
        if owned is not None and place is not None:
            return [(Assignment(owned[0], place.id, "ip"),)] * len(links)
        return general_claims(self._ownership, links)

    def _refuse_useless(self, database: Path) -> None:
        """ConfigError for a database that could never name a place of a node, such as one of countries for cities."""
        kinds = self._places.kinds()
        owned = {place.kind for place in self._ownership.targets}
        if kinds <= {"country", "continent"} and not owned & {"country", "continent"}:
            knows = "countries but no cities" if kinds else "no places that the gazetteer has"
            raise ConfigError(
                f"crawl.ip_database: {database} knows {knows}; give a city database, such as GeoLite2-City"
            )

    def place_of(self, address: str) -> Place | None:
        """Where the address is: the smallest place that is sure enough; None if nobody says."""
        found = self._places.place_of(address, self._least)
        return found.place if found is not None else None
