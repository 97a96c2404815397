"""Street names by city or ZIP, against which addresses are checked where such data is loaded.

`read_csv` takes a table with the columns street and zip, or street, city and state. `read_tiger` takes the Census
Bureau's ADDRFEAT shapefiles (FULLNAME with ZIPL and ZIPR); it needs the package `pyshp`.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from periplus.errors import PlaceError, UsageError
from periplus.places.folding import fold
from periplus.places.gazetteer import Gazetteer

__all__ = ["StreetNames", "street_key"]

_SHORT: Final = {
    "street": "st", "avenue": "ave", "av": "ave", "boulevard": "blvd", "road": "rd", "drive": "dr", "lane": "ln",
    "court": "ct", "place": "pl", "square": "sq", "terrace": "ter", "parkway": "pkwy", "highway": "hwy",
    "circle": "cir",
    "north": "n", "south": "s", "east": "e", "west": "w", "northeast": "ne", "northwest": "nw", "southeast": "se",
    "southwest": "sw", "trail": "trl", "saint": "st", "mount": "mt", "fort": "ft",
}  # fmt: skip


def street_key(name: str) -> str:
    """A street name without case, stops and long forms: "West 5th Avenue" and "W. 5th Ave." are one."""
    return " ".join(_SHORT.get(word, word) for word in fold(re.sub(r"\.", " ", name)).split())


@dataclass(frozen=True, slots=True)
class StreetNames:
    """Known streets of cities (by place id) and of ZIPs. Cities and ZIPs that it does not know are not judged."""

    by_city: dict[int, frozenset[str]]
    by_zip: dict[str, frozenset[str]]

    def allows(self, city_id: int, zip_code: str, street: str) -> bool:
        """Whether the street exists there, as far as is known."""
        known = self.by_zip.get(zip_code[:5]) or self.by_city.get(city_id)
        return known is None or street_key(street) in known

    @classmethod
    def read_csv(cls, path: Path, gazetteer: Gazetteer) -> "StreetNames":
        """Read a table with a header; rows whose city is unknown are passed over."""
        cities: dict[int, set[str]] = defaultdict(set)
        zips: dict[str, set[str]] = defaultdict(set)
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                rows = csv.DictReader(file)
                fields = {f.strip().lower(): f for f in rows.fieldnames or ()}
                if "street" not in fields or not ({"zip"} <= fields.keys() or {"city", "state"} <= fields.keys()):
                    raise UsageError(f"{path}: needs the columns street and zip, or street, city and state")
                for row in rows:
                    street = street_key(row[fields["street"]] or "")
                    if "zip" in fields and (row[fields["zip"]] or "").strip():
                        zips[row[fields["zip"]].strip()[:5]].add(street)
                    elif "city" in fields:
                        _add_city(cities, f"{row[fields['city']]}, {row[fields['state']]}", street, gazetteer)
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from error
        return cls._of(cities, zips)

    @classmethod
    def read_tiger(cls, paths: Iterable[Path]) -> "StreetNames":
        """Read ADDRFEAT shapefiles (their .dbf part is enough)."""
        try:
            import shapefile  # noqa: PLC0415  optional
        except ImportError as error:
            raise UsageError("reading shapefiles needs pyshp; install it with: pip install pyshp") from error
        zips: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            with shapefile.Reader(dbf=str(path.with_suffix(".dbf"))) as reader:
                for record in reader.iterRecords(fields=["FULLNAME", "ZIPL", "ZIPR"]):
                    for column in ("ZIPL", "ZIPR"):
                        if record["FULLNAME"] and record[column]:
                            zips[str(record[column])].add(street_key(record["FULLNAME"]))
        return cls._of({}, zips)

    @classmethod
    def _of(cls, cities: dict[int, set[str]], zips: dict[str, set[str]]) -> "StreetNames":
        return cls({k: frozenset(v) for k, v in cities.items()}, {k: frozenset(v) for k, v in zips.items()})


def _add_city(cities: dict[int, set[str]], name: str, street: str, gazetteer: Gazetteer) -> None:
    try:
        cities[gazetteer.resolve(name).id].add(street)
    except PlaceError:
        return
