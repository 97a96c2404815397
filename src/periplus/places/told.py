"""What a sentence says of a name in so many words: "the town of Orange", "Hull is a port", "from Feni in Bangladesh".

What is said to be a place may be called like a common word. Compiled where possible: see `sheet`.
"""

from typing import Final

from periplus.places.folding import GAP_SPACE, UPPER
from periplus.places.lexicon import CLASSES
from periplus.places.pairs import area_from, some_inside
from periplus.places.scan import word_slot
from periplus.places.sheet import Sheet, Tables

__all__ = ["is_told"]

# The names below have C types in told.pxd.
_UP, _SPACE = UPPER, GAP_SPACE
_DIVISION = 1 << CLASSES.index("division_word")
_KIND_OF_PLACE = _DIVISION | (1 << CLASSES.index("landform"))
_ARTICLE, _BE, _PERSON = (
    1 << CLASSES.index("article"),
    1 << CLASSES.index("be_have"),
    (1 << CLASSES.index("first_name")) | (1 << CLASSES.index("surname")) | (1 << CLASSES.index("public_figure")),
)
_ADJECTIVES: Final = 2
_A, _F, _I, _N, _O, _S, _W = (ord(letter) for letter in "afinosw")


def is_told(s: Sheet, t: Tables, hit: int) -> bool:
    """Whether the sentence of a name says that it is that of a place."""
    first, last = s.h_first[hit], s.h_last[hit]
    return _is_one_of_places(s, t, first) or _lies_in(s, t, hit) or _is_a_place(s, t, last)


def _is_one_of_places(s: Sheet, t: Tables, first: int) -> bool:
    """ "The town of Orange", "the City of Richmond"."""
    if first < 2 or s.t_gap[first - 1] != _SPACE or s.t_gap[first - 2] != _SPACE:
        return False
    at = s.t_start[first - 1]
    is_of = s.t_end[first - 1] - at == 2 and s.text[at] == _O and s.text[at + 1] == _F
    return is_of and t.word_bits[s.t_slot[first - 2]] & _DIVISION != 0


def _lies_in(s: Sheet, t: Tables, hit: int) -> bool:
    """ "From Feni in Bangladesh", where there is one; but "Police in Poland" are no town, nor are people."""
    first, last = s.h_first[hit], s.h_last[hit]
    if first == 0 or last + 2 >= s.tokens or s.h_name[hit] < 0 or s.t_gap[first - 1] != _SPACE:
        return False
    if s.t_class[first - 1] & _UP or t.word_bits[s.t_slot[first]] & _PERSON or not _is_small(s, last + 1, _I, _N):
        return False
    if s.t_gap[last] != _SPACE or s.t_gap[last + 1] != _SPACE:
        return False
    area = area_from(s, t, last + 2)
    return area >= 0 and some_inside(t, s.h_name[hit], t.name_facts[4 * s.h_name[area]])


def _is_a_place(s: Sheet, t: Tables, last: int) -> bool:
    """ "Hull is a port", "Nice was the largest city": but Grace is not the owner of a city."""
    token = last + 2
    if token + 1 >= s.tokens or s.t_gap[last] != _SPACE or s.t_gap[last + 1] != _SPACE:
        return False
    if not _is_small(s, last + 1, _I, _S) and not _is_was(s, last + 1):
        return False
    if not t.word_bits[word_slot(t, s.t_key[token])] & _ARTICLE:
        return False
    for _turn in range(_ADJECTIVES + 1):
        token += 1
        if token >= s.tokens or s.t_gap[token - 1] != _SPACE or s.t_class[token] & _UP:
            return False
        if t.word_bits[word_slot(t, s.t_key[token])] & _KIND_OF_PLACE:
            return True
    return False


def _is_small(s: Sheet, token: int, one: int, two: int) -> bool:
    """Whether a token is a word of these two small letters."""
    at = s.t_start[token]
    return bool(s.t_end[token] - at == 2 and s.text[at] == one and s.text[at + 1] == two)


def _is_was(s: Sheet, token: int) -> bool:
    at = s.t_start[token]
    if s.t_end[token] - at != 3:
        return False
    return bool(s.text[at] == _W and s.text[at + 1] == _A and s.text[at + 2] == _S)
