"""Names in texts: one pass of an automaton over a page's text, or over the words around a link."""

import re

import ahocorasick_rs

from periplus.strategies.names import Named, NameTable
from periplus.strategies.naming import settled

__all__ = ["TextNames"]

MIN_LETTERS = 3
FOLD = bytes(code + 32 if 65 <= code <= 90 else 32 if code in (9, 10, 45) else code for code in range(256))
"""Bytes of a text to those that are searched: capitals small; line breaks, tabs and hyphens are blanks."""

HALVES = re.compile("[\ud800-\udfff]")
KELVIN = "\u212a"
"""The one letter beyond ASCII whose small form is not."""


class TextNames:
    """The automaton over the spellings of all names of a table."""

    def __init__(self, table: NameTable) -> None:
        self._candidates = table.candidates
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
        if not self._keys:
            return []
        if text.isascii() or (self._whole is None and KELVIN not in text):
            # A byte for each letter, whatever stands beyond ASCII: offsets are those in the text.
            raw = b" %b " % text.replace("\xa0", " ").encode("ascii", "replace").translate(FOLD)
            return settled(self._plain.find_matches_as_indexes(raw), self._plain_keys, self._candidates, text)
        folded = text.lower()
        if len(folded) != len(text):  # a few letters grow when made small; offsets must stay
            folded = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
        folded = folded.replace("\n", " ").replace("-", " ").replace("\xa0", " ").replace("\t", " ")
        if self._whole is None:
            hits = self._plain.find_matches_as_indexes(f" {folded} ".encode("ascii", "replace"))
            return settled(hits, self._plain_keys, self._candidates, text)
        try:
            hits = self._whole.find_matches_as_indexes(f" {folded} ")
        except UnicodeEncodeError:  # halves of letters; no name has them
            hits = self._whole.find_matches_as_indexes(f" {HALVES.sub('?', folded)} ")
        return settled(hits, self._keys, self._candidates, text)
