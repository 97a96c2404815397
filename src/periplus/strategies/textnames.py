"""Names in texts: one pass of an automaton over a page's text, or over the words around a link."""

import re
from collections.abc import Iterable

import ahocorasick_rs
from msgspec import Struct

from periplus.strategies.conventions import STATES
from periplus.strategies.names import Candidate, NameTable

__all__ = ["Named", "TextNames"]

STATE_NAMES = {name: code for code, name in STATES.items()}
AFTER = re.compile(r"[,\s(]{1,3}(?:([A-Z]{2})\b(?!\.\w)|([A-Z][a-z]+(?:\s[A-Z][a-z]+)?))")
"""What may be a region after a name: `, TX`, `, Texas`, `(Texas)`, `, New Mexico`."""

MIN_LETTERS = 3
FOLD = bytes(code + 32 if 65 <= code <= 90 else 32 if code in (9, 10, 45) else code for code in range(256))
"""Bytes of a text to those that are searched: capitals small; line breaks, tabs and hyphens are blanks."""

KELVIN = "\u212a"
"""The one letter beyond ASCII whose small form is not."""


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
        longest = ahocorasick_rs.MatchKind.LeftmostLongest
        plain = {pattern.encode(): key for pattern, key in patterns.items() if pattern.isascii()}
        self._plain_keys = list(plain.values())
        self._plain = ahocorasick_rs.BytesAhoCorasick(list(plain) or [b"\x00"], matchkind=longest)
        self._keys = list(patterns.values())
        whole = len(plain) < len(patterns)  # names beyond ASCII are looked for only where there are any
        self._whole = ahocorasick_rs.AhoCorasick(list(patterns), matchkind=longest) if whole else None

    def find(self, text: str) -> list[Named]:
        """Names that stand as words with a capital, in order; of several places the one in the region named, else
        the most populous (paper A)."""
        if text.isascii() or (self._whole is None and KELVIN not in text):
            # A byte for each letter, whatever stands beyond ASCII: offsets are those in the text.
            raw = b" %b " % text.replace("\xa0", " ").encode("ascii", "replace").translate(FOLD)
            return self._named(self._plain.find_matches_as_indexes(raw), self._plain_keys, text)
        folded = text.lower()
        if len(folded) != len(text):  # a few letters grow when made small; offsets must stay
            folded = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
        folded = folded.replace("\n", " ").replace("-", " ").replace("\xa0", " ").replace("\t", " ")
        if self._whole is None:
            hits = self._plain.find_matches_as_indexes(f" {folded} ".encode("ascii", "replace"))
            return self._named(hits, self._plain_keys, text)
        return self._named(self._whole.find_matches_as_indexes(f" {folded} "), self._keys, text)

    def _named(self, hits: Iterable[tuple[int, int, int]], keys: list[str], text: str) -> list[Named]:
        """The hits that stand as words with a capital."""
        found = []
        for pattern, start, end in hits:
            at, stop = start, end - 1  # of the name in `text`: the pattern begins with a space, so does the haystack
            if (stop < len(text) and text[stop].isalnum()) or not text[at].isupper():
                continue
            found.append(self._settle(keys[pattern], at, stop, text))
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
