"""What stands in the source of a page: one pass over its bytes says which further ones are worth their time.

Words count where markup can mean them: names of elements behind a `<`, the others in what follows a `=`, as the value
of an attribute does, so that prose about cards is no business card. Plain Python; compiled where there is a C compiler
(`signs.pxd` gives the types).
"""

from typing import Final

__all__ = ["CONTROL_SIGN", "CROWD_SIGN", "CROWD_TAGS", "REFERENCE_SIGN", "TURNING_SIGN", "signs_of"]

CONTROL_SIGN, REFERENCE_SIGN, TURNING_SIGN, CROWD_SIGN = b"\0", b"&#", b"\xe2", b"<"
"""Signs of control characters, of characters given by number, of what may turn the direction of text, and of very many
tags."""

CROWD_TAGS = 4_000
"""Tags, ends included, that are no crowd yet."""

ELEMENTS: Final = (b"base", b"frameset", b"noscript", b"svg", b"time")
VALUES: Final = (
    b"adr",
    b"canonical",
    b"card",
    b"content-language",
    b"geo",
    b"ld+json",
    b"next",
    b"postaladdress",
    b"published",
)
NAME: Final = b"hreflang"
WORDS: Final = (*ELEMENTS, *VALUES, NAME, CONTROL_SIGN, REFERENCE_SIGN, TURNING_SIGN, CROWD_SIGN)


def _of_first_letter(byte: int, words: tuple[bytes, ...]) -> list[int]:
    return [number for number, word in enumerate(WORDS) if word in words and word[:1] == bytes([byte]).lower()]


# The names below have C types in signs.pxd.
_NOTHING, _TAG, _VALUE, _REFERENCE, _TURNING, _CONTROL = range(6)
_SORTS = bytes(
    _CONTROL
    if byte < 0x20 and byte not in b"\t\n\f\r"
    else {b"<": _TAG, b"=": _VALUE, b"&": _REFERENCE, b"\xe2": _TURNING}.get(bytes([byte]), _NOTHING)
    for byte in range(256)
)
_LOWER = bytes(range(256)).lower()
_ELEMENT = bytes((*_of_first_letter(byte, ELEMENTS), 255)[0] for byte in range(256))
_FIRST = bytes((*_of_first_letter(byte, VALUES), 0)[0] for byte in range(256))
_COUNT = bytes(len(_of_first_letter(byte, VALUES)) for byte in range(256))
_BLANK = bytes(byte in b"\t\n\f\r " for byte in range(256))
_NONE, _MORE, _QUOTE, _APOSTROPHE, _HASH = 255, ord(">"), ord('"'), ord("'"), ord("#")
_HREFLANG, _HREFLANG_SIZE, _HREFLANG_END = WORDS.index(NAME), len(NAME), ord("g")
_CONTROL_BIT, _REFERENCE_BIT, _TURNING_BIT, _CROWD_BIT = (
    1 << WORDS.index(sign) for sign in (CONTROL_SIGN, REFERENCE_SIGN, TURNING_SIGN, CROWD_SIGN)
)
_CROWD_TAGS = CROWD_TAGS


def signs_of(source: bytes) -> frozenset[bytes]:
    """Those of WORDS that stand in a source, in letters of any size."""
    found = Look(source).run()
    return frozenset(word for number, word in enumerate(WORDS) if found >> number & 1)


class Look:
    """What was found up to here, a bit a word."""

    def __init__(self, source: bytes) -> None:
        self.codes = source
        self.size = len(source)
        self.found = 0
        self.bare_until = 0  # values without quotes were read up to here

    def run(self) -> int:
        """Look at every byte, and at those behind a `=` at most three times more."""
        codes, size, sorts, tags = self.codes, self.size, _SORTS, 0
        for at in range(size):
            sort = sorts[codes[at]]
            if sort != _NOTHING:
                if sort == _VALUE:
                    self.see_name(codes, at - 1)
                    self.see_value(codes, at + 1)
                elif sort == _TAG:
                    tags += 1
                    if at + 1 < size and _ELEMENT[codes[at + 1]] != _NONE:
                        self.see_word(codes, at + 1, _ELEMENT[codes[at + 1]])
                elif sort == _REFERENCE:
                    if at + 1 < size and codes[at + 1] == _HASH:
                        self.found |= _REFERENCE_BIT
                else:
                    self.found |= _CONTROL_BIT if sort == _CONTROL else _TURNING_BIT
        return self.found | (_CROWD_BIT if tags > _CROWD_TAGS else 0)

    def see_name(self, codes: bytes, end: int) -> None:
        """The name before a `=`."""
        at = end
        while at >= 0 and _BLANK[codes[at]]:
            at -= 1
        at -= _HREFLANG_SIZE - 1
        if at >= 0 and _LOWER[codes[at + _HREFLANG_SIZE - 1]] == _HREFLANG_END:
            self.see_word(codes, at, _HREFLANG)

    def see_value(self, codes: bytes, start: int) -> None:
        """What follows a `=`: all up to the other quote, or to a blank or the end of the tag."""
        at, size = start, self.size
        while at < size and _BLANK[codes[at]]:
            at += 1
        quote = codes[at] if at < size else 0
        if quote in (_QUOTE, _APOSTROPHE):
            at += 1
            while at < size and codes[at] != quote:
                if _COUNT[codes[at]]:
                    self.see_words(codes, at)
                at += 1
        elif at >= self.bare_until:
            while at < size and not _BLANK[codes[at]] and codes[at] != _MORE:
                if _COUNT[codes[at]]:
                    self.see_words(codes, at)
                at += 1
            self.bare_until = at

    def see_words(self, codes: bytes, at: int) -> None:
        """The words that begin with this letter."""
        first = _FIRST[codes[at]]
        for number in range(first, first + _COUNT[codes[at]]):
            self.see_word(codes, at, number)

    def see_word(self, codes: bytes, at: int, number: int) -> None:
        """A word, if it stands there."""
        word = WORDS[number]
        length = len(word)
        if at + length > self.size:
            return
        for place in range(length):
            if _LOWER[codes[at + place]] != word[place]:
                return
        self.found |= 1 << number
