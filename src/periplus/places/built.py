"""Names built around a generic word: "Neches River", "Lake Harriet", "East Texas", "Nyanza Province", known or not.

They join the plain names that `scan` has found. Compiled where possible: see `sheet`.
"""

from typing import Final

from periplus.places.folding import GAP_HYPHEN, GAP_SPACE, GAP_STOP, UPPER
from periplus.places.lexicon import CLASSES
from periplus.places.sheet import MAX_HITS, Sheet, Tables

__all__ = ["BUILT", "add_built"]

BUILT: Final = ("plain", "landform", "landform_new", "lake", "lake_new", "direction", "division", "division_new")
"""How a hit came about; those that end in _new hold no known name."""

_NO_NAME_CLASSES: Final = (
    "article", "locative", "preposition", "conjunction", "be_have", "month_day", "title", "saying", "organisation",
)  # fmt: skip

# The names below have C types in built.pxd.
_UPPER, _SPACE, _HYPHEN, _STOP = UPPER, GAP_SPACE, GAP_HYPHEN, GAP_STOP
_LANDFORM, _DIVISION = 1 << CLASSES.index("landform"), 1 << CLASSES.index("division_word")
_LAKE, _DIRECTION = 1 << CLASSES.index("landform_first"), 1 << CLASSES.index("direction")
_NO_NAME = sum(1 << CLASSES.index(n) for n in _NO_NAME_CLASSES)


def add_built(s: Sheet, t: Tables) -> None:
    """Put the built names of a text among its plain ones."""
    built = _built(s, t)
    if built:
        _merge(s, built)


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
