"""What the form of a URL promises: learnt while a crawl runs, from which URLs led to pages of the nodes' places.

A sparse logistic correction on top of what `blend` expects: home pages of people (`/~jo/`) have addresses, lecture
notes (`/lec07.html`) have none, and only the crawl can say which forms its sites use. Bounded; new forms after that
say nothing.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["Shapes", "forms"]

MAX_FORMS = 200_000
MAX_FORMS_OF_URL = 12
MEMO_URLS = 8_192
RATE = 0.4
LARGEST = 2.0
"""No form moves the odds by more than e to this."""

WORDS = re.compile(r"[a-z]+|\d+")


@lru_cache(maxsize=MEMO_URLS)
def forms(url: str) -> tuple[str, ...]:
    """The forms of a canonical URL: how deep it is, how it ends, the words of its last parts, its folder."""
    host, _, path = url.partition("://")[2].partition("/")
    path, _, query = path.partition("?")
    parts = path.lower().split("/")
    last = parts[-1]
    ending = last.rpartition(".")[2][:8] if "." in last else "word" if last else "/"
    found = [*_depth_and_end(min(len(parts), 6), ending), f"folder {host}/{parts[0] if len(parts) > 1 else ''}"]
    if query:
        found.append("query")
    if "~" in path:
        found.append(f"home {len(parts)} {ending}")
    for part in parts[-2:]:
        found += _words(part)
    return tuple(dict.fromkeys(found))[:MAX_FORMS_OF_URL]


@lru_cache(maxsize=MEMO_URLS)
def _depth_and_end(depth: int, ending: str) -> tuple[str, ...]:
    return f"depth {depth}", f"end {ending}", f"depth {depth} end {ending}"


@lru_cache(maxsize=MEMO_URLS)
def _words(part: str) -> tuple[str, ...]:
    """The words of a part of a path; the parts of one URL are mostly those of another."""
    return tuple([f"word {word if word.isalpha() else '#'}" for word in WORDS.findall(part)[:4]])


class Shapes:
    """Log odds by form, with their own rates of learning (AdaGrad)."""

    def __init__(self) -> None:
        self._odds: dict[str, float] = {}
        self._moved: dict[str, float] = {}

    def odds(self, found: Sequence[str]) -> float:
        """What the forms add to the log odds of a page being geographic."""
        odds = self._odds
        return sum([odds[form] for form in found if form in odds])

    def learn(self, found: Sequence[str], wrong: float) -> None:
        """Correct the forms of a URL: `wrong` is what came (0 or 1) less what had been expected."""
        for form in found:
            if form not in self._odds and len(self._odds) >= MAX_FORMS:
                continue
            moved = self._moved[form] = self._moved.get(form, 0.0) + wrong * wrong
            odds = self._odds.get(form, 0.0) + RATE * wrong / math.sqrt(moved + 0.1)
            self._odds[form] = max(-LARGEST, min(LARGEST, odds))
