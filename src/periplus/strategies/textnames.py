"""Names in texts: one pass of an automaton over a page's text, or over the words around a link."""

import re

import ahocorasick_rs
from msgspec import Struct

from periplus.strategies.conventions import STATES
from periplus.strategies.names import Candidate, NameTable

__all__ = ["Named", "TextNames"]

STATE_NAMES = {name: code for code, name in STATES.items()}
AFTER = re.compile(r"[,\s(]{1,3}(?:([A-Z]{2})\b(?!\.\w)|([A-Z][a-z]+(?:\s[A-Z][a-z]+)?))")
"""What may be a region after a name: `, TX`, `, Texas`, `(Texas)`, `, New Mexico`."""

MIN_LETTERS = 3


class Named(Struct, frozen=True, gc=False):
    """A name in a text, the place meant, and whether the text itself says its region (city-state pair)."""

    start: int
    end: int
    candidate: Candidate
    paired: bool


class TextNames:
    """The automaton over the spellings of all names of a table."""

    def __init__(self, table: NameTable) -> None:
        self._table = table
        patterns: dict[str, str] = {}
        for key, spellings in table.spellings.items():
            for spelling in spellings:
                if len(key) >= MIN_LETTERS or spelling.isupper():
                    patterns[f" {spelling}"] = key
                    if spelling.startswith("st "):
                        patterns[f" st. {spelling[3:]}"] = key
        self._keys = list(patterns.values())
        self._automaton = ahocorasick_rs.AhoCorasick(
            list(patterns) or ["\x00"], matchkind=ahocorasick_rs.MatchKind.LeftmostLongest
        )

    def find(self, text: str) -> list[Named]:
        """Names that stand as words with a capital, in order; of several places the one in the region named, else
        the most populous (paper A)."""
        folded = text.lower()
        if len(folded) != len(text):  # a few letters grow when made small; offsets must stay
            folded = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
        found = []
        folded = folded.replace("\n", " ").replace("-", " ").replace("\xa0", " ").replace("\t", " ")
        for pattern, start, end in self._automaton.find_matches_as_indexes(f" {folded} "):
            at, stop = start, end - 1  # of the name in `text`: the pattern begins with a space, so does the haystack
            if (stop < len(text) and text[stop].isalnum()) or not text[at].isupper():
                continue
            found.append(self._settle(self._keys[pattern], at, stop, text))
        return found

    def _settle(self, key: str, start: int, end: int, text: str) -> Named:
        candidates = self._table.candidates[key]
        region = region_after(text, end)
        for candidate in candidates if region else ():
            if region in (candidate.division, candidate.division_name, candidate.country_name):
                return Named(start, end, candidate, True)
        return Named(start, end, candidates[0], False)


def region_after(text: str, end: int) -> str:
    """The region written directly after a name: a code in capitals, or the folded name; "" if there is none."""
    between = text[end : end + 1]
    match = AFTER.match(text, end) if between in (",", "(") or between.isspace() else None
    if match is None:
        return ""
    if match[1]:
        return match[1].lower()
    words = match[2].lower().split()
    joined = "".join(words)
    return joined if joined in STATE_NAMES else words[0]
