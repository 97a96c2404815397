"""The outline of a URL: its folder and its pattern, as marks, in one walk over its characters.

The folder is the host with the first two folders of the path. The pattern is what is left when everything that can be
counted through is taken out: numbers in the path, values in the query; the order of parameters does not count. Each
number and each parameter is a free dimension. Plain Python; compiled where there is a C compiler (`outline.pxd`).
"""

__all__ = ["outline"]

# The names below have C types in outline.pxd.
_BASE, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
_SLASH, _ASK, _AND, _EQUALS, _ZERO, _NINE = ord("/"), ord("?"), ord("&"), ord("="), ord("0"), ord("9")
_MIX, _FOLDERS = 0xFF51AFD7ED558CCD, 3


def outline(url: str) -> tuple[int, int, int]:
    """Marks of folder and pattern of a canonical URL, and the number of its free dimensions."""
    size, at, slashes, dimensions = len(url), url.find("://") + 3, 0, 0
    key = folder = _BASE
    while at < size:
        code = ord(url[at])
        if code == _ASK:
            break
        if code == _SLASH:
            slashes += 1
            if slashes <= _FOLDERS:
                folder = key
        elif slashes and _ZERO <= code <= _NINE:
            dimensions += 1
            while at + 1 < size and _ZERO <= ord(url[at + 1]) <= _NINE:
                at += 1
            code = _ZERO
        key = ((key ^ code) * _PRIME) & _MASK
        at += 1
    if at + 1 < size:
        dimensions += 1 + url.count("&", at)
        key = ((key ^ _names(url, at + 1, size)) * _PRIME) & _MASK
    return _mixed(folder), _mixed(key), dimensions


def _names(url: str, start: int, size: int) -> int:
    """The names of a query's parameters, in whatever order, as one number."""
    total, key, is_name = _ASK, _BASE, True
    for at in range(start, size):
        code = ord(url[at])
        if code == _AND:
            total = (total + key) & _MASK
            key, is_name = _BASE, True
        elif code == _EQUALS:
            is_name = False
        elif is_name:
            key = ((key ^ code) * _PRIME) & _MASK
    return (total + key) & _MASK


def _mixed(key: int) -> int:
    """Every bit depends on all: tables of marks go by the first ones."""
    key = ((key ^ (key >> 33)) * _MIX) & _MASK
    return key ^ (key >> 33)
