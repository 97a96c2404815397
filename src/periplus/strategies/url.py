"""Strategy `url` of paper A: a target's name in the extracted URL itself decides.

Host labels, path and query are split into words; names are found as words (`new-york`, `new_york`, `new%20york`) and
glued (`newyork`, `visitnewyork`, `newyorkcity`, `losangelesca`). Several places may share a name, targets or not; a
state or country elsewhere in the URL decides between them, else the largest population does. Only if that winner is
a target does its owner get the link, so that `portland-maine` does not pull a page to Portland, Oregon.
A two-letter code says something only beside the name (`portland-me`), since `in`, `or` and `me` are words too.
"""

import itertools
import re
from dataclasses import dataclass
from urllib.parse import unquote

from periplus.model import Assignment, Link, Located, Page, Place
from periplus.places import Gazetteer
from periplus.strategies.ownership import Ownership
from periplus.urls import canonicalize

__all__ = ["UrlStrategy"]

WORDS = re.compile(r"[^\W\d_]+")
MAX_NAME_WORDS = 4
MIN_NAME_LETTERS = 4
MIN_GLUED_LETTERS = 5
BEFORE = ("visit", "my", "the", "go", "in", "downtown", "greater", "cityof", "explore", "discover", "best", "i", "we")
AFTER = (
    "city",
    "online",
    "news",
    "times",
    "guide",
    "tourism",
    "area",
    "metro",
    "local",
    "today",
    "events",
    "eats",
    "live",
)


MAX_REMEMBERED_WORDS = 100_000
ALSO_WORDS = frozenset({"al", "as", "co", "de", "hi", "id", "in", "is", "it", "la", "ma", "me", "no", "oh", "ok", "or",
                        "pa", "so", "to"})  # fmt: skip
"""Codes that mean nothing before a name: `things-to-do-in-portland`."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: Place
    codes: frozenset[str]  # state and country code
    regions: frozenset[str]  # names of state and country, and what else lies around it


@dataclass(frozen=True, slots=True)
class _Found:
    """A target's name in a URL: its key, the words that it covers, and a code that was glued to it."""

    key: str
    start: int
    end: int
    code: str = ""


class UrlStrategy:
    """Finds target names in URLs. Tables are made once; a link costs a few dictionary look-ups."""

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer) -> None:
        self._ownership = ownership
        self._names: dict[str, tuple[_Candidate, ...]] = {}
        self._beginnings: set[str] = set()  # first words of names
        self._glued: dict[str, tuple[tuple[str, str], ...]] = {}  # word -> names in it, with their codes
        for target in ownership.targets:
            for name in _spellings(target.name):
                key = _glue(name)
                if len(key) >= MIN_NAME_LETTERS and key not in self._names:
                    same_name = {place.id: place for place in (*gazetteer.find(name, limit=20), target)}
                    self._names[key] = tuple(_candidate(place) for place in same_name.values())
                    self._beginnings |= {key, WORDS.findall(name.casefold())[0]}

    def claims(self, link: Link, _page: Page, _located: Located) -> tuple[Assignment, ...]:
        """Owners of the targets that the URL names, the longest name first; else a general node."""
        words = _words(link.url)
        claimed: dict[str, Assignment] = {}
        for found in sorted(self._find(words), key=lambda item: (-len(item.key), item.key, item.start)):
            winner = _best(self._names[found.key], words, found)
            owned = self._ownership.owner(winner)
            if owned is not None:
                claimed.setdefault(owned[0], Assignment(owned[0], winner.id, "url"))
        if claimed:
            return tuple(claimed.values())
        url = canonicalize(link.url)
        return (Assignment(self._ownership.general_for(url.host if url else ""), None, "no_place"),)

    def _find(self, words: list[str]) -> list[_Found]:
        """Names that the words spell, as runs of words or glued into one."""
        found = []
        for start, word in enumerate(words):
            if word in self._beginnings:
                for end in range(start + 1, min(start + MAX_NAME_WORDS, len(words)) + 1):
                    key = "".join(words[start:end])
                    if key in self._names:
                        found.append(_Found(key, start, end))
            if len(word) > MIN_GLUED_LETTERS:
                found += [_Found(key, start, start + 1, code) for key, code in self._names_in(word)]
        return found

    def _names_in(self, word: str) -> tuple[tuple[str, str], ...]:
        """Names glued into one word; remembered, since the words of one link are those of the next."""
        names = self._glued.get(word)
        if names is None:
            names = tuple((key, code) for key, code in _unglued(word) if key in self._names)
            if len(self._glued) >= MAX_REMEMBERED_WORDS:
                self._glued.clear()
            self._glued[word] = names
        return names


def _words(url: str) -> list[str]:
    """Words of host labels (without the last, which is a suffix), path and query, in order."""
    authority, slash, tail = url.partition("://")[2].partition("/")
    labels = authority.partition(":")[0].split(".")
    if "%" in tail:
        tail = unquote(tail)
    return WORDS.findall(f"{' '.join(labels[:-1])} {slash}{tail}".casefold())


def _unglued(word: str) -> list[tuple[str, str]]:
    """What is left of a glued word without a usual beginning or ending, and with a state code taken off its end."""
    plain = [word, *(word.removeprefix(prefix) for prefix in BEFORE if word.startswith(prefix))]
    plain += [piece.removesuffix(suffix) for piece in plain for suffix in AFTER if piece.endswith(suffix)]
    found = [(piece, "") for piece in plain[1:]]
    found += [(piece[:-2], piece[-2:]) for piece in plain]
    return [(piece, code) for piece, code in found if len(piece) >= MIN_GLUED_LETTERS]


def _best(candidates: tuple[_Candidate, ...], words: list[str], found: _Found) -> Place:
    """The place meant: one whose region the URL names beside it, else the most populous (paper A)."""
    others = [*words[: found.start], "", *words[found.end :]]
    spelled = {*others, *("".join(pair) for pair in itertools.pairwise(others))}
    beside = {found.code, *words[found.end : found.end + 1]}
    if found.start and words[found.start - 1] not in ALSO_WORDS:
        beside.add(words[found.start - 1])
    return max(
        candidates,
        key=lambda c: (
            bool(c.regions & spelled) or bool(c.codes & beside),
            c.place.kind == "city",
            c.place.population,
            -c.place.id,
        ),
    ).place


def _candidate(place: Place) -> _Candidate:
    """A place with the words in a URL that say: the one in this state or country."""
    codes = {code.casefold() for code in (place.admin1, place.country) if code.isalpha()}
    return _Candidate(place, frozenset(codes), frozenset(_glue(name) for name in place.path[2:-1] if name))


def _spellings(name: str) -> list[str]:
    """The name, and how people write it in URLs."""
    spellings = [name]
    for long, short in (("Saint ", "St "), ("St. ", "Saint "), ("Fort ", "Ft ")):
        if name.startswith(long):
            spellings.append(short + name.removeprefix(long))
    if name.endswith(" City") and name.count(" ") > 1:
        spellings.append(name.removesuffix(" City"))
    return spellings


def _glue(name: str) -> str:
    return "".join(WORDS.findall(name.casefold()))
