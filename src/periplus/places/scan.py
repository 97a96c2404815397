"""Names in a text: every run of tokens that some place is called, before anything is judged.

Runs start and end with a capital (or a letter of a script without capitals) and do not cross sentences, commas or
lines. A name counts without what is written to it ("l'Allemagne", "Ankara'da", "서울에서") and declined ("в Москве").
Besides plain names there are those of `built`. Tokens and keys are those of `folding`. Compiled where possible: see
`sheet`.
"""

from typing import Final

from periplus.places.build import WORD_SLOT_BITS
from periplus.places.built import add_built
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
    LOWER,
    SOLO,
    UPPER,
    WORD,
)
from periplus.places.forms import cut, is_elided, is_governed, is_large, mixed, name_index, prefix_end, without_ending
from periplus.places.sheet import MAX_CHARS, MAX_HITS, Ints, Sheet, Tables

__all__ = ["pieces", "read_text", "word_slot"]

MAX_TOKENS: Final = 6
MAX_SOLO_TOKENS: Final = 8
MAX_MARKED_TOKENS: Final = 20
"""Thai, Lao, Burmese and Khmer write several characters for what one Chinese one says."""
MAX_ABBREVIATION: Final = 3
WRAPPED: Final = 50
"""Lines of plain text that are at least this long, and at most `MAX_WRAPPED`, may break inside a name."""
MAX_WRAPPED: Final = 100

# The names below have C types in scan.pxd.
_WORD, _UPPER, _LOWER, _SOLO, _CASELESS, _APOSTROPHE = WORD, UPPER, LOWER, SOLO, CASELESS, APOSTROPHE
_JOIN, _SPACE, _HYPHEN, _STOP, _COMMA, _LINE = GAP_JOIN, GAP_SPACE, GAP_HYPHEN, GAP_STOP, GAP_COMMA, GAP_LINE
_OTHER, _POSSESSIVE = GAP_OTHER, GAP_POSSESSIVE
_BASE, _MASK, _SLOTS = KEY_BASE, (1 << 64) - 1, (1 << WORD_SLOT_BITS) - 1
_HAN_FIRST, _GREEK, _HEBREW_FIRST, _ARABIC_LAST = 0x3000, 0x0370, 0x05D0, 0x064A
_KATAKANA_FIRST, _KATAKANA_LAST, _BRACKET = 0x30A1, 0x30FE, ord("(")
_KNOWN_SIZE, _LARGE_SIZE = 6, 7  # 100,000 and 300,000 people: places in `context.POPULATION`


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
    add_built(s, t)
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
    mark = 0
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
        elif (here & _APOSTROPHE or code == 46) and _joins(s, t, at, size):
            mark = mark or at
        else:
            break
        at += 1
    s.t_sum[token], s.t_power[token], s.t_mark[token] = total, power, mark
    return at


def _joins(s: Sheet, t: Tables, at: int, size: int) -> bool:
    """Whether an apostrophe or a full stop stands inside a word: not before a final s, and between initials only."""
    after = _class_at(s, t, at + 1, size)
    if not after & _WORD or after & _SOLO:
        return False
    if s.text[at] == 46:
        before = t.char_class[s.text[at - 1]]
        return bool(before & _UPPER and after & _UPPER and not _class_at(s, t, at - 2, size) & _WORD)
    return (s.text[at + 1] | 32) != 115 or bool(_class_at(s, t, at + 2, size) & _WORD)


def _keep_token(s: Sheet, t: Tables, token: int, start: int, end: int, size: int) -> None:
    head = t.char_class[s.text[start]]
    second = _class_at(s, t, start + 1, size)
    mark = s.t_mark[token]
    if mark and _class_at(s, t, mark + 1, size) & _UPPER:
        head |= _UPPER  # "d'Ivoire" has its capital inside
    s.t_start[token], s.t_end[token] = start, end
    s.t_class[token] = head
    s.t_key[token] = mixed(s.t_sum[token])
    s.t_caps[token] = s.t_stopped[token] = s.t_money[token] = s.t_cased[token] = 0  # not what another text had there
    s.t_slot[token] = t.empty_slot  # a word that is not looked up says nothing
    if not head & (_UPPER | _CASELESS):
        return  # the rest is asked of those only that names begin with
    following = s.text[end] if end < size else 0
    s.t_caps[token] = head & _UPPER and not (second | t.char_class[s.text[end - 1]]) & _LOWER
    s.t_stopped[token] = following == 46
    s.t_money[token] = following == 36 or (start > 0 and s.text[start - 1] == 36)
    s.t_slot[token] = word_slot(t, s.t_key[token])


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


def _find_words(s: Sheet, t: Tables) -> None:
    """The slots of the words in and around hits; other words without a capital have an empty one."""
    for hit in range(s.hits):
        first, last = s.h_first[hit], s.h_last[hit]
        for token in range(first - 3 if first > 2 else 0, first + 1):
            s.t_slot[token] = word_slot(t, s.t_key[token])
        if last + 1 < s.tokens:
            s.t_slot[last + 1] = word_slot(t, s.t_key[last + 1])


def word_slot(t: Tables, key: int) -> int:
    """Where the classes of the word of that key are, an empty place if it has none."""
    one = key & _SLOTS
    if t.word_key[one] == key:
        return one
    two = (key >> 32) & _SLOTS
    return two if t.word_key[two] == key else t.empty_slot


# -- plain names ---------------------------------------------------------------------------------------


def _plain_from(s: Sheet, t: Tables, first: int) -> None:
    """Every name that starts with this token or, behind what is written to it, in it: "l'Allemagne", "بالقاهرة"."""
    hits = s.hits
    _names_from(s, t, first)
    if s.hits > hits:
        return
    if s.t_mark[first] and is_elided(s, t, first):
        _names_behind(s, t, first, s.t_mark[first] + 1)
    elif _HEBREW_FIRST <= s.text[s.t_start[first]] <= _ARABIC_LAST:
        for length in range(1, 3):
            start = prefix_end(s, first, length)
            if start and _names_behind(s, t, first, start):
                break


def _names_behind(s: Sheet, t: Tables, first: int, start: int) -> bool:
    """Take the names that start inside a token, if any do; behind single letters only those of well-known places."""
    hits, whole = s.hits, s.t_start[first]
    cut(s, t, first, start, s.t_end[first])
    _names_from(s, t, first)
    if s.hits > hits and not s.t_mark[first]:
        longest = s.hits - 1
        brief = s.t_end[s.h_last[longest]] - start <= 3
        if not is_large(t, s.h_name[longest], _LARGE_SIZE if brief else _KNOWN_SIZE):
            _forget_from(s, hits)
    if s.hits > hits:
        return True
    cut(s, t, first, whole, s.t_end[first])
    return False


def _forget_from(s: Sheet, hits: int) -> None:
    """Take back the last hits."""
    for hit in range(hits, s.hits):
        s.starts_here[s.h_first[hit]] = -1
        if s.ends_here[s.h_last[hit]] == hit:
            s.ends_here[s.h_last[hit]] = -1
    s.hits = hits


def _names_from(s: Sheet, t: Tables, first: int) -> None:
    """Every name that starts with this token, shortest first."""
    total, power = s.t_sum[first], s.t_power[first]
    before, scale = 0, 1  # of the tokens before the last
    limit = MAX_TOKENS
    if s.t_class[first] & _SOLO:
        limit = MAX_SOLO_TOKENS if s.text[s.t_start[first]] >= _HAN_FIRST else MAX_MARKED_TOKENS
    last = first
    while True:
        if s.t_class[last] & (_UPPER | _CASELESS) or (last > first + 1 and s.t_gap[last - 1] == _POSSESSIVE):
            name = name_index(t, mixed(total))
            cased = name < 0 and _may_have_ending(s, first, last)
            if cased:
                name = without_ending(s, t, last, before, scale)
                total, power = (before + s.t_sum[last] * scale) & _MASK, (scale * s.t_power[last]) & _MASK
            if name >= 0 and _well_written(s, t, name, first, last) and not _is_torn(s, first, last):
                _keep_hit(s, first, last, name, cased)
        gap = s.t_gap[last]
        if gap == _LINE or gap == _COMMA or (gap == _OTHER and not _is_bracketed(s, last)):
            break
        if gap == _STOP and s.t_end[last] - s.t_start[last] > MAX_ABBREVIATION:
            break
        last += 1
        if last - first >= limit or last >= s.tokens:
            break
        if not s.t_class[last] & _SOLO:
            total = (total + 32 * power) & _MASK
            power = (power * _BASE) & _MASK
        before, scale = total, power
        total = (total + s.t_sum[last] * power) & _MASK
        power = (power * s.t_power[last]) & _MASK


def _may_have_ending(s: Sheet, first: int, last: int) -> bool:
    """Whether the last token of a run may be a name with something behind it."""
    if s.text[s.t_start[last]] >= _GREEK or s.t_mark[last]:
        return True
    if s.endings is not None:
        return s.locative or s.text[s.t_end[last] - 1] == 115  # German has many words with capitals, and one ending: s
    if first != last:
        return False
    inside = first > 0 and (s.t_gap[first - 1] == _SPACE or s.t_gap[first - 1] == _COMMA)
    return (s.declines and inside) or is_governed(s, first)


def _well_written(s: Sheet, t: Tables, name: int, first: int, last: int) -> bool:
    """Abbreviations must look like ones: "PA" in capitals, "Pa." with its stop; money is no place."""
    if s.t_money[last]:
        return False
    form = t.name_facts[4 * name + 3]
    if form == 0 or (form & 1 and s.t_caps[first] and s.t_caps[last]):
        return True
    return bool(form & 2 and s.t_stopped[last] and not s.t_caps[last])


def _is_torn(s: Sheet, first: int, last: int) -> bool:
    """Whether a name in katakana goes on before or behind: Gulu is not in グループ, which is a group."""
    if not _KATAKANA_FIRST <= s.text[s.t_start[last]] <= _KATAKANA_LAST:
        return False
    if last + 1 < s.tokens and s.t_gap[last] == _JOIN and _is_katakana(s, last + 1):
        return True
    return first > 0 and s.t_gap[first - 1] == _JOIN and _is_katakana(s, first) and _is_katakana(s, first - 1)


def _is_katakana(s: Sheet, token: int) -> bool:
    return _KATAKANA_FIRST <= s.text[s.t_start[token]] <= _KATAKANA_LAST


def _is_bracketed(s: Sheet, last: int) -> bool:
    """Whether a bracket opens behind a token: "Frankfurt (Oder)" is a name."""
    return last + 1 < s.tokens and s.t_start[last + 1] == s.t_end[last] + 2 and s.text[s.t_end[last] + 1] == _BRACKET


def _keep_hit(s: Sheet, first: int, last: int, name: int, cased: bool) -> None:
    hit = s.hits
    if hit >= MAX_HITS:
        return
    s.h_first[hit], s.h_last[hit], s.h_name[hit], s.h_built[hit] = first, last, name, 0
    s.t_cased[last] = cased and s.locative
    s.starts_here[first] = hit  # the longest, as they come by length
    if s.ends_here[last] < 0:
        s.ends_here[last] = hit  # the longest, as they come by first token
    s.hits = hit + 1
