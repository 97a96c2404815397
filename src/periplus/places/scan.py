"""Names in a text: every run of tokens that some place is called, before anything is judged.

Runs start and end with a capital (or a letter of a script without capitals) and do not cross sentences, commas or
lines. All runs of a page are looked up at once; nothing here is a loop over tokens in Python. Besides plain names
there are built ones: "Neches River", "Lake Harriet", "East Texas", "Nyanza Province", around a known name or not.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.places.folding import (
    CASELESS,
    GAP_HYPHEN,
    GAP_JOIN,
    GAP_POSSESSIVE,
    GAP_SPACE,
    GAP_STOP,
    MAX_CHARS,
    SOLO,
    UPPER,
    Tokens,
    tokenise,
)
from periplus.places.gazetteer import Gazetteer
from periplus.places.lexicon import CLASSES

__all__ = ["BUILT", "Hits", "pieces", "scan"]

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
U32 = npt.NDArray[np.uint32]

Span = tuple[I64, I64, I64, int]
"""First tokens, last tokens, names, and how built."""

MAX_TOKENS: Final = 7
MAX_SOLO_TOKENS: Final = 8
_MAX_ABBREVIATION: Final = 3
_JOINS: Final = np.isin(np.arange(8), (GAP_SPACE, GAP_HYPHEN, GAP_JOIN, GAP_POSSESSIVE))  # gaps that a name may bridge

BUILT: Final = ("plain", "landform", "landform_new", "lake", "lake_new", "direction", "division", "division_new")
"""How a hit came about; those that end in _new hold no known name."""

BIT: Final = {name: np.uint32(1 << i) for i, name in enumerate(CLASSES)}
_NO_NAME: Final = sum(1 << CLASSES.index(n) for n in (
    "article", "locative", "preposition", "conjunction", "be_have", "month_day", "title", "saying", "organisation",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hits:
    """Runs of tokens that may be places: first and last token, the name within (-1: none known), how built."""

    tokens: Tokens
    first: I64
    last: I64
    name: I64
    built: npt.NDArray[np.uint8]
    facts: npt.NDArray[np.int32]  # of the name: two areas it may name; kind, size, word, many; short form
    bits: U32  # word classes of all tokens
    keys: npt.NDArray[np.uint64]  # of all tokens
    slots: I64  # of all tokens in the table of words

    def __len__(self) -> int:
        return len(self.first)

    def only(self, keep: I64) -> "Hits":
        """Some of the hits of the same text."""
        return Hits(
            self.tokens, self.first[keep], self.last[keep], self.name[keep], self.built[keep],
            self.facts[keep], self.bits, self.keys, self.slots,
        )  # fmt: skip


def pieces(text: str) -> list[tuple[int, str]]:
    """The text in pieces short enough for `tokenise`, each with its offset, cut at line ends or spaces."""
    if len(text) <= MAX_CHARS - 8:
        return [(0, text)]
    cut: list[tuple[int, str]] = []
    at = 0
    while at < len(text):
        end = min(len(text), at + MAX_CHARS - 8)
        if end < len(text):
            for mark in ("\n", " "):
                found = text.rfind(mark, at + MAX_CHARS // 2, end)
                if found > 0:
                    end = found + 1
                    break
        cut.append((at, text[at:end]))
        at = end
    return cut


def scan(text: str, gazetteer: Gazetteer) -> Hits:
    """All names in one piece of text, overlapping ones included, by first token and then by length."""
    tokens = tokenise(text)
    everyone = np.arange(len(tokens))
    keys = tokens.key(everyone, everyone)
    slots = gazetteer.word_slots(keys)
    bits = gazetteer.arrays["word_bits"][slots]
    first, last, name = _plain(tokens, keys, gazetteer)
    built = np.zeros(len(first), dtype=np.uint8)
    if len(tokens):
        extra = _built(tokens, bits, first, last, name)
        first, last, name = (np.concatenate([a, b]) for a, b in zip((first, last, name), extra[:3], strict=True))
        built = np.concatenate([built, extra[3]])
    order = np.lexsort((last, first))
    name = name[order]
    facts = gazetteer.arrays["name_facts"][np.maximum(name, 0)]
    return Hits(tokens, first[order], last[order], name, built[order], facts, bits, keys, slots)


def _plain(tokens: Tokens, keys: npt.NDArray[np.uint64], gazetteer: Gazetteer) -> tuple[I64, I64, I64]:
    able = (tokens.cls & (UPPER | CASELESS)) != 0
    short = (tokens.end - tokens.start) <= _MAX_ABBREVIATION
    gap = tokens.gap
    joined = _JOINS[gap] | ((gap == GAP_STOP) & short)
    at = np.flatnonzero(able)
    firsts, lasts = [at], [at]
    reach = at
    solo = (tokens.cls & SOLO) != 0
    for n in range(1, MAX_SOLO_TOKENS):
        reach = reach[joined[reach + n - 1]]
        reach = reach[reach + n < len(tokens)]
        if n >= MAX_TOKENS - 1:
            reach = reach[solo[reach]]
        if not len(reach):
            break
        closed = reach[able[reach + n]]
        firsts.append(closed)
        lasts.append(closed + n)
    first, last = np.concatenate(firsts), np.concatenate(lasts)
    wanted = keys[at]
    if len(first) > len(at):
        wanted = np.concatenate([wanted, tokens.key(first[len(at) :], last[len(at) :])])
    name = gazetteer.name_index(wanted)
    known = np.flatnonzero(name >= 0)
    first, last, name = first[known], last[known], name[known]
    form = gazetteer.arrays["name_facts"][name, 3]
    in_caps = ((form & 1) != 0) & tokens.all_upper[first] & tokens.all_upper[last]
    with_stop = ((form & 2) != 0) & tokens.stopped[last] & ~tokens.all_upper[last]
    good = ((form == 0) | in_caps | with_stop) & ~tokens.money[last]
    return first[good], last[good], name[good]


def _built(tokens: Tokens, bits: U32, first: I64, last: I64, name: I64) -> tuple[I64, I64, I64, npt.NDArray[np.uint8]]:
    """Names made of a generic word and something with a capital, where no plain name covers them."""
    n = len(tokens)
    capital = (tokens.cls & UPPER) != 0
    spaced = np.append((tokens.gap[:-1] == GAP_SPACE) & capital[:-1] & capital[1:], False)  # token i and i + 1
    ends_here, starts_here = np.full(n, -1), np.full(n, -1)  # the longest plain hit that ends or starts at a token
    longest_last = np.argsort(first - last, kind="stable")[::-1]
    ends_here[last[longest_last]] = longest_last
    starts_here[first[longest_last]] = longest_last
    plain = ((bits & np.uint32(_NO_NAME)) == 0) & capital
    found: list[Span] = []
    for kind, word in (("landform", "landform"), ("division", "division_word")):
        t = np.flatnonzero(((bits & BIT[word]) != 0) & capital)
        t = t[t > 0]
        t = t[spaced[t - 1]]
        base = ends_here[t - 1]
        known = base >= 0
        found.append((first[base[known]], t[known], name[base[known]], BUILT.index(kind)))
        new = t[~known & plain[t - 1] & ((bits[t - 1] & BIT["direction"]) == 0)]
        wider = (new >= 2) & spaced[new - 2] & plain[new - 2]
        found.append((np.where(wider, new - 2, new - 1), new, np.full(len(new), -1), BUILT.index(kind + "_new")))
    t = np.flatnonzero(((bits & BIT["landform_first"]) != 0) & capital)
    t = t[t + 1 < n]
    t = t[spaced[t] | ((tokens.gap[t] == GAP_STOP) & capital[t + 1])]
    found += _after(t, starts_here, last, name, plain=plain, kind="lake")
    t = np.flatnonzero(((bits & BIT["direction"]) != 0) & capital)
    t = t[t + 1 < n]
    t = t[capital[t + 1] & ((tokens.gap[t] == GAP_SPACE) | (tokens.gap[t] == GAP_HYPHEN))]
    base = starts_here[t + 1]
    t, base = t[base >= 0], base[base >= 0]
    found.append((t, last[base], name[base], BUILT.index("direction")))
    head, tail, base_name = (np.concatenate([x[i] for x in found]) for i in range(3))
    how = np.concatenate([np.full(len(x[0]), x[3], dtype=np.uint8) for x in found])
    longest = starts_here[head]
    taken = (longest >= 0) & (last[longest] >= tail) if len(last) else np.zeros(len(head), dtype=np.bool_)
    _, once = np.unique(head * np.int64(n) + tail, return_index=True)
    keep = once[~taken[once]]
    return head[keep], tail[keep], base_name[keep], how[keep]


def _after(t: I64, starts_here: I64, last: I64, name: I64, *, plain: Bool, kind: str) -> list[Span]:
    """Generic word first: with the known name that follows it, or with the next capital."""
    base = starts_here[t + 1]
    known = base >= 0
    new = t[~known & plain[t + 1]]
    return [
        (t[known], last[base[known]], name[base[known]], BUILT.index(kind)),
        (new, new + 1, np.full(len(new), -1), BUILT.index(kind + "_new")),
    ]
