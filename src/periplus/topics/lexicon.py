"""A topic's keywords ready for finding: worked out once for each language, so that no page walks through them all."""

import itertools
from collections import Counter
from collections.abc import Sequence, Set

import numpy as np

from periplus.topics.stopwords import stop_words
from periplus.topics.tally import Chunks, Ints, RowTable, StemCounts, cut, ints, taken
from periplus.topics.words import CHUNKS, is_unspaced, primary_language, stem_phrase, stems

__all__ = ["Lexicon"]


REMEMBERED_LINKS = 50_000
"""Texts of links whose keywords a lexicon remembers before it begins anew."""


class Lexicon:
    """Keywords by the stems of one language: single words, phrases by their first word, scripts without spaces."""

    def __init__(self, keywords: Sequence[str], language: str) -> None:
        self.size = len(keywords)
        self.language = language
        self.singles: dict[str, list[int]] = {}
        self.phrases: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        self.unspaced: list[tuple[str, int]] = []
        for number, keyword in enumerate(keywords):
            if is_unspaced(keyword):
                self.unspaced.append((keyword.casefold(), number))
                continue
            words = tuple(stem_phrase(keyword, language).split(" "))
            if len(words) == 1:
                self.singles.setdefault(words[0], []).append(number)
            else:
                self.phrases.setdefault(words[0], []).append((words, number))
        self.singles.pop("", None)
        self._stop = stop_words(primary_language(language))
        self._firsts = {word for phrases in self.phrases.values() for words, _ in phrases for word in words[:-1]}
        self._words = {*self.singles, *(word for rows in self.phrases.values() for words, _ in rows for word in words)}
        self._counts = ints(np.zeros(self.size + 1, np.int32))
        self._renewals = -1
        self._names: list[str] = []
        self._in_links: dict[str, set[int]] = {}

    def count_text(self, text: str, chunks: Chunks | None = None) -> dict[int, int]:
        """How often keywords occur in a text, by their number; `chunks` is the text cut at blanks, if it is.

        What chunks hold is remembered; words are only put in a row where a phrase may begin.
        """
        if chunks is None:
            chunks = cut(CHUNKS, text)
        if chunks.renewals != self._renewals:
            self._renewals = chunks.renewals
            self._held = RowTable()
        self._held.learn(chunks, self._held_by)
        self._held.add_up(chunks, self._counts)
        found = taken(self._counts)
        if found.pop(self.size, 0):
            sequence = stems(text, self.language)
            self._count_phrases(sequence, Counter(sequence), found)
        if self.unspaced and is_unspaced(text):
            found |= self._count_unspaced(text)
        return found

    def _held_by(self, chunk: str) -> list[int]:
        """The single keywords that a chunk holds, and a number more if a phrase may begin in it."""
        words = stems(chunk, self.language)
        begins = not self.phrases.keys().isdisjoint(words)
        return [number for stem in words for number in self.singles.get(stem, ())] + [self.size] * begins

    def count_content(self, counts: StemCounts, text: str) -> dict[int, int]:
        """`count_bags` of a text whose stems are counted by number."""
        if counts.names is not self._names:
            self._names = counts.names
            self._wanted = _Flags(self._words)
            self._begin = _Flags(self._firsts)
        found = counts.among(self._wanted.of(counts.names))
        pairs = counts.pairs_from(self._begin.of(counts.names)) if self._firsts else ()
        return self.count_bags(found, Counter(f"{a} {b}" for a, b in pairs) if pairs else {}, text)

    def count(self, sequence: Sequence[str], text: str, counted: Counter[str] | dict[str, int]) -> dict[int, int]:
        """How often keywords occur, by their number. `counted` holds the stems of `sequence` with their counts.

        A phrase is its words in a row. Keywords of scripts without spaces are looked for in the text as it is.
        """
        found: dict[int, int] = {}
        for stem in self.singles.keys() & counted.keys():
            for number in self.singles[stem]:
                found[number] = counted[stem]
        if self.phrases:
            self._count_phrases(sequence, counted, found)
        if self.unspaced and is_unspaced(text):
            found |= self._count_unspaced(text)
        return found

    def present_in(self, text: str) -> set[int]:
        """The keywords that occur in the text of a link, which mostly comes again."""
        found = self._in_links.get(text)
        if found is None:
            if len(self._in_links) >= REMEMBERED_LINKS:
                self._in_links.clear()
            found = self._in_links[text] = self.present(stems(text, self.language), text)
        return found

    def alone(self, text: str) -> tuple[int, ...] | None:
        """The single keywords in a part of a short text, in order; None if a keyword may reach over its ends."""
        sequence = stems(text, self.language)
        if not self.phrases.keys().isdisjoint(sequence) or (self.unspaced and not text.isascii()):
            return None
        return tuple([number for stem in sequence for number in self.singles.get(stem, ())])

    def present(self, sequence: Sequence[str], text: str) -> set[int]:
        """The keywords that occur in a short text."""
        found = {number for stem in sequence if stem in self.singles for number in self.singles[stem]}
        if not self.phrases.keys().isdisjoint(sequence) or (self.unspaced and not text.isascii()):
            found.update(self.count(sequence, text, Counter(sequence)))
        return found

    def count_bags(self, stems: dict[str, int], pairs: dict[str, int], text: str) -> dict[int, int]:
        """How often keywords occur in a text of which stems and neighbouring pairs are counted, stop words left out.

        Of a phrase its rarest pair counts, and its rarest word where a stop word stands between.
        """
        singles = self.singles
        found = {number: count for stem, count in stems.items() if stem in singles for number in singles[stem]}
        for first in self.phrases.keys() & stems.keys() if self.phrases else ():
            for words, number in self.phrases[first]:
                count = min(
                    pairs.get(f"{a} {b}", 0) if a not in self._stop and b not in self._stop else stems.get(b, 1)
                    for a, b in itertools.pairwise(words)
                )
                if count:
                    found[number] = count
        if self.unspaced and is_unspaced(text):
            found |= self._count_unspaced(text)
        return found

    def _count_unspaced(self, text: str) -> dict[int, int]:
        folded = text.casefold()
        return {number: n for keyword, number in self.unspaced if (n := folded.count(keyword))}

    def _count_phrases(self, sequence: Sequence[str], counted: dict[str, int], found: dict[int, int]) -> None:
        possible = {
            first: present
            for first in self.phrases.keys() & counted.keys()
            if (present := [p for p in self.phrases[first] if all(word in counted for word in p[0])])
        }
        if not possible:
            return
        for at in [i for i, stem in enumerate(sequence) if stem in possible]:
            for words, number in possible[sequence[at]]:
                if tuple(sequence[at : at + len(words)]) == words:
                    found[number] = found.get(number, 0) + 1


class _Flags:
    """A byte for every stem of a table: whether it is among some words. The table grows as pages are read."""

    def __init__(self, words: Set[str]) -> None:
        self._words = words
        self._flags = np.zeros(1 << 12, np.uint8)
        self._known = 0

    def of(self, names: list[str]) -> Ints:
        """The bytes for a table's stems."""
        if self._known < len(names):
            if len(self._flags) < len(names):
                self._flags = np.concatenate((self._flags, np.zeros(2 * len(names), np.uint8)))
            words = self._words
            self._flags[self._known : len(names)] = [name in words for name in names[self._known :]]
            self._known = len(names)
        return ints(self._flags)
