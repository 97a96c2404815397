"""A snippet: the stretch of a page's text that shows most of the question, with what to mark as offsets.

Never HTML: crawled text stays text, and whoever shows it marks it by the offsets.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from periplus.index import fold, forms, prepare, stemmer_of

__all__ = ["Mark", "Marker", "Snippet"]

SNIPPET_CHARACTERS = 260
LONGEST_SCANNED = 300_000
MOST_MARKS = 2_000
MOST_WINDOWS = 200
MOST_LOOKED_AT = 20_000
"""Places of a text that are looked at for one word."""

LONG_LINE = 60
"""Characters from which a line of a page is prose."""

SHORTEST_HEADLINE = 12
MOST_BEFORE_TITLE = 120
"""Characters of a menu before a headline."""

MOST_BETWEEN_TITLES = 40
"""Characters between a headline and the same once more."""

_WORD_END = re.compile(r"[^\W_]*")

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters to mark, and why: `what` (a word of the question) or `where` (a name of the place)."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text with marks whose offsets count from its beginning."""

    text: str
    marks: tuple[Mark, ...]


class Marker:
    """Finds the words of one question in texts, in whatever form the index would have found them."""

    def __init__(self, what: Iterable[str], names: Iterable[str], languages: frozenset[str]) -> None:
        """`what`: words and phrases of the question. `names`: place names, found only as they are."""
        self._languages = languages
        self._literal = {fold(name): "where" for name in names if name}
        self._words: list[str] = []
        for text in what:
            if _UNSPACED.search(text):
                self._literal[fold(text)] = "what"
            else:
                self._words.append(text)
        self._terms = cache(self._terms_of)
        self._is_what = lru_cache(maxsize=4096)(self._look_up)

    def _terms_of(self, language: str) -> tuple[frozenset[str], list[str]]:
        """The question's terms in pages of a language, and how words begin that may be one of them."""
        found = [one for word in self._words for one in forms(word, self._languages).items()]
        terms = frozenset(term for form, those in found if not those or language in those for term in form)
        return terms, _heads(terms)

    def _look_up(self, word: str, language: str) -> bool:
        return not self._terms(language)[0].isdisjoint(prepare(word, language).split())

    def marks(self, text: str, language: str = "") -> list[Mark]:
        """All marks of a text in a language, in order, none overlapping."""
        folded, language = fold(text[:LONGEST_SCANNED]), stemmer_of(language)
        found = [
            Mark(start, end, kind) for name, kind in self._literal.items() for start, end in _standing(name, folded)
        ]
        for head in self._terms(language)[1]:
            for start in _beginnings(head, folded):
                end = _WORD_END.match(folded, start + len(head)).end()  # type: ignore[union-attr]  # may be empty
                if self._is_what(folded[start:end], language):
                    found.append(Mark(start, end, "what"))
        return _apart(found)

    def snippet(
        self, text: str, mentions: Iterable[tuple[int, int]] = (), *, language: str = "", title: str = ""
    ) -> Snippet:
        """The best stretch of the text; its beginning if nothing is found in it.

        `mentions` are offsets of place names that belong to the question's place. What a text says of its `title`
        stands above the snippet already, and is left out at its beginning.
        """
        begins = _behind_title(text, title) if title else 0
        text = text[begins:]
        places = (Mark(start - begins, end - begins, "where") for start, end in mentions)
        marks = merge(self.marks(text, language), places, len(text))
        return cut(text, _best_start(text, marks) if marks else 0, marks)


_TITLE_PARTS = re.compile(r"\s[|–—›»:-]\s")


def _behind_title(text: str, title: str) -> int:
    """Where a text goes on that begins with its title, or with the longest part of it ("Headline - The Site")."""
    headline = max(_TITLE_PARTS.split(title), key=len).strip()
    at, end = text.find(headline, 0, len(headline) + MOST_BEFORE_TITLE), 0
    if len(headline) < SHORTEST_HEADLINE or _SENTENCE.search(text[: max(0, at)]):  # what stands before it is text
        return 0
    while at >= 0:
        end = at + len(headline)
        at = text.find(headline, end, end + len(headline) + MOST_BETWEEN_TITLES)
    while end < len(text) and text[end].isspace():
        end += 1
    return end if len(text) - end >= SNIPPET_CHARACTERS // 2 else 0


def merge(words: Sequence[Mark], places: Iterable[Mark], length: int) -> list[Mark]:
    """Both kinds in order; where they overlap, the place wins."""
    taken = sorted((m for m in places if 0 <= m.start < m.end <= length), key=lambda m: m.start)[:MOST_MARKS]
    merged: list[Mark] = []
    for mark in sorted([*taken, *words], key=lambda m: (m.start, m.kind != "where")):
        if not merged or mark.start >= merged[-1].end:
            merged.append(mark)
        elif mark.kind == "where" and merged[-1].kind != "where":
            merged[-1] = mark
    return merged


def _heads(terms: Iterable[str]) -> list[str]:
    """Beginnings of the words that may be one of the terms: stems differ from words in their last letters only."""
    heads = sorted(
        {term[: max(3, len(term) - 2)] if len(term) > 3 else term[: max(1, len(term) - 1)] for term in terms}
    )
    return [head for at, head in enumerate(heads) if not any(head.startswith(other) for other in heads[:at])]


def _beginnings(head: str, text: str) -> Iterator[int]:
    """Where words begin so. Much faster than one expression for all of them."""
    at = text.find(head)
    for _ in range(MOST_LOOKED_AT):
        if at < 0:
            return
        if at == 0 or not text[at - 1].isalnum():
            yield at
        at = text.find(head, at + 1)


def _standing(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a name stands: by itself, or anywhere in scripts without spaces."""
    unspaced = _UNSPACED.search(name) is not None
    for start in (
        _beginnings(name, text) if not unspaced else (match.start() for match in re.finditer(re.escape(name), text))
    ):
        end = start + len(name)
        if unspaced or end == len(text) or not text[end].isalnum():
            yield start, end


def _apart(marks: list[Mark]) -> list[Mark]:
    """In order, none overlapping: of two that meet, the longer one of those that begin first."""
    apart: list[Mark] = []
    for mark in sorted(marks, key=lambda m: (m.start, -m.end)):
        if not apart or mark.start >= apart[-1].end:
            apart.append(mark)
            if len(apart) >= MOST_MARKS:
                break
    return apart


_SENTENCE = re.compile(r"[^\W\d_][\"”’)]?[.!?](?:\s|$)|[。！？]")  # "1. Topics 2. Contact" is a menu


def _best_start(text: str, marks: Sequence[Mark]) -> int:
    """Where a window of the snippet's length holds most different words, then most sentences: menus have none."""
    lowered = fold(text[:LONGEST_SCANNED])
    best, best_value = 0, (-1, -1, 0)
    for first, mark in enumerate(marks[:MOST_WINDOWS]):
        end = mark.start + SNIPPET_CHARACTERS - 60
        inside = [m for m in marks[first : first + 40] if m.end <= end]
        kinds = {(m.kind, lowered[m.start : m.end][:5]) for m in inside}
        what = sum(kind == "what" for kind, _ in kinds)
        sentences = len(_SENTENCE.findall(text, mark.start, end))
        value = (4 * what + len({kind for kind, _ in kinds}), min(3, sentences), -first)
        if value > best_value:
            best, best_value = mark.start, value
    return _start_of_prose(text, max(0, best - 60), best)


_SPACE = re.compile(r"\s+")


def cut(text: str, start: int, marks: Sequence[Mark]) -> Snippet:
    """A stretch from about `start`, at word boundaries, with white space made single and marks moved along."""
    if start > 0 and text[start - 1] != "\n" and (space := text.find(" ", start, start + 30)) >= 0:
        start = space + 1
    end = min(len(text), start + SNIPPET_CHARACTERS)
    if end < len(text) and (space := text.rfind(" ", end - 30, end)) > start:
        end = space
    end = _end_of_prose(
        text, max((mark.end for mark in marks if start <= mark.start < mark.end <= end), default=start), end
    )
    out, positions = _squeeze(text, start, end)
    head = "… " if start > 0 else ""
    tail = " …" if end < len(text) else ""
    moved = []
    for mark in marks[bisect_left(marks, start, key=lambda m: m.start) :]:
        if mark.end > end:
            break
        first, last = _place_of(positions, mark.start), _place_of(positions, mark.end)
        if first < last:
            moved.append(Mark(first + len(head), last + len(head), mark.kind))
    return Snippet(head + out + tail, tuple(moved))


def _end_of_prose(text: str, start: int, end: int) -> int:
    """Where sentences end that `start` stands in: behind them come names of lists and buttons ("Read more")."""
    line = text.find("\n", start, end)
    if line < 0 or not _is_prose(_line_at(text, start)):
        return end
    while line >= 0:
        if not _is_prose(_line_at(text, line + 1)):
            return line
        line = text.find("\n", line + 1, end)
    return end


def _start_of_prose(text: str, start: int, end: int) -> int:
    """Where sentences that `end` stands in begin, behind the last line that is none; `start` if that is farther."""
    line = text.rfind("\n", start, end)
    if not _is_prose(_line_at(text, end)):
        return start
    while line >= 0:
        if not _is_prose(_line_at(text, line)):
            return line + 1
        line = text.rfind("\n", start, line)
    return start


def _line_at(text: str, at: int) -> str:
    """The line of a page in which a character stands; the end of a line belongs to it."""
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _is_prose(line: str) -> bool:
    return len(line) >= LONG_LINE or _SENTENCE.search(line) is not None


def _squeeze(text: str, start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """The stretch with single spaces, and (offset in the text, offset in the result) of each piece."""
    pieces: list[str] = []
    positions: list[tuple[int, int]] = []
    length, at = 0, start
    for match in _SPACE.finditer(text, start, end):
        positions.append((at, length))
        piece = text[at : match.start()]
        pieces.append(piece)
        length += len(piece) + 1
        at = match.end()
    positions.append((at, length))
    pieces.append(text[at:end])
    return " ".join(pieces), positions


def _place_of(positions: Sequence[tuple[int, int]], offset: int) -> int:
    """Where an offset of the text lies in the result; one within white space lies at the end of what it became."""
    at = bisect_right(positions, offset, key=lambda pair: pair[0])
    source, target = positions[at - 1]
    moved = target + offset - source
    return min(moved, positions[at][1]) if at < len(positions) else moved
