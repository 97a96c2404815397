"""Where an address is: databases in MaxMind's format and operators' geofeeds (RFC 8805), with a confidence.

A statement has levels, the smallest place first; each has a confidence, which falls with the radius that a database
gives and rises where two sources agree. Strategy `ip` and the delegation by the network (`network/`) ask here.
"""

import csv
import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import maxminddb

from periplus.errors import ConfigError
from periplus.model import Place
from periplus.places import Gazetteer
from periplus.strategies.address_records import RecordPlaces

__all__ = ["AddressPlace", "AddressPlaces", "Geofeeds"]

MEMO_ADDRESSES: Final = 100_000
MOST_PREFIXES: Final = 5_000_000
LOOKED_AT: Final = 2_000
"""Records of a database that show which kinds of places it knows."""
CITY_KM: Final = 50.0
"""A city is right for an address half of the time where the database gives this radius."""
USUAL_RADIUS_KM: Final = 100.0
"""Where a record has no radius."""
LEVEL_CONFIDENCE: Final = {"country": 0.97, "admin1": 0.85}
GEOFEED_CONFIDENCE: Final = {"country": 0.99, "admin1": 0.95}
GEOFEED_CITY: Final = 0.9
"""The operator says so himself, of his own addresses."""
UNSTEADY: Final = ("is_anonymous_proxy", "is_anycast", "is_satellite_provider", "is_anonymous")
UNSTEADY_FACTOR: Final = 0.3
"""What a place is worth where the address is in several places or hides its own."""


@dataclass(frozen=True, slots=True)
class AddressPlace:
    """One level of what is said about an address: a place, how sure it is, and who says so."""

    place: Place
    confidence: float
    source: str


class Geofeeds:
    """Prefixes with their places, as operators publish them; the longest prefix around an address counts.

    Rows that are none are counted: no prefix, host bits set, private space, a second and different row for a prefix.
    """

    def __init__(self, gazetteer: Gazetteer, files: Iterable[Path]) -> None:
        self._gazetteer = gazetteer
        self._rows: dict[tuple[int, int], dict[int, tuple[str, str, str]]] = {}
        self._divisions: dict[tuple[str, str], Place | None] = {}
        self.counts: Counter[str] = Counter()
        for path in files:
            try:
                with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
                    self._read(file)
            except OSError as error:
                raise ConfigError(f"crawl.geofeeds: {path} cannot be read: {error.strerror or error}") from None
            if not self.counts["prefixes"]:
                wanted = "prefix,country,region,city,postal with a public prefix"
                raise ConfigError(f"crawl.geofeeds: {path} has no row of the form {wanted}")
        self._lengths = sorted(self._rows, reverse=True)

    def look_up(self, address: str) -> list[AddressPlace]:
        """What the feeds say about an address, the smallest place first."""
        parsed = ipaddress.ip_address(address)
        for version, length in self._lengths:
            if version == parsed.version:
                row = self._rows[version, length].get(int(parsed) >> (parsed.max_prefixlen - length))
                if row is not None:
                    return list(self._places(*row))
        return []

    def _read(self, lines: Iterable[str]) -> None:
        for line in lines:
            text = line.partition("#")[0].strip()
            if not text:
                continue
            row = next(csv.reader((text,)), [])
            fields = [field.strip() for field in row[:5]] + [""] * (5 - len(row[:5]))
            try:
                network = ipaddress.ip_network(fields[0])
            except ValueError:
                self.counts["bad rows"] += 1
                continue
            if not network.is_global or (fields[1] and not (len(fields[1]) == 2 and fields[1].isalpha())):
                self.counts["bad rows"] += 1
                continue
            self._take(network, (fields[1].upper(), fields[2].upper(), fields[3]))

    def _take(self, network: ipaddress.IPv4Network | ipaddress.IPv6Network, row: tuple[str, str, str]) -> None:
        length = network.prefixlen
        table = self._rows.setdefault((network.version, length), {})
        key = int(network.network_address) >> (network.max_prefixlen - length)
        if table.setdefault(key, row) != row:
            self.counts["contradictions"] += 1
            return
        self.counts["prefixes"] += 1
        if self.counts["prefixes"] > MOST_PREFIXES:
            raise ConfigError(f"crawl.geofeeds: more than {MOST_PREFIXES:,} prefixes: leave some files out")

    def _places(self, country: str, region: str, city: str) -> Iterator[AddressPlace]:
        """The places that a row names and the gazetteer knows."""
        division = region.partition("-")[2]
        if country and city:
            found = [one for one in self._gazetteer.find(city, country=country, limit=50) if one.kind == "city"]
            same = [one for one in found if one.admin1 == division]
            if found:
                yield AddressPlace((same or found)[0], GEOFEED_CITY if same or not division else 0.8, "geofeed")
                country, division = found[0].country, (same or found)[0].admin1
        row = self._gazetteer.country_row(country)
        if row < 0:
            return
        around = self._division(country, division) if division else None
        if around is not None:
            yield AddressPlace(around, GEOFEED_CONFIDENCE["admin1"], "geofeed")
        yield AddressPlace(self._gazetteer.place_at(row), GEOFEED_CONFIDENCE["country"], "geofeed")

    def _division(self, country: str, code: str) -> Place | None:
        """The first division of a country by its code; the gazetteer knows it by its cities."""
        if (country, code) not in self._divisions:
            cities = self._gazetteer.cities_of(country, code)
            chain = [self._gazetteer.place(i) for i in (cities[0].ancestors if cities else ())]
            self._divisions[country, code] = next((one for one in chain if one.kind == "admin1"), None)
        return self._divisions[country, code]


class AddressPlaces:
    """All sources together. ConfigError in one line if one of them cannot be read."""

    def __init__(self, gazetteer: Gazetteer, databases: Sequence[Path], geofeeds: Sequence[Path] = ()) -> None:
        self._records = RecordPlaces(gazetteer)
        self._readers = [_opened(path) for path in databases]
        self._feeds = Geofeeds(gazetteer, geofeeds)
        self._memo: dict[str, tuple[AddressPlace, ...]] = {}

    def kinds(self) -> frozenset[str]:
        """The kinds of places that the databases know, by their first records."""
        records = (record for reader in self._readers for _, record in islice(reader, LOOKED_AT))
        try:
            return frozenset(level.place.kind for record in records for level in self._read(record))
        except (ValueError, maxminddb.InvalidDatabaseError) as error:
            raise ConfigError(f"crawl.ip_database: a record cannot be read: {error}") from None

    def levels(self, address: str) -> tuple[AddressPlace, ...]:
        """What is known of an address, the smallest place first; empty if nothing is."""
        if address not in self._memo:
            if len(self._memo) >= MEMO_ADDRESSES:
                self._memo.clear()
            self._memo[address] = tuple(self._look_up(address))
        return self._memo[address]

    def place_of(self, address: str, least: float = 0.0) -> AddressPlace | None:
        """The smallest place that is at least so sure."""
        return next((level for level in self.levels(address) if level.confidence >= least), None)

    def _look_up(self, address: str) -> list[AddressPlace]:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            return []
        said = [self._feeds.look_up(address), *(self._asked(reader, address) for reader in self._readers)]
        best: dict[int, AddressPlace] = {}
        for level in (level for levels in said for level in levels):
            other = best.get(level.place.id)
            if other is None:
                best[level.place.id] = level
            else:  # two sources that agree are both wrong only if each of them is
                sure = 1 - (1 - level.confidence) * (1 - other.confidence)
                best[level.place.id] = AddressPlace(level.place, sure, f"{other.source}+{level.source}")
        return sorted(best.values(), key=lambda one: (-len(one.place.ancestors), -one.confidence, one.place.id))

    def _asked(self, reader: maxminddb.Reader, address: str) -> list[AddressPlace]:
        try:
            record = reader.get(address)
        except (ValueError, maxminddb.InvalidDatabaseError):  # IPv6 in an IPv4 file, a broken record
            return []
        return list(self._read(record))

    def _read(self, record: Any) -> Iterator[AddressPlace]:
        """The levels of a record, the smallest place first."""
        if not isinstance(record, dict):
            return
        steady = 1.0
        traits = record.get("traits")
        if isinstance(traits, dict) and any(traits.get(trait) for trait in UNSTEADY):
            steady = UNSTEADY_FACTOR
        for place in self._records.of(record):
            sure = LEVEL_CONFIDENCE.get(place.kind)
            yield AddressPlace(place, steady * (_city_confidence(record) if sure is None else sure), "database")


def _city_confidence(record: dict[str, Any]) -> float:
    location = record.get("location")
    radius = location.get("accuracy_radius") if isinstance(location, dict) else None
    km = float(radius) if isinstance(radius, int | float) and radius >= 0 else USUAL_RADIUS_KM
    return CITY_KM / (CITY_KM + km)


def _opened(path: Path) -> maxminddb.Reader:
    try:
        return maxminddb.open_database(path)
    except (OSError, ValueError, maxminddb.InvalidDatabaseError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConfigError(f"crawl.ip_database: {path} cannot be read: {why}") from None
