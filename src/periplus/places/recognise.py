"""Recognition and resolution of one piece of text: scan ─▶ screen ─▶ rank ─▶ accept, on a sheet that is used again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from periplus.errors import PlaceError
from periplus.model import LonLat
from periplus.places.build import KINDS
from periplus.places.context import AT_HOME, KIND, POPULATION, WORD, describe_hits
from periplus.places.endings import DECLINED, ENDINGS_OF
from periplus.places.folding import codes_of, name_keys
from periplus.places.gazetteer import Gazetteer
from periplus.places.geometry import unit_vectors
from periplus.places.lexicon import words_of
from periplus.places.memory import HostPrior
from periplus.places.model_weights import Weights
from periplus.places.neighbours import word_tables
from periplus.places.rank import Outside, rank_units
from periplus.places.scan import read_text
from periplus.places.sheet import Ints, Sheet, Tables, ints, reals
from periplus.places.support import accept, screen, select, support_hits
from periplus.places.units import gather_units

__all__ = ["ENGLISH", "Evidence", "borrowed_sheet", "describe", "judge", "outside_of", "recognise"]

_MAX_POINTS: Final = 16
ENGLISH: Final = ("", "en")
"""The language that everything was learnt from, and what is taken for it."""
_OTHER_LANGUAGE: Final = "other"
"""All languages of which no words are known."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known besides names: host memory, the page's points, rows of its countries and of its language's."""

    prior: HostPrior | None = None
    points: tuple[LonLat, ...] = ()
    country_rows: tuple[int, ...] = ()
    spoken_rows: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


@dataclass(slots=True)
class _Desk:
    """The tables of one gazetteer and the sheets that nobody is writing on."""

    tables: Tables
    sheets: list[Sheet] = field(default_factory=list)
    word_levels: dict[str, Ints] = field(default_factory=dict)  # by language


_DESKS: Final["WeakKeyDictionary[Gazetteer, _Desk]"] = WeakKeyDictionary()


@contextmanager
def borrowed_sheet(gazetteer: Gazetteer, language: str = "") -> Iterator[tuple[Sheet, Tables]]:
    """A sheet for texts of a language, the caller's alone until it is given back, and the tables to go with it."""
    desk = _DESKS.get(gazetteer)
    if desk is None:
        words = word_tables(gazetteer.arrays["word_bits"])
        desk = _DESKS.setdefault(gazetteer, _Desk(Tables(gazetteer.arrays, words, gazetteer.empty_slot)))
    own = words_of(language)
    kind = language if own else _OTHER_LANGUAGE if language not in ENGLISH else ""
    levels = desk.word_levels.get(kind)
    if levels is None:
        levels = desk.word_levels[kind] = _word_levels(gazetteer, own, kind)
    sheet = desk.sheets.pop() if desk.sheets else Sheet(desk.tables.places)
    sheet.word_level, sheet.abroad = levels, bool(kind)
    sheet.ending_people, sheet.locative, sheet.endings = ENDINGS_OF.get(language, (0, False, None))
    sheet.declines = language in DECLINED
    try:
        yield sheet, desk.tables
    finally:
        desk.sheets.append(sheet)


def _word_levels(gazetteer: Gazetteer, words: dict[str, int], language: str) -> Ints:
    """How much of a word each name is (`context.WORD`) in texts of a language with these words, "" for English."""
    level = (gazetteer.arrays["name_facts"].reshape(-1, 4)[:, 2] >> 16).astype(np.uint8)
    at_home = _at_home(gazetteer, language)
    level[at_home] = np.minimum(level[at_home], WORD.index("unknown"))  # Nice is a word in English, in French a town
    if words:
        index = gazetteer.name_index(name_keys(list(words)))
        found = index >= 0
        np.maximum.at(level, index[found], np.array(list(words.values()), dtype=np.uint8)[found])
    if language:
        level[_abbreviated_divisions(gazetteer)] = WORD.index("foreign")
        others = _countries_elsewhere(gazetteer, language)
        level[others] = np.maximum(level[others], WORD.index("rare"))
    level[at_home] |= AT_HOME
    return ints(level)


def _at_home(gazetteer: Gazetteer, language: str) -> npt.NDArray[np.bool_]:
    """What towns of 100,000 people and more are called where a language is spoken that is not English."""
    a = gazetteer.arrays
    home, others = gazetteer.spoken_in(language) if language not in ENGLISH else ((), ())
    facts = a["name_facts"].reshape(-1, 4)[:, 2]
    best = a["cand_row"][a["name_at"][:-1].astype(np.int64)]
    towns = (a["kind"][best] == KINDS.index("city")) & (((facts >> 8) & 255) >= POPULATION.index("<300k"))
    return np.asarray(towns & np.isin(a["row_country"][best], [*home, *others]), dtype=np.bool_)


def _countries_elsewhere(gazetteer: Gazetteer, language: str) -> npt.NDArray[np.bool_]:
    """What countries are called in other languages only: in German Oma is not Oman, nor Malte Malta."""
    a = gazetteer.arrays
    found = (a["name_facts"].reshape(-1, 4)[:, 2] & 255) == KIND.index("alternate_country")
    rows = np.flatnonzero(a["kind"] == KINDS.index("country"))
    code = "nb" if language in ("no", "nn") else language
    names = [gazetteer.names_by_language(gazetteer.place_at(int(row)).id).get(code, "") for row in rows]
    own = gazetteer.name_index(name_keys([name for name in names if name]))
    found[own[own >= 0]] = False
    return np.asarray(found, dtype=np.bool_)


def _abbreviated_divisions(gazetteer: Gazetteer) -> npt.NDArray[np.bool_]:
    """The names that are abbreviations of states and provinces: only English speaks of "OK" and "Pa." so."""
    a = gazetteer.arrays
    best = a["cand_row"][a["name_at"][:-1].astype(np.int64)]
    short = a["name_facts"].reshape(-1, 4)[:, 3] != 0
    return np.asarray(short & (a["kind"][best] != KINDS.index("country")), dtype=np.bool_)


def outside_of(evidence: Evidence, gazetteer: Gazetteer) -> Outside:
    """The evidence as flat arrays; places of another gazetteer are passed over."""
    if not (evidence.prior or evidence.points):
        return _countries_only(evidence.country_rows, evidence.spoken_rows)
    rows: list[int] = []
    mass: list[float] = []
    for place_id, weight in evidence.prior.weights if evidence.prior else ():
        try:
            rows.append(gazetteer.row(place_id))
            mass.append(weight)
        except PlaceError:
            continue
    points = np.empty(0, dtype=np.float32)
    if evidence.points:
        lon, lat = (np.array([getattr(p, n) for p in evidence.points[:_MAX_POINTS]]) for n in ("lon", "lat"))
        points = unit_vectors(lon, lat).astype(np.float32).reshape(-1)
    return Outside(
        ints(np.array(rows, dtype=np.int32)), reals(np.array(mass, dtype=np.float64)),
        reals(points), *_rows_of(evidence.country_rows, evidence.spoken_rows),
    )  # fmt: skip


@lru_cache(1024)
def _countries_only(country_rows: tuple[int, ...], spoken_rows: tuple[tuple[int, ...], tuple[int, ...]]) -> Outside:
    """Most pages have nothing else, and the same ones."""
    none = np.empty(0)
    return Outside(
        ints(none.astype(np.int32)), reals(none), reals(none.astype(np.float32)), *_rows_of(country_rows, spoken_rows)
    )  # fmt: skip


def _rows_of(
    country_rows: tuple[int, ...], spoken_rows: tuple[tuple[int, ...], tuple[int, ...]]
) -> tuple[Ints, Ints, int]:
    home, others = spoken_rows
    countries, spoken = (ints(np.array(rows, dtype=np.int32)) for rows in (country_rows, (*home, *others)))
    return countries, spoken, len(home)


def describe(sheet: Sheet, tables: Tables, text: str) -> int:
    """Find the names of one piece of text and what surrounds them; how many there are."""
    hits = read_text(sheet, tables, ints(codes_of(text)))
    if hits:
        describe_hits(sheet, tables)
    return hits


def judge(sheet: Sheet, tables: Tables, outside: Outside, weights: Weights, *, has_host: bool) -> None:
    """Rank the units of the kept hits, then work out how likely each is a place."""
    gather_units(sheet)
    rank_units(sheet, tables, outside, weights.ranking)
    support_hits(sheet, tables, has_host)
    accept(sheet, weights.acceptance.flat, weights.words.keys, weights.words.flat)


def recognise(
    sheet: Sheet, tables: Tables, text: str, outside: Outside, weights: Weights, *, has_host: bool
) -> list[int]:
    """The hits of one piece of text that are places, in order, without overlaps; details are on the sheet."""
    if not describe(sheet, tables, text) or not screen(sheet, weights.screening.flat):
        return []
    judge(sheet, tables, outside, weights, has_host=has_host)
    return select(sheet, weights.threshold)
