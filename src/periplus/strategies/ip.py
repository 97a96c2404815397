"""Strategy `ip` of paper A: the place of the address that a page came from decides where all its links go.

The database is one in MaxMind's format that the user has, with cities; its GeoNames ids are the gazetteer's.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import maxminddb

from periplus.errors import ConfigError, PlaceError
from periplus.model import Assignment, Link, Located, Page, Place
from periplus.places import Gazetteer
from periplus.strategies.hash import host_of
from periplus.strategies.ownership import Ownership
from periplus.strategies.protocol import NOTHING_KNOWN, Claims, Known, Strategy

__all__ = ["IpStrategy"]

MEMO_ADDRESSES = 100_000


class IpStrategy(Strategy):
    """Looks addresses up in a database file. ConfigError in one line if there is none or it cannot be read."""

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer, database: Path | None) -> None:
        if database is None:
            raise ConfigError(
                "crawl.strategy ip needs crawl.ip_database: the path of a city database in MaxMind's format (.mmdb)"
            )
        try:
            self._reader = maxminddb.open_database(database)
        except (OSError, ValueError, maxminddb.InvalidDatabaseError) as error:
            raise ConfigError(f"crawl.ip_database: {database} cannot be read: {error}") from None
        self._ownership = ownership
        self._gazetteer = gazetteer
        self._memo: dict[str, Place | None] = {}

    def route(
        self, links: Sequence[Link], _page: Page, _located: Located, known: Known = NOTHING_KNOWN
    ) -> list[Claims]:
        """The owner of the address's place for all links; else a general node."""
        place = self.place_of(known.address)
        owned = self._ownership.owner(place) if place else None
        if owned is not None and place is not None:
            return [(Assignment(owned[0], place.id, "ip"),)] * len(links)
        general_for = self._ownership.general_for
        return [(Assignment(general_for(host_of(link.url)), None, "no_place"),) for link in links]

    def place_of(self, address: str) -> Place | None:
        """Where the address is: its city, else its division or country; None if the database does not say."""
        if address not in self._memo:
            if len(self._memo) >= MEMO_ADDRESSES:
                self._memo.clear()
            self._memo[address] = self._look_up(address)
        return self._memo[address]

    def _look_up(self, address: str) -> Place | None:
        try:
            record = self._reader.get(address) if address else None
        except (ValueError, maxminddb.InvalidDatabaseError):  # not an address, IPv6 in an IPv4 file, a broken record
            return None
        for place_id in _geoname_ids(record):
            try:
                return self._gazetteer.place(place_id)
            except PlaceError:
                continue
        return None


def _geoname_ids(record: Any) -> Iterator[int]:
    """The GeoNames ids of a record, the smallest place first."""
    if not isinstance(record, dict):
        return
    divisions = record.get("subdivisions")
    parts = [record.get("city"), *(reversed(divisions) if isinstance(divisions, list) else ()), record.get("country")]
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("geoname_id"), int):
            yield part["geoname_id"]
