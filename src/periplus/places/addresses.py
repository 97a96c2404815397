"""US postal addresses in page text: number, street, city, state, ZIP, on one line or several.

The geographic entities of paper A. Candidates are found from their most telling part, the state with or without a
ZIP, and read backwards from there; nothing is scanned twice, so cost stays linear in the text.
"""

import re
from typing import Final

import numpy as np

from periplus.model import Address
from periplus.places.folding import name_key
from periplus.places.gazetteer import Gazetteer
from periplus.places.knowledge import knowledge

__all__ = ["find_addresses"]

_SUFFIXES: Final = knowledge()["addresses"]["suffixes"].split()
_SUFFIX: Final = "(?:" + "|".join(sorted(_SUFFIXES, key=len, reverse=True)) + r")\b\.?"
_DIRECTION: Final = r"(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West|Northeast|Northwest|Southeast|Southwest)\b\.?"
_UNIT: Final = (
    r"(?:(?:Apt|Apartment|Suite|Ste|Unit|Room|Rm|Floor|Fl|Building|Bldg|Dept|Lot|Space|Spc|Box|PMB|Trailer|Trlr|Hangar|Pier|Slip|Stop)"
    r"\b\.?\s*#?\s*[\w-]{1,8}|\#\s*[\w-]{1,8}|\d{1,3}(?:st|nd|rd|th)\s+(?:Floor|Fl)\b\.?)"
)
_NUMBER: Final = r"(?<![\w.$/-])(?P<number>\d{1,6}(?:-\d{1,5})?[A-Za-z]?(?:\s+1/2)?)\s{1,3}"
_NAME: Final = r"(?:(?:[A-Z][\w.'’-]{0,24}|\d{1,3}(?:st|nd|rd|th|ST|ND|RD|TH)|of|the|de|la|del|and|y)\s+){0,5}?"
_ENDING: Final = rf"(?:(?i:{_SUFFIX})|(?i:Broadway|Highway\s+\d{{1,4}}|Route\s+\d{{1,4}}|Hwy\.?\s+\d{{1,4}}))"
_STREET: Final = re.compile(
    rf"{_NUMBER}(?P<street>(?:{_DIRECTION}\s+)?{_NAME}{_ENDING}(?:\s+{_DIRECTION}(?=\s*[,\n#]|\s+[A-Z]))?)"
)
# The same with a longer name: in "Pine Ave" and "Mill Street" the first word could end a street, too.
_LONGER_STREET: Final = re.compile(
    rf"{_NUMBER}(?P<street>(?:{_DIRECTION}\s+)?{_NAME}{_ENDING}(?!\s+(?i:{_SUFFIX}))"
    rf"(?:\s+{_DIRECTION}(?=\s*[,\n#]|\s+[A-Z]))?)"
)
_STATE: Final = re.compile(
    r"(?P<state>[A-Z]{2}|[A-Z]\.\s?[A-Z]\.|[A-Z][a-z]+\.?(?:\s+[A-Z][a-z]+)?|District of Columbia)\b\.?"
    r"(?:,?\s{1,4}(?P<zip>\d{5}(?:-\d{4})?)(?!\d))?"
)
_BREAK: Final = r"[ \t]*(?:,|\n|\r\n|\||•|·|;| - | – )?[ \t\r\n|]*"
_UNITS: Final = re.compile(rf"(?:{_BREAK}{_UNIT}){{0,2}}", re.IGNORECASE)
_GAP: Final = re.compile(_BREAK)
_CITY: Final = re.compile(r"[A-Z][\w.'’-]{0,24}(?:[ -][A-Za-z][\w.'’-]{0,24}){0,3}")
_MAX_ADDRESSES: Final = 2000


def find_addresses(text: str, gazetteer: Gazetteer) -> tuple[Address, ...]:
    """All postal addresses of a text that resolve to a city of the gazetteer, in order, without overlaps."""
    found: list[Address] = []
    at = 0
    while len(found) < _MAX_ADDRESSES and (street := _STREET.search(text, at)):
        address = _complete(text, street, gazetteer)
        if address is None:
            longer = _LONGER_STREET.match(text, street.start())
            if longer is not None and longer.end() > street.end():
                address = _complete(text, longer, gazetteer)
        if address is not None:
            found.append(address)
        at = address.end if address is not None else street.end("number")
    return tuple(found)


def _complete(text: str, street: re.Match[str], gazetteer: Gazetteer) -> Address | None:
    """The rest of an address after its street: units, city, state, ZIP."""
    after = _UNITS.match(text, street.end())
    end = after.end() if after else street.end()
    gap = _GAP.match(text, end)
    end = gap.end() if gap else end
    city = _CITY.match(text, end)
    if city is None:
        return None
    words = city.group().split(" ")
    for n in range(len(words), 0, -1):
        name = " ".join(words[:n])
        stop = end + len(name)
        between = re.compile(r"[ \t]*,?[ \t\r\n]{0,4}").match(text, stop)
        state = _STATE.match(text, between.end() if between else stop)
        if state is None:
            continue
        for row, code, span_end in _towns(name, state, gazetteer):
            return Address(
                start=street.start(), end=span_end, text=text[street.start() : span_end],
                street_number=street["number"],
                street=" ".join(street["street"].split()), city=name, state=code,
                zip=state["zip"] or "" if span_end == state.end() else "", place_id=int(gazetteer.arrays["id"][row]),
            )  # fmt: skip
    return None


def _towns(name: str, state: re.Match[str], gazetteer: Gazetteer) -> list[tuple[int, str, int]]:
    """The city row, the state's code and where the address ends, if name and state agree."""
    code, end = state_code(state["state"], gazetteer), state.end()
    if not code:
        code, end = state_code(state["state"].split()[0], gazetteer), state.start() + len(state["state"].split()[0])
    if not code:
        return []
    row = town_row(name, code, state["zip"] or "", gazetteer)
    return [(row, code, end)] if row >= 0 else []


def state_code(text: str, gazetteer: Gazetteer) -> str:
    """The postal code of a US state written in any of its ways, or ""."""
    rows, _ = gazetteer.candidates(text)
    for row in rows.tolist()[:6]:
        place = gazetteer.place_at(row)
        if place.kind == "admin1" and place.country == "US":
            return place.admin1
    return ""


def town_row(name: str, state: str, zip_code: str, gazetteer: Gazetteer) -> int:
    """The row of the US city that `name` means in `state` (and under `zip_code`), or -1."""
    a = gazetteer.arrays
    if zip_code:
        at = int(np.searchsorted(a["zip"], int(zip_code[:5])))
        if at < len(a["zip"]) and a["zip"][at] == int(zip_code[:5]):
            key = np.uint64(name_key(name))
            for i in range(int(a["zip_at"][at]), int(a["zip_at"][at + 1])):
                if a["zip_key"][i] == key and a["zip_row"][i] >= 0:
                    return int(a["zip_row"][i])
    rows, _ = gazetteer.candidates(name)
    for row in rows.tolist():
        place = gazetteer.place_at(row)
        if place.kind == "city" and place.country == "US" and place.admin1 == state:
            return int(row)
    return -1
