"""Characters for `places`: how text becomes tokens, and how any run of tokens gets a 64-bit key at once.

Names and texts go through the same door, so "São Tomé", "SAO TOME" and "Sao  Tome" have one key, and so have
"St. Louis" and "St Louis". The key of a run of tokens is a difference of two prefix sums, which lets numpy
work out the keys of all n-grams of a page without touching a Python string.
"""

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_CHARS", "Tokens", "adopt_tables", "fold", "made_tables", "name_key", "name_keys", "tokenise"]

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]

MAX_CHARS: Final = 1 << 16
"""The longest text `tokenise` takes; callers cut longer ones at line ends."""

WORD: Final = 1  # letters, digits and marks
UPPER: Final = 2
LOWER: Final = 4
DIGIT: Final = 8
SOLO: Final = 16  # scripts without spaces: every character is a token of its own
CASELESS: Final = 32  # letters of scripts without capitals
APOSTROPHE: Final = 64
SPACE: Final = 128

GAP_JOIN: Final = 0  # nothing between (scripts without spaces)
GAP_SPACE: Final = 1  # spaces only
GAP_HYPHEN: Final = 2
GAP_STOP: Final = 3  # a full stop and perhaps spaces
GAP_COMMA: Final = 4
GAP_LINE: Final = 5  # a line break, whatever else
GAP_OTHER: Final = 6
GAP_POSSESSIVE: Final = 7  # an apostrophe before a final s

_PREFIX: Final = 8
KEY_BASE: Final = 0x9E3779B97F4A7C15 | 1
KEY_MIX: Final = 0xBF58476D1CE4E5B9
_MASK: Final = (1 << 64) - 1
_APOSTROPHES: Final = "'’‘ʼʻ`´"
_HYPHENS: Final = "-‐‑‒–"
_SOLO_RANGES: Final = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
)  # fmt: skip
_DROPPED_MARKS: Final = (
    (0x0300, 0x036F), (0x0591, 0x05C7), (0x064B, 0x065F), (0x093C, 0x093C), (0x09BC, 0x09BC), (0x200B, 0x200F),
    (0x202A, 0x202E),
)  # fmt: skip
_SINGLE: Final = {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i", "İ": "i", "ə": "e", "Ə": "e"}


def _fold_char(char: str) -> int:
    """The one character that stands for `char` in keys; 0 if it leaves no trace."""
    code = ord(char)
    if any(low <= code <= high for low, high in _DROPPED_MARKS) or code in (0xAD, 0xFEFF):
        return 0
    if char in _SINGLE:
        return ord(_SINGLE[char])
    if 0xAC00 <= code <= 0xD7A3 or (0x0900 <= code <= 0x0DFF and unicodedata.category(char) == "Mc"):
        return code  # Hangul syllables would fall apart into letters, Indic vowels of two signs into one of them
    base = unicodedata.normalize("NFKD", char)[:1].lower()[:1]
    return ord(base) if base and ord(base) < 0x10000 else code


def _class_of(char: str) -> int:
    """The bits that say how `char` takes part in tokens."""
    code = ord(char)
    if char in _APOSTROPHES:
        return APOSTROPHE
    if char.isspace():
        return SPACE
    category = unicodedata.category(char)
    if _fold_char(char) == 0:
        return WORD if category in ("Mn", "Cf") else 0
    if category[0] == "N":
        return WORD | DIGIT
    if category[0] not in "LM":
        return 0
    if any(low <= code <= high for low, high in _SOLO_RANGES):
        return WORD | SOLO | CASELESS
    if category in ("Lu", "Lt"):
        return WORD | UPPER
    return WORD | LOWER if category == "Ll" else WORD | CASELESS


_adopted: list[tuple[U64, U8, U8]] = []


def char_tables() -> tuple[U64, U8, U8]:
    """Fold, class and, as what separates tokens, kind of gap of every character."""
    return _adopted[0] if _adopted else made_tables()


def adopt_tables(folds: U64, classes: U8, marks: U8) -> None:
    """Take the tables from a compiled gazetteer, which spares every process the time to make them."""
    if not _adopted:
        _adopted.append((folds, classes, marks))


@cache
def made_tables() -> tuple[U64, U8, U8]:
    """The tables worked out from Python's Unicode data, once a process."""
    folds = np.zeros(0x10000, dtype=np.uint64)
    classes = np.zeros(0x10000, dtype=np.uint8)
    marks = np.full(0x10000, GAP_OTHER, dtype=np.uint8)
    for code in range(0x10000):
        if 0xD800 <= code < 0xF900 or code == 0xFFFF:  # surrogates, private use: never part of a name
            continue
        char = chr(code)
        classes[code] = _class_of(char)
        folds[code] = _fold_char(char)
    marks[(classes & SPACE) != 0] = GAP_SPACE
    marks[(classes & APOSTROPHE) != 0] = GAP_POSSESSIVE
    for chars, kind in (
        ("\n\r\x0b\x0c\x85\u2028\u2029", GAP_LINE),
        (".", GAP_STOP),
        (",", GAP_COMMA),
        (_HYPHENS, GAP_HYPHEN),
    ):
        marks[[ord(c) for c in chars]] = kind
    return folds, classes, marks


@cache
def _powers() -> tuple[U64, U64]:
    """Powers of the base and of its inverse modulo 2**64."""
    size = 2 * MAX_CHARS + 2 * _PREFIX
    inverse = pow(KEY_BASE, -1, 1 << 64)
    up, down = np.empty(size, dtype=np.uint64), np.empty(size, dtype=np.uint64)
    a = b = 1
    for i in range(size):
        up[i], down[i] = a, b
        a, b = (a * KEY_BASE) & _MASK, (b * inverse) & _MASK
    return up, down


def _mix(keys: U64) -> U64:
    """Spread the polynomial sums over all bits, so that high and low bits can both index tables."""
    keys = keys ^ (keys >> np.uint64(31))
    keys = keys * np.uint64(KEY_MIX)
    return keys ^ (keys >> np.uint64(29))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text: where they start and end, what they look like, what lies between them.

    All arrays have one entry per token; `stopped` says that a full stop follows directly, `money` that a dollar sign
    touches it, `gap[i]` is what lies between token i and token i + 1 (GAP_LINE after the last). `cls` are the class
    bits of the first character. `key(a, b)` is vectorised over runs of tokens.
    """

    start: I64
    end: I64
    cls: U8
    all_upper: Bool
    gap: U8
    stopped: Bool
    money: Bool
    _sum_before: U64
    _sum_after: U64
    _inverse: U64

    def __len__(self) -> int:
        return len(self.start)

    def key(self, first: I64, last: I64) -> U64:
        """Keys of the runs from token `first` to token `last`, both included."""
        return _mix((self._sum_after[last] - self._sum_before[first]) * self._inverse[first])


def codes_of(text: str) -> npt.NDArray[np.uint16]:
    """The text as code points, one a character; what lies outside the basic plane is 0xFFFF (never a name)."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype=np.uint16)
    if len(units) == len(text):  # nothing lies outside
        return units
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.minimum(codes, np.uint32(0xFFFF)).astype(np.uint16)


def _padded(text: str) -> I64:
    """Code points between one zero before and two behind, as indices into the tables of characters."""
    if text.isascii():
        return np.frombuffer(b"\0" + text.encode("ascii") + b"\0\0", dtype=np.uint8).astype(np.int64)
    padded = np.zeros(len(text) + 3, dtype=np.int64)
    padded[1:-2] = codes_of(text)
    return padded


def tokenise(text: str) -> Tokens:
    """Split a text of at most `MAX_CHARS` characters into tokens with keys."""
    folds, classes, _ = char_tables()
    padded = _padded(text)
    cls = classes.take(padded)
    word = (cls & WORD).view(np.bool_)
    inside = word
    at = np.flatnonzero(((cls & APOSTROPHE) != 0) | (padded == 46))
    if len(at):
        inside = word.copy()
        joins = _joiners(padded, cls, word, at)
        inside[at[joins]] = True
    edge = inside[1:] != inside[:-1]
    if not text.isascii():
        solo = (cls & SOLO) != 0
        edge |= (inside[1:] & inside[:-1]) & (solo[1:] | solo[:-1])
    first = np.flatnonzero(edge & inside[1:]) + 1
    last = np.flatnonzero(edge & inside[:-1])
    return _with_keys(padded, folds, cls, word, first=first, last=last)


def _joiners(padded: I64, cls: U8, word: Bool, at: I64) -> Bool:
    """Which apostrophes stand inside words and which full stops inside abbreviations: they do not end a token."""
    stop = padded[at] == 46
    before, after = cls[at - 1], cls[at + 1]
    possessive = ((padded[at + 1] | 32) == ord("s")) & ~word[np.minimum(at + 2, len(word) - 1)]
    joined = ((before & WORD) != 0) & ((after & WORD) != 0) & ((before | after) & SOLO == 0)
    apostrophe = joined & ~possessive
    initials = ((before & UPPER) != 0) & ((after & UPPER) != 0) & ~word[np.maximum(at - 2, 0)]
    return np.asarray(np.where(stop, initials, apostrophe), dtype=np.bool_)


def _with_keys(padded: I64, folds: U64, cls: U8, word: Bool, *, first: I64, last: I64) -> Tokens:
    """Prefix sums over the folded characters, with one space before every token that is not solo."""
    up, down = _powers()
    values = folds.take(padded)
    values *= word
    step = (values != 0).view(np.int8)
    head_cls = cls[first]
    solo = (head_cls & SOLO) != 0
    spaced = first[~solo] if solo.any() else first
    counted = step[spaced]
    step[spaced] += 1
    position = np.cumsum(step, dtype=np.int32)
    terms = values * up.take(position)
    terms[spaced] += np.uint64(32) * up.take(position[spaced] - counted)
    sums = np.cumsum(terms)
    at_first = position[first] + (step[first] == 1) * ~solo  # a first character that leaves no trace takes no place
    small = (cls[first + 1] | cls[last]) & LOWER
    elided = ((cls[first + 1] & APOSTROPHE) != 0) & ((cls[first + 2] & UPPER) != 0)  # "d'Ivoire" has its capital inside
    head_cls = np.where(elided, head_cls | UPPER, head_cls)
    return Tokens(
        start=first - 1,
        end=last,
        cls=head_cls,
        all_upper=((head_cls & UPPER) != 0) & (small == 0),
        gap=_gaps(padded, first, last),
        stopped=padded[last + 1] == 46,
        money=(padded[last + 1] == 36) | (padded[first - 1] == 36),
        _sum_before=sums[first] - values[first] * up.take(at_first),
        _sum_after=sums[last],
        _inverse=down.take(at_first),
    )


def _gaps(padded: I64, first: I64, last: I64) -> U8:
    """What lies between each token and the next: by the character, or the two, between them; seldom by more."""
    gap = np.full(len(first), GAP_LINE, dtype=np.uint8)
    if len(first) < 2:
        return gap
    marks = char_tables()[2]
    low = last[:-1] + 1
    width = first[1:] - low
    kind = marks.take(padded[low])
    kind[width == 0] = GAP_JOIN
    wide = np.flatnonzero(width > 1)
    if len(wide):
        kind[wide] = _wide_gaps(padded, marks, low[wide], width[wide], kind[wide])
    gap[:-1] = kind
    return gap


def _wide_gaps(padded: I64, marks: U8, low: I64, width: I64, head: U8) -> U8:
    """Gaps of several characters: a line break wins, then one mark among spaces, else something other."""
    bounds = np.stack([low, low + width], axis=1).ravel()
    seen = marks.take(padded)
    line = np.maximum.reduceat(seen == GAP_LINE, bounds)[::2]
    blanks = np.add.reduceat(seen == GAP_SPACE, bounds, dtype=np.int64)[::2]
    lone = (blanks == width - 1) & ((head == GAP_STOP) | (head == GAP_COMMA))
    return np.where(line, GAP_LINE, np.where(blanks == width, GAP_SPACE, np.where(lone, head, GAP_OTHER)))


def fold(text: str) -> str:
    """The text as keys see it: no case, no diacritics, one space between tokens. For people and messages."""
    folds, _, _ = char_tables()
    tokens = tokenise(text[:MAX_CHARS])
    pieces: list[str] = []
    for start, end, cls in zip(tokens.start, tokens.end, tokens.cls, strict=True):
        piece = "".join(chr(c) for c in folds[codes_of(text[start:end])].tolist() if c and chr(c) not in "'.’")
        pieces.append(piece if cls & SOLO else " " + piece)
    return "".join(pieces).strip()


def name_key(name: str) -> int:
    """The key of one name: all its tokens as one run; 0 for a text without a single letter."""
    tokens = tokenise(name[:MAX_CHARS])
    if not len(tokens):
        return 0
    return int(tokens.key(np.array([0]), np.array([len(tokens) - 1]))[0])


def name_keys(names: list[str]) -> U64:
    """Keys of many names, 0 for those without a letter; a few million a second."""
    keys = np.zeros(len(names), dtype=np.uint64)
    chunk: list[int] = []
    size = 0
    for i, name in enumerate(names):
        if size + len(name) + 1 > MAX_CHARS:
            _chunk_keys(names, chunk, keys)
            chunk, size = [], 0
        chunk.append(i)
        size += len(name) + 1
    _chunk_keys(names, chunk, keys)
    return keys


def _chunk_keys(names: list[str], chunk: list[int], keys: U64) -> None:
    """Fill in the keys of names[i] for i in `chunk`, one tokenised text for all of them."""
    if not chunk:
        return
    text = "\n".join(names[i].replace("\n", " ").replace("\r", " ") for i in chunk)
    tokens = tokenise(text)
    if not len(tokens):
        return
    lengths = np.array([len(names[i]) + 1 for i in chunk], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    first = np.searchsorted(tokens.start, starts, side="left")
    last = np.searchsorted(tokens.start, starts + lengths, side="left") - 1
    some = np.flatnonzero(last >= first)
    keys[np.array(chunk)[some]] = tokens.key(first[some], last[some])
