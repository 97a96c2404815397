"""A network between the hosts of the miniature web and the nodes of a crawl: who is how far from whom."""

import csv
import ipaddress
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import xxhash

__all__ = ["CITIES", "NODES", "EmulatedNetwork"]

CITIES: dict[str, tuple[float, float]] = {
    "ashburn": (39.04, -77.49), "newyork": (40.71, -74.01), "toronto": (43.65, -79.38), "chicago": (41.88, -87.63),
    "dallas": (32.78, -96.8), "miami": (25.76, -80.19), "losangeles": (34.05, -118.24), "seattle": (47.61, -122.33),
    "mexico": (19.43, -99.13), "bogota": (4.71, -74.07), "saopaulo": (-23.55, -46.63), "santiago": (-33.45, -70.67),
    "london": (51.51, -0.13), "paris": (48.86, 2.35), "frankfurt": (50.11, 8.68), "madrid": (40.42, -3.7),
    "warsaw": (52.23, 21.01), "istanbul": (41.01, 28.98), "cairo": (30.04, 31.24), "lagos": (6.52, 3.38),
    "nairobi": (-1.29, 36.82), "johannesburg": (-26.2, 28.05), "dubai": (25.2, 55.27), "mumbai": (19.08, 72.88),
    "delhi": (28.61, 77.21), "singapore": (1.35, 103.82), "jakarta": (-6.21, 106.85), "hongkong": (22.32, 114.17),
    "seoul": (37.57, 126.98), "tokyo": (35.68, 139.69), "sydney": (-33.87, 151.21), "auckland": (-36.85, 174.76),
}  # fmt: skip
NODES = (
    "ashburn", "losangeles", "mexico", "saopaulo", "frankfurt", "istanbul", "johannesburg", "mumbai", "singapore",
    "tokyo", "sydney", "lagos",
)  # fmt: skip
"""Twelve, as in paper D; sites are in all cities."""

ACCESS_MS, MS_PER_KM, DETOUR = 3.0, 0.0135, 0.5
"""Light in fibre takes 1 ms for 100 km and back; routes are that and up to half as much longer."""


@dataclass(frozen=True)
class EmulatedNetwork:
    """Every host is in a city and in one of the city's subnets, by its name; round trips follow the distance."""

    hosts: tuple[str, ...]
    seed: int = 1

    def city(self, host: str) -> str:
        return sorted(CITIES)[self._number("city", host) % len(CITIES)]

    def address(self, host: str) -> str:
        """On loopback: a subnet of 256 addresses for each city."""
        city = sorted(CITIES).index(self.city(host))
        return str(ipaddress.IPv4Address("127.64.0.0") + 256 * city + 1 + self._number("address", host) % 254)

    def ms(self, host: str, node: str) -> float:
        way = _km(CITIES[self.city(host)], CITIES[node])
        detour = 1 + DETOUR * (self._number("route", self.city(host), node) % 1000) / 1000
        return ACCESS_MS + self._number("access", host) % 5 + way * MS_PER_KM * detour

    def write(self, path: Path) -> None:
        """The table that `network.round_trips` names."""
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["site", "crawler", "ms", "site_lat", "site_lon"])
            for host in self.hosts:
                point = CITIES[self.city(host)]
                rows.writerows([host, node, round(self.ms(host, node), 3), *point] for node in NODES)

    def resolve(self, port: int) -> dict[str, str]:
        """The table of the job's resolver."""
        return {host: f"{self.address(host)}:{port}" for host in self.hosts}

    def nodes(self, *, at: bool = True) -> dict[str, dict[str, str]]:
        """The nodes of the job, with where they stand."""
        return {name: {"at": "{},{}".format(*CITIES[name])} if at else {} for name in NODES}

    def best_ms(self, hosts: Iterable[str]) -> float:
        """The shortest round trips of the hosts, on average."""
        best = [min(self.ms(host, node) for node in NODES) for host in hosts]
        return sum(best) / len(best)

    def _number(self, *parts: str) -> int:
        return xxhash.xxh3_64_intdigest("\0".join((str(self.seed), *parts)).encode())


def _km(one: tuple[float, float], other: tuple[float, float]) -> float:
    (lat, lon), (lat2, lon2) = (tuple(map(math.radians, point)) for point in (one, other))
    half = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lon2 - lon) / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(half))
