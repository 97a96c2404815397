"""Names in the forms that languages give them: with articles and prepositions written to them, endings, declined.

"l'Allemagne", "بالقاهرة", "Ankara'da", "서울에서", "в Москве", "w Krakowie". What may stand before and behind names is
in `endings`. Compiled where possible: see `sheet`.
"""

from periplus.places.build import BLOOM_BITS, BUCKET_BITS
from periplus.places.endings import (
    ARABIC,
    BENGALI,
    CASES,
    GOVERNORS,
    HEBREW,
    LONGEST_ENDING,
    NOMINATIVES,
    PARTICLES,
    SLAVIC,
    SLAVIC_CASES,
    VOWELS,
)
from periplus.places.folding import GAP_COMMA, GAP_SPACE, KEY_BASE, KEY_MIX, LOWER, UPPER, WORD
from periplus.places.sheet import Sheet, Tables

__all__ = ["cut", "is_elided", "is_governed", "is_large", "mixed", "name_index", "prefix_end", "without_ending"]

# The names below have C types in forms.pxd.
_WORD, _UPPER, _LOWER, _SPACE, _COMMA = WORD, UPPER, LOWER, GAP_SPACE, GAP_COMMA
_BASE, _MIX, _MASK = KEY_BASE, KEY_MIX, (1 << 64) - 1
_BLOOM, _BUCKET_SHIFT = (1 << BLOOM_BITS) - 1, 64 - BUCKET_BITS
_ENDINGS, _CASES, _NOMINATIVES, _VOWELS = PARTICLES, CASES, NOMINATIVES, VOWELS
_SLAVIC_CASES, _SLAVIC, _GOVERNORS = SLAVIC_CASES, SLAVIC, GOVERNORS
_LONGEST_PARTICLE, _LONGEST_SUFFIX, _SHORTEST_STEM = 4, 5, 4
_HANGUL_FIRST, _HANGUL_LAST, _CAPITAL_L = 0xAC00, 0xD7A3, ord("L")
_GREEK, _CYRILLIC_FIRST, _CYRILLIC_LAST, _SHORTEST_ROOT = 0x0370, 0x0430, 0x045F, 3
_VE, _CLOSED, _OPENED = ord("в"), ord("і"), frozenset(map(ord, "оєе"))
_HEBREW_FIRST, _HEBREW_LAST, _ARABIC_FIRST, _ARABIC_LAST = 0x05D0, 0x05EA, 0x0621, 0x064A
_HEBREW, _ARABIC = HEBREW, ARABIC
_TEN_THOUSAND, _HUNDRED_THOUSAND = 4, 6  # people: places in `context.POPULATION`
_BENGALI_FIRST, _BENGALI_LAST, _BENGALI = 0x0980, 0x09FF, BENGALI
_LONGEST_ENDING, _LETTER_FIRST, _LETTER_LAST = LONGEST_ENDING, ord("a"), ord("z")


def mixed(total: int) -> int:
    """The key that a sum stands for."""
    key = total ^ (total >> 31)
    key = (key * _MIX) & _MASK
    return key ^ (key >> 29)


def name_index(t: Tables, key: int) -> int:
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


def cut(s: Sheet, t: Tables, token: int, start: int, end: int) -> None:
    """Let a token be what stands between two places of the text."""
    total, power = 0, 1
    for at in range(start, end):
        value = t.char_fold[s.text[at]] if t.char_class[s.text[at]] & _WORD else 0
        if value:
            total = (total + value * power) & _MASK
            power = (power * _BASE) & _MASK
    s.t_start[token], s.t_end[token], s.t_sum[token], s.t_power[token] = start, end, total, power
    s.t_key[token] = mixed(total)


def is_elided(s: Sheet, t: Tables, token: int) -> bool:
    """Whether a token is an article or preposition, an apostrophe and a capital: "d'Italie", "dell'Umbria"."""
    start, mark = s.t_start[token], s.t_mark[token]
    small = t.char_class[s.text[start]] & _LOWER or (s.text[start] == _CAPITAL_L and mark == start + 1)
    return bool(small and t.char_class[s.text[mark + 1]] & _UPPER)


def without_ending(s: Sheet, t: Tables, token: int, before: int, scale: int) -> int:
    """The name that a token ends if it loses its ending, which it then does: "Ankara'da"; -1 where there is none."""
    end = s.t_end[token]
    if _CYRILLIC_FIRST <= s.text[end - 1] <= _CYRILLIC_LAST:
        return _nominative(s, t, token, before, scale)
    if s.text[s.t_start[token]] < _GREEK and not s.t_mark[token]:
        if s.endings is not None:
            return _without_case(s, t, token, before, scale)
        return _slavic_nominative(s, t, token) if scale == 1 else -1
    cut_at = _ending(s, t, token)
    if cut_at == 0:
        return -1
    cut(s, t, token, s.t_start[token], cut_at)
    name = name_index(t, mixed((before + s.t_sum[token] * scale) & _MASK))
    if name >= 0 and _BENGALI_FIRST <= s.text[s.t_start[token]] <= _BENGALI_LAST:
        name = name if is_large(t, name, _HUNDRED_THOUSAND) else -1
    if name < 0:
        cut(s, t, token, s.t_start[token], end)
    return name


def _without_case(s: Sheet, t: Tables, token: int, before: int, scale: int) -> int:
    """The name that a token ends without an ending of the text's language: "Helsingissä", "Budapesten", "Berlins"."""
    start, end = s.t_start[token], s.t_end[token]
    name, code = -1, 0
    endings = s.endings
    if endings is None or (not s.locative and (not s.t_class[token] & _UPPER or t.word_bits[s.t_slot[token]])):
        return -1  # "Jacobs" is a surname
    for length in range(1, _LONGEST_ENDING + 1):
        stem = end - length
        letter = t.char_fold[s.text[stem]]
        if stem - start < 2 or not _LETTER_FIRST <= letter <= _LETTER_LAST:
            break
        code |= (letter - _LETTER_FIRST + 1) << 5 * (length - 1)
        instead = endings.get(code)
        if instead is None:
            continue
        cut(s, t, token, start, stem)
        for letters in instead:
            if stem - start + len(letters) < _SHORTEST_STEM:
                continue
            total, power = (before + s.t_sum[token] * scale) & _MASK, (scale * s.t_power[token]) & _MASK
            for one in letters:
                total = (total + one * power) & _MASK
                power = (power * _BASE) & _MASK
            name = name_index(t, mixed(total))
            if name >= 0 and is_large(t, name, s.ending_people):
                break
            name = -1
        if name >= 0:
            break
    cut(s, t, token, start, end)
    return name


def _ending(s: Sheet, t: Tables, token: int) -> int:
    """Where a Turkish suffix behind its apostrophe, a Korean particle or Bengali ending begins; 0 if none does."""
    start, end, mark = s.t_start[token], s.t_end[token], s.t_mark[token]
    if mark:
        size = end - mark - 1
        ends = t.char_class[s.text[mark + 1]] & _LOWER and size <= _LONGEST_SUFFIX and mark - start >= _SHORTEST_STEM
        return mark if ends and (size > 1 or s.text[mark + 1] in _VOWELS) else 0
    endings = _ENDINGS
    if _BENGALI_FIRST <= s.text[start] <= _BENGALI_LAST:
        endings = _BENGALI
    elif not _HANGUL_FIRST <= s.text[start] <= _HANGUL_LAST:
        return 0
    for length in range(_LONGEST_PARTICLE, 0, -1):
        if end - length - start >= 2:
            code = 0
            for at in range(end - length, end):
                code = code << 16 | s.text[at]
            if code in endings:
                return end - length
    return 0


def _nominative(s: Sheet, t: Tables, token: int, before: int, scale: int) -> int:
    """The name that a declined Cyrillic token ends, -1 where there is none: "Москве", "Иркутском", "Львові"."""
    start, end = s.t_start[token], s.t_end[token]
    name = -1
    for length in range(1, 3):
        stem = end - length
        if stem - start < _SHORTEST_ROOT or (s.text[stem], s.text[end - 1] if length == 2 else 0) not in _CASES:
            continue
        cut(s, t, token, start, stem)
        total, power = (before + s.t_sum[token] * scale) & _MASK, (scale * s.t_power[token]) & _MASK
        name = _name_with(t, total, power, _NOMINATIVES)
        if name < 0 and s.text[stem - 1] == _VE and s.text[stem - 2] in _OPENED:
            cut(s, t, token, start, stem - 2)
            total, power = (before + s.t_sum[token] * scale) & _MASK, (scale * s.t_power[token]) & _MASK
            closed = t.char_fold[_CLOSED] + _BASE * t.char_fold[_VE]
            name = name_index(t, mixed((total + closed * power) & _MASK))
        if name >= 0:
            break
    cut(s, t, token, start, end)
    return name


def _name_with(t: Tables, total: int, power: int, letters: tuple[int, ...]) -> int:
    """The name of that sum, or else with one of the letters behind it; -1 where there is none."""
    name = name_index(t, mixed(total))
    for letter in letters:
        if name < 0:
            name = name_index(t, mixed((total + t.char_fold[letter] * power) & _MASK))
    return name


def is_large(t: Tables, name: int, people: int) -> bool:
    """Whether the likeliest place of a name has that many people, as a place in `context.POPULATION`."""
    return (t.name_facts[4 * name + 2] >> 8) & 255 >= people


def is_governed(s: Sheet, token: int) -> bool:
    """Whether a preposition of a Slavic language in Latin letters stands before a token or before the list it is in."""
    for _ in range(8):
        prev = token - 1
        if prev < 0:
            return False
        size = s.t_end[prev] - s.t_start[prev]
        if s.t_gap[prev] == _SPACE and size <= 2:
            head = s.text[s.t_start[prev]] | 32
            code = head if size == 1 else head << 16 | s.text[s.t_end[prev] - 1]
            if code in _GOVERNORS:
                return True
            if code != 105 or prev < 1:  # i: and
                return False
            prev -= 1
        elif s.t_gap[prev] != _COMMA:
            return False
        if s.ends_here[prev] < 0:
            return False
        token = s.h_first[s.ends_here[prev]]
    return False


def _slavic_nominative(s: Sheet, t: Tables, token: int) -> int:
    """The name of a town or country that a declined Slavic word in Latin letters stands for: "Krakowie", "Prahy"."""
    start, end = s.t_start[token], s.t_end[token]
    people = _TEN_THOUSAND if is_governed(s, token) else _HUNDRED_THOUSAND
    name = -1
    code = 0
    for length in range(1, 4):
        stem = end - length
        if stem - start < _SHORTEST_ROOT:
            break
        code |= t.char_fold[s.text[stem]] << (16 * (length - 1))
        if code not in _SLAVIC_CASES:
            continue
        cut(s, t, token, start, stem)
        name = _name_with(t, s.t_sum[token], s.t_power[token], _SLAVIC)
        if name >= 0 and is_large(t, name, people):
            break
        name = -1
    cut(s, t, token, start, end)
    return name


def prefix_end(s: Sheet, token: int, length: int) -> int:
    """Where a Hebrew or Arabic word begins behind its one or two first letters if those may be prepositions; or 0."""
    start = s.t_start[token]
    if s.t_end[token] - start < length + 2:
        return 0
    head, second = s.text[start], s.text[start + 1]
    if _HEBREW_FIRST <= head <= _HEBREW_LAST:
        letters = _HEBREW
    elif _ARABIC_FIRST <= head <= _ARABIC_LAST:
        letters = _ARABIC
    else:
        return 0
    code = head if length == 1 else head << 16 | second
    return start + length if code in letters else 0
