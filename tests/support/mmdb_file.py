"""A small database in MaxMind's format."""

import ipaddress

__all__ = ["mmdb"]


def mmdb(network: str, place_id: int, radius: int | None = None) -> bytes:
    """A database in MaxMind's format with one network and one record: a city, and how near it is."""

    def text(value: str) -> bytes:
        return bytes([0x40 | len(value)]) + value.encode()

    def number(value: int, kind: int = 6) -> bytes:
        packed = value.to_bytes((value.bit_length() + 7) // 8, "big")
        return (bytes([kind << 5 | len(packed)]) if kind < 8 else bytes([len(packed), kind - 7])) + packed

    net = ipaddress.ip_network(network)
    bits = [int(bit) for bit in f"{int(net.network_address):032b}"[: net.prefixlen]]
    count = len(bits)
    tree = b""
    for i, bit in enumerate(bits):
        onward = i + 1 if i + 1 < count else count + 16
        pair = [count, count]
        pair[bit] = onward
        tree += b"".join(value.to_bytes(3, "big") for value in pair)
    record = bytes([0xE1 + (radius is not None)]) + text("city") + bytes([0xE1]) + text("geoname_id") + number(place_id)
    if radius is not None:
        record += text("location") + bytes([0xE1]) + text("accuracy_radius") + number(radius)
    metadata = bytes([0xE0 | 9])
    metadata += (
        text("node_count") + number(count) + text("record_size") + number(24, 5) + text("ip_version") + number(4, 5)
    )
    metadata += (
        text("binary_format_major_version") + number(2, 5) + text("binary_format_minor_version") + bytes([5 << 5])
    )
    metadata += text("build_epoch") + number(1, 9) + text("database_type") + text("City")
    metadata += text("languages") + bytes([0x00, 0x04]) + text("description") + bytes([0xE0])
    return tree + bytes(16) + record + b"\xab\xcd\xefMaxMind.com" + metadata
