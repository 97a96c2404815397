"""Numbers in a text that may begin an address: most texts are full of others. Compiled where possible: see `sheet`."""

__all__ = ["digit_groups"]

# The names below have C types in digits.pxd.
_SPACE, _TAB, _COMMA, _DASH, _ZERO, _NINE = (ord(c) for c in " \t,-09")


def digit_groups(text: str) -> tuple[list[int], list[int]]:
    """Where ZIPs and house numbers may begin."""
    return _groups(text.encode("latin-1", "replace") + b"  ")


def _groups(raw: bytes) -> tuple[list[int], list[int]]:
    zips: list[int] = []
    houses: list[int] = []
    at, size = 0, len(raw)
    while at < size:
        if raw[at] < _ZERO or raw[at] > _NINE:
            at += 1
            continue
        start = at
        while _ZERO <= raw[at] <= _NINE:  # two blanks end the text
            at += 1
        if at - start == 5 or at - start == 9:
            zips.append(start)
        if at - start <= 6 and _may_lead_on(raw[at], raw[at + 1]):
            houses.append(start)
    return zips, houses


def _may_lead_on(after: int, then: int) -> bool:
    """Whether a street may follow: a letter, comma or dash at once, or a blank and what streets begin with."""
    if after == _SPACE or after == _TAB:
        begins = _ZERO <= then <= _NINE or _is_capital(then) or then > 127
        return begins or then == _SPACE or then == _TAB or then == _DASH
    return _is_capital(after & 0xDF) or after == _COMMA or after == _DASH


def _is_capital(code: int) -> bool:
    return 65 <= code <= 90
