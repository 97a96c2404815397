"""The grammar of US postal addresses for `addresses`: house numbers, streets, units, states and ZIPs as patterns.

Every repetition is bounded, so a match costs no more than the window it is tried on.
"""

import re
from functools import cache
from typing import Final

from periplus.places.knowledge import knowledge

__all__ = [
    "BEFORE",
    "BOX",
    "CITY_WORDS",
    "FORWARD",
    "MORE",
    "NUMBER",
    "STATE",
    "TO_STATE",
    "UNITS",
    "ZIP",
    "has_strong_suffix",
    "is_building",
    "middle",
]

_WEAK: Final = sorted(knowledge()["addresses"]["suffixes"].split(), key=len, reverse=True)
_STRONG: Final = sorted(knowledge()["addresses"]["strong_suffixes"].split(), key=len, reverse=True)
_BUILDINGS: Final = frozenset(knowledge()["addresses"]["buildings"].split())
_NOT_UNITS: Final = r"(?!(?:phone|tel|fax|voice|office|home|work|email|e-mail|ph|cell)\b)"

_SUFFIX: Final = rf"(?i:(?:{'|'.join(_STRONG)}|{'|'.join(_WEAK)})\b\.?)"
_STRONG_SUFFIX: Final = rf"(?i:(?:{'|'.join(_STRONG)})\b\.?)"
_DIRECTION: Final = (
    r"(?i:(?:N\.? ?[EW]|S\.? ?[EW]|[NSEW]|North(?:east|west)?|South(?:east|west)?|East|West|No|So)(?:\.|\b))"
)
_ROUTE: Final = (
    r"(?i:(?:(?:U\.?S\.?|state|county|country|co\.?|old|business|farm|ranch|I)[ -])?(?:to market )?"
    r"(?:highway|hwy\.?|hgwy|route|rte?\.?|road|rd\.?|interstate|spur|loop|business|avenue|ave\.?|S\.?R\.?|C\.?R\.?|F\.?M\.?"
    r"|R\.?R\.?|F|I|U\.?S\.?) ?-?(?:no\.? ?)?(?:\d{1,4}[A-Z]?|[A-Z]{1,2})\b(?: (?:business|and \d{1,4})\b)?)"
)
_GRID: Final = rf"(?:{_DIRECTION} ?)?\d{{1,5}} {_DIRECTION}"
_CAPITAL: Final = (
    r"(?:[A-Z][\w.'’&-]{0,24}|\d{1,3}(?:st|nd|rd|th|ST|ND|RD|TH|Th|St|Nd|Rd)|of|the|de|la|del|las|los|and|y|&|1/2"
    r"|\d{1,3}(?=[ \t](?i:st|street|ave?|avenue|ct|court|pl|place|terr?|terrace|dr|drive|rd|road|ln|lane)\b))"
)
_ANY: Final = r"(?:[A-Za-z][\w.'’&-]{0,24}|\d{1,3}(?:st|nd|rd|th)|&|1/2)"
_GAP: Final = r"[ \t]{1,3}"
_TAIL: Final = rf"(?:,?[ \t]*{_DIRECTION}(?![\w']))"

NUMBER: Final = re.compile(
    r"(?:(?<![\w.$#])(?<!\d[/-])(?:[NSEWnsew]\d{1,3} ?[NSEWnsew]?)?\d{1,6}"
    r"(?:-(?:\d{1,5}|[A-Za-z])\b|[A-Za-z]?\b| ?1/2\b)?(?: 1/2\b)?"
    r"|(?<!\w)(?i:one|two|three|four|five|six|seven|eight|nine|ten|fifty)(?=[ \t]))"
)
"""A house number: 12, 12A, 12-B, 46-237, 618 1/2, N79W5406, One."""

_AFTER_NUMBER: Final = r"(?:[ \t]{1,3}|,[ \t]{1,2}| - | · |(?<=\d)(?=[NSEW][ \t.]))"
_UNIT_WORD: Final = (
    r"(?:Apt|Apartment|Suite|Ste|Unit|Room|Rm|Floor|Flr|Fl|Building|Bldg|Blg|Bld|Dept|Department|Lot|Space|Spc|PMB"
    r"|Trailer|Trlr|Hangar|Pier|Slip|Stop|Office|Ofc|Mail ?stop|M/?S|MSC|Mailbox|Condo|Tower|Lock ?box|Campus Box"
    r"|P\.? ?O\.? ?Box|POB|Box)"
)
_UNIT: Final = (
    rf"(?i:{_NOT_UNITS}(?:{_UNIT_WORD}\b\.?\s{{0,2}}(?:(?:\#|no\.?)\s{{0,2}})?[\w-]{{1,10}}(?: ?[&,] ?\w{{1,3}}\b)?"
    rf"|\#\s{{0,2}}[\w-]{{1,10}}|(?:\d{{1,3}}(?:st|nd|rd|th)|first|second|third|ground|lower|upper|top)"
    rf"[ \t](?:Floor|Flr|Fl|Level)\b\.?"
    rf"|Rear|Penthouse|Basement|Lobby|Unit|(?<!\w)[A-Z]?\d{{1,5}}[A-Z]?(?:-?\d{{0,4}}[A-Z]?)?(?!\w)))"
)
_BREAK: Final = r"[ \t]*(?:,|;|\||•|·|/|>| - | – |\.)?[ \t\r\n|>]*"
_NAMED: Final = (
    r"(?:[A-Z][\w.'’&-]{0,24}[ \t]){1,3}(?:Building|Bldg\.?|Tower|Towers|Center|Plaza|Hall|Lofts|Apartments|Square)"
)
_LINE: Final = rf"[\r\n]+{_NOT_UNITS}[^\n@:]{{1,70}}"
"""One line between street and city: an organisation or a building."""

UNITS: Final = re.compile(rf"(?:{_BREAK}{_UNIT}){{0,3}}{_BREAK}")


@cache
def middle(*, capitals: bool) -> re.Pattern[str]:
    """Everything between a house number and the city: a street, units, at most two lines of something else.

    Without `capitals` for addresses that are written so, where the ZIP vouches for the city. It takes long to compile.
    """
    word = _CAPITAL if capitals else _ANY
    named = rf"(?:{_DIRECTION}[ \t]*)?(?:{word}{_GAP}){{0,6}}?{_SUFFIX}(?:{_GAP}{_SUFFIX})?{_TAIL}{{0,2}}"
    plain = rf"(?:{_DIRECTION}[ \t]*)?{word}(?:{_GAP}{word}){{0,4}}?{_TAIL}?"
    route = rf"(?:{_DIRECTION}[ \t]*)?{_ROUTE}{_TAIL}?"
    rest = rf"(?:{_BREAK}(?:{_UNIT}|{_NAMED}|{_DIRECTION})){{0,4}}(?P<lines>(?:{_LINE}){{0,2}}){_BREAK}"
    return re.compile(
        rf"{_AFTER_NUMBER}(?:(?P<route>{route})|(?P<named>{named})|(?P<grid>{_GRID}|{_DIRECTION} \d{{1,3}})"
        rf"|(?P<plain>{plain}))(?P<rest>{rest})"
    )


FORWARD: Final = re.compile(
    r"(?P<number>[0-9](?<![\w.$#][0-9])(?<!\d[/-][0-9])\d{0,5}(?:-(?:\d{1,5}|[A-Za-z])\b|[A-Za-z]?\b)(?: 1/2\b)?)"
    rf"(?P<gap>{_AFTER_NUMBER})"
    rf"(?P<street>(?:{_DIRECTION}[ \t]*)?(?:{_ROUTE}|(?:{_CAPITAL}{_GAP}){{0,5}}?{_STRONG_SUFFIX}){_TAIL}?"
    rf"|{_DIRECTION}[ \t]*\d{{1,3}}(?i:st|nd|rd|th)\b)"
)
"""A house number and a street that proves itself by its suffix; what follows is up to the reader."""

MORE: Final = re.compile(rf"{_GAP}(?:{_CAPITAL}{_GAP}){{0,4}}?{_STRONG_SUFFIX}{_TAIL}?")
"""The rest of a street whose name holds a suffix itself: "Spring Street", "St. Louis Avenue"."""

BEFORE: Final = re.compile(
    r"(?i:\b(?:(?:box|dept|department|lock ?box|bin|file|drawer|msc|code|acct|account|rr|junction|mile|room|rm"
    r"|suite|ste|apt|unit|h(?:igh)?wys?|hghwy|route|rte?|ext|age|chapter|vol|volume|pp?|page|copyright|fall|spring|summer|winter)\.?"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?,?)[ \t]*\#?[ \t]*|©[ \t]*|\(c\)[ \t]*|\bI-)\Z"
)
"""What stands before a number that is none of a house."""

CITY_WORDS: Final = re.compile(r"[A-Z][\w.'’-]{0,24}(?:[ -][A-Za-z][\w.'’-]{0,24}){0,3}")
TO_STATE: Final = re.compile(r"[ \t]*(?:,|\.| -)?[ \t\r\n]{0,4}")
STATE: Final = re.compile(
    r"(?P<state>[A-Z]{2}\b|[A-Z]\. ?[A-Z]\b|District of Columbia|[A-Z][A-Za-z]{1,13}(?: [A-Z][A-Za-z]{1,9})?\b)\.?"
    r"(?:,?\s{1,4}(?:U\.?S\.?A?\.?,?\s{1,2})?(?P<zip>\d{5}(?:-?\d{4})?)(?![\d-]))?"
)
ZIP: Final = re.compile(r"\d{5}(?<=[A-Za-z., \t\n]\d{5})(?:-?\d{4})?(?![\d-])")
BOX: Final = re.compile(
    rf"(?<!\w)(?:(?i:P\.? ?O\.? ?|Post Office ?)(?i:Box|Drawer)|POB|Box)[ \t]{{0,2}}\#?[\w-]{{1,12}}{_BREAK}\Z"
)
_STARTS_WITH_DIRECTION: Final = re.compile(rf"{_DIRECTION}[ \t]")
_ALSO_STREETS: Final = frozenset({"university", "college", "school", "center", "museum", "library", "campus"})
_STRONG_ANYWHERE: Final = re.compile(rf"\b{_STRONG_SUFFIX}(?!\w)")


def has_strong_suffix(street: str) -> bool:
    """Whether a word of the street is used for hardly anything but streets."""
    return _STRONG_ANYWHERE.search(street) is not None


def is_building(street: str) -> bool:
    """Whether the name is that of a hall, a department or the like: the number before it is then a room.

    "E. University" is a street all the same.
    """
    words = street.casefold().replace(".", "").replace(",", "").split()
    if len(words) == 2 and words[1] in _ALSO_STREETS and _STARTS_WITH_DIRECTION.match(street):
        return False
    return any(word in _BUILDINGS for word in words)
