"""What travels between machines: small, whole, bounded, and refused if anything about it is wrong."""

import asyncio
import os
import random
import tracemalloc
from typing import Any

import msgspec
import pytest
from crawl_values import new_url
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.errors import ExchangeError
from periplus.exchange.envelope import (
    MAX_ENVELOPE_BYTES,
    VERSION,
    Envelope,
    PostedLink,
    open_envelope,
    pack,
    seal,
)
from periplus.exchange.nats import MAX_OUTGOING, NatsExchange, _Inbox
from periplus.model import NewUrl
from periplus.settings import ClusterSettings


def links(count: int, first: int = 1, length: int = 60) -> tuple[PostedLink, ...]:
    """Links whose URLs are as long as those of the web are on average."""
    text = "x" * (length - 28)
    urls = [new_url(f"http://news.example.org/{text}{n:04d}", priority=0.123, depth=4) for n in range(count)]
    return tuple(PostedLink(first + 3 * n, url, "south" if n % 2 else "") for n, url in enumerate(urls))


def test_an_envelope_comes_out_as_it_went_in() -> None:
    sent = Envelope("east.1f2e3d4c", "west", 40, links(50, first=41))
    assert open_envelope(seal(sent)) == sent


def test_a_link_costs_less_than_150_bytes() -> None:
    for length in (60, 76, 100):
        sealed = seal(Envelope("east.1f2e3d4c", "west", 0, links(500, length=length)))
        assert len(sealed) / 500 < length + 30
        assert len(sealed) / 500 <= 150


def test_links_are_packed_by_number_and_by_bytes() -> None:
    assert pack(links(3)) == 3
    assert pack(links(5_000)) == 1_000
    long = links(1_000, length=8_000)
    count = pack(long)
    assert 0 < count < 100
    assert len(seal(Envelope("a.1", "b", 0, long[:count]))) <= MAX_ENVELOPE_BYTES


def wire(**changed: Any) -> bytes:
    fields: dict[str, Any] = {
        "version": VERSION, "sender": "a.1", "receiver": "b", "after": 0,
        "links": [[1, "http://x.com/", 0.5, 1, 0, False, ""]],
    }  # fmt: skip
    return msgspec.msgpack.encode(list((fields | changed).values()))


def test_the_sample_of_the_next_test_is_good() -> None:
    assert len(open_envelope(wire()).links) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x80",
        os.urandom(500),
        b"x" * (MAX_ENVELOPE_BYTES + 1),
        wire(version=VERSION + 1),
        wire(sender="../../etc"),
        wire(sender=""),
        wire(after=-1),
        wire(links=[]),
        wire(links=[[1, "http://x.com/", 0.5, 1, 0, False, ""]] * 1_001),
        wire(links=[[0, "http://x.com/", 0.5, 1, 0, False, ""]]),
        wire(links=[[1, "file:///etc/passwd", 0.5, 1, 0, False, ""]]),
        wire(links=[[1, "HTTP://X.com/a b", 0.5, 1, 0, False, ""]]),
        wire(links=[[1, "http://x.com/", float("nan"), 1, 0, False, ""]]),
        wire(links=[[1, "http://x.com/", 0.5, -1, 0, False, ""]]),
        wire(links=[[1, "http://x.com/", 0.5, 1, 0, False, "x" * 65]]),
        wire(links=[[1, "http://x.com/" + "x" * 9_000, 0.5, 1, 0, False, ""]]),
    ],
)
def test_what_is_wrong_is_refused(data: bytes) -> None:
    with pytest.raises(ExchangeError):
        open_envelope(data)


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=300), st.integers(0, 60))
def test_broken_bytes_never_do_more_than_be_refused(noise: bytes, at: int) -> None:
    good = wire()
    for data in (noise, good[:at] + noise + good[at:], good[: len(good) - at % len(good)]):
        try:
            open_envelope(data)
        except ExchangeError:
            continue


class NoClient:
    """A connection that is never used."""

    def jetstream(self, timeout: float) -> None:
        """Nor is this."""


class StuckClient:
    """A connection over which nothing is ever taken."""

    def jetstream(self, **_: Any) -> "StuckClient":
        return self

    async def publish(self, *_: Any, **__: Any) -> None:
        await asyncio.Event().wait()


def test_E5_what_waits_for_a_slow_receiver_is_bounded_in_memory() -> None:
    """The exchange says that it is full, so the crawl takes no further turns; what waits costs less than 32 MiB."""

    def with_memory_of_its_own(number: int) -> NewUrl:
        """Not made by `canonicalize`, whose memory of URLs has a bound of its own and depends on earlier tests."""
        url = f"http://news.example.org/{'x' * 40}/{number}"
        return NewUrl(url, url[7:23], 2**62 + number, 0.5 + number / 2**20, 1)

    async def post_until_full() -> tuple[int, int]:
        exchange = NatsExchange(StuckClient(), "test", ClusterSettings())  # type: ignore[arg-type]  # as much as is used
        exchange._tails["a"], exchange._generations["a"] = {}, "1"
        tracemalloc.start()
        try:
            while not exchange.is_full:
                number = exchange.outgoing + 1
                exchange.post("a", "b", number, with_memory_of_its_own(number))
                if number % 1_000 == 0:
                    await asyncio.sleep(0)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            await exchange.close(["a"])
        return number, peak

    links, peak = asyncio.run(post_until_full())
    assert links == MAX_OUTGOING
    assert peak <= 32 * 2**20


def test_repeated_and_overtaking_envelopes_do_no_harm() -> None:
    """A fifth of all deliveries comes twice and all come in disorder, as do envelopes that were packed anew."""

    async def deliver(seed: int) -> None:
        numbers = random.Random(seed)
        exchange = NatsExchange(NoClient(), "test", ClusterSettings())  # type: ignore[arg-type]  # nothing is sent
        inbox = _Inbox({}, {})
        posted = links(400)
        envelopes, at = [], 0
        while at < len(posted):
            size = numbers.randrange(1, 30)
            after = posted[at - 1].sequence if at else 0
            envelopes.append(Envelope("a.1", "b", after, posted[at : at + size]))
            if numbers.random() < 0.2:  # the sender died and packs what it does not know to be taken in another way
                back = max(0, at - numbers.randrange(20))
                envelopes.append(
                    Envelope("a.1", "b", posted[back - 1].sequence if back else 0, posted[back : at + size])
                )
            at += size
        envelopes += numbers.sample(envelopes, len(envelopes) // 5)
        for number in range(len(envelopes)):  # each overtakes up to nine others
            other = min(len(envelopes) - 1, number + numbers.randrange(10))
            envelopes[number], envelopes[other] = envelopes[other], envelopes[number]
        for envelope in envelopes:
            exchange.arrive("b", inbox, envelope, None)  # type: ignore[arg-type]  # nobody acknowledges
        got = [url for shipment in exchange.collect("b") for url in shipment.urls]
        assert got == [link.url for link in posted]
        assert not any(inbox.held.values())

    count = int(os.environ.get("PERIPLUS_DELIVERIES", "15"))  # 250 are a hundred thousand links
    for seed in range(count):
        asyncio.run(deliver(seed))
    print(f"PROOF {400 * count:,} links in envelopes that come twice, late and packed anew: each came once, in order")
