"""Reading the GeoNames dumps into drafts: allCountries, cities*, alternateNamesV2, admin1/2, hierarchy.

Files are told apart by name and may be zipped. They are read line by line, so memory grows with the places that are
taken and not with the file. Rows that cannot be used are counted by reason, never fatal.
"""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from periplus.errors import UsageError
from periplus.places.sources import (
    ALTERNATE,
    MAX_ID,
    MAX_PEOPLE,
    PRIMARY,
    Draft,
    Gathered,
    division_names,
    usable_alternate,
)

__all__ = ["merge_geonames"]

Progress = Callable[[str, float], None]

_COLUMNS: Final = 19
_COUNTRY_CODES: Final = frozenset({"PCLI", "PCL", "PCLD", "PCLF", "PCLS", "PCLIX", "TERR"})
_FEATURE_CLASSES: Final = frozenset("HTUV")


def merge_geonames(
    gathered: Gathered,
    paths: Iterable[Path],
    *,
    min_population: int = 500,
    features: bool = False,
    progress: Progress = lambda _what, _share: None,
) -> None:
    """Add the dumps' places, names and hierarchy to what was gathered; better points replace worked-out ones.

    Towns below `min_population` are left out; `features` takes rivers, mountains and the like that have more than one
    name as well (the millions that nobody else names would only be noise).
    """
    for path in sorted(paths, key=_turn):
        name = path.name.lower()
        with _lines(path, progress) as lines:
            if "admin1codes" in name or "admin2codes" in name:
                _divisions(gathered, lines)
            elif "alternatenames" in name:
                _alternates(gathered, lines)
            elif "hierarchy" in name:
                _hierarchy(gathered, lines)
            else:
                _places(gathered, lines, min_population=min_population, features=features)


def _turn(path: Path) -> int:
    """Divisions first, then places, then what is said about them; whatever order the files are given in."""
    order = ("admin1codes", "admin2codes", "alternatenames", "hierarchy")
    known = next((i for i, part in enumerate(order) if part in path.name.lower()), None)
    return 2 if known is None else known if known < 2 else known + 1


@contextmanager
def _lines(path: Path, progress: Progress) -> Iterator[Iterator[str]]:
    """Lines of a text file or of the largest member of a zip."""
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                member = max(archive.infolist(), key=lambda m: m.file_size, default=None)
                if member is None:
                    raise UsageError(f"{path} is an empty archive")
                with archive.open(member) as raw:
                    text = io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="\n")
                    yield _counted(text, path.name, member.file_size, progress)
        else:
            with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
                yield _counted(file, path.name, path.stat().st_size, progress)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def _counted(lines: Iterable[str], name: str, size: int, progress: Progress) -> Iterator[str]:
    """The lines; from time to time what share of the file they are."""
    read = 0
    for number, line in enumerate(lines):
        read += len(line)
        if number & 0xFFFF == 0:
            progress(name, min(1.0, read / max(1, size)))
        yield line


def _divisions(gathered: Gathered, lines: Iterable[str]) -> None:
    """Names and ids of first and second divisions: code, name, ASCII name, id."""
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) < 4 or not _is_id(fields[3]) or fields[0].split(".")[0] not in gathered.places:
            gathered.skipped["division row"] += 1
            continue
        code, name, identifier = fields[0], fields[1], int(fields[3])
        parts = code.split(".")
        if not name or len(parts) not in (2, 3):
            gathered.skipped["division row"] += 1
            continue
        key = code if len(parts) == 2 else f"{parts[0]}.{parts[1]}.{name}"
        known = gathered.places.get(key)
        if known is not None:
            known.id = identifier
            gathered.codes[code] = key
            continue
        parent = parts[0] if len(parts) == 2 else f"{parts[0]}.{parts[1]}"
        if parent not in gathered.places:
            gathered.skipped["division without parent"] += 1
            continue
        kind = "admin1" if len(parts) == 2 else "admin2"
        draft = Draft(key, identifier, name, kind, parts[0], parts[1], parent=parent, located=False)
        draft.names = division_names(name)
        gathered.places[key] = draft
        gathered.codes[code] = key


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
        if not (-90 <= lat <= 90 and -180 <= lon <= 180):
            gathered.skipped["coordinates out of range"] += 1
            continue
        if not (0 < identifier <= MAX_ID and 0 <= population <= MAX_PEOPLE):
            gathered.skipped["id or population out of range"] += 1
            continue
        if not fields[1]:
            gathered.skipped["place without a name"] += 1
            continue
        known = by_id.get(identifier)
        if known is not None:
            if known.kind in ("admin1", "admin2", "city"):
                known.lat, known.lon, known.located = lat, lon, True
            known.population = population or known.population
            continue
        notable = features and bool(fields[3])
        kind = _kind(fields[6], fields[7], population, min_population, features=notable)
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
    outer = f"{country}.{admin1}"
    parent = gathered.codes.get(f"{outer}.{fields[11]}", outer) if outer in gathered.places else country
    names = [(fields[1], ALTERNATE if kind == "feature" else PRIMARY)]  # a brook is seldom meant by its bare name
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
        if len(fields) < 4 or not _is_id(fields[1]):
            gathered.skipped["alternate name row"] += 1
            continue
        draft = by_id.get(int(fields[1]))
        if draft is None or len(fields[2]) > 3 or not usable_alternate(fields[3]):  # link, post, iata and the like
            continue
        draft.names.append((fields[3], ALTERNATE))
        if fields[2]:
            at = 0 if len(fields) > 4 and fields[4] == "1" else len(draft.languages)
            draft.languages.insert(at, (fields[2], fields[3]))  # the preferred name of a language comes first


def _hierarchy(gathered: Gathered, lines: Iterable[str]) -> None:
    """Parents that the codes do not give: parent, child, kind. Only places that hang from a country are moved."""
    by_id = {d.id: d for d in gathered.places.values()}
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) < 2 or not (_is_id(fields[0]) and _is_id(fields[1])):
            gathered.skipped["hierarchy row"] += 1
            continue
        outer, inner = by_id.get(int(fields[0])), by_id.get(int(fields[1]))
        if outer is None or inner is None or inner.kind not in ("feature", "region", "city") or outer.kind == "city":
            continue
        if gathered.places.get(inner.parent, inner).kind in ("world", "continent", "country"):
            if gathered.is_around(inner.key, outer.key):
                gathered.skipped["place around itself"] += 1
            else:
                inner.parent = outer.key


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 16
