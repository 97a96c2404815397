"""A small database in MaxMind's format."""

import ipaddress
import struct

__all__ = ["mmdb", "mmdb_of"]

UINT16, UINT32, UINT64 = 5, 6, 9
EXTENDED = 8
"""From this kind of value on, the kind has a byte of its own."""


def mmdb(network: str, place_id: int, radius: int | None = None) -> bytes:
    """A database in MaxMind's format with one network and one record: a city, and how near it is."""
    place: dict[str, object] = {"city": {"geoname_id": place_id}}
    return mmdb_of(network, place if radius is None else place | {"location": {"accuracy_radius": radius}})


def mmdb_of(network: str, record: dict[str, object]) -> bytes:
    """A database with one network and any record of texts, numbers, lists and tables."""
    net = ipaddress.ip_network(network)
    bits = [int(bit) for bit in f"{int(net.network_address):032b}"[: net.prefixlen]]
    count = len(bits)
    tree = b""
    for i, bit in enumerate(bits):
        onward = i + 1 if i + 1 < count else count + 16
        pair = [count, count]
        pair[bit] = onward
        tree += b"".join(value.to_bytes(3, "big") for value in pair)
    numbers = {name: _number(value, kind) for name, value, kind in (
        ("node_count", count, UINT32), ("record_size", 24, UINT16), ("ip_version", 4, UINT16),
        ("binary_format_major_version", 2, UINT16), ("binary_format_minor_version", 0, UINT16),
        ("build_epoch", 1, UINT64),
    )}  # fmt: skip
    metadata = numbers | {"database_type": "City", "languages": [], "description": {}}
    return tree + bytes(16) + _packed(record) + b"\xab\xcd\xefMaxMind.com" + _packed(metadata)


def _packed(value: object) -> bytes:
    """A value as the format has it, bytes as they are; texts and tables have fewer than 29 parts."""
    match value:
        case str():
            return bytes([2 << 5 | len(value.encode())]) + value.encode()
        case float():
            return bytes([3 << 5 | 8]) + struct.pack(">d", value)
        case bytes():
            return value
        case int():
            return _number(value, UINT32)
        case dict():
            return bytes([7 << 5 | len(value)]) + b"".join(_packed(k) + _packed(v) for k, v in value.items())
        case list():
            return bytes([len(value), 11 - 7]) + b"".join(map(_packed, value))
    raise TypeError(value)


def _number(value: int, kind: int) -> bytes:
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return (bytes([kind << 5 | len(data)]) if kind < EXTENDED else bytes([len(data), kind - 7])) + data
