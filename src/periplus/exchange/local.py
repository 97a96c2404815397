"""The exchange between nodes of one process: no server, memory for speed, the senders' databases for safety.

A link for another node is a row of the sender's outbox, written in the page's own transaction. It is delivered
in batches; the receiver's transaction stores the links together with the sender's sequence number; only then is
the row deleted. Whatever dies in between, the row is offered again, and the sequence number makes that harmless.
"""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Protocol

from periplus.exchange.envelope import PostedLink
from periplus.model import NewUrl
from periplus.urls import fingerprint

__all__ = ["BATCH_LINKS", "Exchange", "LocalExchange", "Shipment", "sent_mark"]

BATCH_LINKS = 1_000


def sent_mark(receiver: str, mark: int) -> int:
    """A link to a receiver, as the sender remembers it: signed 64 bits, like a URL's fingerprint."""
    return fingerprint(f"{receiver} {mark}")


@dataclass(frozen=True, slots=True)
class Shipment:
    """Links from one sender, up to and including `sequence`.

    In a cluster a link may come to its home first; then `targets` names the node that each one is meant for.
    """

    sender: str
    sequence: int
    urls: tuple[NewUrl, ...]
    targets: tuple[str, ...] = ()


class Exchange(Protocol):
    """What carries links between nodes; `tests/unit/exchange` says what each must do."""

    @property
    def waiting(self) -> int:
        """Links that were posted or have come, and were not collected."""

    def waiting_for(self, receiver: str) -> int:
        """Links that have come for a receiver and were not collected."""

    def post(self, sender: str, receiver: str, sequence: int, url: NewUrl, target: str = "") -> None:
        """Offer a committed outbox row. Sequences of one sender grow."""

    def collect(self, receiver: str) -> list[Shipment]:
        """Take what waits for a receiver, a bounded batch from each sender."""

    def confirm(self, sender: str, receiver: str, sequence: int) -> None:
        """The receiver has committed everything up to `sequence`."""

    def confirmations(self, sender: str) -> dict[str, int]:
        """What the sender may delete from its outbox, by receiver; told once."""


class LocalExchange:
    """Mailboxes by receiver and sender. Not thread-safe: it belongs to the event loop."""

    def __init__(self) -> None:
        self._boxes: dict[str, dict[str, deque[PostedLink]]] = defaultdict(lambda: defaultdict(deque))
        self._confirmed: dict[str, dict[str, int]] = defaultdict(dict)
        self._waiting: Counter[str] = Counter()
        self.waiting = 0

    def waiting_for(self, receiver: str) -> int:
        """Links that have come for a receiver and were not collected."""
        return self._waiting[receiver]

    def post(self, sender: str, receiver: str, sequence: int, url: NewUrl, target: str = "") -> None:
        """Offer a committed outbox row. Sequences of one sender grow."""
        self._boxes[receiver][sender].append(PostedLink(sequence, url, target))
        self._waiting[receiver] += 1
        self.waiting += 1

    def collect(self, receiver: str) -> list[Shipment]:
        """Take what waits for a receiver, a bounded batch from each sender."""
        shipments = []
        for sender, box in self._boxes[receiver].items():
            taken = [box.popleft() for _ in range(min(len(box), BATCH_LINKS))]
            if taken:
                self._waiting[receiver] -= len(taken)
                self.waiting -= len(taken)
                targets = tuple(link.target for link in taken) if any(link.target for link in taken) else ()
                shipments.append(Shipment(sender, taken[-1].sequence, tuple(link.url for link in taken), targets))
        return shipments

    def confirm(self, sender: str, receiver: str, sequence: int) -> None:
        """The receiver has committed everything up to `sequence`."""
        self._confirmed[sender][receiver] = sequence

    def confirmations(self, sender: str) -> dict[str, int]:
        """What the sender may delete from its outbox, by receiver; told once."""
        return self._confirmed.pop(sender, {})
