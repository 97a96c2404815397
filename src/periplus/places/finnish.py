"""Whether a text that is too short for its common words to tell its language is Finnish, where names have endings.

"Oulussa sataa lunta" has none of the words by which `pages.language` tells languages apart, but letters and ends that
few other languages have.
"""

import re
from typing import Final

from periplus.pages.language import LANGUAGES_OF

__all__ = ["is_finnish"]

MAX_CHARS: Final = 200
"""Longer texts have common words."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_END: Final = re.compile(r"[aeiouyäölnrst]\Z")
_FOREIGN: Final = re.compile(r"[bcfqwxzåéüõ]|(?<!n)g|th|sh")
_MARK: Final = re.compile(r"aa|ii|uu|yy|ä|ö|(?:ss|st|ll|lt)a\Z|lle\Z|een\Z|nen\Z")


def is_finnish(text: str) -> bool:
    """Whether all words of a short text but names inside it may be Finnish, and one hardly anything else."""
    if len(text) > MAX_CHARS:
        return False
    words = _WORD.findall(text)
    plain = [word.lower() for i, word in enumerate(words) if i == 0 or word.islower()]
    if any(_FOREIGN.search(word) or not _END.search(word) for word in plain):
        return False
    if any("fi" not in LANGUAGES_OF.get(word, ("fi",)) for word in plain):
        return False
    return any(_MARK.search(word.lower()) for word in words)
