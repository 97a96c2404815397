"""A topic's keywords ready for finding: worked out once for each language, so that no page walks through them all."""

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

from periplus.topics.stopwords import stop_words
from periplus.topics.tally import MOST, Chunks, cut, ints, unlike
from periplus.topics.words import CHUNKS, is_unspaced, primary_language, stem_phrase, stems

__all__ = ["Lexicon"]


REMEMBERED_LINKS = 50_000
"""Texts of links whose keywords a lexicon remembers before it begins anew."""

NOTHING = 1
"""The mark of a chunk without keywords; 0 is one that was not met yet, and others count up from 2."""


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
        self.firsts = {word for phrases in self.phrases.values() for words, _ in phrases for word in words[:-1]}
        """Stems with which the pairs of phrases begin: other pairs need not be counted."""

        self._renewals = -1
        self._in_links: dict[str, set[int]] = {}

    def count_text(self, text: str, chunks: Chunks | None = None) -> dict[int, int]:
        """How often keywords occur in a text, by their number; `chunks` is the text cut at blanks, if it is.

        Most chunks hold no keyword, so what they hold is remembered for each; words are only put in a row where a
        phrase may begin.
        """
        chunks = chunks or cut(CHUNKS, text)
        if chunks.renewals != self._renewals:
            self._renewals = chunks.renewals
            self._marks = ints(np.zeros(MOST, np.int32))
            self._held: list[tuple[tuple[int, ...], bool]] = []
        found: dict[int, int] = {}
        may_begin = False
        for number, times in Counter(unlike(chunks.numbers, chunks.count, self._marks, NOTHING)).items():
            keywords, begins = self._held_by(number, chunks)
            for keyword in keywords:
                found[keyword] = found.get(keyword, 0) + times
            may_begin |= begins
        if may_begin:
            sequence = stems(text, self.language)
            self._count_phrases(sequence, Counter(sequence), found)
        if self.unspaced and is_unspaced(text):
            found |= self._count_unspaced(text)
        return found

    def _held_by(self, number: int, chunks: Chunks) -> tuple[tuple[int, ...], bool]:
        """The single keywords that a chunk holds, and whether a phrase may begin in it."""
        mark = self._marks[number] if number < MOST else 0
        if mark:
            return self._held[mark - 2] if mark != NOTHING else ((), False)
        words = stems(chunks.chunk(number), self.language)
        keywords = tuple(keyword for stem in words for keyword in self.singles.get(stem, ()))
        begins = not self.phrases.keys().isdisjoint(words)
        if number < MOST:
            if keywords or begins:
                self._held.append((keywords, begins))
            self._marks[number] = len(self._held) + 1 if keywords or begins else NOTHING
        return keywords, begins

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
        found = {n: stems[stem] for stem in self.singles.keys() & stems.keys() for n in self.singles[stem]}
        for first in self.phrases.keys() & stems.keys():
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
