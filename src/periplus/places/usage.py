"""Names that stand for something else than a place: somebody, a language, a street, a car.

Compiled where possible: see `sheet`.
"""

from periplus.places.build import KINDS
from periplus.places.folding import GAP_COMMA, GAP_HYPHEN, GAP_LINE, GAP_SPACE, GAP_STOP, KEY_BASE, UPPER
from periplus.places.forms import mixed, name_index
from periplus.places.lexicon import CLASSES
from periplus.places.sheet import Sheet, Tables

__all__ = ["is_among_people", "is_called", "is_named_after", "is_stray"]

# The names below have C types in usage.pxd.
_UP, _SPACE, _STOP, _BASE, _MASK = UPPER, GAP_SPACE, GAP_STOP, KEY_BASE, (1 << 64) - 1
_LINE, _HYPHEN, _COMMA, _LETTERS = GAP_LINE, GAP_HYPHEN, GAP_COMMA, 2
_FIRST_NAME, _ACTING, _SPEAKING, _SOFTWARE, _SOFTWARE_NAME = (
    1 << CLASSES.index(c) for c in ("first_name", "acting", "speaking", "software", "software_name")
)
_JOINING, _GOING, _STREET, _STREET_FIRST, _SQUARE_FIRST = (
    1 << CLASSES.index(c) for c in ("joining", "going", "street", "street_first", "square_first")
)
_SURNAME, _PUBLIC = 1 << CLASSES.index("surname"), 1 << CLASSES.index("public_figure")
_LARGE = 7  # 300,000 people: a place in `context.POPULATION`
_D, _E, _H, _L, _T, _U = (ord(letter) for letter in "dehltu")
_ABBREVIATED, _MOST_LINKS = 4, 2
_CITY = 3  # the place of "city" in `context.KIND`
_ADMIN1 = KINDS.index("admin1")


def is_called(s: Sheet, t: Tables, hit: int, ends: bool) -> bool:
    """Whether a word names somebody or something here: "Charlotte nodded", "said Charlotte.", "Java code".

    `ends`: nothing follows it in its sentence or part of a sentence.
    """
    token = s.h_first[hit]
    own = t.word_bits[s.t_slot[token]]
    if not own & (_FIRST_NAME | _SOFTWARE_NAME):
        return bool(own & _SURNAME) and (_are_going(s, t, token) or _are_going(s, t, token - 2))
    follows = token + 1 < s.tokens and s.t_gap[token] == _SPACE
    after = t.word_bits[s.t_slot[token + 1]] if follows else 0
    if own & _SOFTWARE_NAME:
        return after & _SOFTWARE != 0
    if after & _ACTING and not s.t_class[token + 1] & _UP:
        return True
    if _are_going(s, t, token) or _are_going(s, t, token - 2):
        return True
    spoken = token > 0 and s.t_gap[token - 1] == _SPACE and t.word_bits[s.t_slot[token - 1]] & _SPEAKING
    return bool(ends and spoken)


def _are_going(s: Sheet, t: Tables, token: int) -> bool:
    """Whether two first names or surnames do what people do: "Chad and Jordan went", "Bush and Gore debated"."""
    if token < 0 or token + 3 >= s.tokens or s.starts_here[token + 2] < 0:
        return False
    if s.h_last[s.starts_here[token + 2]] != token + 2:
        return False
    if s.t_gap[token] != _SPACE or s.t_gap[token + 1] != _SPACE or s.t_gap[token + 2] != _SPACE:
        return False
    if s.t_class[token + 1] & _UP or s.t_class[token + 3] & _UP:
        return False
    both = t.word_bits[s.t_slot[token]] & t.word_bits[s.t_slot[token + 2]] & (_FIRST_NAME | _SURNAME)
    joined = t.word_bits[s.t_slot[token + 1]] & _JOINING
    return bool(both and joined and t.word_bits[s.t_slot[token + 3]] & (_ACTING | _GOING))


def is_among_people(s: Sheet, t: Tables, hit: int) -> bool:
    """Whether a surname that no large town bears stands beside one that no place bears, or two of public figures do.

    "Bush and Petersen", "Clinton, Bush and Obama".
    """
    token, name = s.h_first[hit], s.h_name[hit]
    own = t.word_bits[s.t_slot[token]]
    if not own & (_SURNAME | _PUBLIC) or (t.name_facts[4 * name + 2] >> 8) & 255 >= _LARGE:
        return False
    if _are_joined(s, t, token, token + 2) or _are_joined(s, t, token - 2, token):
        return True
    return bool(own & _PUBLIC) and (_are_public(s, t, token, token + 1) or _are_public(s, t, token - 1, token))


def _are_public(s: Sheet, t: Tables, one: int, two: int) -> bool:
    """Whether two public figures follow each other in a list."""
    if one < 0 or two >= s.tokens or s.t_gap[one] != _COMMA:
        return False
    return bool(s.t_class[two] & _UP and t.word_bits[s.t_slot[one]] & t.word_bits[s.t_slot[two]] & _PUBLIC)


def _are_joined(s: Sheet, t: Tables, one: int, two: int) -> bool:
    """Whether "and" joins two words of which one is a surname and not the name of a place, or both public figures'."""
    if one < 0 or two >= s.tokens or s.t_gap[one] != _SPACE or s.t_gap[one + 1] != _SPACE:
        return False
    if s.t_class[one + 1] & _UP or not t.word_bits[s.t_slot[one + 1]] & _JOINING:
        return False
    # Its capital comes first: a small word that is not beside a name was not looked up (`scan._find_words`).
    if s.t_class[two] & _UP and t.word_bits[s.t_slot[one]] & t.word_bits[s.t_slot[two]] & _PUBLIC:
        return True
    return _is_surname_only(s, t, one) or _is_surname_only(s, t, two)


def _is_surname_only(s: Sheet, t: Tables, token: int) -> bool:
    free = s.starts_here[token] < 0 and s.ends_here[token] < 0
    return bool(free and s.t_class[token] & _UP and t.word_bits[s.t_slot[token]] & _SURNAME)


def is_named_after(s: Sheet, t: Tables, hit: int, be_have: bool) -> bool:
    """Whether a name is that of a street or a thing: "rue de Lyon", "Via Roma", "The Tucson has" (`be_have`)."""
    first = s.h_first[hit]
    if first == 0:
        return False
    return _is_street(s, t, first) or bool(be_have and _has_article(s, t, hit))


def _is_street(s: Sheet, t: Tables, first: int) -> bool:
    """Whether a word for streets that stands before their names is before this one, with "de" between them or not."""
    prev = first - 1
    linked = 0 < s.t_mark[first] < s.t_start[first]  # "avenue d'Italie"
    for _turn in range(_MOST_LINKS):
        if prev > 0 and s.t_gap[prev] == _SPACE and _is_link(s, prev):
            linked = True
            prev -= 1
    brief = s.t_end[prev] - s.t_start[prev] <= _ABBREVIATED
    if s.t_gap[prev] != _SPACE and not (s.t_gap[prev] == _STOP and brief):
        return False
    bits, capital = t.word_bits[s.t_slot[prev]], s.t_class[prev] & _UP
    if not bits & _STREET_FIRST and not (bits & _SQUARE_FIRST and capital):
        return False
    if linked:
        return bool(capital) or prev == 0 or s.text[s.t_start[prev - 1]] != _U  # "una calle de Madrid" is any street
    inside = prev > 0 and s.t_gap[prev - 1] == _SPACE and s.t_class[prev - 1] & _UP  # "Frankfurter Allee Berlin"
    return not bits & _STREET and not inside  # "5th Avenue New York"


def _is_link(s: Sheet, token: int) -> bool:
    """Whether a word may stand between "rue" and a name: de, du, des, del, della, di, do, la, los, el and the like."""
    at = s.t_start[token]
    size = s.t_end[token] - at
    if size == 5 or s.text[at] == _E:
        return size >= 2 and s.text[at + size // 2] == _L
    return size <= 3 and (s.text[at] == _D or s.text[at] == _L)


def _has_article(s: Sheet, t: Tables, hit: int) -> bool:
    """Whether the name of a town has an article that is not its own: "The Tucson has", but "The Hague", "the Bronx"."""
    first, last, name = s.h_first[hit], s.h_last[hit], s.h_name[hit]
    prev = first - 1
    if name < 0 or s.t_gap[prev] != _SPACE or t.name_facts[4 * name + 2] & 255 != _CITY or not _is_the(s, prev):
        return False
    total, power = s.t_sum[prev], s.t_power[prev]
    for token in range(first, last + 1):
        total = (total + 32 * power) & _MASK
        power = (power * _BASE) & _MASK
        total = (total + s.t_sum[token] * power) & _MASK
        power = (power * s.t_power[token]) & _MASK
    return name_index(t, mixed(total)) < 0


def is_stray(s: Sheet, t: Tables, hit: int) -> bool:
    """Whether the two letters of a state are part of neither an address nor a sentence: a photo's "PA", "CC-BY-SA"."""
    token, name = s.h_first[hit], s.h_name[hit]
    if token != s.h_last[hit] or s.t_end[token] - s.t_start[token] != _LETTERS or name < 0:
        return False
    if not t.name_facts[4 * name + 3] or t.place_facts[8 * t.cand_row[t.name_at[name]] + 7] != _ADMIN1:
        return False
    if token == 0:
        return s.t_gap[token] == _LINE and s.tokens > 1
    gap, ends = s.t_gap[token - 1], s.t_gap[token] != _SPACE
    if gap == _HYPHEN:
        return bool(s.t_caps[token - 1]) and s.t_end[token - 1] - s.t_start[token - 1] > 1  # but a senator's "R-SC"
    return ends and (_is_the(s, token - 1) if gap == _SPACE else gap == _LINE and s.t_gap[token] == _LINE)


def _is_the(s: Sheet, token: int) -> bool:
    at = s.t_start[token]
    if s.t_end[token] - at != 3:
        return False
    return s.text[at] | 32 == _T and s.text[at + 1] == _H and s.text[at + 2] == _E
