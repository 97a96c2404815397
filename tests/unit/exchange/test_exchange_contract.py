"""What any exchange must do: every link reaches its node at least once and in order, and is forgotten once confirmed.

A further implementation is tested by adding its maker to `EXCHANGES`.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from crawl_values import new_url
from nats_server import NatsServer, nats_server

from periplus.exchange import Exchange, LocalExchange, Shipment
from periplus.exchange.connection import connected
from periplus.exchange.local import BATCH_LINKS
from periplus.exchange.nats import NatsExchange
from periplus.model import NewUrl
from periplus.settings import ClusterSettings

NODES = ["a", "b", "c", "d"]


class SettledNats:
    """The exchange over a real server, for tests that are not asynchronous: links have arrived when they are asked for.

    Confirmations travel by message as well, so they are waited for in the same way.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, exchange: NatsExchange) -> None:
        self._loop = loop
        self._exchange = exchange
        self._confirmed: list[tuple[str, str, int]] = []

    @property
    def waiting(self) -> int:
        return self._exchange.waiting

    def waiting_for(self, receiver: str) -> int:
        self._loop.run_until_complete(self._settle())
        return self._exchange.waiting_for(receiver)

    def post(self, sender: str, receiver: str, sequence: int, url: NewUrl, target: str = "") -> None:
        self._exchange.post(sender, receiver, sequence, url, target)

    def collect(self, receiver: str) -> list[Shipment]:
        self._loop.run_until_complete(self._settle())
        shipments = self._exchange.collect(receiver)
        return [Shipment(s.sender.partition(".")[0], s.sequence, s.urls, s.targets) for s in shipments]

    def confirm(self, sender: str, receiver: str, sequence: int) -> None:
        self._exchange.confirm(f"{sender}.g1", receiver, sequence)
        self._confirmed.append((sender, receiver, sequence))

    def confirmations(self, sender: str) -> dict[str, int]:
        self._loop.run_until_complete(self._settle())
        return self._exchange.confirmations(sender)

    async def _settle(self) -> None:
        """Until everything posted has come, and everybody was told what was committed."""
        async with asyncio.timeout(20):
            await self._exchange.tell()
            while not self._is_settled():  # noqa: ASYNC110  (what is waited for happens at the server)
                await asyncio.sleep(0.005)
        self._confirmed.clear()

    def _is_settled(self) -> bool:
        counts = self._exchange.counts
        told = all(self._exchange.tail(s, r) >= sequence for s, r, sequence in self._confirmed)
        return told and not self._exchange.outgoing and counts["links received"] == counts["links sent"]


@pytest.fixture(scope="module")
def server() -> Iterator[NatsServer]:
    with nats_server() as running:
        yield running


@contextmanager
def local(_request: pytest.FixtureRequest) -> Iterator[LocalExchange]:
    yield LocalExchange()


@contextmanager
def nats(request: pytest.FixtureRequest) -> Iterator[SettledNats]:
    loop = asyncio.new_event_loop()
    settings = ClusterSettings(servers=[request.getfixturevalue("server").url], linger_seconds=0.0)
    connection = connected(settings, name="test")

    async def opened() -> NatsExchange:
        exchange = NatsExchange(await connection.__aenter__(), f"contract-{random.getrandbits(40):x}", settings)
        await exchange.open_stream()
        for node in NODES:
            await exchange.open(node, "g1", {}, {})
        return exchange

    async def closed(exchange: NatsExchange) -> None:
        await exchange.close()
        await connection.__aexit__(None, None, None)

    exchange = loop.run_until_complete(opened())
    try:
        yield SettledNats(loop, exchange)
    finally:
        loop.run_until_complete(closed(exchange))
        loop.close()


EXCHANGES: dict[str, Callable[[pytest.FixtureRequest], AbstractContextManager[Exchange]]] = {
    "local": local,
    "nats": nats,
}


@pytest.fixture(
    params=[pytest.param(n, marks=pytest.mark.needs("nats-server")) if n == "nats" else n for n in EXCHANGES]
)
def exchange(request: pytest.FixtureRequest) -> Iterator[Exchange]:
    with EXCHANGES[request.param](request) as made:
        yield made


def received(exchange: Exchange, receiver: str) -> dict[str, list[str]]:
    """Everything that waits for a receiver, by sender; taken and confirmed."""
    got: dict[str, list[str]] = {}
    while shipments := exchange.collect(receiver):
        for shipment in shipments:
            got.setdefault(shipment.sender, []).extend(url.url for url in shipment.urls)
            exchange.confirm(shipment.sender, receiver, shipment.sequence)
    return got


def test_nothing_posted_nothing_waiting(exchange: Exchange) -> None:
    assert exchange.waiting == 0
    assert exchange.collect("a") == []
    assert exchange.confirmations("a") == {}


def test_links_arrive_whole_and_in_order(exchange: Exchange) -> None:
    urls = [new_url(f"http://x.com/{number}", priority=number / 10, depth=number, redirects=1) for number in range(10)]
    for sequence, url in enumerate(urls, 1):
        exchange.post("a", "b", sequence, url)
    assert exchange.waiting == 10
    (shipment,) = exchange.collect("b")
    assert (shipment.sender, shipment.sequence, list(shipment.urls)) == ("a", 10, urls)
    assert exchange.waiting == 0
    assert exchange.collect("b") == []


def test_what_waits_is_known_by_receiver(exchange: Exchange) -> None:
    for sequence, receiver in enumerate("bbcb", 1):
        exchange.post("a", receiver, sequence, new_url(f"http://x.com/{sequence}"))
    assert [exchange.waiting_for(node) for node in "abc"] == [0, 3, 1]
    exchange.collect("b")
    assert [exchange.waiting_for(node) for node in "abc"] == [0, 0, 1]


def test_links_reach_only_their_receiver(exchange: Exchange) -> None:
    exchange.post("a", "b", 1, new_url("http://x.com/1"))
    exchange.post("a", "c", 2, new_url("http://x.com/2"))
    exchange.post("b", "c", 1, new_url("http://x.com/3"))
    assert received(exchange, "b") == {"a": ["http://x.com/1"]}
    assert received(exchange, "c") == {"a": ["http://x.com/2"], "b": ["http://x.com/3"]}
    assert received(exchange, "a") == {}


def test_shipments_are_bounded_and_say_how_far_they_go(exchange: Exchange) -> None:
    count = 2 * BATCH_LINKS + 5
    for sequence in range(1, count + 1):
        exchange.post("a", "b", sequence * 3, new_url(f"http://x.com/{sequence}"))  # other receivers take the rest
    sizes, ends = [], []
    while shipments := exchange.collect("b"):
        (shipment,) = shipments
        sizes.append(len(shipment.urls))
        ends.append(shipment.sequence)
    assert sizes == [BATCH_LINKS, BATCH_LINKS, 5]
    assert ends == [BATCH_LINKS * 3, 2 * BATCH_LINKS * 3, count * 3]


def test_a_sender_is_told_once_what_it_may_forget(exchange: Exchange) -> None:
    exchange.post("a", "b", 1, new_url("http://x.com/1"))
    exchange.post("a", "c", 2, new_url("http://x.com/2"))
    exchange.collect("b")
    assert exchange.confirmations("a") == {}  # collected is not committed
    exchange.confirm("a", "b", 1)
    exchange.confirm("a", "c", 2)
    assert exchange.confirmations("a") == {"b": 1, "c": 2}
    assert exchange.confirmations("a") == {}


def test_the_last_confirmation_counts(exchange: Exchange) -> None:
    exchange.confirm("a", "b", 1)
    exchange.confirm("a", "b", 7)
    assert exchange.confirmations("a") == {"b": 7}


def test_random_traffic_loses_nothing_and_doubles_nothing(exchange: Exchange) -> None:
    numbers = random.Random(11)
    nodes = NODES
    sequences = dict.fromkeys(nodes, 0)
    sent: dict[tuple[str, str], list[str]] = {}
    got: dict[tuple[str, str], list[str]] = {}
    for number in range(5_000):
        sender, receiver = numbers.sample(nodes, 2)
        sequences[sender] += 1
        url = new_url(f"http://x.com/{number}")
        exchange.post(sender, receiver, sequences[sender], url)
        sent.setdefault((sender, receiver), []).append(url.url)
        if numbers.random() < 0.05:
            for other, urls in received(exchange, receiver).items():
                got.setdefault((other, receiver), []).extend(urls)
    for receiver in nodes:
        for other, urls in received(exchange, receiver).items():
            got.setdefault((other, receiver), []).extend(urls)
    assert got == sent
    assert exchange.waiting == 0
