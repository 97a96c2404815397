"""The user's own places: GeoJSON, Shapefile and CSV in, plus single additions that are remembered between builds.

A record has a name and a point or shape, and may have id, kind, country, admin1, population, parent, aliases
("|" between several) and overlaps. `own.jsonl` beside the compiled gazetteer keeps what `gazetteer add` was given.
WordNet's places can be read too: their part-of relations give regions a parent (the GeoWordNet idea).
"""

import csv
import json
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from periplus.errors import UsageError
from periplus.places.build import KINDS
from periplus.places.shapes import Box, Point, on_the_earth, point_and_box
from periplus.places.sources import ALIAS, MAX_ID, MAX_PEOPLE, PRIMARY, Draft, Gathered, stable_id

__all__ = ["merge_records", "read_records", "read_wordnet"]

_MAX_NAME: Final = 200


def read_records(path: Path) -> list[dict[str, Any]]:
    """Records of a GeoJSON, CSV, JSON-lines or Shapefile."""
    readers = {".geojson": _geojson, ".json": _geojson, ".csv": _csv, ".jsonl": _jsonl, ".shp": _shapefile}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: cannot tell what this is; give .geojson, .shp, .csv or .jsonl")
    try:
        return [dict(record) for record in reader(path)]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError, struct.error, csv.Error, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path} is not valid {path.suffix[1:]}: {reason}") from error


def _geojson(path: Path) -> Iterator[dict[str, Any]]:
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    features = data["features"] if data.get("type") == "FeatureCollection" else [data]
    for feature in features:
        yield {**(feature.get("properties") or {}), "geometry": feature.get("geometry")}


def _jsonl(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def _shapefile(path: Path) -> Iterator[dict[str, Any]]:
    try:
        import shapefile  # noqa: PLC0415  optional
    except ImportError as error:
        raise UsageError("reading shapefiles needs pyshp; install it with: pip install pyshp") from error
    try:
        with shapefile.Reader(str(path)) as reader:
            for item in reader.iterShapeRecords():
                yield {**item.record.as_dict(), "geometry": item.shape.__geo_interface__}
    except shapefile.ShapefileException as error:
        raise ValueError(str(error)) from error


def merge_records(gathered: Gathered, records: Iterable[dict[str, Any]]) -> int:
    """Add records to what was gathered; how many were taken. The others are counted by reason."""
    by_name: dict[str, str] = {}
    for key, known in gathered.places.items():
        if known.kind in ("continent", "country", "admin1"):
            by_name.setdefault(known.name.casefold(), key)
    taken = 0
    pending: list[tuple[str, str]] = []
    for raw in records:
        record = {str(k).strip().lower(): v for k, v in raw.items() if k is not None}
        draft = _draft(gathered, record, by_name)
        if draft is None:
            continue
        same = gathered.places.get(by_name.get(draft.name.casefold(), ""))
        if same is not None and draft.rings and not record.get("kind"):
            same.rings, same.bbox = draft.rings, draft.bbox  # a better shape of a known division or country
            taken += 1
            continue
        if gathered.is_around(draft.key, draft.parent):
            gathered.skipped["place around itself"] += 1
            draft.parent = "world"
        gathered.places[draft.key] = draft
        by_name.setdefault(draft.name.casefold(), draft.key)
        pending += [(draft.key, name) for name in _several(record.get("overlaps"))]
        taken += 1
    by_id = {str(d.id): k for k, d in gathered.places.items()}
    for key, name in pending:
        other = by_id.get(name) or by_name.get(name.casefold())
        if other is None:
            gathered.skipped["overlap with an unknown place"] += 1
        else:
            gathered.overlaps.append((key, other))
    return taken


def _several(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else str(value or "").split("|")
    return [str(p).strip() for p in parts if str(p).strip()]


def _draft(gathered: Gathered, record: dict[str, Any], by_name: dict[str, str]) -> Draft | None:
    name = str(record.get("name") or "").encode("utf-8", "replace").decode().strip()[:_MAX_NAME]
    if not name:
        gathered.skipped["record without a name"] += 1
        return None
    try:
        point, box, rings = _shape_of(record)
        number = record.get("id")
        identifier = int(number) if number not in (None, "") else stable_id(f"own:{name}:{point}")
        population = min(MAX_PEOPLE, int(float(record.get("population") or 0)))
        if abs(identifier) > MAX_ID:
            raise ValueError("id out of range")
    except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError):
        gathered.skipped["record without a valid point"] += 1
        return None
    kind = str(record.get("kind") or "region")
    parent = _parent(record, gathered, by_name)
    owner = gathered.places.get(parent)
    draft = Draft(
        f"#{identifier}", identifier, name, kind if kind in KINDS[1:] else "region", str(record.get("country") or ""),
        str(record.get("admin1") or ""), point[1], point[0], max(0, population), parent, bbox=box, rings=rings,
    )  # fmt: skip
    if not draft.country and owner is not None:
        draft.country = owner.country
        draft.admin1 = draft.admin1 or owner.admin1
    draft.names = [(name, PRIMARY), *((alias, ALIAS) for alias in _several(record.get("aliases")))]
    return draft


def _parent(record: dict[str, Any], gathered: Gathered, by_name: dict[str, str]) -> str:
    wanted = str(record.get("parent") or "").strip()
    for key in (wanted, f"#{wanted}", by_name.get(wanted.casefold(), "")):
        if key and key in gathered.places:
            return key
    code = str(record.get("country") or "")
    inner = f"{code}.{record.get('admin1') or ''}"
    return inner if inner in gathered.places else code if code in gathered.places else "world"


def _shape_of(record: dict[str, Any]) -> tuple[Point, Box | None, str]:
    """Point (longitude, latitude), extent and shape as GeoJSON text; ValueError for anything that is no place."""
    geometry = record.get("geometry")
    if not geometry:
        lat, lon = (record.get(n) for n in ("lat", "lon"))
        if lat in (None, "") or lon in (None, ""):
            raise ValueError("no coordinates")
        return _checked(float(lon), float(lat)), None, ""
    if geometry["type"] == "Point":
        return _checked(*geometry["coordinates"][:2]), None, ""
    from shapely.geometry import mapping  # noqa: PLC0415  heavy

    area = on_the_earth(geometry)
    point, box = point_and_box(area)
    return _checked(*point), box, json.dumps(mapping(area))


def _checked(lon: float, lat: float) -> Point:
    if not (-180 <= lon <= 180 and -90 <= lat <= 90):
        raise ValueError(f"{lon}, {lat} is not on the earth")
    return float(lon), float(lat)


def read_wordnet(path: Path, gathered: Gathered) -> int:
    """Add WordNet's place instances (`data.noun`, or JSON lines with lemmas and part_holonyms): how many were new.

    A synset whose name is known already only adds its other lemmas as aliases; an unknown one becomes a region where
    the place that it is part of lies.
    """
    synsets = _wordnet_lines(path)
    by_name: dict[str, Draft] = {}
    for draft in sorted(gathered.places.values(), key=lambda d: (KINDS.index(d.kind), -d.population)):
        by_name.setdefault(draft.name.casefold(), draft)
    added = 0
    for offset, (lemmas, parts) in synsets.items():
        owner = next(
            (by_name[n.casefold()] for p in parts for n in synsets.get(p, ([], []))[0] if n.casefold() in by_name), None
        )
        known = next((by_name[n.casefold()] for n in lemmas if n.casefold() in by_name), None)
        if known is not None:
            known.names += [(n, ALIAS) for n in lemmas if n[:1].isupper() and len(n) > 3]
        elif owner is not None and lemmas and lemmas[0][:1].isupper():
            draft = Draft(
                f"wordnet:{offset}", stable_id(f"wordnet:{offset}"), lemmas[0], "region", owner.country, owner.admin1,
                owner.lat, owner.lon, 0, owner.key, names=[(lemmas[0], PRIMARY), *((n, ALIAS) for n in lemmas[1:])],
            )  # fmt: skip
            gathered.places[draft.key] = draft
            by_name.setdefault(lemmas[0].casefold(), draft)
            added += 1
    return added


def _wordnet_lines(path: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Offset → lemmas and offsets of the synsets it is part of, for instances in noun.location."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    for line in lines:
        if line.startswith("{"):
            row = json.loads(line)
            found[row["offset"]] = ([n.replace("_", " ") for n in row["lemmas"]], list(row["part_holonyms"]))
        elif line[:1].isdigit() and line[9:11] == "15":
            fields = line.split(" ")
            count = int(fields[3], 16)
            lemmas = [fields[4 + 2 * i].replace("_", " ") for i in range(count)]
            at = 4 + 2 * count
            pointers = [(fields[at + 1 + 4 * i], fields[at + 2 + 4 * i]) for i in range(int(fields[at]))]
            found[fields[0]] = (lemmas, [target for kind, target in pointers if kind == "#p"])
    return found
