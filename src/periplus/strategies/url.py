"""Strategy `url` of paper A: a target's name in the extracted URL itself decides.

Host labels, path and query are split into words; names are found as words (`new-york`, `new_york`, `new%20york`) and
glued (`newyork`, `visitnewyork`, `newyorkcity`, `losangelesca`). Several places may share a name, targets or not; a
state or country elsewhere in the URL decides between them, else the largest population does. Only if that winner is
a target does its owner get the link, so that `portland-maine` does not pull a page to Portland, Oregon.
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


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: Place
    regions: frozenset[str]  # words that point to it: state code and name, country code and name


class UrlStrategy:
    """Finds target names in URLs. Tables are made once; a link costs a few dictionary look-ups."""

    def __init__(self, ownership: Ownership, gazetteer: Gazetteer) -> None:
        self._ownership = ownership
        self._names: dict[str, tuple[_Candidate, ...]] = {}
        for target in ownership.targets:
            for name in _spellings(target.name):
                key = _glue(name)
                if len(key) >= MIN_NAME_LETTERS and key not in self._names:
                    same_name = {place.id: place for place in (*gazetteer.find(name, limit=20), target)}
                    self._names[key] = tuple(_Candidate(place, _regions(place)) for place in same_name.values())

    def claims(self, link: Link, _page: Page, _located: Located) -> tuple[Assignment, ...]:
        """Owners of the targets that the URL names, the longest name first; else a general node."""
        url = canonicalize(link.url)
        host = url.host if url else ""
        words = self._words(link.url)
        found: dict[str, Assignment] = {}
        for key in sorted(self._keys(words), key=lambda item: (-len(item), item)):
            winner = _best(self._names[key], words)
            owned = self._ownership.owner(winner)
            if owned is not None:
                found.setdefault(owned[0], Assignment(owned[0], winner.id, "url"))
        return tuple(found.values()) or (Assignment(self._ownership.general_for(host), None, "no_place"),)

    @staticmethod
    def _words(url: str) -> list[str]:
        """Words of host labels (without the last, which is a suffix), path and query, in order."""
        rest = url.partition("://")[2]
        authority, slash, tail = rest.partition("/")
        labels = authority.partition(":")[0].split(".")
        text = f"{' '.join(labels[:-1])} {slash}{unquote(tail)}"
        return [word.casefold() for word in WORDS.findall(text)]

    def _keys(self, words: list[str]) -> set[str]:
        """Names that the words spell, as runs of words or glued into one."""
        keys = set()
        for start in range(len(words)):
            for end in range(start + 1, min(start + MAX_NAME_WORDS, len(words)) + 1):
                key = "".join(words[start:end])
                if key in self._names:
                    keys.add(key)
        for word in words:
            if len(word) > MIN_GLUED_LETTERS:
                keys.update(key for key in _unglued(word) if key in self._names)
        return keys


def _unglued(word: str) -> list[str]:
    """What is left of a glued word without a usual beginning or ending, or without a state code at its end."""
    found = [word.removeprefix(prefix) for prefix in BEFORE if word.startswith(prefix)]
    found += [piece.removesuffix(suffix) for piece in (word, *found) for suffix in AFTER if piece.endswith(suffix)]
    found += [piece[:-2] for piece in (word, *found) if len(piece) - 2 >= MIN_GLUED_LETTERS]
    return [piece for piece in found if len(piece) >= MIN_GLUED_LETTERS]


def _best(candidates: tuple[_Candidate, ...], words: list[str]) -> Place:
    """The place meant: one whose region the URL names, else the most populous (paper A)."""
    spelled = {*words, *("".join(pair) for pair in itertools.pairwise(words))}
    spelled |= {word[-2:] for word in words if len(word) > MIN_GLUED_LETTERS + 1}  # losangelesca
    return max(
        candidates,
        key=lambda c: (bool(c.regions & spelled), c.place.kind == "city", c.place.population, -c.place.id),
    ).place


def _regions(place: Place) -> frozenset[str]:
    """Words in a URL that say: the place in this state or country."""
    names = [place.admin1] if place.admin1.isalpha() else []
    names += [place.country, *place.path[2:-1]]
    return frozenset(_glue(name) for name in names if name)


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
