"""How many blanks lie in a stretch of text: words are counted by them.

Plain Python; compiled where there is a C compiler (`blanks.pxd` gives the types), many characters at a time.
"""

__all__ = ["blanks", "byte_each"]


def byte_each(text: str) -> bytes:
    """The text with one byte for each character, so that places in it stay the same; blanks stay blanks."""
    return text.encode("latin-1", "replace")


def blanks(codes: bytes, start: int, end: int) -> int:
    """How many spaces and line breaks lie between two places of such a text."""
    found = 0
    for at in range(start, end):
        found += (codes[at] == 0x20) + (codes[at] == 0x0A)
    return found
