"""Several places in a question: two with a way between them, a list of them, and one that is left out."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from periplus.index import fold
from periplus.search.atlas import Atlas, KnownPlace
from periplus.search.naming import LONGEST_NAME, is_plain, is_surely_a_place, longest_match, match_name
from periplus.search.words import Word

__all__ = ["MOST_PLACES", "Range", "find_excluded", "further_places", "two_ends"]

Range = tuple[int, int]
"""Words of a question: the first, and the one behind the last."""

MOST_PLACES = 8
"""Places of one question."""

_ENDS = {
    **dict.fromkeys([("between", "and"), ("zwischen", "und"), ("entre", "et"), ("entre", "y")], "between"),
    **dict.fromkeys([("entre", "e"), ("tra", "e")], "between"),
    **dict.fromkeys([("from", "to"), ("von", "nach"), ("de", "a"), ("da", "a"), ("desde", "hasta")], "from"),
    ("to", "from"): "between",
}
"""What stands before the first of two places and before the second, and what is said of it."""

_AND = frozenset({"and", "or", "vs", "versus", "und", "oder", "et", "ou", "y", "o", "e"})  # codespell:ignore
_IN = frozenset({"in", "at", "en", "em", "a", "near"})
_NOT = (
    "but not in", "but not", "not in", "not from", "outside of", "outside", "except for", "except in", "except",
    "excluding", "without", "other than", "nicht in", "nicht aus", "ausserhalb von", "außerhalb von", "ausser in",
    "außer in",
    "hors de", "sauf a", "sauf", "excepto en", "excepto", "fuera de", "exceto em", "exceto", "fora de", "fuori da",
)  # fmt: skip
"""What stands before a place that is left out, longer before shorter."""


def _text(words: Sequence[Word], at: int) -> str:
    """A word in small letters without accents; nothing where it is not plain."""
    return fold(words[at].text) if at < len(words) and is_plain(words[at]) else ""


def _after_the(words: Sequence[Word], at: int) -> int:
    return at + (_text(words, at) in ("the", "la", "el", "der", "den"))


def two_ends(
    words: Sequence[Word], start: int, atlas: Atlas
) -> tuple[tuple[KnownPlace, ...], tuple[KnownPlace, ...], str, tuple[Range, Range]] | None:
    """`between Houston and Dallas`: what either end may mean, how it is said (`between`, `from`), and their words."""
    begins = _after_the(words, start + 1)
    first = longest_match(words, begins, atlas)
    relation = _ENDS.get((_text(words, start), _text(words, first[1]))) if first else None
    if first is None or relation is None:
        return None
    again = _after_the(words, first[1] + 1)
    last = longest_match(words, again, atlas)
    return (first[0], last[0], relation, ((begins, first[1]), (again, last[1]))) if last else None


def further_places(
    words: Sequence[Word], end: int, atlas: Atlas, pages_with: Callable[[str], int]
) -> tuple[tuple[KnownPlace, ...], tuple[Range, ...]]:
    """The places of a list behind its first one: `… and Porto`, `…, Porto or Paris`; and their words."""
    found: list[KnownPlace] = []
    names: list[Range] = []
    while len(found) < MOST_PLACES - 1 and end < len(words):
        joined = _text(words, end) in _AND
        at = end + joined
        if not joined and not words[end - 1].comma and not words[end].alternative:
            break
        at += at < len(words) - 1 and _text(words, at) in _IN
        rest = [replace(word, alternative=False) if n == at else word for n, word in enumerate(words)]
        match = _sure_match(rest, at, atlas, pages_with)
        if match is None:
            break
        found.append(match[0])
        names.append((at, match[1]))
        end = match[1]
    return tuple(found), tuple(names)


def _sure_match(
    words: Sequence[Word], at: int, atlas: Atlas, pages_with: Callable[[str], int]
) -> tuple[KnownPlace, int] | None:
    """A place that is surely meant by the words: "in Houston and mobile phones" is not about Alabama."""
    for length in range(min(LONGEST_NAME, len(words) - at), 0, -1):
        match = match_name(words, at, length, atlas)
        name = words[at : at + length]
        if match and (name[0].text[:1].isupper() or is_surely_a_place(name, match, at + length, pages_with)):
            return match[0][0], match[1]
    return None


def find_excluded(words: Sequence[Word], atlas: Atlas) -> tuple[KnownPlace, int, int] | None:
    """A place that is not meant (`not in Texas`, `except Houston`), and from where to where the words for it go."""
    for start in range(len(words)):
        for opening in _NOT:
            length = opening.count(" ") + 1
            if " ".join(_text(words, at) for at in range(start, start + length)) != opening:
                continue
            if match := longest_match(words, _after_the(words, start + length), atlas):
                return match[0][0], start, match[1]
    return None
