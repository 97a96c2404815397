"""The towns of the miniature web: a small table of facts that never changes with a dependency.

First part of the miniweb room; `planning` chooses towns from here, `prose` puts their names into sentences.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

__all__ = ["COUNTRY_NAMES", "STATE_NAMES", "Town", "neighbors", "paper_targets", "towns"]

STATE_NAMES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado",
    "CT": "Connecticut", "DC": "D.C.", "DE": "Delaware", "FL": "Florida", "GA": "Georgia", "HI": "Hawaii",
    "IA": "Iowa", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "KS": "Kansas", "KY": "Kentucky",
    "LA": "Louisiana", "MA": "Massachusetts", "MD": "Maryland", "ME": "Maine", "MI": "Michigan",
    "MN": "Minnesota", "MO": "Missouri", "MS": "Mississippi", "MT": "Montana", "NC": "North Carolina",
    "ND": "North Dakota", "NE": "Nebraska", "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico",
    "NV": "Nevada", "NY": "New York", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania",
    "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas",
    "UT": "Utah", "VA": "Virginia", "VT": "Vermont", "WA": "Washington", "WI": "Wisconsin",
    "WV": "West Virginia", "WY": "Wyoming",
}  # fmt: skip

COUNTRY_NAMES = {
    "AE": "United Arab Emirates", "AR": "Argentina", "AT": "Austria", "AU": "Australia", "BD": "Bangladesh",
    "BR": "Brazil", "CA": "Canada", "CN": "China", "DE": "Germany", "EG": "Egypt", "ES": "Spain", "FR": "France",
    "GB": "England", "GR": "Greece", "IE": "Ireland", "IN": "India", "IT": "Italy", "JP": "Japan", "KE": "Kenya",
    "KR": "South Korea", "MA": "Morocco", "MX": "Mexico", "NG": "Nigeria", "NZ": "New Zealand", "PL": "Poland",
    "PT": "Portugal", "RU": "Russia", "US": "United States",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Town:
    """A town as the pages know it. `id` is the GeoNames id; `node` is its node in paper A (1..5), 0 for none.

    `language` and `local_name` are for towns whose own pages are not in English; `twins` says that another
    town of the table has the same name.
    """

    index: int
    id: int
    name: str
    admin1: str
    country: str
    lat: float
    lon: float
    population: int
    zips: tuple[str, ...]
    node: int
    language: str
    local_name: str
    twins: bool

    @property
    def region(self) -> str:
        """State or country in full, as prose names it."""
        return STATE_NAMES[self.admin1] if self.country == "US" else COUNTRY_NAMES[self.country]

    @property
    def short_region(self) -> str:
        """What follows the comma in "Houston, TX" or "Lisbon, Portugal"."""
        return self.admin1 if self.country == "US" else COUNTRY_NAMES[self.country]

    @property
    def slug(self) -> str:
        """The name as it stands in a URL: `new-york`, `st-louis`."""
        plain = self.name.lower().replace(".", "").replace("ã", "a").replace(" ", "-")
        return plain.encode("ascii", "ignore").decode()


@lru_cache(maxsize=1)
def towns() -> tuple[Town, ...]:
    """Every town: first the paper's 100 targets in its order, then other US towns, then the world's."""
    text = resources.files(__package__).joinpath("cities.tsv").read_text("utf-8")
    lines = (line.partition("\t#")[0] for line in text.splitlines() if not line.startswith("#"))
    rows = [line.split("\t") for line in lines]
    names: dict[str, int] = {}
    for row in rows:
        names[row[1]] = names.get(row[1], 0) + 1
    return tuple(_town(index, row, names[row[1]] > 1) for index, row in enumerate(rows))


def _town(index: int, row: list[str], twins: bool) -> Town:
    number, name, admin1, country, lat, lon, population, zips, extra, local = row
    return Town(
        index=index,
        id=int(number),
        name=name,
        admin1=admin1,
        country=country,
        lat=float(lat),
        lon=float(lon),
        population=int(population),
        zips=tuple(zips.split(",")) if zips else (),
        node=int(extra) if extra.isdigit() else 0,
        language="en" if country == "US" else extra,
        local_name=local or name,
        twins=twins,
    )


def paper_targets() -> tuple[Town, ...]:
    """The 100 cities of paper A."""
    return tuple(town for town in towns() if town.node)


@lru_cache(maxsize=1)
def neighbors() -> tuple[tuple[int, ...], ...]:
    """For each town the four nearest others, nearest first; the table decides, not a distance limit.

    Towns of the same name are left out, so that "an hour from Portland" never speaks of the twin.
    """
    table = towns()
    result = []
    for town in table:
        scale = math.cos(math.radians(town.lat))
        ranked = sorted(
            (
                ((other.lat - town.lat) ** 2 + ((other.lon - town.lon) * scale) ** 2, other.index)
                for other in table
                if other.name != town.name and (other.country == "US") == (town.country == "US")
            ),
        )
        result.append(tuple(index for _, index in ranked[:4]))
    return tuple(result)
