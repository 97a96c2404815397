"""From drafts to the compiled gazetteer: rows, hierarchy, points and extents, the table of names.

Rows are ordered by kind and population, so equal input gives an equal file on every machine. Divisions without a
point of their own get the centroid of the hull of their members (better than any mean: big cities pull means away).
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from periplus.places.country_data import home_of, spoken_languages
from periplus.places.folding import made_tables, name_keys
from periplus.places.geometry import hull_centroid, unit_vectors
from periplus.places.glued import glued_tables
from periplus.places.knowledge import state_letters, usual_names, wrong_names
from periplus.places.lexicon import word_bits, word_commonness
from periplus.places.sources import (
    ABBREVIATION,
    ALIAS,
    ALTERNATE,
    BARE,
    DEMONYM,
    POSTAL,
    PRIMARY,
    STOPPED,
    Draft,
    Gathered,
)

__all__ = ["BLOOM_BITS", "BUCKET_BITS", "KINDS", "build_arrays", "language_code"]

KINDS: Final = ("world", "continent", "country", "admin1", "admin2", "city", "feature", "region")
BUCKET_BITS: Final = 20
BLOOM_BITS: Final = 25
WORD_SLOT_BITS: Final = 16
_DEPTH: Final = 8
_VARIANTS: Final = {"Saint": "St", "St.": "Saint", "St": "Saint", "Fort": "Ft", "Mount": "Mt", "Sainte": "Ste"}
_KIND_PRIOR: Final = (6.0, 7.0, 8.0, 6.5, 3.0, 0.0, 5.0, 5.0)
_USUAL_PRIOR: Final = 7.5
_FLAG_PRIOR: Final = {
    PRIMARY: 0.0,
    ALIAS: 0.0,
    ALTERNATE: -1.5,
    ABBREVIATION: -0.5,
    DEMONYM: -1.0,
    BARE: -2.5,
    POSTAL: -1.0,
    STOPPED: -0.5,
}

Arrays = dict[str, npt.NDArray[Any]]
Progress = Callable[[str, float], None]


def build_arrays(
    gathered: Gathered, progress: Progress = lambda _what, _share: None
) -> tuple[Arrays, dict[str, list[str]]]:
    """All arrays and string pools of the compiled file."""
    drafts = sorted(gathered.places.values(), key=lambda d: (KINDS.index(d.kind), -d.population, d.id))
    row_of = {d.key: i for i, d in enumerate(drafts)}
    arrays, strings = _place_columns(drafts, row_of)
    progress("extents", 0.4)
    _fill_from_members(arrays, np.array([d.located for d in drafts]))
    progress("ZIP codes", 0.5)
    _zips(arrays, gathered, drafts, row_of)
    progress("names", 0.6)
    _names(arrays, strings, drafts)
    arrays |= glued_tables(strings["name"])
    pairs = [(row_of[x], row_of[y]) for x, y in gathered.overlaps if x in row_of and y in row_of]
    arrays["overlap"] = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    shaped = [i for i, d in enumerate(drafts) if d.rings]
    arrays["shape_row"] = np.array(shaped, dtype=np.int32)
    strings["shapes"] = [drafts[i].rings for i in shaped]
    arrays["state_letters"] = state_letters(row_of)
    arrays["spoken"] = _spoken(drafts, row_of)
    _lexicon(arrays)
    _pack(arrays)
    arrays["char_fold"], arrays["char_class"], arrays["char_gap"] = made_tables()
    progress("writing", 0.95)
    return arrays, strings


def _place_columns(drafts: list[Draft], row_of: dict[str, int]) -> tuple[Arrays, dict[str, list[str]]]:
    zones = {zone: i for i, zone in enumerate(sorted({d.timezone for d in drafts}))}
    countries = {country: i for i, country in enumerate(sorted({d.country for d in drafts}))}
    a: Arrays = {
        "id": np.array([d.id for d in drafts], dtype=np.int64),
        "kind": np.array([KINDS.index(d.kind) for d in drafts], dtype=np.uint8),
        "lat": np.array([d.lat for d in drafts], dtype=np.float64),
        "lon": np.array([d.lon for d in drafts], dtype=np.float64),
        "population": np.array([max(0, d.population) for d in drafts], dtype=np.int64),
        "parent": np.array([row_of.get(d.parent, 0) for d in drafts], dtype=np.int32),
        "zone": np.array([zones[d.timezone] for d in drafts], dtype=np.int32),
        "country": np.array([countries[d.country] for d in drafts], dtype=np.int32),
        "bbox": np.array([d.bbox or (np.nan,) * 4 for d in drafts], dtype=np.float32),
    }
    a["parent"][0] = -1
    a["id_order"] = np.argsort(a["id"], kind="stable").astype(np.int32)
    for kind, name in ((2, "row_country"), (3, "row_admin1"), (4, "row_admin2")):
        a[name] = _ancestor_of_kind(a["parent"], a["kind"], kind)
    strings = {
        "name": [d.name for d in drafts],
        "admin1": [d.admin1 for d in drafts],
        "zones": list(zones),
        "countries": list(countries),
        "languages": ["\x1f".join(f"{lang}\x1e{name}" for lang, name in d.languages) for d in drafts],
    }
    return a, strings


def _ancestor_of_kind(parent: npt.NDArray[np.int32], kind: npt.NDArray[np.uint8], wanted: int) -> npt.NDArray[np.int32]:
    """For each row, the row of that kind at or above it, or -1."""
    found = np.full(len(parent), -1, dtype=np.int32)
    at = np.arange(len(parent), dtype=np.int32)
    for _ in range(_DEPTH):
        hit = (at >= 0) & (found < 0)
        hit[hit] = kind[at[hit]] == wanted
        found[hit] = at[hit]
        at = np.where(at >= 0, parent[at], -1).astype(np.int32)
    return found


def _fill_from_members(a: Arrays, located: npt.NDArray[np.bool_]) -> None:
    """Points, extents, populations and time zones of divisions (and bare countries) from their towns."""
    towns = np.flatnonzero(a["kind"] == KINDS.index("city"))
    for column in ("row_admin2", "row_admin1", "row_country"):
        owner = a[column][towns]
        order = np.argsort(owner, kind="stable")
        order = order[owner[order] >= 0]
        if not len(order):
            continue
        rows, starts = np.unique(owner[order], return_index=True)
        for row, members in zip(rows.tolist(), np.split(towns[order], starts[1:]), strict=True):
            _fill_one(a, row, members, bool(located[row]))
    _fill_lonely(a, located)
    _widen(a)
    a["xyz"] = unit_vectors(a["lon"], a["lat"])
    a["log_people"] = np.log10(a["population"] + 100.0).astype(np.float32)


def _fill_one(a: Arrays, row: int, members: npt.NDArray[np.int64], located: bool) -> None:
    lon, lat = a["lon"][members], a["lat"][members]
    shifted = np.where(lon < 0, lon + 360.0, lon) if lon.max() - lon.min() > 180 else lon
    if not located or (a["kind"][row] == KINDS.index("country") and not _in_box(a, row, lon, lat)):
        x, y = hull_centroid(shifted, lat)
        a["lon"][row], a["lat"][row] = (x + 180.0) % 360.0 - 180.0, y
    if np.isnan(a["bbox"][row, 0]):
        west, east = (((float(v) + 180.0) % 360.0) - 180.0 for v in (shifted.min(), shifted.max()))
        a["bbox"][row] = (west, lat.min(), east, lat.max())
    if not a["population"][row]:
        a["population"][row] = a["population"][members].sum()
    if not a["zone"][row]:
        zones, counts = np.unique(a["zone"][members], return_counts=True)
        a["zone"][row] = zones[np.argmax(counts)]


def _in_box(a: Arrays, row: int, lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64]) -> bool:
    """Whether a country's point, which sources round to degrees, lies among its towns (half a degree around them)."""
    if lon.max() - lon.min() > 180:
        lon, here = np.where(lon < 0, lon + 360.0, lon), a["lon"][row] % 360.0
    else:
        here = a["lon"][row]
    inside = lon.min() - 0.5 <= here <= lon.max() + 0.5 and lat.min() - 0.5 <= a["lat"][row] <= lat.max() + 0.5
    return bool(inside)


def _widen(a: Arrays) -> None:
    """Every box holds its own point, also after rounding to single precision."""
    a["bbox"][0] = (-180.0, -90.0, 180.0, 90.0)
    west, south, east, north = (a["bbox"][:, i] for i in range(4))
    lon, lat = a["lon"].astype(np.float32), a["lat"].astype(np.float32)
    plain = (west <= east) & (a["kind"] > KINDS.index("world"))
    around = np.minimum(west, lon), np.minimum(south, lat), np.maximum(east, lon), np.maximum(north, lat)
    near = plain & (around[2] - around[0] < east - west + 5)  # beyond the antimeridian the box would go the wrong way
    for i, (edge, out) in enumerate(zip(around, (-np.inf, -np.inf, np.inf, np.inf), strict=True)):
        limit = (-180.0, -90.0, 180.0, 90.0)[i]
        widened = np.nextafter(edge, np.float32(out))
        widened = np.maximum(widened, limit) if i < 2 else np.minimum(widened, limit)
        a["bbox"][:, i] = np.where(near, widened, a["bbox"][:, i])


def _fill_lonely(a: Arrays, located: npt.NDArray[np.bool_]) -> None:
    """Divisions without any town sit where their parent is."""
    for row in np.flatnonzero(~located & (a["lat"] == 0.0) & (a["lon"] == 0.0)).tolist():
        parent = int(a["parent"][row])
        a["lon"][row], a["lat"][row] = a["lon"][parent], a["lat"][parent]


def _zips(a: Arrays, gathered: Gathered, drafts: list[Draft], row_of: dict[str, int]) -> None:
    """ZIP → accepted city names with the gazetteer city each stands for; unknown ones become postal names."""
    zips = sorted(gathered.zips, key=lambda z: z.zip)
    towns: dict[str, list[int]] = {}
    for row in np.flatnonzero(a["kind"] == KINDS.index("city")).tolist():
        if drafts[row].country == "US":
            towns.setdefault(drafts[row].admin1, []).append(row)
    names = [n for z in zips for n in (*z.cities, *z.others)]
    keys = name_keys(names)
    town_rows = [r for rows in towns.values() for r in rows]
    town_keys = name_keys([drafts[r].name for r in town_rows])
    by_name: dict[tuple[str, int], list[int]] = {}
    for row, key in zip(town_rows, town_keys.tolist(), strict=True):
        by_name.setdefault((drafts[row].admin1, key), []).append(row)
    nicknames = _nicknames(drafts, town_rows)
    vectors = {state: (np.array(rows), a["xyz"][rows]) for state, rows in towns.items()}
    at = np.zeros(len(zips) + 1, dtype=np.uint32)
    rows_out: list[int] = []
    extra: dict[tuple[int, int], str] = {}
    position = 0
    points = unit_vectors(np.array([z.lon for z in zips]), np.array([z.lat for z in zips]))
    for i, z in enumerate(zips):
        here = points[i] if z.lat else None
        for name in (*z.cities, *z.others):
            key = (z.state, int(keys[position]))
            row = _close(nicknames.get(key), here, a["xyz"]) if key not in by_name else -1
            if row < 0:
                row = _zip_town(by_name.get(key), vectors.get(z.state), here, a["xyz"])
            if row >= 0 and key not in by_name and name in z.cities:
                extra[row, key[1]] = name  # the others count under their ZIP only: "UT" is Austin in 78712
            rows_out.append(row)
            position += 1
        at[i + 1] = position
    for (row, _), name in extra.items():
        drafts[row].names.append((name, POSTAL))
    a["zip"] = np.array([int(z.zip) for z in zips], dtype=np.int32)
    a["zip_state"] = np.array([row_of.get(f"US.{z.state}", -1) for z in zips], dtype=np.int32)
    a["zip_point"] = np.array([(z.lon, z.lat) for z in zips], dtype=np.float32).reshape(-1, 2)
    a["zip_at"], a["zip_key"], a["zip_row"] = at, keys, np.array(rows_out, dtype=np.int32)


def _nicknames(drafts: list[Draft], rows: list[int]) -> dict[tuple[str, int], int]:
    """(state, key of another name) → the most populous of its towns that bears it: "New York" is New York City."""
    pairs = [(row, text) for row in rows for text, flag in drafts[row].names if flag in (ALIAS, ALTERNATE)]
    found: dict[tuple[str, int], int] = {}
    for (row, _), key in zip(pairs, name_keys([text for _, text in pairs]).tolist(), strict=True):
        found.setdefault((drafts[row].admin1, key), row)  # rows come most populous first
    return found


def _close(row: int | None, here: npt.NDArray[np.float32] | None, xyz: npt.NDArray[np.float32]) -> int:
    """The row if it lies within about 40 km, else -1."""
    return row if row is not None and here is not None and float(xyz[row] @ here) > np.cos(40 / 6371) else -1


def _zip_town(
    same: list[int] | None,
    near: tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]] | None,
    here: npt.NDArray[np.float32] | None,
    xyz: npt.NDArray[np.float32],
) -> int:
    """The town of that name in the state (the nearest of several), else the nearest town within about 25 km."""
    if same:
        return same[0] if here is None or len(same) == 1 else max(same, key=lambda r: float(xyz[r] @ here))
    if near is None or here is None:
        return -1
    closeness = near[1] @ here
    best = int(np.argmax(closeness))
    return int(near[0][best]) if closeness[best] > np.cos(25 / 6371) else -1


def _names(a: Arrays, strings: dict[str, list[str]], drafts: list[Draft]) -> None:
    """The table of names: sorted keys, candidates of each best first, filters for quick refusal."""
    texts: list[str] = []
    rows: list[int] = []
    flags: list[int] = []
    wrong, usual = wrong_names(), usual_names()
    first: list[int] = []
    for row, draft in enumerate(drafts):
        for text, kind in draft.names:
            if text in wrong.get(draft.id, ()):
                continue
            if text in usual.get(draft.id, ()):
                first.append(len(texts))
            texts.append(text)
            rows.append(row)
            flags.append(kind)
            for variant in _variants(text) if draft.kind == "city" and kind in (PRIMARY, POSTAL) else ():
                texts.append(variant)
                rows.append(row)
                flags.append(kind)
    keys = name_keys(texts)
    row_at, flag = np.array(rows, dtype=np.int32), np.array(flags, dtype=np.uint8)
    prior = _priors(a, row_at, flag)
    prior[first] = _USUAL_PRIOR
    _put_towns_first(a, keys, row_at, flag, prior)
    order = np.lexsort((flag, row_at, keys))
    order = order[keys[order] != 0]
    same = (keys[order][1:] == keys[order][:-1]) & (row_at[order][1:] == row_at[order][:-1])
    order = order[np.concatenate([[True], ~same])]
    order = order[np.lexsort((row_at[order], -prior[order], keys[order]))]
    unique, starts = np.unique(keys[order], return_index=True)
    a["name_key"] = unique
    a["name_at"] = np.append(starts, len(order)).astype(np.uint32)
    a["cand_row"], a["cand_flag"], a["cand_prior"] = row_at[order], flag[order], prior[order].astype(np.float32)
    a["cand_fame"] = _fame(drafts)[a["cand_row"]]
    buckets = np.searchsorted(unique >> np.uint64(64 - BUCKET_BITS), np.arange((1 << BUCKET_BITS) + 1, dtype=np.uint64))
    a["name_bucket"] = buckets.astype(np.uint32)
    a["name_bloom"] = bloom(unique)
    a["name_short"] = _short_forms(a, unique, keys, flag)
    _name_statics(a, unique)
    alternates = np.flatnonzero(np.isin(flag, (ALIAS, ALTERNATE)))
    alternates = alternates[np.argsort(row_at[alternates], kind="stable")]
    a["alt_at"] = np.searchsorted(row_at[alternates], np.arange(len(drafts) + 1)).astype(np.uint32)
    strings["alternates"] = [texts[i] for i in alternates.tolist()]


def language_code(language: str) -> int:
    """A language's two letters as a number, 0 for what has others."""
    return int.from_bytes(language.encode("ascii", "ignore"), "big") if len(language) == 2 else 0


def _fame(drafts: list[Draft]) -> npt.NDArray[np.float32]:
    """How well known each place is: about 1 for one that fifty languages have a name for, 0 for one without a second.

    There are two Cambridges of like size, and what the world calls Cambridge is the one that all languages write of.
    """
    count = np.array([len(draft.names) for draft in drafts], dtype=np.float32)
    return np.asarray(np.log2(np.maximum(count, 1.0)) / 6.0, dtype=np.float32)


def _put_towns_first(
    a: Arrays, keys: npt.NDArray[np.uint64], row: npt.NDArray[np.int32], flag: npt.NDArray[np.uint8],
    prior: npt.NDArray[np.float64],
) -> None:  # fmt: skip
    """Put what a country is called in some language behind a town of more people of that very name.

    Some languages call Norfolk Island just Norfolk, and some Grenada Granada.
    """
    country, town = (KINDS.index(kind) for kind in ("country", "city"))
    foreign = np.flatnonzero((a["kind"][row] == country) & (flag == ALTERNATE))
    towns = np.flatnonzero((a["kind"][row] == town) & (flag == PRIMARY) & np.isin(keys, keys[foreign]))
    largest: dict[int, int] = {}
    for i in towns.tolist():
        largest[int(keys[i])] = max(largest.get(int(keys[i]), i), i, key=lambda j: int(a["population"][row[j]]))
    for i in foreign.tolist():
        other = largest.get(int(keys[i]))
        if other is not None and a["population"][row[other]] > a["population"][row[i]]:
            prior[i] = min(prior[i], prior[other] - 1.0)


def _spoken(drafts: list[Draft], row_of: dict[str, int]) -> npt.NDArray[np.int32]:
    """Language (see `language_code`), row of a country it is spoken in, and 1 where it is at home, for each."""
    spoken = {
        (lang, draft.country) for draft in drafts if draft.kind == "country" for lang in spoken_languages(draft.country)
    }
    found = [(language_code(lang), row_of[country], home_of(lang) == country) for lang, country in sorted(spoken)]
    return np.array(found, dtype=np.int32).reshape(-1, 3)


def _name_statics(a: Arrays, unique: npt.NDArray[np.uint64]) -> None:
    """What the acceptance model knows of a name before it sees a text (see `context`)."""
    start = a["name_at"][:-1].astype(np.int64)
    best, flag = a["cand_row"][start], a["cand_flag"][start]
    kind = a["kind"][best].astype(np.int64)
    code = np.array([4, 5, 0, 1, 2, 3, 4, 4])[kind]
    code[(flag == ALTERNATE) & (code == 3)] = 6
    code[(flag == ALTERNATE) & (code < 3)] = 12
    code[(flag == BARE) & (kind == 4)] = 7
    code[(flag == BARE) & (kind == 3)] = 8
    code[flag == DEMONYM] = 9
    code[(flag == ABBREVIATION) | (flag == STOPPED)] = 10
    code[flag == POSTAL] = 11
    a["name_kind"] = code.astype(np.uint8)
    people = a["population"][best]
    a["name_size"] = np.digitize(people, (1, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6)).astype(np.uint8)
    a["name_many"] = np.digitize((a["name_at"][1:] - a["name_at"][:-1]).astype(np.int64), (2, 4, 9)).astype(np.uint8)
    areas = np.isin(a["kind"][a["cand_row"]], (2, 3, 4)) & (a["cand_flag"] != DEMONYM)
    places = np.where(areas, np.arange(len(areas)), len(areas))
    first = np.minimum.reduceat(places, start)
    rows = np.append(a["cand_row"], -1)
    a["name_outer"] = np.full((len(start), 2), -1, dtype=np.int32)
    for column in (0, 1):
        near_top = first < np.minimum(start + 5, a["name_at"][1:])
        a["name_outer"][:, column] = np.where(near_top, rows[np.minimum(first, len(areas))], -1)
        places[np.minimum(first, len(areas) - 1)] = len(areas)
        first = np.minimum.reduceat(places, start)
    common = word_commonness()
    keys = name_keys(list(common))
    at = np.minimum(np.searchsorted(unique, keys), len(unique) - 1)
    known = unique[at] == keys
    word = np.ones(len(unique), dtype=np.uint8)
    word[at[known]] = np.array(list(common.values()), dtype=np.uint8)[known]
    a["name_word"] = word


def _pack(a: Arrays) -> None:
    """What every page asks of places and names, side by side: one miss of the processor's cache instead of seven."""
    floats = np.concatenate([a["xyz"], a["log_people"][:, None]], axis=1).astype(np.float32).view(np.int32)
    rows = [a[name].astype(np.int32)[:, None] for name in ("row_admin1", "row_admin2", "row_country", "kind")]
    a["place_facts"] = np.concatenate([floats, *rows], axis=1)
    stats = np.stack([a[f"name_{n}"] for n in ("kind", "size", "word", "many")], axis=1).astype(np.uint8)
    short = a["name_short"].astype(np.int32)[:, None]
    a["name_facts"] = np.concatenate([a["name_outer"], np.ascontiguousarray(stats).view(np.int32), short], axis=1)


def _short_forms(
    a: Arrays, unique: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], flag: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """0: an ordinary name; else bit 1: believed in capitals ("PA"), bit 2: believed with its full stop ("Pa.")."""
    short = np.isin(a["cand_flag"][a["name_at"][:-1].astype(np.int64)], (ABBREVIATION, STOPPED))
    bits = np.isin(unique, keys[flag == ABBREVIATION]) + np.uint8(2) * np.isin(unique, keys[flag == STOPPED])
    return np.where(short, bits, 0).astype(np.uint8)


def _priors(a: Arrays, row: npt.NDArray[np.int32], flag: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """How likely a name means a place, before any text is seen: decades of population, kind and kind of name."""
    kind = a["kind"][row]
    by_flag = np.array([_FLAG_PRIOR[i] for i in range(len(_FLAG_PRIOR))])
    size = np.log10(a["population"][row] + 100.0)
    base = np.where(kind == KINDS.index("city"), size, np.array(_KIND_PRIOR)[kind] + 0.1 * size)
    return np.asarray(base + by_flag[flag], dtype=np.float64)


def bloom(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    """A bit for every key: one probe refuses nearly all n-grams that are no names."""
    bits = np.zeros(1 << (BLOOM_BITS - 3), dtype=np.uint8)
    index = keys & np.uint64((1 << BLOOM_BITS) - 1)
    np.bitwise_or.at(
        bits, (index >> np.uint64(3)).astype(np.int64), np.uint8(1) << (index & np.uint64(7)).astype(np.uint8)
    )
    return bits


def _variants(name: str) -> list[str]:
    """Saint, Fort and Mount, long and short."""
    head, _, tail = name.partition(" ")
    return [f"{_VARIANTS[head]} {tail}"] if tail and head in _VARIANTS else []


def _lexicon(a: Arrays) -> None:
    words = word_bits()
    keys = name_keys(list(words))
    if not keys.all():
        raise ValueError(f"a word of the lexicon has no letters: {list(words)[int(np.argmin(keys))]!r}")
    slots = cuckoo(keys.tolist())
    used = slots >= 0
    a["word_key"] = np.where(used, keys[slots], 0)
    a["word_bits"] = np.where(used, np.array(list(words.values()), dtype=np.uint32)[slots], 0).astype(np.uint32)


def cuckoo(keys: list[int]) -> npt.NDArray[np.int64]:
    """A table of key positions in which every key sits in one of its two slots: found by two gathers, always."""
    size = 1 << WORD_SLOT_BITS
    slots = [-1] * size
    for i in dict.fromkeys(range(len(keys))):
        item, choice = i, 0
        for _ in range(500):
            slot = keys[item] & (size - 1) if choice == 0 else (keys[item] >> 32) & (size - 1)
            if slots[slot] < 0 or keys[slots[slot]] == keys[item]:
                slots[slot] = item
                break
            slots[slot], item = item, slots[slot]
            choice = 1 if slot == keys[item] & (size - 1) else 0
        else:
            raise ValueError("the word table is too small")
    return np.array(slots, dtype=np.int64)
