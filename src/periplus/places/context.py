"""What surrounds a name in a text, as a few named categories per hit: the evidence of the acceptance model.

Every group maps a hit to one of its categories; the models add one weight per group. Compiled where possible: see
`sheet`.
"""

from typing import Final

import numpy as np

from periplus.places.build import KINDS
from periplus.places.built import BUILT
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
from periplus.places.lexicon import CLASSES
from periplus.places.neighbours import AFTER, BEFORE
from periplus.places.pairs import find_lists, find_pairs, is_lettered
from periplus.places.sheet import CODES, SEEN_BITS, Sheet, Tables, ints
from periplus.places.told import is_told
from periplus.places.usage import is_among_people, is_called, is_named_after, is_stray

__all__ = ["AT_HOME", "GROUPS", "describe_hits"]

KIND: Final = (
    "country", "admin1", "admin2", "city", "feature", "continent", "alternate", "bare_admin2", "bare_admin1", "demonym",
    "abbreviation", "postal", "alternate_country", *BUILT[1:],
)  # fmt: skip
SHAPE: Final = ("capital", "initials", "all_caps", "one_letter", "several", "caseless", "several_caps")
RUN: Final = ("alone", "start2", "start3", "end2", "end3", "middle", "no_run")
RUN_WORD: Final = ("none", "organisation", "street", "landform", "title", "first_name", "sports", "division_word")
POPULATION: Final = ("none", "<1k", "<3k", "<10k", "<30k", "<100k", "<300k", "<1M", "<3M", "3M+")
WORD: Final = ("several", "unknown", "rare", "uncommon", "medium", "common", "very_common", "foreign")
PERSON: Final = ("several", "no", "surname", "first_name", "both")
REPEATS: Final = ("1", "2", "3-4", "5+")
LENGTH: Final = ("several", "1-2", "3", "4", "5-6", "7+")
YES_NO: Final = ("no", "yes")
CANDIDATES: Final = ("1", "2-3", "4-8", "9+")
INSIDE: Final = ("free", "start_of_longer", "in_longer")
NEIGHBOURS: Final = ("none", "one", "both")
USAGE: Final = ("free", "called", "called_elsewhere")


AT_HOME: Final = 128
"""Added to how much of a word a name is, where a language calls a town so in which it is spoken there."""

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "kind": KIND, "population": POPULATION, "word": WORD, "person": PERSON, "shape": SHAPE, "before": BEFORE,
    "after": AFTER, "run": RUN, "run_word": RUN_WORD, "inside": INSIDE, "repeats": REPEATS, "person_on_page": YES_NO,
    "outer_of_pair": YES_NO, "candidates": CANDIDATES, "written_small": YES_NO, "length": LENGTH,
    "tail_on_page": YES_NO, "neighbours": NEIGHBOURS,
    "opening": tuple(f"{w} {p}" for w in WORD for p in ("inside", "opening")),
    "usage": USAGE,
}  # fmt: skip


# The names below have C types in context.pxd: positions of groups and categories.
_G = {group: i for i, group in enumerate(GROUPS)}
_KIND, _POPULATION, _WORD, _PERSON, _SHAPE = (_G[g] for g in ("kind", "population", "word", "person", "shape"))
_BEFORE, _AFTER, _RUN, _RUN_WORD, _INSIDE = (_G[g] for g in ("before", "after", "run", "run_word", "inside"))
_REPEATS, _PERSON_ON_PAGE, _TAIL_ON_PAGE = (_G[g] for g in ("repeats", "person_on_page", "tail_on_page"))
_OUTER, _CANDIDATES, _SMALL, _LENGTH = (_G[g] for g in ("outer_of_pair", "candidates", "written_small", "length"))
_NEIGHBOURS, _OPENING, _USAGE = _G["neighbours"], _G["opening"], _G["usage"]
_STRIDE, _HOME = CODES, AT_HOME
_UP, _CASE, _NUMBER = UPPER, CASELESS, DIGIT
_SPACE, _COMMA, _LINE, _STOP = GAP_SPACE, GAP_COMMA, GAP_LINE, GAP_STOP
_HYPHEN, _JOIN, _OWNS = GAP_HYPHEN, GAP_JOIN, GAP_POSSESSIVE
_FIRST_NAME, _SURNAME, _TITLE, _ORGANISATION = (
    1 << CLASSES.index(c) for c in ("first_name", "surname", "title", "organisation")
)
_SMALL_WORD = sum(1 << CLASSES.index(c) for c in ("locative", "preposition", "article", "conjunction"))
_SOFTWARE_NAME = 1 << CLASSES.index("software_name")
_BUILT_KIND = len(KIND) - len(BUILT)
_COUNTRY, _LARGE, _MILLION = KINDS.index("country"), POPULATION.index("<100k"), POPULATION.index("<3M")
_CITY, _ALTERNATE = KIND.index("city"), KIND.index("alternate")
_COUNTRY_KIND, _ALTERNATE_COUNTRY = KIND.index("country"), KIND.index("alternate_country")
_RARE = WORD.index("rare")
_SEEN = (1 << SEEN_BITS) - 1
_B_LINE, _B_SENTENCE, _B_TITLE, _B_FIRST, _B_MARK, _B_OF, _B_LOCATIVE = (
    BEFORE.index(c) for c in ("line", "sentence", "title", "first_name", "mark", "of", "locative")
)
_B_SMALL = BEFORE.index("small")
_FOREIGN = WORD.index("foreign")
_B_FIRM_OF, _B_PREPOSITION, _B_DIGIT, _B_HYPHEN, _B_OWNS, _B_COMMA, _B_COMMA_CAPITAL = (
    BEFORE.index(c)
    for c in ("organisation_of", "preposition", "digit", "hyphen", "possessive", "comma_small", "comma_capital")
)
_A_LINE, _A_STOP, _A_HYPHEN, _A_OWNS, _A_COMMA, _A_COMMA_CAPITAL, _A_MARK, _A_DIGIT, _A_PAIR, _A_PAIR_COUNTRY = (
    AFTER.index(c)
    for c in (
        "line", "stop", "hyphen", "possessive", "comma_small", "comma_capital", "mark", "digit", "pair", "pair_country"
    )
)  # fmt: skip
_A_BE = AFTER.index("be_have")
_R_NONE, _R_MIDDLE, _R_START3, _R_START2, _R_END3, _R_END2 = (
    RUN.index(c) for c in ("no_run", "middle", "start3", "start2", "end3", "end2")
)
_RUN_WORDS = ints(np.array([1 << CLASSES.index(name) for name in RUN_WORD[1:]], dtype=np.uint32))


def describe_hits(s: Sheet, t: Tables) -> None:
    """Work out every group for every hit of the sheet."""
    find_pairs(s, t, _OUTER)
    find_lists(s, t, _OUTER)
    _find_runs(s, t)
    _mark_small(s)
    reach = -1
    for hit in range(s.hits):
        _describe(s, t, hit)
        at = hit * _STRIDE
        last = s.h_last[hit]
        if last <= reach:
            s.codes[at + _INSIDE] = 2
        else:
            s.codes[at + _INSIDE] = hit + 1 < s.hits and s.h_first[hit + 1] == s.h_first[hit]
            reach = last
    _count_repeats(s, t)


def _describe(s: Sheet, t: Tables, hit: int) -> None:
    at = hit * _STRIDE
    first, last, name, built = s.h_first[hit], s.h_last[hit], s.h_name[hit], s.h_built[hit]
    single = first == last and not built
    facts = t.name_facts[4 * name + 2] if name >= 0 else 0
    length = s.t_end[last] - s.t_start[first]
    people = (facts >> 8) & 255
    known = people > _LARGE or (people == _LARGE and not t.word_bits[s.t_slot[first]] & _FIRST_NAME)
    before = _before(s, t, first, s.abroad and known and not s.t_caps[first])
    if s.t_cased[last] and before != _B_TITLE and before != _B_FIRST:
        before = _B_LOCATIVE
    said = is_told(s, t, hit)
    if said:
        before = _B_LOCATIVE
    level = s.word_level[name] if name >= 0 else 0
    word = level & ~_HOME if single or s.t_class[first] & _CASE else 0
    if word and word != _FOREIGN and before == _B_LOCATIVE:
        word = (facts >> 16) & 255  # "in Lage", without an article: nouns of other languages have one
    if said and word > _RARE:
        word = _RARE
    s.codes[at + _KIND] = _BUILT_KIND + built if built else facts & 255
    s.codes[at + _POPULATION] = people
    s.codes[at + _WORD] = word
    s.codes[at + _CANDIDATES] = (facts >> 24) & 255
    s.codes[at + _PERSON] = _person(t.word_bits[s.t_slot[first]]) if single else 0
    s.codes[at + _SHAPE] = _shape(s, first, last, length, single)
    s.codes[at + _BEFORE] = before
    s.codes[at + _AFTER] = _after(s, t, hit)
    s.codes[at + _LENGTH] = _length_code(length) if single else 0
    s.codes[at + _NEIGHBOURS] = _neighbours(s, first, last)
    s.codes[at + _SMALL] = single and _is_seen(s, s.t_key[first] & _SEEN)
    opening = before == _B_LINE or before == _B_SENTENCE or before == _B_MARK
    s.codes[at + _OPENING] = 2 * word + opening
    if s.abroad:
        _describe_abroad(s, at, single, level & _HOME != 0)
    _place_in_run(s, hit)


def _describe_abroad(s: Sheet, at: int, single: bool, at_home: bool) -> None:
    """What is known of names is known of English: elsewhere "Türkei" is the country's own, as Venezia is its city's.

    "Roma" is on any page in Italian; on others behind "di" and the like only.

    Countries' names in other languages than the text's are marked as words (see `recognise`). And "di Roma" is no first
    name: not where a very large city is called so.
    """
    before, kind = s.codes[at + _BEFORE], s.codes[at + _KIND]
    if kind == _ALTERNATE_COUNTRY and s.codes[at + _WORD] < _RARE:
        s.codes[at + _KIND] = _COUNTRY_KIND
    elif single and (before == _B_OF or before == _B_LOCATIVE):
        if s.codes[at + _POPULATION] >= _MILLION:
            s.codes[at + _PERSON] = 1
        if kind == _ALTERNATE and s.codes[at + _POPULATION] >= _LARGE:
            s.codes[at + _KIND] = _CITY
    if at_home and kind == _ALTERNATE:
        s.codes[at + _KIND] = _CITY


def _person(bits: int) -> int:
    return 1 + (bits & _SURNAME != 0) + 2 * (bits & _FIRST_NAME != 0)


def _length_code(length: int) -> int:
    if length <= 2:
        return 1
    if length <= 4:
        return length - 1
    return 4 if length <= 6 else 5


def _shape(s: Sheet, first: int, last: int, length: int, single: bool) -> int:
    caps = s.t_caps[first] and s.t_caps[last]
    if s.t_class[first] & _CASE:
        return 5
    if not single:
        return 6 if caps and length > 4 else 4
    if length == 1:
        return 3
    if caps:
        return 1 if length <= 4 else 2
    return 0


def _before(s: Sheet, t: Tables, first: int, abroad: bool) -> int:
    """What stands before a hit; `abroad`: words of all languages count, not only those of English."""
    if first == 0:
        return _B_LINE
    prev = first - 1
    gap, here, slot = s.t_gap[prev], s.t_class[prev], s.t_slot[prev]
    capital = here & _UP
    if gap == _STOP:
        return _B_TITLE if t.word_bits[slot] & _TITLE else _B_SENTENCE
    if gap == _COMMA:
        return _B_COMMA_CAPITAL if capital else _B_COMMA
    if gap != _SPACE and gap != _JOIN:
        return _before_mark(gap)
    if here & _NUMBER:
        return _B_DIGIT
    if capital:
        return t.capital_abroad[slot] if abroad else t.before_capital[slot]
    code = t.small_abroad[slot] if abroad else t.before_small[slot]
    if code == _B_OF and prev > 0 and t.word_bits[s.t_slot[prev - 1]] & (_FIRST_NAME | _SURNAME):
        return _B_SMALL  # "Simone de Beauvoir"
    if code == _B_PREPOSITION and s.t_end[prev] - s.t_start[prev] == 2:
        earlier = prev - 1 if prev > 0 else 0
        firm = t.word_bits[s.t_slot[earlier]] & _ORGANISATION and s.t_class[earlier] & _UP
        return _B_FIRM_OF if firm else _B_OF
    return code


def _before_mark(gap: int) -> int:
    if gap == _LINE:
        return _B_LINE
    if gap == _HYPHEN:
        return _B_HYPHEN
    return _B_OWNS if gap == _OWNS else _B_MARK


def _after(s: Sheet, t: Tables, hit: int) -> int:
    """What follows a hit."""
    row, last = s.h_pair[hit], s.h_last[hit]
    if row >= 0:
        return _A_PAIR_COUNTRY if t.place_facts[8 * row + 7] == _COUNTRY else _A_PAIR
    gap = s.t_gap[last]
    if gap == _LINE or last + 1 >= s.tokens:
        return _A_LINE
    following = last + 1
    here, slot = s.t_class[following], s.t_slot[following]
    if gap == _STOP:
        return _A_STOP
    if gap == _COMMA:
        return _A_COMMA_CAPITAL if here & _UP else _A_COMMA
    if gap == _HYPHEN:
        return _A_HYPHEN
    if gap == _OWNS:
        return _A_OWNS
    if gap != _SPACE and gap != _JOIN:
        return _A_MARK
    if here & _NUMBER:
        return _A_DIGIT
    return t.after_capital[slot] if here & _UP else t.after_small[slot]


def _neighbours(s: Sheet, first: int, last: int) -> int:
    """On how many sides another hit follows after a comma: members of lists support each other."""
    left = first > 0 and s.t_gap[first - 1] == _COMMA and s.ends_here[first - 1] >= 0
    right = last + 1 < s.tokens and s.t_gap[last] == _COMMA and s.starts_here[last + 1] >= 0
    if left:
        return 2 if right else 1
    return 1 if right else 0


# -- runs of capitals ----------------------------------------------------------------------------------


def _find_runs(s: Sheet, t: Tables) -> None:
    """For every token where its run of capitalised tokens starts and ends, and what classes of words the run holds."""
    start = 0
    goes_on = False
    for token in range(s.tokens):
        bits = t.word_bits[s.t_slot[token]] if s.t_class[token] & _UP else 0
        capital = bool(s.t_class[token] & _UP) and not bits & _SMALL_WORD  # "In London" is no longer name than London
        linked = goes_on and capital and s.t_gap[token - 1] == _SPACE
        goes_on = capital
        if linked:
            s.run_bits[start] |= bits
        else:
            start = token
            s.run_bits[start] = bits
        s.run_start[token] = start
        s.run_end[start] = token


def _place_in_run(s: Sheet, hit: int) -> None:
    """Where the hit sits in its run, and what else the run holds."""
    at = hit * _STRIDE
    first = s.h_first[hit]
    start = s.run_start[first]
    before = first - start
    after = s.run_end[start] - s.h_last[hit]
    if s.h_pair[hit] >= 0 and s.t_gap[s.h_last[hit]] == _SPACE:
        after = 0  # a postcode or the letters of a province are no part of the name
    s.codes[at + _RUN] = _run_code(before, after) if s.t_class[first] & _UP else _R_NONE
    word = 0
    if before > 0 or after > 0:
        bits = s.run_bits[start]
        if bits:
            for i in range(len(_RUN_WORDS)):
                if bits & _RUN_WORDS[i]:
                    word = i + 1
                    break
    s.codes[at + _RUN_WORD] = word


def _run_code(before: int, after: int) -> int:
    if before > 0 and after > 0:
        return _R_MIDDLE
    if after > 1:
        return _R_START3
    if after > 0:
        return _R_START2
    if before > 1:
        return _R_END3
    return _R_END2 if before > 0 else 0


# -- the rest of the page ------------------------------------------------------------------------------


def _mark_small(s: Sheet) -> None:
    """Remember the words written without a capital, by the low bits of their keys: one in a hundred is mistaken."""
    one = 1
    for i in range(len(s.seen)):
        s.seen[i] = 0
    for token in range(s.tokens):
        if not s.t_class[token] & _UP:
            at = s.t_key[token] & _SEEN
            s.seen[at >> 6] |= one << (at & 63)


def _is_seen(s: Sheet, at: int) -> int:
    return (s.seen[at >> 6] >> (at & 63)) & 1


def _count_repeats(s: Sheet, t: Tables) -> None:
    """How often each first word occurs among the hits; whether, alone, it follows a first name, title or capital.

    And whether, alone, somebody or something is called so.
    """
    mask = 3
    while mask + 1 < 2 * s.hits:
        mask = 2 * mask + 1
    for slot in range(mask + 1):
        s.found[slot] = 0
    for hit in range(s.hits):
        slot = _repeat_slot(s, s.t_key[s.h_first[hit]], mask)
        at = hit * _STRIDE
        before, run = s.codes[at + _BEFORE], s.codes[at + _RUN]
        single = s.h_first[hit] == s.h_last[hit] and not s.h_built[hit]
        personal = single and (before == _B_TITLE or before == _B_FIRST)
        tail = single and (run == _R_END2 or run == _R_END3)
        after = s.codes[at + _AFTER]
        ends = after == _A_STOP or after == _A_COMMA or after == _A_LINE or after == _A_MARK
        called = single and (is_called(s, t, hit, ends) or (before != _B_LOCATIVE and is_among_people(s, t, hit)))
        s.codes[at + _USAGE] = called or is_named_after(s, t, hit, after == _A_BE) or is_lettered(s, hit)
        if not s.codes[at + _OUTER] and is_stray(s, t, hit):
            s.codes[at + _USAGE] = 1
        s.found[slot] = (s.found[slot] | (1 if personal else 0) | (2 if tail else 0) | (4 if called else 0)) + 8
    for hit in range(s.hits):
        known = s.found[_repeat_slot(s, s.t_key[s.h_first[hit]], mask)]
        at = hit * _STRIDE
        single = s.h_first[hit] == s.h_last[hit] and not s.h_built[hit]
        times = known >> 3
        s.codes[at + _REPEATS] = 0 if times < 2 else 1 if times == 2 else 2 if times < 5 else 3
        s.codes[at + _PERSON_ON_PAGE] = known & 1 if single else 0
        s.codes[at + _TAIL_ON_PAGE] = (known >> 1) & 1 if single else 0
        if single and known & 4 and not s.codes[at + _USAGE]:
            s.codes[at + _USAGE] = 1 if t.word_bits[s.t_slot[s.h_first[hit]]] & _SOFTWARE_NAME else 2


def _repeat_slot(s: Sheet, key: int, mask: int) -> int:
    """Where a word is counted, a free place if it is new."""
    slot = key & mask
    while s.found[slot] and s.found_key[slot] != key:
        slot = (slot + 1) & mask
    s.found_key[slot] = key
    return slot
