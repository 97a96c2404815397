"""Names without the capitals that recognition goes by: texts all in small letters, and hashtags.

In a text without a single capital the names of countries, divisions and big towns get theirs, where they are no common
words; then everything goes its usual way. A hashtag is one word, so it is looked up as a whole: #NewYork, #london.
"""

import itertools
import re
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from periplus.places.build import KINDS
from periplus.places.context import KIND
from periplus.places.folding import GAP_COMMA, GAP_HYPHEN, GAP_SPACE, Tokens, name_key, name_keys, tokenise
from periplus.places.gazetteer import Gazetteer
from periplus.places.lexicon import CLASSES

__all__ = ["HASHTAG_CONFIDENCE", "capitalised", "hashtags"]

HASHTAG_CONFIDENCE: Final = 0.7
MAX_HASHTAGS: Final = 1_000
_LONGEST: Final = 4
_BIG: Final = 5  # 30,000 people: see `build`
_BIGGER: Final = 6
_BIG_TOWN: Final = 100_000
_RARE: Final = 2  # context.WORD: as good as never written small
_AREAS: Final = tuple(KIND.index(k) for k in ("country", "admin1", "continent", "alternate_country"))
_UNSURE: Final = tuple(KIND.index(k) for k in ("alternate", "demonym", "abbreviation", "bare_admin2", "postal"))
_HASHTAG: Final = re.compile(r"(?<!\w)#([^\W_]{3,40})(?!\w)")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z][^A-Z\d]*|\d+|[^A-Z\d]+")
"""The words of a tag that is written like this: FloodsInGaza, IranTalksNYC."""
_MOST_PARTS: Final = 3
_PERSON: Final = sum(1 << CLASSES.index(name) for name in ("first_name", "surname"))
_TABLES: Final["WeakKeyDictionary[Gazetteer, tuple[dict[int, int], frozenset[int]]]"] = WeakKeyDictionary()


def capitalised(text: str, gazetteer: Gazetteer) -> str:
    """The text, of the same length, with capitals for the names in it if it has none at all."""
    if not text.islower():
        return text
    tokens = tokenise(text)
    count = len(tokens)
    linked = np.isin(tokens.gap, (GAP_SPACE, GAP_HYPHEN))
    letters = list(text)
    named = np.zeros(count + 1, dtype=np.bool_)
    for length in range(_LONGEST, 0, -1):
        first = np.arange(count - length + 1)
        for step in range(length - 1):
            first = first[linked[first + step]]
        if not len(first):
            continue
        names = gazetteer.name_index(tokens.key(first, first + length - 1))
        for start in first[(names >= 0) & _is_name(gazetteer, names, single=length == 1)].tolist():
            if named[start : start + length].any():
                continue
            named[start : start + length] = True
            for token in range(start, start + length):
                _raise(letters, int(tokens.start[token]), 1)
    _raise_abbreviations(letters, tokens, named, gazetteer)
    return "".join(letters)


def _is_name(gazetteer: Gazetteer, names: npt.NDArray[np.int64], *, single: bool) -> npt.NDArray[np.bool_]:
    """Which names are those of areas and big towns, and no words."""
    facts = gazetteer.arrays["name_facts"].reshape(-1, 4)[np.maximum(names, 0), 2]
    kind, size, word = facts & 255, (facts >> 8) & 255, (facts >> 16) & 255
    sure = ~np.isin(kind, _UNSURE) & (np.isin(kind, _AREAS) | (size >= (_BIGGER if single else _BIG)))
    return np.asarray(sure & (word <= _RARE) if single else sure, dtype=np.bool_)


def _raise(letters: list[str], start: int, count: int) -> None:
    for at in range(start, start + count):
        capital = letters[at].upper()
        if len(capital) == 1:  # offsets must not move
            letters[at] = capital


def _raise_abbreviations(
    letters: list[str], tokens: Tokens, named: npt.NDArray[np.bool_], gazetteer: Gazetteer
) -> None:
    """Capitals for the state in "austin tx": two letters just after a name, if they are no word."""
    linked = np.isin(tokens.gap[:-1], (GAP_SPACE, GAP_COMMA)) & named[: len(tokens) - 1]
    after = np.flatnonzero(linked & (tokens.end - tokens.start == 2)[1:] & ~named[1 : len(tokens)]) + 1
    if not len(after):
        return
    names = gazetteer.name_index(tokens.key(after, after))
    facts = gazetteer.arrays["name_facts"].reshape(-1, 4)[np.maximum(names, 0)]
    short = (names >= 0) & ((facts[:, 3] & 1) != 0) & (((facts[:, 2] >> 16) & 255) <= _RARE)
    for token in after[short].tolist():
        _raise(letters, int(tokens.start[token]), 2)


def hashtags(text: str, gazetteer: Gazetteer) -> list[tuple[int, int, int]]:
    """Start, end (without the #) and row of every hashtag that is or holds a name of an area or a big town."""
    if "#" not in text:
        return []
    tables = _TABLES.get(gazetteer)
    if tables is None:
        tables = _TABLES.setdefault(gazetteer, _run_together(gazetteer))
    table, people = tables
    found: list[tuple[int, int, int]] = []
    for match in itertools.islice(_HASHTAG.finditer(text), MAX_HASHTAGS):
        row = table.get(name_key(match[1]))
        if row is not None:
            found.append((match.start(1), match.end(1), row))
        elif not match[1].islower():
            found += _within(match[1], match.start(1), table, people)
    return found


def _within(tag: str, offset: int, table: dict[int, int], people: frozenset[int]) -> list[tuple[int, int, int]]:
    """The names in a tag of several words, #GazaUnderAttack; not those of people, #JordanPeele."""
    spans = [match.span() for match in _PARTS.finditer(tag)]
    found: list[tuple[int, int, int]] = []
    taken = 0
    for first in range(len(spans)):
        for last in range(min(len(spans), first + _MOST_PARTS) - 1, first - 1, -1):
            start, end = spans[first][0], spans[last][1]
            key = name_key(tag[start:end]) if start >= taken and tag[start].isupper() else 0
            if key in table and key not in people:
                found.append((offset + start, offset + end, table[key]))
                taken = end
                break
    return found


def _run_together(gazetteer: Gazetteer) -> tuple[dict[int, int], frozenset[int]]:
    """Keys of the names, written as one word, of regions, divisions and big towns; words and languages are left out.

    And which of them people have too.
    """
    kind, people = gazetteer.arrays["kind"], gazetteer.arrays["population"]
    wanted = np.isin(kind, [KINDS.index(k) for k in ("continent", "country", "admin1", "region")])
    wanted |= (kind == KINDS.index("city")) & (people >= _BIG_TOWN)
    rows = np.flatnonzero(wanted)
    rows = rows[np.argsort(-people[rows], kind="stable")]
    names = [gazetteer.place_at(row).name for row in rows.tolist()]
    keys = name_keys([name.replace(" ", "").replace("-", "") for name in names])
    known = gazetteer.name_index(keys)
    word = (gazetteer.arrays["name_facts"].reshape(-1, 4)[np.maximum(known, 0), 2] >> 16) & 255
    table: dict[int, int] = {}
    for row, key, is_word in zip(rows.tolist(), keys.tolist(), ((known >= 0) & (word > _RARE)).tolist(), strict=True):
        if key and not is_word:
            table.setdefault(key, row)
    a = gazetteer.arrays
    called, software = (
        table.keys() & set(a["word_key"][(a["word_bits"] & np.uint32(bits)) != 0].tolist())
        for bits in (_PERSON, 1 << CLASSES.index("software_name"))
    )
    return {key: row for key, row in table.items() if key not in software}, frozenset(called)
