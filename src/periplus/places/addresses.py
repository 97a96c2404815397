"""US postal addresses in page text: number, street, city, state, ZIP, on one line or several.

The geographic entities of paper A. A candidate starts at a number; street, unit, city, state and ZIP are then read
from left to right, each with a bounded pattern, so cost stays linear in the text. An address counts only if city and
state (and ZIP, where given) agree in the gazetteer. Level "postal" is a city, state and agreeing ZIP without a street.
"""

import re
from collections.abc import Iterator
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from periplus.model import Address
from periplus.places.build import KINDS
from periplus.places.folding import name_key
from periplus.places.gazetteer import Gazetteer
from periplus.places.knowledge import knowledge
from periplus.places.streets import StreetNames

__all__ = ["find_addresses"]

_SUFFIXES: Final = sorted(knowledge()["addresses"]["suffixes"].split(), key=len, reverse=True)
_SUFFIX: Final = rf"(?i:(?:highway|hwy\.?|route|rt\.?)\s+\d{{1,4}}\b|(?:{'|'.join(_SUFFIXES)})\b\.?|broadway\b)"
_DIRECTION: Final = (
    r"(?:N|S|E|W|NE|NW|SE|SW|N\.E|N\.W|S\.E|S\.W|North|South|East|West|Northeast|Northwest|Southeast|Southwest)\b\.?"
)
_WORD: Final = r"(?:[A-Z][\w.'’-]{0,24}|\d{1,3}(?:st|nd|rd|th|ST|ND|RD|TH)|of|the|de|la|del|and|y)"
_TAIL: Final = rf"(?:\s+{_DIRECTION}(?=\s*[,\n#]|\s+[A-Z]))?"
_DIGITS: Final = re.compile(r"\d+")
_NUMBER: Final = re.compile(r"(?<![\w.$/-])\d{1,6}[A-Za-z]?(?:-\d{1,5})?(?: 1/2)?[ \t]{1,3}(?=[A-Z0-9])")
# The first suffix ends most streets ("Main Street Springfield"); in some it is part of the name ("Spring Street").
_STREETS: Final = tuple(
    re.compile(rf"(?:{_DIRECTION}\s*)?(?:{_WORD}\s+){{0,5}}{lazy}{_SUFFIX}{_TAIL}") for lazy in ("?", "")
)
_PLAIN_STREET: Final = re.compile(rf"{_DIRECTION}\s*{_WORD}(?: {_WORD}){{0,2}}(?=,| ?\n)")
_STRONG: Final = re.compile(
    r"(?i:\b(?:street|st|str|avenue|ave|av|road|rd|boulevard|blvd|drive|dr|lane|ln|court|ct|place|pl|way|highway|hwy"
    r"|parkway|pkwy|square|sq|terrace|ter|circle|cir|trail|trl|turnpike|tpke|pike|alley|aly|broadway|route|rt|loop|walk"
    r"|plaza|plz|expressway|expy|freeway|fwy)\b\.?)"
)
_BREAK: Final = r"[ \t]*(?:,|\n|\r\n|\||•|·|;| - | – )?[ \t\r\n|]*"
_UNIT: Final = (
    r"(?:(?:Apt|Apartment|Suite|Ste|Unit|Room|Rm|Floor|Fl|Building|Bldg|Dept|Lot|Space|Spc|Box|PMB|Trailer|Trlr"
    r"|Hangar|Pier|Slip|Stop)\b\.?\s{0,2}#?\s{0,2}[\w-]{1,8}|\#\s{0,2}[\w-]{1,8}|\d{1,3}(?:st|nd|rd|th)\s(?:Floor|Fl)\b\.?)"
)
_UNITS: Final = re.compile(rf"(?:{_BREAK}{_UNIT}){{0,2}}{_BREAK}", re.IGNORECASE)
_CITY: Final = re.compile(r"[A-Z][\w.'’-]{0,24}(?:[ -][A-Za-z][\w.'’-]{0,24}){0,3}")
_TO_STATE: Final = re.compile(r"[ \t]*,?[ \t\r\n]{0,4}")
_STATE: Final = re.compile(
    r"(?P<state>[A-Z]{2}\b|[A-Z]\.\s?[A-Z]\.|District of Columbia|[A-Z][a-z]{1,13}(?: [A-Z][a-z]{1,9})?\b)\.?"
    r"(?:,?\s{1,4}(?:U\.?S\.?A?\.?,?\s{1,2})?(?P<zip>\d{5}(?:-\d{4})?)(?![\d-]))?"
)
_ZIP: Final = re.compile(r"(?<=[A-Za-z., \t])\d{5}(?:-\d{4})?(?![\d-])")
_BEFORE_ZIP: Final = re.compile(
    r"(?<![\w.])(?P<city>[A-Z][\w.'’-]{1,24}(?:[ -][A-Z][\w.'’-]{1,24}){0,3}),?[ \t\n]{1,3}"
    r"(?P<state>[A-Z]{2}|[A-Z][a-z]{3,13}(?: [A-Z][a-z]{3,9})?),?[ \t]{1,3}$"
)
_LOOK_BACK: Final = 90
_MAX_ADDRESSES: Final = 2000


def find_addresses(text: str, gazetteer: Gazetteer, streets: StreetNames | None = None) -> tuple[Address, ...]:
    """All postal addresses of a text that resolve to a city of the gazetteer, in order, without overlaps.

    With `streets`, those of cities whose streets are known must name one of them.
    """
    found: list[Address] = []
    end = 0
    zips: list[re.Match[str]] = []
    for digits in _DIGITS.finditer(text):
        if digits.end() - digits.start() == 5 and (zip_match := _ZIP.match(text, digits.start())):
            zips.append(zip_match)
        number = _NUMBER.match(text, digits.start()) if digits.start() >= end else None
        address = _from_number(text, number, gazetteer, streets) if number else None
        if address is not None:
            found.append(address)
            end = address.end
            if len(found) == _MAX_ADDRESSES:
                break
    found += _postal(text, zips, gazetteer, found)
    return tuple(sorted(found, key=lambda a: a.start))


def _from_number(text: str, number: re.Match[str], gazetteer: Gazetteer, streets: StreetNames | None) -> Address | None:
    """The address that begins with a house number, if there is one."""
    tried = -1
    for pattern in (*_STREETS, _PLAIN_STREET):
        street = pattern.match(text, number.end())
        if street is None or street.end() == tried:
            continue
        tried = street.end()
        for city, state, row, end in _towns(text, _skip_units(text, street.end()), gazetteer):
            zip_code = state["zip"] or ""
            sure = pattern is not _PLAIN_STREET and _STRONG.search(street.group())
            if not sure and not (zip_code and zip_agrees(city, zip_code, gazetteer)):
                continue  # without a suffix, or with one such as Center or Park, only the ZIP proves it
            name = " ".join(street.group().split())
            if streets is not None and not streets.allows(int(gazetteer.arrays["id"][row]), zip_code, name):
                continue
            return Address(
                start=number.start(), end=end, text=text[number.start() : end], street_number=number.group().strip(),
                street=name, city=city, state=gazetteer.place_at(row).admin1,
                zip=zip_code if end == state.end() else "",
                place_id=int(gazetteer.arrays["id"][row]),
            )  # fmt: skip
    return None


def _skip_units(text: str, at: int) -> int:
    found = _UNITS.match(text, at)
    return found.end() if found else at


def _towns(text: str, at: int, gazetteer: Gazetteer) -> Iterator[tuple[str, re.Match[str], int, int]]:
    """City and state from `at` on, longest city first: its name, the match of the state, the row, where it ends."""
    city = _CITY.match(text, at)
    words = city.group().split(" ") if city else []
    for n in range(len(words), 0, -1):
        name = " ".join(words[:n]).rstrip(",")
        gap = _TO_STATE.match(text, at + len(name))
        state = _STATE.match(text, gap.end()) if gap else None
        if state is None:
            continue
        code, end = state_code(state["state"], gazetteer), state.end()
        if not code and " " in state["state"]:
            head = state["state"].split(" ", maxsplit=1)[0]
            code, end = state_code(head, gazetteer), state.start() + len(head)
        row = town_row(name, code, state["zip"] or "", gazetteer) if code else -1
        if row >= 0:
            yield name, state, row, end


def _postal(text: str, zips: list[re.Match[str]], gazetteer: Gazetteer, found: list[Address]) -> list[Address]:
    """City, state and agreeing ZIP that no street address covers; read backwards from the ZIP."""
    more: list[Address] = []
    at = 0
    for zip_match in zips:
        while at < len(found) and found[at].end <= zip_match.start():
            at += 1
        if (at < len(found) and found[at].start < zip_match.end()) or len(found) + len(more) >= _MAX_ADDRESSES:
            continue
        low = max(0, zip_match.start() - _LOOK_BACK, found[at - 1].end if at else 0)
        hit = _BEFORE_ZIP.search(text[low : zip_match.start()])
        address = _postal_at(text, low, hit, zip_match, gazetteer) if hit else None
        if address is not None:
            more.append(address)
    return more


def _postal_at(
    text: str, low: int, hit: re.Match[str], zip_match: re.Match[str], gazetteer: Gazetteer
) -> Address | None:
    """The postal entity that ends with this ZIP. "Computer Science Madison, WI": the city is at the end."""
    code, words, zip_code = state_code(hit["state"], gazetteer), hit["city"].split(" "), zip_match.group()
    for skip in range(len(words) if code else 0):
        name = " ".join(words[skip:])
        if not zip_agrees(name, zip_code, gazetteer):
            continue
        row = town_row(name, code, zip_code, gazetteer)
        start, end = low + hit.start() + len(hit["city"]) - len(name), zip_match.end()
        place_id = int(gazetteer.arrays["id"][row]) if row >= 0 else 0
        return (
            Address(start, end, text[start:end], "", "", name, code, zip_code, place_id, "postal") if row >= 0 else None
        )
    return None


_STATES: Final["WeakKeyDictionary[Gazetteer, dict[str, str]]"] = WeakKeyDictionary()


def state_code(text: str, gazetteer: Gazetteer) -> str:
    """The postal code of a US state written in any of its ways, or ""."""
    spellings = _STATES.get(gazetteer)
    if spellings is None:
        spellings = {}
        for row in np.flatnonzero(gazetteer.arrays["kind"] == KINDS.index("admin1")).tolist():
            place = gazetteer.place_at(row)
            if place.country == "US":
                others = knowledge()["state_abbreviations"].get(place.admin1, ())
                for name in (place.admin1, place.name, *others):
                    spellings[_bare(name)] = place.admin1
        _STATES[gazetteer] = spellings
    return spellings.get(_bare(text), "")


def _bare(name: str) -> str:
    return name.replace(".", "").replace(" ", "").casefold()


def _zip_entries(name: str, zip_code: str, gazetteer: Gazetteer) -> list[int]:
    """Positions in the ZIP table where this ZIP accepts this city name."""
    a = gazetteer.arrays
    number = int(zip_code[:5])
    at = int(np.searchsorted(a["zip"], number))
    if at >= len(a["zip"]) or a["zip"][at] != number:
        return []
    key = np.uint64(name_key(name))
    return [i for i in range(int(a["zip_at"][at]), int(a["zip_at"][at + 1])) if a["zip_key"][i] == key]


def zip_agrees(name: str, zip_code: str, gazetteer: Gazetteer) -> bool:
    """Whether the post office accepts the city name for the ZIP."""
    return bool(_zip_entries(name, zip_code, gazetteer))


def town_row(name: str, state: str, zip_code: str, gazetteer: Gazetteer) -> int:
    """The row of the US city that `name` means in `state` (and under `zip_code`), or -1."""
    for i in _zip_entries(name, zip_code, gazetteer) if zip_code else ():
        row = int(gazetteer.arrays["zip_row"][i])
        if row >= 0 and gazetteer.place_at(row).admin1 == state:
            return row
    rows, _ = gazetteer.candidates(name)
    for row in rows.tolist():
        place = gazetteer.place_at(row)
        if place.kind == "city" and place.country == "US" and place.admin1 == state:
            return int(row)
    return -1
