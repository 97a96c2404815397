"""While a person types, and when they mistyped: completions, and "did you mean"."""

import re
from collections.abc import Callable, Iterable, Sequence

from periplus.search.atlas import Atlas, KnownPlace, name_key
from periplus.search.openings import opening
from periplus.search.words import Word

__all__ = ["Vocabulary", "complete_places", "complete_words", "did_you_mean"]

Vocabulary = Callable[[str, int | None], Iterable[tuple[str, int]]]
"""Words that begin so, with how many pages have them; at most so many."""

MOST_EDITS = 2
LONG_WORD = 7
"""Letters from which two may be wrong: "rodeo" is no misspelt "rose"."""

SHORTEST = 4
"""Letters of a word that can be mistyped; shorter ones look like too many others."""

PLACE_WORDS = 4
"""Words at the end of what was typed that may be the beginning of a place's name."""

FAR_MORE = 5
"""How many times more pages a place must have than a word that is taken for its name misspelt."""

_LAST_WORD = re.compile(r"[^\W_]+$")


def complete_places(typed: str, atlas: Atlas, most: int) -> tuple[str, list[KnownPlace]]:
    """Places whose names begin with the last words typed ("pizza in new yo"), and what stands before them."""
    starts = [match.start() for match in re.finditer(r"(?<!\S)\S", typed)][-PLACE_WORDS:]
    for start in starts:
        if found := atlas.beginning_with(typed[start:], most):
            return typed[:start], found
    return typed, []


def complete_words(typed: str, vocabulary: Vocabulary, most: int) -> list[tuple[str, int]]:
    """What was typed with its last word completed, and how many pages have that word, the commonest first."""
    last = _LAST_WORD.search(typed)
    if last is None or len(last[0]) < 2:
        return []
    before = typed[: last.start()]
    return [(before + word, count) for word, count in vocabulary(last[0].lower(), most) if word != last[0].lower()]


def did_you_mean(
    text: str, words: Sequence[Word], atlas: Atlas, vocabulary: Vocabulary, pages_with: Callable[[str], int]
) -> str:
    """The question with each word that no page has replaced by one that looks like it; empty if there is none.

    Behind "in" a word that few pages have may be a misspelt place: "in Huston".
    """
    corrected = text
    for at, word in enumerate(words):
        if word.quoted or word.excluded or len(word.text) < SHORTEST or not word.text.isalpha():
            continue
        pages = pages_with(word.text)
        if pages and not (at and opening(words, at - 1)):
            continue
        better = _place_name(word.text, atlas)
        if pages and (not better or atlas.named(better)[0].pages < FAR_MORE * pages):
            continue
        if not better and not atlas.is_elsewhere(word.text):  # Lagos is no misspelt "lasts"
            better = _word(word.text.lower(), vocabulary)
        if better:
            corrected = re.sub(rf"(?<![^\W_]){re.escape(word.text)}(?![^\W_])", lambda _: better, corrected, count=1)  # noqa: B023  # used at once
    return corrected if corrected != text else ""


def _place_name(text: str, atlas: Atlas) -> str:
    names = atlas.similar_names(text, 1)
    return names[0] if names and distance(name_key(names[0]), name_key(text)) <= _most_edits(text) else ""


def _most_edits(text: str) -> int:
    return MOST_EDITS if len(text) >= LONG_WORD else 1


def _word(text: str, vocabulary: Vocabulary) -> str:
    """The commonest of the nearest words with the same first letter."""
    nearest = [
        (edits, -count, other)
        for other, count in vocabulary(text[:1], None)
        if abs(len(other) - len(text)) <= MOST_EDITS and (edits := distance(text, other)) <= _most_edits(text)
    ]
    return min(nearest)[2] if nearest else ""


def distance(one: str, other: str) -> int:
    """How many letters must be added, dropped, replaced or swapped with the next; more than MOST_EDITS is 99."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row, last = row, [i], before
        for j, wanted in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                best = min(best, last[j - 2] + 1)
            row.append(best)
        if min(row) > MOST_EDITS:
            return 99
    return row[-1] if row[-1] <= MOST_EDITS else 99
