"""Names in texts to places: inner loops of `anchor` and `content`, compiled where there is a C compiler (`.pxd`)."""

from collections.abc import Sequence

from periplus.strategies.conventions import STATES
from periplus.strategies.names import Candidate, Named

__all__ = ["region_after", "settled"]

_STATE_NAMES = frozenset(STATES.values())


def settled(
    hits: Sequence[tuple[int, int, int]], keys: list[str], candidates: dict[str, tuple[Candidate, ...]], text: str
) -> list[Named]:
    """The hits (which name, start, end) that stand as words with a capital; of several places the one in the region
    written after the name, else the first.

    A hit begins with the blank before its name, and so does the text that was searched: it is one letter longer.
    """
    size = len(text)
    found = []
    for pattern, start, end in hits:
        stop = end - 1
        if start >= size or (stop < size and text[stop].isalnum()) or not text[start].isupper():
            continue
        bearers = candidates[keys[pattern]]
        meant = in_region(bearers, region_after(text, stop))
        found.append(Named(start, stop, bearers[0] if meant is None else meant, meant is not None))
    return found


def in_region(bearers: tuple[Candidate, ...], region: str) -> Candidate | None:
    """The first of the places of a name that lies in the region, if one does."""
    if region:
        for candidate in bearers:
            if region in (candidate.division, candidate.division_name, candidate.country_name):
                return candidate
    return None


def region_after(text: str, end: int) -> str:
    """The region written directly after a name: a code in capitals, or the folded name; "" if there is none.

    That is after one to three commas, blanks or brackets: `, TX`, `, Texas`, `(Texas)`, `, New Mexico`.
    """
    size = len(text)
    at = end
    while at < size and at < end + 3 and (text[at] == "," or text[at] == "(" or text[at].isspace()):
        at += 1
    if at == end or at + 1 >= size or not _capital(text[at]):
        return ""
    if _capital(text[at + 1]):
        return _code(text, at, size)
    stop = _word_end(text, at, size)
    if stop == at:
        return ""
    first = text[at:stop].lower()
    if stop + 1 < size and text[stop].isspace() and _capital(text[stop + 1]):
        joined = first + text[stop + 1 : _word_end(text, stop + 1, size)].lower()
        if joined in _STATE_NAMES:
            return joined
    return first


def _code(text: str, at: int, size: int) -> str:
    """The two capitals at `at`, unless more of a word or of a host name follows."""
    after = at + 2
    if after < size:
        if _in_word(text[after]):
            return ""
        if text[after] == "." and after + 1 < size and _in_word(text[after + 1]):
            return ""
    return text[at:after].lower()


def _word_end(text: str, at: int, size: int) -> int:
    """Where the small letters after the capital at `at` end; `at` itself if there are none."""
    stop = at + 1
    while stop < size and "a" <= text[stop] <= "z":
        stop += 1
    return stop if stop > at + 1 else at


def _capital(char: str) -> bool:
    return "A" <= char <= "Z"


def _in_word(char: str) -> bool:
    return char == "_" or char.isalnum()
