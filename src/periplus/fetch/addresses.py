"""The address guard: only public addresses, unless a job opens a range on purpose.

A crawl that names no contact does not leave the machine at all (`loopback_only`). The guard is asked with the
address that is then used for the connection, so a name that changes its mind between check and use gains nothing.
Addresses that carry an IPv4 address inside (mapped, NAT64, 6to4, Teredo) are judged by it too.
"""

import functools
import ipaddress

from periplus.errors import Blocked

__all__ = ["AddressGuard", "literal_address"]

REMEMBERED = 4_096

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Ranges that `is_global` calls global, or did in some Python versions, and that are no place for a crawler.
NEVER = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4", "100.64.0.0/10"),
        *("ff00::/8", "64:ff9b:1::/48", "fec0::/10", "3fff::/20", "5f00::/16"),
    )
)


@functools.lru_cache(REMEMBERED)  # the same few are asked for again with every request
def parsed_address(text: str) -> IpAddress:
    """An address out of its text. Raises ValueError."""
    return ipaddress.ip_address(text)


@functools.lru_cache(REMEMBERED)
def literal_address(host: str) -> str | None:
    """The address that a URL's host is, written one way; None for a name."""
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None


class AddressGuard:
    """Says where connections may lead."""

    def __init__(self, allow_private: list[str], *, loopback_only: bool = False) -> None:
        self._allowed: tuple[IpNetwork, ...] = tuple(ipaddress.ip_network(network) for network in allow_private)
        self._loopback_only = loopback_only
        self._passed: set[str] = set()

    def check(self, address: str) -> None:
        """Raise Blocked unless the address is public or in an allowed range."""
        if address in self._passed:  # what is judged never changes; only what passed is remembered
            return
        self._judge(address)
        if len(self._passed) >= REMEMBERED:
            self._passed.clear()
        self._passed.add(address)

    def _judge(self, address: str) -> None:
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            raise Blocked(f"{address!r} is not an address") from None
        if self._loopback_only and not parsed.is_loopback:
            raise Blocked(f"{address} is not on this machine, and a crawl without `contact` stays on it")
        if not self.is_opened(address) and not all(_is_public(inner) for inner in _judged_by(parsed)):
            raise Blocked(f"{address} is not a public address (crawl.allow_private opens ranges)")

    def is_opened(self, address: str) -> bool:
        """Whether the job opened the range of this address on purpose."""
        if not self._allowed:
            return False
        parsed = parsed_address(address.partition("%")[0])
        return any(parsed in network for network in self._allowed if network.version == parsed.version)


def _judged_by(address: IpAddress) -> list[IpAddress]:
    """The address and whatever IPv4 address hides in it."""
    judged: list[IpAddress] = [address]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            judged = [address.ipv4_mapped]  # the mapped range itself is not global
        elif address.sixtofour:
            judged.append(address.sixtofour)
        elif address.teredo:
            judged.extend(address.teredo)
        elif address in NAT64:
            judged = [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return judged


def _is_public(address: IpAddress) -> bool:
    if any(address in network for network in NEVER if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
