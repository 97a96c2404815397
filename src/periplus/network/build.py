"""Room network: from the registries' files to the hierarchy: bad and bogus rows out, doubles merged, parents found."""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from periplus.errors import UsageError
from periplus.network.organisations import Organisations
from periplus.network.ranges import Columns, IpHierarchy, address_number
from periplus.network.registries import AsOwner, OrganisationName, RangeRow, read_rows
from periplus.wording import counted

__all__ = ["Built", "build_hierarchy"]

MOST_RANGES: Final = 20_000_000
WIDEST: Final = 1 << 27
"""Most addresses of an IPv4 range: no registry has given more than a /8 to anybody; wider ones are place holders."""
WIDEST_IPV6: Final = 1 << (128 - 12)
_LOW: Final = (1 << 64) - 1
_MAPPED: Final = 0xFFFF

BOGUS: Final = tuple(
    sorted(
        (address_number(str(network[0])), address_number(str(network[-1])))
        for network in map(
            ip_network,
            (
                *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
                *("192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
                *("203.0.113.0/24", "224.0.0.0/3", "::/96", "64:ff9b::/96", "100::/64", "2001:db8::/32", "3fff::/20"),
                *("4000::/2", "8000::/1"),
            ),
        )
    )
)
"""Ranges that no public host has, none inside another; whatever lies in one of them is refused."""
_BOGUS_STARTS: Final = [first for first, _ in BOGUS]


@dataclass(frozen=True, slots=True)
class Built:
    """A hierarchy, and what was left out of it by reason."""

    hierarchy: IpHierarchy
    counts: dict[str, int]


class _Rows:
    """Ranges as columns, while they come in."""

    def __init__(self) -> None:
        self.first_high, self.first_low, self.last_high, self.last_low = (array("Q") for _ in range(4))
        self.owner = array("i")
        self.country = array("H")
        self.registry = array("B")
        self.rank = array("B")

    def add(self, row: RangeRow, owner: int) -> None:
        first, last, registry, country, _, rank = row
        self.first_high.append(first >> 64)
        self.first_low.append(first & _LOW)
        self.last_high.append(last >> 64)
        self.last_low.append(last & _LOW)
        self.owner.append(owner)
        self.country.append(ord(country[0]) << 8 | ord(country[1]) if country else 0)
        self.registry.append(registry)
        self.rank.append(rank)


def build_hierarchy(files: Iterable[Path]) -> Built:
    """The hierarchy out of files of any known kinds, in any order. UsageError if nothing usable is in them."""
    counts: Counter[str] = Counter()
    organisations = Organisations()
    rows = _Rows()
    names: list[str] = []
    for path in files:
        names.append(path.name)
        for row in read_rows(path, counts):
            if isinstance(row, RangeRow):
                if _refused(row, counts):
                    continue
                if len(rows.owner) >= MOST_RANGES:
                    raise UsageError(f"{path}: more than {MOST_RANGES:,} ranges: leave some files out")
                rows.add(row, organisations.number(row.owner) if row.owner else -1)
            elif isinstance(row, OrganisationName):
                organisations.call(row.owner, row.name)
            elif isinstance(row, AsOwner):
                organisations.join(row.owner, f"as/{row.number}")
    if not rows.owner:
        raise UsageError(
            f"no usable range in {', '.join(names) or 'no file'} ({counted(sum(counts.values()), 'row')} left out)"
        )
    columns, called = _columns(rows, organisations, counts)
    return Built(IpHierarchy(columns, called, {"sources": names}), dict(counts))


def _refused(row: RangeRow, counts: Counter[str]) -> bool:
    """Whether a range cannot be anybody's: private or reserved space, or wider than any registry gives."""
    mapped = row.first >> 32 == _MAPPED
    if mapped != (row.last >> 32 == _MAPPED) or row.last - row.first >= (WIDEST if mapped else WIDEST_IPV6):
        counts["too wide"] += 1
        return True
    before = bisect_right(_BOGUS_STARTS, row.first) - 1
    if before >= 0 and row.last <= BOGUS[before][1]:
        counts["private or bogus"] += 1
        return True
    return False


def _columns(rows: _Rows, organisations: Organisations, counts: Counter[str]) -> tuple[Columns, list[str]]:
    """The sorted columns, each range once, with its parent, and the names of the organisations that have one."""
    numbers = ("first_high", "first_low", "last_high", "last_low")
    columns: Columns = {name: np.array(getattr(rows, name), "<u8") for name in numbers}
    rank = np.array(rows.rank)
    order = np.lexsort((rank, ~columns["last_low"], ~columns["last_high"], columns["first_low"], columns["first_high"]))
    columns = {name: values[order] for name, values in columns.items()}
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any([values[1:] != values[:-1] for values in columns.values()], axis=0)
    counts["named twice"] += int((~new).sum())
    group = np.cumsum(new) - 1
    settled, names = organisations.settled()
    owner = np.array(rows.owner, "<i4")[order]
    known = owner >= 0
    owner[known] = np.array(settled or [0], "<i4")[owner[known]]
    columns = {name: values[new] for name, values in columns.items()}
    columns["organisation"] = _first_told(owner, known, group, -1)
    country, registry = np.array(rows.country, "<u2")[order], np.array(rows.registry, "|u1")[order]
    columns["country"] = _first_told(country, country > 0, group, 0)
    columns["registry"] = _first_told(registry, registry > 0, group, 0)
    columns["parent"] = _parents(columns)
    return columns, names


def _first_told(
    values: npt.NDArray[np.integer], told: npt.NDArray[np.bool_], group: npt.NDArray[np.integer], blank: int
) -> npt.NDArray[np.integer]:
    """For each group of rows about one range what the first of them that says something says."""
    result = np.full(int(group[-1]) + 1, blank, values.dtype)
    groups, first = np.unique(group[told], return_index=True)
    result[groups] = values[told][first]
    return result


def _parents(columns: Columns) -> npt.NDArray[np.int32]:
    """For each range the row of the smallest one around it, -1 for none; one sweep with a stack.

    Of two ranges that cross, neither is inside the other; addresses in both are found in the one that begins later.
    """
    ends = [
        high << 64 | low for high, low in zip(columns["last_high"].tolist(), columns["last_low"].tolist(), strict=True)
    ]
    parents = [-1] * len(ends)
    stack: list[int] = []
    for row, last in enumerate(ends):
        while stack and ends[stack[-1]] < last:
            stack.pop()
        if stack:
            parents[row] = stack[-1]
        stack.append(row)
    return np.array(parents, "<i4")
