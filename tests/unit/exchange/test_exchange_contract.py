"""What any exchange must do: every link reaches its node at least once and in order, and is forgotten once confirmed.

A further implementation is tested by adding its maker to `EXCHANGES`.
"""

import random
from collections.abc import Callable

import pytest
from crawl_values import new_url

from periplus.exchange import LocalExchange
from periplus.exchange.local import BATCH_LINKS

EXCHANGES: dict[str, Callable[[], LocalExchange]] = {"local": LocalExchange}


@pytest.fixture(params=sorted(EXCHANGES))
def exchange(request: pytest.FixtureRequest) -> LocalExchange:
    return EXCHANGES[request.param]()


def received(exchange: LocalExchange, receiver: str) -> dict[str, list[str]]:
    """Everything that waits for a receiver, by sender."""
    got: dict[str, list[str]] = {}
    while shipments := exchange.collect(receiver):
        for shipment in shipments:
            got.setdefault(shipment.sender, []).extend(url.url for url in shipment.urls)
    return got


def test_nothing_posted_nothing_waiting(exchange: LocalExchange) -> None:
    assert exchange.waiting == 0
    assert exchange.collect("a") == []
    assert exchange.confirmations("a") == {}


def test_links_arrive_whole_and_in_order(exchange: LocalExchange) -> None:
    urls = [new_url(f"http://x.com/{number}", priority=number / 10, depth=number, redirects=1) for number in range(10)]
    for sequence, url in enumerate(urls, 1):
        exchange.post("a", "b", sequence, url)
    assert exchange.waiting == 10
    (shipment,) = exchange.collect("b")
    assert (shipment.sender, shipment.sequence, list(shipment.urls)) == ("a", 10, urls)
    assert exchange.waiting == 0
    assert exchange.collect("b") == []


def test_links_reach_only_their_receiver(exchange: LocalExchange) -> None:
    exchange.post("a", "b", 1, new_url("http://x.com/1"))
    exchange.post("a", "c", 2, new_url("http://x.com/2"))
    exchange.post("b", "c", 1, new_url("http://x.com/3"))
    assert received(exchange, "b") == {"a": ["http://x.com/1"]}
    assert received(exchange, "c") == {"a": ["http://x.com/2"], "b": ["http://x.com/3"]}
    assert received(exchange, "a") == {}


def test_shipments_are_bounded_and_say_how_far_they_go(exchange: LocalExchange) -> None:
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


def test_a_sender_is_told_once_what_it_may_forget(exchange: LocalExchange) -> None:
    exchange.post("a", "b", 1, new_url("http://x.com/1"))
    exchange.post("a", "c", 2, new_url("http://x.com/2"))
    exchange.collect("b")
    assert exchange.confirmations("a") == {}  # collected is not committed
    exchange.confirm("a", "b", 1)
    exchange.confirm("a", "c", 2)
    assert exchange.confirmations("a") == {"b": 1, "c": 2}
    assert exchange.confirmations("a") == {}


def test_the_last_confirmation_counts(exchange: LocalExchange) -> None:
    exchange.confirm("a", "b", 1)
    exchange.confirm("a", "b", 7)
    assert exchange.confirmations("a") == {"b": 7}


def test_random_traffic_loses_nothing_and_doubles_nothing(exchange: LocalExchange) -> None:
    numbers = random.Random(11)
    nodes = ["a", "b", "c", "d"]
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
