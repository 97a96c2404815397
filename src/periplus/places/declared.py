"""Addresses that a page declares in its markup, anywhere in the world: schema.org, h-card and hCard, geo meta tags.

They are geographic entities like the addresses in its text. The parts are known, so nothing has to be recognised; what
is left is which Lisbon is meant: the one in the declared country and region, near the declared point, else the one
that everybody means by the name. What stays open is left out.
"""

import re
from typing import Final

import numpy as np

from periplus.model import Address, LonLat, PageHints, Place, PostalParts
from periplus.places.addresses import find_addresses, state_code, zip_town
from periplus.places.build import KINDS
from periplus.places.gazetteer import Gazetteer
from periplus.places.geometry import unit_vectors
from periplus.places.lookup import clear_row, find_rows
from periplus.places.streets import street_key

__all__ = ["declared_addresses", "hinted_places", "with_declared"]

_CITY: Final = KINDS.index("city")
_NEAR: Final = float(np.cos(60 / 6371))
_BESIDE: Final = float(np.cos(30 / 6371))
_MAX: Final = 20
_MAX_NAMES: Final = 16
_NUMBER_FIRST: Final = re.compile(r"(\d+\w{0,3}(?:[-/]\d+)?)[ ,]+(.+)")
_NUMBER_LAST: Final = re.compile(r"(.+?)[ ,]+(\d+ ?\w{0,2}(?:[-/]\d+)?)")
_US_ZIP: Final = re.compile(r"\d{5}(?:-\d{4})?")
_CODED: Final = re.compile(r"\S*\d\S*")


def with_declared(text: str, found: tuple[Address, ...], hints: PageHints, gazetteer: Gazetteer) -> tuple[Address, ...]:
    """The addresses of the text, and behind them those that only the markup declares."""
    if not (hints.addresses or hints.postal_addresses or hints.points):
        return found
    known = {(a.place_id, street_key(f"{a.street_number} {a.street}")) for a in found}
    cities = {a.place_id for a in found}
    more = []
    for address in declared_addresses(hints, gazetteer, text):
        key = (address.place_id, street_key(f"{address.street_number} {address.street}"))
        if key in known or (address.level == "postal" and address.place_id in cities):
            continue
        known.add(key)
        cities.add(address.place_id)
        more.append(address)
    return (*found, *more)


def declared_addresses(hints: PageHints, gazetteer: Gazetteer, text: str = "") -> list[Address]:
    """Every declared address that resolves to a place, in the order of the page.

    `start` and `end` are where its street stands in `text`, or -1 where it stands in the markup only.
    """
    made = [_from_parts(parts, hints.points, gazetteer, text) for parts in hints.addresses[:_MAX]]
    if not hints.addresses:
        made += [_from_line(line, gazetteer) for line in hints.postal_addresses[:_MAX]]
    found = [address for address in made if address is not None]
    if not found and hints.points:
        found += [a for point in hints.points[:1] if (a := _from_point(point, gazetteer)) is not None]
    return found


def hinted_places(hints: PageHints, countries: tuple[int, ...], gazetteer: Gazetteer) -> list[Place]:
    """The places that the markup names: of namesakes the one around or near what it declares besides.

    Else the one that everybody means or, where there is no such one, one in the page's own `countries` (rows).
    """
    if not hints.place_names:
        return []
    xyz, country = gazetteer.arrays["xyz"], gazetteer.arrays["row_country"]
    own = [gazetteer.row(address.place_id) for address in declared_addresses(hints, gazetteer)]
    around = {row for one in own for row in gazetteer.chain(one)}
    found = []
    for name in hints.place_names[:_MAX_NAMES]:
        rows = find_rows(gazetteer, name)
        best = [r for r in rows if r in around or any(float(xyz[r] @ xyz[one]) > _NEAR for one in own)]
        if not best and clear_row(gazetteer, rows) < 0:
            best = [r for r in rows if country[r] in countries]
        found += [gazetteer.place_at(row) for row in (best or rows)[:1]]
    return found


def _from_parts(parts: PostalParts, points: tuple[LonLat, ...], gazetteer: Gazetteer, text: str = "") -> Address | None:
    row = _place(parts, points, gazetteer)
    if row < 0:
        return None
    number, street = _split(parts.street)
    place = gazetteer.place_at(row)
    start = text.find(parts.street) if parts.street else -1
    return Address(
        start, start + len(parts.street) if start >= 0 else -1, parts.text, number, street,
        parts.locality or place.name, place.admin1, parts.code, place.id, "street" if parts.street else "postal",
    )  # fmt: skip


def _split(street: str) -> tuple[str, str]:
    """House number and street: "10 Downing Street", "Torstraße 77"."""
    line = street.strip()
    if found := _NUMBER_FIRST.fullmatch(line):
        return found[1], found[2]
    if found := _NUMBER_LAST.fullmatch(line):
        return found[2], found[1]
    return "", line


def _place(parts: PostalParts, points: tuple[LonLat, ...], gazetteer: Gazetteer) -> int:
    """The row meant: a city where the locality is known, else the region; -1 where that stays open."""
    country = _country(parts.country, gazetteer)
    state = state_code(parts.region, gazetteer) if parts.region else ""
    us = gazetteer.country_row("US")
    if parts.locality and _US_ZIP.fullmatch(parts.code) and country in (-1, us):
        row = zip_town(parts.locality, state, parts.code, gazetteer) if state else -1
        if row >= 0:
            return row
    if parts.locality:
        return _city(parts, country, points, gazetteer)
    if parts.region:
        name = f"{parts.region}, {gazetteer.name_at(country)}" if country >= 0 else parts.region
        return clear_row(gazetteer, find_rows(gazetteer, name))
    return -1


def _city(parts: PostalParts, country: int, points: tuple[LonLat, ...], gazetteer: Gazetteer) -> int:
    a = gazetteer.arrays
    rows = [r for r in find_rows(gazetteer, parts.locality) if a["kind"][r] >= KINDS.index("admin2")]
    if country >= 0:
        rows = [r for r in rows if a["row_country"][r] == country]
    if parts.region and rows:
        inside = set(find_rows(gazetteer, f"{parts.locality}, {parts.region}"))
        rows = [r for r in rows if r in inside] or rows
    if points and rows:
        here = unit_vectors(np.array([points[0].lon]), np.array([points[0].lat]))[0]
        close = [r for r in rows if float(a["xyz"][r] @ here) > _NEAR]
        rows = sorted(close, key=lambda r: -float(a["xyz"][r] @ here)) or rows
        if close:
            return rows[0]
    if not rows:
        return -1
    if country >= 0 or parts.region:
        return next((r for r in rows if a["kind"][r] == _CITY), rows[0])
    return clear_row(gazetteer, find_rows(gazetteer, parts.locality))


def _country(name: str, gazetteer: Gazetteer) -> int:
    """The row of a country given by code or name, -1 where it is neither."""
    if not name:
        return -1
    row = gazetteer.country_row("GB" if name.upper() == "UK" else name.upper())
    if row >= 0:
        return row
    kinds = gazetteer.arrays["kind"]
    return next((r for r in find_rows(gazetteer, name) if kinds[r] == KINDS.index("country")), -1)


def _from_line(line: str, gazetteer: Gazetteer) -> Address | None:
    """An address declared as one line: read as a US one, else its last parts are town and country."""
    american = find_addresses(line, gazetteer)
    if american:
        a = american[0]
        return Address(-1, -1, line, a.street_number, a.street, a.city, a.state, a.zip, a.place_id, a.level, a.unit)
    parts = [part.strip() for part in line.split(",") if part.strip()]
    country = _country(parts[-1], gazetteer) if len(parts) > 1 else -1
    rest = parts[:-1] if country >= 0 else parts
    for at in range(len(rest) - 1, -1, -1):
        name = " ".join(_CODED.sub(" ", rest[at]).split())
        street = ", ".join(rest[:at])
        found = PostalParts(street, name, "", "", gazetteer.place_at(country).country if country >= 0 else "")
        made = _from_parts(found, (), gazetteer) if name else None
        if made is not None:
            return made
    return None


def _from_point(point: LonLat, gazetteer: Gazetteer) -> Address | None:
    """The town at a declared point, where one is near."""
    row = gazetteer.nearest_row(point)
    if row < 0:
        return None
    here = unit_vectors(np.array([point.lon]), np.array([point.lat]))[0]
    if float(gazetteer.arrays["xyz"][row] @ here) < _BESIDE:
        return None
    place = gazetteer.place_at(row)
    text = f"{point.lat}, {point.lon}"
    return Address(-1, -1, text, "", "", place.name, place.admin1, "", place.id, "postal")
