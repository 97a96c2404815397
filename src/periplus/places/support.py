"""How well a name is supported by the rest of the page, once its place is chosen: evidence for the last decision.

Support has groups of categories, like those of `context`, but known only after ranking. Acceptance adds up the weights
of all groups and of the words in and around the name; of overlapping hits the longest is selected. Compiled where
possible: see `sheet`.
"""

import math
from typing import Final

from periplus.places.build import KINDS
from periplus.places.built import BUILT
from periplus.places.context import GROUPS, KIND, POPULATION, SHAPE, WORD
from periplus.places.folding import GAP_JOIN, GAP_SPACE, SOLO
from periplus.places.sheet import CODES, SUPPORT_CODES, Ints, Reals, Sheet, Tables
from periplus.places.units import WITHIN

__all__ = [
    "CATEGORIES", "SUPPORT", "WORDS", "WORD_BITS", "accept", "is_demonym", "likeliest", "outcome", "rounded", "screen",
    "select", "support_hits", "word_at",
]  # fmt: skip

SUPPORT: Final[dict[str, tuple[str, ...]]] = {
    "near": ("none", "<0.3", "<0.7", "<1.2", "1.2+"),
    "around": ("none", "<0.6", "<1.2", "<2", "2+"),
    "division": ("not_named", "named", "close"),
    "same_division": ("none", "<20%", "<50%", "50%+"),
    "host": ("unknown", "far", "<0.3", "<0.6", "0.6+"),
    "placed_kind": (*KINDS, "within", "none"),
    "certainty": ("<40%", "<70%", "<90%", "90%+"),
}
"""Groups of categories that depend on the chosen place."""

CATEGORIES: Final = 32
"""Room for the weights of a group."""

WORDS: Final = ("before", "after", "first", "last")
"""The words that acceptance knows one by one: next to the name, and the outer ones of a name of several words."""

WORD_BITS: Final = 12
"""The table of those words has this power of two of places; a word lies at the low bits of its key or behind."""

# The names below have C types in support.pxd.
_GROUPS, _ALL, _STRIDE, _OWN, _ROW = len(GROUPS), len(GROUPS) + len(SUPPORT), CODES, SUPPORT_CODES, CATEGORIES
_SUPPORTS = len(SUPPORT)
_KINDS, _WITHIN, _SOLO = len(KINDS), WITHIN, SOLO
_KIND, _POPULATION, _SHAPE, _WORD = (list(GROUPS).index(g) for g in ("kind", "population", "shape", "word"))
_DEMONYM = KIND.index("demonym")
_CASELESS, _BIG, _COMMON = SHAPE.index("caseless"), POPULATION.index("<300k"), WORD.index("common")
_AREA_1, _AREA_2, _AREA_3, _AREA_4 = (KIND.index(k) for k in ("country", "alternate_country", "admin1", "continent"))
_WORDS, _WORD_MASK, _SPACE, _JOIN = len(WORDS), (1 << WORD_BITS) - 1, GAP_SPACE, GAP_JOIN
_HANGUL_FIRST, _HANGUL_LAST = 0xAC00, 0xD7A3
_LANDFORM, _LAKE = BUILT.index("landform"), BUILT.index("lake")
_HOPELESS = 0.04  # hits below this probability after screening are not looked at again
_E = math.e


def _score(s: Sheet, hit: int, weights: Reals, groups: int) -> float:
    """Weights hold one row per group; the bias comes after the last."""
    score = weights[_ALL * _ROW]
    at = hit * _STRIDE
    for group in range(groups):
        score += weights[group * _ROW + s.codes[at + group]]
    return score


def _probability(score: float) -> float:
    return 1.0 / (1.0 + float(_E**-score))


def word_at(s: Sheet, hit: int, which: int) -> int:
    """The token of one of `WORDS` around a hit, -1 where there is none."""
    first, last = s.h_first[hit], s.h_last[hit]
    if which == 0:
        near = first > 0 and (s.t_gap[first - 1] == _SPACE or s.t_gap[first - 1] == _JOIN)
        return first - 1 if near else -1
    if which == 1:
        near = last + 1 < s.tokens and (s.t_gap[last] == _SPACE or s.t_gap[last] == _JOIN)
        return last + 1 if near else -1
    if first == last:
        return -1
    return first if which == 2 else last


def _word_score(s: Sheet, hit: int, keys: Ints, weights: Reals) -> float:
    """What the words in and around a hit add."""
    score = 0.0
    for which in range(_WORDS):
        token = word_at(s, hit, which)
        if token < 0:
            continue
        key = s.t_key[token]
        slot = key & _WORD_MASK
        while keys[slot] and keys[slot] != key:
            slot = (slot + 1) & _WORD_MASK
        if keys[slot]:
            score += weights[slot * _WORDS + which]
    return score


def screen(s: Sheet, weights: Reals) -> int:
    """Mark the hits that are not hopeless as kept; how many they are."""
    kept = 0
    for hit in range(s.hits):
        probability = _probability(_score(s, hit, weights, _GROUPS))
        s.h_probability[hit] = probability
        keep = probability >= _HOPELESS or s.codes[hit * _STRIDE + _SHAPE] == _CASELESS
        s.h_kept[hit] = keep
        kept += keep
    return kept


def _step(value: float, one: float, two: float, three: float, four: float) -> int:
    """How many of the bounds the value reaches."""
    if value < one:
        return 0
    if value < two:
        return 1
    if value < three:
        return 2
    return 3 if value < four else 4


def support_hits(s: Sheet, t: Tables, has_host: bool) -> None:
    """The categories of every kept hit, given the best candidate of its unit."""
    for unit in range(s.units):
        _support(s, t, unit, has_host)
    for hit in range(s.hits):
        if s.h_kept[hit]:
            for i in range(_SUPPORTS):
                s.codes[hit * _STRIDE + _GROUPS + i] = s.u_codes[s.h_unit[hit] * _OWN + i]


def _support(s: Sheet, t: Tables, unit: int, has_host: bool) -> None:
    at = unit * _OWN
    best = s.u_best[unit]
    for i in range(_SUPPORTS):
        s.u_codes[at + i] = 0
    s.u_codes[at + 5] = _KINDS + 1
    if best < 0:
        return
    s.u_codes[at] = _step(s.c_near[best], 0.1, 0.3, 0.7, 1.2)
    s.u_codes[at + 1] = _step(s.c_around[best], 0.2, 0.6, 1.2, 2.0)
    named = s.c_named[best]
    s.u_codes[at + 2] = 0 if named == 0 else 1 if named == 1 else 2
    s.u_codes[at + 3] = _step(s.c_same[best], 0.05, 0.2, 0.5, 9.0)
    if has_host:
        s.u_codes[at + 4] = 1 + _step(s.c_host[best], 0.1, 0.3, 0.6, 9.0)
    s.u_codes[at + 5] = _KINDS if s.c_flag[best] == _WITHIN else t.place_facts[8 * s.c_row[best] + 7]
    s.u_codes[at + 6] = _step(s.c_probability[best], 0.4, 0.7, 0.9, 9.0)


def accept(s: Sheet, weights: Reals, word_keys: Ints, word_weights: Reals) -> None:
    """The probability of every kept hit that it is a place; 0 for the others."""
    for hit in range(s.hits):
        if not s.h_kept[hit]:
            s.h_probability[hit] = 0.0
        elif s.codes[hit * _STRIDE + _SHAPE] == _CASELESS:
            s.h_probability[hit] = _caseless(s, hit)
        else:
            score = _score(s, hit, weights, _ALL) + _word_score(s, hit, word_keys, word_weights)
            s.h_probability[hit] = _probability(score)


def _caseless(s: Sheet, hit: int) -> float:
    """Scripts without capitals: the learnt context is of no use there, so size and length of the name decide."""
    first = s.h_first[hit]
    length = s.t_end[s.h_last[hit]] - s.t_start[first]
    head = s.text[s.t_start[first]]
    syllables = s.t_class[first] & _SOLO or _HANGUL_FIRST <= head <= _HANGUL_LAST
    if length < (2 if syllables else 3) or s.codes[hit * _STRIDE + _WORD] >= _COMMON:
        return 0.1
    kind = s.codes[hit * _STRIDE + _KIND]
    known = kind == _AREA_1 or kind == _AREA_2 or kind == _AREA_3 or kind == _AREA_4
    if known or s.codes[hit * _STRIDE + _POPULATION] >= _BIG:
        return 0.9
    return 0.6 if length >= 4 else 0.1


def select(s: Sheet, threshold: float) -> list[int]:
    """Hits above the threshold; of overlapping ones the longest, of equal ones the likelier, in text order."""
    chosen: list[int] = []
    group: list[tuple[int, float, int]] = []
    reach = -1
    for hit in range(s.hits):
        if s.h_probability[hit] < threshold:
            continue
        first, last = s.h_first[hit], s.h_last[hit]
        if first > reach:
            _settle(s, group, chosen)
            group = []
        group.append((first - last, -s.h_probability[hit], hit))
        if last > reach:
            reach = last
    _settle(s, group, chosen)
    return chosen


def _settle(s: Sheet, group: list[tuple[int, float, int]], chosen: list[int]) -> None:
    """Choose among hits that overlap."""
    if len(group) == 1:
        chosen.append(group[0][2])
        return
    taken: set[int] = set()
    kept: list[int] = []
    for _, _, hit in sorted(group):
        span = range(s.h_first[hit], s.h_last[hit] + 1)
        if taken.isdisjoint(span):
            taken.update(span)
            kept.append(hit)
    chosen.extend(sorted(kept))


def outcome(s: Sheet, chosen: list[int]) -> list[tuple[int, int, int, int, int, int, float]]:
    """Start, end, hit, unit, row of the place (-1: none), flag of its name and confidence of each chosen hit."""
    found: list[tuple[int, int, int, int, int, int, float]] = []
    for hit in chosen:
        unit = s.h_unit[hit]
        best = s.u_best[unit]
        row, flag, sure = -1, _WITHIN, s.h_probability[hit]
        if best >= 0:
            row, flag, sure = s.c_row[best], s.c_flag[best], sure * s.c_probability[best]
            if s.h_built[hit] == _LANDFORM or s.h_built[hit] == _LAKE:
                flag = _WITHIN  # Baker Island need not be near Baker: all that is known is a place it is called after
        found.append((s.t_start[s.h_first[hit]], s.t_end[s.h_last[hit]], hit, unit, row, flag, rounded(sure, 4)))
    return found


def rounded(value: float, digits: int) -> float:
    """`round` for values from 0 to 1 and a few digits, by way of decimal text only where a tie is near."""
    scale = 10.0**digits
    scaled = value * scale
    whole = int(scaled)
    over = scaled - whole - 0.5
    if -1.0e-6 < over < 1.0e-6:
        return round(value, digits)
    return (whole + 1 if over > 0.0 else whole) / scale


def likeliest(s: Sheet, unit: int, limit: int) -> list[int]:
    """The rows of a unit's candidates, best first."""
    order = sorted([(-s.c_probability[c], c) for c in range(s.u_at[unit], s.u_at[unit + 1])])[:limit]
    return [s.c_row[c] for _, c in order]


def is_demonym(s: Sheet, t: Tables, hit: int) -> bool:
    """Whether a hit is an adjective or a word for people: "French", and "North American", which is built around one."""
    name = s.h_name[hit]
    return name >= 0 and t.name_facts[4 * name + 2] & 255 == _DEMONYM
