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
    before, after = list[int](), list[int]()
    run = 0
    for at, character in enumerate(text[:limit]):
        if "0" <= character <= "9" or (character > "\x7f" and character.isdecimal()):
            run += 1
        else:
            if run >= 4:
                _take_year(text, at - 4, before, after)
            run = 0
    if run >= 4:
        _take_year(text, min(len(text), limit) - 4, before, after)
    return [start for start in (before + after)[:_MOST_YEARS] if _is_of_a_day(text, start)]


def _take_year(text: str, start: int, before: list[int], after: list[int]) -> None:
    """Sort in what may be a year: before 2000, or after."""
    if text[start] == "1" and text[start + 1] == "9" and text[start + 2] == "9":
        if len(before) < _MOST_YEARS:
            before.append(start)
    elif text[start] == "2" and text[start + 1] == "0" and len(after) < _MOST_YEARS:
        after.append(start)


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
