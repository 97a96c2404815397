"""The address guard: only public addresses, whatever they are written or wrapped as (reliability S1, S10)."""

import pytest

from periplus.errors import Blocked
from periplus.fetch import AddressGuard

REFUSED = [
    "0.0.0.0",
    "0.0.0.1",
    "0.255.255.255",
    "10.0.0.0",
    "10.0.0.1",
    "10.1.2.3",
    "10.255.255.255",
    "100.64.0.0",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.0",
    "127.0.0.1",
    "127.0.0.53",
    "127.1.2.3",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.255.255",
    "172.16.0.0",
    "172.16.0.1",
    "172.20.10.1",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.1",
    "192.0.0.8",
    "192.0.0.170",
    "192.0.2.0",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.7",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.0.1",
    "192.168.1.254",
    "192.168.255.255",
    "198.18.0.0",
    "198.18.0.1",
    "198.19.255.255",
    "224.0.0.0",
    "224.0.0.1",
    "224.0.0.251",
    "232.1.1.1",
    "239.255.255.250",
    "240.0.0.0",
    "240.0.0.1",
    "250.1.2.3",
    "255.255.255.254",
    "255.255.255.255",
    "::",
    "::1",
    "::2",
    "fc00::",
    "fc00::1",
    "fd00::1",
    "fd12:3456:789a::1",
    "fdff::1",
    "fe80::",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "fec0::1",
    "ff00::",
    "ff02::1",
    "ff02::fb",
    "ff05::2",
    "ff0e::1",
    "100::1",
    "2001:db8::1",
    "2001:db8:ffff::1",
    "2001:10::1",
    "3fff::1",
    "5f00::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:192.168.1.1",
    "::ffff:0.0.0.0",
    "::ffff:100.64.0.1",
    "::127.0.0.1",
    "::10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b::192.168.0.1",
    "64:ff9b:1::10.0.0.1",
    "2002:7f00:1::",
    "2002:0a00:0001::1",
    "2002:c0a8:0101::1",
    "2002:a9fe:a9fe::1",
    "2002:6440:1::1",
    "2001:0:0a00:1:0:0:0:0",
    "2001:0:53aa:64c:0:0:f5ff:fffe",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
]

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.1.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.3.1",
    "192.167.1.1",
    "192.169.1.1",
    "198.17.0.1",
    "198.20.0.1",
    "223.255.255.254",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001::200e",
    "2620:fe::fe",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
]

NOT_ADDRESSES = [
    "",
    "localhost",
    "example.com",
    "127.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "1.2.3",
    "::g",
    "[::1]",
]


def test_the_table_is_long_enough() -> None:
    assert len(set(REFUSED)) >= 80


@pytest.mark.parametrize("address", REFUSED)
def test_refused(address: str) -> None:
    with pytest.raises(Blocked):
        AddressGuard([]).check(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    AddressGuard([]).check(address)


@pytest.mark.parametrize("address", NOT_ADDRESSES)
def test_what_is_not_an_address_is_refused(address: str) -> None:
    with pytest.raises(Blocked):
        AddressGuard(["0.0.0.0/0", "::/0"]).check(address)


def test_only_the_opened_range_is_opened() -> None:
    guard = AddressGuard(["10.1.0.0/16", "fd00::/64"])
    guard.check("10.1.2.3")
    guard.check("fd00::5")
    guard.check("8.8.8.8")
    assert guard.is_opened("10.1.2.3")
    assert not guard.is_opened("8.8.8.8")
    for address in ("10.2.0.1", "127.0.0.1", "169.254.169.254", "fd01::1", "::ffff:10.1.2.3"):
        with pytest.raises(Blocked):
            guard.check(address)


def test_a_crawl_without_contact_stays_on_the_machine() -> None:
    guard = AddressGuard(["127.0.0.0/8", "10.0.0.0/8"], loopback_only=True)
    guard.check("127.0.0.1")
    for address in ("8.8.8.8", "10.0.0.1", "::1", "2606:4700::1"):
        with pytest.raises(Blocked):
            guard.check(address)
