"""Room network: the hierarchy of address ranges (paper D), compact, sorted, and mapped from a file.

Every range of the registries is a row; rows are sorted by their first address, wider ones first, and each knows the
smallest range around it. IPv4 lies inside IPv6 (::ffff:0:0/96), so one table serves both. `build.py` makes it.
"""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from periplus.errors import DiskFull, GazetteerMissing, UsageError
from periplus.places.container import Container, read_container, write_container

__all__ = ["REGISTRIES", "IpHierarchy", "Subnet", "address_number", "address_text", "range_text"]

Columns = dict[str, npt.NDArray[Any]]

KIND: Final = "ip-hierarchy"
REGISTRIES: Final = ("", "afrinic", "apnic", "arin", "lacnic", "ripencc", "iana")
"""By the number that the rows have."""
IPV4_BITS: Final = 0xFFFF << 32
"""Where the IPv4 addresses lie among the IPv6 ones."""
_LOW: Final = (1 << 64) - 1
_FALLBACK_STEPS: Final = {4: (8, 16, 24), 6: (32, 40, 48)}
"""Prefix lengths that stand in for the hierarchy where no registry says anything."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """The smallest known range around an address.

    `path` goes from the world down to the range itself, whose text is the last step; `organisation` is a number that
    all ranges of one organisation share, None if nobody knows.
    """

    path: tuple[str, ...]
    organisation: int | None = None
    organisation_name: str = ""
    country: str = ""
    registry: str = ""

    @property
    def key(self) -> str:
        """The range as text: what a delegation is remembered by."""
        return self.path[-1]


class IpHierarchy:
    """Address ranges with their organisations. Look-ups cost two binary searches and the climb."""

    def __init__(self, columns: Columns, names: "Container | list[str]", meta: dict[str, Any], widest: int = 0) -> None:
        self._columns = columns
        self._names = names
        self.meta = meta
        self._widest = widest
        self._first_high, self._first_low = columns["first_high"], columns["first_low"]

    @classmethod
    def empty(cls, widest: int = 0) -> "IpHierarchy":
        """A hierarchy in which no range is known: addresses lie in /8, /16 and /24 (IPv6: /32, /40 and /48)."""
        kinds = {"first_high": "<u8", "first_low": "<u8", "last_high": "<u8", "last_low": "<u8", "parent": "<i4"}
        kinds |= {"organisation": "<i4", "country": "<u2", "registry": "|u1"}
        return cls({name: np.empty(0, dtype) for name, dtype in kinds.items()}, [], {}, widest)

    @classmethod
    def open(cls, path: Path, widest: int = 0) -> "IpHierarchy":
        """Map the file. UsageError in one line if it is absent, broken or something else.

        A range of more addresses than a prefix of `widest` bits (IPv4; IPv6: twice as many) is cut into blocks of that
        size where it is the smallest known; 0: never, as in the paper.
        """
        try:
            container = read_container(path)
        except GazetteerMissing:
            container = None
        if container is None or container.meta.get("kind") != KIND:
            raise UsageError(
                f"{path}: no hierarchy of addresses; make one with: periplus network build FILE… -o {path}"
            )
        columns = {name: array for name, array in container.arrays.items() if "." not in name}
        return cls(columns, container, container.meta, widest)

    def save(self, path: Path) -> None:
        """Write the file; readers see the old one or the new one."""
        names = [self._name(i) for i in range(self.organisations)]
        try:
            write_container(path, self._columns, {"organisations": names}, self.meta | {"kind": KIND}, "")
        except DiskFull as error:
            reason = getattr(error.__cause__, "strerror", None) or "no room"
            raise DiskFull(f"cannot write {path}: {reason}") from error

    def __len__(self) -> int:
        return len(self._first_low)

    @property
    def organisations(self) -> int:
        """How many organisations are told apart."""
        return len(self._names.strings("organisations") if isinstance(self._names, Container) else self._names)

    @property
    def nbytes(self) -> int:
        """Memory of all columns and names."""
        arrays = self._names.arrays if isinstance(self._names, Container) else self._columns
        names = 0 if isinstance(self._names, Container) else sum(len(name) for name in self._names)
        return sum(array.nbytes for array in arrays.values()) + names

    def subnet(self, address: str) -> Subnet:
        """Where an address lies; ValueError if it is none."""
        number = address_number(address)
        rows = list(self._around(number))
        if not rows:
            return Subnet(("world", *_blocks(number)))
        country = next((c for row in rows if (c := self._country(row))), "")
        registry = next((r for row in rows if (r := REGISTRIES[self._columns["registry"][row]])), "")
        owner = next((int(o) for row in rows if (o := self._columns["organisation"][row]) >= 0), None)
        steps = [self._text(row) for row in reversed(rows)]
        steps += self._cut(number, rows[0])
        heads = (step for step in (registry, f"{registry or 'any'} {country}" if country else "") if step)
        name = self._name(owner) if owner is not None else ""
        return Subnet(("world", *heads, *steps), owner, name, country, registry)

    def _around(self, number: int) -> Iterator[int]:
        """The rows around an address, the smallest range first."""
        high, low = number >> 64, number & _LOW
        start = int(np.searchsorted(self._first_high, np.uint64(high), "left"))
        end = int(np.searchsorted(self._first_high, np.uint64(high), "right"))
        row = start + int(np.searchsorted(self._first_low[start:end], np.uint64(low), "right")) - 1
        while row >= 0:
            if self._last(row) >= number:
                yield row
            row = int(self._columns["parent"][row])

    def _cut(self, number: int, row: int) -> tuple[str, ...]:
        """The block of a very wide range that the address lies in, if such ranges are to be cut."""
        if not self._widest:
            return ()
        size = 1 << (32 - self._widest if number >> 32 == 0xFFFF else 128 - 2 * self._widest)
        if self._last(row) - self._first(row) < size:
            return ()
        first = number // size * size
        return (range_text(first, first + size - 1),)

    def _first(self, row: int) -> int:
        return int(self._first_high[row]) << 64 | int(self._first_low[row])

    def _last(self, row: int) -> int:
        return int(self._columns["last_high"][row]) << 64 | int(self._columns["last_low"][row])

    def _text(self, row: int) -> str:
        return range_text(self._first(row), self._last(row))

    def _country(self, row: int) -> str:
        code = int(self._columns["country"][row])
        return chr(code >> 8) + chr(code & 0xFF) if code else ""

    def _name(self, organisation: int) -> str:
        if isinstance(self._names, Container):
            return self._names.strings("organisations")[organisation]
        return self._names[organisation]


def address_number(address: str) -> int:
    """An address as a number among the IPv6 ones; ValueError if it is none."""
    parsed = ipaddress.ip_address(address.partition("%")[0].strip("[]"))
    return IPV4_BITS | int(parsed) if parsed.version == 4 else int(parsed)


def address_text(number: int) -> str:
    """The address of a number."""
    if number >> 32 == 0xFFFF:
        return str(ipaddress.IPv4Address(number & 0xFFFFFFFF))
    return str(ipaddress.IPv6Address(number))


def range_text(first: int, last: int) -> str:
    """A range as a prefix where it is one, else as two addresses."""
    size = last - first + 1
    if size & (size - 1) == 0 and first % size == 0:
        bits = (32 if first >> 32 == 0xFFFF else 128) - (size.bit_length() - 1)
        if bits >= 0:
            return f"{address_text(first)}/{bits}"
    return f"{address_text(first)}-{address_text(last)}"


def _blocks(number: int) -> Iterator[str]:
    """Ever smaller prefixes around an address that no registry knows."""
    version = 4 if number >> 32 == 0xFFFF else 6
    whole = 32 if version == 4 else 128
    for bits in _FALLBACK_STEPS[version]:
        size = 1 << (whole - bits)
        first = number // size * size
        yield range_text(first, first + size - 1)
