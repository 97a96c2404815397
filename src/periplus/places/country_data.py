"""What the dependencies know of countries beyond their names: points, extents, demonyms, names by language."""

import importlib.resources
import json
from typing import Any

from periplus.places.knowledge import knowledge

__all__ = ["country_info", "country_translations", "demonym_forms", "geojson_box", "home_of", "spoken_languages"]


def country_info() -> dict[str, dict[str, Any]]:
    """countryinfo's records by ISO code, read from its files because its own interface looks names up one by one."""
    folder = importlib.resources.files("countryinfo") / "data"
    found: dict[str, dict[str, Any]] = {}
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".json"):
            row = json.loads(entry.read_text(encoding="utf-8"))
            code = row.get("ISO", {}).get("alpha2", "")
            if code:
                found[code] = row
    return found


def country_translations() -> dict[str, dict[str, str]]:
    """Country names by language and ISO code, from the CLDR data of Babel."""
    from babel import Locale  # noqa: PLC0415  heavy, and only needed when compiling

    return {lang: dict(Locale.parse(lang).territories) for lang in knowledge()["languages"]["countries"].split()}


def spoken_languages(code: str) -> list[str]:
    """The languages that a country is governed in, by their codes of two letters, from the same data."""
    from babel.languages import get_official_languages  # noqa: PLC0415  only needed when compiling

    return sorted({language[:2] for language in get_official_languages(code, de_facto=True) if len(language) != 3})


def home_of(language: str) -> str:
    """The country that one takes a language to be from as long as nothing else is known, "" for none."""
    from babel.core import get_global  # noqa: PLC0415  only needed when compiling

    return str(get_global("likely_subtags").get(language, "")).rpartition("_")[2]


def demonym_forms(demonym: str) -> list[str]:
    """Singular and plural of a one-word demonym."""
    if not demonym or not demonym.replace(" ", "").isalpha() or not demonym[0].isupper():
        return []
    return [demonym, demonym + "s"] if demonym[-1] in "ni" else [demonym]


def geojson_box(shape: dict[str, Any] | None) -> tuple[float, float, float, float] | None:
    """The extent of a GeoJSON collection; boxes that would span the antimeridian are turned around it."""
    if not shape:
        return None
    lons: list[float] = []
    lats: list[float] = []
    stack: list[Any] = [f["geometry"]["coordinates"] for f in shape.get("features", ()) if f.get("geometry")]
    while stack:
        item = stack.pop()
        if item and isinstance(item[0], int | float):
            lons.append(float(item[0]))
            lats.append(float(item[1]))
        else:
            stack.extend(item)
    if not lons:
        return None
    if max(lons) - min(lons) > 300:
        east = [x for x in lons if x < 0]
        west = [x for x in lons if x >= 0]
        return min(west), min(lats), max(east), max(lats)
    return min(lons), min(lats), max(lons), max(lats)
