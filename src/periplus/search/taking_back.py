"""A question without one of its parts, as it would be typed: for who wants to take back a place or a time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from periplus.search.several import Range
from periplus.search.where import PlaceWords
from periplus.search.words import Operator, Word

__all__ = ["WHOLE", "Without", "text_without", "without_places"]


@dataclass(frozen=True, slots=True)
class Without:
    """The question's text without a part; None where the part is not in its words."""

    where: str | None = None
    also: tuple[str, ...] = ()
    excluded: str | None = None
    when: str | None = None

    def to_json(self) -> dict[str, Any]:
        """By the names that the parts have in a query."""
        return {"where": self.where, "also": list(self.also), "excluded": self.excluded, "when": self.when}


WHOLE = Without()
"""A question of which nothing can be taken back."""


def text_without(text: str, parts: Sequence[Word | Operator]) -> str | None:
    """The text without these parts; None if there are none."""
    return _replaced(text, parts, "") if parts else None


def _replaced(text: str, parts: Sequence[Word | Operator], instead: str) -> str:
    """The text with something else where the first of these parts stands, and nothing where the others do."""
    spans = sorted(part.span for part in parts)
    for start, end in reversed(spans):
        text = f"{text[:start]} {instead if start == spans[0][0] else ''} {text[end:]}"
    return re.sub(r"\s+", " ", text.replace("(", " ").replace(")", " ")).strip(" ,")


def without_places(
    text: str, words: Sequence[Word], found: PlaceWords, given: Sequence[Operator] = ()
) -> tuple[str, ...]:
    """The text without the first of the places that were found in it, without the second, and so on.

    `given`: operators that say which place of that name is meant; they go in any case.
    """
    taken: list[Word | Operator] = [*words[found.start : found.end], *given]
    return tuple(
        _replaced(text, taken, _said(words, found, [name for name in found.names if name != left_out]))
        for left_out in found.names or (None,)
    )


def _said(words: Sequence[Word], found: PlaceWords, names: Sequence[Range]) -> str:
    """A question's place words with these names only."""
    said = " or ".join(_name(words[start:end]) for start, end in names)
    if not said or (names[0] == found.names[0] and not found.ends):
        return said  # with what stands before it
    km = found.reach.km
    return f"in {said}" if km is None else f"within {km:g} km of {said}"


def _name(words: Sequence[Word]) -> str:
    return " ".join(word.text + "," * word.comma for word in words).rstrip(",")
