"""Numbers in a text that may begin an address: most texts are full of others. Compiled where possible: see `sheet`."""

__all__ = ["digit_groups"]

# The names below have C types in digits.pxd.
_SPACE, _TAB, _COMMA, _DASH = (ord(c) for c in " \t,-")


def digit_groups(text: str) -> tuple[list[int], list[int]]:
    """Where ZIPs and house numbers may begin."""
    return _groups(text.encode("latin-1", "replace") + b"  ")


def _groups(raw: bytes) -> tuple[list[int], list[int]]:
    zips: list[int] = []
    houses: list[int] = []
    at, size = 0, len(raw)
    while at < size:
        if not _is_digit(raw[at]):
            at += 1
            continue
        start = at
        while _is_digit(raw[at]):  # two blanks end the text
            at += 1
        if at - start == 5 or at - start == 9:
            zips.append(start)
        if at - start <= 6 and _may_lead_on(raw[at], raw[at + 1]):
            houses.append(start)
    return zips, houses


def _may_lead_on(after: int, then: int) -> bool:
    """Whether a street may follow: a letter, comma or dash at once, or a blank and what streets begin with."""
    if after in (_SPACE, _TAB):
        begins = _is_digit(then) or _is_capital(then) or then > 127
        return begins or then in (_SPACE, _TAB, _DASH)
    return _is_capital(after & 0xDF) or after in (_COMMA, _DASH)


def _is_digit(code: int) -> bool:
    return 48 <= code <= 57


def _is_capital(code: int) -> bool:
    return 65 <= code <= 90
