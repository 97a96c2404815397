"""Room network: files about address ranges, read row by row: what is in a file is seen by its first lines.

- delegated and delegated-extended statistics of the registries (`registry|cc|type|start|value|date|status|opaque-id`);
- RIPE-style database dumps, whole or split (inetnum, inet6num, organisation);
- ARIN-style bulk data (NetHandle, V6NetHandle, OrgID blocks);
- tables of ranges with country, AS number and organisation: CSV or TSV of `first,last,…` or `prefix,…`.

All of them plain or gzipped. Rows that make no sense are counted, never fatal.
"""

import csv
import gzip
import io
import itertools
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TextIO, cast

from periplus.errors import UsageError
from periplus.network.ranges import IPV4_BITS, REGISTRIES

__all__ = ["FORMATS", "AsOwner", "OrganisationName", "RangeRow", "Row", "read_rows"]

MOST_LINE_CHARS: Final = 4_096
SNIFFED_LINES: Final = 200
UNUSED: Final = ("available", "reserved", "ietf")
"""States of ranges that nobody has."""
NO_COUNTRY: Final = frozenset({"", "*", "ZZ", "EU", "AP", "UN"})


class RangeRow(NamedTuple):
    """A range, and whose it is: `owner` is a key of an organisation, which other rows may name (`organisations.py`)."""

    first: int
    last: int
    registry: int
    country: str
    owner: str
    rank: int
    """Of two sources about the same range the one with the lower rank is believed."""


class OrganisationName(NamedTuple):
    """What an organisation is called."""

    owner: str
    name: str


class AsOwner(NamedTuple):
    """An AS number that is the organisation's: ranges of the one are ranges of the other."""

    number: str
    owner: str


Row = RangeRow | OrganisationName | AsOwner
Reader = Callable[[Iterable[str], Counter[str]], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: what its lines look like, and who reads it."""

    name: str
    looks_like: re.Pattern[str]
    read: Reader


def read_rows(path: Path, counts: Counter[str]) -> Iterator[Row]:
    """The rows of a file of any known kind; what was left out is added to `counts` by its reason.

    UsageError in one line if the file cannot be read or is of no known kind.
    """
    try:
        with _text(path) as file:
            lines = _bounded(file, counts)
            head = list(itertools.islice(lines, SNIFFED_LINES))
            kind = _kind(head)
            if kind is None:
                known = "; ".join(one.name for one in FORMATS)
                raise UsageError(f"{path}: holds no address ranges of a kind that is known ({known})")
            counts[f"files: {kind.name}"] += 1
            yield from kind.read(itertools.chain(head, lines), counts)
    except OSError as error:  # gzip's own errors are among them
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except EOFError:
        raise UsageError(f"{path}: the gzip data is cut short") from None


def _text(path: Path) -> TextIO:
    """The file as text, unpacked where it is gzipped."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed:
        return cast("TextIO", io.TextIOWrapper(gzip.open(path), "utf-8", errors="replace"))
    return path.open(encoding="utf-8", errors="replace")


def _bounded(file: TextIO, counts: Counter[str]) -> Iterator[str]:
    """Lines of bearable length."""
    while line := file.readline(MOST_LINE_CHARS):
        if len(line) == MOST_LINE_CHARS and not line.endswith("\n"):
            counts["bad rows"] += 1
            while (rest := file.readline(MOST_LINE_CHARS)) and not rest.endswith("\n"):
                pass
            continue
        yield line


def _kind(head: list[str]) -> Format | None:
    for line in head:
        if line.strip() and line[0] not in "#%":
            found = next((kind for kind in FORMATS if kind.looks_like.match(line)), None)
            if found is not None:
                return found
    return None


# -- Delegated statistics ---------------------------------------------------------------------------


def _delegated(lines: Iterable[str], counts: Counter[str]) -> Iterator[Row]:
    """NRO extended allocation and assignment reports, and the shorter form before them."""
    for line in lines:
        fields = line.rstrip("\n").split("|")
        if line[0] in "#\n" or len(fields) == 6 or (len(fields) == 7 and fields[0][:1].isdigit()):
            continue  # comments, summaries, the version line
        try:
            registry, country, kind, start, value, _, state, *rest = fields
        except ValueError:
            counts["bad rows"] += 1
            continue
        if state in UNUSED:
            counts["nobody's"] += 1
            continue
        opaque = f"{registry}/{rest[0]}" if rest and rest[0] else ""
        if kind == "asn":
            yield from _delegated_numbers(start, value, opaque)
            continue
        span = _span(kind, start, value)
        if span is None or registry not in REGISTRIES:
            counts["bad rows"] += 1
        else:
            yield RangeRow(*span, REGISTRIES.index(registry), _country(country), opaque, 1)


def _delegated_numbers(start: str, value: str, opaque: str) -> Iterator[Row]:
    if opaque and start.isdigit() and value.isdigit():
        for number in range(int(start), int(start) + min(int(value), 1000)):
            yield AsOwner(str(number), opaque)


def _span(kind: str, start: str, value: str) -> tuple[int, int] | None:
    """First and last address: IPv4 has a number of addresses, IPv6 the length of a prefix."""
    first = _number(start)
    if first is None or not value.isdigit() or (kind == "ipv4") != (":" not in start) or kind not in ("ipv4", "ipv6"):
        return None
    size = int(value) if kind == "ipv4" else 1 << (128 - int(value)) if int(value) <= 128 else 0
    return (first, first + size - 1) if size > 0 else None


# -- RIPE-style and ARIN-style objects ---------------------------------------------------------------


def _objects(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Blocks of `key: value` lines; of a repeated key the first value, keys in small letters."""
    block: dict[str, str] = {}
    for line in lines:
        if line in ("\n", "\r\n"):
            if block:
                yield block
            block = {}
        elif line[0] not in " \t+%#":
            key, colon, value = line.partition(":")
            if colon:
                block.setdefault(key.strip().lower(), value.partition("#")[0].strip())
    if block:
        yield block


def _ripe_objects(lines: Iterable[str], counts: Counter[str]) -> Iterator[Row]:
    """inetnum, inet6num and organisation objects; others are passed over."""
    for block in _objects(lines):
        source = REGISTRY_OF.get(block.get("source", "").partition(" ")[0].lower(), 0)
        if "organisation" in block:
            if block.get("org-name"):
                yield OrganisationName(f"org/{block['organisation'].upper()}", block["org-name"])
            continue
        text = block.get("inetnum") or block.get("inet6num")
        if text is None:
            continue
        span = _range(text)
        if span is None:
            counts["bad rows"] += 1
            continue
        owner = f"org/{block['org'].upper()}" if block.get("org") else ""
        yield RangeRow(*span, source, _country(block.get("country", "")), owner, 0)


def _arin_objects(lines: Iterable[str], counts: Counter[str]) -> Iterator[Row]:
    """Networks and organisations of ARIN's bulk data; points of contact and AS numbers are passed over."""
    arin = REGISTRIES.index("arin")
    for block in _objects(lines):
        owner = f"arin-org/{block['orgid'].upper()}" if block.get("orgid") else ""
        if "orgname" in block:
            if owner:
                yield OrganisationName(owner, block["orgname"])
        elif "netrange" in block:
            span = _range(block["netrange"])
            if span is None:
                counts["bad rows"] += 1
            else:
                yield RangeRow(*span, arin, _country(block.get("country", "")), owner, 0)


REGISTRY_OF: Final = {"ripe": 5, "ripencc": 5, "apnic": 2, "afrinic": 1, "lacnic": 4, "arin": 3}


# -- Tables -----------------------------------------------------------------------------------------


def _table(lines: Iterable[str], counts: Counter[str]) -> Iterator[Row]:
    """CSV or TSV: a range as two addresses or a prefix, then country, AS number and organisation in any order."""
    named: set[str] = set()
    begun = False
    for fields in _fields(lines):
        span, rest = _table_span(fields)
        if span is None:
            counts["bad rows" if begun or not fields or not fields[0][:1].isalpha() else "header rows"] += 1
            continue
        begun = True
        country, number, name = _told(rest)
        if number == "0":  # not routed
            counts["nobody's"] += 1
            continue
        owner = f"as/{number}" if number else f"name/{name}" if name else ""
        if name and owner not in named:
            named.add(owner)
            yield OrganisationName(owner, name)
        yield RangeRow(*span, 0, country, owner, 2 if owner else 3)


def _fields(lines: Iterable[str]) -> Iterator[list[str]]:
    """The fields of each row; the first row says whether tabs or commas stand between them."""
    rows = (line for line in lines if line[0] not in "#\r\n")
    first = next(rows, "")
    whole = itertools.chain((first,), rows)
    reader = csv.reader(whole, delimiter="\t", quoting=csv.QUOTE_NONE) if "\t" in first else csv.reader(whole)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:  # a NUL, or a quote that swallows the rest: the row is none
            yield []


def _table_span(fields: list[str]) -> tuple[tuple[int, int] | None, list[str]]:
    """The range that a row begins with, and the fields behind it."""
    if not fields:
        return None, []
    if "/" in fields[0]:
        return _range(fields[0]), fields[1:]
    if len(fields) < 2:
        return None, []
    first, last = _number(fields[0].strip()), _number(fields[1].strip())
    if first is None:
        return None, []
    if last is None:  # `address length …`, as in tables of routed prefixes
        return _range(f"{fields[0]}/{fields[1]}"), fields[2:]
    return ((first, last) if last >= first else None), fields[2:]


def _told(fields: list[str]) -> tuple[str, str, str]:
    """Country, AS number and organisation, by their looks."""
    country = number = name = ""
    for field in fields:
        text = field.strip()
        if not number and (text.isdigit() or (text[:2] == "AS" and text[2:].isdigit())):
            number = text.removeprefix("AS")
        elif len(text) == 2 and text.isalpha() and not country:
            country = _country(text)
        elif len(text) > 2 and not name:
            name = text
    return country, number, name


# -- Parts --------------------------------------------------------------------------------------------


def _number(text: str) -> int | None:
    try:
        if ":" in text:
            return int.from_bytes(socket.inet_pton(socket.AF_INET6, text))
        return IPV4_BITS | int.from_bytes(socket.inet_pton(socket.AF_INET, text))
    except (OSError, ValueError):  # ValueError: a NUL inside
        return None


def _range(text: str) -> tuple[int, int] | None:
    """`first - last`, or a prefix."""
    start, dash, end = text.partition("-")
    if dash:
        first, last = _number(start.strip()), _number(end.strip())
        return (first, last) if first is not None and last is not None and first <= last else None
    address, _, length = text.partition("/")
    first = _number(address.strip())
    whole = 128 if ":" in address else 32
    length = length.strip()
    if first is None or not length.isdigit() or not 0 <= int(length) <= whole:
        return None
    size = 1 << (whole - int(length))
    return first // size * size, first // size * size + size - 1


def _country(text: str) -> str:
    code = text.strip()[:2].upper()
    return "" if code in NO_COUNTRY or not (code.isascii() and code.isalpha() and len(code) == 2) else code


FORMATS: Final = (
    Format("delegated statistics", re.compile(r"[0-9.]+\|[a-z]+\||[a-z]+\|[A-Z*]*\|(ipv4|ipv6|asn)\|"), _delegated),
    Format(
        "RIPE-style objects",
        re.compile(r"(inetnum|inet6num|organisation|as-block|aut-num|route6?|role|person|mntner|domain):"),
        _ripe_objects,
    ),
    Format("ARIN-style bulk data", re.compile(r"(NetHandle|V6NetHandle|OrgID|ASHandle|POCHandle):"), _arin_objects),
    Format(
        "tables of ranges",
        re.compile(r"\"?([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:.]+)(/[0-9]{1,3})?\"?[,\t]"),
        _table,
    ),
)
