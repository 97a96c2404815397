"""What surrounds a name in a text, as a few named categories per hit: the evidence of the acceptance model.

Every group maps a hit to one of its categories; the model adds one weight per group. Groups are worked out for all
hits of a page at once.
"""

from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from periplus.places.build import KINDS
from periplus.places.folding import (
    CASELESS,
    DIGIT,
    GAP_COMMA,
    GAP_HYPHEN,
    GAP_JOIN,
    GAP_LINE,
    GAP_POSSESSIVE,
    GAP_SPACE,
    GAP_STOP,
    UPPER,
)
from periplus.places.gazetteer import Gazetteer
from periplus.places.scan import BIT, BUILT, Hits

__all__ = ["GROUPS", "Context", "context_of"]

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
U32 = npt.NDArray[np.uint32]
U8 = npt.NDArray[np.uint8]

KIND: Final = (
    "country", "admin1", "admin2", "city", "feature", "continent", "alternate", "bare_admin2", "bare_admin1", "demonym",
    "abbreviation", "postal", "alternate_country", *BUILT[1:],
)  # fmt: skip
BEFORE: Final = (
    "line", "sentence", "locative", "of", "preposition", "article", "title", "first_name", "direction", "capital",
    "conjunction", "comma_capital", "comma_small", "hyphen", "saying", "be_have", "small", "digit", "mark",
    "possessive", "role", "organisation_of", "dollar",
)  # fmt: skip
AFTER: Final = (
    "line", "stop", "pair", "comma_capital", "comma_small", "possessive", "saying", "organisation", "street",
    "landform",
    "division_word", "sports", "surname", "capital", "be_have", "conjunction", "preposition", "small",
    "hyphen", "digit", "mark",
    "person_role", "inhabitant", "division_small", "street_small", "pair_country",
)  # fmt: skip
SHAPE: Final = ("capital", "initials", "all_caps", "one_letter", "several", "caseless", "several_caps")
RUN: Final = ("alone", "start2", "start3", "end2", "end3", "middle", "no_run")
RUN_WORD: Final = ("none", "organisation", "street", "landform", "title", "first_name", "sports", "division_word")
POPULATION: Final = ("none", "<1k", "<3k", "<10k", "<30k", "<100k", "<300k", "<1M", "<3M", "3M+")
WORD: Final = ("several", "unknown", "rare", "uncommon", "medium", "common", "very_common")
PERSON: Final = ("several", "no", "surname", "first_name", "both")
REPEATS: Final = ("1", "2", "3-4", "5+")
LENGTH: Final = ("several", "1-2", "3", "4", "5-6", "7+")
YES_NO: Final = ("no", "yes")
CANDIDATES: Final = ("1", "2-3", "4-8", "9+")
INSIDE: Final = ("free", "start_of_longer", "in_longer")
NEIGHBOURS: Final = ("none", "one", "both")

_LENGTH_OF: Final = np.array([1, 1, 1, 2, 3, 4, 4, 5])  # characters → LENGTH
_REPEATS_OF: Final = np.array([0, 0, 1, 2, 2, 3])  # occurrences → REPEATS
_SMALL_BITS: Final = 18
_OPENING: Final = np.array([b in ("line", "sentence", "mark") for b in BEFORE], dtype=np.int64)

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "kind": KIND, "population": POPULATION, "word": WORD, "person": PERSON, "shape": SHAPE, "before": BEFORE,
    "after": AFTER, "run": RUN, "run_word": RUN_WORD, "inside": INSIDE, "repeats": REPEATS, "person_on_page": YES_NO,
    "outer_of_pair": YES_NO, "candidates": CANDIDATES, "written_small": YES_NO, "length": LENGTH,
    "tail_on_page": YES_NO, "neighbours": NEIGHBOURS,
    "opening": tuple(f"{w} {p}" for w in WORD for p in ("inside", "opening")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Context:
    """The categories of each hit, one array per group, and what later steps need again."""

    codes: dict[str, I64]
    pair: I64  # for each hit, the hit that is the outer part of "City, State", or -1
    pair_row: I64  # and the row of the division or country that it names


def _pick(length: int, default: int, rules: list[tuple[Bool, int]]) -> I64:
    """The code of the first rule that holds."""
    out = np.full(length, default, dtype=np.int64)
    for where, code in reversed(rules):
        out[where] = code
    return out


def _gap_table(names: dict[int, str], categories: tuple[str, ...]) -> U8:
    """The category of each kind of gap; 255 where the neighbouring word decides."""
    table = np.full(8, categories.index("mark"), dtype=np.uint8)
    table[[GAP_SPACE, GAP_JOIN]] = 255
    for gap, name in names.items():
        table[gap] = categories.index(name)
    return table


def context_of(hits: Hits, gazetteer: Gazetteer) -> Context:
    """Work out every group for every hit."""
    tokens, bits = hits.tokens, hits.bits
    plain = hits.built == 0
    single = (hits.first == hits.last) & plain
    pair, pair_row = pairs_of(hits, gazetteer)
    known = hits.name >= 0
    stats = np.ascontiguousarray(hits.facts[:, 2]).view(np.uint8).reshape(-1, 4).astype(np.int64)
    built = len(KIND) - len(BUILT) + hits.built.astype(np.int64)
    before = _before(hits, gazetteer)
    length = tokens.end[hits.last] - tokens.start[hits.first]
    codes = {
        "kind": np.where(plain, stats[:, 0], built),
        "population": np.where(known, stats[:, 1], 0),
        "word": np.where(single, stats[:, 2], 0),
        "person": _person(bits[hits.first], single),
        "shape": _shape(hits, single),
        "before": before,
        "after": _after(hits, gazetteer, pair_row),
        "inside": _inside(hits),
        "candidates": np.where(known, stats[:, 3], 0),
        "length": np.where(single, _LENGTH_OF[np.minimum(length, 7)], 0),
        "neighbours": _neighbours(hits),
    }
    codes["run"], codes["run_word"] = _runs(hits, bits)
    personal = (before == BEFORE.index("title")) | (before == BEFORE.index("first_name"))
    tail = (codes["run"] == RUN.index("end2")) | (codes["run"] == RUN.index("end3"))
    codes["repeats"], codes["person_on_page"], codes["tail_on_page"] = _repeats(
        hits.keys[hits.first], single, personal, tail
    )
    outer = np.zeros(len(hits), dtype=np.int64)
    outer[pair[pair >= 0]] = 1
    codes["outer_of_pair"] = outer
    codes["written_small"] = _written_small(hits, single)
    codes["opening"] = codes["word"] * 2 + _OPENING[before]
    return Context(codes, pair, pair_row)


def _person(bits: U32, single: Bool) -> I64:
    first, last = (bits & BIT["first_name"]) != 0, (bits & BIT["surname"]) != 0
    code = 1 + last.astype(np.int64) + 2 * first.astype(np.int64)
    return np.where(single, code, 0)


def _shape(hits: Hits, single: Bool) -> I64:
    tokens = hits.tokens
    length = tokens.end[hits.last] - tokens.start[hits.first]
    caps = tokens.all_upper[hits.first] & tokens.all_upper[hits.last]
    caseless = (tokens.cls[hits.first] & CASELESS) != 0
    return _pick(
        len(hits), 0,
        [
            (caseless, 5), (~single & caps & (length > 4), 6), (~single, 4), (length == 1, 3),
            (caps & (length <= 4), 1), (caps, 2),
        ],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _WordTables:
    """What each word class means before or after a name: a category for every slot of the table of words."""

    before_capital: U8
    before_small: U8
    after_capital: U8
    after_small: U8


_BEFORE_CAPITAL: Final = (
    ("locative", "locative"), ("preposition", "preposition"), ("article", "article"), ("title", "title"),
    ("first_name", "first_name"), ("direction", "direction"), ("conjunction", "conjunction"),
)  # fmt: skip
_BEFORE_SMALL: Final = (
    ("locative", "locative"), ("preposition", "preposition"), ("article", "article"), ("title", "role"),
    ("direction", "direction"), ("conjunction", "conjunction"), ("saying", "saying"), ("be_have", "be_have"),
)  # fmt: skip
_AFTER_CAPITAL: Final = (
    ("person_role", "person_role"), ("organisation", "organisation"), ("street", "street"), ("landform", "landform"),
    ("division_word", "division_word"), ("sports", "sports"), ("surname", "surname"),
)  # fmt: skip
_AFTER_SMALL: Final = (
    ("person_role", "person_role"), ("inhabitant", "inhabitant"), ("division_word", "division_small"),
    ("street", "street_small"), ("saying", "saying"), ("be_have", "be_have"), ("conjunction", "conjunction"),
    ("preposition", "preposition"), ("locative", "preposition"),
)  # fmt: skip


def _word_tables(gazetteer: Gazetteer) -> _WordTables:
    """The tables of a gazetteer, worked out once."""
    known = _TABLES.get(gazetteer)
    if known is None:
        bits = gazetteer.arrays["word_bits"]

        def table(names: tuple[str, ...], default: str, rules: tuple[tuple[str, str], ...]) -> U8:
            pairs = [((bits & BIT[word]) != 0, names.index(category)) for word, category in rules]
            return _pick(len(bits), names.index(default), pairs).astype(np.uint8)

        known = _WordTables(
            table(BEFORE, "capital", _BEFORE_CAPITAL), table(BEFORE, "small", _BEFORE_SMALL),
            table(AFTER, "capital", _AFTER_CAPITAL), table(AFTER, "small", _AFTER_SMALL),
        )  # fmt: skip
        _TABLES[gazetteer] = known
    return known


_TABLES: Final["WeakKeyDictionary[Gazetteer, _WordTables]"] = WeakKeyDictionary()
_NEAR: Final = 255  # a gap that leaves the word itself to decide
_GAP_BEFORE: Final = _gap_table({GAP_LINE: "line", GAP_STOP: "sentence", GAP_COMMA: "comma_small", GAP_HYPHEN: "hyphen",
                                 GAP_POSSESSIVE: "possessive"}, BEFORE)  # fmt: skip
_GAP_AFTER: Final = _gap_table({GAP_LINE: "line", GAP_STOP: "stop", GAP_COMMA: "comma_small", GAP_HYPHEN: "hyphen",
                                GAP_POSSESSIVE: "possessive"}, AFTER)  # fmt: skip


def _before(hits: Hits, gazetteer: Gazetteer) -> I64:
    """What stands before each hit."""
    tokens, bits, tables = hits.tokens, hits.bits, _word_tables(gazetteer)
    prev = np.maximum(hits.first - 1, 0)
    gap = tokens.gap[prev]
    gap[hits.first == 0] = GAP_LINE
    cls = tokens.cls[prev]
    capital = (cls & UPPER) != 0
    slot = hits.slots[prev]
    by_word = np.where(capital, tables.before_capital[slot], tables.before_small[slot])
    by_word[(cls & DIGIT) != 0] = BEFORE.index("digit")
    by_gap = _GAP_BEFORE[gap]
    code = np.where(by_gap == _NEAR, by_word, by_gap).astype(np.int64)
    code[(gap == GAP_COMMA) & capital] = BEFORE.index("comma_capital")
    code[(gap == GAP_STOP) & ((bits[prev] & BIT["title"]) != 0)] = BEFORE.index("title")
    of = np.flatnonzero((code == BEFORE.index("preposition")) & (tokens.end[prev] - tokens.start[prev] == 2) & ~capital)
    if len(of):
        earlier = np.maximum(prev[of] - 1, 0)
        firm = ((bits[earlier] & BIT["organisation"]) != 0) & ((tokens.cls[earlier] & UPPER) != 0)
        code[of] = np.where(firm, BEFORE.index("organisation_of"), BEFORE.index("of"))
    return code


def _after(hits: Hits, gazetteer: Gazetteer, pair_row: I64) -> I64:
    """What follows each hit."""
    tokens, tables = hits.tokens, _word_tables(gazetteer)
    following = np.minimum(hits.last + 1, len(tokens) - 1)
    gap = tokens.gap[hits.last]
    cls = tokens.cls[following]
    capital = (cls & UPPER) != 0
    slot = hits.slots[following]
    by_word = np.where(capital, tables.after_capital[slot], tables.after_small[slot])
    by_word[(cls & DIGIT) != 0] = AFTER.index("digit")
    by_gap = _GAP_AFTER[gap]
    code = np.where(by_gap == _NEAR, by_word, by_gap).astype(np.int64)
    code[(gap == GAP_COMMA) & capital] = AFTER.index("comma_capital")
    of_country = gazetteer.arrays["kind"][pair_row] == KINDS.index("country")
    code[pair_row >= 0] = AFTER.index("pair")
    code[(pair_row >= 0) & of_country] = AFTER.index("pair_country")
    return code


def _runs(hits: Hits, bits: U32) -> tuple[I64, I64]:
    """Where the hit sits in its run of capitalised tokens, and what else the run holds."""
    tokens = hits.tokens
    n = len(tokens)
    capital = (tokens.cls & UPPER) != 0
    linked = np.zeros(n + 1, dtype=np.bool_)
    linked[1:n] = capital[:-1] & capital[1:] & (tokens.gap[:-1] == GAP_SPACE)
    run_id = np.cumsum(~linked[:n]) - 1
    starts = np.flatnonzero(~linked[:n])
    ends = np.append(starts[1:], n) - 1
    run = run_id[hits.first]
    before = hits.first - starts[run]
    after = np.maximum(ends[run] - hits.last, 0)
    code = RUN.index
    where = _pick(
        len(hits), code("alone"),
        [
            (~capital[hits.first], code("no_run")), ((before > 0) & (after > 0), code("middle")),
            (after > 1, code("start3")), (after > 0, code("start2")), (before > 1, code("end3")),
            (before > 0, code("end2")),
        ],
    )  # fmt: skip
    run_bits = np.bitwise_or.reduceat(np.where(capital, bits, 0).astype(np.uint32), starts) if len(starts) else bits
    longer = (before > 0) | (after > 0)
    b = np.where(longer, run_bits[run], 0)
    words = [(longer & ((b & BIT[name]) != 0), RUN_WORD.index(name)) for name in RUN_WORD[1:]]
    return where, _pick(len(hits), 0, words)


def _inside(hits: Hits) -> I64:
    """Whether a longer hit covers this one; hits come by first token, then by length."""
    if not len(hits):
        return np.empty(0, dtype=np.int64)
    reach = np.maximum.accumulate(hits.last)
    before = np.concatenate([[-1], reach[:-1]])
    same_start = np.concatenate([hits.first[1:] == hits.first[:-1], [False]])
    return _pick(len(hits), 0, [(hits.last <= before, 2), (same_start, 1)])


def _repeats(keys: npt.NDArray[np.uint64], single: Bool, personal: Bool, tail: Bool) -> tuple[I64, I64, I64]:
    """How often each first word occurs among the hits; whether, alone, it follows a first name, title or capital."""
    if not len(keys):
        none = np.empty(0, dtype=np.int64)
        return none, none, none
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    flagged = np.bincount(which, weights=personal & single, minlength=len(counts)) > 0
    tailed = np.bincount(which, weights=tail & single, minlength=len(counts)) > 0
    repeats = _REPEATS_OF[np.minimum(counts, 5)][which]
    return repeats, (flagged[which] & single).astype(np.int64), (tailed[which] & single).astype(np.int64)


def _written_small(hits: Hits, single: Bool) -> I64:
    """Whether the same word also occurs without a capital."""
    seen = np.zeros(1 << _SMALL_BITS, dtype=np.bool_)  # by the keys' low bits: one in a hundred is taken for another
    low = (hits.keys & np.uint64((1 << _SMALL_BITS) - 1)).astype(np.int64)
    seen[low[(hits.tokens.cls & UPPER) == 0]] = True
    return np.asarray(seen[low[hits.first]] & single, dtype=np.int64)


def _neighbours(hits: Hits) -> I64:
    """On how many sides another hit follows after a comma: members of lists support each other."""
    tokens = hits.tokens
    starts, ends = np.zeros(len(tokens) + 2, dtype=np.bool_), np.zeros(len(tokens) + 2, dtype=np.bool_)
    starts[hits.first] = True
    ends[hits.last] = True
    comma = np.append(tokens.gap == GAP_COMMA, False)
    left = (hits.first > 0) & comma[np.maximum(hits.first - 1, 0)] & ends[np.maximum(hits.first - 1, 0)]
    right = comma[hits.last] & starts[hits.last + 1]
    return np.asarray(left.astype(np.int64) + right, dtype=np.int64)


def pairs_of(hits: Hits, gazetteer: Gazetteer) -> tuple[I64, I64]:
    """For "City, State": which hit contains some candidate of this one, and the row that it names; else -1."""
    pair, pair_row = np.full(len(hits), -1, dtype=np.int64), np.full(len(hits), -1, dtype=np.int64)
    if len(hits) < 2:
        return pair, pair_row
    outer = hits.facts[:, :2]
    starts_at = np.full(len(hits.tokens) + 1, -1)
    area = np.flatnonzero((outer[:, 0] >= 0) & (hits.built == 0))
    starts_at[hits.first[area]] = area  # the longest, because hits come by length
    inner = np.flatnonzero((hits.tokens.gap[hits.last] == GAP_COMMA) & (hits.name >= 0))
    other = starts_at[hits.last[inner] + 1]
    inner, other = inner[other >= 0], other[other >= 0]
    if not len(inner):
        return pair, pair_row
    both = (hits.name[inner] << 32) | hits.name[other]
    _, sample, which = np.unique(both, return_index=True, return_inverse=True)
    row_of = _shared_rows(hits.name[inner[sample]], outer[other[sample]], gazetteer)[which]
    some = row_of >= 0
    pair[inner[some]] = other[some]
    pair_row[inner[some]] = row_of[some]
    return pair, pair_row


def _shared_rows(inner: I64, outer: npt.NDArray[np.int32], gazetteer: Gazetteer) -> I64:
    """For each inner name the first of its two outer rows in which one of its places lies, -1 if neither."""
    a = gazetteer.arrays
    start = a["name_at"][inner].astype(np.int64)
    size = a["name_at"][inner + 1].astype(np.int64) - start
    owner = np.repeat(np.arange(len(inner)), size)
    rows = a["cand_row"][np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(start, size)]
    facts = gazetteer.facts(rows)
    found = np.full(len(inner), -1, dtype=np.int64)
    for column in (1, 0):
        area_row = outer[:, column][owner]
        inside = (facts.admin1 == area_row) | (facts.country == area_row) | (facts.admin2 == area_row)
        inside &= (area_row >= 0) & (rows != area_row)
        some = np.bincount(owner, weights=inside, minlength=len(inner)) > 0
        found[some] = outer[some, column]
    return found
