"""A topic's keywords ready for finding: worked out once for each language, so that no page walks through them all."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from periplus.topics.stopwords import stop_words
from periplus.topics.words import is_unspaced, primary_language, stem_phrase, stems

__all__ = ["Lexicon"]

MOST_MET = 200_000
LONGEST_MET = 40
"""Bounds of what is remembered of texts."""


class Lexicon:
    """Keywords by the stems of one language: single words, phrases by their first word, scripts without spaces."""

    def __init__(self, keywords: Sequence[str], language: str) -> None:
        self.size = len(keywords)
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
        self._language = language
        self._wanted = frozenset(self.singles) | {
            word for phrases in self.phrases.values() for p in phrases for word in p[0]
        }
        self._met: set[str] = set()
        self._telling: dict[str, list[str]] = {}

    def count_in(self, text: str) -> dict[int, int]:
        """How often keywords occur in a text, by their number: as `count` does, but stems only what it has not met."""
        chunks = text.split()
        distinct = set(chunks)
        self._meet(distinct - self._met)
        counted: dict[str, int] = {}
        for chunk in distinct & self._telling.keys():
            times = chunks.count(chunk)
            for stem in self._telling[chunk]:
                counted[stem] = counted.get(stem, 0) + times
        may_be_phrase = not self.phrases.keys().isdisjoint(counted)
        return self.count(stems(text, self._language) if may_be_phrase else (), text, counted)

    def _meet(self, chunks: Iterable[str]) -> None:
        """Note which of the pieces between blanks hold a stem that a keyword has."""
        if len(self._met) > MOST_MET:
            self._met.clear()
            self._telling.clear()
        for chunk in chunks:
            found = [stem for stem in stems(chunk, self._language) if stem in self._wanted]
            if found:
                self._telling[chunk] = found
            if len(chunk) <= LONGEST_MET:
                self._met.add(chunk)

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
