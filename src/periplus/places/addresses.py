"""US postal addresses in page text: number, street, city, state, ZIP, on one line or several.

The geographic entities of paper A. Two readings: backwards from a ZIP that agrees with the city and state before it, to
the house number that street and units lead back to; and forwards from a house number whose street proves itself by its
suffix, for addresses without a ZIP. Both look at bounded windows, so cost stays linear in the text. An address counts
only if city and state agree in the gazetteer. Level "postal" is a city, state and agreeing ZIP without a street.
"""

import difflib
import re
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from periplus.model import Address
from periplus.places import address_grammar as grammar
from periplus.places.build import KINDS
from periplus.places.digits import digit_groups
from periplus.places.folding import fold, name_key
from periplus.places.gazetteer import Gazetteer
from periplus.places.geometry import unit_vectors
from periplus.places.knowledge import knowledge
from periplus.places.streets import StreetNames

__all__ = ["find_addresses", "state_code", "town_row", "zip_agrees", "zip_town"]

_LOOK_BACK: Final = 70
_STREET_WINDOW: Final = 170
_MAX_ADDRESSES: Final = 2000
_MAX_NUMBERS: Final = 8
_MAX_PLAIN_WORDS: Final = 4
_NEAR: Final = float(np.cos(50 / 6371))
_ALIKE: Final = 0.75
_YEAR: Final = re.compile(r"(?:19|20)\d\d$")
_PHONE: Final = re.compile(r"\d{3}-\d{4}$")
_LIST_ENDS: Final = ("", "\n", ",", ":")
_CUT: Final = re.compile(r"[,;|/>•·:()\n\t]")
_CROSSING: Final = re.compile(r"[ \t]+(?:&|and)[ \t]", re.IGNORECASE)
_COUNTRY: Final = re.compile(r"(?:[\s,.]|^)(?:U\.?S\.?A?|United States(?: of America)?)$")
_BOX_WORD: Final = re.compile(r"(?:p\.? ?o\.?|post office|pob|box)\b", re.IGNORECASE)
_LONG_FORMS: Final = {
    "n": "North", "s": "South", "e": "East", "w": "West", "st": "Saint", "ft": "Fort", "mt": "Mount", "no": "North",
    "so": "South", "pt": "Point",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A city, state and ZIP that agree: where they stand and what they mean."""

    start: int
    end: int
    city: str
    state: str
    zip: str
    row: int


def find_addresses(text: str, gazetteer: Gazetteer, streets: StreetNames | None = None) -> tuple[Address, ...]:
    """All postal addresses of a text that resolve to a city of the gazetteer, in order, without overlaps.

    With `streets` (default: those loaded beside the gazetteer), those of cities whose streets are known must name one
    of them.
    """
    streets = streets or gazetteer.streets
    zips, numbers = digit_groups(text)
    found: list[Address] = []
    end = 0
    for at in zips:
        match = grammar.ZIP.match(text, at)
        anchor = _anchor(text, match, end, gazetteer) if match else None
        if anchor is None:
            continue
        found.append(_from_anchor(text, anchor, end, gazetteer, streets))
        end = anchor.end
        if len(found) == _MAX_ADDRESSES:
            break
    found += _without_zip(text, numbers, found, gazetteer, streets)
    return tuple(sorted(found, key=lambda a: a.start))


def _anchor(text: str, match: re.Match[str], low: int, gazetteer: Gazetteer) -> _Anchor | None:
    """City and state before a ZIP, if the three agree. "Computer Science Madison, WI": the city is at the end."""
    window = text[max(low, match.start() - _LOOK_BACK) : match.start()]
    offset = match.start() - len(window)
    head = window.rstrip(" \t\r\n,.-–")
    head = _COUNTRY.sub("", head).rstrip(" \t\r\n,.") if head[-1:] in "AaSs" else head
    words = head.rsplit(None, 3)[-3:]
    for count in range(len(words), 0, -1):
        code = state_code(" ".join(words[-count:]), gazetteer)
        if code:
            before = head.rsplit(None, count)[0] if len(head.split(None, count)) > count else ""
            before = before.rstrip(" \t\r\n,.-–")
            return _city_before(before, offset, code, match, gazetteer) if before else None
    return None


def _city_before(before: str, offset: int, code: str, match: re.Match[str], gazetteer: Gazetteer) -> _Anchor | None:
    """The longest name at the end of `before` that is a city of the ZIP, else one of the state close to it."""
    cut = [m.end() for m in _CUT.finditer(before)]
    line = before[cut[-1] if cut else 0 :]
    words = line.split()[-4:]
    zip_code = match.group()
    zip_code = f"{zip_code[:5]}-{zip_code[5:]}" if len(zip_code) == 9 else zip_code
    for lenient in (False, True):
        for skip in range(len(words)):
            name = " ".join(words[skip:])
            if not name[0].isalpha():
                continue
            row = _near_town(name, code, zip_code, gazetteer) if lenient else zip_town(name, code, zip_code, gazetteer)
            if row >= 0:
                start = offset + len(before) - len(line) + line.rfind(words[skip], 0, _last(line, words, skip))
                return _Anchor(start, match.end(), name.rstrip(","), code, zip_code, row)
    return None


def _last(line: str, words: list[str], skip: int) -> int:
    """Where the word at `skip` ends in the line, counted from the line's end."""
    end = len(line.rstrip())
    for word in reversed(words[skip + 1 :]):
        end = line.rfind(word, 0, end)
    return len(line[:end].rstrip())


def _from_anchor(text: str, anchor: _Anchor, low: int, gazetteer: Gazetteer, streets: StreetNames | None) -> Address:
    """The address that ends with this city, state and ZIP: with its street where one leads up to them."""
    low = max(low, anchor.start - _STREET_WINDOW)
    place_id = int(gazetteer.arrays["id"][anchor.row])
    for number, middle in _readings(text, anchor, low):
        street = " ".join((middle["route"] or middle["named"] or middle["grid"] or middle["plain"]).split())
        if streets is None or streets.allows(place_id, anchor.zip, street, gazetteer):
            return Address(
                number.start(), anchor.end, text[number.start() : anchor.end], number.group().strip(), street,
                anchor.city, anchor.state, anchor.zip, place_id, unit=_unit(middle["rest"]),
            )  # fmt: skip
    box = grammar.BOX.search(text, max(low, anchor.start - 30), anchor.start)
    start, street = (box.start(), " ".join(box.group().strip(" ,;|/>.\n\r\t").split())) if box else (anchor.start, "")
    return Address(
        start, anchor.end, text[start : anchor.end], "", street, anchor.city, anchor.state, anchor.zip, place_id,
        "postal",
    )  # fmt: skip


def _readings(text: str, anchor: _Anchor, low: int) -> list[tuple[re.Match[str], re.Match[str]]]:
    """House numbers with what leads from them to the city, the likeliest first."""
    pattern = grammar.middle(capitals=not anchor.city[:1].islower())
    found = []
    for number in list(grammar.NUMBER.finditer(text, low, anchor.start))[-_MAX_NUMBERS:]:
        middle = pattern.fullmatch(text, number.end(), anchor.start)
        doubt = _doubt(text, number, middle) if middle else None
        if middle and doubt is not None:
            found.append((doubt, number.start(), number, middle))
    return [(number, middle) for _, _, number, middle in sorted(found, key=lambda f: f[:2])]


def _doubt(text: str, number: re.Match[str], middle: re.Match[str]) -> int | None:
    """How far number and street are from a plain address, a city with its ZIP following; None: they are none."""
    if grammar.BEFORE.search(text, max(0, number.start() - 14), number.start()) or _CROSSING.match(text, number.end()):
        return None
    if middle["route"] or (middle["named"] and grammar.has_strong_suffix(middle["named"])):
        return 1 if middle["lines"] else 0
    if text[number.end() : number.end() + 1] == "," or middle["lines"]:
        return None
    if middle["grid"]:
        return 0
    street = middle["named"] or middle["plain"]
    if _BOX_WORD.match(street) or grammar.is_building(street) or len(street.split()) > _MAX_PLAIN_WORDS:
        return None
    sure = middle["rest"].strip(" ,\n\t\r") or not _YEAR.match(number.group())
    sure = sure or (
        middle["rest"].startswith(",")
        and text[max(0, number.start() - 3) : number.start()].rstrip(" ")[-1:] in _LIST_ENDS
    )
    return 2 if sure and not _PHONE.search(number.group()) else None


def _unit(rest: str) -> str:
    """The unit between street and city, on one line."""
    return " ".join(rest.split()).strip(" ,;|/>.-–•·")


def _without_zip(
    text: str, numbers: list[int], known: list[Address], gazetteer: Gazetteer, streets: StreetNames | None
) -> list[Address]:
    """Street addresses that the ZIPs did not lead to: none given, or one that does not fit."""
    more: list[Address] = []
    taken = end = 0
    for at in numbers:
        while taken < len(known) and known[taken].end <= at:
            taken += 1
        limit = known[taken].start if taken < len(known) else len(text)
        match = grammar.FORWARD.match(text, at) if end <= at < limit else None
        address = _forward(text, match, limit, gazetteer, streets) if match else None
        if address is not None:
            more.append(address)
            end = address.end
            if len(known) + len(more) >= _MAX_ADDRESSES:
                break
    return more


def _forward(
    text: str, match: re.Match[str], limit: int, gazetteer: Gazetteer, streets: StreetNames | None
) -> Address | None:
    """The address that begins with this number and street, if a city and state follow."""
    before = text[max(0, match.start() - 14) : match.start()]
    if grammar.BEFORE.search(before) or (
        match["gap"].startswith(",") and before.strip(" \t")[-1:] not in ("", "\n", ":")
    ):
        return None
    end, start = match.end(), match.start("street")
    for _ in range(3):
        units = grammar.UNITS.match(text, end)
        after = units.end() if units else end
        town = _town(text, after, limit, gazetteer)
        if town is not None:
            city, code, zip_code, row, stop = town
            street, place_id = " ".join(text[start:end].split()), int(gazetteer.arrays["id"][row])
            if streets is not None and not streets.allows(place_id, zip_code, street, gazetteer):
                return None
            return Address(
                match.start(), stop, text[match.start() : stop], match["number"], street, city, code, zip_code,
                place_id, unit=_unit(text[end:after]),
            )  # fmt: skip
        longer = grammar.MORE.match(text, end)
        if longer is None:
            return None
        end = longer.end()
    return None


def _town(text: str, at: int, limit: int, gazetteer: Gazetteer) -> tuple[str, str, str, int, int] | None:
    """City and state from `at` on, longest city first: name, state, ZIP, row, where it ends."""
    city = grammar.CITY_WORDS.match(text, at, limit)
    words = city.group().split(" ") if city else []
    for n in range(len(words), 0, -1):
        name = " ".join(words[:n])
        gap = grammar.TO_STATE.match(text, at + len(name))
        state = grammar.STATE.match(text, gap.end()) if gap else None
        if state is None:
            continue
        code, end, zip_code = state_code(state["state"], gazetteer), state.end(), state["zip"] or ""
        if not code and " " in state["state"]:
            head = state["state"].split(" ", maxsplit=1)[0]
            code, end, zip_code = state_code(head, gazetteer), state.start() + len(head), ""
        name = name.rstrip(",.")
        row = town_row(name, code, zip_code, gazetteer) if code else -1
        if row < 0 and code and zip_code:
            row = _misspelt(name, code, zip_code, gazetteer)
        if row >= 0:
            return name, code, zip_code, row, end
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


def zip_town(name: str, state: str, zip_code: str, gazetteer: Gazetteer) -> int:
    """The row of the city that the post office means by this name, state and ZIP, or -1."""
    for spelling in _spellings(name):
        for i in _zip_entries(spelling, zip_code, gazetteer):
            row = int(gazetteer.arrays["zip_row"][i])
            if row >= 0 and gazetteer.place_at(row).admin1 == state:
                return row
    return -1


def _spellings(name: str) -> list[str]:
    """The name, and with its first word written out: "N. Hanover" is North Hanover."""
    head, _, tail = name.partition(" ")
    long_form = _LONG_FORMS.get(head.rstrip(".").casefold())
    return [name, f"{long_form} {tail}"] if tail and long_form else [name]


def _zip_at(zip_code: str, gazetteer: Gazetteer) -> int:
    """Position of the ZIP, else of a neighbour with the same three digits (the same sorting centre), else -1."""
    table, number = gazetteer.arrays["zip"], int(zip_code[:5])
    at = int(np.searchsorted(table, number))
    if at < len(table) and table[at] == number:
        return at
    near = [i for i in (at - 1, at) if 0 <= i < len(table) and table[i] // 100 == number // 100]
    return near[0] if near else -1


def _near_town(name: str, state: str, zip_code: str, gazetteer: Gazetteer) -> int:
    """The row of the state's city of that name within 50 km of the ZIP, or -1: not every suburb is a post office."""
    at = _zip_at(zip_code, gazetteer)
    if at < 0 or not name[:1].isupper():
        return -1
    row = next((r for s in _spellings(name) if (r := town_row(s, state, "", gazetteer)) >= 0), -1)
    if row < 0:
        return -1
    lon, lat = gazetteer.arrays["zip_point"][at].astype(np.float64)
    here = unit_vectors(np.array([lon]), np.array([lat]))[0]
    return row if float(here @ gazetteer.arrays["xyz"][row]) > _NEAR else -1


def _misspelt(name: str, state: str, zip_code: str, gazetteer: Gazetteer) -> int:
    """The row of the city of the ZIP, if the name is nearly its own and the state is the same; else -1."""
    a = gazetteer.arrays
    at = int(np.searchsorted(a["zip"], int(zip_code[:5])))
    if at >= len(a["zip"]) or a["zip"][at] != int(zip_code[:5]):
        return -1
    row = int(a["zip_row"][a["zip_at"][at]])
    if row < 0 or gazetteer.place_at(row).admin1 != state:
        return -1
    likeness = difflib.SequenceMatcher(None, fold(name), fold(gazetteer.name_at(row))).ratio()
    return row if likeness >= _ALIKE else -1


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
