"""Which words stand in the source of a page. Each says whether a search through its whole tree is worth its time."""

from typing import Final

from ahocorasick_rs import BytesAhoCorasick, Implementation

__all__ = ["signs_of"]

WORDS: Final = (
    b"<base",
    b"<frameset",
    b"<time",
    b"adr",
    b"canonical",
    b"card",
    b"content-language",
    b"geo",
    b"hreflang",
    b"ld+json",
    b"postaladdress",
)
_AUTOMATON: Final = BytesAhoCorasick(list(WORDS), implementation=Implementation.DFA)


def signs_of(lower: bytes) -> frozenset[bytes]:
    """Those of WORDS that stand in a source in small letters; one pass for all of them."""
    return frozenset(WORDS[number] for number, _, _ in _AUTOMATON.find_matches_as_indexes(lower, overlapping=True))
