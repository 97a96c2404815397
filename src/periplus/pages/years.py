"""Where the years of what look like whole dates stand in a text: one walk over its characters.

Plain Python; compiled where there is a C compiler (`years.pxd` gives the types).
"""

__all__ = ["years_of_days"]

MOST_YEARS = 200
"""Years of a text that are looked at, those before 2000 first."""

# The names below have C types in years.pxd.
_MOST_YEARS = MOST_YEARS
_FARTHEST = 23


def years_of_days(text: str, limit: int) -> list[int]:
    """Where the years (1990 to 2099) of whole dates begin, among the first so many characters.

    A year is four digits by themselves. It is a date's if a digit comes shortly before it, or right behind it.
    """
    years = _years(text, "199", 1, limit) + _years(text, "20", 0, limit)
    return [start for start in years[:_MOST_YEARS] if _is_of_a_day(text, start)]


def _years(text: str, century: str, rare: int, limit: int) -> list[int]:
    """Where runs of digits end with a year that begins like this.

    One character of the beginning is looked for, the `rare` one: C searches for one many times as fast as for two.
    """
    found = list[int]()
    size = min(len(text), limit)
    sign = century[rare]
    hit = text.find(sign, rare, size)
    while hit >= 0 and len(found) < _MOST_YEARS:
        at = hit - rare
        if at <= size - 4 and text.startswith(century, at) and _ends_a_year(text, at + 2, size):
            found.append(at)
        hit = text.find(sign, hit + 1, size)
    return found


def _ends_a_year(text: str, at: int, size: int) -> bool:
    """Whether two more digits follow, and no third."""
    return text[at].isdecimal() and text[at + 1].isdecimal() and not (at + 2 < size and text[at + 2].isdecimal())


def _is_of_a_day(text: str, start: int) -> bool:
    if start and text[start - 1].isdigit():
        return False
    return _follows_a_digit(text, start) or _leads_to_a_digit(text, start + 4)


def _follows_a_digit(text: str, start: int) -> bool:
    """Whether a digit stands before, up to 22 characters and a line break away, and no bracket between."""
    at = start - 1
    farthest = start - _FARTHEST - (at >= 0 and text[at] == "\n")
    while at >= 0 and at >= farthest:
        character = text[at]
        if character.isdecimal():
            return True
        if character in "<>{}[]":
            return False
        at -= 1
    return False


def _leads_to_a_digit(text: str, end: int) -> bool:
    """Whether one or two marks between numbers follow, and then a number of one or two digits."""
    at = end
    while at < len(text) and at < end + 2 and (text[at] in "-/.年" or text[at].isspace()):
        at += 1
    if at == end or at >= len(text) or not text[at].isdecimal():
        return False
    return not (at + 2 < len(text) and text[at + 1].isdecimal() and text[at + 2].isdecimal())
