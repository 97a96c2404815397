"""Room network, replay of delegation: a table of round trips, read from CSV and split into sites and crawlers."""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from periplus.errors import UsageError
from periplus.model import EARTH_RADIUS_KM
from periplus.wording import counted

__all__ = [
    "DRAWN_CRAWLERS",
    "Host",
    "RoundTrips",
    "Split",
    "great_circles",
    "kilometres",
    "read_round_trips",
    "split",
    "unit_vectors",
]

Matrix = NDArray[np.float64]

REQUIRED = ("site", "crawler", "ms")
DRAWN_CRAWLERS = 12
"""The paper's number of crawlers, drawn where sites and crawlers are the same hosts and none is asked for."""
MOST_ROWS = 20_000_000
MOST_HOSTS = 5_000
"""Of a square."""
MOST_LINE_CHARS = 100_000
MOST_CHARS = 200
"""Of one name in the file: more is not a name."""


@dataclass(frozen=True, slots=True)
class Host:
    """A site or a crawler, with what is known about it; NaN and "" are unknown.

    `path` is the place of its subnet in the hierarchy of addresses, from the world down, where that is known.
    """

    name: str
    lat: float = math.nan
    lon: float = math.nan
    country: str = ""
    city: str = ""
    org: str = ""
    subnet: str = ""
    path: tuple[str, ...] = ()

    @property
    def located(self) -> bool:
        """Whether the coordinates are known."""
        return not math.isnan(self.lat)


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """A whole file: hosts by name, the smallest round trip of each (site, crawler) in ms, and rows that were no use."""

    sites: dict[str, Host]
    crawlers: dict[str, Host]
    ms: dict[tuple[str, str], float]
    bad_rows: int

    @property
    def same_hosts(self) -> bool:
        """Whether every crawler is a site too, so that crawlers have to be drawn."""
        return self.crawlers.keys() <= self.sites.keys()


@dataclass(frozen=True, slots=True)
class Split:
    """Sites against crawlers. `ms[s, c]` is NaN where nothing was measured; every site has a measurement."""

    sites: tuple[Host, ...]
    crawlers: tuple[Host, ...]
    ms: Matrix
    left_out: int  # sites that none of these crawlers measured


def read_round_trips(path: Path) -> RoundTrips:
    """The table in a CSV file. Rows without names or with a time that cannot be are counted and left out.

    A square of numbers between blanks is taken as well: row and column i are host i, 0 is not measured. Raises
    UsageError, one line, if the file cannot be read, lacks a column, has no good row, or names a site none of whose
    rows is good.
    """
    square = _square(path)
    if square is not None:
        return square
    sites: dict[str, Host] = {}
    crawlers: dict[str, Host] = {}
    ms: dict[tuple[str, str], float] = {}
    named: dict[str, bool] = {}  # site: measured at all
    bad = 0
    for row in _rows(path):
        site, crawler, time = row["site"].strip(), row["crawler"].strip(), _milliseconds(row["ms"])
        if not (0 < len(site) <= MOST_CHARS and 0 < len(crawler) <= MOST_CHARS):
            bad += 1
            continue
        named.setdefault(site, False)
        if time is None:
            bad += 1
            continue
        if site not in sites:
            sites[site] = _host(site, row, "site_")
        if crawler not in crawlers:
            crawlers[crawler] = _host(crawler, row, "crawler_")
        if site != crawler:  # a host's way to itself says nothing
            named[site] = True
            ms[site, crawler] = min(time, ms.get((site, crawler), math.inf))
    if not ms:
        raise UsageError(f"{path}: no row has a site, a crawler and a time in ms ({bad:,} bad rows)")
    empty = [site for site, measured in named.items() if not measured]
    if empty:
        more = f" and {len(empty) - 1:,} more" if len(empty) > 1 else ""
        raise UsageError(f"{path}: no measurement of site {empty[0]!r}{more}: give it a row with ms > 0, or remove it")
    return RoundTrips(sites, crawlers, ms, bad)


def split(trips: RoundTrips, crawlers: int | None, seed: int) -> Split:
    """Sites and crawlers in the order of the seed.

    Crawlers are drawn if a number is given, or if all of them are sites too (then `DRAWN_CRAWLERS`, or a quarter of a
    small table); those drawn are no longer sites. Raises UsageError if there are not so many, or no site remains.
    """
    names = sorted(trips.crawlers)
    random = np.random.default_rng(seed)
    if crawlers is None and trips.same_hosts:
        crawlers = min(DRAWN_CRAWLERS, max(2, len(names) // 4))
    if crawlers is not None:
        if not 1 <= crawlers <= len(names):
            raise UsageError(
                f"--crawlers {crawlers}: the table has {counted(len(names), 'crawler')}, so 1 to {len(names):,}"
            )
        names = sorted(names[i] for i in random.choice(len(names), crawlers, replace=False))
    chosen = set(names) if trips.same_hosts else set()
    remaining = [name for name in sorted(trips.sites) if name not in chosen]
    order = [remaining[i] for i in random.permutation(len(remaining))]
    ms = np.array([[trips.ms.get((site, name), math.nan) for name in names] for site in order])
    if not order or np.isnan(ms).all():
        raise UsageError(f"no site remains beside {counted(len(names), 'crawler')}: draw fewer (--crawlers)")
    measured = ~np.isnan(ms).all(axis=1)
    kept = tuple(trips.sites[site] for site, known in zip(order, measured, strict=True) if known)
    return Split(kept, tuple(trips.crawlers[name] for name in names), ms[measured], int((~measured).sum()))


def kilometres(a: Sequence[Host], b: Sequence[Host]) -> Matrix:
    """Great-circle distances; NaN where a host has no coordinates."""
    return great_circles(unit_vectors(a), unit_vectors(b))


def great_circles(a: Matrix, b: Matrix) -> Matrix:
    """Great-circle distances in km between points given as unit vectors."""
    chord = np.linalg.norm(a[:, None, :] - b[None, :, :], axis=2)
    distances: Matrix = 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(1.0, chord / 2))
    return distances


def unit_vectors(hosts: Sequence[Host]) -> Matrix:
    """The hosts' places on the globe, a row each; NaN where unknown."""
    lat = np.radians([host.lat for host in hosts])
    lon = np.radians([host.lon for host in hosts])
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def _square(path: Path) -> RoundTrips | None:
    """Round trips of hosts without names, all to all; None if the file is something else."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            width = len(file.readline(MOST_LINE_CHARS).split())
            if not 2 <= width <= MOST_HOSTS:
                return None
            file.seek(0)
            numbers = np.loadtxt(file, max_rows=width + 1, ndmin=2)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:  # words, or rows of different lengths
        return None
    if numbers.shape != (width, width):
        raise UsageError(
            f"{path}: {counted(numbers.shape[0], 'row')} of {counted(width, 'number')}: "
            "a square has as many rows as columns"
        )
    hosts = {str(i): Host(str(i)) for i in range(width)}
    measured = np.argwhere(np.isfinite(numbers) & (numbers > 0))
    trips = {(str(i), str(j)): float(numbers[i, j]) for i, j in measured.tolist() if i != j}
    if not trips:
        raise UsageError(f"{path}: no round trip above 0 ms")
    return RoundTrips(hosts, hosts, trips, int((~np.isfinite(numbers) | (numbers < 0)).sum()))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """Rows by column name, every value a string; at most MOST_ROWS."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
            if missing:
                raise UsageError(f"{path}: no column {missing[0]!r}: the first line has to name {','.join(REQUIRED)}")
            for number, row in enumerate(reader):
                if number >= MOST_ROWS:
                    raise UsageError(f"{path}: more than {MOST_ROWS:,} rows: split it")
                yield row
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: is not a CSV file in UTF-8: {error}") from None


def _milliseconds(text: str) -> float | None:
    """A time that can be, else None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < math.inf else None


def _host(name: str, row: dict[str, str], prefix: str) -> Host:
    lat, lon = _degrees(row.get(prefix + "lat"), 90.0), _degrees(row.get(prefix + "lon"), 180.0)
    if math.isnan(lat) or math.isnan(lon):
        lat = lon = math.nan
    texts = {key: (row.get(prefix + key) or "").strip()[:MOST_CHARS] for key in ("country", "city", "org", "subnet")}
    return Host(name, lat, lon, texts["country"], texts["city"], texts["org"], texts["subnet"])


def _degrees(text: str | None, limit: float) -> float:
    try:
        value = float(text or "nan")
    except ValueError:
        return math.nan
    return value if abs(value) <= limit else math.nan
