"""Names of places in the words of a question: which places some words name, and whether they are meant as a place."""

from collections.abc import Callable, Iterator, Sequence, Set

from periplus.search.atlas import Atlas, KnownPlace, name_key
from periplus.search.words import Word

__all__ = [
    "LONGEST_NAME",
    "Match",
    "elsewhere",
    "is_plain",
    "is_surely_a_place",
    "is_worth_a_place",
    "longest_match",
    "match_name",
]

LONGEST_NAME = 5
"""Words of a place name."""

SMALL_TOWN = 5_000
"""People up to which a place that no page is mainly about must not take ordinary words for its name."""

SURE_SHARE = 0.5
"""A name without a preposition is a place if at least this share of the pages with the word are about the place."""

Match = tuple[tuple[KnownPlace, ...], int]
"""Places that words name, the likeliest first, and where the words go on."""


def is_plain(word: Word) -> bool:
    """Whether a word is neither quoted, excluded, an alternative nor looked for in titles only."""
    return not (word.quoted or word.excluded or word.alternative or word.in_title)


def longest_match(words: Sequence[Word], start: int, atlas: Atlas) -> Match | None:
    """Places named by the words from `start` on, by as many of them as possible."""
    for length in range(min(LONGEST_NAME, len(words) - start), 0, -1):
        if match := match_name(words, start, length, atlas):
            return match
    return None


def match_name(words: Sequence[Word], start: int, length: int, atlas: Atlas) -> Match | None:
    """Places named by exactly these words, narrowed by what follows ("Lisbon, NH"), and where the words go on."""
    part = words[start : start + length]
    if not all(map(is_plain, part)) or any(word.comma for word in part[:-1]):
        return None
    candidates = atlas.named(" ".join(word.text for word in part))
    if not candidates:
        return None
    end = start + length
    chosen = candidates
    while narrowed := _narrowed(words, end, chosen, atlas):  # "Houston, Texas, USA"
        chosen, end = narrowed
    if chosen is candidates and elsewhere(words, start, length, atlas):
        return None
    rest = [place for place in candidates if place not in chosen]
    return (*chosen, *rest), end


def _narrowed(
    words: Sequence[Word], start: int, candidates: Sequence[KnownPlace], atlas: Atlas
) -> tuple[list[KnownPlace], int] | None:
    """Those of the places that lie in what the words from `start` on name, and where the words go on."""
    for qualifier, sure in _qualifiers(words, start):
        around = _around(qualifier, atlas) if words[start - 1].comma or qualifier[0].text[:1].isupper() else set()
        if narrowed := [place for place in candidates if _is_qualified(place, qualifier, around, sure=sure)]:
            return narrowed, start + len(qualifier)
    return None


def _qualifiers(words: Sequence[Word], start: int) -> Iterator[tuple[Sequence[Word], bool]]:
    """Words behind a name that may say in what it lies, the longest first, and whether a code is meant as one."""
    for more in range(min(4, len(words) - start), 0, -1):
        qualifier = words[start : start + more]
        if all(map(is_plain, qualifier)):
            yield qualifier, words[start - 1].comma or start + more == len(words)


def elsewhere(words: Sequence[Word], start: int, length: int, atlas: Atlas) -> str:
    """The name with its state or country if no page is about that place: "Portland, Oregon" is not the one in Maine."""
    end = start + length
    if end >= len(words) or not (words[end - 1].comma or words[end].text[:1].isupper()):
        return ""
    name = " ".join(word.text for word in words[start:end])
    for qualifier, sure in _qualifiers(words, end):
        around = " ".join(word.text for word in qualifier)
        if any(place.kind in ("city", "feature") for place in atlas.named(around)[:1]):  # a list: "Lisbon, Porto"
            continue
        if any(_is_qualified(place, qualifier, set(), sure=sure) for place in atlas.not_here(name)):
            return f"{name}, {around}"
    return ""


def _around(qualifier: Sequence[Word], atlas: Atlas) -> set[int]:
    """Places that hold others, by a name that is not their own: "USA", "Deutschland"."""
    named = atlas.named(" ".join(word.text for word in qualifier))
    return {place.id for place in named if place.kind not in ("city", "feature")}


_WORDS_TOO = frozenset({"in", "or", "me", "de", "la", "hi", "ok", "oh"})
"""Codes of states that in small letters are words as well."""


def _is_qualified(place: KnownPlace, qualifier: Sequence[Word], around: Set[int], *, sure: bool) -> bool:
    """Whether the words name something around the place: its state, its country, or one of their codes.

    `sure`: behind a comma or at the end small letters are a code, too, whatever they mean elsewhere.
    """
    text = " ".join(word.text for word in qualifier)
    if name_key(text) in {name_key(name) for name in place.path[:-1]} or not around.isdisjoint(place.ancestors):
        return True
    code = text.replace(".", "")  # "D.C."
    if len(qualifier) != 1 or len(code) not in (2, 3):
        return False
    if code.lower() == "usa":
        return place.country == "US"
    if code.isupper() or sure:
        return code.upper() in (place.admin1, place.country)
    return place.country == "US" and code.upper() == place.admin1 and code.lower() not in _WORDS_TOO  # "houston tx"


def is_worth_a_place(words: Sequence[Word], candidates: Sequence[KnownPlace], pages_with: Callable[[str], int]) -> bool:
    """Whether a name behind "in" may be a place: no hamlet that a page names in passing, if the words are ordinary.

    So "in the middle east" and "at the lake" stay words, but "near Lake Jackson" and "in Spring, TX" are places.
    """
    if any(word.comma for word in words[:-1]):
        return True
    name, about = " ".join(word.text for word in words), sum(place.pages for place in candidates)
    is_known = any(place.main_pages for place in candidates)
    if not is_known and all(place.kind == "city" and place.population < SMALL_TOWN for place in candidates):
        return not all(pages_with(word.text) > about for word in words)
    is_own = any(name_key(place.name) == name_key(name) for place in candidates)
    is_name = any(word.text[:1].isupper() for word in words)
    return is_name or (is_known and is_own) or about >= SURE_SHARE * pages_with(name)


def is_surely_a_place(name: Sequence[Word], match: Match, name_end: int, pages_with: Callable[[str], int]) -> bool:
    """Whether a name without preposition is meant as a place: "mobile phone" is not about Alabama."""
    candidates, end = match
    if end > name_end:  # "Portland, Maine"
        return True
    if not any(place.main_pages for place in candidates):  # named in passing only, perhaps not even that
        return False
    about = sum(place.pages for place in candidates)
    return about >= SURE_SHARE * pages_with(" ".join(word.text for word in name))
