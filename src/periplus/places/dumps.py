"""Reading the GeoNames dumps into drafts: allCountries, cities*, alternateNamesV2, admin1/2, hierarchy.

Files are told apart by name and may be zipped. Rows that cannot be used are counted by reason, never fatal.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from periplus.errors import UsageError
from periplus.places.sources import ALTERNATE, PRIMARY, Draft, Gathered, division_names, usable_alternate

__all__ = ["merge_geonames"]

_COLUMNS: Final = 19
_COUNTRY_CODES: Final = frozenset({"PCLI", "PCL", "PCLD", "PCLF", "PCLS", "PCLIX", "TERR"})
_FEATURE_CLASSES: Final = frozenset("HTUV")


def merge_geonames(
    gathered: Gathered, paths: Iterable[Path], *, min_population: int = 500, features: bool = False
) -> None:
    """Add the dumps' places, names and hierarchy to what was gathered; better points replace worked-out ones.

    Towns below `min_population` are left out; `features` takes rivers, mountains and the like as well.
    """
    order = ("admin1codes", "admin2codes", "", "alternatenames", "hierarchy")
    for path in sorted(
        paths, key=lambda p: next(i for i, n in enumerate(order) if n in p.name.lower() and (n or i == 2))
    ):
        name = path.name.lower()
        with _lines(path) as lines:
            if "admin1codes" in name or "admin2codes" in name:
                _divisions(gathered, lines)
            elif "alternatenames" in name:
                _alternates(gathered, lines)
            elif "hierarchy" in name:
                _hierarchy(gathered, lines)
            else:
                _places(gathered, lines, min_population=min_population, features=features)


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """Lines of a text file or of the largest member of a zip."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                member = max(archive.infolist(), key=lambda m: m.file_size)
                with archive.open(member) as raw:
                    yield io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="\n")
        else:
            with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
                yield file
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def _divisions(gathered: Gathered, lines: Iterable[str]) -> None:
    """Names and ids of first and second divisions: code, name, ASCII name, id."""
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) < 4 or not fields[3].isdigit() or fields[0].split(".")[0] not in gathered.places:
            gathered.skipped["division row"] += 1
            continue
        code, name, identifier = fields[0], fields[1], int(fields[3])
        parts = code.split(".")
        key = code if len(parts) == 2 else f"{parts[0]}.{parts[1]}.{name}"
        known = gathered.places.get(key)
        if known is not None:
            known.id = identifier
            continue
        parent = parts[0] if len(parts) == 2 else f"{parts[0]}.{parts[1]}"
        if parent not in gathered.places:
            gathered.skipped["division without parent"] += 1
            continue
        kind = "admin1" if len(parts) == 2 else "admin2"
        draft = Draft(key, identifier, name, kind, parts[0], parts[1], parent=parent, located=False)
        draft.names = division_names(name)
        gathered.places[key] = draft


def _places(gathered: Gathered, lines: Iterable[str], *, min_population: int, features: bool) -> None:
    by_id = {d.id: d for d in gathered.places.values()}
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) != _COLUMNS:
            gathered.skipped["wrong number of columns"] += 1
            continue
        try:
            identifier, population = int(fields[0]), int(fields[14] or 0)
            lat, lon = float(fields[4]), float(fields[5])
        except ValueError:
            gathered.skipped["number that is none"] += 1
            continue
        if not (-90 <= lat <= 90 and -180 <= lon <= 180) or not fields[1]:
            gathered.skipped["coordinates out of range"] += 1
            continue
        known = by_id.get(identifier)
        if known is not None:
            if known.kind in ("admin1", "admin2", "city"):
                known.lat, known.lon, known.located = lat, lon, True
            known.population = population or known.population
            continue
        kind = _kind(fields[6], fields[7], population, min_population, features=features)
        if kind:
            draft = _draft(gathered, fields, kind, lat=lat, lon=lon, population=population)
            gathered.places[draft.key] = draft
            by_id[identifier] = draft


def _kind(feature_class: str, code: str, population: int, least: int, *, features: bool) -> str:
    """Our kind for a GeoNames feature, "" if it is not taken. Divisions come from the admin files."""
    if feature_class == "P" and population >= least:
        return "city"
    return "feature" if features and feature_class in _FEATURE_CLASSES and code not in _COUNTRY_CODES else ""


def _draft(gathered: Gathered, fields: list[str], kind: str, *, lat: float, lon: float, population: int) -> Draft:
    country, admin1 = fields[8], fields[10]
    parent = f"{country}.{admin1}" if f"{country}.{admin1}" in gathered.places else country
    names = [(fields[1], PRIMARY)]
    names += [(n, ALTERNATE) for n in fields[3].split(",") if n != fields[1] and usable_alternate(n)]
    if parent not in gathered.places:
        parent = "world"
    return Draft(
        f"#{fields[0]}", int(fields[0]), fields[1], kind, country, admin1 if "." in parent else "", lat, lon,
        population, parent, fields[17], names,
    )  # fmt: skip


def _alternates(gathered: Gathered, lines: Iterable[str]) -> None:
    """Other names with their languages: id, place, language, name, preferred, short, colloquial, historic."""
    by_id = {d.id: d for d in gathered.places.values()}
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) < 4 or not fields[1].isdigit():
            gathered.skipped["alternate name row"] += 1
            continue
        draft = by_id.get(int(fields[1]))
        if draft is None or len(fields[2]) > 3 or not usable_alternate(fields[3]):  # link, post, iata and the like
            continue
        draft.names.append((fields[3], ALTERNATE))
        if fields[2]:
            draft.languages.append((fields[2], fields[3]))


def _hierarchy(gathered: Gathered, lines: Iterable[str]) -> None:
    """Parents that the codes do not give: parent, child, kind. Only places that hang from a country are moved."""
    by_id = {d.id: d for d in gathered.places.values()}
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) < 2 or not (fields[0].isdigit() and fields[1].isdigit()):
            gathered.skipped["hierarchy row"] += 1
            continue
        outer, inner = by_id.get(int(fields[0])), by_id.get(int(fields[1]))
        if outer is None or inner is None or inner.kind not in ("feature", "region", "city") or outer.kind == "city":
            continue
        if gathered.places.get(inner.parent, inner).kind in ("world", "continent", "country"):
            inner.parent = outer.key
