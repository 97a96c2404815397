"""Names in a text: every run of tokens that some place is called, before anything is judged.

Runs start and end with a capital (or a letter of a script without capitals) and do not cross sentences, commas or
lines. Besides plain names there are built ones: "Neches River", "Lake Harriet", "East Texas", "Nyanza Province",
around a known name or not. Tokens and keys are those of `folding`. Compiled where possible: see `sheet`.
"""

from typing import Final

from periplus.places.build import BLOOM_BITS, BUCKET_BITS, WORD_SLOT_BITS
from periplus.places.folding import (
    APOSTROPHE,
    CASELESS,
    GAP_COMMA,
    GAP_HYPHEN,
    GAP_JOIN,
    GAP_LINE,
    GAP_OTHER,
    GAP_POSSESSIVE,
    GAP_SPACE,
    GAP_STOP,
    KEY_BASE,
    KEY_MIX,
    LOWER,
    SOLO,
    UPPER,
    WORD,
)
from periplus.places.lexicon import CLASSES
from periplus.places.sheet import MAX_CHARS, MAX_HITS, Ints, Sheet, Tables

__all__ = ["BUILT", "pieces", "read_text"]

MAX_TOKENS: Final = 6
MAX_SOLO_TOKENS: Final = 8
MAX_ABBREVIATION: Final = 3
WRAPPED: Final = 50
"""Lines of plain text that are at least this long, and at most `MAX_WRAPPED`, may break inside a name."""
MAX_WRAPPED: Final = 100

BUILT: Final = ("plain", "landform", "landform_new", "lake", "lake_new", "direction", "division", "division_new")
"""How a hit came about; those that end in _new hold no known name."""

_NO_NAME_CLASSES: Final = (
    "article", "locative", "preposition", "conjunction", "be_have", "month_day", "title", "saying", "organisation",
)  # fmt: skip

# The names below have C types in scan.pxd.
_WORD, _UPPER, _LOWER, _SOLO, _CASELESS, _APOSTROPHE = WORD, UPPER, LOWER, SOLO, CASELESS, APOSTROPHE
_JOIN, _SPACE, _HYPHEN, _STOP, _COMMA, _LINE = GAP_JOIN, GAP_SPACE, GAP_HYPHEN, GAP_STOP, GAP_COMMA, GAP_LINE
_OTHER, _POSSESSIVE = GAP_OTHER, GAP_POSSESSIVE
_BASE, _MIX, _MASK = KEY_BASE, KEY_MIX, (1 << 64) - 1
_BLOOM, _BUCKET_SHIFT, _SLOTS = (1 << BLOOM_BITS) - 1, 64 - BUCKET_BITS, (1 << WORD_SLOT_BITS) - 1
_LANDFORM, _DIVISION = 1 << CLASSES.index("landform"), 1 << CLASSES.index("division_word")
_LAKE, _DIRECTION = 1 << CLASSES.index("landform_first"), 1 << CLASSES.index("direction")
_NO_NAME = sum(1 << CLASSES.index(n) for n in _NO_NAME_CLASSES)


def pieces(text: str) -> list[tuple[int, str]]:
    """The text in pieces short enough for a sheet, each with its offset, cut at line ends or spaces."""
    if len(text) <= MAX_CHARS - 8:
        return [(0, text)]
    cut: list[tuple[int, str]] = []
    at = 0
    while at < len(text):
        end = min(len(text), at + MAX_CHARS - 8)
        if end < len(text):
            for mark in ("\n", " "):
                found = text.rfind(mark, at + MAX_CHARS // 2, end)
                if found > 0:
                    end = found + 1
                    break
        cut.append((at, text[at:end]))
        at = end
    return cut


def read_text(s: Sheet, t: Tables, codes: Ints) -> int:
    """Fill tokens and hits from the text's code points (see `folding.codes_of`); the number of hits."""
    s.text = codes
    _tokenise(s, t, len(codes))
    s.hits = 0
    for token in range(s.tokens):
        s.starts_here[token] = s.ends_here[token] = -1
    for token in range(s.tokens):
        if s.t_class[token] & (_UPPER | _CASELESS):
            _plain_from(s, t, token)
    built = _built(s, t)
    if built:
        _merge(s, built)
    _find_words(s, t)
    return s.hits


# -- tokens --------------------------------------------------------------------------------------------


def _class_at(s: Sheet, t: Tables, at: int, size: int) -> int:
    """The class of a character; nothing before and behind the text."""
    return t.char_class[s.text[at]] if 0 <= at < size else 0


def _tokenise(s: Sheet, t: Tables, size: int) -> None:
    """Tokens with their sums, from which the key of any run of tokens follows."""
    count = 0
    at = 0
    while at < size:
        if not t.char_class[s.text[at]] & _WORD:
            at += 1
            continue
        end = _token_end(s, t, count, at, size)
        _keep_token(s, t, count, at, end, size)
        if count:
            s.t_gap[count - 1] = _gap(s, t, s.t_end[count - 1], at)
        count += 1
        at = end
    if count:
        s.t_gap[count - 1] = _LINE
    s.tokens = count


def _token_end(s: Sheet, t: Tables, token: int, start: int, size: int) -> int:
    """Where the token that starts here ends, its sum and power kept on the way.

    Apostrophes stay inside words, full stops inside initials.
    """
    total = t.char_fold[s.text[start]]
    power = _BASE if total else 1
    at = start + 1
    while at < size and not t.char_class[s.text[start]] & _SOLO:
        code = s.text[at]
        here = t.char_class[code]
        if here & _WORD:
            if here & _SOLO:
                break
            value = t.char_fold[code]
            if value:
                total = (total + value * power) & _MASK
                power = (power * _BASE) & _MASK
        elif here & _APOSTROPHE or code == 46:
            after = _class_at(s, t, at + 1, size)
            if not after & _WORD or after & _SOLO:
                break
            if code == 46:
                before = t.char_class[s.text[at - 1]]
                if not (before & _UPPER and after & _UPPER) or _class_at(s, t, at - 2, size) & _WORD:
                    break
            elif (s.text[at + 1] | 32) == 115 and not _class_at(s, t, at + 2, size) & _WORD:
                break
        else:
            break
        at += 1
    s.t_sum[token], s.t_power[token] = total, power
    return at


def _keep_token(s: Sheet, t: Tables, token: int, start: int, end: int, size: int) -> None:
    head = t.char_class[s.text[start]]
    second = _class_at(s, t, start + 1, size)
    if second & _APOSTROPHE and _class_at(s, t, start + 2, size) & _UPPER:
        head |= _UPPER  # "d'Ivoire" has its capital inside
    s.t_start[token], s.t_end[token] = start, end
    s.t_class[token] = head
    s.t_key[token] = mixed(s.t_sum[token])
    if not head & (_UPPER | _CASELESS):
        return  # the rest is asked of those only that names begin or end with
    following = s.text[end] if end < size else 0
    s.t_caps[token] = head & _UPPER and not (second | t.char_class[s.text[end - 1]]) & _LOWER
    s.t_stopped[token] = following == 46
    s.t_money[token] = following == 36 or (start > 0 and s.text[start - 1] == 36)
    s.t_slot[token] = _word_slot(t, s.t_key[token])


def _gap(s: Sheet, t: Tables, low: int, high: int) -> int:
    """What lies between two tokens: a line break wins, then one mark among spaces, else something other."""
    if low == high:
        return _JOIN
    head = t.char_gap[s.text[low]]
    if head == _LINE and s.text[low] == 10 and high == low + 1 and _is_wrapped(s, low):
        return _SPACE
    if high == low + 1:
        return head
    blanks = 0
    for at in range(low, high):
        mark = t.char_gap[s.text[at]]
        if mark == _LINE:
            return _LINE
        if mark == _SPACE:
            blanks += 1
    if blanks == high - low:
        return _SPACE
    if blanks == high - low - 1 and (head == _STOP or head == _COMMA):
        return head
    return _OTHER


def _is_wrapped(s: Sheet, at: int) -> bool:
    """Whether the line that ends here was broken for its length: paragraphs of pages are lines of their own."""
    if at < WRAPPED:
        return False
    for back in range(at - WRAPPED, at):
        if s.text[back] == 10:
            return False
    for back in range(at - WRAPPED, max(-1, at - MAX_WRAPPED - 1), -1):
        if back < 0 or s.text[back] == 10:
            return True
    return at <= MAX_WRAPPED


def mixed(total: int) -> int:
    """The key that a sum stands for."""
    key = total ^ (total >> 31)
    key = (key * _MIX) & _MASK
    return key ^ (key >> 29)


def _find_words(s: Sheet, t: Tables) -> None:
    """The slots of the words in and around hits; other words without a capital have none, as nobody asks for them."""
    for hit in range(s.hits):
        first, last = s.h_first[hit], s.h_last[hit]
        for token in range(first - 2 if first > 1 else 0, first + 1):
            s.t_slot[token] = _word_slot(t, s.t_key[token])
        if last + 1 < s.tokens:
            s.t_slot[last + 1] = _word_slot(t, s.t_key[last + 1])


def _word_slot(t: Tables, key: int) -> int:
    one = key & _SLOTS
    if t.word_key[one] == key:
        return one
    two = (key >> 32) & _SLOTS
    return two if t.word_key[two] == key else t.empty_slot


# -- plain names ---------------------------------------------------------------------------------------


def _plain_from(s: Sheet, t: Tables, first: int) -> None:
    """Every name that starts with this token, shortest first."""
    total = s.t_sum[first]
    power = s.t_power[first]
    limit = MAX_SOLO_TOKENS if s.t_class[first] & _SOLO else MAX_TOKENS
    last = first
    while True:
        if s.t_class[last] & (_UPPER | _CASELESS):
            name = _name_index(t, mixed(total))
            if name >= 0 and _well_written(s, t, name, first, last):
                _keep_hit(s, first, last, name)
        gap = s.t_gap[last]
        if gap == _LINE or gap == _COMMA or gap == _OTHER:
            break
        if gap == _STOP and s.t_end[last] - s.t_start[last] > MAX_ABBREVIATION:
            break
        last += 1
        if last - first >= limit or last >= s.tokens:
            break
        if not s.t_class[last] & _SOLO:
            total = (total + 32 * power) & _MASK
            power = (power * _BASE) & _MASK
        total = (total + s.t_sum[last] * power) & _MASK
        power = (power * s.t_power[last]) & _MASK


def _name_index(t: Tables, key: int) -> int:
    """Position in the table of names, -1 where no place is called that."""
    bit = key & _BLOOM
    if not (t.name_bloom[bit >> 3] >> (bit & 7)) & 1:
        return -1
    bucket = key >> _BUCKET_SHIFT
    low = t.name_bucket[bucket]
    high = t.name_bucket[bucket + 1]
    while low < high:
        if t.name_key[low] == key:
            return low
        low += 1
    return -1


def _well_written(s: Sheet, t: Tables, name: int, first: int, last: int) -> bool:
    """Abbreviations must look like ones: "PA" in capitals, "Pa." with its stop; money is no place."""
    if s.t_money[last]:
        return False
    form = t.name_facts[4 * name + 3]
    if form == 0 or (form & 1 and s.t_caps[first] and s.t_caps[last]):
        return True
    return bool(form & 2 and s.t_stopped[last] and not s.t_caps[last])


def _keep_hit(s: Sheet, first: int, last: int, name: int) -> None:
    hit = s.hits
    if hit >= MAX_HITS:
        return
    s.h_first[hit], s.h_last[hit], s.h_name[hit], s.h_built[hit] = first, last, name, 0
    s.starts_here[first] = hit  # the longest, as they come by length
    if s.ends_here[last] < 0:
        s.ends_here[last] = hit  # the longest, as they come by first token
    s.hits = hit + 1


# -- built names ---------------------------------------------------------------------------------------


def _built(s: Sheet, t: Tables) -> list[tuple[int, int, int, int]]:
    """Names made of a generic word and something with a capital, where no plain name covers them."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for token in range(s.tokens):
        if not s.t_class[token] & _UPPER:
            continue
        bits = t.word_bits[s.t_slot[token]]
        if bits & (_LANDFORM | _DIVISION):
            _before_generic(s, t, token, 1 if bits & _LANDFORM else 6, found)
        if bits & (_LAKE | _DIRECTION):
            _after_generic(s, t, token, bits, found)
    return sorted([(head, tail, name, how) for (head, tail), (name, how) in found.items()])


def _spaced(s: Sheet, token: int) -> bool:
    """Whether this token and the next have capitals and only spaces between them."""
    if token < 0 or token + 1 >= s.tokens or s.t_gap[token] != _SPACE:
        return False
    return bool(s.t_class[token] & _UPPER and s.t_class[token + 1] & _UPPER)


def _may_name(s: Sheet, t: Tables, token: int) -> bool:
    return bool(s.t_class[token] & _UPPER) and not t.word_bits[s.t_slot[token]] & _NO_NAME


def _add(s: Sheet, found: dict[tuple[int, int], tuple[int, int]], head: int, tail: int, name: int, how: int) -> None:
    longest = s.starts_here[head]
    if longest < 0 or s.h_last[longest] < tail:
        found.setdefault((head, tail), (name, how))


def _before_generic(s: Sheet, t: Tables, token: int, how: int, found: dict[tuple[int, int], tuple[int, int]]) -> None:
    """Generic word last: "Neches River", "Nyanza Province"."""
    if not _spaced(s, token - 1):
        return
    base = s.ends_here[token - 1]
    if base >= 0:
        _add(s, found, s.h_first[base], token, s.h_name[base], how)
    elif _may_name(s, t, token - 1) and not t.word_bits[s.t_slot[token - 1]] & _DIRECTION:
        wider = token >= 2 and _spaced(s, token - 2) and _may_name(s, t, token - 2)
        _add(s, found, token - 2 if wider else token - 1, token, -1, how + 1)


def _after_generic(s: Sheet, t: Tables, token: int, bits: int, found: dict[tuple[int, int], tuple[int, int]]) -> None:
    """Generic word first: "Lake Harriet", "East Texas"; a direction needs a known name after it."""
    if token + 1 >= s.tokens or not s.t_class[token + 1] & _UPPER:
        return
    gap = s.t_gap[token]
    base = s.starts_here[token + 1]
    if bits & _LAKE and (gap == _SPACE or gap == _STOP):
        if base >= 0:
            _add(s, found, token, s.h_last[base], s.h_name[base], 3)
        elif _may_name(s, t, token + 1):
            _add(s, found, token, token + 1, -1, 4)
    if bits & _DIRECTION and base >= 0 and (gap == _SPACE or gap == _HYPHEN):
        _add(s, found, token, s.h_last[base], s.h_name[base], 5)


def _merge(s: Sheet, built: list[tuple[int, int, int, int]]) -> None:
    """Put the built names among the plain ones, by first token and then by length, from the back."""
    built = built[: MAX_HITS - s.hits]
    source = s.hits - 1
    goal = s.hits + len(built) - 1
    s.hits = goal + 1
    for head, tail, name, how in reversed(built):
        while source >= 0 and (s.h_first[source] > head or (s.h_first[source] == head and s.h_last[source] > tail)):
            s.h_first[goal], s.h_last[goal] = s.h_first[source], s.h_last[source]
            s.h_name[goal], s.h_built[goal] = s.h_name[source], s.h_built[source]
            source -= 1
            goal -= 1
        s.h_first[goal], s.h_last[goal], s.h_name[goal], s.h_built[goal] = head, tail, name, how
        goal -= 1
